//! The Rust types that elements are read and written as.
//!
//! Promises a checked way between slices of elements and bytes in both directions: a byte that is
//! neither 0 nor 1 never becomes a Rust `bool`. The trait is sealed: there is exactly one type for
//! each [`DType`].

use bytemuck::allocation::try_zeroed_slice_box;
use gpu_seam::{DType, Scalar};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;

use super::number::Number;

mod sealed {
    #[expect(unnameable_types, reason = "sealed: nobody outside may implement it")]
    pub trait Sealed {}
}

/// A Rust type that stands for one [`DType`].
///
/// Implemented for `bool`, `u8`, `i8`, `u32`, `i32`, `i64`, `half::f16`, `half::bf16`, `f32`,
/// `f64` and `num_complex::Complex` of `f32` (complex64) and `f64` (complex128).
pub trait Element:
    Copy + PartialEq + fmt::Debug + Into<Number> + Send + Sync + sealed::Sealed + 'static
{
    /// The dtype that this type stands for.
    const DTYPE: DType;

    /// The type whose memory such elements are read into: the type itself, but `u8` for `bool`.
    type Bytes: ElementBytes;

    /// The bytes of `values`, in order.
    fn as_bytes(values: &[Self]) -> &[u8];

    /// The value as a [`Scalar`] of [`DTYPE`](Self::DTYPE), bit for bit.
    fn scalar(self) -> Scalar;

    /// The value of a scalar; `None` when it is of another dtype.
    fn from_scalar(scalar: Scalar) -> Option<Self>;

    /// The elements in the memory they were read into, without another allocation.
    fn from_memory(memory: Vec<Self::Bytes>) -> Vec<Self>;

    /// The memory of elements, to be read into, without another allocation.
    fn into_memory(elements: Vec<Self>) -> Vec<Self::Bytes>;
}

/// Memory that any bytes may be read into.
pub trait ElementBytes: bytemuck::Pod + Send + Sync {
    /// `len` zeros, or `None` when there is no such memory. Never aborts.
    #[must_use]
    fn zeros(len: usize) -> Option<Vec<Self>> {
        // An overflowing or absurd length is an answer here; `vec![0; len]` would abort.
        if len
            .checked_mul(size_of::<Self>())
            .is_none_or(|bytes| isize::try_from(bytes).is_err())
        {
            return None;
        }
        try_zeroed_slice_box(len).ok().map(Vec::from)
    }
}

impl<T: bytemuck::Pod + Send + Sync> ElementBytes for T {}

macro_rules! plain_elements {
    ($($type:ty => $dtype:ident, |$value:ident| $bits:expr;)+) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            type Bytes = Self;

            fn as_bytes(values: &[Self]) -> &[u8] {
                bytemuck::must_cast_slice(values)
            }

            fn scalar(self) -> Scalar {
                let $value = self;
                Scalar::from_bits(Self::DTYPE, $bits)
            }

            fn from_scalar(scalar: Scalar) -> Option<Self> {
                (scalar.dtype() == Self::DTYPE).then(|| {
                    let bytes = scalar.to_le_bytes();
                    bytemuck::pod_read_unaligned(&bytes[..size_of::<Self>()])
                })
            }

            fn from_memory(memory: Vec<Self>) -> Vec<Self> {
                memory
            }

            fn into_memory(elements: Vec<Self>) -> Vec<Self> {
                elements
            }
        }
    )+};
}

// Signed integers go through the unsigned type of their width, so that no sign is extended.
plain_elements! {
    u8 => U8, |value| u128::from(value);
    i8 => I8, |value| u128::from(value.cast_unsigned());
    u32 => U32, |value| u128::from(value);
    i32 => I32, |value| u128::from(value.cast_unsigned());
    i64 => I64, |value| u128::from(value.cast_unsigned());
    f16 => F16, |value| u128::from(value.to_bits());
    bf16 => BF16, |value| u128::from(value.to_bits());
    f32 => F32, |value| u128::from(value.to_bits());
    f64 => F64, |value| u128::from(value.to_bits());
    Complex<f32> => Complex64, |value| {
        u128::from(value.re.to_bits()) | u128::from(value.im.to_bits()) << 32
    };
    Complex<f64> => Complex128, |value| {
        u128::from(value.re.to_bits()) | u128::from(value.im.to_bits()) << 64
    };
}

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    type Bytes = u8;

    fn as_bytes(values: &[Self]) -> &[u8] {
        bytemuck::must_cast_slice(values)
    }

    fn scalar(self) -> Scalar {
        Scalar::from_bits(Self::DTYPE, u128::from(self))
    }

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        (scalar.dtype() == Self::DTYPE).then(|| scalar.bits() != 0)
    }

    fn into_memory(elements: Vec<Self>) -> Vec<u8> {
        elements.into_iter().map(u8::from).collect()
    }

    fn from_memory(memory: Vec<u8>) -> Vec<Self> {
        // A vector that maps its own items to items of the same size keeps its allocation.
        memory.into_iter().map(|byte| byte != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, ElementBytes};
    use gpu_seam::{DType, Scalar};
    use half::{bf16, f16};
    use num_complex::Complex;

    fn agrees<T: Element>(one: T) {
        let scalar = one.scalar();
        assert_eq!(scalar, Scalar::one(T::DTYPE));
        assert_eq!(
            &scalar.to_le_bytes()[..T::DTYPE.size()],
            T::as_bytes(&[one])
        );
        assert_eq!(size_of::<T>(), T::DTYPE.size());
        assert_eq!(align_of::<T>(), T::DTYPE.align());
        assert_eq!(T::from_scalar(scalar), Some(one));
        assert_eq!(T::from_memory(T::into_memory(vec![one])), [one]);
    }

    #[test]
    fn bits_bytes_size_and_alignment_agree_for_every_type() {
        agrees(true);
        agrees(1u8);
        agrees(1i8);
        agrees(1u32);
        agrees(1i32);
        agrees(1i64);
        agrees(f16::ONE);
        agrees(bf16::ONE);
        agrees(1f32);
        agrees(1f64);
        agrees(Complex::new(1f32, 0.0));
        agrees(Complex::new(1f64, 0.0));
    }

    #[test]
    fn negative_integers_are_not_sign_extended() {
        assert_eq!((-1i8).scalar().bits(), 0xff);
        assert_eq!((-2i32).scalar().bits(), 0xffff_fffe);
        assert_eq!((-1i64).scalar().bits(), u128::from(u64::MAX));
    }

    #[test]
    fn complex_parts_are_real_then_imaginary() {
        let value = Complex::new(1.5f32, -2.0);
        assert_eq!(
            value.scalar().to_le_bytes()[..8],
            [1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat()
        );
    }

    #[test]
    fn any_byte_becomes_a_true_bool_in_the_same_memory() {
        let memory = vec![0u8, 1, 2, 255];
        let at = memory.as_ptr().cast::<bool>();
        let values = bool::from_memory(memory);
        assert_eq!(values, [false, true, true, true]);
        assert_eq!(values.as_ptr(), at, "one allocation");
        assert_eq!(bool::DTYPE, DType::Bool);
    }

    #[test]
    fn absurd_lengths_are_an_answer() {
        assert_eq!(<f64 as ElementBytes>::zeros(usize::MAX), None);
        assert_eq!(<u8 as ElementBytes>::zeros(isize::MAX as usize), None);
        assert_eq!(<u8 as ElementBytes>::zeros(0), Some(Vec::new()));
    }
}
