//! A number without a dtype, and how it takes that of a tensor.
//!
//! The rule is by kind, not by value, so that a program's types do not depend on its data: bool
//! goes to any dtype, integers to any but bool, floats to floats and complex, complex to complex.
//! A value outside the range of the dtype is refused; a float or integer that is inside is rounded
//! once, to nearest even. NumPy (since 2.0) and PyTorch take integers and floats the same way where
//! kinds agree, and *promote the tensor* where they do not; nothing is promoted here.

use gpu_seam::{DType, Scalar};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;

use super::element::Element;

/// A number without a dtype: what a scalar operand is given as.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// `true` or `false`.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

/// Why a number does not take a dtype.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub struct NumberRefused {
    number: Number,
    dtype: DType,
}

impl Number {
    /// The number as a scalar of `dtype`.
    ///
    /// # Errors
    /// When its kind does not go into `dtype`, or its value is outside the range: see the module.
    pub fn to_scalar(self, dtype: DType) -> Result<Scalar, NumberRefused> {
        self.converted(dtype).ok_or(NumberRefused {
            number: self,
            dtype,
        })
    }

    fn converted(self, dtype: DType) -> Option<Scalar> {
        match (self, dtype) {
            (Self::Bool(value), _) => Some(if value {
                Scalar::one(dtype)
            } else {
                Scalar::zero(dtype)
            }),
            (Self::Int(value), DType::U8) => u8::try_from(value).ok().map(Element::scalar),
            (Self::Int(value), DType::I8) => i8::try_from(value).ok().map(Element::scalar),
            (Self::Int(value), DType::U32) => u32::try_from(value).ok().map(Element::scalar),
            (Self::Int(value), DType::I32) => i32::try_from(value).ok().map(Element::scalar),
            (Self::Int(value), DType::I64) => i64::try_from(value).ok().map(Element::scalar),
            #[expect(clippy::cast_precision_loss, reason = "rounds to nearest, as stated")]
            (Self::Int(value), DType::F64 | DType::Complex128) => real(value as f64, dtype),
            (Self::Int(value), _) => real(integer_to_odd(value), dtype),
            (Self::Float(value), _) => real(value, dtype),
            (Self::Complex(value), DType::Complex64) => {
                Some(Complex::new(to_f32(value.re)?, to_f32(value.im)?).scalar())
            }
            (Self::Complex(value), DType::Complex128) => Some(value.scalar()),
            (Self::Complex(_), _) => None,
        }
    }
}

/// `value` in a float or complex dtype, rounded once.
fn real(value: f64, dtype: DType) -> Option<Scalar> {
    match dtype {
        DType::F16 => {
            // 11 significant bits from an f32 rounded to odd: the second rounding sees the sticky
            // bit, so the two are as one (Boldo and Melquiond, "Emulation of FMA and correctly
            // rounded sums", 2008).
            let narrow = f16::from_f32(to_odd(value));
            (narrow.is_finite() || !value.is_finite()).then(|| narrow.scalar())
        }
        DType::BF16 => {
            let narrow = bf16::from_f32(to_odd(value));
            (narrow.is_finite() || !value.is_finite()).then(|| narrow.scalar())
        }
        DType::F32 => to_f32(value).map(Element::scalar),
        DType::F64 => Some(value.scalar()),
        DType::Complex64 => to_f32(value).map(|re| Complex::new(re, 0.0).scalar()),
        DType::Complex128 => Some(Complex::new(value, 0.0).scalar()),
        _ => None,
    }
}

/// The nearest `f32`; `None` when a finite value becomes infinite.
fn to_f32(value: f64) -> Option<f32> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounds to nearest; range is checked"
    )]
    let narrow = value as f32;
    (narrow.is_finite() || !value.is_finite()).then_some(narrow)
}

/// `value` as an `f32` rounded to odd: toward zero, with the lowest bit set when that was inexact.
fn to_odd(value: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounds to nearest; corrected below"
    )]
    let nearest = value as f32;
    let wide = f64::from(nearest);
    if wide == value || value.is_nan() {
        return nearest;
    }
    // One step back toward zero where the nearest went past the value, infinity included.
    let bits = nearest.to_bits();
    let toward_zero = if wide.abs() > value.abs() {
        bits - 1
    } else {
        bits
    };
    f32::from_bits(toward_zero | 1)
}

/// `value` as an `f64` rounded to odd, so that the one rounding to a narrower type is right.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the loss is what is corrected"
)]
fn integer_to_odd(value: i128) -> f64 {
    let nearest = value as f64;
    let back = nearest as i128;
    if back == value {
        return nearest;
    }
    let bits = nearest.to_bits();
    let toward_zero = if back.unsigned_abs() > value.unsigned_abs() {
        bits - 1
    } else {
        bits
    };
    f64::from_bits(toward_zero | 1)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            // `{:?}` keeps the point of 2.0 and the exponent of 1e300.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Complex(value) => write!(f, "{:?}{:+?}i", value.re, value.im),
        }
    }
}

impl fmt::Display for NumberRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, dtype } = self;
        let kind = match number {
            Number::Bool(_) => "bool",
            Number::Int(_) => "integer",
            Number::Float(_) => "float",
            Number::Complex(_) => "complex",
        };
        let fits = match number {
            Number::Bool(_) => true,
            Number::Int(_) => *dtype != DType::Bool,
            Number::Float(_) => dtype.is_float() || dtype.is_complex(),
            Number::Complex(_) => dtype.is_complex(),
        };
        if fits {
            write!(f, "the scalar {number} is outside the range of {dtype}")
        } else {
            write!(
                f,
                "the scalar {number} is of kind {kind} and does not go into {dtype}; nothing is \
                 promoted: cast the tensor, or give a value of its kind"
            )
        }
    }
}

