//! From a [`Call`] to canonical steps: validation, broadcasting, merging, tiling.
//!
//! Plain functions over sizes and strides: the same call, input lengths and capabilities give the
//! same steps, no device is asked, nothing here is generic. What comes out keeps every promise that
//! [`Op`] makes to vendors, or is an [`Error::Invalid`] that names the operation and the offending
//! values. This is the one home of validation: nothing above need check, nothing below may.

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
    pub(crate) layouts: SmallVec<[Layout; 3]>,
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
/// [`Error::Invalid`] naming the operation and the offending values.
pub(crate) fn lower(
    call: &Call<'_>,
    inputs: &[usize],
    capabilities: &Capabilities,
) -> Result<Lowered, Error> {
    let _ = (inputs, capabilities);
    Err(Error::invalid(call.name(), "not lowered yet"))
}
