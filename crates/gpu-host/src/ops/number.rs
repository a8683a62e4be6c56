//! Arithmetic of the element types, one element at a time.
//!
//! Promises the numerics of `docs/semantics.md`: integers wrap, division by zero gives zero,
//! NaN propagates, f16 and bf16 compute in f32 and round once. Knows nothing of loops or layouts.

use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::{complex, math, narrow};

/// What every type has: a sum and a product with their identities.
pub(crate) trait Number: Element {
    /// The identity of the sum.
    const ZERO: Self;
    /// The identity of the product.
    const ONE: Self;
    /// `a + b`; of bool, or.
    fn add(self, other: Self) -> Self;
    /// `a * b`; of bool, and.
    fn mul(self, other: Self) -> Self;
    /// Whether it is not zero (NaN is not).
    fn truth(self) -> bool;
    /// Whether it is a NaN, decided on bits.
    fn nan(self) -> bool;
    /// `a == b`.
    fn equal(self, other: Self) -> bool;
}

/// What every type but bool has.
pub(crate) trait Signed: Number {
    /// `a - b`.
    fn sub(self, other: Self) -> Self;
    /// `a / b`.
    fn div(self, other: Self) -> Self;
    /// `-a`.
    fn neg(self) -> Self;
}

/// What every type but the complex ones has: an order.
pub(crate) trait Ordered: Number {
    /// What no value is above: the start of a running minimum.
    const TOP: Self;
    /// What no value is below: the start of a running maximum.
    const BOTTOM: Self;
    /// `a < b`; false when either is NaN.
    fn less(self, other: Self) -> bool;
    /// `a <= b`; false when either is NaN.
    fn at_most(self, other: Self) -> bool;

    /// The smaller; NaN if either is.
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self.less(other) || self.nan() {
            self
        } else {
            other
        }
    }

    /// The larger; NaN if either is.
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        if other.less(self) || self.nan() {
            self
        } else {
            other
        }
    }
}

/// The real types: integers and floats.
pub(crate) trait Real: Signed + Ordered {
    /// The remainder that follows the dividend.
    fn rem(self, other: Self) -> Self;
    /// `|a|`.
    fn magnitude(self) -> Self;
}

/// Integers and bool.
pub(crate) trait Bitwise: Element {
    /// The complement.
    fn complement(self) -> Self;
}

/// What has a conjugate: itself for the real floats.
pub(crate) trait Conjugate: Element {
    /// The conjugate.
    fn conjugate(self) -> Self;
}

macro_rules! conjugates {
    ($($type:ty: |$x:ident| $value:expr;)+) => {$(
        impl Conjugate for $type {
            #[inline(always)]
            fn conjugate(self) -> Self { let $x = self; $value }
        }
    )+};
}

conjugates! {
    f32: |x| x;
    f64: |x| x;
    C64: |z| Self::new(z.re, -z.im);
    C128: |z| Self::new(z.re, -z.im);
}

/// Floats and complex.
pub(crate) trait Analytic: Signed {
    /// `e^a`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `1 / a`.
    fn recip(self) -> Self;
}

impl Number for Bool {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    #[inline(always)]
    fn truth(self) -> bool {
        self.get()
    }
    #[inline(always)]
    fn nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self == other
    }
}

impl Ordered for Bool {
    const TOP: Self = Self(1);
    const BOTTOM: Self = Self(0);
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> bool {
        self.0 <= other.0
    }
}

impl Bitwise for Bool {
    #[inline(always)]
    fn complement(self) -> Self {
        Self(self.0 ^ 1)
    }
}

macro_rules! integers {
    ($($type:ty: |$x:ident| $magnitude:expr;)+) => {$(
        impl Number for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn truth(self) -> bool { self != 0 }
            #[inline(always)]
            fn nan(self) -> bool { false }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { self == other }
        }
        impl Signed for $type {
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
        }
        impl Ordered for $type {
            const TOP: Self = Self::MAX;
            const BOTTOM: Self = Self::MIN;
            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
            #[inline(always)]
            fn at_most(self, other: Self) -> bool { self <= other }
        }
        impl Real for $type {
            #[inline(always)]
            fn rem(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn magnitude(self) -> Self { let $x = self; $magnitude }
        }
        impl Bitwise for $type {
            #[inline(always)]
            fn complement(self) -> Self { !self }
        }
    )+};
}

integers! {
    u8: |x| x;
    i8: |x| x.wrapping_abs();
    u32: |x| x;
    i32: |x| x.wrapping_abs();
    i64: |x| x.wrapping_abs();
}

