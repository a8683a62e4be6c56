//! What a simulated device says that it can do: limits that a user of the seam must keep.
//!
//! Plain data. Knows nothing of how the device behaves within them.

use gpu_host::Host;
use gpu_seam::{DeviceInfo, DeviceKind, Driver, MAX_RANK};

/// The capabilities of a [`Sim`](super::Sim).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traits {
    /// Whether the host reaches device memory directly.
    pub host_visible: bool,
    /// The highest rank of a view; `plan` refuses more.
    pub strided_rank: usize,
    /// The most bytes that an argument spans.
    pub max_operand_bytes: usize,
    /// The most bytes of one allocation.
    pub max_allocation_bytes: usize,
    /// Argument offsets are multiples of this.
    pub offset_alignment: usize,
    /// Offsets and lengths of staging copies are multiples of this.
    pub copy_granularity: usize,
    /// Scratch bytes that every operation asks for, and spoils.
    pub scratch: usize,
}

impl Default for Traits {
    /// A device with memory of its own and no limit beyond that.
    fn default() -> Self {
        Self {
            host_visible: false,
            strided_rank: MAX_RANK,
            max_operand_bytes: usize::MAX,
            max_allocation_bytes: usize::MAX,
            offset_alignment: 1,
            copy_granularity: 1,
            scratch: 0,
        }
    }
}

impl Traits {
    /// The description of device `ordinal` with these traits; what it computes is what `host` does.
    pub(super) fn describe(&self, host: &Host, ordinal: usize, memory_bytes: usize) -> DeviceInfo {
        let name = format!("simulated device {ordinal}");
        let mut info = DeviceInfo::new("sim", ordinal, name, DeviceKind::Simulated);
        info.memory_bytes = memory_bytes;
        info.capabilities = host.device().capabilities.clone();
        let capabilities = &mut info.capabilities;
        capabilities.host_visible = self.host_visible;
        capabilities.strided_rank = self.strided_rank.min(capabilities.strided_rank);
        capabilities.max_operand_bytes = self.max_operand_bytes;
        capabilities.max_allocation_bytes = self.max_allocation_bytes;
        capabilities.offset_alignment = self.offset_alignment;
        capabilities.copy_granularity = self.copy_granularity;
        info
    }
}
