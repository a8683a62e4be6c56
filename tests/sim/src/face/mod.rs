//! The seam's driver traits over the simulated device.
//!
//! A [`Sim`] is one device of a [`Machine`](crate::device::Machine): several of them, or several
//! openings of one, live in one process and share the machine's clock, faults and history. Canonical
//! operations are kernels that the host vendor computes once the device runs them; staging memory is
//! pinned memory; every status has one place where it becomes a cause. Knows nothing of engines.

mod cause;
mod driver;
mod kernel;
mod traits;
mod uses;

pub use driver::{Block, Event, Sim, Staging, Stream};
pub use traits::Traits;
