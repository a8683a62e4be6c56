// Payne and Hanek's reduction ("Radian reduction for trigonometric functions", 1983), in words.

// Word `at` of 2 / pi as a binary fraction; zeros in front of it.
fn two_over_pi(at: i32) -> u32 {
    var words = array<u32, 46>(
        0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
        0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu,
        0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u,
        0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu,
        0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
        0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u,
        0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0xa9e39161u, 0x5ee61b08u,
        0x6599855fu, 0x14a06840u, 0x8dffd880u, 0x4d732731u,
    );
    if at < 0i {
        return 0u;
    }
    return words[min(at, 45i)];
}

// The angle m * 2^p (m an integer below 2^53) in right angles: in x, the whole ones modulo 4 of the
// nearest, with bit 2 set if the angle is below it; in yzw, how far, as a fraction in words.
fn far_turn(m: vec2<u32>, p: i32) -> vec4<u32> {
    // Bits of 2 / pi in front of this one only add multiples of four right angles.
    let first = p - 2i;
    let word = first >> 5u;
    let shift = u32(first & 31i);
    // The product of m with the six words from there on, modulo 2^192, lowest word first.
    var product = array<u32, 6>(0u, 0u, 0u, 0u, 0u, 0u);
    for (var i = 0i; i < 6i; i++) {
        let at = word + 5i - i;
        var bits = two_over_pi(at);
        if shift != 0u {
            bits = (bits << shift) | (two_over_pi(at + 1i) >> (32u - shift));
        }
        var carry = 0u;
        for (var j = 0i; j < 2i && i + j < 6i; j++) {
            let low = m[j] * bits;
            var high = mul_high(m[j], bits);
            var sum = product[i + j] + low;
            high += select(0u, 1u, sum < low);
            sum += carry;
            high += select(0u, 1u, sum < carry);
            product[i + j] = sum;
            carry = high;
        }
        for (var j = i + 2i; j < 6i && carry != 0u; j++) {
            product[j] += carry;
            carry = select(0u, 1u, product[j] < carry);
        }
    }
    // Two bits of right angles, then the fraction.
    var quarter = product[5] >> 30u;
    var high = (product[5] << 2u) | (product[4] >> 30u);
    var middle = (product[4] << 2u) | (product[3] >> 30u);
    var low = (product[3] << 2u) | (product[2] >> 30u);
    if (high >> 31u) != 0u {
        // Downwards from the next right angle; what is lost is far below the last word used.
        quarter = ((quarter + 1u) & 3u) | 4u;
        high = ~high;
        middle = ~middle;
        low = ~low;
    }
    return vec4<u32>(quarter, high, middle, low);
}
