//! The host vendor: any machine, no driver; the embedded default and the numeric reference.
//!
//! Promises [`gpu_seam`]'s driver traits for the host's own processor. Everything runs inline: a
//! call has completed when it returns, so nothing is ever pending. Large work is spread over
//! rayon's global pool; [`run_serially`] turns that off. Knows nothing of engines or tensors.

mod driver;
mod memory;
mod ops;
mod parallel;
#[cfg(test)]
mod testing;

pub use driver::{Host, HostEvent, HostStaging, HostStream};
pub use memory::Block;
pub use parallel::run_serially;
