//! The engine's segments of device memory and the blocks granted from them.
//!
//! Promises that a block lies inside one live buffer and overlaps no other granted block, that a
//! request the device refuses is tried again with the exact need, and that memory goes back to the
//! device only when nothing submitted touches it. Knows nothing of lanes beyond their numbers.

use super::arena::{Arena, Grant, Owner};
use super::report::Usage;
use crate::sync::{Arc, Mutex, Ordering, lock};
use crate::vendor::Vendor;
use gpu_seam::{Arg, Buffer, Execute, GpuError};

/// Requests up to this many bytes are small: they have size classes, and segments of their own.
pub(crate) const SMALL: usize = 1 << 20;
/// The segment that small blocks are cut from, in bytes.
const SMALL_SEGMENT: usize = 4 << 20;
/// Every block starts at a multiple of this, in bytes: the strictest binding alignment in use.
pub(crate) const ALIGN: usize = 256;
/// Large blocks are multiples of this, in bytes.
const LARGE_STEP: usize = 64 << 10;
/// A rest of a large block smaller than this stays with it.
const LARGE_KEEP: usize = 1 << 20;
/// Size classes of small blocks.
pub(crate) const CLASSES: usize = 48;

/// One buffer of the device.
pub(crate) struct Segment<B: Execute> {
    buffer: Buffer<B>,
    /// Whether it is cut into small blocks.
    small: bool,
}

/// A granted range of a segment.
pub(crate) struct Block<B: Execute> {
    segment: Arc<Segment<B>>,
    grant: Grant,
}

impl<B: Execute> Block<B> {
    /// Bytes of the block; at least what was asked for.
    pub(crate) const fn len(&self) -> usize {
        self.grant.len
    }

    /// Bytes `offset..offset + len` of this block as an argument; `None` when they are not inside.
    pub(crate) fn arg(&self, offset: usize, len: usize) -> Option<Arg<'_, B>> {
        let end = offset.checked_add(len)?;
        (end <= self.grant.len).then(|| Arg {
            buffer: &self.segment.buffer,
            offset: self.grant.offset + offset,
            len,
        })
    }

    /// The vendor allocation it lies in, and its first byte there: what aliasing is judged by.
    pub(crate) fn place(&self) -> (gpu_seam::StorageIdentity, usize) {
        (self.segment.buffer.identity(), self.grant.offset)
    }
}

/// The segments and the book of their blocks.
pub(crate) struct Pool<B: Execute> {
    inner: Mutex<Inner<B>>,
    /// The most bytes of one allocation.
    max_allocation: usize,
}

struct Inner<B: Execute> {
    arena: Arena,
    segments: Vec<Option<Arc<Segment<B>>>>,
}

/// The size class of a small request and the bytes of a block of that class; `None` for a large
/// one. Classes are 256-byte steps up to 4 KiB, then four steps for each doubling: at most a
/// quarter is lost.
pub(crate) const fn size_class(bytes: usize) -> Option<(usize, usize)> {
    if bytes > SMALL {
        return None;
    }
    if bytes <= 4096 {
        let steps = if bytes == 0 { 1 } else { bytes.div_ceil(ALIGN) };
        return Some((steps - 1, steps * ALIGN));
    }
    let log = (bytes - 1).ilog2();
    let step = 1usize << (log - 2);
    let quarters = bytes.div_ceil(step); // 5..=8
    Some((16 + (log as usize - 12) * 4 + quarters - 5, quarters * step))
}

