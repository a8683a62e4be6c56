//! From the host to a device.
//!
//! Promises that an upload returns once its last chunk is enqueued, that the host's bytes are not
//! looked at afterwards, and that a write into an existing storage leaves every other handle's
//! bytes as they were. Knows nothing of the caller's types.

use super::UPLOAD;
use super::ring::Slot;
use crate::budget::{Admission, Budget};
use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::mutant;
use crate::record::Record;
use crate::status::Inside;
use crate::storage::Storage;
use crate::sync::{Arc, Backoff};
use gpu_seam::{Execute, GpuError};

/// What an upload is charged, until a submission has taken the charge with it.
struct Charge<'a, B: Execute> {
    shared: &'a Shared<B>,
    bytes: usize,
}

impl<B: Execute> Charge<'_, B> {
    /// Whether a submission has taken it.
    const fn is_taken(&self) -> bool {
        self.bytes == 0
    }

    /// The charge, once; nothing afterwards.
    fn take(&mut self) -> usize {
        std::mem::take(&mut self.bytes)
    }
}

impl<B: Execute> Drop for Charge<'_, B> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.shared.budget.give_back(self.bytes);
        }
    }
}

impl<B: Execute> Shared<B> {
    /// A new storage on `track` with these bytes.
    pub(crate) fn upload(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        bytes: &[u8],
        policy: Admission,
    ) -> Result<Storage<B>, Error> {
        let _span = tracing::trace_span!("upload", bytes = bytes.len(), lane = track.id).entered();
        self.check(UPLOAD)?;
        if bytes.is_empty() {
            return self.allocate(track, 0, UPLOAD, policy);
        }
        let mut charge = self.charge(bytes.len(), policy)?;
        let storage = self.allocate(track, bytes.len(), UPLOAD, policy)?;
        self.fill(track, storage.record(), 0, bytes, &mut charge)?;
        Ok(storage)
    }

    /// Writes `bytes` at byte `at` of `storage`, on `track`. Where another handle could see the
    /// change, the storage is copied first and this handle names the copy.
    pub(crate) fn write(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        storage: &mut Storage<B>,
        at: usize,
        bytes: &[u8],
        policy: Admission,
    ) -> Result<(), Error> {
        let _span = tracing::trace_span!("write", bytes = bytes.len(), lane = track.id).entered();
        self.check(UPLOAD)?;
        if !Arc::ptr_eq(&storage.record().engine, self) {
            return Err(Error::gpu(UPLOAD, GpuError::ForeignDomain));
        }
        let len = storage.len();
        let Some(end) = at.checked_add(bytes.len()).filter(|&end| end <= len) else {
            let detail = format!(
                "bytes {at} + {} lie outside a storage of {len} bytes",
                bytes.len()
            );
            return Err(Error::invalid(UPLOAD, detail));
        };
        if bytes.is_empty() {
            return Ok(());
        }
        self.own(track, storage, policy)?;
        let granularity = self.capabilities().copy_granularity;
        let ragged =
            !at.is_multiple_of(granularity) || (!end.is_multiple_of(granularity) && end != len);
        if ragged && !self.capabilities().host_visible {
            // Rounding would overwrite the neighbours: through a storage of its own instead.
            let piece = self.upload(track, bytes, policy)?;
            return self.copy_range(track, &piece, storage, at, policy);
        }
        let mut charge = self.charge(bytes.len(), policy)?;
        self.order_write(track, storage.record(), UPLOAD)?;
        let filled = self.fill(track, storage.record(), at, bytes, &mut charge);
        filled.inspect_err(|error| {
            // With a chunk on its way nobody may take the rest for what was meant. A direct write
            // that failed has left nobody knows what.
            if charge.is_taken() || self.capabilities().host_visible {
                storage.record().fail(error.clone());
            }
        })
    }

