//! Exponential, logarithm, hyperbolic tangent (f32, f64) and sine and cosine of turns (f64), in forms that vectorise.
//!
//! Promises results within 1 ulp (f64: 2), right values at zeros, infinities, NaN and subnormals,
//! and the same bits on every machine: plain IEEE 754 additions, multiplications and divisions, no
//! branch, no table, no fused multiply-add. Knows nothing of loops.
//!
//! f32 computes in f64, where short series are enough and no care is needed at the ends of the
//! range. The f64 methods and coefficients are those of FreeBSD's msun (`e_exp.c`, `e_log.c`, Sun
//! Microsystems 1993) and, for the hyperbolic tangent near zero, Cephes (`tanh.c`, Moshier 1984).

/// Adding it rounds to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// 2^52, and the exponent bias: adding both to n leaves n's biased exponent in the low bits.
const EXPONENT: f64 = 4_503_599_627_370_496.0 + 1023.0;
/// ln 2 in two parts: the product of the first and any exponent is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `2^n` for an integer n of a normal number.
#[inline(always)]
fn power_of_two(n: f64) -> f64 {
    f64::from_bits((n + EXPONENT).to_bits() << 52)
}

/// `x` no lower than `low` and no higher than `high`; NaN stays.
#[inline(always)]
fn within(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// `e^x`.
#[inline(always)]
pub(crate) fn exp64(x: f64) -> f64 {
    // Beyond these the result is 0 or infinity by itself.
    let x = within(x, -746.0, 710.0);
    let n = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let high = x - n * LN2_HIGH;
    let low = n * LN2_LOW;
    let r = high - low;
    let t = r * r;
    let p = 4.138_136_797_057_238_5e-8;
    let p = -1.653_390_220_546_525_2e-6 + t * p;
    let p = 6.613_756_321_437_934e-5 + t * p;
    let p = -2.777_777_777_701_559_3e-3 + t * p;
    let p = 1.666_666_666_666_660_2e-1 + t * p;
    let c = r - t * p;
    let y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    // In two steps, so that subnormal results and the last binade come out.
    let half = (n * 0.5 + ROUND) - ROUND;
    y * power_of_two(half) * power_of_two(n - half)
}

/// `e^x` to 37 bits, for results in the range of f32.
#[inline(always)]
fn exp_short(x: f64) -> f64 {
    let x = within(x, -110.0, 90.0);
    let n = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // The exponential's series: |r| <= ln 2 / 2, so the first term left out is below 2^-37.
    let p = 1.0 / 362_880.0;
    let p = 1.0 / 40_320.0 + r * p;
    let p = 1.0 / 5040.0 + r * p;
    let p = 1.0 / 720.0 + r * p;
    let p = 1.0 / 120.0 + r * p;
    let p = 1.0 / 24.0 + r * p;
    let p = 1.0 / 6.0 + r * p;
    let p = 0.5 + r * p;
    let p = 1.0 + r * p;
    (1.0 + r * p) * power_of_two(n)
}

/// `e^x`.
#[expect(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
#[inline(always)]
pub(crate) fn exp32(x: f32) -> f32 {
    exp_short(x.into()) as f32
}

/// `x = 2^k * (1 + f)` for a positive normal x: k, and f between sqrt(1/2) - 1 and sqrt(2) - 1.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    // The biased exponent, as the low bits of a number between 2^52 and 2^53.
    let k = f64::from_bits(0x4330_0000_0000_0000 | (bits >> 52)) - EXPONENT;
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) + ROOT_HALF;
    (k, f64::from_bits(mantissa) - 1.0)
}

/// The logarithm of `x` where it is not an ordinary number, else `y`.
#[inline(always)]
fn log_special(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    // Negative or NaN: not at least zero.
    if x >= 0.0 { y } else { f64::NAN }
}

/// Natural logarithm.
#[inline(always)]
pub(crate) fn log64(x: f64) -> f64 {
    let subnormal = x < f64::MIN_POSITIVE;
    let scaled = if subnormal {
        x * 18_014_398_509_481_984.0
    } else {
        x
    };
    let (k, f) = split(scaled);
    let k = if subnormal { k - 54.0 } else { k };
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let p = 1.479_819_860_511_658_6e-1;
    let p = 1.531_383_769_920_937_3e-1 + z * p;
    let p = 1.818_357_216_161_805e-1 + z * p;
    let p = 2.222_219_843_214_978_4e-1 + z * p;
    let p = 2.857_142_874_366_239e-1 + z * p;
    let p = 3.999_999_999_940_942e-1 + z * p;
    let p = 6.666_666_666_666_735e-1 + z * p;
    let y = k * LN2_HIGH - ((half - (s * (half + z * p) + k * LN2_LOW)) - f);
    log_special(x, y)
}

