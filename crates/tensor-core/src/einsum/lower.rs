//! From a tree and its arrangement to a program.
//!
//! Promises one matrix product or one multiply for every pair, sums before it only for what one
//! operand alone has, and copies only where the arrangement says so or where a diagonal cannot be
//! summed in place.

use super::layout::{Axis, Layout};
use super::network::{Index, Indices, Network, Operand, Sizes};
use super::order::Arrangement;
use super::path::Pair;
use super::program::{Axes, Diagonals, Input, Instruction, Kind, Program, Slot};
use super::tree::{Step, Tree};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// The layout of every operand once its diagonals are taken: outermost axis first.
pub(super) fn leaves(network: &Network) -> Vec<Layout> {
    network
        .operands
        .iter()
        .map(|operand| Leaf::of(operand).layout)
        .collect()
}

/// The program of a network without products: zeros.
pub(super) fn zeros(network: &Network) -> Program {
    let operands = network.operands.len();
    let instruction = Instruction {
        kind: Kind::Zeros,
        inputs: SmallVec::new(),
        output: operands,
        dims: network.output_shape.clone(),
    };
    Program {
        instructions: vec![instruction],
        operands,
        result: operands,
    }
}

/// The program, and the instructions of each step.
pub(super) fn lower(
    network: &Network,
    tree: &Tree,
    arrangements: &[Arrangement],
) -> (Program, Vec<Range<usize>>) {
    let program = Program {
        instructions: Vec::new(),
        operands: tree.operands,
        result: 0,
    };
    let mut lowering = Lowering { network, program };
    let mut nodes: Vec<Option<Array>> = Vec::with_capacity(tree.indices.len());
    nodes.resize_with(tree.operands, || None);
    let mut ranges = Vec::with_capacity(tree.steps.len());
    for (step, arrangement) in tree.steps.iter().zip(arrangements) {
        let start = lowering.program.instructions.len();
        let result = match step.pair {
            Pair::One(a) => {
                let array = lowering.take(&mut nodes, a);
                lowering.sum(array, &step.left_private)
            }
            Pair::Two(a, b) => {
                let left = lowering.take(&mut nodes, a);
                let right = lowering.take(&mut nodes, b);
                let left = lowering.sum(left, &step.left_private);
                let right = lowering.sum(right, &step.right_private);
                lowering.pair(step, arrangement, left, right)
            }
        };
        nodes.push(Some(result));
        ranges.push(start..lowering.program.instructions.len());
    }
    if let Some(result) = nodes.pop().flatten() {
        lowering.finish(result);
    }
    if let Some(last) = ranges.last_mut() {
        last.end = lowering.program.instructions.len();
    }
    (lowering.program, ranges)
}

/// An array of the program so far.
struct Array {
    slot: Slot,
    layout: Layout,
}

struct Lowering<'a> {
    network: &'a Network,
    program: Program,
}

