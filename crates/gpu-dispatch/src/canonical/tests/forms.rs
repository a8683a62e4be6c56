//! What form common calls take: how many steps, of which rank.

use super::{Tensor, checked, free};
use crate::call::{Call, Factor};
use gpu_seam::{BinaryOp, DType, Gemm, Op, Operand, ReduceOp, Scalar, ScanOp};
use rstest::rstest;

const F32: DType = DType::F32;

fn dims_of(call: &Call<'_>, inputs: &[&Tensor]) -> Vec<Vec<usize>> {
    let lowered = checked(call, inputs, &free());
    assert_eq!(lowered.steps.len(), 1, "{lowered:#?}");
    let layouts = lowered.steps[0].layouts.iter();
    layouts.map(|layout| layout.dims.to_vec()).collect()
}

#[rstest]
#[case::contiguous(&[2, 3, 4], &[0, 1, 2], &[24])]
#[case::transposed(&[6, 4], &[1, 0], &[4, 6])]
#[case::outer_kept(&[2, 3, 4], &[1, 0, 2], &[3, 2, 4])]
#[case::inner_pair(&[2, 3, 4], &[2, 0, 1], &[4, 6])]
#[case::units_vanish(&[1, 6, 1, 4], &[2, 3, 0, 1], &[4, 6])]
#[case::one_element(&[1, 1], &[1, 0], &[1])]
#[case::rank_zero(&[], &[], &[1])]
fn copies(#[case] dims: &[usize], #[case] order: &[usize], #[case] merged: &[usize]) {
    let input = Tensor::range(F32, dims).permuted(order);
    let call = Call::Copy {
        input: input.view(),
        dtype: F32,
    };
    assert_eq!(dims_of(&call, &[&input]), [merged, merged]);
}

#[test]
fn broadcasting_merges_what_repeats_together() {
    let (lhs, rhs) = (Tensor::range(F32, &[2, 3, 4]), Tensor::range(F32, &[3, 4]));
    let call = Call::Binary {
        op: BinaryOp::Sub,
        lhs: Operand::View(rhs.view()),
        rhs: Operand::View(lhs.view()),
    };
    assert_eq!(dims_of(&call, &[&rhs, &lhs])[0], [2, 12]);
    let column = Tensor::range(F32, &[2, 1, 1]);
    let call = Call::Binary {
        op: BinaryOp::Sub,
        lhs: Operand::View(lhs.view()),
        rhs: Operand::View(column.view()),
    };
    assert_eq!(dims_of(&call, &[&lhs, &column])[0], [2, 12]);
}

#[rstest]
#[case::rows(&[4, 5], &[0, 1], &[1], &[[4, 5, 1]])]
#[case::columns(&[4, 5], &[0, 1], &[0], &[[1, 4, 5]])]
#[case::middle(&[2, 3, 4], &[0, 1, 2], &[1], &[[2, 3, 4]])]
#[case::last_two(&[2, 3, 4], &[0, 1, 2], &[2, 1], &[[2, 12, 1]])]
#[case::all(&[2, 3, 4], &[2, 0, 1], &[0, 1, 2], &[[1, 24, 1]])]
#[case::transposed_line(&[4, 5], &[1, 0], &[1], &[[1, 4, 5]])]
#[case::kept_in_another_order(&[2, 3, 4], &[2, 1, 0], &[1], &[[2, 3, 4]])]
#[case::two_groups(&[2, 3, 4, 5], &[0, 1, 2, 3], &[0, 2], &[[6, 4, 5], [1, 2, 15]])]
fn reductions(
    #[case] dims: &[usize],
    #[case] order: &[usize],
    #[case] axes: &[usize],
    #[case] steps: &[[usize; 3]],
) {
    let input = Tensor::range(F32, dims).permuted(order);
    let call = Call::Reduce {
        op: ReduceOp::Sum,
        input: input.view(),
        axes,
        dtype: F32,
    };
    let lowered = checked(&call, &[&input], &free());
    let found: Vec<&[usize]> = lowered
        .steps
        .iter()
        .map(|step| &step.layouts[1].dims[..])
        .collect();
    assert_eq!(found, steps);
}

#[test]
fn a_narrow_sum_in_two_parts_is_rounded_once() {
    let input = Tensor::range(DType::F16, &[2, 3, 4, 5]);
    let call = Call::Reduce {
        op: ReduceOp::Sum,
        input: input.view(),
        axes: &[0, 2],
        dtype: DType::F16,
    };
    let lowered = checked(&call, &[&input], &free());
    let dtypes: Vec<(&str, DType)> = lowered
        .steps
        .iter()
        .map(|step| match step.op() {
            Op::Reduce { out, .. } | Op::Copy { out, .. } => (step.op().name(), out.dtype),
            other => panic!("{other:?}"),
        })
        .collect();
    let (f32, f16) = (DType::F32, DType::F16);
    assert_eq!(dtypes, [("sum", f32), ("sum", f32), ("copy", f16)]);
}

