//! Moving bytes between the host and a device, and between devices.
//!
//! Direct where the vendor's memory is host-visible, else through a fixed ring of staging chunks,
//! so that the copy into one chunk overlaps the device's copy of the last and staging is bounded
//! whatever the length. Knows nothing of dtypes.

mod across;
mod download;
mod pending;
mod ring;
mod upload;

pub use across::TransferReport;
pub(crate) use across::across;
pub(crate) use download::Download;
pub(crate) use pending::Ready;
pub(crate) use pending::Transfers;
pub use pending::{HostBox, HostMemory};
pub(crate) use ring::Ring;

/// The name that errors of downloads carry.
pub(crate) const DOWNLOAD: &str = "download";
/// The name that errors of uploads carry.
pub(crate) const UPLOAD: &str = "upload";
