//! A direct reading of a call: one output element after the other, nothing merged or shared with
//! the code under test.

use super::{Tensor, elements};
use crate::call::{Call, Factor};
use gpu_seam::{DType, Operand, Scalar, UnaryOp, View};

/// What a call gives.
pub(super) struct Expected {
    pub(super) dims: Vec<usize>,
    pub(super) elements: Vec<i64>,
}

/// A view with its elements.
#[derive(Clone, Copy)]
struct Source<'a> {
    view: View<'a>,
    elements: &'a [i64],
}

impl Source<'_> {
    /// The element at `index`, broadcast from the right.
    fn at(&self, index: &[usize]) -> i64 {
        let lead = index.len() - self.view.dims.len();
        let mut position = self.view.offset.cast_signed();
        for (at, &own) in index[lead..].iter().enumerate() {
            if self.view.dims[at] != 1 {
                position += own.cast_signed() * self.view.strides[at];
            }
        }
        self.elements[usize::try_from(position).unwrap()]
    }
}

pub(super) fn call(call: &Call<'_>, inputs: &[&Tensor]) -> Expected {
    let source = |at: usize, view: View<'_>| {
        assert_eq!(inputs[at].view(), view);
        Source {
            view: inputs[at].view(),
            elements: &inputs[at].elements,
        }
    };
    match *call {
        Call::Fill { dims, value } => over(dims.to_vec(), |_| elements::scalar(value)),
        Call::Random {
            dims, seed, first, ..
        } => {
            let mut counter = first;
            over(dims.to_vec(), |_| {
                counter = counter.wrapping_add(1);
                elements::random(seed, counter.wrapping_sub(1))
            })
        }
        Call::Copy { input, dtype } => {
            let input = source(0, input);
            over(input.view.dims.to_vec(), |index| {
                elements::cast(input.at(index), dtype)
            })
        }
        Call::Unary { op, input } => {
            let input = source(0, input);
            let value = |index: &[usize]| elements::unary(op, input.at(index));
            let is_bool = op == UnaryOp::IsNan;
            over(input.view.dims.to_vec(), |index| {
                let value = value(index);
                if is_bool {
                    i64::from(value != 0)
                } else {
                    value
                }
            })
        }
        Call::Binary { op, lhs, rhs } => {
            pairs(inputs, lhs, rhs, &|lhs, rhs| elements::binary(op, lhs, rhs))
        }
        Call::Compare { op, lhs, rhs } => pairs(inputs, lhs, rhs, &|lhs, rhs| {
            elements::compare(op, lhs, rhs)
        }),
        Call::Select {
            condition,
            on_true,
            on_false,
        } => {
            let condition = source(0, condition);
            let operands = operands(&inputs[1..], &[on_true, on_false]);
            let mut shapes = vec![condition.view.dims.to_vec()];
            shapes.extend(operands.iter().map(Choice::dims));
            over(broadcast(&shapes), |index| {
                operands[usize::from(condition.at(index) == 0)].at(index)
            })
        }
        Call::Reduce {
            op,
            input,
            axes,
            dtype,
        } => lines(source(0, input), axes, &|line| {
            elements::cast(elements::reduce(op, line), dtype)
        }),
        Call::ArgReduce { op, input, axes } => lines(source(0, input), axes, &|line| {
            elements::arg_reduce(op, line)
        }),
        Call::Scan {
            op, input, axis, ..
        } => {
            let input = source(0, input);
            over(input.view.dims.to_vec(), |index| {
                let mut at = index.to_vec();
                let line = (0..=index[axis]).map(|along| {
                    at[axis] = along;
                    input.at(&at)
                });
                line.reduce(|so_far, next| elements::scan(op, so_far, next))
                    .unwrap()
            })
        }
        Call::Gather { input, index, axis } => {
            let (input, lookup) = (source(0, input), source(1, index));
            over(lookup.view.dims.to_vec(), |index| {
                input.at(&replaced(index, axis, lookup.at(index)))
            })
        }
        Call::IndexSelect { input, index, axis } => {
            let (input, lookup) = (source(0, input), source(1, index));
            let mut dims = input.view.dims.to_vec();
            dims[axis] = index.dims[0];
            over(dims, |index| {
                input.at(&replaced(index, axis, lookup.at(&[index[axis]])))
            })
        }
        Call::Scatter {
            mode,
            base,
            index,
            src,
            axis,
        } => {
            let (base, lookup, src) = (source(0, base), source(1, index), source(2, src));
            let mut out = over(base.view.dims.to_vec(), |index| base.at(index));
            let target = Tensor::new(base.view.dtype, &out.dims, Vec::new());
            each(lookup.view.dims, |index| {
                let to = replaced(index, axis, lookup.at(index));
                let place = to.iter().zip(&target.strides);
                let place: isize = place.map(|(&at, &step)| at.cast_signed() * step).sum();
                let held = &mut out.elements[place.cast_unsigned()];
                *held = elements::scatter(mode, *held, src.at(index));
            });
            out
        }
        Call::Matmul {
            lhs,
            rhs,
            alpha,
            bias,
        } => {
            let bias = bias.map(|(view, beta)| (source(2, view), beta));
            let factors = (source(0, lhs.view), source(1, rhs.view));
            product((lhs, factors.0), (rhs, factors.1), alpha, bias)
        }
        Call::Concat {
            inputs: views,
            axis,
        } => {
            let mut dims = views[0].dims.to_vec();
            dims[axis] = views.iter().map(|view| view.dims[axis]).sum();
            let parts: Vec<Source<'_>> = (0..views.len()).map(|at| source(at, views[at])).collect();
            over(dims, |index| {
                let mut index = index.to_vec();
                let mut part = 0;
                while index[axis] >= parts[part].view.dims[axis] {
                    index[axis] -= parts[part].view.dims[axis];
                    part += 1;
                }
                parts[part].at(&index)
            })
        }
    }
}

