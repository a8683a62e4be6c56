//! Elements for a network's operands, from a seed.
//!
//! Promises the same elements on every machine (ChaCha8, a stream for each operand and each index);
//! elements that the dtype holds exactly, so that a check in f64 starts from the very same; results
//! that stay finite however many operands there are; and results that do not cancel, so that every
//! element of every operand counts.
//!
//! An element is a number in `[0.75, 1.25)`, times a scale, times a phase for each of its indices'
//! values. The scale of an operand is `size^(-1/n)` for each index that is summed and held by `n`
//! operands: sums then average. The phases (signs, where the dtype is real) are drawn for each value
//! of an index, and what one operand holds times what the next one holds is 1: they cancel where the
//! index is summed, and so every product of a sum has one sign, but an element that is read in the
//! wrong place has the wrong one. Knows nothing of tensors.

use crate::network::Network;
use half::{bf16, f16};
use num_complex::Complex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::f64::consts::TAU;
use std::fmt;

/// The element types of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// float16
    F16,
    /// bfloat16
    BF16,
    /// float32
    F32,
    /// float64
    F64,
    /// complex64
    Complex64,
    /// complex128
    Complex128,
}

impl Kind {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::Complex64,
        Self::Complex128,
    ];

    /// The names: NumPy's, and the short one.
    #[must_use]
    pub const fn names(self) -> [&'static str; 2] {
        match self {
            Self::F16 => ["float16", "f16"],
            Self::BF16 => ["bfloat16", "bf16"],
            Self::F32 => ["float32", "f32"],
            Self::F64 => ["float64", "f64"],
            Self::Complex64 => ["complex64", "c64"],
            Self::Complex128 => ["complex128", "c128"],
        }
    }

    /// The element type of this name, NumPy's or the short one.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let known = Self::ALL
            .into_iter()
            .find(|kind| kind.names().contains(&name));
        known.ok_or_else(|| {
            let all: Vec<String> = Self::ALL
                .iter()
                .map(|kind| kind.names().join(" or "))
                .collect();
            let shown: String = name.chars().take(32).collect();
            format!("{shown:?} is none of {}", all.join(", "))
        })
    }

    /// The error that rounding to this type may cause, relative to the same network on absolute
    /// values.
    #[must_use]
    pub const fn bound(self) -> f64 {
        match self {
            Self::F16 | Self::BF16 => 1e-2,
            Self::F32 | Self::Complex64 => 1e-5,
            Self::F64 | Self::Complex128 => 1e-12,
        }
    }

    /// Whether it is complex.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// `value` as this type holds it.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F16 => f16::from_f64(value).to_f64(),
            Self::BF16 => bf16::from_f64(value).to_f64(),
            #[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked")]
            Self::F32 | Self::Complex64 => f64::from(value as f32),
            Self::F64 | Self::Complex128 => value,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names()[0])
    }
}

/// The elements of all operands, each in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub enum Operands {
    /// Of a real type.
    Real(Vec<Vec<f64>>),
    /// Of a complex type.
    Complex(Vec<Vec<Complex<f64>>>),
}

impl Operands {
    /// The absolute values.
    #[must_use]
    pub fn magnitudes(&self) -> Vec<Vec<f64>> {
        match self {
            Self::Real(all) => all
                .iter()
                .map(|one| one.iter().map(|x| x.abs()).collect())
                .collect(),
            Self::Complex(all) => all
                .iter()
                .map(|one| one.iter().map(|x| x.norm()).collect())
                .collect(),
        }
    }

    /// The same, but for the sign of the first element of `operand`.
    ///
    /// # Errors
    /// There is no such operand, or it has no element.
    pub fn altered(&self, operand: usize) -> Result<Self, String> {
        let mut altered = self.clone();
        let (operands, changed) = match &mut altered {
            Self::Real(all) => {
                let first = all.get_mut(operand).and_then(|one| one.first_mut());
                let changed = first.map(|x| *x = -*x).is_some();
                (all.len(), changed)
            }
            Self::Complex(all) => {
                let first = all.get_mut(operand).and_then(|one| one.first_mut());
                let changed = first.map(|z| *z = -*z).is_some();
                (all.len(), changed)
            }
        };
        if changed {
            return Ok(altered);
        }
        Err(format!(
            "operand {operand} of {operands} (counted from 0) has no first element to alter"
        ))
    }
}