    fn charge(&self, bytes: usize, policy: Admission) -> Result<Charge<'_, B>, Error> {
        let bytes = Budget::charge(bytes);
        self.admit(UPLOAD, bytes, policy)?;
        Ok(Charge {
            shared: self,
            bytes,
        })
    }

    /// Writes `bytes` at byte `at` of a storage whose other users are ordered before `track`.
    fn fill(
        &self,
        track: &Arc<Track<B>>,
        record: &Record<B>,
        at: usize,
        bytes: &[u8],
        charge: &mut Charge<'_, B>,
    ) -> Result<(), Error> {
        if self.capabilities().host_visible {
            let frontier = record.frontier();
            self.wait_points(UPLOAD, &frontier, None)?;
            let to = record
                .arg(at, bytes.len())
                .map_err(|cause| self.failed(UPLOAD, cause))?;
            return self
                .vendor
                .write_direct(to, bytes)
                .map_err(|cause| self.transfer_failed(UPLOAD, false, cause));
        }
        let mut done = 0;
        for chunk in bytes.chunks(self.uploads.chunk) {
            let mut slot = self.wait_for_slot()?;
            match self.send(track, record, at + done, chunk, &mut slot) {
                Ok(inside) => {
                    let extent = track.publish(UPLOAD, charge.take());
                    record.set_written(track, extent.seq);
                    drop(inside);
                    slot.busy = Some((Arc::clone(track), extent.seq))
                        .filter(|_| !mutant::on("sent-chunk-idle"));
                    self.uploads.give(slot);
                    // One event right behind every chunk, or copies could not overlap.
                    self.mark(track, extent.seq)
                        .map_err(|cause| Error::gpu(UPLOAD, cause))?;
                }
                Err(cause) => {
                    // The chunk was not enqueued; of its staging nothing is known after a failure
                    // that broke the device, and then it is not reused.
                    let error = self.transfer_failed(UPLOAD, true, cause);
                    if !self.status.is_broken() {
                        self.uploads.give(slot);
                    }
                    return Err(error);
                }
            }
            done += chunk.len();
        }
        Ok(())
    }

    /// Writes one chunk into staging and enqueues its copy.
    fn send(
        &self,
        track: &Track<B>,
        record: &Record<B>,
        at: usize,
        chunk: &[u8],
        slot: &mut Slot<B>,
    ) -> Result<Inside<'_>, GpuError> {
        let vendor = &self.vendor;
        let written = slot.access(vendor, true, |staging| vendor.write(staging, 0, chunk))?;
        if written.is_none() {
            let detail = "the vendor gave no access to staging memory, although asked to block";
            return Err(GpuError::transfer(true, detail));
        }
        // The last chunk is rounded up into the padding of the storage's own block.
        let len = chunk
            .len()
            .next_multiple_of(self.capabilities().copy_granularity);
        let inside = self.status.enter()?;
        vendor.copy_in(track.stream()?, &slot.staging, 0, record.arg(at, len)?)?;
        Ok(inside)
    }

    /// A free staging chunk, however long that takes.
    fn wait_for_slot(&self) -> Result<Slot<B>, Error> {
        let mut backoff = Backoff::new();
        loop {
            if let Some(slot) = self.uploads.take(self, UPLOAD)? {
                return Ok(slot);
            }
            self.progress().map_err(|cause| Error::gpu(UPLOAD, cause))?;
            backoff.pause(None);
        }
    }

    /// Makes `storage` this handle's own: the only one, so that a write is seen by nobody else.
    fn own(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        storage: &mut Storage<B>,
        policy: Admission,
    ) -> Result<(), Error> {
        if storage.record().is_unique() {
            return Ok(());
        }
        let mut copy = self.allocate(track, storage.len(), UPLOAD, policy)?;
        self.copy_range(track, storage, &mut copy, 0, policy)?;
        *storage = copy;
        Ok(())
    }

    /// Enqueues a device copy of all of `from` to byte `at` of `to`, whose only handle this is.
    fn copy_range(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        from: &Storage<B>,
        to: &mut Storage<B>,
        at: usize,
        policy: Admission,
    ) -> Result<(), Error> {
        let mut verdicts = crate::verdict::Verdicts::new();
        from.record().inspect(&mut verdicts)?;
        let len = from.len();
        let mut charge = self.charge(0, policy)?;
        self.order_read(track, from.record(), UPLOAD)?;
        self.order_write(track, to.record(), UPLOAD)?;
        let copied = (|| {
            let (source, target) = (from.record().arg(0, len)?, to.record().arg(at, len)?);
            let inside = self.status.enter()?;
            let stream = track.stream()?;
            self.vendor.copy_device(stream, source, target)?;
            Ok(inside)
        })();
        let _inside = copied.map_err(|cause| self.transfer_failed(UPLOAD, false, cause))?;
        let extent = track.publish(UPLOAD, charge.take());
        from.record().add_reader(track, extent.seq);
        to.record().set_written(track, extent.seq);
        to.record().add_verdicts(verdicts);
        Ok(())
    }

    /// The error of a failed transfer call.
    pub(crate) fn transfer_failed(&self, op: &'static str, staged: bool, cause: GpuError) -> Error {
        let cause = match cause {
            GpuError::Broken { .. }
            | GpuError::Closed
            | GpuError::Transfer { .. }
            | GpuError::OutOfMemory { .. } => cause,
            other => GpuError::transfer(staged, other.to_string()),
        };
        self.failed(op, cause)
    }
}
