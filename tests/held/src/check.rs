//! The rules that a canonical operation keeps, checked against its arguments.
//!
//! A real vendor trusts gpu-dispatch; this one tells on it.

use crate::config::Config;
use crate::state::Range;
use gpu_seam::{FAULT_SLOT_BYTES, Gemm, Matrix, Op, View};

/// Whether the last argument of `op` is a fault slot.
pub(crate) const fn has_fault_slot(op: &Op<'_>) -> bool {
    matches!(op, Op::Gather { .. } | Op::Scatter { .. })
}

/// What an argument is used for: the element positions `[start, end)` of elements of `size` bytes.
struct Use {
    start: usize,
    end: usize,
    size: usize,
}

/// The first rule that `op` breaks with these arguments.
pub(crate) fn broken(op: &Op<'_>, args: &[Range], config: &Config) -> Option<String> {
    let uses = match uses(op, config) {
        Ok(uses) => uses,
        Err(text) => return Some(text),
    };
    let slots = usize::from(has_fault_slot(op));
    if args.len() != uses.len() + slots {
        return Some(format!(
            "{} arguments for {} views and {slots} fault slots",
            args.len(),
            uses.len()
        ));
    }
    if slots == 1 && args[uses.len()].len != FAULT_SLOT_BYTES {
        return Some(format!("a fault slot of {} bytes", args[uses.len()].len));
    }
    for (at, arg) in args.iter().enumerate() {
        if arg.offset % config.offset_alignment != 0 {
            return Some(format!(
                "argument {at} at byte {} is not aligned to {}",
                arg.offset, config.offset_alignment
            ));
        }
        if arg.len > config.max_operand_bytes {
            return Some(format!(
                "argument {at} of {} bytes is above max_operand_bytes",
                arg.len
            ));
        }
    }
    for (at, (used, arg)) in uses.iter().zip(args).enumerate() {
        if used
            .end
            .checked_mul(used.size)
            .is_none_or(|end| end > arg.len)
        {
            return Some(format!(
                "argument {at} of {} bytes is shorter than {} elements of {} bytes",
                arg.len, used.end, used.size
            ));
        }
        if arg.offset % used.size.min(8) != 0 {
            return Some(format!(
                "argument {at} at byte {} is not aligned to its elements",
                arg.offset
            ));
        }
    }
    let bytes = |at: usize| Range {
        place: args[at].place,
        offset: args[at].offset + uses[at].start * uses[at].size,
        len: (uses[at].end - uses[at].start) * uses[at].size,
    };
    let in_place = matches!(
        op,
        Op::Unary { .. } | Op::Binary { .. } | Op::Select { .. } | Op::Copy { .. }
    );
    (1..uses.len()).find_map(|at| {
        let same = in_place && bytes(at) == bytes(0) && uses[at].size == uses[0].size;
        (bytes(0).overlaps(&bytes(at)) && !same)
            .then(|| format!("the output overlaps argument {at}"))
    })
}

fn uses(op: &Op<'_>, config: &Config) -> Result<Vec<Use>, String> {
    if let Op::Gemm(gemm) = op {
        return gemm_uses(gemm);
    }
    let mut uses = Vec::new();
    let mut broken = None;
    // The visit is wanted, not the operation that it gives back.
    let _ = op.map_views(|view| {
        match view_use(&view, uses.is_empty(), config) {
            Ok(used) => uses.push(used),
            Err(text) => broken = broken.take().or(Some(text)),
        }
        view
    });
    match broken {
        None => Ok(uses),
        Some(text) => Err(text),
    }
}

fn view_use(view: &View<'_>, output: bool, config: &Config) -> Result<Use, String> {
    if view.rank() > config.strided_rank {
        return Err(format!(
            "a view of rank {} where {} is served",
            view.rank(),
            config.strided_rank
        ));
    }
    if view.dims.contains(&0) {
        return Err(format!("an empty view of dims {:?}", view.dims));
    }
    let repeats = view
        .dims
        .iter()
        .zip(view.strides)
        .any(|(&dim, &stride)| dim > 1 && stride == 0);
    if output && repeats {
        return Err(format!(
            "an output of dims {:?} and strides {:?}",
            view.dims, view.strides
        ));
    }
    match view.extent() {
        Some((start, end)) => Ok(Use {
            start,
            end,
            size: view.dtype.size(),
        }),
        None => Err(format!("a view without extent: {view:?}")),
    }
}

fn gemm_uses(gemm: &Gemm) -> Result<Vec<Use>, String> {
    if gemm.batch == 0 || gemm.m == 0 || gemm.n == 0 {
        return Err(format!("an empty product: {gemm:?}"));
    }
    let size = gemm.dtype.size();
    let extent = |matrix: &Matrix, rows: usize, columns: usize| -> Result<Use, String> {
        let (rows, columns) = if matrix.transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        if rows == 0 || columns == 0 {
            return Ok(Use {
                start: matrix.offset,
                end: matrix.offset,
                size,
            });
        }
        let strides = [matrix.batch_stride, matrix.ld.cast_signed(), 1];
        let dims = [gemm.batch, rows, columns];
        // A leading dimension below the row length would let rows overlap.
        if rows > 1 && matrix.ld < columns {
            return Err(format!(
                "a leading dimension below the row length: {matrix:?}"
            ));
        }
        match View::new(gemm.dtype, matrix.offset, &dims, &strides).extent() {
            Some((start, end)) => Ok(Use { start, end, size }),
            None => Err(format!("a matrix without extent: {matrix:?}")),
        }
    };
    if gemm.out.transposed || gemm.out.conjugated || (gemm.batch > 1 && gemm.out.batch_stride == 0)
    {
        return Err(format!("an output matrix {:?}", gemm.out));
    }
    Ok(vec![
        extent(&gemm.out, gemm.m, gemm.n)?,
        extent(&gemm.lhs, gemm.m, gemm.k)?,
        extent(&gemm.rhs, gemm.k, gemm.n)?,
    ])
}
