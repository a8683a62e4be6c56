//! What operations mean, written naively: one element at a time, in f64 and i128.
//!
//! Follows the numerics of DESIGN.md and the docs of the op kinds in gpu-seam. Leans on no vendor.

mod element;
mod philox;

pub(crate) use element::{binary, cast, compare, unary};
pub(crate) use philox::draw;

use gpu_seam::{ArgOp, DType, ReduceOp, ScanOp};

use crate::value::Val;
use gpu_seam::BinaryOp;

/// A whole line reduced to one value of `out`.
pub(crate) fn reduce(op: ReduceOp, out: DType, line: &[Val]) -> Val {
    match op {
        ReduceOp::Any => return Val::Bool(line.iter().any(|x| x.truth())),
        ReduceOp::All => return Val::Bool(line.iter().all(|x| x.truth())),
        _ => {}
    }
    scan(running(op), out, line)
        .last()
        .copied()
        .unwrap_or(Val::zero(out))
}

fn running(op: ReduceOp) -> ScanOp {
    match op {
        ReduceOp::Prod => ScanOp::Prod,
        ReduceOp::Min => ScanOp::Min,
        ReduceOp::Max => ScanOp::Max,
        _ => ScanOp::Sum,
    }
}

/// The running values of a line, each rounded to `out` at the end only.
pub(crate) fn scan(op: ScanOp, out: DType, line: &[Val]) -> Vec<Val> {
    // Wide enough that nothing is rounded on the way: sums of narrow types saturate otherwise.
    let wide = match out {
        _ if matches!(op, ScanOp::Min | ScanOp::Max) => out,
        DType::F16 | DType::BF16 | DType::F32 => DType::F64,
        DType::Complex64 => DType::Complex128,
        other => other,
    };
    let step = match op {
        ScanOp::Prod => BinaryOp::Mul,
        ScanOp::Min => BinaryOp::Min,
        ScanOp::Max => BinaryOp::Max,
        _ => BinaryOp::Add,
    };
    let mut values = Vec::with_capacity(line.len());
    let mut running: Option<Val> = None;
    for &value in line {
        let value = widened(value, wide);
        let next = running.map_or(value, |so_far| binary(step, wide, so_far, value));
        running = Some(next);
        values.push(next.rounded(out));
    }
    values
}

/// An integer or bool as the wide type's class; others as they are.
fn widened(value: Val, wide: DType) -> Val {
    match (value, wide) {
        (Val::Bool(x), DType::Bool) => Val::Bool(x),
        (Val::Bool(x), _) if wide.is_float() => Val::Real(f64::from(u8::from(x))),
        (Val::Bool(x), _) => Val::Int(i128::from(x)),
        (Val::Int(x), _) if wide.is_float() => Val::Real(x as f64),
        (other, _) => other,
    }
}

/// The position of the first extreme of a line; NaN wins at its first place.
pub(crate) fn arg_reduce(op: ArgOp, line: &[Val]) -> Val {
    let better = |a: Val, b: Val| match (a, b) {
        (Val::Real(a), Val::Real(b)) if op == ArgOp::ArgMin => a < b,
        (Val::Real(a), Val::Real(b)) => a > b,
        (Val::Int(a), Val::Int(b)) if op == ArgOp::ArgMin => a < b,
        (Val::Int(a), Val::Int(b)) => a > b,
        (Val::Bool(a), Val::Bool(b)) if op == ArgOp::ArgMin => !a & b,
        (Val::Bool(a), Val::Bool(b)) => a & !b,
        _ => false,
    };
    let mut best = 0;
    for at in 1..line.len() {
        if line[best].is_nan() {
            break;
        }
        if line[at].is_nan() || better(line[at], line[best]) {
            best = at;
        }
    }
    Val::Int(best as i128)
}

#[cfg(test)]
mod tests {
    use super::{arg_reduce, reduce, scan};
    use crate::value::Val;
    use gpu_seam::{ArgOp, DType, ReduceOp, ScanOp};

    #[test]
    fn nan_wins_and_first_of_equals_wins() {
        let line = [1.0, f64::NAN, 3.0, f64::NAN].map(Val::Real);
        assert!(reduce(ReduceOp::Max, DType::F32, &line).is_nan());
        assert_eq!(arg_reduce(ArgOp::ArgMax, &line), Val::Int(1));
        assert_eq!(
            arg_reduce(ArgOp::ArgMin, &[0.0, -0.0].map(Val::Real)),
            Val::Int(0)
        );
        assert_eq!(
            arg_reduce(ArgOp::ArgMax, &[false, true, true].map(Val::Bool)),
            Val::Int(1)
        );
    }

    #[test]
    fn sums_round_once() {
        let ones = vec![Val::Real(1.0); 20_000];
        assert_eq!(
            reduce(ReduceOp::Sum, DType::F16, &ones),
            Val::Real(20_000.0)
        );
        let trues = vec![Val::Bool(true); 5000];
        assert_eq!(reduce(ReduceOp::Sum, DType::I64, &trues), Val::Int(5000));
        assert_eq!(
            scan(
                ScanOp::Sum,
                DType::I64,
                &[Val::Int(i128::from(i64::MAX)), Val::Int(1)]
            )[1],
            Val::Int(i128::from(i64::MIN))
        );
    }
}
