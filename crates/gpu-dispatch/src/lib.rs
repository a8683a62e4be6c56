//! `Engine<B>`: dispatch, transfer and publication, written once for every vendor.

mod allocate;
mod bins;
mod budget;
mod call;
mod canonical;
mod dispatch;
mod engine;
mod error;
mod face;
mod faults;
mod handle;
mod lane;
mod memory;
mod progress;
mod publication;
mod status;
mod storage;
mod sync;
mod transfer;
mod vendor;
mod verdict;
mod waiter;

pub use budget::Admission;
pub use call::{Call, Dims, Factor, Strides};
pub use engine::{Engine, Options};
pub use error::{Error, Rejected};
pub use face::{Face, Output};
pub use handle::Lane;
pub use memory::MemoryReport;
pub use publication::{Outcome, Pending};
pub use status::Failure;
pub use storage::{DynStorage, Storage};
pub use sync::Instant;
pub use transfer::{HostBox, HostMemory, TransferReport};
