//! What the test's elements are: `i64`, whatever the dtype says; some function for every operation.
//!
//! The functions need not be the real ones. They must tell operations and operands apart, and be
//! associative where the real ones are.

use gpu_seam::{ArgOp, BinaryOp, CompareOp, DType, ReduceOp, Scalar, ScanOp, ScatterMode, UnaryOp};

pub(super) fn cast(value: i64, to: DType) -> i64 {
    match to {
        DType::Bool => i64::from(value != 0),
        _ => value,
    }
}

/// The scalars of these tests hold small integers, as bits; the one of a dtype is 1 too.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the tests' scalars are small"
)]
pub(super) fn scalar(scalar: Scalar) -> i64 {
    if scalar == Scalar::one(scalar.dtype()) {
        return 1;
    }
    scalar.bits() as i64
}

pub(super) fn unary(op: UnaryOp, value: i64) -> i64 {
    match op {
        UnaryOp::Neg => value.wrapping_neg(),
        UnaryOp::Abs => value.wrapping_abs(),
        UnaryOp::IsNan => i64::from(value % 7 == 0),
        UnaryOp::Not => !value,
        _ => value.wrapping_mul(3).wrapping_add(1),
    }
}

pub(super) fn binary(op: BinaryOp, lhs: i64, rhs: i64) -> i64 {
    match op {
        BinaryOp::Add => lhs.wrapping_add(rhs),
        BinaryOp::Sub => lhs.wrapping_sub(rhs),
        BinaryOp::Mul => lhs.wrapping_mul(rhs),
        BinaryOp::Min => lhs.min(rhs),
        BinaryOp::Max => lhs.max(rhs),
        _ => lhs.wrapping_mul(5).wrapping_sub(rhs),
    }
}

pub(super) fn compare(op: CompareOp, lhs: i64, rhs: i64) -> i64 {
    i64::from(match op {
        CompareOp::Eq => lhs == rhs,
        CompareOp::Ne => lhs != rhs,
        CompareOp::Lt => lhs < rhs,
        CompareOp::Le => lhs <= rhs,
        CompareOp::Gt => lhs > rhs,
        _ => lhs >= rhs,
    })
}

pub(super) fn reduce(op: ReduceOp, line: &[i64]) -> i64 {
    let values = line.iter().copied();
    match op {
        ReduceOp::Sum => values.fold(0, i64::wrapping_add),
        ReduceOp::Prod => values.fold(1, i64::wrapping_mul),
        ReduceOp::Min => values.min().unwrap(),
        ReduceOp::Max => values.max().unwrap(),
        ReduceOp::Any => i64::from(line.iter().any(|&value| value != 0)),
        _ => i64::from(line.iter().all(|&value| value != 0)),
    }
}

pub(super) fn arg_reduce(op: ArgOp, line: &[i64]) -> i64 {
    let extreme = match op {
        ArgOp::ArgMin => line.iter().min(),
        _ => line.iter().max(),
    };
    let place = line.iter().position(|value| Some(value) == extreme);
    place.unwrap().cast_signed() as i64
}

pub(super) fn scan(op: ScanOp, so_far: i64, next: i64) -> i64 {
    match op {
        ScanOp::Sum => so_far.wrapping_add(next),
        ScanOp::Prod => so_far.wrapping_mul(next),
        ScanOp::Min => so_far.min(next),
        _ => so_far.max(next),
    }
}

pub(super) fn scatter(mode: ScatterMode, held: i64, value: i64) -> i64 {
    match mode {
        ScatterMode::Add => held.wrapping_add(value),
        _ => value,
    }
}

pub(super) fn conjugate(value: i64, dtype: DType, conjugated: bool) -> i64 {
    if conjugated && dtype.is_complex() {
        value.wrapping_neg()
    } else {
        value
    }
}

pub(super) fn random(seed: u64, counter: u64) -> i64 {
    seed.wrapping_mul(31).wrapping_add(counter).cast_signed()
}
