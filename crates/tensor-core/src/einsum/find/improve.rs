//! Making a tree cheaper piece by piece.
//!
//! A piece is a node and the few subtrees that hang below it once its largest descendants are opened;
//! the cheapest tree over those is known exactly, and takes the old one's place when it is cheaper.
//! Every node is the top of a piece once a round, from the leaves up; rounds end when one changes
//! nothing.

use super::super::network::Indices;
use super::super::path::Pair;
use super::super::tree::merge;
use super::optimal::Parts;
use super::{EXACT, PIECES, Problem};

/// A path that is at most as costly as `pairs`.
pub(super) fn improve(problem: &Problem, pairs: Vec<Pair>) -> Vec<Pair> {
    let mut tree = Tree::new(problem, pairs);
    let mut pieces = PIECES;
    loop {
        let mut changed = false;
        for top in tree.bottom_up() {
            if pieces == 0 {
                return tree.pairs();
            }
            pieces -= 1;
            changed |= tree.improve(top);
        }
        if !changed {
            return tree.pairs();
        }
    }
}

struct Tree<'a> {
    problem: &'a Problem,
    operands: usize,
    /// What the nodes after the operands are made of.
    below: Vec<(usize, usize)>,
    sets: Vec<Indices>,
    sizes: Vec<f64>,
    root: usize,
}

impl<'a> Tree<'a> {
    fn new(problem: &'a Problem, pairs: Vec<Pair>) -> Self {
        let operands = problem.sets.len();
        let mut holders = problem.holders.clone();
        let mut sets = problem.sets.clone();
        let mut below = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let Pair::Two(a, b) = pair else { continue };
            let mut set = Indices::new();
            merge(&sets[a], &sets[b], |index, in_a, in_b| {
                if holders.needed(index, u32::from(in_a) + u32::from(in_b)) {
                    set.push(index);
                }
            });
            holders.replace(&sets[a], &sets[b], &set);
            sets.push(set);
            below.push((a, b));
        }
        let sizes = sets.iter().map(|set| problem.volume(set)).collect();
        Self {
            problem,
            operands,
            root: sets.len() - 1,
            below,
            sets,
            sizes,
        }
    }

    /// The inner nodes, each after those below it, the more expensive side first.
    fn bottom_up(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.below.len());
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            if let Some((a, b)) = self.children(node) {
                order.push(node);
                let (small, large) = if self.sizes[a] <= self.sizes[b] {
                    (a, b)
                } else {
                    (b, a)
                };
                open.push(large);
                open.push(small);
            }
        }
        order.reverse();
        order
    }

    fn children(&self, node: usize) -> Option<(usize, usize)> {
        node.checked_sub(self.operands)
            .map(|inner| self.below[inner])
    }

    /// Replaces the piece below `top` if a cheaper one exists.
    fn improve(&mut self, top: usize) -> bool {
        // The piece: its leaves, and its inner nodes from the top down.
        let mut inner = vec![top];
        let mut leaves: Vec<usize> = Vec::with_capacity(EXACT);
        if let Some((a, b)) = self.children(top) {
            leaves.extend([a, b]);
        }
        while leaves.len() < EXACT {
            let open = (0..leaves.len())
                .filter(|at| leaves[*at] >= self.operands)
                .max_by(|a, b| self.sizes[leaves[*a]].total_cmp(&self.sizes[leaves[*b]]));
            let Some(open) = open else { break };
            let node = leaves.swap_remove(open);
            if let Some((a, b)) = self.children(node) {
                leaves.extend([a, b]);
            }
            inner.push(node);
        }
        if leaves.len() < 3 {
            return false;
        }
        let sets: Vec<Indices> = leaves.iter().map(|leaf| self.sets[*leaf].clone()).collect();
        let kept = &self.sets[top];
        let Some(parts) = Parts::of(self.problem, &sets, |i| kept.binary_search(&i).is_ok()) else {
            return false;
        };
        let number = |node: usize| leaves.iter().position(|leaf| *leaf == node);
        // The piece as it is, in the numbers of the parts: inner nodes from the bottom up.
        inner.reverse();
        let local = |node: usize| {
            number(node).or_else(|| {
                inner
                    .iter()
                    .position(|n| *n == node)
                    .map(|at| at + leaves.len())
            })
        };
        let now: Option<Vec<(usize, usize)>> = inner
            .iter()
            .map(|node| {
                self.children(*node)
                    .and_then(|(a, b)| Some((local(a)?, local(b)?)))
            })
            .collect();
        let Some(now) = now else { return false };
        let cheapest = parts.cheapest();
        // Rounding must not make two equal trees take turns.
        if cheapest.cost >= parts.cost(&now) * (1.0 - 1e-9) {
            return false;
        }
        let node = |local: usize| match local.checked_sub(leaves.len()) {
            None => leaves[local],
            Some(at) => inner[at],
        };
        for (at, (a, b)) in cheapest.pairs.iter().enumerate() {
            let (top, a, b) = (inner[at], node(*a), node(*b));
            self.below[top - self.operands] = (a, b);
        }
        self.refresh(&inner, &parts, &sets, &cheapest.pairs);
        true
    }

    /// Writes the sets of a piece that was replaced.
    fn refresh(
        &mut self,
        inner: &[usize],
        parts: &Parts,
        sets: &[Indices],
        pairs: &[(usize, usize)],
    ) {
        for (node, subset) in inner.iter().zip(parts.subsets(pairs)) {
            let mut set: Indices = sets
                .iter()
                .flatten()
                .copied()
                .filter(|index| parts.keeps(subset, *index))
                .collect();
            set.sort_unstable();
            set.dedup();
            self.sizes[*node] = self.problem.volume(&set);
            self.sets[*node] = set;
        }
    }

    /// The tree as pairs in an order that keeps few intermediates alive.
    fn pairs(&self) -> Vec<Pair> {
        let mut numbers: Vec<usize> = (0..self.sets.len()).collect();
        let mut pairs = Vec::with_capacity(self.below.len());
        for node in self.bottom_up() {
            if let Some((a, b)) = self.children(node) {
                pairs.push(Pair::Two(numbers[a], numbers[b]));
                numbers[node] = self.operands + pairs.len() - 1;
            }
        }
        pairs
    }
}
