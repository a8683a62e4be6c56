//! Random views, families, dtypes and limits, from fixed seeds, against plain evaluation.

use super::{Tensor, checked, limited};
use crate::call::{Call, Factor};
use gpu_seam::{
    ArgOp, BinaryOp, Capabilities, CompareOp, DType, Distribution, Operand, ReduceOp, Scalar,
    ScanOp, ScatterMode, UnaryOp,
};
use rstest::rstest;

/// SplitMix64 (Steele, Lea and Flood, 2014): enough for choosing cases.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap()
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }

    /// Dims of at most `elements` elements, seldom none.
    fn dims(&mut self, rank: usize, elements: usize) -> Vec<usize> {
        let mut left = elements;
        let most = self.one_of(&[3, 7, elements]);
        let mut dims = vec![1; rank];
        for at in self.shuffled(rank) {
            dims[at] = 1 + self.below(left.min(most));
            left /= dims[at];
        }
        if rank > 0 && self.once_in(40) {
            let at = self.below(rank);
            dims[at] = 0;
        }
        dims
    }

    /// A view of `dims`: in some order of storage, with gaps, reversed or repeated dimensions.
    fn tensor(&mut self, dtype: DType, dims: &[usize]) -> Tensor {
        let wild = self.below(4);
        let order = match wild {
            0 => (0..dims.len()).collect(),
            _ => self.shuffled(dims.len()),
        };
        let mut strides = vec![0; dims.len()];
        let (mut reach, mut start) = (1usize, self.below(4));
        for &at in order.iter().rev() {
            let len = dims[at];
            if wild == 3 && self.once_in(4) {
                continue;
            }
            let step = match wild {
                2 | 3 => self.one_of(&[1, 1, 1, -1, 2, -2]),
                _ => 1,
            };
            strides[at] = reach.cast_signed() * step;
            let stride = strides[at].unsigned_abs();
            if step < 0 && len > 0 {
                start += (len - 1) * stride;
            }
            reach = stride * len.max(1);
            if wild == 3 && self.once_in(4) {
                reach += self.below(3);
            }
            if len == 1 && self.once_in(2) {
                strides[at] = self.one_of(&[-7, 0, 1, 1000]);
                reach = stride;
            }
        }
        let probe = Tensor {
            dtype,
            offset: start,
            dims: dims.to_vec(),
            strides,
            elements: Vec::new(),
        };
        let (_, end) = probe.view().extent().unwrap();
        let held = end.max(start) + self.below(3);
        let elements = (0..held).map(|_| match dtype {
            DType::Bool => i64::from(!self.once_in(3)),
            _ => self.below(19).cast_signed() as i64 - 9,
        });
        let elements = elements.collect();
        Tensor { elements, ..probe }
    }

    /// `dims` as an operand that broadcasts to them may have them.
    fn broadcastable(&mut self, dims: &[usize]) -> Vec<usize> {
        let first = if self.once_in(3) {
            self.below(dims.len() + 1)
        } else {
            0
        };
        let one = self.once_in(2);
        dims[first..]
            .iter()
            .map(|&len| if one && self.once_in(3) { 1 } else { len })
            .collect()
    }

    fn capabilities(&mut self) -> Capabilities {
        let alignment = self.one_of(&[1, 16, 256]);
        let bytes = match self.below(3) {
            0 => usize::MAX,
            1 => 2048,
            _ => self.one_of(&[512, 700]),
        };
        limited(self.one_of(&[3, 4, 8, 64]), bytes, alignment)
    }

    fn rank(&mut self) -> usize {
        match self.below(3) {
            0 => self.below(11),
            _ => self.below(5),
        }
    }
}

const REAL: [DType; 6] = [
    DType::U8,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::F32,
    DType::F64,
];
const INDEX: [DType; 4] = [DType::I64, DType::I32, DType::U32, DType::U8];

fn numbers(dice: &mut Dice) -> DType {
    dice.one_of(&[
        DType::Complex128,
        DType::I8,
        DType::I64,
        DType::BF16,
        DType::F32,
        DType::F64,
    ])
}

