//! Operations whose operands span more bytes than the device takes as one argument.
//!
//! Promises arguments within `max_operand_bytes` that begin at multiples of `offset_alignment`.
//! Knows nothing of what an operation computes, but for which of its loops may be cut. The loop
//! along which the widest operand gets farthest is cut first: that frees most with fewest pieces.

use super::draft::{Draft, Loop, VIEWS};
use super::plan::Plan;
use super::{Slot, StepArg, tile_reduce};
use crate::error::Error;
use gpu_seam::{DType, Op};
use smallvec::SmallVec;

/// Adds the steps of a draft of the right rank, in as many pieces as its operands need.
pub(super) fn fit(plan: &mut Plan<'_>, draft: &Draft) -> Result<(), Error> {
    let limit = plan.capabilities.max_operand_bytes;
    let mut args: SmallVec<[StepArg; VIEWS]> = SmallVec::new();
    for view in 0..draft.views() {
        let extent = draft.extent(view);
        args.push(window(plan, draft.slots[view], extent, draft.dtype(view)));
    }
    let widest = (0..args.len()).max_by_key(|&view| args[view].len);
    match widest {
        Some(view) if args[view].len > limit => cut(plan, draft, view),
        _ => {
            let mut placed = draft.clone();
            for (view, arg) in args.iter().enumerate() {
                placed.offsets[view] -= arg.offset / draft.dtype(view).size();
            }
            plan.push(placed.step(args))
        }
    }
}

/// The argument that covers the elements of `extent`.
pub(super) fn window(
    plan: &Plan<'_>,
    slot: Slot,
    (start, end): (usize, usize),
    dtype: DType,
) -> StepArg {
    let unit = unit(plan, dtype);
    let offset = start * dtype.size() / unit * unit;
    StepArg {
        slot,
        offset,
        len: end * dtype.size() - offset,
    }
}

/// What arguments of `dtype` are aligned to: whole elements, and the device's own alignment. Both
/// are powers of two.
fn unit(plan: &Plan<'_>, dtype: DType) -> usize {
    plan.capabilities.offset_alignment.max(dtype.size())
}

/// The elements that fit in one argument wherever it begins.
fn room(plan: &Plan<'_>, dtype: DType) -> usize {
    let lost = unit(plan, dtype) - dtype.size();
    plan.capabilities.max_operand_bytes.saturating_sub(lost) / dtype.size()
}

/// How many iterations of a loop fit in one argument: at least 1, and less than all. View `view`
/// begins at element `start` and gets `others` elements far along the other loops.
pub(super) fn piece(
    plan: &Plan<'_>,
    dtype: DType,
    (each, view): (&Loop, usize),
    start: usize,
    others: usize,
) -> usize {
    let step = each.strides[view].unsigned_abs().max(1);
    let fitting = |room: usize| {
        let spare = room.saturating_sub(1).saturating_sub(others);
        (spare / step + 1).min(each.len - 1)
    };
    // Pieces that are a multiple of the alignment long all begin as far from it as the first.
    let unit = unit(plan, dtype);
    let bytes = step.saturating_mul(dtype.size());
    let whole = unit >> bytes.trailing_zeros().min(unit.trailing_zeros());
    let lost = start * dtype.size() % unit;
    let aligned = fitting(plan.capabilities.max_operand_bytes.saturating_sub(lost) / dtype.size());
    match aligned - aligned % whole {
        0 => fitting(room(plan, dtype)),
        aligned => aligned,
    }
}

/// Cuts the loop along which view `view` gets farthest.
fn cut(plan: &mut Plan<'_>, draft: &Draft, view: usize) -> Result<(), Error> {
    let reach = |at: usize| {
        let len = draft.len(view, at);
        len.map_or(0, |len| {
            Loop {
                len,
                ..draft.loops[at]
            }
            .reach(view)
        })
    };
    let all: usize = (0..draft.loops.len()).map(reach).sum();
    let farthest = (0..draft.loops.len())
        .filter(|&at| may_cut(draft, view, at) && reach(at) > 0)
        .max_by_key(|&at| reach(at));
    let dtype = draft.dtype(view);
    let fixed: usize = (0..draft.loops.len())
        .filter(|&at| !may_cut(draft, view, at))
        .map(reach)
        .sum();
    let (start, _) = draft.extent(view);
    let least = start * dtype.size() % unit(plan, dtype) + (fixed + 1) * dtype.size();
    let Some(at) = farthest.filter(|_| least <= plan.capabilities.max_operand_bytes) else {
        return Err(too_wide(plan, dtype, fixed + 1));
    };
    let each = draft.loops[at];
    let len = each.len;
    let piece = piece(plan, dtype, (&each, view), start, all - reach(at));
    plan.bounded(len.div_ceil(piece))?;
    if at == 1 && matches!(draft.op, Op::Reduce { .. }) {
        return tile_reduce::cut_line(plan, draft, piece);
    }
    for start in (0..len).step_by(piece) {
        let mut part = draft.clone();
        part.narrow(at, start, piece.min(len - start));
        if !is_along_lines(&draft.op) {
            part.merge();
        }
        fit(plan, &part)?;
    }
    Ok(())
}

/// Whether loop `at` can be cut without changing what each piece computes, or, for a reduction,
/// with a second one over the pieces.
fn may_cut(draft: &Draft, view: usize, at: usize) -> bool {
    match draft.op {
        Op::ArgReduce { .. } | Op::Scan { .. } => at != 1,
        Op::Gather { .. } | Op::Scatter { .. } => {
            let own = |lookup: super::draft::Lookup| lookup.view == view && lookup.axis == at;
            !draft.lookup.is_some_and(own)
        }
        _ => true,
    }
}

const fn is_along_lines(op: &Op<'_>) -> bool {
    matches!(
        op,
        Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. }
    )
}

/// The error of an operand that no cut makes narrow enough.
pub(super) fn too_wide(plan: &Plan<'_>, dtype: DType, elements: usize) -> Error {
    plan.unsupported(format!(
        "an operand spans {elements} elements of {dtype} that stay together, and one argument may \
         have {} bytes on this device",
        plan.capabilities.max_operand_bytes
    ))
}
