//! opt_einsum's greedy rule, with random starts.
//!
//! Of all pairs that share an index, the one with the least `size(result) - size(left) - size(right)`
//! is contracted first, and so on (Smith and Gray 2018, "opt_einsum", path `greedy`, cost
//! `memory-removed`); operands with the very same indices are multiplied before, and outer products
//! come last, the smallest first. A random start weighs the operands' sizes by `alpha` and adds
//! noise of the Gumbel distribution to the logarithm of the cost, as cotengra does, which draws a
//! pair with its Boltzmann weight.
//!
//! Pairs wait in a priority queue. An index that many operands hold would make a pair of every two
//! of them; only pairs of near neighbours in the order of their making ([`NEAR`]) are looked at, so
//! that time is `O(n log n)` for operands of bounded rank.

use super::super::network::Indices;
use super::super::path::Pair;
use super::super::tree::{Holders, merge};
use super::{Problem, WRITE};
use gpu_seam::MAX_RANK;
use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// How many of an index's other holders are looked at, before and after.
const NEAR: usize = 24;

/// How pairs are weighed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// What the sizes of the operands count for.
    alpha: f64,
    /// How much noise.
    temperature: f64,
    seed: u64,
}

impl Style {
    /// opt_einsum's own.
    pub(super) const PLAIN: Self = Self {
        alpha: 1.0,
        temperature: 0.0,
        seed: 0,
    };

    /// The `start`-th random style.
    pub(super) fn drawn(start: usize) -> Self {
        let mut noise = Noise(start as u64);
        let alpha = 0.2 + 2.0 * noise.unit();
        let temperature = 10f64.powf(-2.0 * noise.unit());
        Self {
            alpha,
            temperature,
            seed: noise.word(),
        }
    }
}

/// A path and what it costs; an infinite cost when some intermediate has too high a rank.
pub(super) struct Found {
    pub(super) pairs: Vec<Pair>,
    pub(super) cost: f64,
}

pub(super) fn greedy(problem: &Problem, style: Style) -> Found {
    let mut search = Search::new(problem, style);
    search.multiply_equals();
    while search.left > 1 && search.cost.is_finite() {
        if !search.push_all() {
            search.outer_products();
            break;
        }
        search.contract_cheapest();
    }
    if !search.cost.is_finite() {
        search.give_up();
    }
    Found {
        pairs: search.pairs,
        cost: search.cost,
    }
}

