//! The object-safe face of an engine: what a crate that does not want `B` in its types calls.
//!
//! A [`Face`] is an engine and a lane of it. Promises the same behaviour as [`Lane`](crate::Lane),
//! with storages of another engine or vendor answered by `ForeignDomain`. Knows nothing of tensors.

use crate::call::{Call, Dims};
use crate::error::{Error, Rejected};
use crate::memory::MemoryReport;
use crate::publication::Pending;
use crate::storage::DynStorage;
use crate::sync::{Arc, Instant};
use crate::transfer::{HostBox, TransferReport, across};
use gpu_seam::{AllocationDomainId, DType, DeviceInfo};
use std::any::Any;

/// The result of a call: a fresh storage, contiguous and row-major over `dims`.
#[derive(Debug, Clone)]
pub struct Output<S> {
    /// Where the elements are, from the first byte on.
    pub storage: S,
    /// Their dims.
    pub dims: Dims,
    /// Their type.
    pub dtype: DType,
}

/// An engine and a lane of it, with the vendor erased.
pub trait Face: Send + Sync {
    /// The device.
    fn device(&self) -> &DeviceInfo;

    /// The allocation domain: equal for two faces of one engine, and only then.
    fn domain(&self) -> AllocationDomainId;

    /// Submits `call` on this lane; the storages of its views are `inputs`, in order.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a wrong call, the cause of a failed input, or the device's own.
    fn submit(&self, call: &Call<'_>, inputs: &[&DynStorage]) -> Result<Output<DynStorage>, Error>;

    /// A storage of `bytes`, contents unspecified until written.
    ///
    /// # Errors
    /// Out of memory, above all.
    fn allocate(&self, bytes: usize) -> Result<DynStorage, Error>;

    /// A storage with a copy of these bytes. Returns once the last is on its way; the slice is not
    /// looked at afterwards.
    ///
    /// # Errors
    /// Out of memory, or a failed transfer.
    fn upload(&self, bytes: &[u8]) -> Result<DynStorage, Error>;

    /// Overwrites bytes of a storage, from byte `at` on. Where another handle could see the change,
    /// the storage is copied first, and this handle names the copy.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range outside, or a failed transfer.
    fn write(&self, storage: &mut DynStorage, at: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Fills `into` from byte `at` of a storage. Blocks.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a range outside, the cause of a failed storage, or a failed transfer.
    fn read(&self, storage: &DynStorage, at: usize, into: &mut [u8]) -> Result<(), Error>;

    /// Starts to fill `into` from byte `at` of a storage.
    ///
    /// # Errors
    /// As for [`read`](Self::read), with `into` handed back.
    fn download(
        &self,
        storage: &DynStorage,
        at: usize,
        into: HostBox,
    ) -> Result<Pending<HostBox>, Rejected<HostBox>>;

    /// The readiness of a storage, as something to wait for or await.
    ///
    /// # Errors
    /// `ForeignDomain` for another engine's storage.
    fn ready(&self, storage: &DynStorage) -> Result<Pending<()>, Error>;

    /// The same engine with a new lane.
    ///
    /// # Errors
    /// `Closed`, `Broken`, or the driver's refusal.
    fn with_lane(&self) -> Result<Arc<dyn Face>, Error>;

    /// Waits for everything submitted so far, on every lane.
    ///
    /// # Errors
    /// `Broken` with the original failure.
    fn synchronize(&self) -> Result<(), Error>;

    /// As [`Engine::close`](crate::Engine::close).
    ///
    /// # Errors
    /// As there.
    fn close(&self) -> Result<(), Error>;

    /// As [`Engine::close_within`](crate::Engine::close_within).
    ///
    /// # Errors
    /// As there.
    fn close_within(&self, deadline: Instant) -> Result<(), Error>;

    /// As [`Engine::trim`](crate::Engine::trim).
    fn trim(&self) -> usize;

    /// As [`Engine::memory_report`](crate::Engine::memory_report).
    fn memory_report(&self) -> MemoryReport;

    /// As [`Engine::reset_peak`](crate::Engine::reset_peak).
    fn reset_peak(&self);

    /// The [`Lane`](crate::Lane) behind this face, for casting back to it.
    fn as_any(&self) -> &dyn Any;
}

impl dyn Face {
    /// Copies all of `storage`, which is of the engine of `from`, to this one.
    ///
    /// # Errors
    /// The cause of a failed storage, out of memory, or a failed transfer.
    pub fn receive(
        &self,
        from: &Self,
        storage: &DynStorage,
    ) -> Result<(DynStorage, TransferReport), Error> {
        across(from, self, storage)
    }
}
