//! One element as a mathematical value, to and from its bytes.
//!
//! Promises one correctly rounded conversion in each direction, written here so that the suite leans
//! on no vendor's arithmetic. Knows nothing of layouts or operations.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "taking numbers apart into bits and rounding them is what this file does"
)]

use gpu_seam::{DType, Scalar};

/// A value of any element type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Val {
    /// Of bool.
    Bool(bool),
    /// Of an integer type.
    Int(i128),
    /// Of a float type.
    Real(f64),
    /// Of a complex type: real and imaginary part.
    Complex(f64, f64),
}

impl Val {
    /// Zero of `dtype`.
    pub(crate) fn zero(dtype: DType) -> Self {
        Self::decode(dtype, &[0; 16])
    }

    /// The value of the first element in `bytes`.
    pub(crate) fn decode(dtype: DType, bytes: &[u8]) -> Self {
        let mut low = [0; 16];
        low[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
        let bits = u128::from_le_bytes(low);
        let shift = |by: u32| (bits << (128 - by)).cast_signed() >> (128 - by);
        let word = |at: u32| (bits >> (32 * at)) as u32;
        let long = |at: u32| (bits >> (64 * at)) as u64;
        match dtype {
            DType::Bool => Self::Bool(bits != 0),
            DType::U8 | DType::U32 => Self::Int(bits.cast_signed()),
            DType::I8 => Self::Int(shift(8)),
            DType::I32 => Self::Int(shift(32)),
            DType::I64 => Self::Int(shift(64)),
            DType::F16 => Self::Real(widen(word(0), Narrow::F16)),
            DType::BF16 => Self::Real(widen(word(0), Narrow::BF16)),
            DType::F32 => Self::Real(f64::from(f32::from_bits(word(0)))),
            DType::F64 => Self::Real(f64::from_bits(long(0))),
            DType::Complex64 => Self::Complex(
                f64::from(f32::from_bits(word(0))),
                f64::from(f32::from_bits(word(1))),
            ),
            DType::Complex128 => Self::Complex(f64::from_bits(long(0)), f64::from_bits(long(1))),
            other => unknown(other),
        }
    }

    /// The bits as `dtype`: integers wrap, floats round to nearest, ties to even. Only between
    /// values of one class; [`cast`](crate::reference::cast) goes between classes.
    pub(crate) fn bits(self, dtype: DType) -> u128 {
        let real = |x: f64| match dtype.real() {
            DType::F16 => u64::from(narrow(x, Narrow::F16)),
            DType::BF16 => u64::from(narrow(x, Narrow::BF16)),
            DType::F32 => u64::from(single(x).to_bits()),
            _ => x.to_bits(),
        };
        match self {
            Self::Bool(x) => u128::from(x),
            Self::Int(x) => Scalar::from_bits(dtype, x.cast_unsigned()).bits(),
            Self::Real(x) => u128::from(real(x)),
            Self::Complex(re, im) => {
                let width = 8 * dtype.real().size();
                u128::from(real(re)) | u128::from(real(im)) << width
            }
        }
    }

    /// The value as `dtype` holds it.
    pub(crate) fn rounded(self, dtype: DType) -> Self {
        Self::decode(dtype, &self.bits(dtype).to_le_bytes())
    }

    /// The value as a [`Scalar`].
    pub(crate) fn scalar(self, dtype: DType) -> Scalar {
        Scalar::from_bits(dtype, self.bits(dtype))
    }

    /// Whether it is, or has a part that is, NaN.
    pub(crate) fn is_nan(self) -> bool {
        match self {
            Self::Real(x) => x.is_nan(),
            Self::Complex(re, im) => re.is_nan() || im.is_nan(),
            _ => false,
        }
    }

    /// Whether it is non-zero; NaN is.
    pub(crate) fn truth(self) -> bool {
        match self {
            Self::Bool(x) => x,
            Self::Int(x) => x != 0,
            Self::Real(x) => x != 0.0,
            Self::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }
}

/// A float type of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Narrow {
    F16,
    BF16,
}

impl Narrow {
    const fn mantissa(self) -> i32 {
        match self {
            Self::F16 => 10,
            Self::BF16 => 7,
        }
    }

    /// The exponent of the smallest normal number.
    const fn least(self) -> i32 {
        match self {
            Self::F16 => -14,
            Self::BF16 => -126,
        }
    }