struct Search<'a> {
    problem: &'a Problem,
    style: Style,
    noise: Noise,
    holders: Holders,
    /// The indices and the size of each node; `None` once it is contracted.
    nodes: Vec<Option<(Indices, f64)>>,
    /// The nodes that hold each index.
    by_index: Vec<BTreeSet<usize>>,
    queue: BinaryHeap<Waiting>,
    pairs: Vec<Pair>,
    left: usize,
    cost: f64,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, style: Style) -> Self {
        let mut by_index = vec![BTreeSet::new(); problem.sizes.len()];
        for (node, set) in problem.sets.iter().enumerate() {
            for index in set {
                by_index[*index as usize].insert(node);
            }
        }
        let nodes = problem
            .sets
            .iter()
            .map(|set| Some((set.clone(), problem.volume(set))))
            .collect();
        Self {
            problem,
            style,
            noise: Noise(style.seed),
            holders: problem.holders.clone(),
            nodes,
            by_index,
            queue: BinaryHeap::new(),
            pairs: Vec::with_capacity(problem.sets.len()),
            left: problem.sets.len(),
            cost: 0.0,
        }
    }

    fn multiply_equals(&mut self) {
        let mut known: HashMap<Indices, usize> = HashMap::new();
        for node in 0..self.problem.sets.len() {
            let mut node = node;
            while let Some((set, _)) = &self.nodes[node] {
                let set = set.clone();
                if set.is_empty() {
                    break;
                }
                match known.remove(&set) {
                    Some(other) => node = self.contract(other, node),
                    None => {
                        known.insert(set, node);
                        break;
                    }
                }
            }
        }
    }

    /// Queues the pairs of all nodes; `false` when no two share an index.
    fn push_all(&mut self) -> bool {
        for node in 0..self.nodes.len() {
            self.push(node, |set, near| {
                near.extend(set.range(node + 1..).take(NEAR))
            });
        }
        !self.queue.is_empty()
    }

    /// Queues the pairs of one node with those that `pick` picks of each of its indices' holders.
    fn push(&mut self, node: usize, pick: impl Fn(&BTreeSet<usize>, &mut Vec<usize>)) {
        let Some((set, _)) = &self.nodes[node] else {
            return;
        };
        let mut near = Vec::new();
        for index in set {
            pick(&self.by_index[*index as usize], &mut near);
        }
        near.sort_unstable();
        near.dedup();
        for other in near {
            let Some(key) = self.weigh(node.min(other), node.max(other)) else {
                continue;
            };
            self.queue.push(Waiting {
                key,
                pair: (node.min(other), node.max(other)),
            });
        }
    }

    fn weigh(&mut self, first: usize, second: usize) -> Option<f64> {
        let (Some((a, a_size)), Some((b, b_size))) = (&self.nodes[first], &self.nodes[second])
        else {
            return None;
        };
        let (_, result) = self.sizes(a, b);
        let gain = result - self.style.alpha * (a_size + b_size);
        if self.style.temperature == 0.0 {
            return Some(gain);
        }
        let score = gain.signum() * (1.0 + gain.abs()).log2();
        Some(score - self.style.temperature * self.noise.gumbel())
    }

    /// The volume of a step, and of its result.
    fn sizes(&self, a: &Indices, b: &Indices) -> (f64, f64) {
        let (mut volume, mut result) = (1.0, 1.0);
        merge(a, b, |index, in_a, in_b| {
            let size = self.problem.sizes[index as usize];
            volume *= size;
            if self
                .holders
                .needed(index, u32::from(in_a) + u32::from(in_b))
            {
                result *= size;
            }
        });
        (f64::min(volume, f64::MAX), f64::min(result, f64::MAX))
    }

    fn contract_cheapest(&mut self) {
        while let Some(Waiting { pair: (a, b), .. }) = self.queue.pop() {
            if self.nodes[a].is_some() && self.nodes[b].is_some() {
                let node = self.contract(a, b);
                if !self.cost.is_finite() {
                    return;
                }
                self.push(node, |set, near| {
                    near.extend(set.range(..node).rev().take(NEAR))
                });
            }
        }
    }

    /// Contracts two live nodes and answers the number of the result.
    fn contract(&mut self, a: usize, b: usize) -> usize {
        let node = self.nodes.len();
        self.pairs.push(Pair::Two(a, b));
        self.left -= 1;
        let (Some((a_set, _)), Some((b_set, _))) = (self.nodes[a].take(), self.nodes[b].take())
        else {
            self.nodes.push(None);
            return node;
        };
        let (volume, size) = self.sizes(&a_set, &b_set);
        let mut set = Indices::new();
        merge(&a_set, &b_set, |index, in_a, in_b| {
            let holders = &mut self.by_index[index as usize];
            holders.remove(&a);
            holders.remove(&b);
            if self
                .holders
                .needed(index, u32::from(in_a) + u32::from(in_b))
            {
                holders.insert(node);
                set.push(index);
            }
        });
        self.holders.replace(&a_set, &b_set, &set);
        self.cost += volume + WRITE * size;
        if set.len() > MAX_RANK {
            self.cost = f64::INFINITY;
        }
        self.nodes.push(Some((set, size)));
        node
    }

    /// Multiplies what shares nothing, the two smallest first.
    fn outer_products(&mut self) {
        let mut queue: BinaryHeap<Waiting> = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(node, state)| state.as_ref().map(|(_, size)| (node, *size)))
            .map(|(node, size)| Waiting {
                key: size,
                pair: (node, 0),
            })
            .collect();
        while let (Some(first), Some(second)) = (queue.pop(), queue.pop()) {
            let node = self.contract(first.pair.0, second.pair.0);
            if !self.cost.is_finite() {
                return;
            }
            let size = self.nodes[node].as_ref().map_or(1.0, |(_, size)| *size);
            queue.push(Waiting {
                key: size,
                pair: (node, 0),
            });
        }
    }

    /// Takes the rest in any order: the path is refused for its rank before they are reached.
    fn give_up(&mut self) {
        let mut rest: Vec<usize> = (0..self.nodes.len())
            .filter(|node| self.nodes[*node].is_some())
            .collect();
        let mut made = self.problem.sets.len() + self.pairs.len();
        while let (Some(a), Some(b)) = (rest.pop(), rest.pop()) {
            self.pairs.push(Pair::Two(a, b));
            rest.push(made);
            made += 1;
        }
    }
}

/// A pair in the queue; the least key is the greatest, and of equal keys the earliest pair.
struct Waiting {
    key: f64,
    pair: (usize, usize),
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .key
            .total_cmp(&self.key)
            .then_with(|| other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in (0, 1).
    fn unit(&mut self) -> f64 {
        ((self.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A number of the standard Gumbel distribution.
    fn gumbel(&mut self) -> f64 {
        -(-self.unit().ln()).ln()
    }
}