macro_rules! floats {
    ($($type:ty, $bits:ty, $exp:path, $log:path, $tanh:path;)+) => {$(
        impl Number for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn truth(self) -> bool { self != 0.0 }
            #[inline(always)]
            fn nan(self) -> bool {
                self.to_bits() & (<$bits>::MAX >> 1) > Self::INFINITY.to_bits()
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { self == other }
        }
        impl Signed for $type {
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn div(self, other: Self) -> Self { self / other }
            #[inline(always)]
            fn neg(self) -> Self { -self }
        }
        impl Ordered for $type {
            const TOP: Self = Self::INFINITY;
            const BOTTOM: Self = Self::NEG_INFINITY;
            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
            #[inline(always)]
            fn at_most(self, other: Self) -> bool { self <= other }
        }
        impl Real for $type {
            #[inline(always)]
            fn rem(self, other: Self) -> Self { self % other }
            #[inline(always)]
            fn magnitude(self) -> Self { self.abs() }
        }
        impl Analytic for $type {
            #[inline(always)]
            fn exp(self) -> Self { $exp(self) }
            #[inline(always)]
            fn log(self) -> Self { $log(self) }
            #[inline(always)]
            fn sqrt(self) -> Self { <$type>::sqrt(self) }
            #[inline(always)]
            fn tanh(self) -> Self { $tanh(self) }
            #[inline(always)]
            fn recip(self) -> Self { 1.0 / self }
        }
    )+};
}

floats! {
    f32, u32, math::exp32, math::log32, math::tanh32;
    f64, u64, math::exp64, math::log64, math::tanh64;
}

macro_rules! narrow_floats {
    ($($type:ty, $wide:path, $round:path;)+) => {$(
        impl Number for $type {
            const ZERO: Self = <$type>::ZERO;
            const ONE: Self = <$type>::ONE;
            #[inline(always)]
            fn add(self, other: Self) -> Self { $round($wide(self) + $wide(other)) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { $round($wide(self) * $wide(other)) }
            #[inline(always)]
            fn truth(self) -> bool { self.to_bits() & 0x7fff != 0 }
            #[inline(always)]
            fn nan(self) -> bool {
                self.to_bits() & 0x7fff > Self::INFINITY.to_bits()
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { $wide(self) == $wide(other) }
        }
        impl Signed for $type {
            #[inline(always)]
            fn sub(self, other: Self) -> Self { $round($wide(self) - $wide(other)) }
            #[inline(always)]
            fn div(self, other: Self) -> Self { $round($wide(self) / $wide(other)) }
            #[inline(always)]
            fn neg(self) -> Self { Self::from_bits(self.to_bits() ^ 0x8000) }
        }
        impl Ordered for $type {
            const TOP: Self = Self::INFINITY;
            const BOTTOM: Self = Self::NEG_INFINITY;
            #[inline(always)]
            fn less(self, other: Self) -> bool { $wide(self) < $wide(other) }
            #[inline(always)]
            fn at_most(self, other: Self) -> bool { $wide(self) <= $wide(other) }
        }
        impl Real for $type {
            #[inline(always)]
            fn rem(self, other: Self) -> Self { $round($wide(self) % $wide(other)) }
            #[inline(always)]
            fn magnitude(self) -> Self { Self::from_bits(self.to_bits() & 0x7fff) }
        }
        impl Analytic for $type {
            #[inline(always)]
            fn exp(self) -> Self { $round(Analytic::exp($wide(self))) }
            #[inline(always)]
            fn log(self) -> Self { $round(Analytic::log($wide(self))) }
            #[inline(always)]
            fn sqrt(self) -> Self { $round(Analytic::sqrt($wide(self))) }
            #[inline(always)]
            fn tanh(self) -> Self { $round(Analytic::tanh($wide(self))) }
            #[inline(always)]
            fn recip(self) -> Self { $round(1.0 / $wide(self)) }
        }
    )+};
}

narrow_floats! {
    f16, narrow::f16_to_f32, narrow::f32_to_f16;
    bf16, narrow::bf16_to_f32, narrow::f32_to_bf16;
}

macro_rules! complexes {
    ($($type:ty;)+) => {$(
        impl Number for $type {
            const ZERO: Self = <$type>::new(0.0, 0.0);
            const ONE: Self = <$type>::new(1.0, 0.0);
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self::new(
                    self.re * other.re - self.im * other.im,
                    self.re * other.im + self.im * other.re,
                )
            }
            #[inline(always)]
            fn truth(self) -> bool { self.re.truth() || self.im.truth() }
            #[inline(always)]
            fn nan(self) -> bool { self.re.nan() || self.im.nan() }
            #[inline(always)]
            fn equal(self, other: Self) -> bool { self == other }
        }
        impl Signed for $type {
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self::new(self.re - other.re, self.im - other.im)
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self { complex::Wide::div(self, other) }
            #[inline(always)]
            fn neg(self) -> Self { Self::new(-self.re, -self.im) }
        }
        impl Analytic for $type {
            #[inline(always)]
            fn exp(self) -> Self { complex::Wide::exp(self) }
            #[inline(always)]
            fn log(self) -> Self { complex::Wide::log(self) }
            #[inline(always)]
            fn sqrt(self) -> Self { complex::Wide::sqrt(self) }
            #[inline(always)]
            fn tanh(self) -> Self { complex::Wide::tanh(self) }
            #[inline(always)]
            fn recip(self) -> Self { complex::Wide::div(Self::new(1.0, 0.0), self) }
        }
    )+};
}

complexes! { C64; C128; }
