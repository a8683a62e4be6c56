//! Device memory: what an allocation is, how much there is, and how much of it is taken.
//!
//! Promises that an allocation's id is never given twice and that the books balance: what was taken
//! is returned when the buffer is freed. Knows nothing of streams or kernels.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The handle to one buffer. Dropping it frees nothing: the buffer goes back through the driver.
pub struct Allocation {
    buffer: ManuallyDrop<wgpu::Buffer>,
    id: u64,
}

impl Allocation {
    pub(crate) fn new(buffer: wgpu::Buffer, id: u64) -> Self {
        Self {
            buffer: ManuallyDrop::new(buffer),
            id,
        }
    }

    /// The buffer.
    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The number that names it in its domain.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// Takes the buffer out, to be dropped.
    pub(crate) fn into_buffer(self) -> wgpu::Buffer {
        ManuallyDrop::into_inner(self.buffer)
    }
}

impl std::fmt::Debug for Allocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allocation")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// How much of a device's memory this driver has taken.
#[derive(Debug)]
pub(crate) struct Ledger {
    total: usize,
    taken: AtomicUsize,
    next: AtomicU64,
}

impl Ledger {
    pub(crate) const fn new(total: usize) -> Self {
        Self {
            total,
            taken: AtomicUsize::new(0),
            next: AtomicU64::new(1),
        }
    }

    pub(crate) const fn total(&self) -> usize {
        self.total
    }

    /// Bytes that nobody has taken through this driver. wgpu cannot tell what others took.
    pub(crate) fn available(&self) -> usize {
        self.total
            .saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// Takes `bytes`, or says how many there are.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), usize> {
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                taken.checked_add(bytes).filter(|&sum| sum <= self.total)
            })
            .map(drop)
            .map_err(|taken| self.total.saturating_sub(taken))
    }

    /// Returns what was taken.
    pub(crate) fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A number that no earlier call gave.
    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Bytes of memory that are the device's own. Where the interface does not say (all but Vulkan),
/// the largest buffer that it promises: at least that much is there.
pub(crate) fn total_memory(adapter: &wgpu::Adapter) -> usize {
    let bytes = heaps(adapter).unwrap_or_else(|| adapter.limits().max_buffer_size);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(any(windows, all(unix, not(target_vendor = "apple"))))]
use crate::heaps::heaps;

#[cfg(not(any(windows, all(unix, not(target_vendor = "apple")))))]
fn heaps(_: &wgpu::Adapter) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::Ledger;

    #[test]
    fn the_books_balance() {
        let ledger = Ledger::new(100);
        assert_eq!(ledger.take(60), Ok(()));
        assert_eq!(ledger.take(60), Err(40));
        assert_eq!(ledger.take(usize::MAX), Err(40));
        assert_eq!(ledger.available(), 40);
        ledger.give(60);
        assert_eq!(ledger.available(), 100);
        assert_ne!(ledger.next_id(), ledger.next_id());
    }
}
