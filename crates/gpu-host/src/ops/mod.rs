//! The operations: what the host serves, and the way from an [`Op`] to its kernels.
//!
//! Promises that [`plan`], [`support_table`] and [`execute`] agree: what is planned executes, and
//! nothing else does. Dispatch is by matching on operation and dtype down to loops that the
//! compiler knows whole; small work allocates nothing. Knows nothing of buffers or devices.

mod arg_reduce;
mod binary;
mod cast;
mod compare;
mod complex;
mod copy;
pub(crate) mod element;
mod fold;
mod gather;
mod gemm;
mod index;
mod math;
mod narrow;
mod number;
mod random;
pub(crate) mod raw;
mod reduce;
mod scan;
mod scatter;
mod select;
mod support;
#[cfg(test)]
mod tests;
mod unary;

pub(crate) use support::support_table;

use gpu_seam::{GpuError, Op, Scratch};
use raw::Args;

/// Elements that one task computes at least, by what an element costs: below twice that a second
/// thread costs more than it saves.
pub(crate) mod grain {
    /// A load, an operation and a store.
    pub(crate) const LIGHT: usize = 1 << 16;
    /// Tens of operations.
    pub(crate) const MEDIUM: usize = 1 << 14;
    /// A call into the mathematics library, or several.
    pub(crate) const HEAVY: usize = 1 << 11;
}

/// Whether `op` is served. No operation needs scratch memory.
pub(crate) fn plan(op: &Op<'_>) -> Result<Scratch, GpuError> {
    support::check(op)?;
    Ok(Scratch::default())
}

/// Computes `op` on its arguments.
pub(crate) fn execute<'a>(op: &Op<'a>, args: &Args<'a>) -> Result<(), GpuError> {
    let served = match *op {
        Op::Fill { out, value } => copy::fill(args, out, value),
        Op::Copy { out, input } => copy::copy(args, out, input),
        Op::Unary { op, out, input } => unary::execute(args, op, out, input),
        Op::Binary { op, out, lhs, rhs } => binary::execute(args, op, out, lhs, rhs),
        Op::Compare { op, out, lhs, rhs } => compare::execute(args, op, out, lhs, rhs),
        Op::Select {
            out,
            condition,
            on_true,
            on_false,
        } => select::execute(args, out, condition, on_true, on_false),
        Op::Reduce { op, out, input } => reduce::execute(args, op, out, input),
        Op::ArgReduce { op, out, input } => arg_reduce::execute(args, op, out, input),
        Op::Scan { op, out, input } => scan::execute(args, op, out, input),
        Op::Gather {
            out,
            input,
            index,
            axis,
        } => return gather::execute(args, out, input, index, axis),
        Op::Scatter {
            mode,
            out,
            index,
            src,
            axis,
        } => return scatter::execute(args, mode, out, index, src, axis),
        Op::Gemm(ref gemm) => gemm::execute(args, gemm),
        Op::Random {
            distribution,
            out,
            seed,
            first,
        } => random::execute(args, distribution, out, seed, first),
        _ => None,
    };
    served.ok_or_else(|| support::refusal(op))
}
