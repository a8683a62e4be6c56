//! Random numbers: Philox4x32-10, element by element.
//!
//! Promises [`Op::Random`](gpu_seam::Op::Random) as [`Distribution`] documents it. Element i depends
//! on the seed and `first + i` alone, so any split over threads gives the same bits; normal numbers
//! are computed in f64 by plain IEEE 754 operations, the same on every machine, and rounded once. The
//! generator is that of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2,
//! 3" (2011). Knows nothing of layouts.

use super::cast::Cast;
use super::element::{C64, C128, Element, bf16, f16};
use super::raw::{Args, generate};
use super::{grain, math, narrow};
use gpu_seam::{DType, Distribution, View};

/// The generator's multipliers and key increments, from the paper.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;

/// `out[i] =` what is drawn at counter `first + i`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    distribution: Distribution,
    out: View<'a>,
    seed: u64,
    first: u64,
) -> Option<()> {
    let call = Call {
        args,
        out,
        seed,
        first,
    };
    match (distribution, out.dtype) {
        (Distribution::Uniform, DType::F16) => call.run(grain::MEDIUM, |w| f16_below(unit24(w[0]))),
        (Distribution::Uniform, DType::BF16) => {
            call.run(grain::MEDIUM, |w| bf16_below(unit24(w[0])))
        }
        (Distribution::Uniform, DType::F32) => call.run(grain::MEDIUM, |w| unit24(w[0])),
        (Distribution::Uniform, DType::F64) => call.run(grain::MEDIUM, |w| unit53(w[0], w[1])),
        (Distribution::Uniform, DType::Complex64) => {
            call.run(grain::MEDIUM, |w| C64::new(unit24(w[0]), unit24(w[1])))
        }
        (Distribution::Uniform, DType::Complex128) => call.run(grain::MEDIUM, |w| {
            C128::new(unit53(w[0], w[1]), unit53(w[2], w[3]))
        }),
        (Distribution::Normal, DType::F16) => call.run::<f16>(grain::MEDIUM, |w| real24(w).cast()),
        (Distribution::Normal, DType::BF16) => {
            call.run::<bf16>(grain::MEDIUM, |w| real24(w).cast())
        }
        (Distribution::Normal, DType::F32) => call.run::<f32>(grain::MEDIUM, |w| real24(w).cast()),
        (Distribution::Normal, DType::F64) => call.run(grain::MEDIUM, |w| pair53(w).re),
        (Distribution::Normal, DType::Complex64) => {
            let draw = |w: [u32; 4]| pair(unit24(w[0]).into(), unit24(w[1]).into());
            call.run::<C64>(grain::MEDIUM, move |w| draw(w).cast())
        }
        (Distribution::Normal, DType::Complex128) => call.run(grain::MEDIUM, pair53),
        _ => None,
    }
}

/// One call, before its type is known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    out: View<'a>,
    seed: u64,
    first: u64,
}

impl Call<'_, '_> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "words are cut out of 64 bits"
    )]
    fn run<T: Element>(&self, grain: usize, draw: impl Fn([u32; 4]) -> T + Sync) -> Option<()> {
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        let window = self.args.window::<T>(0, self.out);
        let first = self.first;
        generate(window, grain, &|start, out| {
            let start = first.wrapping_add(start as u64);
            math::wide(|| {
                for (at, out) in (0u64..).zip(out) {
                    let counter = start.wrapping_add(at);
                    let words = philox([counter as u32, (counter >> 32) as u32, 0, 0], key);
                    *out = draw(words);
                }
            });
        });
        Some(())
    }
}

/// Philox4x32-10.
#[inline(always)]
fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut words = counter;
    let mut key = key;
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let (low0, high0) = product(MULTIPLIERS[0], words[0]);
        let (low1, high1) = product(MULTIPLIERS[1], words[2]);
        words = [
            high1 ^ words[1] ^ key[0],
            low1,
            high0 ^ words[3] ^ key[1],
            low0,
        ];
    }
    words
}

/// The low and the high word of a product.
#[expect(clippy::cast_possible_truncation, reason = "cut into words")]
#[inline(always)]
const fn product(a: u32, b: u32) -> (u32, u32) {
    let full = a as u64 * b as u64;
    (full as u32, (full >> 32) as u32)
}

/// A word as a number in `[0, 1)`.
#[expect(clippy::cast_precision_loss, reason = "24 bits are exact in f32")]
#[inline(always)]
fn unit24(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Two words as a number in `[0, 1)`.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact in f64")]
#[inline(always)]
fn unit53(low: u32, high: u32) -> f64 {
    let both = u64::from(low) | u64::from(high) << 32;
    (both >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// The largest f16 that is not above `x`, which is in `[0, 1)`.
#[inline(always)]
fn f16_below(x: f32) -> f16 {
    let nearest = narrow::f32_to_f16(x);
    f16::from_bits(nearest.to_bits() - u16::from(narrow::f16_to_f32(nearest) > x))
}

/// The largest bf16 that is not above `x`, which is in `[0, 1)`.
#[inline(always)]
fn bf16_below(x: f32) -> bf16 {
    let nearest = narrow::f32_to_bf16(x);
    bf16::from_bits(nearest.to_bits() - u16::from(narrow::bf16_to_f32(nearest) > x))
}

/// The real number of a pair drawn from 24 bits each.
#[inline(always)]
fn real24(w: [u32; 4]) -> f64 {
    pair(unit24(w[0]).into(), unit24(w[1]).into()).re
}

/// The pair drawn from 53 bits each.
#[inline(always)]
fn pair53(w: [u32; 4]) -> C128 {
    pair(unit53(w[0], w[1]), unit53(w[2], w[3]))
}

/// Two independent normal numbers from two uniform ones (Box and Muller, 1958).
#[inline(always)]
fn pair(u0: f64, u1: f64) -> C128 {
    // 1 - u0 is in (0, 1] and exact.
    let radius = (-2.0 * math::log64(1.0 - u0)).sqrt();
    let (sin, cos) = math::sin_cos_turns(u1);
    C128::new(radius * cos, radius * sin)
}
