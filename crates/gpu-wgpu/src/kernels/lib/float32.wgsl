// What the functions of f32 need of its bits.

fn infinity_f32() -> f32 {
    return bitcast<f32>((P[0].x & 0u) | 0x7f800000u);
}

fn not_a_number_f32() -> f32 {
    return bitcast<f32>((P[0].x & 0u) | 0x7fc00000u);
}

fn negative_f32(x: f32) -> bool {
    return (bitcast<u32>(x) >> 31u) != 0u;
}

fn flipped_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

fn magnitude_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}

fn exponent_f32(x: f32) -> i32 {
    return i32((bitcast<u32>(x) >> 23u) & 0xffu) - 127i;
}

// The number in [1, 2) with x's mantissa.
fn significand_f32(x: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffu) | 0x3f800000u);
}

// The mantissa as an integer, its leading one included.
fn whole_f32(x: f32) -> vec2<u32> {
    return vec2<u32>((bitcast<u32>(x) & 0x7fffffu) | 0x800000u, 0u);
}

// 2^n of a normal number.
fn power_f32(n: i32) -> f32 {
    return bitcast<f32>(u32(n + 127i) << 23u);
}

// The remainder that follows the dividend, exactly: long division of the mantissas, 8 bits a step.
fn rem_f32(a: f32, b: f32) -> f32 {
    let sign = bitcast<u32>(a) & 0x80000000u;
    let x = bitcast<u32>(a) & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    if x >= 0x7f800000u || y > 0x7f800000u || y == 0u {
        return not_a_number_f32();
    }
    if x < y {
        return a;
    }
    let ex = max(x >> 23u, 1u);
    let ey = max(y >> 23u, 1u);
    let my = (y & 0x7fffffu) | select(0u, 0x800000u, y >= 0x800000u);
    var rest = ((x & 0x7fffffu) | select(0u, 0x800000u, x >= 0x800000u)) % my;
    for (var left = ex - ey; left > 0u;) {
        let step = min(left, 8u);
        rest = (rest << step) % my;
        left -= step;
    }
    if rest == 0u {
        return bitcast<f32>(sign);
    }
    let up = min(countLeadingZeros(rest) - 8u, ey - 1u);
    rest = rest << up;
    let field = select(0u, ey - up, rest >= 0x800000u);
    return bitcast<f32>(sign | (field << 23u) | (rest & 0x7fffffu));
}