#[test]
fn a_line_of_one_is_a_cast() {
    let input = Tensor::range(DType::I32, &[2, 1, 4]);
    let call = Call::Reduce {
        op: ReduceOp::Sum,
        input: input.view(),
        axes: &[1],
        dtype: DType::I64,
    };
    assert_eq!(dims_of(&call, &[&input]), [[8], [8]]);
    let call = Call::Scan {
        op: ScanOp::Sum,
        input: input.view(),
        axis: 1,
        dtype: DType::I64,
    };
    assert_eq!(dims_of(&call, &[&input]), [[8], [8]]);
}

fn gemms(lhs: &Tensor, rhs: &Tensor) -> (usize, Vec<Gemm>) {
    let call = Call::Matmul {
        lhs: Factor::plain(lhs.view()),
        rhs: Factor::plain(rhs.view()),
        alpha: Scalar::from_bits(lhs.dtype, 1),
        bias: None,
    };
    let lowered = checked(&call, &[lhs, rhs], &free());
    let gemm = |op: Op<'_>| match op {
        Op::Gemm(gemm) => Some(gemm),
        _ => None,
    };
    let gemms: Vec<Gemm> = lowered
        .steps
        .iter()
        .filter_map(|step| gemm(step.op()))
        .collect();
    (lowered.steps.len() - gemms.len(), gemms)
}

/// Factors by dims and order; then copies, and (batch, m, n, k) of every gemm.
#[rstest]
#[case::plain((vec![3, 4], vec![0, 1]), (vec![4, 5], vec![0, 1]), 0, &[(1, 3, 5, 4)])]
#[case::both_transposed((vec![4, 3], vec![1, 0]), (vec![5, 4], vec![1, 0]), 0, &[(1, 3, 5, 4)])]
#[case::batches_merge((vec![2, 6, 3, 4], vec![0, 1, 2, 3]), (vec![2, 6, 4, 5], vec![0, 1, 2, 3]), 0, &[(12, 3, 5, 4)])]
#[case::shared_right((vec![2, 6, 3, 4], vec![0, 1, 2, 3]), (vec![4, 5], vec![0, 1]), 0, &[(1, 36, 5, 4)])]
#[case::shared_left((vec![3, 4], vec![0, 1]), (vec![6, 4, 5], vec![0, 1, 2]), 0, &[(6, 3, 5, 4)])]
#[case::shared_left_of_vectors((vec![3, 4], vec![0, 1]), (vec![6, 4, 1], vec![0, 1, 2]), 0, &[(1, 6, 3, 4)])]
#[case::row_by_shared((vec![6, 1, 4], vec![0, 1, 2]), (vec![4, 5], vec![0, 1]), 0, &[(1, 6, 5, 4)])]
#[case::inner_batch((vec![3, 6, 4], vec![1, 0, 2]), (vec![6, 4, 5], vec![0, 1, 2]), 0, &[(6, 3, 5, 4)])]
#[case::innermost_batch((vec![3, 4, 6], vec![2, 0, 1]), (vec![6, 4, 5], vec![0, 1, 2]), 1, &[(6, 3, 5, 4)])]
#[case::outer_product_of_batches((vec![2, 1, 3, 4], vec![0, 1, 2, 3]), (vec![3, 4, 5], vec![0, 1, 2]), 0, &[(3, 3, 5, 4), (3, 3, 5, 4)])]
#[case::many_batches((vec![20, 1, 3, 4], vec![0, 1, 2, 3]), (vec![30, 4, 5], vec![0, 1, 2]), 2, &[(600, 3, 5, 4)])]
fn products(
    #[case] lhs: (Vec<usize>, Vec<usize>),
    #[case] rhs: (Vec<usize>, Vec<usize>),
    #[case] copies: usize,
    #[case] expected: &[(usize, usize, usize, usize)],
) {
    let lhs = Tensor::range(F32, &lhs.0).permuted(&lhs.1);
    let rhs = Tensor::range(F32, &rhs.0).permuted(&rhs.1);
    let (copied, gemms) = gemms(&lhs, &rhs);
    let found: Vec<_> = gemms.iter().map(|g| (g.batch, g.m, g.n, g.k)).collect();
    assert_eq!((copied, &found[..]), (copies, expected));
}

#[test]
fn a_bias_is_copied_and_then_added_to() {
    let (lhs, rhs) = (Tensor::range(F32, &[3, 4]), Tensor::range(F32, &[4, 5]));
    let bias = Tensor::range(F32, &[5]);
    for k in [4, 0] {
        let rhs = rhs.clone().viewed(0, &[k, 5], &[5, 1]);
        let lhs = lhs.clone().viewed(0, &[3, k], &[4, 1]);
        for beta in [0, 1, 3] {
            let call = Call::Matmul {
                lhs: Factor::plain(lhs.view()),
                rhs: Factor::plain(rhs.view()),
                alpha: Scalar::from_bits(F32, 2),
                bias: Some((bias.view(), Scalar::from_bits(F32, beta))),
            };
            let lowered = checked(&call, &[&lhs, &rhs, &bias], &free());
            let names: Vec<&str> = lowered.steps.iter().map(|step| step.op().name()).collect();
            let expected: &[&str] = match (k, beta) {
                (0, 0) => &["fill"],
                (0, _) => &["mul"],
                (_, 0) => &["gemm"],
                _ => &["copy", "gemm"],
            };
            assert_eq!(names, expected);
        }
    }
}
