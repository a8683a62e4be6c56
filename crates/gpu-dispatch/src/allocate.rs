//! Granting storages, and what is tried before memory is said to be exhausted.
//!
//! Promises that a block is reused on its own lane at once and elsewhere only behind a completion
//! that was seen or a device-side wait, and that `OutOfMemory` comes only after everything
//! reclaimable was reclaimed: retire what has completed, wait for what is pending, trim, try once
//! more. Knows nothing of operations.

use crate::budget::Admission;
use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::memory::{Block, MemoryReport};
use crate::mutant;
use crate::record::Record;
use crate::storage::Storage;
use crate::sync::{Arc, Ordering};
use gpu_seam::{Execute, GpuError};

impl<B: Execute> Shared<B> {
    /// A storage of `bytes` on `track`, contents unspecified.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        bytes: usize,
        op: &'static str,
        policy: Admission,
    ) -> Result<Storage<B>, Error> {
        if bytes == 0 {
            let record = Record::new(Arc::clone(self), Arc::clone(track), None);
            return Ok(Arc::new(record).grant(0));
        }
        if let Some(record) = track.bins.take(bytes) {
            self.usage.pool_hits.fetch_add(1, Ordering::Relaxed);
            return Ok(record.grant(bytes));
        }
        let block = self.block(track, bytes, op, policy)?;
        let record = Record::new(Arc::clone(self), Arc::clone(track), Some(block));
        Ok(Arc::new(record).grant(bytes))
    }

    fn block(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        bytes: usize,
        op: &'static str,
        policy: Admission,
    ) -> Result<Block<B>, Error> {
        let hit = |block| {
            self.usage.pool_hits.fetch_add(1, Ordering::Relaxed);
            Ok(block)
        };
        if let Some(block) = self.pool.reuse(track.id, bytes) {
            return hit(block);
        }
        self.promote();
        if let Some(block) = self.pool.reuse(track.id, bytes) {
            return hit(block);
        }
        let refusal = match self.pool.grow(&self.vendor, &self.usage, track.id, bytes) {
            Ok(block) => return Ok(block),
            Err(cause @ GpuError::OutOfMemory { .. }) => cause,
            Err(cause) => return Err(self.failed(op, cause)),
        };
        if bytes > self.capabilities().max_allocation_bytes {
            return Err(self.exhausted(op, refusal));
        }
        // What has completed: look once at every lane, and empty the other lanes' bins.
        self.drive().map_err(|cause| Error::gpu(op, cause))?;
        for other in self.all_tracks() {
            for record in other.bins.drain() {
                record.unbin();
            }
        }
        self.promote();
        if let Some(block) = self.pool.reuse(track.id, bytes) {
            return hit(block);
        }
        // What another lane freed, behind a wait of this lane for that one.
        if let Some((block, (lane, seq))) = self.pool.steal(bytes) {
            let owner = self.all_tracks().into_iter().find(|other| other.id == lane);
            if let Some(owner) = owner {
                self.order_after(track, &owner, seq, op)?;
            }
            return hit(block);
        }
        // What is pending: wait for it, as far as the policy allows waiting.
        let deadline = match policy {
            Admission::Wait => None,
            Admission::WaitUntil(deadline) => Some(deadline),
            Admission::Reject => return self.last_try(track, bytes, op),
        };
        let points: Vec<_> = self
            .all_tracks()
            .into_iter()
            .map(|track| {
                let seq = track.published_seq();
                (track, seq)
            })
            .collect();
        self.wait_points(op, &points, deadline)?;
        self.last_try(track, bytes, op)
    }

    /// Trims, and asks the device once more.
    fn last_try(
        &self,
        track: &Arc<Track<B>>,
        bytes: usize,
        op: &'static str,
    ) -> Result<Block<B>, Error> {
        self.promote();
        if let Some(block) = self.pool.reuse(track.id, bytes) {
            return Ok(block);
        }
        self.pool.trim(&self.vendor, &self.usage);
        match self.pool.grow(&self.vendor, &self.usage, track.id, bytes) {
            Ok(block) => Ok(block),
            Err(cause @ GpuError::OutOfMemory { .. }) => Err(self.exhausted(op, cause)),
            Err(cause) => Err(self.failed(op, cause)),
        }
    }

    fn exhausted(&self, op: &'static str, cause: GpuError) -> Error {
        let mut report = self.memory_report();
        report.device_available = self.vendor.memory().ok().map(|memory| memory.available);
        Error::OutOfMemory {
            op,
            cause,
            report: Box::new(report),
        }
    }

    /// Makes free for anyone what lanes have been seen to pass.
    pub(crate) fn promote(&self) {
        let tracks = self.all_tracks();
        self.pool.promote(|lane, seq| {
            // A lane that is no longer listed was idle when it was destroyed.
            tracks
                .iter()
                .find(|track| track.id == lane)
                .is_none_or(|track| track.is_complete(seq) || mutant::on("freed-unseen"))
        });
    }

    /// Gives back to the device what is free for anyone; the bytes given back.
    pub(crate) fn trim(&self) -> usize {
        if self.is_forked() {
            return 0;
        }
        if self.is_open() {
            // A failure breaks the engine and is reported by whoever uses it next.
            let _ = self.drive();
        }
        for track in self.all_tracks() {
            for record in track.bins.drain() {
                if track.is_idle() || self.status.may_complete() {
                    record.unbin();
                } else {
                    self.quarantine(record.capacity(), &track);
                }
            }
        }
        self.promote();
        self.pool.trim(&self.vendor, &self.usage)
    }

    pub(crate) fn memory_report(&self) -> MemoryReport {
        if self.is_open() {
            // So that what has completed is not reported as pending.
            let _ = self.poll_tracks();
        }
        MemoryReport {
            pending: self.budget.in_flight(),
            largest_free: self.pool.largest_free(),
            ..self.usage.report()
        }
    }
}
