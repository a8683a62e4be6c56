//! Host memory as device memory: blocks, and how much there is.
//!
//! Promises that a block is what it says and belongs to nobody else, and that more is never handed
//! out than the machine has: an operating system that overcommits would kill the process later.
//! Knows nothing of buffers or identities.
//!
//! # Safety
//!
//! A [`Block`] is a pointer and a layout. It is safe to make and to send around; reading or writing
//! through it, and freeing it, are unsafe and done by the driver under the seam's contract.

#![expect(unsafe_code, reason = "calls the global allocator")]

use gpu_seam::GpuError;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every block starts at a multiple of this: a cache line, and the widest vector register.
pub(crate) const ALIGNMENT: usize = 64;

/// Below this the machine is not asked how much memory it has left.
const PROBE_FROM: usize = 1 << 20;

/// What is assumed where the machine cannot tell.
const ASSUMED_TOTAL: usize = 4 << 30;

/// A block of host memory. A plain handle: dropping it frees nothing.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is an address; what may be done with the memory behind it is the business of the
// unsafe functions that use it, whatever the thread.
unsafe impl Send for Block {}
// SAFETY: as above; no method of a shared block touches the memory.
unsafe impl Sync for Block {}

impl Block {
    /// The first byte.
    pub(crate) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.layout.size()
    }
}

/// The memory of one host device: what may be handed out, and what is.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: usize,
    live: AtomicUsize,
}

impl Memory {
    /// Memory of which at most `limit` bytes are handed out at a time, and never more than the
    /// machine has available.
    pub(crate) const fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            live: AtomicUsize::new(0),
        }
    }

    /// The most that can be handed out at a time.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// What could be handed out now.
    pub(crate) fn available(&self) -> usize {
        let left = self.limit.saturating_sub(self.live.load(Ordering::Relaxed));
        machine_available().map_or(left, |machine| left.min(machine))
    }

    /// A block of `bytes` with unspecified contents.
    ///
    /// # Errors
    /// `OutOfMemory` when the limit, the machine or the allocator does not have it.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Block, GpuError> {
        let refuse = |available| GpuError::OutOfMemory {
            requested: bytes,
            available,
        };
        let Ok(layout) = Layout::from_size_align(bytes.max(1), ALIGNMENT) else {
            return Err(refuse(self.available()));
        };
        if bytes >= PROBE_FROM
            && let Some(machine) = machine_available()
            && bytes > machine
        {
            return Err(refuse(self.available()));
        }
        self.live
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| {
                live.checked_add(layout.size())
                    .filter(|&live| live <= self.limit)
            })
            .map_err(|_| refuse(self.available()))?;
        // SAFETY: the layout's size is at least 1.
        let start = unsafe { alloc(layout) };
        if let Some(start) = NonNull::new(start) {
            Ok(Block { start, layout })
        } else {
            self.live.fetch_sub(layout.size(), Ordering::Relaxed);
            Err(refuse(self.available()))
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `block` came from this memory's [`allocate`](Self::allocate), and nothing uses what it names
    /// any more.
    pub(crate) unsafe fn free(&self, block: Block) {
        self.live.fetch_sub(block.len(), Ordering::Relaxed);
        // SAFETY: by the contract above the block is live and was allocated with this layout.
        unsafe { dealloc(block.start.as_ptr(), block.layout) };
    }
}

/// The memory of this machine in bytes, or what its control group allows.
pub(crate) fn machine_total() -> usize {
    let total = total_of_machine().unwrap_or(ASSUMED_TOTAL);
    control_group_limit().map_or(total, |limit| total.min(limit))
}

/// What could be allocated now without swapping, where the machine can tell.
fn machine_available() -> Option<usize> {
    meminfo("MemAvailable:")
}

/// The machine's memory, where it can tell.
fn total_of_machine() -> Option<usize> {
    meminfo("MemTotal:")
}

/// A line of Linux' `/proc/meminfo`, in bytes.
fn meminfo(key: &str) -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The limit that Linux' control groups (version 2) set for this process, if any.
fn control_group_limit() -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let text = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {

    use super::{ALIGNMENT, Memory, machine_total};
    use gpu_seam::GpuError;

    #[test]
    fn the_limit_holds_and_freeing_gives_back() {
        let memory = Memory::with_limit(1000);
        let block = memory.allocate(900).unwrap();
        assert_eq!(block.start().as_ptr().addr() % ALIGNMENT, 0);
        assert_eq!(block.len(), 900);
        assert_eq!(memory.available(), 100);
        assert_eq!(
            memory.allocate(101).unwrap_err(),
            GpuError::OutOfMemory {
                requested: 101,
                available: 100
            }
        );
        // SAFETY: it came from this memory and nothing uses it.
        unsafe { memory.free(block) };
        assert_eq!(memory.available(), 1000);
    }

    #[test]
    fn absurd_sizes_are_refused_not_aborted() {
        let memory = Memory::with_limit(usize::MAX);
        for bytes in [usize::MAX, isize::MAX.unsigned_abs(), 1 << 50] {
            let refused = memory.allocate(bytes).unwrap_err();
            assert!(
                matches!(refused, GpuError::OutOfMemory { requested, .. } if requested == bytes),
                "{refused}"
            );
        }
        assert!(machine_total() > 1 << 20);
    }
}