impl<B: Execute> Pool<B> {
    pub(crate) fn new(max_allocation: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                arena: Arena::default(),
                segments: Vec::new(),
            }),
            max_allocation,
        }
    }

    /// What a request of `bytes` takes of a segment; `None` when that overflows.
    fn rounded(bytes: usize) -> Option<(usize, bool, usize)> {
        match size_class(bytes) {
            Some((_, len)) => Some((len, true, ALIGN)),
            None => Some((
                bytes.checked_next_multiple_of(LARGE_STEP)?,
                false,
                LARGE_KEEP,
            )),
        }
    }

    /// A block for `lane` from what is free for it; `None` when there is none.
    pub(crate) fn reuse(&self, lane: u64, bytes: usize) -> Option<Block<B>> {
        let (len, small, keep) = Self::rounded(bytes)?;
        let mut inner = lock(&self.inner);
        let grant = inner.arena.grant(lane, len, small, keep)?;
        inner.block(grant)
    }

    /// A block that another lane freed, and the point `(lane, seq)` that `lane` has to wait for.
    pub(crate) fn steal(&self, bytes: usize) -> Option<(Block<B>, (u64, u64))> {
        let (len, small, keep) = Self::rounded(bytes)?;
        let mut inner = lock(&self.inner);
        let (grant, witness) = inner.arena.steal(len, small, keep)?;
        Some((inner.block(grant)?, witness))
    }

    /// A block from a new segment.
    pub(crate) fn grow(
        &self,
        vendor: &Vendor<B>,
        usage: &Usage,
        lane: u64,
        bytes: usize,
    ) -> Result<Block<B>, GpuError> {
        let too_large = || GpuError::OutOfMemory {
            requested: bytes,
            available: self.max_allocation,
        };
        let (len, small, keep) = Self::rounded(bytes).ok_or_else(too_large)?;
        let exact = bytes.next_multiple_of(ALIGN).min(len);
        if bytes > self.max_allocation {
            return Err(too_large());
        }
        let wanted = if small { SMALL_SEGMENT } else { len };
        let mut sizes = [wanted, len, exact].map(|size| size.min(self.max_allocation.max(bytes)));
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut refusal = too_large();
        let mut tried = usize::MAX;
        for size in sizes {
            if size < bytes || size >= tried {
                continue;
            }
            tried = size;
            match vendor.allocate(size) {
                Ok(buffer) => {
                    usage.reserved.fetch_add(buffer.len(), Ordering::Relaxed);
                    usage.device_allocations.fetch_add(1, Ordering::Relaxed);
                    let len = len.min(buffer.len());
                    let mut inner = lock(&self.inner);
                    inner.enter(Arc::new(Segment { buffer, small }));
                    // The new segment is free for anyone, so this grant comes from it or from a
                    // better fit that was freed meanwhile.
                    let grant = inner.arena.grant(lane, len, small, keep);
                    return grant
                        .and_then(|grant| inner.block(grant))
                        .ok_or_else(too_large);
                }
                Err(cause @ GpuError::OutOfMemory { .. }) => refusal = cause,
                Err(cause) => return Err(cause),
            }
        }
        Err(match refusal {
            GpuError::OutOfMemory { available, .. } => GpuError::OutOfMemory {
                requested: bytes,
                available,
            },
            other => other,
        })
    }

    /// Takes a block back. Whoever holds `block` must not use it again.
    pub(crate) fn release(&self, block: &Block<B>, owner: Owner) {
        lock(&self.inner)
            .arena
            .free(block.grant.segment, block.grant.offset, owner);
    }

    /// Makes free for anyone what `completed(lane, seq)` says has completed.
    pub(crate) fn promote(&self, completed: impl Fn(u64, u64) -> bool) {
        lock(&self.inner).arena.promote(completed);
    }

    /// Gives wholly free segments back to the device; their bytes. A refused free is counted.
    pub(crate) fn trim(&self, vendor: &Vendor<B>, usage: &Usage) -> usize {
        let mut buffers = Vec::new();
        {
            let mut inner = lock(&self.inner);
            for at in inner.arena.trim() {
                match inner
                    .segments
                    .get_mut(at)
                    .and_then(Option::take)
                    .map(Arc::try_unwrap)
                {
                    Some(Ok(segment)) => buffers.push(segment.buffer),
                    // Another thread is dropping a block of it this very moment: next time.
                    Some(Err(shared)) => inner.enter(shared),
                    None => {}
                }
            }
        }
        let mut freed = 0;
        for buffer in buffers {
            let bytes = buffer.len();
            usage.reserved.fetch_sub(bytes, Ordering::Relaxed);
            match vendor.free(buffer) {
                Ok(()) => freed += bytes,
                Err(cause) => {
                    usage.failed_frees.fetch_add(1, Ordering::Relaxed);
                    usage.quarantined.fetch_add(bytes, Ordering::Relaxed);
                    tracing::warn!(bytes, %cause, "the device refused to free memory");
                }
            }
        }
        freed
    }

    /// The largest free block, in bytes.
    pub(crate) fn largest_free(&self) -> usize {
        lock(&self.inner).arena.largest_free()
    }
}

impl<B: Execute> Inner<B> {
    /// Enters a segment of which everything is free.
    fn enter(&mut self, segment: Arc<Segment<B>>) {
        let at = self.arena.add(segment.buffer.len(), segment.small);
        if self.segments.len() <= at {
            self.segments.resize_with(at + 1, || None);
        }
        self.segments[at] = Some(segment);
    }

    fn block(&self, grant: Grant) -> Option<Block<B>> {
        let segment = self.segments.get(grant.segment)?.as_ref()?;
        Some(Block {
            segment: Arc::clone(segment),
            grant,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIGN, CLASSES, SMALL, size_class};

    #[test]
    fn size_classes_hold_what_they_are_for_and_waste_at_most_a_quarter() {
        let mut last = None;
        for bytes in (1..=SMALL).step_by(97).chain([256, 257, 4096, 4097, SMALL]) {
            let (class, len) = size_class(bytes).unwrap();
            assert!(
                class < CLASSES && len >= bytes && len % ALIGN == 0,
                "{bytes}: {class} {len}"
            );
            assert!(len - bytes < ALIGN.max(bytes / 4 + 1), "{bytes}: {len}");
            last = last.max(Some(class));
            assert_eq!(
                size_class(len),
                Some((class, len)),
                "a class holds its own size"
            );
        }
        assert_eq!(last, Some(CLASSES - 1));
        assert_eq!(size_class(SMALL + 1), None);
        assert_eq!(size_class(0), Some((0, ALIGN)));
    }
}
