//! The short way for most small work: element-wise calls whose inputs are all contiguous and of one
//! shape.
//!
//! Promises what the long way would give, without touching the heap, or nothing at all: whatever is
//! empty, strided, too large or wrong goes the long way, which also says what is wrong. Knows
//! nothing of errors.

use super::plan::{at_offset, blank};
use super::{Layout, Lowered, Slot, Step, StepArg, validate};
use crate::call::Call;
use gpu_seam::{Capabilities, DType, MAX_RANK, Op, Operand, View};
use smallvec::SmallVec;

/// Lowers the whole of a call into an empty `lowered`, if the call is of the kind.
///
/// A [`Lowered`] is large: it is filled where it is, since every move of it costs as much as the
/// rest of this file.
pub(super) fn lower(
    call: &Call<'_>,
    lengths: &[usize],
    capabilities: &Capabilities,
    lowered: &mut Lowered,
) -> Option<()> {
    match *call {
        Call::Copy { input, dtype } => {
            let op = Op::Copy {
                out: blank(dtype),
                input: at_offset(&input),
            };
            over(&op, dtype, &[&input], (lengths, capabilities), lowered)
        }
        Call::Unary { op, input } => {
            let dtype = validate::unary(op, input.dtype).ok()?;
            let op = Op::Unary {
                op,
                out: blank(dtype),
                input: at_offset(&input),
            };
            over(&op, dtype, &[&input], (lengths, capabilities), lowered)
        }
        Call::Binary { op, lhs, rhs } => {
            let dtype = lhs.dtype();
            if rhs.dtype() != dtype {
                return None;
            }
            validate::binary(op, dtype).ok()?;
            let template = Op::Binary {
                op,
                out: blank(dtype),
                lhs: without_layout(&lhs),
                rhs: without_layout(&rhs),
            };
            pair(
                &template,
                dtype,
                (&lhs, &rhs),
                (lengths, capabilities),
                lowered,
            )
        }
        Call::Compare { op, lhs, rhs } => {
            let dtype = lhs.dtype();
            if rhs.dtype() != dtype {
                return None;
            }
            validate::compare(op, dtype).ok()?;
            let template = Op::Compare {
                op,
                out: blank(DType::Bool),
                lhs: without_layout(&lhs),
                rhs: without_layout(&rhs),
            };
            pair(
                &template,
                DType::Bool,
                (&lhs, &rhs),
                (lengths, capabilities),
                lowered,
            )
        }
        _ => None,
    }
}

fn without_layout(operand: &Operand<'_>) -> Operand<'static> {
    match operand {
        Operand::View(view) => Operand::View(at_offset(view)),
        Operand::Scalar(scalar) => Operand::Scalar(*scalar),
    }
}

/// `op` over two operands.
fn pair(
    op: &Op<'static>,
    dtype: DType,
    operands: (&Operand<'_>, &Operand<'_>),
    (lengths, capabilities): (&[usize], &Capabilities),
    lowered: &mut Lowered,
) -> Option<()> {
    match operands {
        (Operand::View(lhs), Operand::View(rhs)) => {
            over(op, dtype, &[lhs, rhs], (lengths, capabilities), lowered)
        }
        (Operand::View(one), Operand::Scalar(_)) | (Operand::Scalar(_), Operand::View(one)) => {
            over(op, dtype, &[one], (lengths, capabilities), lowered)
        }
        _ => None,
    }
}

/// `op`, whose views have the inputs' offsets, as one step.
fn over(
    op: &Op<'static>,
    dtype: DType,
    inputs: &[&View<'_>],
    (lengths, capabilities): (&[usize], &Capabilities),
    lowered: &mut Lowered,
) -> Option<()> {
    let limit = capabilities.max_operand_bytes;
    let dims = inputs.first()?.dims;
    if inputs.len() != lengths.len() || dims.len() > MAX_RANK {
        return None;
    }
    let mut elements = 0;
    for (at, (input, &length)) in inputs.iter().zip(lengths).enumerate() {
        if at > 0 && input.dims != dims {
            return None;
        }
        elements = contiguous(input)?;
        let end = input.offset.checked_add(elements)?;
        if end.checked_mul(input.dtype.size())? > length || length > limit {
            return None;
        }
    }
    let bytes = elements.checked_mul(dtype.size())?;
    if bytes > limit || isize::try_from(bytes).is_err() {
        return None;
    }
    lowered.dims.extend_from_slice(dims);
    lowered.dtype = dtype;
    lowered.bytes = bytes;
    let views = 1 + inputs.len();
    let arg = |slot, len| StepArg {
        slot,
        offset: 0,
        len,
    };
    let line = || Layout {
        dims: SmallVec::from_buf_and_len([elements, 0, 0, 0, 0, 0], 1),
        strides: SmallVec::from_buf_and_len([1, 0, 0, 0, 0, 0], 1),
    };
    let second = lengths.get(1).copied().unwrap_or(0);
    let args = [
        arg(Slot::Output, bytes),
        arg(Slot::Input(0), lengths[0]),
        arg(Slot::Input(1), second),
        arg(Slot::Output, 0),
    ];
    lowered.steps.push(Step {
        shape: *op,
        layouts: SmallVec::from_buf_and_len([line(), line(), line(), Layout::default()], views),
        args: SmallVec::from_buf_and_len(args, views),
    });
    Some(())
}

/// The elements of a contiguous view that has any.
fn contiguous(view: &View<'_>) -> Option<usize> {
    if view.dims.len() != view.strides.len() {
        return None;
    }
    let mut elements = 1usize;
    for (&len, &stride) in view.dims.iter().zip(view.strides).rev() {
        if len != 1 {
            if len == 0 || usize::try_from(stride) != Ok(elements) {
                return None;
            }
            elements = elements.checked_mul(len)?;
        }
    }
    Some(elements)
}
