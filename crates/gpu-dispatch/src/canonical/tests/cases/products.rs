//! Matrix products.

use super::super::{Tensor, checked, free, lower, values};
use super::{F32, ones, refused};
use crate::call::{Call, Factor};
use gpu_seam::{DType, Op, Scalar};

fn product<'a>(lhs: &'a Tensor, rhs: &'a Tensor) -> Call<'a> {
    Call::Matmul {
        lhs: Factor::plain(lhs.view()),
        rhs: Factor::plain(rhs.view()),
        alpha: Scalar::from_bits(lhs.dtype, 1),
        bias: None,
    }
}

fn matmul(lhs: &Tensor, rhs: &Tensor) -> Vec<i64> {
    values(&product(lhs, rhs), &[lhs, rhs])
}

#[test]
fn g2_037_broadcast_left_batch() {
    let lhs = ones(&[32, 32]).viewed(0, &[32, 32, 32], &[0, 32, 1]);
    assert_eq!(matmul(&lhs, &ones(&[32, 32, 32])), vec![32; 32 * 32 * 32]);
}

#[test]
fn g2_038_batch_count_is_that_of_both() {
    let mut lhs = Tensor::new(F32, &[10, 2, 3], vec![0; 60]);
    for batch in 0..10 {
        lhs.elements[batch * 6] = 1;
    }
    let mut rhs = Tensor::range(F32, &[3, 4]);
    rhs.elements.extend([7; 200]);
    let expected: Vec<i64> = (0..10).flat_map(|_| [0, 1, 2, 3, 0, 0, 0, 0]).collect();
    assert_eq!(matmul(&lhs, &rhs), expected);
    let batches = matmul(
        &Tensor::range(F32, &[2, 3]),
        &Tensor::range(F32, &[10, 3, 4]),
    );
    assert_eq!(batches.len(), 10 * 2 * 4);
}

#[test]
fn g2_040_transposed_left_factor() {
    let lhs = Tensor::new(F32, &[2, 3], vec![7, -13, 21, -4, 19, -32]).permuted(&[1, 0]);
    assert_eq!(matmul(&lhs, &ones(&[2, 2])), [3, 3, 6, 6, -11, -11]);
}

#[test]
fn g2_041_one_row_with_a_huge_stride() {
    let lhs = Tensor::range(F32, &[1, 8, 4]).viewed(28, &[1, 4], &[32, 1]);
    let rhs = ones(&[3, 4]).permuted(&[1, 0]);
    assert_eq!(matmul(&lhs, &rhs), [118, 118, 118]);
    let steps = checked(&product(&lhs, &rhs), &[&lhs, &rhs], &free()).steps;
    assert_eq!(steps.len(), 1, "one row needs no copy");
}

#[test]
fn g2_043_all_strides_zero() {
    let one = ones(&[1]);
    let lhs = one.clone().viewed(0, &[1, 2], &[0, 0]);
    let rhs = one.viewed(0, &[2, 2], &[0, 0]);
    assert_eq!(matmul(&lhs, &rhs), [2, 2]);
    let rhs = Tensor::new(F32, &[2, 1], vec![1, 2]).viewed(0, &[2, 2], &[1, 0]);
    assert_eq!(matmul(&ones(&[1, 2]), &rhs), [3, 3]);
}

#[test]
fn g2_046_reversed_and_repeated_rows() {
    let rhs = Tensor::new(F32, &[2, 2], vec![1, 1, 0, 1]);
    let lhs = Tensor::new(F32, &[2, 2], vec![1, 2, 3, 4]).viewed(2, &[2, 2], &[-2, 1]);
    assert_eq!(matmul(&lhs, &rhs), [3, 7, 1, 3]);
    let lhs = Tensor::new(F32, &[2], vec![1, 2]).viewed(0, &[2, 2], &[0, 1]);
    assert_eq!(matmul(&lhs, &rhs), [1, 3, 1, 3]);
}