fn elementwise(dice: &mut Dice) {
    let rank = dice.rank();
    let dims = dice.dims(rank, 600);
    let dtype = numbers(dice);
    let operand = |dice: &mut Dice| {
        let dims = dice.broadcastable(&dims);
        dice.tensor(dtype, &dims)
    };
    let capabilities = dice.capabilities();
    let (lhs, rhs) = (operand(dice), operand(dice));
    let scalar = Operand::Scalar(Scalar::from_bits(dtype, 3));
    let condition = dice.broadcastable(&dims);
    let condition = dice.tensor(DType::Bool, &condition);
    let (left, right) = (Operand::View(lhs.view()), Operand::View(rhs.view()));
    let op = BinaryOp::Sub;
    let (call, inputs): (Call<'_>, &[&Tensor]) = match dice.below(9) {
        0 => (
            Call::Binary {
                op,
                lhs: left,
                rhs: scalar,
            },
            &[&lhs],
        ),
        1 => (
            Call::Binary {
                op,
                lhs: scalar,
                rhs: right,
            },
            &[&rhs],
        ),
        2 => (
            Call::Compare {
                op: CompareOp::Ne,
                lhs: left,
                rhs: right,
            },
            &[&lhs, &rhs],
        ),
        3 => (
            Call::Select {
                condition: condition.view(),
                on_true: left,
                on_false: right,
            },
            &[&condition, &lhs, &rhs],
        ),
        4 => (
            Call::Select {
                condition: condition.view(),
                on_true: scalar,
                on_false: right,
            },
            &[&condition, &rhs],
        ),
        5 => (
            Call::Unary {
                op: UnaryOp::Neg,
                input: lhs.view(),
            },
            &[&lhs],
        ),
        6 => (
            Call::Copy {
                input: lhs.view(),
                dtype: dice.one_of(&DType::ALL),
            },
            &[&lhs],
        ),
        _ => (
            Call::Binary {
                op,
                lhs: left,
                rhs: right,
            },
            &[&lhs, &rhs],
        ),
    };
    checked(&call, inputs, &capabilities);
}

fn sources(dice: &mut Dice) {
    let rank = dice.rank();
    let dims = dice.dims(rank, 600);
    let capabilities = dice.capabilities();
    let call = if dice.once_in(2) {
        Call::Fill {
            dims: &dims,
            value: Scalar::from_bits(DType::F64, 5),
        }
    } else {
        Call::Random {
            distribution: Distribution::Uniform,
            dims: &dims,
            dtype: DType::F32,
            seed: dice.roll(),
            first: dice.one_of(&[0, 17, u64::MAX - 3]),
        }
    };
    checked(&call, &[], &capabilities);
}

fn reduce(dice: &mut Dice) {
    let rank = dice.rank();
    let dims = dice.dims(rank, 900);
    let dtype = dice.one_of(&REAL);
    let input = dice.tensor(dtype, &dims);
    let order = dice.shuffled(rank);
    let axes = &order[..dice.below(rank + 1)];
    let nothing = axes.iter().any(|&axis| dims[axis] == 0);
    let op = match nothing {
        true => dice.one_of(&[ReduceOp::Sum, ReduceOp::Any]),
        false => dice.one_of(&ReduceOp::ALL),
    };
    let sum = match dtype {
        DType::F16 => dice.one_of(&[DType::F16, DType::F32]),
        DType::F32 | DType::F64 => dtype,
        _ => dice.one_of(&[DType::I64, DType::F64]),
    };
    let dtype = match op {
        ReduceOp::Sum | ReduceOp::Prod => sum,
        ReduceOp::Min | ReduceOp::Max => dtype,
        _ => DType::Bool,
    };
    let call = Call::Reduce {
        op,
        input: input.view(),
        axes,
        dtype,
    };
    checked(&call, &[&input], &dice.capabilities());
}

/// Positions and running reductions: lines that are not cut, so that the limit is a line's reach.
fn lines(dice: &mut Dice) {
    let rank = 1 + dice.rank();
    let mut dims = dice.dims(rank, 400);
    for len in &mut dims {
        *len = (*len).max(1);
    }
    let dtype = dice.one_of(&REAL);
    let input = dice.tensor(dtype, &dims);
    let capabilities = limited(dice.one_of(&[3, 4, 8]), usize::MAX, 16);
    let order = dice.shuffled(rank);
    let count = 1 + dice.below(rank);
    let call = if dice.once_in(2) {
        Call::ArgReduce {
            op: dice.one_of(&ArgOp::ALL),
            input: input.view(),
            axes: &order[..count],
        }
    } else {
        Call::Scan {
            op: dice.one_of(&[ScanOp::Min, ScanOp::Max]),
            input: input.view(),
            axis: order[0],
            dtype,
        }
    };
    checked(&call, &[&input], &capabilities);
}

/// An index into a dimension of `size`; each line along `axis` holds an index once only if `apart`.
fn index(dice: &mut Dice, dims: &[usize], axis: usize, size: usize, apart: bool) -> Tensor {
    let dtype = dice.one_of(&INDEX);
    let mut index = if apart {
        Tensor::range(dtype, dims)
    } else {
        dice.tensor(dtype, dims)
    };
    for element in &mut index.elements {
        *element = dice.below(size).cast_signed() as i64;
    }
    if apart {
        let inner: usize = dims[axis + 1..].iter().product();
        let outer: usize = dims[..axis].iter().product();
        for line in 0..outer * inner {
            let targets = dice.shuffled(size);
            for (along, &target) in targets[..dims[axis]].iter().enumerate() {
                let place = (line / inner * dims[axis] + along) * inner + line % inner;
                index.elements[place] = target.cast_signed() as i64;
            }
        }
    }
    index
}

