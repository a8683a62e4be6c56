//! In what order every intermediate keeps its indices, so that little is copied.
//!
//! A matrix product reads its operands in place when batch, row and column indices each form one run
//! (see [`Layout::is_matrix`]), and writes `[batch, m, n]`; the order within each group, and which
//! operand is the left one, are free. So the order of an intermediate is chosen with the steps that
//! read it in mind: for every node of the tree, from the leaves up, the few cheapest ways to compute
//! it are kept, one for each order that its result can have, and the root picks the chain of choices
//! that costs least. That is dynamic programming over the tree, exact but for the limit on how many
//! orders a node keeps ([`KEPT`]) and on which orders are tried at all.
//!
//! Which orders are tried: those that the operands already have, and the *wanted* order, which is
//! handed down from the root: the output's, and for the operands of a step batch first, then what
//! only they have, then what is summed, each in the order in which their result wants it.
//!
//! The cost counts elements: a copy reads and writes, a broadcast multiply pays for short inner
//! runs, and everything else is the same whatever the orders are.

use super::layout::Layout;
use super::network::{Index, Indices, Network};
use super::path::Pair;
use super::tree::{Step, Tree};

/// How many orders a node keeps at most.
const KEPT: usize = 8;
/// How many orders all nodes together keep, about: a large network keeps fewer for each.
const KEPT_IN_ALL: usize = 1 << 16;
/// What a copy costs beside its elements, in elements.
const COPY_OVERHEAD: f64 = 1024.0;
/// What a run of contiguous elements costs beside its elements in a broadcast multiply.
const RUN_OVERHEAD: f64 = 4.0;

/// How one step is laid out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arrangement {
    /// Whether the second operand of the pair is the left factor.
    pub(super) swapped: bool,
    /// The order to which each operand of the pair is copied first, if it is.
    pub(super) copies: [Option<Indices>; 2],
    /// The shared kept indices, outermost in the result.
    pub(super) batch: Indices,
    /// What only the first operand of the pair has.
    pub(super) left: Indices,
    /// What only the second has.
    pub(super) right: Indices,
    pub(super) summed: Indices,
    /// The order of the result.
    pub(super) result: Indices,
    cost: f64,
}

/// The arrangement of every step.
pub(super) fn arrange(network: &Network, tree: &Tree, leaves: &[Layout]) -> Vec<Arrangement> {
    let wanted = wanted(network, tree);
    let kept = (KEPT_IN_ALL / (tree.steps.len() + 1)).clamp(1, KEPT);
    let mut nodes: Vec<Vec<Candidate>> = leaves
        .iter()
        .map(|leaf| vec![Candidate::leaf(leaf)])
        .collect();
    for (at, step) in tree.steps.iter().enumerate() {
        let context = Context {
            step,
            sizes: &network.sizes,
            wanted: &wanted[tree.operands + at],
        };
        let mut found = Vec::new();
        match step.pair {
            Pair::One(a) => {
                for (first, left) in nodes[a].iter().enumerate() {
                    // Without a sum the result is a view, and lies as its operand does.
                    let layout = without(&left.layout, &step.left_private, context.sizes);
                    let arrangement = Some(context.one(&layout));
                    found.push(Candidate {
                        layout,
                        cost: left.cost,
                        from: [first, 0],
                        arrangement,
                    });
                }
            }
            Pair::Two(a, b) => {
                for (first, left) in nodes[a].iter().enumerate() {
                    for (second, right) in nodes[b].iter().enumerate() {
                        context.two(left, right, |arrangement| {
                            let below = left.cost + right.cost;
                            found.push(Candidate::new(
                                arrangement,
                                [first, second],
                                below,
                                context.sizes,
                            ));
                        });
                    }
                }
            }
        }
        nodes.push(cheapest(found, kept));
    }
    choose(network, tree, nodes)
}

/// One way to compute a node.
struct Candidate {
    layout: Layout,
    /// Of the whole subtree.
    cost: f64,
    /// Which candidates of the operands it is made of.
    from: [usize; 2],
    arrangement: Option<Arrangement>,
}

impl Candidate {
    fn leaf(layout: &Layout) -> Self {
        Self {
            layout: layout.clone(),
            cost: 0.0,
            from: [0, 0],
            arrangement: None,
        }
    }

    fn new(arrangement: Arrangement, from: [usize; 2], below: f64, sizes: &[usize]) -> Self {
        let layout = Layout::row_major(&arrangement.result, sizes);
        Self {
            layout,
            cost: below + arrangement.cost,
            from,
            arrangement: Some(arrangement),
        }
    }
}

