// Conversions between number types by way of an exact value in words, each rounded once. Nothing
// here computes in floating point, so nothing is flushed, and no adapter need have f64.

// The value (neg ? -1 : 1) * m * 2^(e - 63), where m has its top bit set.
struct Exact {
    neg: bool,
    // 0: zero, 1: finite, 2: infinite, 3: NaN.
    kind: u32,
    e: i32,
    m: vec2<u32>,
}

fn exact_magnitude(neg: bool, m: vec2<u32>) -> Exact {
    if (m.x | m.y) == 0u {
        return Exact(neg, 0u, 0i, m);
    }
    let up = leading_zeros_u64(m);
    return Exact(neg, 1u, 63i - i32(up), shl_u64(m, up));
}

fn exact_u32(x: u32) -> Exact {
    return exact_magnitude(false, vec2<u32>(x, 0u));
}

fn exact_i32(x: i32) -> Exact {
    let bits = bitcast<u32>(x);
    return exact_magnitude(x < 0i, vec2<u32>(select(bits, 0u - bits, x < 0i), 0u));
}

fn exact_i64(x: vec2<u32>) -> Exact {
    return exact_magnitude((x.y >> 31u) != 0u, abs_i64(x));
}

// The parts of a float: its sign, its exponent field, its mantissa field of `width` bits.
fn exact_parts(neg: bool, field: i32, top: i32, bias: i32, mantissa: vec2<u32>, width: u32) -> Exact {
    if field == top {
        return Exact(neg, select(2u, 3u, (mantissa.x | mantissa.y) != 0u), 0i, mantissa);
    }
    // A subnormal has the exponent of the least normal number, and no leading one.
    let one = shl_u64(vec2<u32>(1u, 0u), width);
    let lead = select(one, vec2<u32>(0u, 0u), field == 0i);
    var exact = exact_magnitude(neg, mantissa | lead);
    exact.e += max(field, 1i) - bias - i32(width);
    return exact;
}

fn exact_f32(raw: u32) -> Exact {
    let field = i32((raw >> 23u) & 0xffu);
    return exact_parts((raw >> 31u) != 0u, field, 255i, 127i, vec2<u32>(raw & 0x7fffffu, 0u), 23u);
}

fn exact_bf16(raw: u32) -> Exact {
    return exact_f32(raw << 16u);
}

fn exact_f16(raw: u32) -> Exact {
    let field = i32((raw >> 10u) & 0x1fu);
    return exact_parts((raw >> 15u) != 0u, field, 31i, 15i, vec2<u32>(raw & 0x3ffu, 0u), 10u);
}

fn exact_f64(raw: vec2<u32>) -> Exact {
    let field = i32((raw.y >> 20u) & 0x7ffu);
    let mantissa = vec2<u32>(raw.x, raw.y & 0xfffffu);
    return exact_parts((raw.y >> 31u) != 0u, field, 2047i, 1023i, mantissa, 52u);
}

// The magnitude's bits as a float of `width` mantissa bits: to nearest, ties to even. Infinity and
// NaN are the caller's.
fn rounded(x: Exact, width: u32, bias: i32) -> vec2<u32> {
    let least = 1i - bias;
    let below = max(least - x.e, 0i);
    let keep = i32(width) + 1i - below;
    if keep < 0i {
        return vec2<u32>(0u, 0u);
    }
    let drop = u32(64i - keep);
    var kept = shr_u64(x.m, drop);
    // The dropped bits, moved to the top: more than the half there rounds up.
    let rest = shl_u64(x.m, u32(keep));
    let above = rest.y > 0x80000000u || (rest.y == 0x80000000u && rest.x != 0u);
    let tie = rest.y == 0x80000000u && rest.x == 0u;
    if above || (tie && (kept.x & 1u) != 0u) {
        kept = add_i64(kept, vec2<u32>(1u, 0u));
    }
    // The leading one carries into the exponent field, and so does a carry of the rounding.
    let field = max(x.e - least, 0i);
    return add_i64(kept, shl_u64(vec2<u32>(u32(field), 0u), width));
}

fn f32_from(x: Exact) -> u32 {
    let sign = select(0u, 0x80000000u, x.neg);
    switch x.kind {
        case 0u: {
            return sign;
        }
        case 1u: {
            if x.e > 127i {
                return sign | 0x7f800000u;
            }
            return sign | min(rounded(x, 23u, 127i).x, 0x7f800000u);
        }
        case 2u: {
            return sign | 0x7f800000u;
        }
        default: {
            return sign | 0x7fc00000u;
        }
    }
}

fn bf16_from(x: Exact) -> u32 {
    let sign = select(0u, 0x8000u, x.neg);
    switch x.kind {
        case 0u: {
            return sign;
        }
        case 1u: {
            if x.e > 127i {
                return sign | 0x7f80u;
            }
            return sign | min(rounded(x, 7u, 127i).x, 0x7f80u);
        }
        case 2u: {
            return sign | 0x7f80u;
        }
        default: {
            return sign | 0x7fc0u;
        }
    }
}

fn f16_from(x: Exact) -> u32 {
    let sign = select(0u, 0x8000u, x.neg);
    switch x.kind {
        case 0u: {
            return sign;
        }
        case 1u: {
            if x.e > 15i {
                return sign | 0x7c00u;
            }
            return sign | min(rounded(x, 10u, 15i).x, 0x7c00u);
        }
        case 2u: {
            return sign | 0x7c00u;
        }
        default: {
            return sign | 0x7e00u;
        }
    }
}

fn f64_from(x: Exact) -> vec2<u32> {
    let sign = vec2<u32>(0u, select(0u, 0x80000000u, x.neg));
    switch x.kind {
        case 0u: {
            return sign;
        }
        case 1u: {
            // Every other type's range is inside that of f64.
            return sign | rounded(x, 52u, 1023i);
        }
        case 2u: {
            return sign | vec2<u32>(0u, 0x7ff00000u);
        }
        default: {
            return sign | vec2<u32>(0u, 0x7ff80000u);
        }
    }
}

// Truncated and saturated; NaN is 0.
fn i64_from(x: Exact) -> vec2<u32> {
    if x.kind == 0u || x.kind == 3u || (x.kind == 1u && x.e < 0i) {
        return vec2<u32>(0u, 0u);
    }
    if x.kind == 2u || x.e >= 63i {
        if x.neg {
            return vec2<u32>(0u, 0x80000000u);
        }
        return vec2<u32>(0xffffffffu, 0x7fffffffu);
    }
    let magnitude = shr_u64(x.m, u32(63i - x.e));
    if x.neg {
        return neg_i64(magnitude);
    }
    return magnitude;
}

fn i32_from(x: Exact) -> i32 {
    let wide = i64_from(x);
    let low = bitcast<i32>(wide.x);
    if bitcast<i32>(wide.y) == (low >> 31u) {
        return low;
    }
    return select(2147483647i, -2147483647i - 1i, x.neg);
}

fn i8_from(x: Exact) -> i32 {
    return clamp(i32_from(x), -128i, 127i);
}

fn u32_from(x: Exact) -> u32 {
    let wide = i64_from(x);
    if (wide.y >> 31u) != 0u {
        return 0u;
    }
    return select(0xffffffffu, wide.x, wide.y == 0u);
}

fn u8_from(x: Exact) -> u32 {
    return min(u32_from(x), 255u);
}
