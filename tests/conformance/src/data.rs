//! Values to compute on: specials, small exact numbers, and random ones from a seed.

use crate::reference::cast;
use crate::value::{Val, bounds, epsilon, least_normal};
use gpu_seam::DType;

/// What sort of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Specials first, then random values of all sizes that are of interest.
    Any,
    /// Integers of magnitude up to 4 (0 to 4 where unsigned): sums and products are exact.
    Small,
    /// Random numbers between -2 and 2, rounded to the type.
    Unit,
}

/// A small generator of known sequence (splitmix64, Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Below a usize, so it is one.
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }

    /// A number in [-2, 2) with 24 random bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 * 2f64.powi(-22) - 2.0
    }
}

/// `count` values of `dtype`, each exactly representable.
pub(crate) fn values(
    dtype: DType,
    kind: Kind,
    count: usize,
    rng: &mut Rng,
    kept: bool,
) -> Vec<Val> {
    let mut values = match kind {
        Kind::Any => specials(dtype, kept),
        Kind::Small | Kind::Unit => Vec::new(),
    };
    values.truncate(count);
    while values.len() < count {
        values.push(one(dtype, kind, rng));
    }
    values
}

fn one(dtype: DType, kind: Kind, rng: &mut Rng) -> Val {
    if dtype.is_complex() {
        let part = |rng: &mut Rng| match one(dtype.real(), kind, rng) {
            Val::Real(x) => x,
            _ => 0.0,
        };
        return Val::Complex(part(rng), part(rng));
    }
    let small = rng.below(9) as i128 - 4;
    let value = match (dtype, kind) {
        (DType::Bool, _) => return Val::Bool(rng.next() & 1 == 1),
        _ if dtype.is_integer() => match kind {
            Kind::Any => Val::Int(i128::from(rng.next() >> (rng.next() & 63))),
            Kind::Small | Kind::Unit if bounds(dtype).0 == 0 => Val::Int(small.abs()),
            Kind::Small | Kind::Unit => Val::Int(small),
        },
        (_, Kind::Small) => Val::Real(small as f64),
        (_, Kind::Unit) => Val::Real(rng.unit()),
        // Magnitudes around 1, within what every float type holds.
        (_, Kind::Any) => {
            let scales = [-8, -5, -3, -2, -1, 0, 0, 1, 2, 3, 5, 8];
            Val::Real(rng.unit() * 2f64.powi(scales[rng.below(scales.len())]))
        }
    };
    value.rounded(dtype)
}

/// The values that go wrong first; subnormals only where they are `kept`.
pub(crate) fn specials(dtype: DType, kept: bool) -> Vec<Val> {
    if dtype == DType::Bool {
        return vec![Val::Bool(true), Val::Bool(false)];
    }
    if dtype.is_integer() {
        let (least, greatest) = bounds(dtype);
        let all = [
            0,
            1,
            -1,
            2,
            -7,
            7,
            least,
            greatest,
            least + 1,
            greatest - 1,
            greatest / 2 + 1,
        ];
        return all
            .into_iter()
            .map(|x| Val::Int(x).rounded(dtype))
            .collect();
    }
    let real = dtype.real();
    let eps = epsilon(real);
    let tiny = least_normal(real);
    let huge = match real {
        DType::F16 => 65504.0,
        DType::BF16 => 255.0 * 2f64.powi(120),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let mut reals = vec![
        1.0,
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        0.5,
        -2.5,
        3.0,
        1.0 + eps,
        1.0 - eps / 2.0,
        tiny,
        -tiny,
        huge,
        -huge,
        100.0,
        -44.5,
        1e-3,
    ];
    if kept {
        reals.extend([tiny * eps, -tiny * eps, tiny / 2.0, tiny * (1.0 - eps)]);
    }
    if dtype.is_complex() {
        // Parts that are both ordinary: infinities in complex arithmetic have no settled answer.
        let parts = [1.0, 0.0, -1.0, 0.5, -2.5, 3.0, 100.0, 1e-3];
        return parts
            .into_iter()
            .flat_map(|re| [(re, 1.0), (re, -0.25), (1.5, re)])
            .map(|(re, im)| Val::Complex(re, im).rounded(dtype))
            .collect();
    }
    reals
        .into_iter()
        .map(|x| Val::Real(x).rounded(dtype))
        .collect()
}

/// `n` as a value of `dtype`.
pub(crate) fn number(dtype: DType, n: i32) -> Val {
    cast(Val::Int(i128::from(n)), DType::I32, dtype)
}