/// Of each order the cheapest, and of those the `kept` cheapest.
fn cheapest(mut found: Vec<Candidate>, kept: usize) -> Vec<Candidate> {
    found.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut best: Vec<Candidate> = Vec::with_capacity(kept);
    for candidate in found {
        if best.len() == kept {
            break;
        }
        if best.iter().all(|other| other.layout != candidate.layout) {
            best.push(candidate);
        }
    }
    best
}

/// Picks the root's cheapest candidate and follows what it is made of.
fn choose(network: &Network, tree: &Tree, mut nodes: Vec<Vec<Candidate>>) -> Vec<Arrangement> {
    let volume = elements(&network.output, &network.sizes);
    let mut choice = vec![0; nodes.len()];
    if let Some(root) = nodes.last() {
        // A result in another order is handed out as a view, whose reader pays.
        let cost = |candidate: &Candidate| {
            let ordered = candidate.layout.order() == network.output;
            candidate.cost + if ordered { 0.0 } else { volume }
        };
        let best = (0..root.len()).min_by(|a, b| cost(&root[*a]).total_cmp(&cost(&root[*b])));
        choice[nodes.len() - 1] = best.unwrap_or_default();
    }
    let mut arrangements = Vec::with_capacity(tree.steps.len());
    for (at, step) in tree.steps.iter().enumerate().rev() {
        let node = tree.operands + at;
        let candidate = nodes[node].swap_remove(choice[node]);
        match step.pair {
            Pair::One(a) => choice[a] = candidate.from[0],
            Pair::Two(a, b) => (choice[a], choice[b]) = (candidate.from[0], candidate.from[1]),
        }
        arrangements.extend(candidate.arrangement);
    }
    arrangements.reverse();
    arrangements
}

/// The order in which each node had best lie for what becomes of it.
fn wanted(network: &Network, tree: &Tree) -> Vec<Indices> {
    let mut wanted = vec![Indices::new(); tree.indices.len()];
    if let Some(root) = wanted.last_mut() {
        root.clone_from(&network.output);
    }
    for (at, step) in tree.steps.iter().enumerate().rev() {
        let result = std::mem::take(&mut wanted[tree.operands + at]);
        let within = |sets: [&Indices; 3]| -> Indices {
            let [batch, own, summed] = sets;
            let kept = |set: &Indices| -> Indices {
                result
                    .iter()
                    .copied()
                    .filter(|index| set.contains(index))
                    .collect()
            };
            if step.summed.is_empty() {
                return result
                    .iter()
                    .copied()
                    .filter(|i| batch.contains(i) || own.contains(i))
                    .collect();
            }
            kept(batch)
                .into_iter()
                .chain(kept(own))
                .chain(summed.iter().copied())
                .collect()
        };
        match step.pair {
            Pair::One(a) => wanted[a] = result.clone(),
            Pair::Two(a, b) => {
                wanted[a] = within([&step.batch, &step.left, &step.summed]);
                wanted[b] = within([&step.batch, &step.right, &step.summed]);
            }
        }
        wanted[tree.operands + at] = result;
    }
    wanted
}

/// What the arrangements of one step depend on.
struct Context<'a> {
    step: &'a Step,
    sizes: &'a [usize],
    wanted: &'a Indices,
}

