// The order of the element types. Floats are ordered by their bits: a shader compiler may take it
// that there are no NaN, and a device may flush subnormals before it compares.

// A float's place among the floats, as a signed number. Both zeros are 0; a NaN is beyond infinity.
fn place_f32(x: f32) -> i32 {
    let bits = bitcast<u32>(x);
    let magnitude = bitcast<i32>(bits & 0x7fffffffu);
    return select(magnitude, -magnitude, (bits >> 31u) != 0u);
}

fn nan_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn less_f32(a: f32, b: f32) -> bool {
    return place_f32(a) < place_f32(b) && !nan_f32(a) && !nan_f32(b);
}

fn equal_f32(a: f32, b: f32) -> bool {
    return place_f32(a) == place_f32(b) && !nan_f32(a);
}

fn place_f64(x: f64) -> i64 {
    let bits = bitcast<u64>(x);
    let magnitude = bitcast<i64>(bits & 0x7ffffffffffffffflu);
    return select(magnitude, -magnitude, (bits >> 63u) != 0lu);
}

fn nan_f64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

fn less_f64(a: f64, b: f64) -> bool {
    return place_f64(a) < place_f64(b) && !nan_f64(a) && !nan_f64(b);
}

fn equal_f64(a: f64, b: f64) -> bool {
    return place_f64(a) == place_f64(b) && !nan_f64(a);
}

fn less_u32(a: u32, b: u32) -> bool {
    return a < b;
}

fn equal_u32(a: u32, b: u32) -> bool {
    return a == b;
}

fn nan_u32(x: u32) -> bool {
    return false;
}

fn less_bool(a: u32, b: u32) -> bool {
    return a < b;
}

fn equal_bool(a: u32, b: u32) -> bool {
    return a == b;
}

fn nan_bool(x: u32) -> bool {
    return false;
}

fn less_i32(a: i32, b: i32) -> bool {
    return a < b;
}

fn equal_i32(a: i32, b: i32) -> bool {
    return a == b;
}

fn nan_i32(x: i32) -> bool {
    return false;
}

fn less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
    let high = bitcast<i32>(a.y);
    let other = bitcast<i32>(b.y);
    return high < other || (high == other && a.x < b.x);
}

fn equal_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x == b.x && a.y == b.y;
}

fn nan_i64(x: vec2<u32>) -> bool {
    return false;
}

fn equal_c64(a: vec2<f32>, b: vec2<f32>) -> bool {
    return equal_f32(a.x, b.x) && equal_f32(a.y, b.y);
}

fn nan_c64(x: vec2<f32>) -> bool {
    return nan_f32(x.x) || nan_f32(x.y);
}

fn equal_c128(a: vec2<f64>, b: vec2<f64>) -> bool {
    return equal_f64(a.x, b.x) && equal_f64(a.y, b.y);
}

fn nan_c128(x: vec2<f64>) -> bool {
    return nan_f64(x.x) || nan_f64(x.y);
}

// Whether it is not zero; NaN is not.
fn truth_bool(x: u32) -> bool {
    return x != 0u;
}

fn truth_u32(x: u32) -> bool {
    return x != 0u;
}

fn truth_i32(x: i32) -> bool {
    return x != 0i;
}

fn truth_i64(x: vec2<u32>) -> bool {
    return (x.x | x.y) != 0u;
}

fn truth_f32(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
}

fn truth_f64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) != 0lu;
}

fn truth_c64(x: vec2<f32>) -> bool {
    return truth_f32(x.x) || truth_f32(x.y);
}

fn truth_c128(x: vec2<f64>) -> bool {
    return truth_f64(x.x) || truth_f64(x.y);
}

// f64 from and to its words.
fn f64_of(raw: vec2<u32>) -> f64 {
    return bitcast<f64>(u64(raw.x) | (u64(raw.y) << 32u));
}

fn bits_f64(x: f64) -> vec2<u32> {
    let bits = bitcast<u64>(x);
    return vec2<u32>(u32(bits & 0xfffffffflu), u32(bits >> 32u));
}

fn c128_of(raw: vec4<u32>) -> vec2<f64> {
    return vec2<f64>(f64_of(raw.xy), f64_of(raw.zw));
}

fn bits_c128(x: vec2<f64>) -> vec4<u32> {
    return vec4<u32>(bits_f64(x.x), bits_f64(x.y));
}

fn pick_bool(a: u32, b: u32, second: bool) -> u32 {
    return select(a, b, second);
}

fn pick_u32(a: u32, b: u32, second: bool) -> u32 {
    return select(a, b, second);
}

fn pick_i32(a: i32, b: i32, second: bool) -> i32 {
    return select(a, b, second);
}

fn pick_i64(a: vec2<u32>, b: vec2<u32>, second: bool) -> vec2<u32> {
    return select(a, b, vec2<bool>(second, second));
}

fn pick_f32(a: f32, b: f32, second: bool) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(a), bitcast<u32>(b), second));
}

fn pick_f64(a: f64, b: f64, second: bool) -> f64 {
    return bitcast<f64>(select(bitcast<u64>(a), bitcast<u64>(b), second));
}
