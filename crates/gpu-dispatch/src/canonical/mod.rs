//! From a [`Call`] to canonical steps: validation, broadcasting, merging, tiling.
//!
//! Plain functions over sizes and strides: the same call, input lengths and capabilities give the
//! same steps, no device is asked, nothing here is generic. What comes out keeps every promise that
//! [`Op`] makes to vendors, or is an [`Error::Invalid`] that names the operation and the offending
//! values. This is the one home of validation: nothing above need check, nothing below may.
//!
//! The way down: small contiguous work takes the short way in `quick`. For all else, a family's
//! file validates a call and describes it as drafts (a loop nest that all operands walk together);
//! [`plan`] turns each draft into one step when the device takes it as it is, and otherwise `rank`
//! (too many dimensions) or `tile` (too many bytes) into several.

mod broadcast;
mod concat;
mod draft;
mod elementwise;
mod indexing;
mod lines;
mod matmul;
mod matrix;
mod plan;
mod quick;
mod rank;
mod reduce;
mod tile;
mod tile_gemm;
mod tile_reduce;
mod validate;

#[cfg(test)]
mod tests;

pub(crate) use plan::MAX_LOOKUPS;

use crate::call::{Call, Dims, Strides};
use crate::error::Error;
use gpu_seam::{Capabilities, DType, Op, View};
use smallvec::SmallVec;

/// What a call becomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lowered {
    /// The dims of the output, as the caller sees them.
    pub(crate) dims: Dims,
    /// The dtype of the output.
    pub(crate) dtype: DType,
    /// Bytes of the output: elements times size; 0 when it is empty.
    pub(crate) bytes: usize,
    /// Bytes of each temporary that the steps use. Each lives from the first step that names it to
    /// the last.
    pub(crate) temporaries: SmallVec<[usize; 2]>,
    /// What to run, in order. Empty when the output is.
    pub(crate) steps: SmallVec<[Step; 1]>,
}

/// One canonical operation and what its arguments are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// The operation with empty layouts: they are in `layouts`, in the order of the arguments.
    pub(crate) shape: Op<'static>,
    /// Dims and strides of each view.
    pub(crate) layouts: SmallVec<[Layout; 4]>,
    /// The arguments, in the order that [`Op`] states, without the fault slot.
    pub(crate) args: SmallVec<[StepArg; 4]>,
}

/// Dims and strides of one view.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Layout {
    /// Elements along each dimension.
    pub(crate) dims: Dims,
    /// Steps in elements.
    pub(crate) strides: Strides,
}

/// What an argument of a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepArg {
    /// Which storage.
    pub(crate) slot: Slot,
    /// First byte of the range, a multiple of `offset_alignment`.
    pub(crate) offset: usize,
    /// Bytes of the range.
    pub(crate) len: usize,
}

/// A storage that a step names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// The call's output.
    Output,
    /// The call's n-th view.
    Input(usize),
    /// The n-th temporary.
    Temporary(usize),
}

impl Step {
    /// The operation, borrowing its layouts from here.
    pub(crate) fn op(&self) -> Op<'_> {
        let mut layouts = self.layouts.iter();
        self.shape.map_views(|view| match layouts.next() {
            Some(layout) => View {
                dims: &layout.dims,
                strides: &layout.strides,
                ..view
            },
            None => view,
        })
    }
}

/// Validates `call` against the byte lengths of its inputs (one for each view, in order) and
/// lowers it to steps that a device of these capabilities can take.
///
/// # Errors
/// [`Error::Invalid`] naming the operation and the offending values; [`Error::Gpu`] with
/// `Unsupported` when the call is right but no split of it fits the device's limits.
pub(crate) fn lower(
    call: &Call<'_>,
    inputs: &[usize],
    capabilities: &Capabilities,
) -> Result<Lowered, Error> {
    let mut lowered = Lowered {
        dims: Dims::new(),
        dtype: DType::Bool,
        bytes: 0,
        temporaries: SmallVec::new(),
        steps: SmallVec::new(),
    };
    if quick::lower(call, inputs, capabilities, &mut lowered).is_none() {
        validate::inputs(call, inputs)?;
        let plan = plan::Plan::new(call.name(), inputs, capabilities, &mut lowered);
        family(call, plan)?;
    }
    Ok(lowered)
}

/// Hands a call to its family's file.
fn family(call: &Call<'_>, mut plan: plan::Plan<'_>) -> Result<(), Error> {
    match *call {
        Call::Fill { dims, value } => elementwise::fill(&mut plan, dims, value)?,
        Call::Random {
            distribution,
            dims,
            dtype,
            seed,
            first,
        } => elementwise::random(&mut plan, distribution, dims, dtype, (seed, first))?,
        Call::Copy { input, dtype } => elementwise::copy(&mut plan, input, dtype)?,
        Call::Unary { op, input } => elementwise::unary(&mut plan, op, input)?,
        Call::Binary { op, lhs, rhs } => elementwise::binary(&mut plan, op, lhs, rhs)?,
        Call::Compare { op, lhs, rhs } => elementwise::compare(&mut plan, op, lhs, rhs)?,
        Call::Select {
            condition,
            on_true,
            on_false,
        } => elementwise::select(&mut plan, condition, on_true, on_false)?,
        Call::Reduce {
            op,
            input,
            axes,
            dtype,
        } => reduce::reduce(&mut plan, op, input, axes, dtype)?,
        Call::ArgReduce { op, input, axes } => reduce::arg_reduce(&mut plan, op, input, axes)?,
        Call::Scan {
            op,
            input,
            axis,
            dtype,
        } => reduce::scan(&mut plan, op, input, axis, dtype)?,
        Call::Gather { input, index, axis } => indexing::gather(&mut plan, input, index, axis)?,
        Call::IndexSelect { input, index, axis } => {
            indexing::index_select(&mut plan, input, index, axis)?;
        }
        Call::Scatter {
            mode,
            base,
            index,
            src,
            axis,
        } => indexing::scatter(&mut plan, mode, (base, index, src), axis)?,
        Call::Matmul {
            lhs,
            rhs,
            alpha,
            bias,
        } => matmul::matmul(&mut plan, lhs, rhs, alpha, bias)?,
        Call::Concat { inputs, axis } => concat::concat(&mut plan, inputs, axis)?,
    }
    Ok(())
}
