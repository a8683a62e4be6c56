//! `Engine<B>`: dispatch, transfer and publication, written once for every vendor.

mod call;
#[allow(dead_code, reason = "the engine that calls it is being built")]
mod canonical;
mod error;
mod memory;

pub use call::{Call, Dims, Factor, Strides};
pub use error::{Error, Rejected};
pub use memory::MemoryReport;