/// The elements of `network`'s operands for `seed`, as `kind` holds them.
#[must_use]
pub fn fill(network: &Network, kind: Kind, seed: u64) -> Operands {
    let filler = Filler::new(network, kind, seed);
    let operands = 0..network.terms.len();
    if kind.is_complex() {
        let round = |z: Complex<f64>| Complex::new(kind.round(z.re), kind.round(z.im));
        Operands::Complex(
            operands
                .map(|at| filler.operand(at, |_, z| round(z)))
                .collect(),
        )
    } else {
        Operands::Real(
            operands
                .map(|at| filler.operand(at, |_, z| kind.round(z.re)))
                .collect(),
        )
    }
}

struct Filler<'a> {
    network: &'a Network,
    seed: u64,
    /// The scale of each operand.
    scales: Vec<f64>,
    /// For each dimension of each operand: whether its index's phases are taken as they are, are
    /// conjugated, or are left out.
    turns: Vec<Vec<Turn>>,
    /// The phases of each index by value.
    phases: Vec<Vec<Complex<f64>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Forth,
    Back,
    Still,
}

impl<'a> Filler<'a> {
    fn new(network: &'a Network, kind: Kind, seed: u64) -> Self {
        let mut holders = vec![0usize; network.sizes.len()];
        let mut turns: Vec<Vec<Turn>> = Vec::with_capacity(network.terms.len());
        for term in &network.terms {
            let turn = |index: &usize| {
                holders[*index] += 1;
                if holders[*index] % 2 == 1 {
                    Turn::Forth
                } else {
                    Turn::Back
                }
            };
            turns.push(term.iter().map(turn).collect());
        }
        let mut summed = vec![true; network.sizes.len()];
        network
            .output
            .iter()
            .for_each(|index| summed[*index] = false);
        // The last of an odd number has no partner: if it were turned, a sum would cancel.
        let mut seen = vec![0usize; network.sizes.len()];
        for (term, turns) in network.terms.iter().zip(&mut turns) {
            for (index, turn) in term.iter().zip(turns) {
                seen[*index] += 1;
                if seen[*index] == holders[*index] && holders[*index] % 2 == 1 && summed[*index] {
                    *turn = Turn::Still;
                }
            }
        }
        let share = |index: &usize| {
            if summed[*index] {
                (network.sizes[*index] as f64).powf(-1.0 / holders[*index] as f64)
            } else {
                1.0
            }
        };
        let scales = network
            .terms
            .iter()
            .map(|term| term.iter().map(share).product())
            .collect();
        let phases = (0..network.sizes.len())
            .map(|index| {
                let mut random = stream(seed, INDEX_STREAMS + index as u64);
                (0..network.sizes[index])
                    .map(|_| phase(&mut random, kind))
                    .collect()
            })
            .collect();
        Self {
            network,
            seed,
            scales,
            turns,
            phases,
        }
    }

    /// The elements of one operand, each made by `finish` of its number and its value.
    fn operand<T>(&self, at: usize, finish: impl Fn(usize, Complex<f64>) -> T) -> Vec<T> {
        let shape = &self.network.shapes[at];
        let mut random = stream(self.seed, at as u64);
        let elements = crate::network::elements(shape).unwrap_or_default();
        let mut position = vec![0usize; shape.len()];
        let mut values = Vec::with_capacity(elements);
        for number in 0..elements {
            let size = self.scales[at] * (0.75 + 0.5 * unit(&mut random));
            let mut value = Complex::new(size, 0.0);
            for (axis, index) in self.network.terms[at].iter().enumerate() {
                let phase = self.phases[*index][position[axis]];
                match self.turns[at][axis] {
                    Turn::Forth => value *= phase,
                    Turn::Back => value *= phase.conj(),
                    Turn::Still => {}
                }
            }
            values.push(finish(number, value));
            for (place, dim) in position.iter_mut().zip(shape).rev() {
                *place += 1;
                if *place < *dim {
                    break;
                }
                *place = 0;
            }
        }
        values
    }
}

/// Streams from here on are the indices', those before the operands'.
const INDEX_STREAMS: u64 = 1 << 40;

fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    random
}

/// A number in `[0, 1)`.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A sign, or a point of the unit circle.
fn phase(random: &mut ChaCha8Rng, kind: Kind) -> Complex<f64> {
    let unit = unit(random);
    match kind.is_complex() {
        true => Complex::from_polar(1.0, TAU * unit),
        false => Complex::new(if unit < 0.5 { -1.0 } else { 1.0 }, 0.0),
    }
}
