//! Conversions from every element type to every other.
//!
//! Promises the table of `docs/semantics.md`: float to integer truncates and saturates, NaN gives 0;
//! integer to integer wraps; to bool is `!= 0` (NaN is true); complex to real takes the real part
//! (as NumPy, which warns); everything to a narrower float rounds once, to nearest even. Knows
//! nothing of loops or layouts.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    reason = "these conversions are what the file is for; `as` has the semantics wanted"
)]

use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::math::wide;
use super::narrow;
use super::number::Number;
use gpu_seam::DType;

/// What a value becomes in another type.
pub(crate) trait Cast<T>: Element {
    /// The conversion.
    fn cast(self) -> T;
}

/// Casts between number types that Rust's `as` converts as the table says.
macro_rules! by_as {
    ($($from:ty => $($to:ty)+;)+) => {$($(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to { self as $to }
        }
    )+)+};
}

by_as! {
    u8 => u8 i8 u32 i32 i64 f32 f64;
    i8 => u8 i8 u32 i32 i64 f32 f64;
    u32 => u8 i8 u32 i32 i64 f32 f64;
    i32 => u8 i8 u32 i32 i64 f32 f64;
    i64 => u8 i8 u32 i32 i64 f32 f64;
    f32 => u8 i8 u32 i32 i64 f32 f64;
    f64 => u8 i8 u32 i32 i64 f32 f64;
}

/// Casts of `$from` to `$to` by way of a value of a third type.
macro_rules! by_way {
    ($($from:ty => $($to:ty)+, |$x:ident| $value:expr;)+) => {$($(
        impl Cast<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                let $x = self;
                Cast::<$to>::cast($value)
            }
        }
    )+)+};
}

by_way! {
    Bool => u8 i8 u32 i32 i64 f32 f64 f16 bf16, |x| x.0;
    f16 => u8 i8 u32 i32 i64 f32 f64 bf16, |x| narrow::f16_to_f32(x);
    bf16 => u8 i8 u32 i32 i64 f32 f64 f16, |x| narrow::bf16_to_f32(x);
    u8 => f16 bf16, |x| x as f32;
    i8 => f16 bf16, |x| x as f32;
    u32 => f16 bf16, |x| x as f64;
    i32 => f16 bf16, |x| x as f64;
    i64 => f16 bf16, |x| narrow::odd_from_i64(x);
    f64 => f16 bf16, |x| narrow::odd_from_f64(x);
    C64 => u8 i8 u32 i32 i64 f16 bf16 f32 f64, |z| z.re;
    C128 => u8 i8 u32 i32 i64 f16 bf16 f32 f64, |z| z.re;
}

impl Cast<f16> for f32 {
    #[inline(always)]
    fn cast(self) -> f16 {
        narrow::f32_to_f16(self)
    }
}

impl Cast<bf16> for f32 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        narrow::f32_to_bf16(self)
    }
}

macro_rules! to_bool {
    ($($from:ty)+) => {$(
        impl Cast<Bool> for $from {
            #[inline(always)]
            fn cast(self) -> Bool { self.truth().into() }
        }
    )+};
}

to_bool! { Bool u8 i8 u32 i32 i64 f16 bf16 f32 f64 C64 C128 }

macro_rules! to_complex {
    ($($from:ty)+) => {$(
        impl Cast<C64> for $from {
            #[inline(always)]
            fn cast(self) -> C64 { C64::new(self.cast(), 0.0) }
        }
        impl Cast<C128> for $from {
            #[inline(always)]
            fn cast(self) -> C128 { C128::new(self.cast(), 0.0) }
        }
    )+};
}

to_complex! { Bool u8 i8 u32 i32 i64 f16 bf16 f32 f64 }

macro_rules! by_itself {
    ($($type:ty)+) => {$(
        impl Cast<$type> for $type {
            #[inline(always)]
            fn cast(self) -> $type { self }
        }
    )+};
}

by_itself! { f16 bf16 C64 C128 }

impl Cast<C128> for C64 {
    #[inline(always)]
    fn cast(self) -> C128 {
        C128::new(self.re.into(), self.im.into())
    }
}

impl Cast<C64> for C128 {
    #[inline(always)]
    fn cast(self) -> C64 {
        C64::new(self.re as f32, self.im as f32)
    }
}

/// A conversion of a run of elements.
pub(crate) type Kernel<I, O> = fn(&mut [O], &[I]);

/// The conversion from `I` to `O`.
pub(crate) fn kernel<I: Cast<O>, O: Element>() -> Kernel<I, O> {
    const NARROW: [DType; 2] = [DType::F16, DType::BF16];
    if NARROW.contains(&I::DTYPE) || NARROW.contains(&O::DTYPE) {
        return |out, input| wide(|| each(out, input));
    }
    each
}

#[inline(always)]
fn each<I: Cast<O>, O: Element>(out: &mut [O], input: &[I]) {
    for (out, &input) in out.iter_mut().zip(input) {
        *out = input.cast();
    }
}