    const fn infinity(self) -> u32 {
        match self {
            Self::F16 => 0x7c00,
            Self::BF16 => 0x7f80,
        }
    }
}

/// Rounds to the nearest value of a narrow type, ties to even.
pub(crate) fn narrow(x: f64, to: Narrow) -> u16 {
    compose(x, to, f64::round_ties_even)
}

/// Rounds towards zero to a value of a narrow type.
pub(crate) fn narrow_down(x: f64, to: Narrow) -> u16 {
    compose(x, to, f64::trunc)
}

fn compose(x: f64, to: Narrow, round: fn(f64) -> f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = if x.is_nan() {
        to.infinity() | 1 << (to.mantissa() - 1)
    } else if x.is_infinite() {
        to.infinity()
    } else {
        // Numbers below 2^-1022 are far below both types' least; they round to zero all the same.
        let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(to.least());
        // Exact: a power of two times a number, nowhere near the limits of f64.
        let scaled = x.abs() * 2f64.powi(to.mantissa() - exponent);
        let mantissa = round(scaled) as u32;
        let exponent = (exponent - to.least()).cast_unsigned();
        // The mantissa carries its leading one into the exponent, and a carry of rounding too.
        ((exponent << to.mantissa()) + mantissa).min(to.infinity())
    };
    (sign | magnitude) as u16
}

fn widen(bits: u32, from: Narrow) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let magnitude = bits & 0x7fff;
    if magnitude > from.infinity() {
        return f64::NAN;
    }
    if magnitude == from.infinity() {
        return sign * f64::INFINITY;
    }
    let exponent = (magnitude >> from.mantissa()).cast_signed();
    let mantissa = magnitude & ((1 << from.mantissa()) - 1);
    let (mantissa, exponent) = match exponent {
        0 => (mantissa, from.least()),
        _ => (mantissa | 1 << from.mantissa(), exponent - 1 + from.least()),
    };
    sign * f64::from(mantissa) * 2f64.powi(exponent - from.mantissa())
}

/// Rounds to f32.
pub(crate) const fn single(x: f64) -> f32 {
    x as f32
}

/// The low and the high word.
pub(crate) const fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// Truncates, saturating; NaN is 0.
pub(crate) const fn truncated(x: f64) -> i128 {
    x as i128
}

/// The distance from 1 to the next number of a float type (of a complex type's parts).
pub(crate) fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f64::from(f32::EPSILON),
        DType::F64 => f64::EPSILON,
        _ => 0.0,
    }
}

/// The smallest normal number of a float type (of a complex type's parts).
pub(crate) fn least_normal(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F16 => 2f64.powi(-14),
        DType::BF16 | DType::F32 => f64::from(f32::MIN_POSITIVE),
        DType::F64 => f64::MIN_POSITIVE,
        _ => 0.0,
    }
}

/// The least and the greatest value of an integer type.
pub(crate) fn bounds(dtype: DType) -> (i128, i128) {
    let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    match dtype {
        DType::U8 => (0, 255),
        DType::U32 => (0, 0xffff_ffff),
        DType::I8 => signed(8),
        DType::I32 => signed(32),
        DType::I64 => signed(64),
        DType::Bool => (0, 1),
        other => unknown(other),
    }
}

fn unknown(dtype: DType) -> ! {
    unreachable!("the suite was not taught {dtype}")
}

#[cfg(test)]
mod tests {
    use super::{Narrow, Val, narrow, narrow_down};
    use gpu_seam::DType;

    #[test]
    fn every_narrow_number_comes_back() {
        for dtype in [DType::F16, DType::BF16] {
            for bits in 0..=0xffffu128 {
                let value = Val::decode(dtype, &bits.to_le_bytes());
                if !value.is_nan() {
                    assert_eq!(value.bits(dtype), bits, "{dtype} {bits:#x}");
                }
            }
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        let table = [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (-2.5, 0xc100),
            (2f64.powi(-25), 0x0000),
            (2f64.powi(-25) * 1.001, 0x0001),
            (2f64.powi(-24), 0x0001),
            (1.0 + 2f64.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2f64.powi(-11), 0x3c02),
            (-0.0, 0x8000),
        ];
        for (x, bits) in table {
            assert_eq!(narrow(x, Narrow::F16), bits, "{x}");
        }
        assert_eq!(narrow(f64::from(f32::MAX), Narrow::BF16), 0x7f80);
        assert_eq!(narrow_down(0.999_999, Narrow::F16), 0x3bff);
    }

    #[test]
    fn integers_wrap_and_keep_their_sign() {
        assert_eq!(Val::Int(300).rounded(DType::U8), Val::Int(44));
        assert_eq!(Val::Int(200).rounded(DType::I8), Val::Int(-56));
        assert_eq!(Val::Int(-1).rounded(DType::U32), Val::Int(0xffff_ffff));
        assert_eq!(
            Val::Complex(1.0, -2.0).rounded(DType::Complex64),
            Val::Complex(1.0, -2.0)
        );
    }
}
