//! `Engine<B>`: dispatch, transfer and publication, written once for every vendor.
//!
//! An [`Engine`] owns one device: the driver, its lanes, a caching pool, a pending budget and the
//! state. Work is submitted through a [`Lane`] (typed) or a [`Face`] (the vendor erased) as a
//! [`Call`] on strided views of [`Storage`]s, and comes back as an [`Output`] that is *pending*, then
//! *ready* or *failed*, once.
//!
//! What holds, and where it is kept:
//! - Validation happens here and nowhere else (`canonical`).
//! - A storage's memory is reused on its lane at once, elsewhere only behind a completion that was
//!   seen or a device-side wait (`record`, `memory`, `allocate`).
//! - Bytes go back to the budget when the device is seen to be done, never with a handle (`budget`).
//! - A failed producer's output is never published: whoever waits for it or uses it gets the
//!   original cause (`verdict`, `progress`, `status`).
//! - Every unsafe call is in one module, which states why it is sound (`vendor`).
//!
//! Names no vendor, and knows nothing of tensors: dtypes and dims are numbers to it.

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
mod mutant;
mod progress;
mod publication;
mod record;
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