impl Lowering<'_> {
    /// The array of a node: an operand is looked at for the first time now.
    fn take(&mut self, nodes: &mut [Option<Array>], node: usize) -> Array {
        if let Some(array) = nodes[node].take() {
            return array;
        }
        let leaf = Leaf::of(&self.network.operands[node]);
        let slot = match leaf.view {
            None => node,
            Some((diagonals, axes)) => {
                let dims = self.dims(&leaf.layout.order());
                let input = Input {
                    slot: node,
                    axes,
                    dims: dims.clone(),
                };
                self.push(Kind::View(diagonals), smallvec![input], dims)
            }
        };
        Array {
            slot,
            layout: leaf.layout,
        }
    }

    /// Sums `private` away: run by run, the longest first, so that each sum reads its input in place
    /// as outer, summed and inner.
    fn sum(&mut self, mut array: Array, private: &[Index]) -> Array {
        loop {
            let order = array.layout.order();
            let sizes = &self.network.sizes;
            let runs = runs(&array.layout, private, sizes);
            if runs.is_empty() {
                return array;
            }
            let in_place = |run: &Range<usize>| -> Option<Sizes> {
                [&order[..run.start], &order[run.clone()], &order[run.end..]]
                    .into_iter()
                    .map(|group| array.layout.run(group, sizes).map(|run| run.size))
                    .collect()
            };
            let longest = runs
                .into_iter()
                .filter_map(|run| in_place(&run).map(|dims| (run, dims)))
                .max_by_key(|(run, dims)| (dims[1], std::cmp::Reverse(run.start)));
            let Some((run, dims)) = longest else {
                array = self.copy(array, &order);
                continue;
            };
            let input = Input {
                slot: array.slot,
                axes: (0..order.len()).collect(),
                dims,
            };
            let kept: Indices = order[..run.start]
                .iter()
                .chain(&order[run.end..])
                .copied()
                .collect();
            array = self.fresh(Kind::Sum, smallvec![input], &kept);
        }
    }

    fn pair(&mut self, step: &Step, to: &Arrangement, left: Array, right: Array) -> Array {
        let [left_copy, right_copy] = &to.copies;
        let left = self.copied(left, left_copy.as_ref());
        let right = self.copied(right, right_copy.as_ref());
        if step.summed.is_empty() {
            let inputs = [&left, &right].map(|array| self.spread(array, &to.result));
            return self.fresh(Kind::Multiply, SmallVec::from(inputs), &to.result);
        }
        let inputs = if to.swapped {
            [
                self.matrix(&right, &to.batch, &to.right, &to.summed),
                self.matrix(&left, &to.batch, &to.summed, &to.left),
            ]
        } else {
            [
                self.matrix(&left, &to.batch, &to.left, &to.summed),
                self.matrix(&right, &to.batch, &to.summed, &to.right),
            ]
        };
        self.fresh(Kind::Matmul, SmallVec::from(inputs), &to.result)
    }

    fn copied(&mut self, array: Array, order: Option<&Indices>) -> Array {
        match order {
            Some(order) => self.copy(array, order),
            None => array,
        }
    }

    fn copy(&mut self, array: Array, order: &Indices) -> Array {
        let input = Input {
            slot: array.slot,
            axes: axes(&array.layout, order),
            dims: self.dims(order),
        };
        self.fresh(Kind::Copy, smallvec![input], order)
    }

    /// `array` along the axes of `result`, with size 1 where it has none.
    fn spread(&self, array: &Array, result: &[Index]) -> Input {
        let own: Indices = result
            .iter()
            .copied()
            .filter(|index| array.layout.position(*index).is_some())
            .collect();
        let size = |index: &Index| match own.contains(index) {
            true => self.network.sizes[*index as usize],
            false => 1,
        };
        let dims = result.iter().map(size).collect();
        Input {
            slot: array.slot,
            axes: axes(&array.layout, &own),
            dims,
        }
    }

    /// `array` as matrices; no batch dimension where there is no batch.
    fn matrix(&self, array: &Array, batch: &[Index], rows: &[Index], columns: &[Index]) -> Input {
        let order: Indices = [batch, rows, columns]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let size = |group: &[Index]| -> usize { self.dims(group).iter().product() };
        let mut dims = Sizes::new();
        if !batch.is_empty() {
            dims.push(size(batch));
        }
        dims.extend([size(rows), size(columns)]);
        Input {
            slot: array.slot,
            axes: axes(&array.layout, &order),
            dims,
        }
    }

    /// Hands the result out in the order and shape of the output.
    fn finish(&mut self, result: Array) {
        let network = self.network;
        let own = self.dims(&result.layout.order());
        let axes = axes(&result.layout, &network.output);
        self.program.result = if own == network.output_shape && in_order(&axes) {
            result.slot
        } else {
            let dims = network.output_shape.clone();
            let input = Input {
                slot: result.slot,
                axes,
                dims: dims.clone(),
            };
            self.push(Kind::View(Diagonals::new()), smallvec![input], dims)
        };
    }

    fn dims(&self, order: &[Index]) -> Sizes {
        order
            .iter()
            .map(|index| self.network.sizes[*index as usize])
            .collect()
    }

    fn fresh(&mut self, kind: Kind, inputs: SmallVec<[Input; 2]>, order: &[Index]) -> Array {
        let dims = self.dims(order);
        let slot = self.push(kind, inputs, dims);
        Array {
            slot,
            layout: Layout::row_major(order, &self.network.sizes),
        }
    }

    fn push(&mut self, kind: Kind, inputs: SmallVec<[Input; 2]>, dims: Sizes) -> Slot {
        let output = self.program.operands + self.program.instructions.len();
        self.program.instructions.push(Instruction {
            kind,
            inputs,
            output,
            dims,
        });
        output
    }
}

/// An operand with its diagonals taken.
struct Leaf {
    layout: Layout,
    /// The diagonals and the permutation that give it, unless it is the operand as it is.
    view: Option<(Diagonals, Axes)>,
}

impl Leaf {
    fn of(operand: &Operand) -> Self {
        let mut axes: SmallVec<[(Option<Index>, usize); 8]> = SmallVec::new();
        let mut stride = 1;
        for (index, size) in operand.axes.iter().zip(&operand.shape).rev() {
            axes.push((*index, stride));
            stride *= size;
        }
        axes.reverse();
        let mut diagonals = Diagonals::new();
        while let Some((first, second)) = repeated(&axes) {
            let (_, along) = axes.remove(second);
            let (index, across) = axes.remove(first);
            axes.push((index, across + along));
            diagonals.push((first, second));
        }
        // Outermost in memory first; dimensions that stand for nothing last.
        let mut order: Axes = (0..axes.len()).collect();
        order.sort_by_key(|at| {
            let (index, stride) = axes[*at];
            (index.is_none(), std::cmp::Reverse(stride))
        });
        let layout = Layout {
            axes: order
                .iter()
                .filter_map(|at| {
                    axes[*at].0.map(|index| Axis {
                        index,
                        stride: axes[*at].1,
                    })
                })
                .collect(),
        };
        let as_it_is = diagonals.is_empty() && layout.axes.len() == operand.axes.len();
        Self {
            layout,
            view: (!as_it_is).then_some((diagonals, order)),
        }
    }
}

/// The first two axes of one index.
fn repeated(axes: &[(Option<Index>, usize)]) -> Option<(usize, usize)> {
    axes.iter().enumerate().find_map(|(second, (index, _))| {
        let index = (*index)?;
        let first = axes[..second]
            .iter()
            .position(|(other, _)| *other == Some(index))?;
        Some((first, second))
    })
}

/// Where in `layout` the axes of `order` are.
fn axes(layout: &Layout, order: &[Index]) -> Axes {
    order
        .iter()
        .filter_map(|index| layout.position(*index))
        .collect()
}

fn in_order(axes: &[usize]) -> bool {
    axes.iter().enumerate().all(|(at, axis)| at == *axis)
}

/// The maximal runs of axes that are all in `set` and that one stride walks through.
fn runs(layout: &Layout, set: &[Index], sizes: &[usize]) -> SmallVec<[Range<usize>; 4]> {
    let order = layout.order();
    let mut runs: SmallVec<[Range<usize>; 4]> = SmallVec::new();
    for (at, index) in order.iter().enumerate() {
        match runs.last_mut() {
            _ if !set.contains(index) => {}
            Some(run) if run.end == at && layout.run(&order[at - 1..=at], sizes).is_some() => {
                run.end += 1;
            }
            _ => runs.push(at..at + 1),
        }
    }
    runs
}
