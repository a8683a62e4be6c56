//! A network and a path, as a tree of steps whose indices are classified.
//!
//! Promises that every step knows, of each index that it meets, whether it is kept and by which
//! operand it comes, that the last step has exactly the output's indices, and that no array it makes
//! is beyond what can be addressed. Knows nothing of the order of indices in memory.

use super::error::EinsumError;
use super::network::{Index, Indices, Network, checked_bytes};
use super::path::Pair;
use gpu_seam::MAX_RANK;

/// The steps of a contraction. Nodes are numbered as in [`Pair`].
#[derive(Debug)]
pub(super) struct Tree {
    /// How many operands: the first nodes.
    pub(super) operands: usize,
    /// The indices of every node, ascending.
    pub(super) indices: Vec<Indices>,
    /// What makes the nodes after the operands.
    pub(super) steps: Vec<Step>,
}

/// One step and its indices by what becomes of them, each list ascending.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) pair: Pair,
    /// In both operands, and kept.
    pub(super) batch: Indices,
    /// In the left operand only, and kept.
    pub(super) left: Indices,
    /// In the right operand only, and kept.
    pub(super) right: Indices,
    /// In both operands, and summed.
    pub(super) summed: Indices,
    /// In the left operand only, and summed before anything else.
    pub(super) left_private: Indices,
    /// In the right operand only, and summed before anything else.
    pub(super) right_private: Indices,
    /// The product of the sizes of all of them.
    pub(super) volume: u128,
}

impl Step {
    /// Floating-point operations: see [`Plan::flops`](super::Plan::flops).
    pub(super) fn flops(&self) -> u128 {
        let sums = [&self.summed, &self.left_private, &self.right_private]
            .iter()
            .any(|set| !set.is_empty());
        let per_element = match self.pair {
            Pair::One(_) => u128::from(sums),
            Pair::Two(..) => 1 + u128::from(sums),
        };
        self.volume.saturating_mul(per_element)
    }
}

impl Tree {
    /// Follows `pairs`, which lead from the operands of `network` to one result.
    pub(super) fn build(
        network: &Network,
        mut pairs: Vec<Pair>,
        element_size: usize,
    ) -> Result<Self, EinsumError> {
        let operands = network.operands.len();
        if pairs.is_empty() {
            pairs.push(Pair::One(0));
        }
        let mut holders = Holders::new(network);
        let mut indices: Vec<Indices> = (0..operands).map(|at| operand_set(network, at)).collect();
        let mut steps = Vec::with_capacity(pairs.len());
        for (at, pair) in pairs.into_iter().enumerate() {
            let (left, right) = match pair {
                Pair::One(left) => (&indices[left], &Indices::new()),
                Pair::Two(left, right) => (&indices[left], &indices[right]),
            };
            let (mut step, union) = holders.classify(pair, left, right);
            step.volume = network
                .volume(&union)
                .ok_or_else(|| EinsumError::TooLarge {
                    what: "the number of operations",
                    detail: format!("the sizes at step {at} multiply to more than {}", u128::MAX),
                })?;
            let mut kept: Indices = [&step.batch, &step.left, &step.right]
                .into_iter()
                .flatten()
                .copied()
                .collect();
            kept.sort_unstable();
            if kept.len() > MAX_RANK {
                return Err(EinsumError::TooLarge {
                    what: "the rank of an intermediate",
                    detail: format!(
                        "{} dimensions of at most {MAX_RANK}, at step {at}",
                        kept.len()
                    ),
                });
            }
            let dims = kept.iter().map(|index| network.sizes[*index as usize]);
            checked_bytes("an intermediate", dims, element_size)?;
            holders.replace(left, right, &kept);
            indices.push(kept);
            steps.push(step);
        }
        Ok(Self {
            operands,
            indices,
            steps,
        })
    }
}

/// The distinct indices of an operand, ascending.
pub(super) fn operand_set(network: &Network, operand: usize) -> Indices {
    let mut set: Indices = network.operands[operand]
        .axes
        .iter()
        .copied()
        .flatten()
        .collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// How many of the current operands hold each index, the output counting as one.
#[derive(Clone)]
pub(super) struct Holders(Vec<u32>);

impl Holders {
    pub(super) fn new(network: &Network) -> Self {
        let mut counts = vec![0u32; network.sizes.len()];
        for at in 0..network.operands.len() {
            for index in operand_set(network, at) {
                counts[index as usize] = counts[index as usize].saturating_add(1);
            }
        }
        for index in &network.output {
            counts[*index as usize] = counts[*index as usize].saturating_add(1);
        }
        Self(counts)
    }

    /// Whether something else than `here` operands holds `index`.
    pub(super) fn needed(&self, index: Index, here: u32) -> bool {
        self.0[index as usize] > here
    }

    /// Two operands leave, their result enters.
    pub(super) fn replace(&mut self, left: &[Index], right: &[Index], result: &[Index]) {
        for index in left.iter().chain(right) {
            self.0[*index as usize] -= 1;
        }
        for index in result {
            self.0[*index as usize] += 1;
        }
    }

    /// The step of `pair`, volume 0, and the union of its indices.
    fn classify(&self, pair: Pair, left: &[Index], right: &[Index]) -> (Step, Indices) {
        let mut step = Step {
            pair,
            batch: Indices::new(),
            left: Indices::new(),
            right: Indices::new(),
            summed: Indices::new(),
            left_private: Indices::new(),
            right_private: Indices::new(),
            volume: 0,
        };
        let mut union = Indices::new();
        merge(left, right, |index, in_left, in_right| {
            let here = u32::from(in_left) + u32::from(in_right);
            let set = match (in_left && in_right, in_left, self.needed(index, here)) {
                (true, _, true) => &mut step.batch,
                (true, _, false) => &mut step.summed,
                (false, true, true) => &mut step.left,
                (false, true, false) => &mut step.left_private,
                (false, false, true) => &mut step.right,
                (false, false, false) => &mut step.right_private,
            };
            set.push(index);
            union.push(index);
        });
        (step, union)
    }
}

/// Calls `visit(index, in_left, in_right)` for every index of two ascending lists, ascending.
pub(super) fn merge(left: &[Index], right: &[Index], mut visit: impl FnMut(Index, bool, bool)) {
    let (mut at, mut other) = (0, 0);
    while at < left.len() || other < right.len() {
        let (a, b) = (left.get(at), right.get(other));
        let (in_left, in_right) = match (a, b) {
            (Some(a), Some(b)) => (a <= b, b <= a),
            (a, b) => (a.is_some(), b.is_some()),
        };
        if let Some(index) = if in_left { a } else { b } {
            visit(*index, in_left, in_right);
        }
        at += usize::from(in_left);
        other += usize::from(in_right);
    }
}
