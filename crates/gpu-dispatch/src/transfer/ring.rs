//! A fixed ring of staging chunks for one direction.
//!
//! Promises that no more than its number of chunks ever exists, that a chunk is handed out only when
//! the copies that name it have been seen to complete, and that it is charged once, when it is
//! created. Knows nothing of what is copied.

use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::mutant;
use crate::sync::{Arc, Mutex, Ordering, lock};
use crate::vendor::Vendor;
use gpu_seam::{Direction, Execute, GpuError};

/// The ring.
pub(crate) struct Ring<B: Execute> {
    direction: Direction,
    /// Bytes of one chunk, a multiple of the copy granularity.
    pub(crate) chunk: usize,
    chunks: usize,
    inner: Mutex<Inner<B>>,
}

struct Inner<B: Execute> {
    /// How many chunks exist or are being created.
    made: usize,
    idle: Vec<Slot<B>>,
}

/// One chunk.
pub(crate) struct Slot<B: Execute> {
    pub(crate) staging: B::Staging,
    /// The last submission that names it, until that has been seen to complete.
    pub(crate) busy: Option<(Arc<Track<B>>, u64)>,
    /// Whether the host may still have access: no copy may name it then.
    open: bool,
}

impl<B: Execute> Slot<B> {
    /// Runs `touch` while the host has access, which ends whatever comes of it. `Ok(None)` when
    /// there is no access yet and `block` is false.
    pub(crate) fn access<T>(
        &mut self,
        vendor: &Vendor<B>,
        block: bool,
        touch: impl FnOnce(&mut B::Staging) -> Result<T, GpuError>,
    ) -> Result<Option<T>, GpuError> {
        if !vendor.begin_access(&mut self.staging, block)? {
            return Ok(None);
        }
        self.open = true;
        let touched = touch(&mut self.staging);
        vendor.end_access(&mut self.staging)?;
        self.open = false;
        touched.map(Some)
    }
}

impl<B: Execute> Ring<B> {
    pub(crate) fn new(direction: Direction, chunk: usize, chunks: usize) -> Self {
        Self {
            direction,
            chunk,
            chunks,
            inner: Mutex::new(Inner {
                made: 0,
                idle: Vec::new(),
            }),
        }
    }

    /// A chunk that nothing submitted names; `None` when all are in use.
    pub(crate) fn take(
        &self,
        shared: &Shared<B>,
        op: &'static str,
    ) -> Result<Option<Slot<B>>, Error> {
        {
            let mut inner = lock(&self.inner);
            let free = inner.idle.iter().position(|slot| {
                slot.busy.as_ref().is_none_or(|(track, seq)| {
                    mutant::on("chunk-reused-early") || track.is_complete(*seq)
                })
            });
            if let Some(at) = free {
                let mut slot = inner.idle.swap_remove(at);
                slot.busy = None;
                return Ok(Some(slot));
            }
            if inner.made == self.chunks {
                return Ok(None);
            }
            inner.made += 1;
        }
        match shared.vendor.alloc_staging(self.chunk, self.direction) {
            Ok(staging) => {
                shared.budget.reserve(self.chunk);
                shared
                    .usage
                    .staging
                    .fetch_add(self.chunk, Ordering::Relaxed);
                Ok(Some(Slot {
                    staging,
                    busy: None,
                    open: false,
                }))
            }
            Err(cause) => {
                let mut inner = lock(&self.inner);
                inner.made -= 1;
                // With one chunk at least, the transfer goes on through that.
                if inner.made > 0 {
                    tracing::warn!(%cause, "the staging ring stays shorter than asked");
                    return Ok(None);
                }
                drop(inner);
                Err(shared.failed(op, cause))
            }
        }
    }

    /// Gives a chunk back; its `busy` says from when on it is free. One whose access could not be
    /// ended is lost, and another may be made in its place.
    pub(crate) fn give(&self, slot: Slot<B>) {
        let mut inner = lock(&self.inner);
        if slot.open {
            inner.made -= 1;
            tracing::warn!("a staging chunk is leaked: the host's access to it did not end");
        } else {
            inner.idle.push(slot);
        }
    }

    /// Forgets the lanes whose copies have been seen to complete.
    pub(crate) fn settle(&self) {
        for slot in &mut lock(&self.inner).idle {
            slot.busy.take_if(|(track, seq)| track.is_complete(*seq));
        }
    }

    /// Gives every idle chunk back to the device. Called when nothing is submitted any more.
    pub(crate) fn destroy(&self, vendor: &Vendor<B>) {
        for slot in std::mem::take(&mut lock(&self.inner).idle) {
            if let Err(cause) = vendor.free_staging(slot.staging) {
                tracing::warn!(%cause, "the device refused to free staging memory");
            }
        }
    }
}
