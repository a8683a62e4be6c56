//! What a held device is like: its limits and capabilities, all of them knobs.

use gpu_seam::MAX_RANK;
use std::time::Duration;

/// The limits and capabilities of a [`Held`](crate::Held) device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The ordinal in its identities.
    pub ordinal: usize,
    /// Device memory: allocations beyond it answer `OutOfMemory`.
    pub memory_bytes: usize,
    /// Whether polls and host waits run what they need (see the crate's doc).
    pub auto: bool,
    /// Whether direct reads and writes are served.
    pub host_visible: bool,
    /// The highest rank of a view; `plan` refuses more.
    pub strided_rank: usize,
    /// The most bytes that an argument spans; `plan` refuses a view of more.
    pub max_operand_bytes: usize,
    /// The most bytes of one allocation.
    pub max_allocation_bytes: usize,
    /// Argument offsets are multiples of this.
    pub offset_alignment: usize,
    /// Offsets and lengths of staging copies are multiples of this.
    pub copy_granularity: usize,
    /// How often `begin_access` without `block` answers `false` after each copy.
    pub access_refusals: u32,
    /// How long a host wait in manual mode, or a paused call, lasts before it is an error.
    pub watchdog: Duration,
}

impl Default for Config {
    /// 256 MiB, manual, not host-visible, no other limit, a watchdog of 20 seconds.
    fn default() -> Self {
        Self {
            ordinal: 0,
            memory_bytes: 256 << 20,
            auto: false,
            host_visible: false,
            strided_rank: MAX_RANK,
            max_operand_bytes: usize::MAX,
            max_allocation_bytes: usize::MAX,
            offset_alignment: 1,
            copy_granularity: 1,
            access_refusals: 0,
            watchdog: Duration::from_secs(20),
        }
    }
}

impl Config {
    /// The default in auto mode.
    #[must_use]
    pub fn auto() -> Self {
        Self {
            auto: true,
            ..Self::default()
        }
    }
}
