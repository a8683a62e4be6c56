//! Finding a contraction path.
//!
//! # What is minimised
//!
//! A step costs the product of the sizes of all its indices, which is its multiplications, plus
//! [`WRITE`] times the elements of its result, since what is written must be moved: about the ratio
//! of the two on a processor of today. A path costs the sum over its steps.
//!
//! # How
//!
//! - Up to [`EXACT`] operands: the cheapest tree, by dynamic programming over subsets (`optimal`).
//! - More: the greedy rule of opt_einsum from many random starts (`greedy`), and then the best tree
//!   is improved piece by piece with the exact method (`improve`), an idea of cotengra's
//!   (Gray and Kourtis 2021, "Hyper-optimized tensor network contraction", subtree reconfiguration).
//!
//! Effort falls with the number of operands, so that thousands are planned in about the time of
//! hundreds; everything is drawn from a fixed seed and no clock is asked: one network, one path.

mod greedy;
mod improve;
mod optimal;

use super::network::{Index, Indices, Network};
use super::path::Pair;
use super::tree::{Holders, operand_set};
use greedy::Style;
use optimal::Parts;

/// What an element written costs, in multiplications.
const WRITE: f64 = 16.0;
/// Up to so many operands the tree is exactly the cheapest; also the size of the pieces that are
/// improved.
pub(super) const EXACT: usize = 8;
/// How many greedy starts at most.
const STARTS: usize = 48;
/// How many operands all greedy starts together go through, about.
const STARTED_OPERANDS: usize = 1 << 14;
/// How many pieces are improved at most.
const PIECES: usize = 1 << 10;

/// A network as path finders see it.
struct Problem {
    /// The indices of each operand that something else needs too, ascending.
    sets: Vec<Indices>,
    sizes: Vec<f64>,
    /// Whether the output has the index.
    output: Vec<bool>,
    /// How many operands hold each index, and the output.
    holders: Holders,
}

impl Problem {
    fn new(network: &Network) -> Self {
        let mut holders = Holders::new(network);
        let sets = (0..network.operands.len())
            .map(|operand| {
                let all = operand_set(network, operand);
                let shared: Indices = all
                    .iter()
                    .copied()
                    .filter(|i| holders.needed(*i, 1))
                    .collect();
                holders.replace(&all, &[], &shared);
                shared
            })
            .collect();
        let mut output = vec![false; network.sizes.len()];
        for index in &network.output {
            output[*index as usize] = true;
        }
        let sizes = network.sizes.iter().map(|size| *size as f64).collect();
        Self {
            sets,
            sizes,
            output,
            holders,
        }
    }

    /// The product of the sizes of `indices`, never infinite, so that differences are numbers.
    fn volume(&self, indices: &[Index]) -> f64 {
        let product: f64 = indices
            .iter()
            .map(|index| self.sizes[*index as usize])
            .product();
        product.min(f64::MAX)
    }
}

/// A path for `network`, as pairs.
pub(super) fn find(network: &Network) -> Vec<Pair> {
    let operands = network.operands.len();
    if operands < 3 || network.empty {
        return chain(operands);
    }
    let problem = Problem::new(network);
    if operands <= EXACT
        && let Some(parts) = Parts::of(&problem, &problem.sets, |index| {
            problem.output[index as usize]
        })
    {
        return parts.cheapest().pairs(operands);
    }
    let starts = (STARTED_OPERANDS / operands).clamp(1, STARTS);
    let mut best = greedy::greedy(&problem, Style::PLAIN);
    for start in 1..starts {
        let other = greedy::greedy(&problem, Style::drawn(start));
        if other.cost < best.cost {
            best = other;
        }
    }
    if best.cost.is_finite() {
        improve::improve(&problem, best.pairs)
    } else {
        best.pairs
    }
}

/// All operands one after the other.
fn chain(operands: usize) -> Vec<Pair> {
    (1..operands)
        .map(|next| Pair::Two(if next == 1 { 0 } else { operands + next - 2 }, next))
        .collect()
}
