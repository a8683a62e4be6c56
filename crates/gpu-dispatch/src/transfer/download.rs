//! From a device to the host: one range of one storage, chunk by chunk.
//!
//! A [`Download`] moves forward a step at a time, without blocking, into whatever memory its owner
//! brings: the engine, for a pending transfer; the caller's slice, for a blocking read. Promises
//! that the source is held until its last chunk is enqueued, and that dropping it midway leaves no
//! copy without its staging. Knows nothing of who owns the host memory.

use super::DOWNLOAD;
use super::ring::Slot;
use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::mutant;
use crate::storage::Storage;
use crate::sync::{Arc, Backoff, Instant};
use crate::verdict::Verdicts;
use gpu_seam::{Execute, GpuError};
use std::collections::VecDeque;

/// A download that is under way.
pub(crate) struct Download<B: Execute> {
    engine: Arc<Shared<B>>,
    /// Held until the last chunk is enqueued.
    source: Option<Storage<B>>,
    /// First byte of the range in the storage.
    at: usize,
    len: usize,
    /// Bytes of the range whose copy is enqueued.
    enqueued: usize,
    /// Whether the lane has been made to wait for a writer on another lane.
    ordered: bool,
    chunks: VecDeque<Chunk<B>>,
}

/// A copy that is enqueued.
struct Chunk<B: Execute> {
    slot: Slot<B>,
    track: Arc<Track<B>>,
    seq: u64,
    /// Where its bytes go, in the range.
    start: usize,
    len: usize,
    /// Bytes in front of them in the staging: what rounding outward brought along.
    skip: usize,
}

impl<B: Execute> Download<B> {
    /// A download of bytes `at..at + len` of `source`, which lie inside it.
    pub(crate) fn new(source: &Storage<B>, at: usize, len: usize) -> Self {
        Self {
            engine: Arc::clone(&source.record().engine),
            source: Some(source.clone()),
            at,
            len,
            enqueued: 0,
            ordered: false,
            chunks: VecDeque::new(),
        }
    }

    /// Moves forward as far as possible without blocking. `Ok(true)` once all of `sink` is filled.
    pub(crate) fn step(&mut self, shared: &Shared<B>, sink: &mut [u8]) -> Result<bool, Error> {
        if self.enqueued == self.len && self.chunks.is_empty() {
            self.source = None;
            return Ok(true);
        }
        if let Some(error) = shared.lost(DOWNLOAD) {
            return Err(error);
        }
        if shared.capabilities().host_visible {
            return self.step_direct(shared, sink);
        }
        loop {
            let enqueued = self.enqueue(shared)?;
            let read = self.read(shared, sink)?;
            if self.enqueued == self.len && self.chunks.is_empty() {
                return Ok(true);
            }
            if !enqueued && !read {
                return Ok(false);
            }
        }
    }

    fn step_direct(&mut self, shared: &Shared<B>, sink: &mut [u8]) -> Result<bool, Error> {
        let Some(source) = &self.source else {
            return Ok(true);
        };
        if let Some((track, seq)) = source.record().pending_writer() {
            shared
                .mark(&track, seq)
                .map_err(|cause| Error::gpu(DOWNLOAD, cause))?;
            shared
                .poll_track(&track)
                .map_err(|cause| Error::gpu(DOWNLOAD, cause))?;
            if !track.is_complete(seq) {
                return Ok(false);
            }
        }
        let failed = |cause| shared.transfer_failed(DOWNLOAD, false, cause);
        let from = source.record().arg(self.at, self.len).map_err(failed)?;
        shared.vendor.read_direct(from, sink).map_err(failed)?;
        self.enqueued = self.len;
        self.source = None;
        Ok(true)
    }

