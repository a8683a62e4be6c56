//! Matrix products whose operands span more bytes than the device takes.
//!
//! Promises pieces over batch, rows and columns, and over the summed length where adding up the
//! pieces' results in the output rounds no coarser than one product does: not for f16 and bf16,
//! whose factors are copied with the summed dimension innermost instead. Knows nothing of how a
//! product came to be.

use super::draft::{Loop, Loops, shift};
use super::plan::{Part, Plan};
use super::tile::{piece, too_wide, window};
use super::{Slot, Step, StepArg};
use crate::error::Error;
use gpu_seam::{DType, Gemm, Matrix, Op, Scalar};
use smallvec::SmallVec;

/// The loops of a product, in the order of [`loops`].
const BATCH: usize = 0;
const ROWS: usize = 1;
const COLS: usize = 2;
const SUMMED: usize = 3;

/// Adds the steps of a product in as many pieces as its operands need.
pub(super) fn fit(plan: &mut Plan<'_>, gemm: &Gemm, slots: [Slot; 3]) -> Result<(), Error> {
    let loops = loops(gemm);
    let mut args: SmallVec<[StepArg; 4]> = SmallVec::new();
    for (view, matrix) in [gemm.out, gemm.lhs, gemm.rhs].iter().enumerate() {
        let extent = extent(&loops, view, matrix.offset);
        args.push(window(plan, slots[view], extent, gemm.dtype));
    }
    let widest = (0..3).max_by_key(|&view| args[view].len);
    match widest {
        Some(view) if args[view].len > plan.capabilities.max_operand_bytes => {
            cut(plan, gemm, slots, view)
        }
        _ => {
            let mut placed = *gemm;
            let matrices = [&mut placed.out, &mut placed.lhs, &mut placed.rhs];
            for (matrix, arg) in matrices.into_iter().zip(&args) {
                matrix.offset -= arg.offset / gemm.dtype.size();
            }
            plan.push(Step {
                shape: Op::Gemm(placed),
                layouts: SmallVec::new(),
                args,
            })
        }
    }
}

/// Batch, rows, columns and summed length as loops over output, left and right factor.
fn loops(gemm: &Gemm) -> [Loop; 4] {
    let steps = |matrix: &Matrix| {
        let ld = matrix.ld.cast_signed();
        if matrix.transposed { (1, ld) } else { (ld, 1) }
    };
    let (lhs, rhs, out) = (steps(&gemm.lhs), steps(&gemm.rhs), steps(&gemm.out));
    let each = |len, out, lhs, rhs| Loop {
        len,
        strides: [out, lhs, rhs, 0],
    };
    [
        each(
            gemm.batch,
            gemm.out.batch_stride,
            gemm.lhs.batch_stride,
            gemm.rhs.batch_stride,
        ),
        each(gemm.m, out.0, lhs.0, 0),
        each(gemm.n, out.1, 0, rhs.1),
        each(gemm.k, 0, lhs.1, rhs.0),
    ]
}

/// The half-open range of positions that matrix `view` touches.
fn extent(loops: &[Loop; 4], view: usize, offset: usize) -> (usize, usize) {
    let reach = |backwards: bool| {
        let chosen = loops
            .iter()
            .filter(|each| (each.strides[view] < 0) == backwards);
        chosen.map(|each| each.reach(view)).sum::<usize>()
    };
    (offset - reach(true), offset + reach(false) + 1)
}

/// Cuts the loop along which matrix `view` gets farthest.
fn cut(plan: &mut Plan<'_>, gemm: &Gemm, slots: [Slot; 3], view: usize) -> Result<(), Error> {
    let loops = loops(gemm);
    let reach = |at: usize| loops[at].reach(view);
    let all: usize = (0..4).map(reach).sum();
    let farthest = (0..4)
        .filter(|&at| reach(at) > 0)
        .max_by_key(|&at| reach(at));
    let Some(at) = farthest else {
        return Err(too_wide(plan, gemm.dtype, 1));
    };
    if at == SUMMED && matches!(gemm.dtype, DType::F16 | DType::BF16) {
        return sum_innermost(plan, gemm, slots, view);
    }
    let Loop { len, strides } = loops[at];
    let offset = [gemm.out.offset, gemm.lhs.offset, gemm.rhs.offset][view];
    let (start, _) = extent(&loops, view, offset);
    let each = (&loops[at], view);
    let piece = piece(plan, gemm.dtype, each, start, all - reach(at));
    plan.bounded(len.div_ceil(piece))?;
    for start in (0..len).step_by(piece) {
        let mut part = *gemm;
        let matrices = [&mut part.out, &mut part.lhs, &mut part.rhs];
        for (matrix, stride) in matrices.into_iter().zip(strides) {
            matrix.offset = shift(matrix.offset, start, stride);
        }
        let size = match at {
            BATCH => &mut part.batch,
            ROWS => &mut part.m,
            COLS => &mut part.n,
            _ => &mut part.k,
        };
        *size = piece.min(len - start);
        if at == SUMMED && start > 0 {
            part.beta = Scalar::one(gemm.dtype);
        }
        fit(plan, &part, slots)?;
    }
    Ok(())
}

/// Copies a factor so that its rows or columns can be cut instead of the summed dimension.
fn sum_innermost(
    plan: &mut Plan<'_>,
    gemm: &Gemm,
    mut slots: [Slot; 3],
    view: usize,
) -> Result<(), Error> {
    let loops = loops(gemm);
    let summed = loops[SUMMED].strides[view];
    if summed == 1 {
        return Err(too_wide(plan, gemm.dtype, gemm.k));
    }
    let mut whole = *gemm;
    let (matrix, lines) = match view {
        1 => (&mut whole.lhs, loops[ROWS]),
        _ => (&mut whole.rhs, loops[COLS]),
    };
    let own = [loops[BATCH], lines, loops[SUMMED]];
    let repeats = usize::from(own[0].strides[view] == 0);
    let mut copied: Loops = own[repeats..]
        .iter()
        .map(|each| Loop::pair(each.len, 0, each.strides[view]))
        .collect();
    let from = Part {
        slot: slots[view],
        offset: matrix.offset,
        dtype: gemm.dtype,
    };
    slots[view] = plan.copied(from, &mut copied)?.slot;
    *matrix = Matrix {
        offset: 0,
        ld: gemm.k,
        batch_stride: if repeats == 1 {
            0
        } else {
            copied[0].strides[1]
        },
        transposed: view != 1,
        conjugated: matrix.conjugated,
    };
    fit(plan, &whole, slots)
}
