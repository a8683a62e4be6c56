//! Element types, sets of them, and single values as bits.
//!
//! Promises sizes, alignments and names; knows nothing of arithmetic. Element *traits* (what Rust
//! type stands for which [`DType`]) live in tensor-core, since half and complex types are foreign to
//! a crate with no dependencies.

use core::fmt;

/// The type of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DType {
    /// One byte that is 0 or 1, never anything else.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two `f32`, real part first: NumPy's and PyTorch's complex64.
    Complex64,
    /// Two `f64`, real part first: NumPy's and PyTorch's complex128.
    Complex128,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [Self; 12] = [
        Self::Bool,
        Self::U8,
        Self::I8,
        Self::U32,
        Self::I32,
        Self::I64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::Complex64,
        Self::Complex128,
    ];

    /// The size of one element in bytes: 1, 2, 4, 8 or 16.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::F16 | Self::BF16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// The alignment of one element in bytes: that of its real part.
    #[must_use]
    pub const fn align(self) -> usize {
        match self {
            Self::Complex64 => 4,
            Self::Complex128 => 8,
            other => other.size(),
        }
    }

    /// The short name (`f32`, `complex64`), the same in `Display`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
        }
    }

    /// Whether it is an integer of any width, `bool` not included.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::U8 | Self::I8 | Self::U32 | Self::I32 | Self::I64
        )
    }

    /// Whether it is a real floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// Whether it is a complex type.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// The type of the real part: `f32` for complex64, `f64` for complex128, else the type itself.
    #[must_use]
    pub const fn real(self) -> Self {
        match self {
            Self::Complex64 => Self::F32,
            Self::Complex128 => Self::F64,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DTypeSet(u16);

impl DTypeSet {
    /// No type at all.
    pub const EMPTY: Self = Self(0);
    /// Every type in [`DType::ALL`].
    pub const ALL: Self = Self::of(&DType::ALL);

    /// The set of `dtypes`.
    #[must_use]
    pub const fn of(dtypes: &[DType]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < dtypes.len() {
            bits |= 1 << dtypes[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    /// Whether `dtype` is in the set.
    #[must_use]
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u16) != 0
    }

    /// The types of the set, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL
            .into_iter()
            .filter(move |dtype| self.contains(*dtype))
    }
}

impl fmt::Display for DTypeSet {
    /// `f32, f64`, or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut any = false;
        for dtype in self.iter() {
            if any {
                f.write_str(", ")?;
            }
            f.write_str(dtype.name())?;
            any = true;
        }
        if any { Ok(()) } else { f.write_str("none") }
    }
}

/// One value: its bits (little-endian in the low bytes, zero above) and its type.
///
/// Two scalars are equal when type and bits are: `-0.0` is not `0.0`, and a NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    dtype: DType,
    bits: u128,
}

impl Scalar {
    /// The value whose little-endian representation is the low [`DType::size`] bytes of `bits`.
    /// Higher bytes are ignored; a `bool` is true when any of its low 8 bits is set.
    #[must_use]
    pub const fn from_bits(dtype: DType, bits: u128) -> Self {
        let width = 8 * dtype.size();
        let kept = if width == 128 {
            bits
        } else {
            bits & ((1 << width) - 1)
        };
        let bits = match dtype {
            DType::Bool => (kept != 0) as u128,
            _ => kept,
        };
        Self { dtype, bits }
    }

    /// Zero of `dtype`: all bits clear.
    #[must_use]
    pub const fn zero(dtype: DType) -> Self {
        Self { dtype, bits: 0 }
    }

    /// One of `dtype` (complex: 1 + 0i).
    #[must_use]
    pub const fn one(dtype: DType) -> Self {
        let bits = match dtype {
            DType::F16 => 0x3c00,
            DType::BF16 => 0x3f80,
            DType::F32 | DType::Complex64 => 0x3f80_0000,
            DType::F64 | DType::Complex128 => 0x3ff0_0000_0000_0000,
            _ => 1,
        };
        Self { dtype, bits }
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// The bits, zero above the type's size.
    #[must_use]
    pub const fn bits(self) -> u128 {
        self.bits
    }

    /// The 16 little-endian bytes of [`bits`](Self::bits); the element is the first
    /// [`DType::size`] of them.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 16] {
        self.bits.to_le_bytes()
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#x}", self.dtype, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::{DType, DTypeSet, Scalar};
    use alloc::string::ToString;

    #[test]
    fn sizes_and_names() {
        for dtype in DType::ALL {
            assert!(dtype.size().is_power_of_two() && dtype.size() <= 16);
            assert_eq!(dtype.size() % dtype.align(), 0);
            assert_eq!(dtype.to_string(), dtype.name());
        }
    }

    #[test]
    fn sets_hold_what_they_were_given() {
        let set = DTypeSet::of(&[DType::F64, DType::Bool]);
        assert!(set.contains(DType::Bool) && !set.contains(DType::F32));
        assert_eq!(set.to_string(), "bool, f64");
        assert_eq!(DTypeSet::EMPTY.to_string(), "none");
        assert_eq!(DTypeSet::ALL.iter().count(), DType::ALL.len());
    }

    #[test]
    fn scalars_mask_what_is_above_their_size() {
        assert_eq!(Scalar::from_bits(DType::U8, 0x1ff).bits(), 0xff);
        assert_eq!(Scalar::from_bits(DType::Bool, 2), Scalar::one(DType::Bool));
        assert_eq!(Scalar::one(DType::F64).bits(), u128::from(1f64.to_bits()));
        assert_eq!(
            Scalar::one(DType::Complex64).bits(),
            u128::from(1f32.to_bits())
        );
        assert_eq!(
            Scalar::from_bits(DType::Complex128, u128::MAX).bits(),
            u128::MAX
        );
    }
}
