//! Reductions along lines that span more bytes than the device takes.
//!
//! Promises one rounding: partial results of narrow floats are f32. Knows nothing of how the pieces
//! are placed.

use super::draft::{Draft, Loop, Loops};
use super::plan::{Part, Plan, blank};
use super::reduce::partial;
use super::tile::too_wide;
use crate::error::Error;
use gpu_seam::{DType, Op, ReduceOp};

/// Reduces every line in pieces of `piece` elements, and then the pieces' results.
pub(super) fn cut_line(plan: &mut Plan<'_>, draft: &Draft, piece: usize) -> Result<(), Error> {
    let (&[outer, line, inner], Op::Reduce { op, out, input }) = (&draft.loops[..], draft.op)
    else {
        return Err(plan.unsupported("not a reduction along lines"));
    };
    if piece == 1 && line.strides[1].unsigned_abs() == 1 {
        // The results of such pieces would be as many as the elements, and lie as close.
        return Err(too_wide(plan, input.dtype, 2));
    }
    let pieces = line.len.div_ceil(piece);
    let dtype = partial(op, out.dtype);
    let elements = pieces * outer.len * inner.len;
    let results = Part {
        slot: plan.temporary(elements, dtype)?,
        offset: 0,
        dtype,
    };
    // The results of one line lie together, so that a second cut finds the shortest reach.
    let across = (inner.len * pieces).cast_signed();
    let along = pieces.cast_signed();
    for at in 0..pieces {
        let mut part = draft.clone();
        part.narrow(1, at * piece, piece.min(line.len - at * piece));
        part.op = reduction(op, dtype, input.dtype);
        part.loops[0].strides[0] = across;
        part.loops[2].strides[0] = along;
        part.offsets[0] = at;
        part.slots[0] = results.slot;
        plan.emit(&part)?;
    }
    let mut last = draft.clone();
    last.op = reduction(op, out.dtype, dtype);
    last.loops[0].strides[1] = across;
    last.loops[1] = Loop::pair(pieces, 0, 1);
    last.loops[2].strides[1] = along;
    last.offsets[1] = 0;
    last.slots[1] = results.slot;
    if out.dtype == dtype {
        return plan.emit(&last);
    }
    let wide = Part {
        slot: plan.temporary(outer.len * inner.len, dtype)?,
        offset: 0,
        dtype,
    };
    let narrow = Part {
        slot: draft.slots[0],
        offset: draft.offsets[0],
        dtype: out.dtype,
    };
    last.op = reduction(op, dtype, dtype);
    last.slots[0] = wide.slot;
    last.offsets[0] = 0;
    last.loops[0].strides[0] = inner.len.cast_signed();
    last.loops[2].strides[0] = 1;
    plan.emit(&last)?;
    let rounded = Loops::from_slice(&[
        Loop::pair(outer.len, outer.strides[0], inner.len.cast_signed()),
        Loop::pair(inner.len, inner.strides[0], 1),
    ]);
    plan.copy((narrow, wide), rounded)
}

const fn reduction(op: ReduceOp, out: DType, input: DType) -> Op<'static> {
    Op::Reduce {
        op,
        out: blank(out),
        input: blank(input),
    }
}
