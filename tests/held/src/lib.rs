//! The held test vendor: nothing runs until the test says so.
//!
//! [`Held`] wraps an inline vendor with host-visible memory (the host vendor, say) and queues
//! whatever is enqueued on a stream: copies, operations, event records and waits. The [`Controller`]
//! beside it releases the items one by one, by stream or all, fails them, refuses, panics in or
//! pauses the n-th call of any function, and reports counted calls, live and peak memory, and every
//! broken rule of the seam ([`Controller::violations`]; a test ends with it empty).
//!
//! In *auto* mode a poll or a host wait runs exactly what it needs, through the recorded waits, and
//! nothing more: the latest order that the seam allows. In manual mode a host wait blocks until
//! another thread releases the work; after [`Config::watchdog`] it answers an error instead.
//!
//! Knows nothing of engines: it can be driven by anything that is generic over a vendor.

mod calls;
mod check;
mod config;
mod control;
mod driver;
mod queue;
mod run;
mod state;

pub use calls::{Call, Calls};
pub use config::Config;
pub use control::Controller;
pub use driver::Held;
pub use state::{Block, Event, Ledger, Staging, Stream};
