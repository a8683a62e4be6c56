//! What the host serves: the table and the exact answer for one operation.
//!
//! Promises that both say the same, and that a refusal names the operation and the dtypes. Knows
//! nothing of kernels; a test in [`ops`](super) runs everything that is served.

use gpu_seam::{
    BinaryOp, CompareOp, DType, DTypeSet, Family, GpuError, Op, Operand, ReduceOp, ScanOp,
    SupportTable, UnaryOp,
};

/// All types but the complex ones.
const ORDERED: DTypeSet = DTypeSet::of(&[
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::U32,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
]);

/// Floats and complex.
const ANALYTIC: DTypeSet = DTypeSet::of(&[
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
    DType::Complex128,
]);

/// Which element types each family serves.
pub(crate) fn support_table() -> SupportTable {
    Family::ALL
        .into_iter()
        .fold(SupportTable::default(), |table, family| {
            let dtypes = match family {
                Family::ArgReduce => ORDERED,
                Family::Random => ANALYTIC,
                _ => DTypeSet::ALL,
            };
            table.with(family, dtypes)
        })
}

/// Refuses what is not served.
///
/// # Errors
/// `Unsupported`, naming the operation and the dtypes.
pub(crate) fn check(op: &Op<'_>) -> Result<(), GpuError> {
    if serves(op) { Ok(()) } else { Err(refusal(op)) }
}

/// The refusal of `op`.
#[cold]
pub(crate) fn refusal(op: &Op<'_>) -> GpuError {
    let mut dtypes = Vec::new();
    let _ = op.map_views(|view| {
        dtypes.push(view.dtype);
        view
    });
    let detail = match (dtypes.first(), dtypes.get(1)) {
        (Some(out), Some(_)) if *out != op.dtype() => {
            format!(
                "the host has no {} of {} giving {out}",
                op.name(),
                op.dtype()
            )
        }
        _ => format!("the host has no {} of {}", op.name(), op.dtype()),
    };
    GpuError::unsupported(op.name(), detail)
}

/// Whether `op` is served.
fn serves(op: &Op<'_>) -> bool {
    let known = |dtype| DTypeSet::ALL.contains(dtype);
    let complex = op.dtype().is_complex();
    let boolean = op.dtype() == DType::Bool;
    match op {
        Op::Fill { out, value } => known(out.dtype) && value.dtype() == out.dtype,
        Op::Copy { out, input } => known(out.dtype) && known(input.dtype),
        Op::Unary { op, out, input } => {
            known(input.dtype)
                && out.dtype == unary_output(*op, input.dtype)
                && match op {
                    UnaryOp::Neg => !boolean,
                    UnaryOp::Exp
                    | UnaryOp::Log
                    | UnaryOp::Sqrt
                    | UnaryOp::Tanh
                    | UnaryOp::Recip => ANALYTIC.contains(input.dtype),
                    UnaryOp::Not => boolean || input.dtype.is_integer(),
                    UnaryOp::Abs | UnaryOp::Conj | UnaryOp::IsNan => true,
                    _ => false,
                }
        }
        Op::Binary { op, out, lhs, rhs } => {
            known(out.dtype)
                && same([lhs, rhs], out.dtype)
                && match op {
                    BinaryOp::Add | BinaryOp::Mul => true,
                    BinaryOp::Sub | BinaryOp::Div => !boolean,
                    BinaryOp::Rem => !boolean && !complex,
                    BinaryOp::Min | BinaryOp::Max => !complex,
                    _ => false,
                }
        }
        Op::Compare { op, out, lhs, rhs } => {
            out.dtype == DType::Bool
                && known(lhs.dtype())
                && lhs.dtype() == rhs.dtype()
                && match op {
                    CompareOp::Eq | CompareOp::Ne => true,
                    CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => !complex,
                    _ => false,
                }
        }
        Op::Select {
            out,
            condition,
            on_true,
            on_false,
        } => {
            known(out.dtype)
                && condition.dtype == DType::Bool
                && same([on_true, on_false], out.dtype)
        }
        Op::Reduce { op, out, input } => {
            known(input.dtype)
                && match op {
                    ReduceOp::Sum | ReduceOp::Prod => sums_to(input.dtype, out.dtype),
                    ReduceOp::Min | ReduceOp::Max => !complex && out.dtype == input.dtype,
                    ReduceOp::Any | ReduceOp::All => out.dtype == DType::Bool,
                    _ => false,
                }
        }
        Op::ArgReduce { out, input, .. } => {
            ORDERED.contains(input.dtype) && out.dtype == DType::I64
        }
        Op::Scan { op, out, input } => {
            known(input.dtype)
                && match op {
                    ScanOp::Sum | ScanOp::Prod => sums_to(input.dtype, out.dtype),
                    ScanOp::Min | ScanOp::Max => !complex && out.dtype == input.dtype,
                    _ => false,
                }
        }
        Op::Gather {
            out, input, index, ..
        } => known(out.dtype) && out.dtype == input.dtype && is_index(index.dtype),
        Op::Scatter {
            out, index, src, ..
        } => known(out.dtype) && out.dtype == src.dtype && is_index(index.dtype),
        Op::Gemm(gemm) => {
            known(gemm.dtype) && gemm.alpha.dtype() == gemm.dtype && gemm.beta.dtype() == gemm.dtype
        }
        Op::Random { out, .. } => ANALYTIC.contains(out.dtype),
        _ => false,
    }
}

/// The dtype that a function of `dtype` gives.
const fn unary_output(op: UnaryOp, dtype: DType) -> DType {
    match op {
        UnaryOp::Abs => dtype.real(),
        UnaryOp::IsNan => DType::Bool,
        _ => dtype,
    }
}

/// Whether both operands are of `dtype`.
fn same(operands: [&Operand<'_>; 2], dtype: DType) -> bool {
    operands.iter().all(|operand| operand.dtype() == dtype)
}

/// Whether sums and products of `from` may be given as `to`.
const fn sums_to(from: DType, to: DType) -> bool {
    match from {
        DType::F16 => matches!(to, DType::F16 | DType::F32),
        DType::BF16 => matches!(to, DType::BF16 | DType::F32),
        DType::F32 => matches!(to, DType::F32),
        DType::F64 => matches!(to, DType::F64),
        DType::Complex64 => matches!(to, DType::Complex64),
        DType::Complex128 => matches!(to, DType::Complex128),
        _ => matches!(to, DType::I64 | DType::F64),
    }
}

/// Whether indices may be of `dtype`.
const fn is_index(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::I32 | DType::U32 | DType::U8)
}
