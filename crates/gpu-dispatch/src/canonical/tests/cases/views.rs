//! Everything but matrix products.

use super::super::{Tensor, checked, free, limited, lower, values};
use super::{F32, ones, refused};
use crate::call::Call;
use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Op, Operand, ReduceOp, Scalar, ScatterMode, UnaryOp,
};

fn copied(input: &Tensor) -> Vec<i64> {
    let call = Call::Copy {
        input: input.view(),
        dtype: input.dtype,
    };
    values(&call, &[input])
}

fn reduced(op: ReduceOp, input: &Tensor, axes: &[usize], dtype: DType) -> Vec<i64> {
    let call = Call::Reduce {
        op,
        input: input.view(),
        axes,
        dtype,
    };
    values(&call, &[input])
}

#[test]
fn g2_044_strides_of_unit_dims_do_not_count() {
    let m = Tensor::range(F32, &[13, 13]);
    let once = m.clone().viewed(0, &[1, 1, 13, 13], &[0, 0, 13, 1]);
    let cast = |input: &Tensor| {
        let call = Call::Copy {
            input: input.view(),
            dtype: DType::F16,
        };
        let lowered = checked(&call, &[input], &free());
        let rank = lowered.steps[0].layouts[1].dims.len();
        (values(&call, &[input]), rank)
    };
    assert_eq!(cast(&once), (m.elements.clone(), 1));
    let twice = m.clone().viewed(0, &[2, 1, 13, 13], &[0, 0, 13, 1]);
    assert_eq!(cast(&twice), ([&m.elements[..], &m.elements].concat(), 2));
}

#[test]
fn g2_053_empty_operands_launch_nothing() {
    let none = Tensor::new(F32, &[2, 1, 1, 0], vec![]);
    let view = none.view();
    let operand = Operand::View(view);
    let calls = [
        Call::Compare {
            op: CompareOp::Eq,
            lhs: operand,
            rhs: operand,
        },
        Call::Binary {
            op: BinaryOp::Add,
            lhs: operand,
            rhs: operand,
        },
        Call::Copy {
            input: view,
            dtype: DType::F16,
        },
        Call::Concat {
            inputs: &[view, view],
            axis: 3,
        },
    ];
    for call in calls {
        let inputs: &[&Tensor] = match call {
            Call::Copy { .. } => &[&none],
            _ => &[&none, &none],
        };
        let lowered = checked(&call, inputs, &free());
        assert_eq!((&lowered.dims[..], lowered.bytes), (&[2, 1, 1, 0][..], 0));
    }
    assert_eq!(reduced(ReduceOp::Sum, &none, &[3], F32), [0, 0]);
}

