//! Functions of complex numbers.
//!
//! Promises no overflow, underflow or NaN on the way to a result that has none, C99 Annex G's
//! values at infinities and NaN (as NumPy's and glibc's functions), and division as NumPy does it
//! at zeros and infinities. complex64 computes in f64 throughout, whose range makes scaling
//! needless, and rounds once. Knows nothing of loops.

use super::element::{C64, C128};

/// Functions of a complex type by way of [`C128`].
pub(crate) trait Wide: Sized {
    /// `|z|`'s type.
    type Part;
    /// `a / b`.
    fn div(self, other: Self) -> Self;
    /// `|z|`.
    fn abs(self) -> Self::Part;
    /// `e^z`.
    fn exp(self) -> Self;
    /// The principal logarithm.
    fn log(self) -> Self;
    /// The principal square root.
    fn sqrt(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
}

impl Wide for C64 {
    type Part = f32;
    fn div(self, other: Self) -> Self {
        round(smith(widen(self), widen(other)))
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounds to nearest")]
    fn abs(self) -> f32 {
        let (x, y) = (f64::from(self.re), f64::from(self.im));
        if x.is_infinite() || y.is_infinite() {
            return f32::INFINITY;
        }
        // Squares of f32 neither overflow nor underflow in f64.
        (x * x + y * y).sqrt() as f32
    }
    fn exp(self) -> Self {
        round(exp(widen(self)))
    }
    fn log(self) -> Self {
        round(log(widen(self)))
    }
    fn sqrt(self) -> Self {
        round(sqrt(widen(self)))
    }
    fn tanh(self) -> Self {
        round(tanh(widen(self)))
    }
}

impl Wide for C128 {
    type Part = f64;
    fn div(self, other: Self) -> Self {
        robust_div(self, other)
    }
    fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }
    fn exp(self) -> Self {
        exp(self)
    }
    fn log(self) -> Self {
        log(self)
    }
    fn sqrt(self) -> Self {
        sqrt(self)
    }
    fn tanh(self) -> Self {
        tanh(self)
    }
}

fn widen(z: C64) -> C128 {
    C128::new(z.re.into(), z.im.into())
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to nearest")]
fn round(z: C128) -> C64 {
    C64::new(z.re as f32, z.im as f32)
}

/// Smith's division ("Algorithm 116", 1962): never squares the denominator. Division by zero
/// divides both parts by |0|, as NumPy does.
fn smith(a: C128, b: C128) -> C128 {
    let (x, y) = (b.re.abs(), b.im.abs());
    if x == 0.0 && y == 0.0 {
        return C128::new(a.re / x, a.im / x);
    }
    if x >= y {
        let ratio = b.im / b.re;
        let scale = 1.0 / (b.re + b.im * ratio);
        C128::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = 1.0 / (b.re * ratio + b.im);
        C128::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
    }
}

/// Smith's division with the scaling of Baudin and Smith ("A Robust Complex Division in Scilab",
/// 2012), so that finite quotients of large or tiny numbers come out.
fn robust_div(a: C128, b: C128) -> C128 {
    let size = |z: C128| z.re.abs().max(z.im.abs());
    let (big_a, big_b) = (size(a), size(b));
    let ordinary = |big: f64| big.is_finite() && big != 0.0;
    if !ordinary(big_a) || !ordinary(big_b) || a.re.is_nan() || a.im.is_nan() {
        return smith(a, b);
    }
    // Powers of two, so that scaling is exact. Half-way up the range there is room both for the
    // sums of two products and for the reciprocal of the denominator.
    let half = |big: f64| {
        if big >= f64::MAX / 4.0 {
            0.125
        } else if big <= f64::MIN_POSITIVE * 4.0 / f64::EPSILON {
            2f64.powi(110)
        } else {
            1.0
        }
    };
    let (up_a, up_b) = (half(big_a), half(big_b));
    let scaled = careful_smith(a * up_a, b * up_b);
    scaled * up_b / up_a
}

/// Smith's formulas where products that would underflow are ordered so that they do not.
fn careful_smith(a: C128, b: C128) -> C128 {
    // `(p + q r) t` with r = small/large, t = 1 / (large + small r).
    fn part(p: f64, q: f64, small: f64, large: f64, r: f64, t: f64) -> f64 {
        if r != 0.0 {
            let qr = q * r;
            if qr != 0.0 {
                (p + qr) * t
            } else {
                p * t + (q * t) * r
            }
        } else {
            (p + small * (q / large)) * t
        }
    }
    if b.im.abs() <= b.re.abs() {
        let r = b.im / b.re;
        let t = 1.0 / (b.re + b.im * r);
        C128::new(
            part(a.re, a.im, b.im, b.re, r, t),
            part(a.im, -a.re, b.im, b.re, r, t),
        )
    } else {
        let r = b.re / b.im;
        let t = 1.0 / (b.im + b.re * r);
        C128::new(
            part(a.im, a.re, b.re, b.im, r, t),
            part(-a.re, a.im, b.re, b.im, r, t),
        )
    }
}

fn exp(z: C128) -> C128 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return C128::new(x.exp(), y);
    }
    if !y.is_finite() {
        return if x == f64::NEG_INFINITY {
            C128::new(0.0, 0.0)
        } else if x == f64::INFINITY {
            C128::new(f64::INFINITY, f64::NAN)
        } else {
            C128::new(f64::NAN, f64::NAN)
        };
    }
    let (sin, cos) = y.sin_cos();
    if x > 709.0 && x < 1500.0 {
        // e^x may overflow where e^x sin y does not: two factors.
        let half = (x / 2.0).exp();
        return C128::new(half * cos * half, half * sin * half);
    }
    let scale = x.exp();
    C128::new(scale * cos, scale * sin)
}

