//! Where device memory is: the report under an out-of-memory error, and the statistics.

use std::fmt;

/// Where an engine's device memory is, at one moment. All in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MemoryReport {
    /// Granted to storages and scratch that are alive.
    pub in_use: usize,
    /// Allocated from the device, in use or cached.
    pub reserved: usize,
    /// Submitted and not yet seen to complete.
    pub pending: usize,
    /// The largest cached block.
    pub largest_free: usize,
    /// The highest `in_use` since the engine was opened, or since it was last reset.
    pub peak_in_use: usize,
    /// Lost on purpose, because completion could not be proven or the device refused a free.
    pub quarantined: usize,
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