#[test]
fn g2_055_selecting_nothing() {
    let (input, index) = (
        Tensor::range(F32, &[3, 2]),
        Tensor::new(DType::I64, &[0], vec![]),
    );
    let call = Call::IndexSelect {
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    let lowered = checked(&call, &[&input, &index], &free());
    assert_eq!(lowered.dims[..], [0, 2]);
    let none = Tensor::new(F32, &[0, 2], vec![]);
    let call = Call::Unary {
        op: UnaryOp::Exp,
        input: none.view(),
    };
    assert_eq!(values(&call, &[&none]), []);
}

#[test]
fn g2_056_reducing_nothing() {
    let none = Tensor::new(F32, &[0, 2], vec![]);
    assert_eq!(reduced(ReduceOp::Min, &none, &[1], F32), []);
    let call = Call::Reduce {
        op: ReduceOp::Min,
        input: none.view(),
        axes: &[0],
        dtype: F32,
    };
    insta::assert_snapshot!(
        refused(&call, &[&none]),
        @"min: has no identity: dims (0, 2) leave nothing to reduce over axes (0)"
    );
    let column = Tensor::new(F32, &[0, 1], vec![]);
    let call = Call::ArgReduce {
        op: ArgOp::ArgMax,
        input: column.view(),
        axes: &[1],
    };
    assert_eq!(values(&call, &[&column]), []);
    let call = Call::ArgReduce {
        op: ArgOp::ArgMax,
        input: column.view(),
        axes: &[0],
    };
    assert!(refused(&call, &[&column]).starts_with("argmax: has no identity"));
    let line = Tensor::new(F32, &[0], vec![]);
    assert_eq!(reduced(ReduceOp::Sum, &line, &[0], F32), [0]);
    assert_eq!(reduced(ReduceOp::Any, &line, &[0], DType::Bool), [0]);
    assert_eq!(reduced(ReduceOp::All, &line, &[0], DType::Bool), [1]);
    let call = Call::Reduce {
        op: ReduceOp::Prod,
        input: line.view(),
        axes: &[0],
        dtype: F32,
    };
    let lowered = lower(&call, &[0], &free()).unwrap();
    let one = Scalar::one(F32);
    assert!(matches!(lowered.steps[0].op(), Op::Fill { value, .. } if value == one));
}

#[test]
fn g2_058_rank_zero() {
    let m = ones(&[2, 3]);
    let sum = Tensor::new(F32, &[], reduced(ReduceOp::Sum, &m, &[0, 1], F32));
    assert_eq!(sum.elements, [6]);
    let call = Call::Binary {
        op: BinaryOp::Add,
        lhs: Operand::View(sum.view()),
        rhs: Operand::View(m.view()),
    };
    assert_eq!(values(&call, &[&sum, &m]), vec![7; 6]);
    let call = Call::Concat {
        inputs: &[sum.view(), sum.view()],
        axis: 0,
    };
    insta::assert_snapshot!(
        refused(&call, &[&sum, &sum]),
        @"concat: axis 0 is out of range for dims ()"
    );
}

#[test]
fn g2_061_permute_of_odd_sizes() {
    let moved = copied(&Tensor::range(F32, &[27, 31, 31]).permuted(&[1, 2, 0]));
    assert_eq!((moved[0], moved[25_946]), (0, 25_946));
    let mut sorted = moved;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..25_947));
}

#[test]
fn g2_062_reduction_along_a_swapped_axis() {
    let x = Tensor::new(F32, &[1, 2, 4], vec![3, 64, 74, 6, 39, 55, 42, 83]).permuted(&[0, 2, 1]);
    assert_eq!(reduced(ReduceOp::Sum, &x, &[2], F32), [42, 119, 116, 89]);
}

#[test]
fn g2_065_block_of_a_cube() {
    let cube = Tensor::new(F32, &[4, 4, 4], (2..66).collect());
    let block = cube.viewed(17, &[3, 3], &[4, 1]);
    assert_eq!(copied(&block), [19, 20, 21, 23, 24, 25, 27, 28, 29]);
}

#[test]
fn g2_067_permute() {
    let m = Tensor::range(F32, &[3, 2]).permuted(&[1, 0]);
    assert_eq!(copied(&m), [0, 2, 4, 1, 3, 5]);
}

#[test]
fn g2_068_full_reduction_of_views() {
    let m = Tensor::range(F32, &[33, 256]);
    let permuted = m.clone().permuted(&[1, 0]);
    assert_eq!(
        reduced(ReduceOp::Sum, &permuted, &[0, 1], F32),
        [35_680_128]
    );
    let call = Call::Reduce {
        op: ReduceOp::Sum,
        input: permuted.view(),
        axes: &[0, 1],
        dtype: F32,
    };
    let lowered = checked(&call, &[&permuted], &free());
    assert_eq!(lowered.steps[0].layouts[1].dims[..], [1, 33 * 256, 1]);
    let slice = m.viewed(0, &[33, 200], &[256, 1]);
    let expected: i64 = (0..33)
        .flat_map(|row| (0..200).map(move |col| row * 256 + col))
        .sum();
    assert_eq!(reduced(ReduceOp::Sum, &slice, &[0, 1], F32), [expected]);
}