fn log(z: C128) -> C128 {
    C128::new(log_abs(z.re.abs(), z.im.abs()), z.im.atan2(z.re))
}

/// `ln |x + iy|` of magnitudes, accurate also near 1, where the logarithm is small.
fn log_abs(x: f64, y: f64) -> f64 {
    let (big, small) = if x >= y { (x, y) } else { (y, x) };
    let size = big.hypot(small);
    if (0.5..=2.0).contains(&size) {
        // |z|² - 1 in twice the precision: the squares' rounding errors are exact by fma.
        let (square_big, square_small) = (big * big, small * small);
        let lost = big.mul_add(big, -square_big) + small.mul_add(small, -square_small);
        // big² lies in [1/8, 4]; the difference from 1 may round below 1/2, by less than `lost`'s
        // own scale, so it is compensated too (Knuth's two-sum).
        let first = square_big - 1.0;
        let back = first - square_big;
        let error = (square_big - (first - back)) + (-1.0 - back);
        let second = first + square_small;
        let back = second - first;
        let error = error + (first - (second - back)) + (square_small - back);
        return 0.5 * (second + (lost + error)).ln_1p();
    }
    if size.is_infinite() && big.is_finite() {
        return (big / 2.0).hypot(small / 2.0).ln() + std::f64::consts::LN_2;
    }
    if size < f64::MIN_POSITIVE && size > 0.0 {
        // Subnormal: scaled up by 2^54, where hypot rounds to full precision again.
        let up = 2f64.powi(54);
        return (big * up).hypot(small * up).ln() - 54.0 * std::f64::consts::LN_2;
    }
    size.ln()
}

fn sqrt(z: C128) -> C128 {
    let (x, y) = (z.re, z.im);
    if x == 0.0 && y == 0.0 {
        return C128::new(0.0, y);
    }
    if y.is_infinite() {
        return C128::new(f64::INFINITY, y);
    }
    if x.is_nan() {
        return C128::new(f64::NAN, f64::NAN);
    }
    if x.is_infinite() {
        let other = if y.is_nan() { y } else { 0.0 };
        return if x > 0.0 {
            C128::new(x, other.copysign(y))
        } else {
            C128::new(other, x.abs().copysign(y))
        };
    }
    // Scaled by a power of four, so that |z| neither overflows nor loses bits.
    let big = x.abs().max(y.abs());
    let (up, down) = if big >= f64::MAX / 4.0 {
        (2f64.powi(-4), 4.0)
    } else if big < f64::MIN_POSITIVE / f64::EPSILON {
        (2f64.powi(108), 2f64.powi(-54))
    } else {
        (1.0, 1.0)
    };
    let (x, y) = (x * up, y * up);
    let half = ((x.abs() + x.hypot(y)) * 0.5).sqrt();
    let root = if x >= 0.0 {
        C128::new(half, y / (2.0 * half))
    } else {
        C128::new(y.abs() / (2.0 * half), half.copysign(y))
    };
    root * down
}

/// Kahan's formula ("Branch Cuts for Complex Elementary Functions", 1987).
fn tanh(z: C128) -> C128 {
    let (x, y) = (z.re, z.im);
    if x.is_nan() {
        return C128::new(x, if y == 0.0 { y } else { f64::NAN });
    }
    if x.is_infinite() {
        let sign = if y.is_finite() { (2.0 * y).sin() } else { 1.0 };
        return C128::new(1f64.copysign(x), 0f64.copysign(sign));
    }
    if !y.is_finite() {
        return C128::new(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() >= 22.0 {
        // tanh is 1 to the last bit; the imaginary part dies as 4 sin y cos y e^(-2|x|).
        let (sin, cos) = y.sin_cos();
        let fade = (-x.abs()).exp();
        return C128::new(1f64.copysign(x), 4.0 * sin * cos * fade * fade);
    }
    let t = y.tan();
    let beta = 1.0 + t * t;
    let s = x.sinh();
    let rho = (1.0 + s * s).sqrt();
    if t.is_infinite() {
        return C128::new(rho / s, 1.0 / t);
    }
    let scale = 1.0 / (1.0 + beta * s * s);
    C128::new(beta * rho * s * scale, t * scale)
}
