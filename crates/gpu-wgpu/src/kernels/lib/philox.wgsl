// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011): the paper's multipliers and Weyl increments.
fn philox(at: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
    var counter = at;
    var key = seed;
    for (var round = 0u; round < 10u; round++) {
        let low0 = 0xd2511f53u * counter.x;
        let high0 = mul_high(0xd2511f53u, counter.x);
        let low1 = 0xcd9e8d57u * counter.z;
        let high1 = mul_high(0xcd9e8d57u, counter.z);
        counter = vec4<u32>(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key = vec2<u32>(key.x + 0x9e3779b9u, key.y + 0xbb67ae85u);
    }
    return counter;
}
