//! Where device memory is: the report under an out-of-memory error, and the counters behind it.
//!
//! Promises exact numbers that cost an atomic addition each. Knows nothing of blocks.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use std::fmt;

/// Where an engine's device memory is, at one moment. Bytes, unless it says counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryReport {
    /// Granted to storages, temporaries and scratch that are alive: the lengths asked for.
    pub in_use: usize,
    /// Allocated from the device, in use or cached.
    pub reserved: usize,
    /// Charged to the pending budget: submitted and not yet seen to complete.
    pub pending: usize,
    /// The largest cached block.
    pub largest_free: usize,
    /// The highest `in_use` since the engine was opened or the peak was last reset.
    pub peak_in_use: usize,
    /// Lost on purpose, because completion could not be proven or the device refused a free.
    pub quarantined: usize,
    /// Staging memory, charged once.
    pub staging: usize,
    /// What the device says it has left; asked only for the report under an error.
    pub device_available: Option<usize>,
    /// How many allocations the device served.
    pub device_allocations: u64,
    /// How many frees the device refused.
    pub failed_frees: u64,
    /// How many grants were served from the pool without asking the device.
    pub pool_hits: u64,
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes in use, {} reserved, {} pending, largest free block {}, {} quarantined",
            self.in_use, self.reserved, self.pending, self.largest_free, self.quarantined
        )
    }
}

/// The counters of one engine.
#[derive(Default)]
pub(crate) struct Usage {
    in_use: AtomicUsize,
    peak: AtomicUsize,
    pub(crate) reserved: AtomicUsize,
    pub(crate) quarantined: AtomicUsize,
    pub(crate) staging: AtomicUsize,
    pub(crate) device_allocations: AtomicU64,
    pub(crate) failed_frees: AtomicU64,
    pub(crate) pool_hits: AtomicU64,
}

impl Usage {
    /// Counts a grant of `bytes`.
    pub(crate) fn grant(&self, bytes: usize) {
        let now = self.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // A plain load first: in steady state the peak stands, and this is the hot path.
        if now > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Counts the end of a grant of `bytes`.
    pub(crate) fn release(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Starts the peak anew from what is in use.
    pub(crate) fn reset_peak(&self) {
        self.peak
            .store(self.in_use.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The report, but for what the pool and the budget know.
    pub(crate) fn report(&self) -> MemoryReport {
        MemoryReport {
            in_use: self.in_use.load(Ordering::Relaxed),
            reserved: self.reserved.load(Ordering::Relaxed),
            peak_in_use: self.peak.load(Ordering::Relaxed),
            quarantined: self.quarantined.load(Ordering::Relaxed),
            staging: self.staging.load(Ordering::Relaxed),
            device_allocations: self.device_allocations.load(Ordering::Relaxed),
            failed_frees: self.failed_frees.load(Ordering::Relaxed),
            pool_hits: self.pool_hits.load(Ordering::Relaxed),
            pending: 0,
            device_available: None,
            largest_free: 0,
        }
    }
}
