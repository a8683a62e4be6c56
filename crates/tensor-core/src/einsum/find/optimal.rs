//! The cheapest tree over a few parts, by dynamic programming over their subsets.
//!
//! The cost of contracting a subset does not depend on how, only what it leaves does not depend on
//! it either; so the cheapest way for a subset is the cheapest split into two of its own (a textbook
//! argument, for tensor networks in Pfeifer, Haegeman and Verstraete 2014, "Faster identification of
//! optimal contraction sequences"). `O(3^n)` splits are looked at, outer products among them.

use super::super::network::{Index, Indices};
use super::super::path::Pair;
use super::{Problem, WRITE};
use std::collections::BTreeMap;

/// A few parts, their indices as bits.
pub(super) struct Parts {
    bits: BTreeMap<Index, usize>,
    masks: Vec<u128>,
    /// The indices that something outside needs.
    outside: u128,
    sizes: Vec<f64>,
}

/// The cheapest tree over parts: pairs numbered as in [`Pair`].
pub(super) struct Cheapest {
    pub(super) cost: f64,
    pub(super) pairs: Vec<(usize, usize)>,
}

impl Cheapest {
    pub(super) fn pairs(self, operands: usize) -> Vec<Pair> {
        debug_assert_eq!(self.pairs.len() + 1, operands);
        self.pairs
            .into_iter()
            .map(|(a, b)| Pair::Two(a, b))
            .collect()
    }
}

impl Parts {
    /// These parts, or `None` when they have more than 128 indices.
    pub(super) fn of(
        problem: &Problem,
        sets: &[Indices],
        outside: impl Fn(Index) -> bool,
    ) -> Option<Self> {
        let mut bits: BTreeMap<Index, usize> = BTreeMap::new();
        for index in sets.iter().flatten() {
            let next = bits.len();
            bits.entry(*index).or_insert(next);
        }
        if bits.len() > 128 {
            return None;
        }
        let mask = |set: &Indices| {
            set.iter()
                .fold(0u128, |mask, index| mask | 1 << bits[index])
        };
        let mut sizes = vec![1.0; bits.len()];
        let mut needed = 0;
        for (index, bit) in &bits {
            sizes[*bit] = problem.sizes[*index as usize];
            needed |= u128::from(outside(*index)) << bit;
        }
        let masks = sets.iter().map(mask).collect();
        Some(Self {
            bits,
            masks,
            outside: needed,
            sizes,
        })
    }

    fn volume(&self, mut mask: u128) -> f64 {
        let mut volume = 1.0;
        while mask != 0 {
            volume *= self.sizes[mask.trailing_zeros() as usize];
            mask &= mask - 1;
        }
        volume
    }

    /// The cost of a tree of these pairs.
    pub(super) fn cost(&self, pairs: &[(usize, usize)]) -> f64 {
        let parts = self.masks.len();
        let subsets = self.subsets(pairs);
        let kept = |node: usize| {
            self.kept(if node < parts {
                1 << node
            } else {
                subsets[node - parts]
            })
        };
        let step = |(at, (a, b)): (usize, &(usize, usize))| {
            self.volume(kept(*a) | kept(*b)) + WRITE * self.volume(kept(parts + at))
        };
        pairs.iter().enumerate().map(step).sum()
    }

    /// The parts, as bits, that each pair's result is made of.
    pub(super) fn subsets(&self, pairs: &[(usize, usize)]) -> Vec<usize> {
        let parts = self.masks.len();
        let mut subsets = Vec::with_capacity(pairs.len());
        for (a, b) in pairs {
            let of = |node: usize| {
                if node < parts {
                    1 << node
                } else {
                    subsets[node - parts]
                }
            };
            subsets.push(of(*a) | of(*b));
        }
        subsets
    }

    /// Whether contracting `subset` leaves `index`.
    pub(super) fn keeps(&self, subset: usize, index: Index) -> bool {
        self.bits
            .get(&index)
            .is_some_and(|bit| self.kept(subset) >> bit & 1 == 1)
    }

    /// What contracting `subset` leaves.
    fn kept(&self, subset: usize) -> u128 {
        let (mut inside, mut needed) = (0, self.outside);
        for (part, mask) in self.masks.iter().enumerate() {
            if subset >> part & 1 == 1 {
                inside |= mask;
            } else {
                needed |= mask;
            }
        }
        inside & needed
    }

    pub(super) fn cheapest(&self) -> Cheapest {
        let parts = self.masks.len();
        let all = (1usize << parts) - 1;
        let kept: Vec<u128> = (0..=all).map(|subset| self.kept(subset)).collect();
        let mut cost = vec![0.0; all + 1];
        let mut split = vec![0usize; all + 1];
        for subset in 1..=all {
            if subset.is_power_of_two() {
                continue;
            }
            let write = WRITE * self.volume(kept[subset]);
            let first = 1 << subset.trailing_zeros();
            let mut best = f64::INFINITY;
            // Every proper part of the subset that has its first member.
            let rest = subset ^ first;
            let mut others = rest & (rest - 1);
            loop {
                let left = first | others;
                let right = subset ^ left;
                let below = cost[left] + cost[right];
                if below < best {
                    let here = below + self.volume(kept[left] | kept[right]) + write;
                    if here < best {
                        best = here;
                        split[subset] = left;
                    }
                }
                if others == 0 {
                    break;
                }
                others = (others - 1) & rest;
            }
            if split[subset] == 0 {
                // Every way is beyond counting: any will do.
                split[subset] = first;
            }
            cost[subset] = best;
        }
        let mut pairs = Vec::with_capacity(parts.saturating_sub(1));
        unfold(all, &split, parts, &mut pairs);
        Cheapest {
            cost: cost[all],
            pairs,
        }
    }
}

/// Writes the pairs of `subset` and answers the number of its result. As deep as there are parts.
fn unfold(subset: usize, split: &[usize], parts: usize, pairs: &mut Vec<(usize, usize)>) -> usize {
    if subset.is_power_of_two() {
        return subset.trailing_zeros() as usize;
    }
    let left = unfold(split[subset], split, parts, pairs);
    let right = unfold(subset ^ split[subset], split, parts, pairs);
    pairs.push((left, right));
    parts + pairs.len() - 1
}