#[test]
fn g2_070_repeated_operand_and_a_last_axis_of_one() {
    let m = Tensor::new(F32, &[3, 2], vec![1, 2, 3, 4, 5, 6]);
    let two = Tensor::new(F32, &[], vec![2]);
    let call = Call::Binary {
        op: BinaryOp::Mul,
        lhs: Operand::View(m.view()),
        rhs: Operand::View(two.view()),
    };
    let doubled = Tensor::new(F32, &[3, 2], values(&call, &[&m, &two]));
    assert_eq!(reduced(ReduceOp::Sum, &doubled, &[1], F32), [6, 14, 22]);
    let x = Tensor::new(F32, &[3, 1], vec![1, 2, 3]);
    let call = Call::Binary {
        op: BinaryOp::Mul,
        lhs: Operand::View(x.view()),
        rhs: Operand::View(x.view()),
    };
    let squares = Tensor::new(F32, &[3, 1], values(&call, &[&x, &x]));
    assert_eq!(reduced(ReduceOp::Sum, &squares, &[0], F32), [14]);
}

#[test]
fn g2_077_rows_beyond_2_to_the_31() {
    let (input, index) = ([16_385, 131_072], [3]);
    let call = Call::IndexSelect {
        input: gpu_seam::View::new(DType::U8, 0, &input, &[131_072, 1]),
        index: gpu_seam::View::new(DType::I64, 0, &index, &[1]),
        axis: 0,
    };
    let lowered = lower(&call, &[16_385 * 131_072, 24], &free()).unwrap();
    let Op::Gather { input, index, .. } = lowered.steps[0].op() else {
        panic!("{lowered:?}");
    };
    assert_eq!(input.extent(), Some((0, 16_385 * 131_072)));
    assert_eq!(index.strides, [1, 0]);
}

#[test]
fn g2_079_many_elements_are_one_line() {
    let n = 4_194_305;
    let dims = [n];
    let call = Call::Binary {
        op: BinaryOp::Add,
        lhs: Operand::View(gpu_seam::View::new(DType::U32, 0, &dims, &[1])),
        rhs: Operand::Scalar(Scalar::one(DType::U32)),
    };
    let lowered = lower(&call, &[4 * n], &free()).unwrap();
    assert_eq!(lowered.steps[0].layouts[0].dims[..], [n]);
}

#[test]
fn g2_080_many_rows() {
    let input = Tensor::range(F32, &[70_000, 3]);
    let index = Tensor::new(DType::I64, &[70_000], (0..70_000).collect());
    let call = Call::IndexSelect {
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    assert_eq!(values(&call, &[&input, &index]), input.elements);
    let fill = Call::Fill {
        dims: &[8192, 16_384],
        value: Scalar::one(F32),
    };
    let lowered = lower(&fill, &[], &free()).unwrap();
    assert_eq!(lowered.steps[0].layouts[0].dims[..], [8192 * 16_384]);
}

#[test]
fn g2_082_rank_20_permuted() {
    let order: Vec<usize> = (0..20).map(|at| at * 7 % 20).collect();
    let input = Tensor::range(F32, &[2; 20]).permuted(&order);
    let call = Call::Copy {
        input: input.view(),
        dtype: F32,
    };
    for rank in [3, 4, 8, 64] {
        let lowered = checked(&call, &[&input], &limited(rank, usize::MAX, 1));
        assert!(
            lowered.temporaries.len() <= 1,
            "passes take turns with the output"
        );
    }
}

#[test]
fn g2_083_indices_into_nothing() {
    let (input, index) = (
        Tensor::new(F32, &[0, 2], vec![]),
        Tensor::new(DType::I64, &[1], vec![0]),
    );
    let call = Call::IndexSelect {
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    insta::assert_snapshot!(
        refused(&call, &[&input, &index]),
        @"index_select: every index is out of range: axis 0 has size 0"
    );
}

#[test]
fn g2_085_rows_wider_than_a_block() {
    let base = Tensor::new(F32, &[2, 500], vec![0; 1000]);
    let src = Tensor::range(F32, &[2, 500]);
    let index = Tensor::new(DType::I64, &[2], vec![1, 0]).viewed(0, &[2, 500], &[1, 0]);
    let call = Call::Scatter {
        mode: ScatterMode::Set,
        base: base.view(),
        index: index.view(),
        src: src.view(),
        axis: 0,
    };
    let found = values(&call, &[&base, &index, &src]);
    assert!(found[..500].iter().copied().eq(500..1000));
    assert!(found[500..].iter().copied().eq(0..500));
}
