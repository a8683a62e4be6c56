// 64-bit integers as pairs of words, low word first: no adapter need have them. Everything wraps.

// The high word of a product of words, from products of halves.
fn mul_high(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let low = al * bl;
    let mid = ah * bl + (low >> 16u);
    let cross = al * bh + (mid & 0xffffu);
    return ah * bh + (mid >> 16u) + (cross >> 16u);
}

fn add_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn sub_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn neg_i64(a: vec2<u32>) -> vec2<u32> {
    return sub_i64(vec2<u32>(0u, 0u), a);
}

fn abs_i64(a: vec2<u32>) -> vec2<u32> {
    if (a.y >> 31u) != 0u {
        return neg_i64(a);
    }
    return a;
}

fn mul_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x * b.x, mul_high(a.x, b.x) + a.x * b.y + a.y * b.x);
}

fn less_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn shl_u64(a: vec2<u32>, by: u32) -> vec2<u32> {
    if by == 0u {
        return a;
    }
    if by >= 64u {
        return vec2<u32>(0u, 0u);
    }
    if by >= 32u {
        return vec2<u32>(0u, a.x << (by - 32u));
    }
    return vec2<u32>(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

fn shr_u64(a: vec2<u32>, by: u32) -> vec2<u32> {
    if by == 0u {
        return a;
    }
    if by >= 64u {
        return vec2<u32>(0u, 0u);
    }
    if by >= 32u {
        return vec2<u32>(a.y >> (by - 32u), 0u);
    }
    return vec2<u32>((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

fn leading_zeros_u64(a: vec2<u32>) -> u32 {
    if a.y == 0u {
        return 32u + countLeadingZeros(a.x);
    }
    return countLeadingZeros(a.y);
}

// Quotient in xy and remainder in zw of magnitudes; b is not zero. Long division, a bit a step.
fn divide_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    if a.y == 0u && b.y == 0u {
        return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
    }
    var quotient = vec2<u32>(0u, 0u);
    var rest = vec2<u32>(0u, 0u);
    for (var step = 0u; step < 64u; step++) {
        let at = 63u - step;
        // The bit that leaves `rest` on top makes it larger than any divisor.
        let carry = rest.y >> 31u;
        rest = shl_u64(rest, 1u);
        rest.x |= shr_u64(a, at).x & 1u;
        if carry != 0u || !less_u64(rest, b) {
            rest = sub_i64(rest, b);
            quotient = vec2<u32>(
                quotient.x | select(0u, 1u << (at & 31u), at < 32u),
                quotient.y | select(0u, 1u << (at & 31u), at >= 32u),
            );
        }
    }
    return vec4<u32>(quotient, rest);
}

fn div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if (b.x | b.y) == 0u {
        return b;
    }
    let quotient = divide_u64(abs_i64(a), abs_i64(b)).xy;
    if ((a.y ^ b.y) >> 31u) != 0u {
        return neg_i64(quotient);
    }
    return quotient;
}

fn rem_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if (b.x | b.y) == 0u {
        return b;
    }
    let rest = divide_u64(abs_i64(a), abs_i64(b)).zw;
    if (a.y >> 31u) != 0u {
        return neg_i64(rest);
    }
    return rest;
}

fn div_i32(a: i32, b: i32) -> i32 {
    if b == 0i {
        return 0i;
    }
    if b == -1i {
        return -a;
    }
    return a / b;
}

fn rem_i32(a: i32, b: i32) -> i32 {
    if b == 0i || b == -1i {
        return 0i;
    }
    return a % b;
}

fn div_u32(a: u32, b: u32) -> u32 {
    if b == 0u {
        return 0u;
    }
    return a / b;
}

fn rem_u32(a: u32, b: u32) -> u32 {
    if b == 0u {
        return 0u;
    }
    return a % b;
}