#[test]
fn g2_047_parts_of_one_matrix() {
    let m = Tensor::range(F32, &[4, 4]);
    let lhs = m.clone().viewed(0, &[3, 3], &[4, 1]);
    let rhs = m.viewed(3, &[3, 1], &[4, 1]);
    assert_eq!(matmul(&lhs, &rhs), [29, 113, 197]);
    let steps = checked(&product(&lhs, &rhs), &[&lhs, &rhs], &free()).steps;
    assert_eq!(steps.len(), 1, "both have a leading dimension");
}

#[test]
fn g2_049_more_batches_than_a_grid_has_rows() {
    let (lhs, rhs) = (ones(&[70_000, 3, 4]), ones(&[70_000, 4, 1]));
    assert_eq!(matmul(&lhs, &rhs), vec![4; 210_000]);
}

#[test]
fn g2_050_inner_size_zero_gives_zeros() {
    let lhs = Tensor::new(F32, &[10, 1, 0], vec![]);
    let rhs = Tensor::new(F32, &[10, 0, 5], vec![]);
    assert_eq!(matmul(&lhs, &rhs), vec![0; 50]);
}

#[test]
fn g2_052_empty_products_are_validated() {
    let (lhs, rhs) = (
        Tensor::new(F32, &[0, 3], vec![]),
        Tensor::range(F32, &[3, 5]),
    );
    assert_eq!(matmul(&lhs, &rhs), []);
    let wrong = Tensor::range(F32, &[4, 5]);
    insta::assert_snapshot!(
        refused(&product(&lhs, &wrong), &[&lhs, &wrong]),
        @"matmul: lhs has dims (0, 3) and rhs has dims (4, 5); the inner dims 3 and 4 must be equal"
    );
    let wide = Tensor::range(DType::F64, &[3, 5]);
    insta::assert_snapshot!(
        refused(&product(&lhs, &wide), &[&lhs, &wide]),
        @"matmul: lhs is f32 and rhs is f64; cast one of them"
    );
}

#[test]
fn g2_073_conjugate_transpose_keeps_both() {
    let lhs = Tensor::range(DType::Complex64, &[97, 2]).permuted(&[1, 0]);
    let rhs = Tensor::range(DType::Complex64, &[97, 3]);
    let call = Call::Matmul {
        lhs: Factor {
            conjugated: true,
            ..Factor::plain(lhs.view())
        },
        rhs: Factor::plain(rhs.view()),
        alpha: Scalar::from_bits(DType::Complex64, 1),
        bias: None,
    };
    values(&call, &[&lhs, &rhs]);
    let lowered = checked(&call, &[&lhs, &rhs], &free());
    let Op::Gemm(gemm) = lowered.steps[0].op() else {
        panic!("{lowered:?}");
    };
    assert!(gemm.lhs.conjugated && gemm.lhs.transposed && !gemm.rhs.conjugated);
}

#[test]
fn g2_074_beta_zero_reads_no_output() {
    let (lhs, rhs) = (ones(&[5, 3]), ones(&[3, 7]));
    // Fresh memory holds poison in these tests.
    assert_eq!(matmul(&lhs, &rhs), vec![3; 35]);
    let bias = ones(&[7]);
    let mut call = product(&lhs, &rhs);
    if let Call::Matmul { bias: added, .. } = &mut call {
        *added = Some((bias.view(), Scalar::from_bits(F32, 1 << 31)));
    }
    let lengths = [lhs.bytes(), rhs.bytes(), bias.bytes()];
    let lowered = lower(&call, &lengths, &free()).unwrap();
    assert_eq!(lowered.steps.len(), 1, "-0.0 is zero too");
}

#[test]
fn g2_076_column_major_half() {
    let lhs = Tensor::range(DType::F16, &[3, 2]).permuted(&[1, 0]);
    let rhs = Tensor::range(DType::F16, &[4, 3]).permuted(&[1, 0]);
    assert_eq!(matmul(&lhs, &rhs), [10, 28, 46, 64, 13, 40, 67, 94]);
}