impl Context<'_> {
    fn one(&self, result: &Layout) -> Arrangement {
        let kept = result.order();
        Arrangement {
            swapped: false,
            copies: [None, None],
            batch: Indices::new(),
            left: kept.clone(),
            right: Indices::new(),
            summed: Indices::new(),
            result: kept,
            cost: 0.0,
        }
    }

    fn two(&self, left: &Candidate, right: &Candidate, mut emit: impl FnMut(Arrangement)) {
        let left = without(&left.layout, &self.step.left_private, self.sizes);
        let right = without(&right.layout, &self.step.right_private, self.sizes);
        if self.step.summed.is_empty() {
            self.multiply(&left, &right, &mut emit);
        } else {
            self.matmul(&left, &right, &mut emit);
        }
    }

    /// A broadcast multiply reads anything in place and writes any order.
    fn multiply(&self, left: &Layout, right: &Layout, emit: &mut impl FnMut(Arrangement)) {
        let step = self.step;
        let all = |layout: &Layout| layout.natural(&layout.order());
        let (lefts, rights) = (all(left), all(right));
        let (left_only, right_only) = (left.natural(&step.left), right.natural(&step.right));
        let join = |outer: &Indices, inner: &Indices| -> Indices {
            outer.iter().chain(inner).copied().collect()
        };
        let mut tried: Vec<Indices> = Vec::with_capacity(5);
        let orders = [
            self.wanted.clone(),
            join(&right_only, &lefts),
            join(&lefts, &right_only),
            join(&left_only, &rights),
            join(&rights, &left_only),
        ];
        for result in orders {
            if tried.contains(&result) {
                continue;
            }
            let cost = self.multiply_cost(left, right, &result);
            tried.push(result.clone());
            emit(Arrangement {
                swapped: false,
                copies: [None, None],
                batch: step.batch.clone(),
                left: step.left.clone(),
                right: step.right.clone(),
                summed: Indices::new(),
                result,
                cost,
            });
        }
    }

    /// Elements of the result, and more for short inner runs.
    fn multiply_cost(&self, left: &Layout, right: &Layout, result: &[Index]) -> f64 {
        let mut run = 1.0;
        for at in (0..result.len()).rev() {
            let inner = &result[at..];
            let fits = |layout: &Layout| {
                layout
                    .run(inner, self.sizes)
                    .is_some_and(|run| run.stride <= 1)
            };
            if !(fits(left) && fits(right)) {
                break;
            }
            run = elements(inner, self.sizes);
        }
        elements(result, self.sizes) * (1.0 + RUN_OVERHEAD / run)
    }

    fn matmul(&self, left: &Layout, right: &Layout, emit: &mut impl FnMut(Arrangement)) {
        let step = self.step;
        let want = |set: &Indices| -> Indices {
            self.wanted
                .iter()
                .copied()
                .filter(|index| set.contains(index))
                .collect()
        };
        let volume = |sets: [&Indices; 3]| {
            2.0 * sets
                .into_iter()
                .map(|set| elements(set, self.sizes))
                .product::<f64>()
                + COPY_OVERHEAD
        };
        let left_copy = volume([&step.batch, &step.left, &step.summed]);
        let right_copy = volume([&step.batch, &step.right, &step.summed]);
        // The shared groups are in the order of an operand that is read in place.
        let shared = |layout: &Layout| (layout.natural(&step.batch), layout.natural(&step.summed));
        let (m, n) = (left.natural(&step.left), right.natural(&step.right));
        let fits_left =
            |shared: &(Indices, Indices)| left.is_matrix(&shared.0, &m, &shared.1, self.sizes);
        let fits_right =
            |shared: &(Indices, Indices)| right.is_matrix(&shared.0, &shared.1, &n, self.sizes);
        let mut emit_both =
            |shared: &(Indices, Indices), m: &Indices, n: &Indices, copied: [bool; 2]| {
                let (batch, summed) = shared;
                let join = |sets: [&Indices; 3]| -> Indices {
                    sets.into_iter().flatten().copied().collect()
                };
                let cost = if copied[0] { left_copy } else { 0.0 }
                    + if copied[1] { right_copy } else { 0.0 };
                for swapped in [false, true] {
                    emit(Arrangement {
                        swapped,
                        copies: [
                            copied[0].then(|| join([batch, m, summed])),
                            copied[1].then(|| join([batch, summed, n])),
                        ],
                        batch: batch.clone(),
                        left: m.clone(),
                        right: n.clone(),
                        summed: summed.clone(),
                        result: if swapped {
                            join([batch, n, m])
                        } else {
                            join([batch, m, n])
                        },
                        cost,
                    });
                }
            };
        let (by_left, by_right) = (shared(left), shared(right));
        let (wanted_m, wanted_n) = (want(&step.left), want(&step.right));
        let left_fits = fits_left(&by_left);
        let right_fits = fits_right(&by_right);
        if left_fits && fits_right(&by_left) {
            emit_both(&by_left, &m, &n, [false, false]);
        }
        if left_fits {
            emit_both(&by_left, &m, &wanted_n, [false, true]);
        }
        if right_fits {
            emit_both(&by_right, &wanted_m, &n, [true, false]);
        }
        let free = (want(&step.batch), by_left.1.clone());
        emit_both(&free, &wanted_m, &wanted_n, [true, true]);
    }
}

/// What is left of an array once `private` is summed away.
pub(super) fn without(layout: &Layout, private: &[Index], sizes: &[usize]) -> Layout {
    if private.is_empty() {
        return layout.clone();
    }
    let kept: Indices = layout
        .order()
        .into_iter()
        .filter(|index| !private.contains(index))
        .collect();
    Layout::row_major(&kept, sizes)
}

/// The product of sizes, as a number to weigh by.
fn elements(indices: &[Index], sizes: &[usize]) -> f64 {
    indices
        .iter()
        .map(|index| sizes[*index as usize] as f64)
        .product()
}
