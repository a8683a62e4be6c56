// What the functions of f64 need of its bits.

fn infinity_f64() -> f64 {
    return bitcast<f64>(u64(P[0].x & 0u) | 0x7ff0000000000000lu);
}

fn not_a_number_f64() -> f64 {
    return bitcast<f64>(u64(P[0].x & 0u) | 0x7ff8000000000000lu);
}

fn negative_f64(x: f64) -> bool {
    return (bitcast<u64>(x) >> 63u) != 0lu;
}

fn flipped_f64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) ^ 0x8000000000000000lu);
}

fn magnitude_f64(x: f64) -> f64 {
    return bitcast<f64>(bitcast<u64>(x) & 0x7ffffffffffffffflu);
}

fn exponent_f64(x: f64) -> i32 {
    return i32(u32(bitcast<u64>(x) >> 52u) & 0x7ffu) - 1023i;
}

// The number in [1, 2) with x's mantissa.
fn significand_f64(x: f64) -> f64 {
    return bitcast<f64>((bitcast<u64>(x) & 0xffffffffffffflu) | 0x3ff0000000000000lu);
}

// The mantissa as an integer, its leading one included.
fn whole_f64(x: f64) -> vec2<u32> {
    let bits = bits_f64(x);
    return vec2<u32>(bits.x, (bits.y & 0xfffffu) | 0x100000u);
}

// 2^n of a normal number.
fn power_f64(n: i32) -> f64 {
    return bitcast<f64>(u64(u32(n + 1023i)) << 52u);
}

// The remainder that follows the dividend, exactly: long division of the mantissas, 11 bits a step.
fn rem_f64(a: f64, b: f64) -> f64 {
    let sign = bitcast<u64>(a) & 0x8000000000000000lu;
    let x = bitcast<u64>(a) & 0x7ffffffffffffffflu;
    let y = bitcast<u64>(b) & 0x7ffffffffffffffflu;
    if x >= 0x7ff0000000000000lu || y > 0x7ff0000000000000lu || y == 0lu {
        return not_a_number_f64();
    }
    if x < y {
        return a;
    }
    let one = 0x10000000000000lu;
    let ex = max(u32(x >> 52u), 1u);
    let ey = max(u32(y >> 52u), 1u);
    let my = (y & (one - 1lu)) | select(0lu, one, y >= one);
    var rest = ((x & (one - 1lu)) | select(0lu, one, x >= one)) % my;
    for (var left = ex - ey; left > 0u;) {
        let step = min(left, 11u);
        rest = (rest << step) % my;
        left -= step;
    }
    if rest == 0lu {
        return bitcast<f64>(sign);
    }
    let words = vec2<u32>(u32(rest & 0xfffffffflu), u32(rest >> 32u));
    let up = min(leading_zeros_u64(words) - 11u, ey - 1u);
    rest = rest << up;
    let field = select(0u, ey - up, rest >= one);
    return bitcast<f64>(sign | (u64(field) << 52u) | (rest & (one - 1lu)));
}