macro_rules! numbers {
    ($($type:ty => |$value:ident| $number:expr;)+) => {$(
        impl From<$type> for Number {
            fn from($value: $type) -> Self {
                $number
            }
        }
    )+};
}

numbers! {
    bool => |value| Self::Bool(value);
    u8 => |value| Self::Int(value.into());
    i8 => |value| Self::Int(value.into());
    u16 => |value| Self::Int(value.into());
    i16 => |value| Self::Int(value.into());
    u32 => |value| Self::Int(value.into());
    i32 => |value| Self::Int(value.into());
    u64 => |value| Self::Int(value.into());
    i64 => |value| Self::Int(value.into());
    usize => |value| Self::Int(i128::try_from(value).unwrap_or(i128::MAX));
    isize => |value| Self::Int(i128::try_from(value).unwrap_or(i128::MAX));
    f16 => |value| Self::Float(value.into());
    bf16 => |value| Self::Float(value.into());
    f32 => |value| Self::Float(value.into());
    f64 => |value| Self::Float(value);
    Complex<f32> => |value| Self::Complex(Complex::new(value.re.into(), value.im.into()));
    Complex<f64> => |value| Self::Complex(value);
}

#[cfg(test)]
mod tests {
    use super::Number;
    use crate::dtype::Element;
    use gpu_seam::{DType, Scalar};
    use half::{bf16, f16};
    use num_complex::Complex;
    use rstest::rstest;

    fn accepted(number: impl Into<Number>, scalar: Scalar) {
        let number = number.into();
        assert_eq!(number.to_scalar(scalar.dtype()), Ok(scalar), "{number}");
    }

    #[test]
    fn bools_go_to_any_dtype() {
        for dtype in DType::ALL {
            accepted(true, Scalar::one(dtype));
            accepted(false, Scalar::zero(dtype));
        }
    }

    #[test]
    fn integers_and_floats_of_a_kind_are_taken() {
        accepted(-128, (-128i8).scalar());
        accepted(u32::MAX, u32::MAX.scalar());
        accepted(3, 3f32.scalar());
        accepted(3, Complex::new(3f64, 0.0).scalar());
        accepted(0.1, 0.1f32.scalar());
        accepted(0.1, f16::from_f64(0.1).scalar());
        accepted(f64::NEG_INFINITY, bf16::NEG_INFINITY.scalar());
        accepted(
            f64::NAN,
            Scalar::from_bits(DType::F32, u128::from(f32::NAN.to_bits())),
        );
        accepted(-0.0, (-0.0f32).scalar());
        accepted(
            Complex::new(1.5f32, -2.0),
            Complex::new(1.5f64, -2.0).scalar(),
        );
    }

    #[rstest]
    // A tie of f16 plus a bit that f32 cannot hold: rounding twice would give 2048.
    #[case(2_049.000_000_000_1, DType::F16, f16::from_f32(2050.0).scalar())]
    #[case(2049.0, DType::F16, f16::from_f32(2048.0).scalar())]
    #[case(-2_049.000_000_000_1, DType::F16, f16::from_f32(-2050.0).scalar())]
    #[case(1.0 + 0.00390625 + 1e-12, DType::BF16, bf16::from_bits(0x3f81).scalar())]
    #[case(1.0 + 0.00390625, DType::BF16, bf16::from_bits(0x3f80).scalar())]
    #[case(65519.999, DType::F16, f16::MAX.scalar())]
    #[case(1e-50, DType::F32, 0f32.scalar())]
    fn floats_are_rounded_once(#[case] value: f64, #[case] dtype: DType, #[case] is: Scalar) {
        assert_eq!(Number::from(value).to_scalar(dtype), Ok(is));
    }

    #[test]
    fn integers_are_rounded_once() {
        // 2^60 + 2^36 is a tie between f32 neighbours; one more must round up.
        let tie = (1i64 << 60) + (1 << 36);
        let (below, above) = (2f32.powi(60), 2f32.powi(60) + 2f32.powi(37));
        accepted(tie, below.scalar());
        accepted(tie + 1, above.scalar());
        accepted(-(tie + 1), (-above).scalar());
    }

    #[rstest]
    #[case(Number::from(1.5), DType::I32)]
    #[case(Number::from(2.0), DType::I32)]
    #[case(Number::from(1.0), DType::Bool)]
    #[case(Number::from(1), DType::Bool)]
    #[case(Number::from(256), DType::U8)]
    #[case(Number::from(-1), DType::U32)]
    #[case(Number::from(u64::MAX), DType::I64)]
    #[case(Number::from(1e39), DType::F32)]
    #[case(Number::from(65520.0), DType::F16)]
    #[case(Number::from(65520), DType::F16)]
    #[case(Number::from(Complex::new(1.0, 0.0)), DType::F64)]
    #[case(Number::from(Complex::new(1.0, 1e39)), DType::Complex64)]
    fn what_does_not_fit_is_refused(#[case] number: Number, #[case] dtype: DType) {
        let refused = number.to_scalar(dtype).unwrap_err().to_string();
        assert!(refused.contains(&number.to_string()) && refused.contains(dtype.name()));
    }

    #[test]
    fn the_refusal_says_why() {
        let refused = |number: Number, dtype| number.to_scalar(dtype).unwrap_err().to_string();
        insta::assert_snapshot!(
            refused(1.5.into(), DType::I32),
            @"the scalar 1.5 is of kind float and does not go into i32; nothing is promoted: cast the tensor, or give a value of its kind"
        );
        insta::assert_snapshot!(
            refused(256.into(), DType::U8),
            @"the scalar 256 is outside the range of u8"
        );
    }
}