/// Natural logarithm.
#[expect(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
#[inline(always)]
pub(crate) fn log32(x: f32) -> f32 {
    // An f32 is never subnormal in f64.
    let x = f64::from(x);
    let (k, f) = split(x);
    let s = f / (2.0 + f);
    let z = s * s;
    // ln(1 + f) = 2 artanh(s), |s| < 0.172: the first term left out is below 2^-39.
    let p = 1.0 / 13.0;
    let p = 1.0 / 11.0 + z * p;
    let p = 1.0 / 9.0 + z * p;
    let p = 1.0 / 7.0 + z * p;
    let p = 1.0 / 5.0 + z * p;
    let p = 1.0 / 3.0 + z * p;
    let y = 2.0 * s + 2.0 * s * z * p;
    log_special(x, y + k * std::f64::consts::LN_2) as f32
}

/// Hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh64(x: f64) -> f64 {
    let size = x.abs();
    let z = x * x;
    let p = -9.643_991_794_250_523e-1;
    let p = -9.928_772_310_019_185e1 + z * p;
    let p = -1.614_687_684_417_084_5e3 + z * p;
    let q = z + 1.128_116_784_916_329_3e2;
    let q = 2.235_488_390_601_004_5e3 + z * q;
    let q = 4.844_063_053_251_255e3 + z * q;
    let near = x + x * z * (p / q);
    // From 22 on the result is 1 to the last bit.
    let far = 1.0 - 2.0 / (exp64(2.0 * within(size, 0.0, 22.0)) + 1.0);
    let y = if size < 0.625 { near } else { far };
    // Also the sign of a zero.
    y.copysign(x)
}

/// Hyperbolic tangent.
#[expect(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
#[inline(always)]
pub(crate) fn tanh32(x: f32) -> f32 {
    let x = f64::from(x);
    let size = x.abs();
    let z = x * x;
    // The series: the first term left out is below 2^-34 of the result.
    let near = x * (1.0 - z * (1.0 / 3.0 - z * (2.0 / 15.0)));
    let far = 1.0 - 2.0 / (exp_short(2.0 * within(size, 0.0, 22.0)) + 1.0);
    let y = if size < 0.03 { near } else { far.copysign(x) };
    y as f32
}

/// Sine and cosine of `u` whole turns, for u in `[0, 1]`.
#[inline(always)]
pub(crate) fn sin_cos_turns(u: f64) -> (f64, f64) {
    // The nearest quarter, and what is left of the angle: at most an eighth of a turn.
    let quarter = (u * 4.0 + ROUND) - ROUND;
    let a = (u - quarter * 0.25) * std::f64::consts::TAU;
    let z = a * a;
    // msun's `k_sin.c` and `k_cos.c`.
    let p = 1.589_690_995_211_55e-10;
    let p = -2.505_076_025_340_686_3e-8 + z * p;
    let p = 2.755_731_370_707_006_8e-6 + z * p;
    let p = -1.984_126_982_985_795e-4 + z * p;
    let p = 8.333_333_333_322_49e-3 + z * p;
    let p = -1.666_666_666_666_663_2e-1 + z * p;
    let sin = a + a * z * p;
    let p = -1.135_964_755_778_819_5e-11;
    let p = 2.087_572_321_298_175e-9 + z * p;
    let p = -2.755_731_435_139_066_3e-7 + z * p;
    let p = 2.480_158_728_947_673e-5 + z * p;
    let p = -1.388_888_888_887_411e-3 + z * p;
    let p = 4.166_666_666_666_66e-2 + z * p;
    let cos = 1.0 - (0.5 * z - z * z * p);
    let odd = quarter == 1.0 || quarter == 3.0;
    let (s, c) = if odd { (cos, sin) } else { (sin, cos) };
    let s = if quarter == 2.0 || quarter == 3.0 {
        -s
    } else {
        s
    };
    let c = if quarter == 1.0 || quarter == 2.0 {
        -c
    } else {
        c
    };
    (s, c)
}

