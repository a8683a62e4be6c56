//! Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
//! SC 2011), and what `Distribution` draws from its words.

use crate::value::{Narrow, Val, halves, narrow_down};
use gpu_seam::{DType, Distribution};

/// The four words of a counter under a key.
fn words(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    // The paper's multipliers and Weyl increments.
    let multiply = |factor: u32, x: u32| {
        let wide = u64::from(factor) * u64::from(x);
        let [low, high] = halves(wide);
        (high, low)
    };
    for _ in 0..10 {
        let (high0, low0) = multiply(0xd251_1f53, counter[0]);
        let (high1, low1) = multiply(0xcd9e_8d57, counter[2]);
        counter = [
            high1 ^ counter[1] ^ key[0],
            low1,
            high0 ^ counter[3] ^ key[1],
            low0,
        ];
        key = [
            key[0].wrapping_add(0x9e37_79b9),
            key[1].wrapping_add(0xbb67_ae85),
        ];
    }
    counter
}

/// The number at counter `at` under key `seed`.
pub(crate) fn draw(distribution: Distribution, dtype: DType, seed: u64, at: u64) -> Val {
    let [c0, c1] = halves(at);
    let [w0, w1, w2, w3] = words([c0, c1, 0, 0], halves(seed));
    let single = |w: u32| f64::from(w >> 8) * 2f64.powi(-24);
    let double = |low: u32, high: u32| {
        ((u64::from(low) | u64::from(high) << 32) >> 11) as f64 * 2f64.powi(-53)
    };
    let wide = dtype.real() == DType::F64;
    let (u0, u1) = if wide {
        (double(w0, w1), double(w2, w3))
    } else {
        (single(w0), single(w1))
    };
    let (re, im) = match distribution {
        Distribution::Uniform => (u0, u1),
        _ => {
            let radius = (-2.0 * (-u0).ln_1p()).sqrt();
            let angle = 2.0 * std::f64::consts::PI * u1;
            (radius * angle.cos(), radius * angle.sin())
        }
    };
    if dtype.is_complex() {
        return Val::Complex(re, im).rounded(dtype);
    }
    let narrow = match dtype {
        DType::F16 => Some(Narrow::F16),
        DType::BF16 => Some(Narrow::BF16),
        _ => None,
    };
    match narrow {
        Some(narrow) if distribution == Distribution::Uniform => {
            Val::decode(dtype, &narrow_down(re, narrow).to_le_bytes())
        }
        _ => Val::Real(re).rounded(dtype),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    /// The known answers that Random123 publishes for philox4x32-10 (kat_vectors).
    #[test]
    fn known_answers() {
        let table = [
            (
                [0; 4],
                [0; 2],
                [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
            ),
            (
                [u32::MAX; 4],
                [u32::MAX; 2],
                [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
            ),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, want) in table {
            assert_eq!(words(counter, key), want);
        }
    }
}