fn product(
    (lhs, left): (Factor<'_>, Source<'_>),
    (rhs, right): (Factor<'_>, Source<'_>),
    alpha: Scalar,
    bias: Option<(Source<'_>, Scalar)>,
) -> Expected {
    let split = |view: View<'_>| {
        let (batch, matrix) = view.dims.split_at(view.dims.len() - 2);
        (batch.to_vec(), matrix[0], matrix[1])
    };
    let ((left_batch, m, k), (right_batch, _, n)) = (split(left.view), split(right.view));
    let mut dims = broadcast(&[left_batch, right_batch]);
    dims.extend([m, n]);
    let dtype: DType = left.view.dtype;
    over(dims, |index| {
        let (batch, matrix) = index.split_at(index.len() - 2);
        let mut sum = 0i64;
        for inner in 0..k {
            let at = |row: usize, col: usize| [batch, &[row, col]].concat();
            let one = left.at(&at(matrix[0], inner));
            let other = right.at(&at(inner, matrix[1]));
            let one = elements::conjugate(one, dtype, lhs.conjugated);
            let other = elements::conjugate(other, dtype, rhs.conjugated);
            sum = sum.wrapping_add(one.wrapping_mul(other));
        }
        let product = elements::scalar(alpha).wrapping_mul(sum);
        match &bias {
            Some((bias, beta)) => {
                product.wrapping_add(elements::scalar(*beta).wrapping_mul(bias.at(index)))
            }
            None => product,
        }
    })
}

/// An operand with its elements.
enum Choice<'a> {
    View(Source<'a>),
    Scalar(i64),
}

impl Choice<'_> {
    fn at(&self, index: &[usize]) -> i64 {
        match self {
            Self::View(source) => source.at(index),
            Self::Scalar(value) => *value,
        }
    }

    fn dims(&self) -> Vec<usize> {
        match self {
            Self::View(source) => source.view.dims.to_vec(),
            Self::Scalar(_) => Vec::new(),
        }
    }
}

fn operands<'a>(inputs: &[&'a Tensor], operands: &[Operand<'_>]) -> Vec<Choice<'a>> {
    let mut inputs = inputs.iter();
    let choice = |operand: &Operand<'_>| match operand {
        Operand::View(_) => {
            let input = inputs.next().unwrap();
            Choice::View(Source {
                view: input.view(),
                elements: &input.elements,
            })
        }
        Operand::Scalar(value) => Choice::Scalar(elements::scalar(*value)),
    };
    operands.iter().map(choice).collect()
}

fn pairs(
    inputs: &[&Tensor],
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    value: &dyn Fn(i64, i64) -> i64,
) -> Expected {
    let both = operands(inputs, &[lhs, rhs]);
    let shapes: Vec<Vec<usize>> = both.iter().map(Choice::dims).collect();
    over(broadcast(&shapes), |index| {
        value(both[0].at(index), both[1].at(index))
    })
}

/// One value for each line along `axes`.
fn lines(input: Source<'_>, axes: &[usize], value: &dyn Fn(&[i64]) -> i64) -> Expected {
    let split = |reduced: bool| -> Vec<usize> {
        (0..input.view.dims.len())
            .filter(|at| axes.contains(at) == reduced)
            .collect()
    };
    let (kept, reduced) = (split(false), split(true));
    let dims_of = |axes: &[usize]| axes.iter().map(|&at| input.view.dims[at]).collect();
    let line_dims: Vec<usize> = dims_of(&reduced);
    over(dims_of(&kept), |index| {
        let mut line = Vec::new();
        each(&line_dims, |along| {
            let mut at = vec![0; input.view.dims.len()];
            for (&axis, &own) in kept.iter().zip(index).chain(reduced.iter().zip(along)) {
                at[axis] = own;
            }
            line.push(input.at(&at));
        });
        value(&line)
    })
}

fn replaced(index: &[usize], axis: usize, with: i64) -> Vec<usize> {
    let mut index = index.to_vec();
    index[axis] = usize::try_from(with).unwrap();
    index
}

pub(super) fn broadcast(shapes: &[Vec<usize>]) -> Vec<usize> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let dim = |at: usize| {
        let lens = shapes
            .iter()
            .filter(|dims| at + dims.len() >= rank)
            .map(|dims| dims[at + dims.len() - rank]);
        lens.fold(1, |len, own| if len == 1 { own } else { len })
    };
    (0..rank).map(dim).collect()
}

fn over(dims: Vec<usize>, mut value: impl FnMut(&[usize]) -> i64) -> Expected {
    let mut elements = Vec::new();
    each(&dims, |index| elements.push(value(index)));
    Expected { dims, elements }
}

/// Calls `visit` with every index of `dims`, in row-major order.
pub(super) fn each(dims: &[usize], mut visit: impl FnMut(&[usize])) {
    if dims.contains(&0) {
        return;
    }
    let mut index = vec![0; dims.len()];
    loop {
        visit(&index);
        let Some(at) = (0..dims.len()).rfind(|&at| index[at] + 1 < dims[at]) else {
            return;
        };
        index[at] += 1;
        index[at + 1..].fill(0);
    }
}
