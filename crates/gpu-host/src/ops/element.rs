//! The Rust types that stand for the element types.
//!
//! Promises that each has the size and the representation that [`DType`] says, and that any bytes
//! are a value of it (a bool is a byte here, so that a stray 2 is not undefined behaviour). Knows
//! nothing of arithmetic: that is [`number`](super::number).

use gpu_seam::{DType, Scalar};
pub(crate) use half::{bf16, f16};
use num_complex::Complex;

/// complex64.
pub(crate) type C64 = Complex<f32>;
/// complex128.
pub(crate) type C128 = Complex<f64>;

/// A stored bool: 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct Bool(pub(crate) u8);

impl Bool {
    /// Whether it is true.
    #[inline(always)]
    pub(crate) const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

/// A type whose values an operation reads or writes; any bytes are a value.
pub(crate) trait Plain: Copy + Send + Sync + Default + 'static {
    /// The value whose little-endian bytes are the low ones of `bits`.
    fn from_bits(bits: u128) -> Self;

    /// The value's little-endian bytes in the low ones.
    fn to_bits(self) -> u128;
}

/// The Rust type of a [`DType`].
pub(crate) trait Element: Plain {
    /// Which.
    const DTYPE: DType;

    /// The value of a scalar of this type.
    fn from_scalar(scalar: Scalar) -> Self {
        debug_assert_eq!(scalar.dtype(), Self::DTYPE, "a scalar of another type");
        Self::from_bits(scalar.bits())
    }
}

macro_rules! elements {
    ($($type:ty = $dtype:ident, $bits:ident => $value:expr, $x:ident => $back:expr;)+) => {$(
        impl Plain for $type {
            #[expect(clippy::cast_possible_truncation, reason = "the low bytes are what is meant")]
            #[allow(clippy::cast_possible_wrap, reason = "bits, for the signed integers")]
            #[inline(always)]
            fn from_bits($bits: u128) -> Self {
                $value
            }
            #[inline(always)]
            fn to_bits(self) -> u128 {
                let $x = self;
                $back.into()
            }
        }
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )+};
}

elements! {
    Bool = Bool, bits => Self(bits as u8), x => x.0;
    u8 = U8, bits => bits as Self, x => x;
    i8 = I8, bits => bits as Self, x => x.cast_unsigned();
    u32 = U32, bits => bits as Self, x => x;
    i32 = I32, bits => bits as Self, x => x.cast_unsigned();
    i64 = I64, bits => bits as Self, x => x.cast_unsigned();
    f16 = F16, bits => Self::from_bits(bits as u16), x => x.to_bits();
    bf16 = BF16, bits => Self::from_bits(bits as u16), x => x.to_bits();
    f32 = F32, bits => Self::from_bits(bits as u32), x => x.to_bits();
    f64 = F64, bits => Self::from_bits(bits as u64), x => x.to_bits();
    C64 = Complex64, bits => Self::new(
        f32::from_bits(bits as u32),
        f32::from_bits((bits >> 32) as u32),
    ), x => u64::from(x.re.to_bits()) | u64::from(x.im.to_bits()) << 32;
    C128 = Complex128, bits => Self::new(
        f64::from_bits(bits as u64),
        f64::from_bits((bits >> 64) as u64),
    ), x => u128::from(x.re.to_bits()) | u128::from(x.im.to_bits()) << 64;
}

// What moves without arithmetic moves as bits, one kernel a size; these stand for no dtype.

impl Plain for u16 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bytes are what is meant"
    )]
    #[inline(always)]
    fn from_bits(bits: u128) -> Self {
        bits as Self
    }
    #[inline(always)]
    fn to_bits(self) -> u128 {
        self.into()
    }
}

/// Elements of 16 bytes and 8-byte alignment, as bits.
pub(crate) type Bits128 = [u64; 2];

impl Plain for Bits128 {
    #[expect(clippy::cast_possible_truncation, reason = "split into halves")]
    #[inline(always)]
    fn from_bits(bits: u128) -> Self {
        [bits as u64, (bits >> 64) as u64]
    }
    #[inline(always)]
    fn to_bits(self) -> u128 {
        u128::from(self[0]) | u128::from(self[1]) << 64
    }
}

/// Elements of 8 bytes and 4-byte alignment (complex64), or 8, as bits.
pub(crate) type Bits64 = [u32; 2];

impl Plain for Bits64 {
    #[expect(clippy::cast_possible_truncation, reason = "split into halves")]
    #[inline(always)]
    fn from_bits(bits: u128) -> Self {
        [bits as u32, (bits >> 32) as u32]
    }
    #[inline(always)]
    fn to_bits(self) -> u128 {
        u128::from(self[0]) | u128::from(self[1]) << 32
    }
}

/// Evaluates `$body` with `$T` as the Rust type of a dtype, or `$other` for one unknown here.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            gpu_seam::DType::Bool => {
                type $T = $crate::ops::element::Bool;
                $body
            }
            gpu_seam::DType::U8 => {
                type $T = u8;
                $body
            }
            gpu_seam::DType::I8 => {
                type $T = i8;
                $body
            }
            gpu_seam::DType::U32 => {
                type $T = u32;
                $body
            }
            gpu_seam::DType::I32 => {
                type $T = i32;
                $body
            }
            gpu_seam::DType::I64 => {
                type $T = i64;
                $body
            }
            gpu_seam::DType::F16 => {
                type $T = $crate::ops::element::f16;
                $body
            }
            gpu_seam::DType::BF16 => {
                type $T = $crate::ops::element::bf16;
                $body
            }
            gpu_seam::DType::F32 => {
                type $T = f32;
                $body
            }
            gpu_seam::DType::F64 => {
                type $T = f64;
                $body
            }
            gpu_seam::DType::Complex64 => {
                type $T = $crate::ops::element::C64;
                $body
            }
            gpu_seam::DType::Complex128 => {
                type $T = $crate::ops::element::C128;
                $body
            }
            _ => $other,
        }
    };
}

/// As `with_element`, with a type of the dtype's size that stands for its bits alone.
macro_rules! with_bits {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = $crate::ops::element::Bits64;
                $body
            }
            _ => {
                type $T = $crate::ops::element::Bits128;
                $body
            }
        }
    };
}

pub(crate) use {with_bits, with_element};

#[cfg(test)]
mod tests {
    use super::{Element, Plain};
    use gpu_seam::{DType, Scalar};

    #[test]
    fn types_have_the_size_and_alignment_of_their_dtype() {
        for dtype in DType::ALL {
            with_element!(dtype, T => {
                assert_eq!(size_of::<T>(), dtype.size());
                assert_eq!(align_of::<T>(), dtype.align());
                assert_eq!(<T as Element>::DTYPE, dtype);
            }, _ => panic!("unknown {dtype}"));
            with_bits!(dtype, T => {
                assert_eq!(size_of::<T>(), dtype.size());
                assert!(align_of::<T>() <= dtype.align());
            });
        }
    }

    #[test]
    fn bits_become_values() {
        assert!((f64::from_scalar(Scalar::one(DType::F64)) - 1.0).abs() < f64::EPSILON);
        let bits = 7u128 | 9 << 64;
        assert_eq!(<[u64; 2]>::from_bits(bits), [7, 9]);
        assert_eq!(<[u32; 2]>::from_bits(7 | 9 << 32), [7, 9]);
        assert_eq!(i8::from_bits(0xff), -1);
    }
}
