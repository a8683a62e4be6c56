// Functions of f32 and of f64, written once: T is the type, @NAME is a constant or a polynomial that
// `math.rs` puts there, and ~ marks a literal. WGSL's own functions may be off by many units in the
// last place and need not know infinities, and there are none of f64.

fn infinite_T(x: T) -> bool {
    return magnitude_T(x) == infinity_T();
}

fn finite_T(x: T) -> bool {
    return !nan_T(x) && !infinite_T(x);
}

fn copysign_T(x: T, sign: T) -> T {
    if negative_T(sign) {
        return flipped_T(magnitude_T(x));
    }
    return magnitude_T(x);
}

// x * 2^n, where 2^n may be out of range.
fn scaled_T(x: T, n: i32) -> T {
    let half = n / 2i;
    return x * power_T(half) * power_T(n - half);
}

// Cody and Waite's reduction by ln 2, and the exponential's series.
fn exp_T(x: T) -> T {
    if nan_T(x) {
        return x;
    }
    if x > @EXP_MOST {
        return infinity_T();
    }
    if x < @EXP_LEAST {
        return ~0.0;
    }
    let n = floor(x * @LOG2_E + ~0.5);
    let r = (x - n * @LN2_HIGH) - n * @LN2_LOW;
    return scaled_T(~1.0 + r * @EXP(r), i32(n));
}

fn expm1_T(x: T) -> T {
    if magnitude_T(x) < ~0.5 {
        return x * @EXPM1(x);
    }
    return exp_T(x) - ~1.0;
}

// x = 2^k m with m near 1, and the series of 2 artanh(f / (2 + f)), f = m - 1, arranged so that f
// itself is added last.
fn log_T(x: T) -> T {
    if nan_T(x) {
        return x;
    }
    // A subnormal counts as zero, as a device that flushes has it.
    if exponent_T(x) < @EXPONENT_LEAST {
        return flipped_T(infinity_T());
    }
    if negative_T(x) {
        return not_a_number_T();
    }
    if infinite_T(x) {
        return x;
    }
    var k = exponent_T(x);
    var m = significand_T(x);
    if m > ~1.4142135623730951 {
        m = m * ~0.5;
        k += 1i;
    }
    let f = m - ~1.0;
    let s = f / (~2.0 + f);
    let z = s * s;
    let r = z * @LOG(z);
    let h = ~0.5 * f * f;
    let n = T(k);
    return n * @LN2_HIGH - ((h - (s * (h + r) + n * @LN2_LOW)) - f);
}

// Kahan's correction of log(1 + x) by what rounding 1 + x lost.
fn log1p_T(x: T) -> T {
    let u = ~1.0 + x;
    let kept = u - ~1.0;
    if kept == ~0.0 || infinite_T(u) {
        return x;
    }
    return log_T(u) * (x / kept);
}

fn sqrt_T(x: T) -> T {
    return sqrt(x);
}

fn recip_T(x: T) -> T {
    return ~1.0 / x;
}

fn tanh_T(x: T) -> T {
    if nan_T(x) {
        return x;
    }
    if magnitude_T(x) > ~20.0 {
        return copysign_T(~1.0, x);
    }
    let e = expm1_T(~2.0 * magnitude_T(x));
    return copysign_T(e / (e + ~2.0), x);
}

fn sinh_T(x: T) -> T {
    let e = expm1_T(magnitude_T(x));
    if !finite_T(e) {
        return copysign_T(e, x);
    }
    return copysign_T(~0.5 * (e + e / (e + ~1.0)), x);
}

// cos in x and sin in y of an angle of `quarter` right angles and r, |r| at most half of one.
fn turned_T(quarter: u32, r: T) -> vec2<T> {
    let z = r * r;
    let c = ~1.0 + z * @COS(z);
    let s = r + r * z * @SIN(z);
    switch quarter & 3u {
        case 0u: {
            return vec2<T>(c, s);
        }
        case 1u: {
            return vec2<T>(flipped_T(s), c);
        }
        case 2u: {
            return vec2<T>(flipped_T(c), flipped_T(s));
        }
        default: {
            return vec2<T>(s, flipped_T(c));
        }
    }
}

// cos in x and sin in y of x: Cody and Waite's reduction where it is exact, else Payne and Hanek's.
fn circle_T(x: T) -> vec2<T> {
    if !finite_T(x) {
        return vec2<T>(not_a_number_T(), not_a_number_T());
    }
    if magnitude_T(x) > @TURN_MOST {
        return circle_far_T(x);
    }
    let n = floor(x * @TWO_OVER_PI + ~0.5);
    let r = ((x - n * @TURN_HIGH) - n * @TURN_MIDDLE) - n * @TURN_LOW;
    return turned_T(bitcast<u32>(i32(n)), r);
}

fn circle_far_T(x: T) -> vec2<T> {
    let turn = far_turn(whole_T(x), exponent_T(x) - @MANTISSA);
    let fraction = T(turn.y) * @WORD1 + T(turn.z) * @WORD2 + T(turn.w) * @WORD3;
    // turn.x: the right angles in bits 0 and 1, and whether the fraction counts downwards.
    var r = fraction * @HALF_PI;
    if (turn.x & 4u) != 0u {
        r = flipped_T(r);
    }
    let point = turned_T(turn.x, r);
    if negative_T(x) {
        return vec2<T>(point.x, flipped_T(point.y));
    }
    return point;
}

// cos in x and sin in y of 2 pi u, u in [0, 1).
fn circle_of_T(u: T) -> vec2<T> {
    let q = floor(~4.0 * u + ~0.5);
    return turned_T(u32(q), (~4.0 * u - q) * @HALF_PI);
}

fn atan2_T(y: T, x: T) -> T {
    if nan_T(x) || nan_T(y) {
        return not_a_number_T();
    }
    let a = magnitude_T(x);
    let b = magnitude_T(y);
    let steep = b > a;
    let large = select(a, b, steep);
    var t = ~0.0;
    if infinite_T(a) && infinite_T(b) {
        t = ~1.0;
    } else if large > ~0.0 && !infinite_T(large) {
        t = select(b, a, steep) / large;
    }
    // From the nearest quarter, whose arc is a constant.
    let n = floor(~4.0 * t + ~0.5);
    let c = ~0.25 * n;
    let u = (t - c) / (~1.0 + t * c);
    let z = u * u;
    var arc = u + u * z * @ATAN(z);
    switch i32(n) {
        case 0i: {
        }
        case 1i: {
            arc = @ATAN1 + arc;
        }
        case 2i: {
            arc = @ATAN2 + arc;
        }
        case 3i: {
            arc = @ATAN3 + arc;
        }
        default: {
            arc = @ATAN4 + arc;
        }
    }
    if steep {
        arc = @HALF_PI - arc;
    }
    if negative_T(x) {
        arc = @PI - arc;
    }
    return copysign_T(arc, y);
}

// A power of two that brings magnitudes near 1; 1 for what cannot be brought there.
fn size_T(x: T, y: T) -> i32 {
    let large = max(magnitude_T(x), magnitude_T(y));
    if !finite_T(large) || large == ~0.0 {
        return 0i;
    }
    return clamp(exponent_T(large), -@SCALE_MOST, @SCALE_MOST);
}

fn hypot_T(x: T, y: T) -> T {
    if infinite_T(x) || infinite_T(y) {
        return infinity_T();
    }
    let e = size_T(x, y);
    let down = power_T(-e);
    let a = x * down;
    let b = y * down;
    return sqrt(a * a + b * b) * power_T(e);
}
