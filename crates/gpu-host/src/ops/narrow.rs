//! f16 and bf16: conversions that round once, to nearest even, and keep NaN.
//!
//! Promises branch-free forms that vectorise without a target feature, and the same bits on every
//! machine. The integer method follows Fabian Giesen's "float->half variants" (2012). Knows nothing
//! of other types: what goes to f16 or bf16 from f64 or i64 goes through [`odd_from_f64`].

#![expect(
    clippy::cast_possible_truncation,
    reason = "bit fields are cut where their upper bits are known to be zero"
)]

use super::element::{bf16, f16};

/// Widens exactly.
#[inline(always)]
pub(crate) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    // Exponent and mantissa in place, the exponent still biased by 15.
    let shifted = magnitude << 13;
    // Scaling by 2^112 rebiases the exponent and normalises subnormals, exactly.
    let finite = (f32::from_bits(shifted) * f32::from_bits(0x7780_0000)).to_bits();
    // Infinity and NaN keep their mantissa under f32's all-ones exponent; a NaN comes out quiet.
    let quiet = if magnitude > 0x7c00 { 0x0040_0000 } else { 0 };
    let special = shifted | 0x7f80_0000 | quiet;
    f32::from_bits(sign | if magnitude >= 0x7c00 { special } else { finite })
}

/// Rounds to nearest even; a NaN stays a (quiet) NaN.
#[inline(always)]
pub(crate) fn f32_to_f16(x: f32) -> f16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Below the smallest normal f16 (2^-14): adding 0.5 leaves the rounded mantissa in the low
    // bits, since one unit in the last place of 0.5 is 2^-24, f16's smallest subnormal.
    let small = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0x3f00_0000);
    // Normal: rebias (127 - 15 = 112), add half of the last place, less one for even.
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0x0fff + odd) >> 13;
    let nan = 0x7e00 | ((magnitude >> 13) & 0x03ff);
    let result = if magnitude > 0x7f80_0000 {
        nan
    } else if magnitude >= 0x4780_0000 {
        // From 2^16 up; what lies between 65,520 and 2^16 is carried up to infinity by `normal`.
        0x7c00
    } else if magnitude < 0x3880_0000 {
        small
    } else {
        normal
    };
    f16::from_bits((sign | result) as u16)
}

/// Widens exactly.
#[inline(always)]
pub(crate) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Rounds to nearest even; a NaN stays a (quiet) NaN.
#[inline(always)]
pub(crate) fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let odd = (bits >> 16) & 1;
    let rounded = bits.wrapping_add(0x7fff + odd) >> 16;
    // Without this the carry would turn a NaN with a high mantissa into an infinity or a zero.
    let nan = (bits >> 16) | 0x40;
    let result = if bits & 0x7fff_ffff > 0x7f80_0000 {
        nan
    } else {
        rounded
    };
    bf16::from_bits(result as u16)
}

/// The f32 to round on from: `x` rounded to odd, so that rounding it again to a narrower type gives
/// what rounding `x` itself would (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums: proved algorithms using rounding to odd", 2008).
#[inline(always)]
pub(crate) fn odd_from_f64(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    // Towards zero, then the last bit set when anything was lost.
    let toward_zero = bits - u32::from(back.abs() > x.abs());
    let lost = back != x && !x.is_nan();
    if lost {
        f32::from_bits(toward_zero | 1)
    } else {
        nearest
    }
}

/// The f32 to round on from: `x` rounded to odd, to 15 bits at least, which is two more than bf16
/// and f16 need (what is beyond 2^31 is infinite in f16 anyway). See [`odd_from_f64`].
#[inline(always)]
pub(crate) fn odd_from_i64(x: i64) -> f32 {
    // The upper 48 bits with a sticky last one are exact in f64 and round on as `x` would.
    let sticky = i64::from(x & 0xffff != 0);
    #[expect(clippy::cast_precision_loss, reason = "48 bits are exact in f64")]
    let upper = ((x >> 16) | sticky) as f64;
    let small = i64::from(i32::MIN) <= x && x <= i64::from(i32::MAX);
    #[expect(clippy::cast_precision_loss, reason = "32 bits are exact in f64")]
    let exact = x as f64;
    odd_from_f64(if small { exact } else { upper * 65_536.0 })
}
