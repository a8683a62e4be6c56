// The 16-bit floats, on bits: no adapter need have them, and subnormals of f16 are kept (those of
// bf16 are subnormals of f32).

fn f16_to_f32(raw: u32) -> f32 {
    let sign = (raw & 0x8000u) << 16u;
    let magnitude = raw & 0x7fffu;
    if magnitude >= 0x7c00u {
        return bitcast<f32>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13u));
    }
    if magnitude >= 0x400u {
        return bitcast<f32>(sign | ((magnitude << 13u) + 0x38000000u));
    }
    if magnitude == 0u {
        return bitcast<f32>(sign);
    }
    // A subnormal is a normal number of f32: 2^-24 times the magnitude.
    let up = countLeadingZeros(magnitude) - 21u;
    return bitcast<f32>(sign | ((((magnitude << up) & 0x3ffu) << 13u) | ((113u - up) << 23u)));
}

// To nearest, ties to even.
fn f32_to_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let magnitude = bits & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return sign | 0x7e00u | ((magnitude >> 13u) & 0x1ffu);
    }
    // 65520 and more are infinite.
    if magnitude >= 0x477ff000u {
        return sign | 0x7c00u;
    }
    if magnitude >= 0x38800000u {
        let rounded = magnitude + 0xfffu + ((magnitude >> 13u) & 1u);
        return sign | ((rounded - 0x38000000u) >> 13u);
    }
    // 2^-25 and less is zero.
    if magnitude <= 0x33000000u {
        return sign;
    }
    let down = 126u - (magnitude >> 23u);
    let mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    let kept = mantissa >> down;
    let rest = mantissa & ((1u << down) - 1u);
    let half = 1u << (down - 1u);
    let up = select(0u, 1u, rest > half || (rest == half && (kept & 1u) != 0u));
    return sign | (kept + up);
}

// To nearest, ties to even; NaN stays NaN.
fn f32_to_bf16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if (bits & 0x7fffffffu) > 0x7f800000u {
        return (bits >> 16u) | 0x40u;
    }
    return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}

// A number in [0, 1) that is a multiple of 2^-24, rounded down.
fn f16_below(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    if bits >= 0x38800000u {
        return (bits - 0x38000000u) >> 13u;
    }
    // Subnormals of f16 are the multiples of 2^-24.
    return u32(x * 16777216.0f);
}