    /// Enqueues copies while there are chunks; whether any was.
    fn enqueue(&mut self, shared: &Shared<B>) -> Result<bool, Error> {
        let mut any = false;
        let granularity = shared.capabilities().copy_granularity;
        while let Some(source) = &self.source {
            let Some(slot) = shared.downloads.take(shared, DOWNLOAD)? else {
                break;
            };
            let mut slot = Some(slot);
            let record = source.record();
            let track = &record.home;
            let start = self.at + self.enqueued;
            let skip = start % granularity;
            let len = (self.len - self.enqueued).min(shared.downloads.chunk - skip);
            let outcome = (|| {
                if !self.ordered && !mutant::on("download-unordered") {
                    shared.order_read(track, record, DOWNLOAD)?;
                    self.ordered = true;
                }
                let failed = |cause: GpuError| shared.transfer_failed(DOWNLOAD, true, cause);
                let whole = (skip + len).next_multiple_of(granularity);
                let from = record.arg(start - skip, whole).map_err(failed)?;
                let stream = track.stream().map_err(failed)?;
                let _inside = shared.status.enter_pending().map_err(failed)?;
                if let Some(slot) = &slot {
                    shared
                        .vendor
                        .copy_out(stream, from, &slot.staging, 0)
                        .map_err(failed)?;
                }
                Ok(track.publish(DOWNLOAD, 0).seq)
            })();
            match (outcome, slot.take()) {
                (Ok(seq), Some(slot)) => {
                    let track = Arc::clone(track);
                    let start = self.enqueued;
                    self.chunks.push_back(Chunk {
                        slot,
                        track,
                        seq,
                        start,
                        len,
                        skip,
                    });
                    self.enqueued += len;
                    any = true;
                }
                (Err(error), slot) => {
                    // Not enqueued; after a failure that broke the device the chunk stays out.
                    if let (Some(slot), false) = (slot, shared.status.is_broken()) {
                        shared.downloads.give(slot);
                    }
                    return Err(error);
                }
                (Ok(_), None) => {}
            }
            if self.enqueued == self.len {
                // From here on the stream alone orders what happens to the source.
                self.source = None;
            }
            if let Some(chunk) = self.chunks.back() {
                // One event right behind every chunk, or copies could not overlap.
                shared
                    .mark(&chunk.track, chunk.seq)
                    .map_err(|cause| Error::gpu(DOWNLOAD, cause))?;
            }
        }
        Ok(any)
    }

    /// Reads the chunks that have arrived; whether any had.
    fn read(&mut self, shared: &Shared<B>, sink: &mut [u8]) -> Result<bool, Error> {
        let mut any = false;
        while let Some(chunk) = self.chunks.front_mut() {
            if !chunk.track.is_complete(chunk.seq) {
                shared
                    .poll_track(&chunk.track)
                    .map_err(|cause| Error::gpu(DOWNLOAD, cause))?;
                if !chunk.track.is_complete(chunk.seq) && !mutant::on("read-before-arrival") {
                    break;
                }
            }
            let failed = |cause: GpuError| shared.transfer_failed(DOWNLOAD, true, cause);
            let vendor = &shared.vendor;
            let into = &mut sink[chunk.start..chunk.start + chunk.len];
            let skip = chunk.skip;
            let accessed = chunk
                .slot
                .access(vendor, false, |staging| vendor.read(staging, skip, into))
                .map_err(failed)?;
            if accessed.is_none() {
                break;
            }
            if let Some(chunk) = self.chunks.pop_front() {
                shared.downloads.give(chunk.slot);
            }
            any = true;
        }
        Ok(any)
    }
}

impl<B: Execute> Drop for Download<B> {
    /// Chunks still under way go back with the point from which they are free.
    fn drop(&mut self) {
        for chunk in self.chunks.drain(..) {
            let mut slot = chunk.slot;
            slot.busy =
                Some((chunk.track, chunk.seq)).filter(|_| !mutant::on("dropped-chunk-idle"));
            self.engine.downloads.give(slot);
        }
    }
}

impl<B: Execute> Shared<B> {
    /// Checks a range to download and that its bytes are not known to have failed.
    pub(crate) fn check_download(
        self: &Arc<Self>,
        storage: &Storage<B>,
        at: usize,
        len: usize,
    ) -> Result<(), Error> {
        self.check(DOWNLOAD)?;
        if !Arc::ptr_eq(&storage.record().engine, self) {
            return Err(Error::gpu(DOWNLOAD, GpuError::ForeignDomain));
        }
        let bytes = storage.len();
        if at.checked_add(len).is_none_or(|end| end > bytes) {
            let detail = format!("bytes {at} + {len} lie outside a storage of {bytes} bytes");
            return Err(Error::invalid(DOWNLOAD, detail));
        }
        storage.record().inspect(&mut Verdicts::new())
    }

    /// Fills `sink` from byte `at` of `storage`. Blocks.
    pub(crate) fn read(
        self: &Arc<Self>,
        storage: &Storage<B>,
        at: usize,
        sink: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let _span = tracing::trace_span!("download", bytes = sink.len()).entered();
        self.check_download(storage, at, sink.len())?;
        let mut download = Download::new(storage, at, sink.len());
        let mut backoff = Backoff::new();
        while !download.step(self, sink)? {
            self.progress()
                .map_err(|cause| Error::gpu(DOWNLOAD, cause))?;
            if !backoff.pause(deadline) {
                return Err(Error::Deadline { op: DOWNLOAD });
            }
        }
        self.settle_verdicts(storage, deadline)
    }

    /// Waits until the indexing operations that `storage` depends on are known to be good.
    fn settle_verdicts(
        &self,
        storage: &Storage<B>,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let mut backoff = Backoff::new();
        loop {
            let mut open = Verdicts::new();
            storage.record().inspect(&mut open)?;
            if open.is_empty() {
                return Ok(());
            }
            self.collect_verdicts()?;
            if !backoff.pause(deadline) {
                return Err(Error::Deadline { op: DOWNLOAD });
            }
        }
    }
}
