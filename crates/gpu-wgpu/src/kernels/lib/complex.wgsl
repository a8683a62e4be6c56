// Functions of complex64 and complex128, written once: T is the type of the parts, C the suffix of
// the complex type. Nothing overflows on the way to a result that does not.

fn add_C(a: vec2<T>, b: vec2<T>) -> vec2<T> {
    return a + b;
}

fn mul_C(a: vec2<T>, b: vec2<T>) -> vec2<T> {
    return vec2<T>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

fn neg_C(a: vec2<T>) -> vec2<T> {
    return vec2<T>(flipped_T(a.x), flipped_T(a.y));
}

fn conj_C(a: vec2<T>) -> vec2<T> {
    return vec2<T>(a.x, flipped_T(a.y));
}

// Smith's division (CACM 5, 1962) of numbers scaled to about 1 by powers of two. Division by zero
// divides both parts by it, as NumPy does.
fn div_C(a: vec2<T>, b: vec2<T>) -> vec2<T> {
    if b.x == ~0.0 && b.y == ~0.0 {
        return vec2<T>(a.x / magnitude_T(b.x), a.y / magnitude_T(b.x));
    }
    let up = size_T(a.x, a.y);
    let down = size_T(b.x, b.y);
    let p = a * power_T(-up);
    let q = b * power_T(-down);
    var result: vec2<T>;
    if magnitude_T(q.x) >= magnitude_T(q.y) {
        let r = q.y / q.x;
        let d = q.x + q.y * r;
        result = vec2<T>((p.x + p.y * r) / d, (p.y - p.x * r) / d);
    } else {
        let r = q.x / q.y;
        let d = q.x * r + q.y;
        result = vec2<T>((p.x * r + p.y) / d, (p.y * r - p.x) / d);
    }
    return vec2<T>(scaled_T(result.x, up - down), scaled_T(result.y, up - down));
}

fn recip_C(a: vec2<T>) -> vec2<T> {
    return div_C(vec2<T>(~1.0, ~0.0), a);
}

fn exp_C(a: vec2<T>) -> vec2<T> {
    if a.y == ~0.0 {
        return vec2<T>(exp_T(a.x), a.y);
    }
    let point = circle_T(a.y);
    // Half of the exponent at a time: e^x may overflow where the product does not.
    let half = exp_T(~0.5 * a.x);
    return vec2<T>(half * point.x * half, half * point.y * half);
}

fn log_C(a: vec2<T>) -> vec2<T> {
    let x = magnitude_T(a.x);
    let y = magnitude_T(a.y);
    let large = max(x, y);
    let small = min(x, y);
    var re: T;
    if infinite_T(large) {
        re = large;
    } else if large > ~0.5 && large < ~2.0 {
        // Near 1 the logarithm is small, and so is |z|^2 - 1, which is exact enough this way.
        re = ~0.5 * log1p_T((large - ~1.0) * (large + ~1.0) + small * small);
    } else if large == ~0.0 {
        re = flipped_T(infinity_T());
    } else {
        let ratio = small / large;
        re = log_T(large) + ~0.5 * log1p_T(ratio * ratio);
    }
    return vec2<T>(re, atan2_T(a.y, a.x));
}

// Kahan's half angles, on a number scaled by a power of four.
fn sqrt_C(a: vec2<T>) -> vec2<T> {
    if a.x == ~0.0 && a.y == ~0.0 {
        return vec2<T>(magnitude_T(a.x), a.y);
    }
    let e = size_T(a.x, a.y) / 2i;
    let down = power_T(-2i * e);
    let w = a * down;
    let large = sqrt(~0.5 * (hypot_T(w.x, w.y) + magnitude_T(w.x)));
    let small = magnitude_T(w.y) / (~2.0 * large);
    let up = power_T(e);
    if negative_T(a.x) {
        return vec2<T>(small * up, copysign_T(large * up, a.y));
    }
    return vec2<T>(large * up, copysign_T(small * up, a.y));
}

// Kahan, "Branch cuts for complex elementary functions" (1987).
fn tanh_C(a: vec2<T>) -> vec2<T> {
    let point = circle_T(a.y);
    if magnitude_T(a.x) > ~20.0 {
        let im = ~4.0 * point.x * point.y * exp_T(~-2.0 * magnitude_T(a.x));
        return vec2<T>(copysign_T(~1.0, a.x), im);
    }
    let t = point.y / point.x;
    let beta = ~1.0 + t * t;
    let s = sinh_T(a.x);
    let rho = sqrt(~1.0 + s * s);
    let d = ~1.0 + beta * s * s;
    return vec2<T>(beta * rho * s / d, t / d);
}

fn abs_C(a: vec2<T>) -> T {
    return hypot_T(a.x, a.y);
}
