//! Which bytes of its arguments an operation touches.
//!
//! Promises the exact byte runs of every view, so that a kernel writes its output's elements and
//! not the gaps between them, and is told of by every input byte that nobody wrote. Knows nothing
//! of buffers.

use gpu_seam::{Gemm, Matrix, Op, Scalar, ScatterMode, View};

/// What an operation does with one argument, in bytes from the argument's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// The first byte and the one after the last.
    pub(super) extent: (usize, usize),
    /// Start and length of each run of elements.
    pub(super) runs: Vec<(usize, usize)>,
    /// Whether the operation computes with every element.
    pub(super) computed: bool,
}

/// What `op` does with each argument but the fault slot; `None` when a view has no extent.
pub(super) fn uses(op: &Op<'_>) -> Option<Vec<Use>> {
    if let Op::Gemm(gemm) = op {
        return gemm_uses(gemm);
    }
    let mut uses = Vec::new();
    let mut whole = true;
    // The visit is wanted, not the operation that it gives back.
    let _ = op.map_views(|view| {
        let computed = match op {
            // Its output is read where it adds, its source and index always.
            Op::Scatter { mode, .. } => !uses.is_empty() || *mode == ScatterMode::Add,
            // Which elements of the input are read is the index's business.
            Op::Gather { .. } => uses.len() == 2,
            _ => !uses.is_empty(),
        };
        match of_view(&view, computed) {
            Some(used) => uses.push(used),
            None => whole = false,
        }
        view
    });
    whole.then_some(uses)
}

/// Whether the last argument of `op` is a fault slot.
pub(super) const fn has_fault_slot(op: &Op<'_>) -> bool {
    matches!(op, Op::Gather { .. } | Op::Scatter { .. })
}

fn of_view(view: &View<'_>, computed: bool) -> Option<Use> {
    let size = view.dtype.size();
    let (start, end) = view.extent()?;
    Some(Use {
        extent: (start.checked_mul(size)?, end.checked_mul(size)?),
        runs: runs(view),
        computed,
    })
}

fn gemm_uses(gemm: &Gemm) -> Option<Vec<Use>> {
    let matrix = |matrix: &Matrix, rows: usize, columns: usize, computed: bool| {
        let (rows, columns) = match matrix.transposed {
            true => (columns, rows),
            false => (rows, columns),
        };
        let dims = [gemm.batch, rows, columns];
        let strides = [matrix.batch_stride, isize::try_from(matrix.ld).ok()?, 1];
        of_view(
            &View::new(gemm.dtype, matrix.offset, &dims, &strides),
            computed,
        )
    };
    let (m, n, k) = (gemm.m, gemm.n, gemm.k);
    let updates = gemm.beta != Scalar::zero(gemm.dtype);
    Some(vec![
        matrix(&gemm.out, m, n, updates)?,
        matrix(&gemm.lhs, m, k, true)?,
        matrix(&gemm.rhs, k, n, true)?,
    ])
}

/// Start and length in bytes of each run of elements; a repeated element once.
fn runs(view: &View<'_>) -> Vec<(usize, usize)> {
    let size = view.dtype.size();
    if view.dims.contains(&0) {
        return Vec::new();
    }
    let (mut run, mut outer) = (1usize, Vec::new());
    for (&dim, &stride) in view.dims.iter().zip(view.strides).rev() {
        let repeats = dim == 1 || stride == 0;
        if outer.is_empty() && !repeats && usize::try_from(stride) == Ok(run) {
            run *= dim;
        } else if !repeats {
            outer.push((dim, stride));
        }
    }
    let mut starts = vec![view.offset];
    for (dim, stride) in outer.into_iter().rev() {
        let steps = 0..dim.cast_signed();
        starts = starts
            .iter()
            .flat_map(|start| {
                steps
                    .clone()
                    .map(move |step| start.wrapping_add_signed(step * stride))
            })
            .collect();
    }
    starts
        .into_iter()
        .map(|start| (start * size, run * size))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{runs, uses};
    use gpu_seam::{BinaryOp, DType, Op, Operand, View};

    #[test]
    fn runs_are_the_elements_and_not_the_gaps() {
        let view = |offset, dims, strides| View::new(DType::F16, offset, dims, strides);
        assert_eq!(runs(&view(3, &[2, 3], &[3, 1])), [(6, 12)]);
        assert_eq!(runs(&view(0, &[2, 3], &[5, 1])), [(0, 6), (10, 6)]);
        assert_eq!(runs(&view(2, &[3], &[-1])), [(4, 2), (2, 2), (0, 2)]);
        assert_eq!(runs(&view(1, &[4, 2], &[0, 1])), [(2, 4)]);
        assert_eq!(runs(&view(1, &[], &[])), [(2, 2)]);
        assert_eq!(
            runs(&view(0, &[2, 2], &[1, 2])),
            [(0, 2), (4, 2), (2, 2), (6, 2)]
        );
        assert_eq!(runs(&view(0, &[2, 0], &[1, 1])), []);
    }

    #[test]
    fn an_operation_computes_with_its_inputs_alone() {
        let view = View::new(DType::F32, 1, &[2], &[2]);
        let op = Op::Binary {
            op: BinaryOp::Add,
            out: view,
            lhs: Operand::View(view),
            rhs: Operand::View(view),
        };
        let found = uses(&op).unwrap();
        let computed: Vec<_> = found.iter().map(|used| used.computed).collect();
        assert_eq!(computed, [false, true, true]);
        assert_eq!(found[0].extent, (4, 16));
        assert_eq!(found[0].runs, [(4, 4), (12, 4)]);
    }
}
