//! Whether a vendor must serve an operation, may, or must refuse it: what its support table says.
//!
//! An operation is *claimed* when the table has the type that is computed on, and every other type
//! the operation names beside it: the output of a cast or a sum, the indices. Bool results of
//! comparisons and tests and the i64 of positions need no entry. A claimed operation must be
//! planned. One whose other types are not in the table may be planned or refused. One whose own type
//! is not in the table must be refused, and that is tested wherever a check ends as *unsupported*.

use crate::cx::Cx;
use crate::outcome::Stop;
use gpu_seam::{DType, Execute, GpuError, Op, UnaryOp};

/// What the table says about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// `plan` must accept it.
    Served,
    /// `plan` may accept or refuse it.
    Open,
    /// `plan` must refuse it.
    Denied,
}

impl<V: Execute> Cx<V> {
    /// The scratch bytes of an operation that is to be run, or why it is not.
    ///
    /// # Errors
    /// `Unsupported` when table and plan agree that it is not served; `Failed` when they disagree.
    pub(crate) fn claim(&self, op: &Op<'_>) -> Result<usize, Stop> {
        let claim = self.claim_of(op);
        match (claim, self.driver().plan(op)) {
            (Claim::Served | Claim::Open, Ok(scratch)) => Ok(scratch.bytes),
            (Claim::Denied, Ok(_)) => Err(Stop::Failed(format!(
                "the support table denies {} of {}, and plan accepts it",
                op.family(),
                op.dtype()
            ))),
            (Claim::Served, Err(cause)) => Err(Stop::Failed(format!(
                "the support table claims {} of {}, and plan answers: {cause}",
                op.family(),
                op.dtype()
            ))),
            (_, Err(GpuError::Unsupported { op: named, detail })) => {
                if named != op.name() || detail.is_empty() {
                    let text = format!("plan refuses {} as {named:?}: {detail:?}", op.name());
                    return Err(Stop::Failed(text));
                }
                Err(Stop::Unsupported(format!("{named}: {detail}")))
            }
            (_, Err(cause)) => Err(Stop::Failed(format!(
                "plan of {} answers {cause} where Unsupported is right",
                op.name()
            ))),
        }
    }

    /// What the table says about `op`.
    pub(crate) fn claim_of(&self, op: &Op<'_>) -> Claim {
        let table = self.capabilities().support;
        let serves = |dtype| table.serves(op.family(), dtype);
        if !serves(op.dtype()) {
            Claim::Denied
        } else if others(op).into_iter().all(serves) && !is_marginal(op) {
            Claim::Served
        } else {
            Claim::Open
        }
    }
}

/// The types beside [`Op::dtype`] that need an entry of their own.
fn others(op: &Op<'_>) -> Vec<DType> {
    match op {
        Op::Copy { out, .. } => vec![out.dtype],
        Op::Unary {
            op: UnaryOp::Abs,
            out,
            ..
        } => vec![out.dtype],
        Op::Reduce { out, .. } | Op::Scan { out, .. } if out.dtype != DType::Bool => {
            vec![out.dtype]
        }
        Op::Gather { index, .. } | Op::Scatter { index, .. } => vec![index.dtype],
        _ => Vec::new(),
    }
}

/// Operations that say nothing on their type: a vendor may leave them out.
fn is_marginal(op: &Op<'_>) -> bool {
    match op {
        Op::Unary {
            op: UnaryOp::IsNan | UnaryOp::Conj,
            input,
            ..
        } => !input.dtype.is_float() && !input.dtype.is_complex(),
        Op::Unary {
            op: UnaryOp::Abs,
            input,
            ..
        } => input.dtype == DType::Bool,
        _ => false,
    }
}