/// Runs `f`, a loop, compiled for the widest vectors that this processor has.
#[inline(always)]
pub(crate) fn wide<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}

#[cfg(test)]
mod tests {
    use super::{exp32, exp64, log32, log64, sin_cos_turns, tanh32, tanh64};

    /// Distance in units of the last place of `right`, as f64.
    fn ulps64(ours: f64, right: f64) -> f64 {
        if ours.to_bits() == right.to_bits() || (ours.is_nan() && right.is_nan()) {
            return 0.0;
        }
        let ulp = (f64::from_bits(right.abs().to_bits() + 1) - right.abs()).abs();
        (ours - right).abs() / ulp
    }

    fn ulps32(ours: f32, right: f64) -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the correctly rounded result"
        )]
        let rounded = right as f32;
        if ours.to_bits() == rounded.to_bits() || (ours.is_nan() && rounded.is_nan()) {
            return 0.0;
        }
        let ulp = f64::from(f32::from_bits(rounded.abs().to_bits() + 1)) - f64::from(rounded.abs());
        (f64::from(ours) - right).abs() / ulp
    }

    /// Numbers over the whole range: every exponent, many mantissas, both signs, and the edges.
    fn numbers() -> impl Iterator<Item = f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let random = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        });
        let mut bits = random.take(400_000);
        let anywhere: Vec<f64> = bits.by_ref().take(100_000).map(f64::from_bits).collect();
        let usual = bits.map(|bits| {
            let unit = f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12) - 1.5;
            unit * [2e-3, 2.0, 50.0, 1500.0, 200.0][usize::try_from(bits % 5).unwrap()]
        });
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            5e-324,
            -5e-324,
            2.3e-308,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            709.78,
            709.79,
            -745.13,
            -745.14,
            -708.4,
            0.624_999,
            0.625,
            0.03,
            22.0,
            0.999_999_999,
            1.000_000_001,
            88.72,
            88.73,
            -103.97,
            -103.98,
            -87.34,
            1e-45,
        ];
        anywhere.into_iter().chain(usual).chain(edges)
    }

    #[test]
    fn f64_functions_are_within_two_ulps() {
        for x in numbers() {
            for (name, ours, right) in [
                ("exp", exp64(x), x.exp()),
                ("log", log64(x), x.ln()),
                ("tanh", tanh64(x), x.tanh()),
            ] {
                assert!(
                    ulps64(ours, right) <= 2.0,
                    "{name}({x:e}) = {ours:e}, not {right:e}"
                );
            }
        }
    }

    #[test]
    fn f32_functions_are_within_one_ulp() {
        for x in numbers() {
            #[expect(clippy::cast_possible_truncation, reason = "any f32 will do")]
            let x = x as f32;
            let wide = f64::from(x);
            for (name, ours, right) in [
                ("exp", exp32(x), wide.exp()),
                ("log", log32(x), wide.ln()),
                ("tanh", tanh32(x), wide.tanh()),
            ] {
                assert!(
                    ulps32(ours, right) <= 0.51,
                    "{name}({x:e}) = {ours:e}, not {right:e}"
                );
            }
        }
    }

    #[test]
    fn turns_are_as_good_as_the_library() {
        for at in 0..=100_000 {
            let u = f64::from(at) / 100_000.0;
            let (sin, cos) = sin_cos_turns(u);
            let angle = std::f64::consts::TAU * u;
            assert!((sin - angle.sin()).abs() < 1e-15, "sin of {u} turns: {sin}");
            assert!((cos - angle.cos()).abs() < 1e-15, "cos of {u} turns: {cos}");
        }
    }

    #[test]
    fn g1_029_tanh_saturates_without_nan() {
        let inf = f32::INFINITY;
        for (x, right) in [
            (40.0, 1.0),
            (43.9, 1.0),
            (44.4, 1.0),
            (100.0, 1.0),
            (1000.0, 1.0),
            (-1000.0, -1.0),
            (inf, 1.0),
            (-inf, -1.0),
        ] {
            assert!(
                (tanh32(x) - right).abs() == 0.0
                    && (tanh64(x.into()) - f64::from(right)).abs() == 0.0
            );
        }
        assert!(tanh32(f32::NAN).is_nan() && tanh64(f64::NAN).is_nan());
        assert!(tanh32(-0.0).is_sign_negative() && tanh64(-0.0).is_sign_negative());
    }
}
