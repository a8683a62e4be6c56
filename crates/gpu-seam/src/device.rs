//! What a device is and what it can do, as data.
//!
//! A vendor fills these in once when it opens a device; gpu-dispatch plans by them and users read
//! them. A capability lands with the vendor that has it. Knows nothing of how anything is probed.

use crate::dtype::{DType, DTypeSet};
use crate::op::Family;
use alloc::string::String;

/// One device that a vendor can open, or has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The vendor's name, as its Cargo feature spells it.
    pub vendor: &'static str,
    /// The vendor's number for this device, from 0.
    pub ordinal: usize,
    /// What the device calls itself.
    pub name: String,
    /// What sort of device it is.
    pub kind: DeviceKind,
    /// The driver or runtime and its version, as text; empty when there is none.
    pub driver: String,
    /// The physical device, where the vendor can tell: equal for one device opened twice.
    pub uuid: Option<[u8; 16]>,
    /// Device memory in bytes.
    pub memory_bytes: usize,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl DeviceInfo {
    /// A device of `vendor` with the given ordinal, name and kind: no driver text, no UUID, no
    /// memory, and the [`Capabilities::default`]. Fill in the rest.
    #[must_use]
    pub fn new(
        vendor: &'static str,
        ordinal: usize,
        name: impl Into<String>,
        kind: DeviceKind,
    ) -> Self {
        Self {
            vendor,
            ordinal,
            name: name.into(),
            kind,
            driver: String::new(),
            uuid: None,
            memory_bytes: 0,
            capabilities: Capabilities::default(),
        }
    }
}

/// What sort of device it is. Never claims hardware for what is software.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The host's own processor, without any driver.
    Host,
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A driver that runs on the host's processor.
    Software,
    /// A simulation, for tests.
    Simulated,
    /// The vendor cannot tell.
    Other,
}

/// Device memory now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that an allocation could still get.
    pub available: usize,
    /// Bytes in all.
    pub total: usize,
}

/// What a device can do. gpu-dispatch plans by these numbers and never asks for more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Which element types each family of operations serves.
    pub support: SupportTable,
    /// Whether [`Driver::write_direct`](crate::Driver::write_direct) and
    /// [`read_direct`](crate::Driver::read_direct) reach device memory from the host.
    pub host_visible: bool,
    /// The highest rank a [`View`](crate::View) may have in an operation. At least 3.
    pub strided_rank: usize,
    /// The most bytes that one argument of an operation may span.
    pub max_operand_bytes: usize,
    /// The most bytes that one allocation may have.
    pub max_allocation_bytes: usize,
    /// Argument offsets are multiples of this, in bytes: a power of two.
    pub offset_alignment: usize,
    /// Offsets and lengths of copies to and from staging memory are multiples of this, in bytes:
    /// a power of two.
    pub copy_granularity: usize,
    /// What becomes of subnormal numbers in arithmetic.
    pub subnormals: Subnormals,
}

impl Default for Capabilities {
    /// Serves nothing, reaches nothing, and limits nothing.
    fn default() -> Self {
        Self {
            support: SupportTable::default(),
            host_visible: false,
            strided_rank: crate::layout::MAX_RANK,
            max_operand_bytes: usize::MAX,
            max_allocation_bytes: usize::MAX,
            offset_alignment: 1,
            copy_granularity: 1,
            subnormals: Subnormals::Kept,
        }
    }
}

/// What becomes of subnormal numbers in arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subnormals {
    /// Computed as IEEE 754 says.
    Kept,
    /// Operations may take them and give them as zero of the same sign.
    Flushed,
}

/// Element types by family: a claim that the conformance suite checks in both directions.
///
/// The type that counts is that of the elements computed on: the inputs' (for `Fill` and `Random`
/// the output's, for `Gather` and `Scatter` the moved elements', for `Select` the branches').
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SupportTable([DTypeSet; Family::ALL.len()]);

impl SupportTable {
    /// The table with `family` serving exactly `dtypes`.
    #[must_use]
    pub const fn with(mut self, family: Family, dtypes: DTypeSet) -> Self {
        self.0[family as usize] = dtypes;
        self
    }

    /// The element types that `family` serves.
    #[must_use]
    pub const fn dtypes(&self, family: Family) -> DTypeSet {
        self.0[family as usize]
    }

    /// Whether `family` serves `dtype`.
    #[must_use]
    pub const fn serves(&self, family: Family, dtype: DType) -> bool {
        self.dtypes(family).contains(dtype)
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceInfo, DeviceKind, SupportTable};
    use crate::dtype::{DType, DTypeSet};
    use crate::op::Family;

    #[test]
    fn the_table_serves_what_was_entered_and_nothing_else() {
        let table = SupportTable::default().with(Family::Gemm, DTypeSet::of(&[DType::F32]));
        for family in Family::ALL {
            for dtype in DType::ALL {
                let entered = family == Family::Gemm && dtype == DType::F32;
                assert_eq!(table.serves(family, dtype), entered);
            }
        }
    }

    #[test]
    fn a_new_device_claims_nothing() {
        let device = DeviceInfo::new("toy", 0, "toy", DeviceKind::Simulated);
        assert_eq!(device.capabilities.support, SupportTable::default());
        assert!(!device.capabilities.host_visible);
    }
}