fn indexing(dice: &mut Dice) {
    let rank = 1 + dice.rank().min(7);
    let mut dims = dice.dims(rank, 300);
    let axis = dice.below(rank);
    for len in &mut dims {
        *len = (*len).max(1);
    }
    let narrowed = |dice: &mut Dice| -> Vec<usize> {
        let narrow = dice.once_in(2);
        let len = |dice: &mut Dice, len: usize| match narrow {
            true => 1 + dice.below(len),
            false => len,
        };
        dims.iter().map(|&own| len(dice, own)).collect()
    };
    let dtype = numbers(dice);
    let input = dice.tensor(dtype, &dims);
    let capabilities = limited(dice.one_of(&[3, 4, 8]), usize::MAX, 256);
    match dice.below(3) {
        0 => {
            let mut wanted = narrowed(dice);
            wanted[axis] = dice.below(6);
            let index = index(dice, &wanted, axis, dims[axis], false);
            let call = Call::Gather {
                input: input.view(),
                index: index.view(),
                axis,
            };
            checked(&call, &[&input, &index], &capabilities);
        }
        1 => {
            let count = dice.below(9);
            let index = index(dice, &[count], 0, dims[axis], false);
            let call = Call::IndexSelect {
                input: input.view(),
                index: index.view(),
                axis,
            };
            checked(&call, &[&input, &index], &capabilities);
        }
        _ => {
            let mode = dice.one_of(&ScatterMode::ALL);
            let mut given = narrowed(dice);
            let apart = mode == ScatterMode::Set;
            given[axis] = match apart {
                true => dice.below(dims[axis] + 1),
                false => dice.below(6),
            };
            let index = index(dice, &given, axis, dims[axis], apart);
            let src = dice.tensor(dtype, &given);
            let call = Call::Scatter {
                mode,
                base: input.view(),
                index: index.view(),
                src: src.view(),
                axis,
            };
            checked(&call, &[&input, &index, &src], &capabilities);
        }
    }
}

fn matmul(dice: &mut Dice) {
    let rank = dice.rank().min(4);
    let batch = dice.dims(rank, 40);
    let sizes = dice.dims(3, 120);
    let dtype = numbers(dice);
    let side = |dice: &mut Dice, rows: usize, cols: usize| {
        let mut dims = dice.broadcastable(&batch);
        dims.extend([rows, cols]);
        let tensor = dice.tensor(dtype, &dims);
        let conjugated = dice.once_in(3);
        (tensor, conjugated)
    };
    let (lhs, left) = side(dice, sizes[0], sizes[2]);
    let (rhs, right) = side(dice, sizes[2], sizes[1]);
    let batches = super::evaluate::broadcast(&[
        lhs.dims[..lhs.dims.len() - 2].to_vec(),
        rhs.dims[..rhs.dims.len() - 2].to_vec(),
    ]);
    let mut dims = batches;
    dims.extend([sizes[0], sizes[1]]);
    let bias = dice.broadcastable(&dims);
    let bias = dice.tensor(dtype, &bias);
    let beta = Scalar::from_bits(dtype, u128::from(dice.roll() % 3));
    let added = dice.once_in(2);
    let call = Call::Matmul {
        lhs: Factor {
            view: lhs.view(),
            conjugated: left,
        },
        rhs: Factor {
            view: rhs.view(),
            conjugated: right,
        },
        alpha: Scalar::from_bits(dtype, 2),
        bias: added.then(|| (bias.view(), beta)),
    };
    let inputs: &[&Tensor] = match added {
        true => &[&lhs, &rhs, &bias],
        false => &[&lhs, &rhs],
    };
    checked(&call, inputs, &dice.capabilities());
}

fn concat(dice: &mut Dice) {
    let rank = 1 + dice.rank().min(7);
    let mut dims = dice.dims(rank, 200);
    let axis = dice.below(rank);
    let mut inputs = Vec::new();
    for _ in 0..1 + dice.below(4) {
        dims[axis] = dice.below(4);
        inputs.push(dice.tensor(DType::I32, &dims));
    }
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let call = Call::Concat {
        inputs: &views,
        axis,
    };
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    checked(&call, &inputs, &dice.capabilities());
}

#[rstest]
#[case::elementwise(elementwise, 3000)]
#[case::sources(sources, 300)]
#[case::reduce(reduce, 3000)]
#[case::lines(lines, 1500)]
#[case::indexing(indexing, 2000)]
#[case::matmul(matmul, 3000)]
#[case::concat(concat, 600)]
fn agrees_with_plain_evaluation(#[case] family: fn(&mut Dice), #[case] rounds: u64) {
    for seed in 0..rounds {
        family(&mut Dice(seed.wrapping_mul(0x0123_4567_89ab_cdef)));
    }
}
