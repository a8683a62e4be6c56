//! What every step must keep, whatever the call: the list at [`Op`], and the limits.

use crate::canonical::{Lowered, Slot, Step};
use gpu_seam::{Capabilities, DType, Gemm, Matrix, Op, View};
use std::collections::HashSet;

pub(super) fn check(lowered: &Lowered, inputs: &[usize], capabilities: &Capabilities) {
    let elements: usize = lowered.dims.iter().product();
    assert_eq!(lowered.bytes, elements * lowered.dtype.size());
    if elements == 0 {
        assert!(lowered.steps.is_empty() && lowered.temporaries.is_empty());
    }
    let mut narrow = HashSet::new();
    for step in &lowered.steps {
        arguments(step, lowered, inputs, capabilities);
        match step.op() {
            Op::Gemm(gemm) => product(&gemm, step),
            op => views(&op, step, capabilities),
        }
        if let Op::Reduce { out, input, .. } = step.op() {
            assert!(
                input.dims[1] == 1 || !narrow.contains(&step.args[1].slot),
                "a narrow partial result is reduced once more"
            );
            if matches!(out.dtype, DType::F16 | DType::BF16) && input.dtype != out.dtype {
                panic!("{} reduced to {}", input.dtype, out.dtype);
            }
            if matches!(out.dtype, DType::F16 | DType::BF16)
                && matches!(step.shape, Op::Reduce { op, .. } if matches!(op.name(), "sum" | "prod"))
            {
                narrow.insert(step.args[0].slot);
            }
        }
    }
}

/// Arguments lie in their storages, aligned, within the limit; the output is no input.
fn arguments(step: &Step, lowered: &Lowered, inputs: &[usize], capabilities: &Capabilities) {
    for (at, arg) in step.args.iter().enumerate() {
        let bytes = match arg.slot {
            Slot::Output => lowered.bytes,
            Slot::Input(at) => inputs[at],
            Slot::Temporary(at) => lowered.temporaries[at],
        };
        assert!(arg.offset + arg.len <= bytes, "{step:?}");
        assert_eq!(arg.offset % capabilities.offset_alignment, 0, "{step:?}");
        assert!(arg.len <= capabilities.max_operand_bytes, "{step:?}");
        assert!(at == 0 || arg.slot != step.args[0].slot, "{step:?}");
    }
    assert!(!matches!(step.args[0].slot, Slot::Input(_)), "{step:?}");
}

fn views(op: &Op<'_>, step: &Step, capabilities: &Capabilities) {
    let mut views: Vec<View<'_>> = Vec::new();
    let _ = op.map_views(|view| {
        views.push(view);
        view
    });
    assert_eq!(views.len(), step.args.len(), "{step:?}");
    assert_eq!(views.len(), step.layouts.len(), "{step:?}");
    for (view, arg) in views.iter().zip(&step.args) {
        assert!(
            (1..=capabilities.strided_rank).contains(&view.rank()),
            "{step:?}"
        );
        assert!(!view.dims.contains(&0), "{step:?}");
        let (_, end) = view.extent().unwrap();
        assert!(end * view.dtype.size() <= arg.len, "{step:?}");
        // A position counts in elements, so the argument must begin on one.
        assert_eq!(arg.offset % view.dtype.size(), 0, "{step:?}");
    }
    let out = &views[0];
    let repeats = out.dims.iter().zip(out.strides);
    assert!(
        repeats
            .clone()
            .all(|(&len, &stride)| len == 1 || stride != 0)
    );
    assert!(apart(out), "{step:?}");
    let same = |at: usize| assert_eq!(views[at].dims, out.dims, "{step:?}");
    match *op {
        Op::Reduce { .. } | Op::ArgReduce { .. } => {
            let input = views[1].dims;
            assert_eq!((out.rank(), input.len()), (2, 3), "{step:?}");
            assert_eq!((out.dims[0], out.dims[1]), (input[0], input[2]), "{step:?}");
        }
        Op::Scan { .. } => {
            assert_eq!(out.rank(), 3, "{step:?}");
            same(1);
        }
        Op::Gather { axis, .. } => {
            same(2);
            off_axis(views[1].dims, out.dims, axis);
        }
        Op::Scatter { axis, .. } => {
            assert_eq!(views[1].dims, views[2].dims, "{step:?}");
            off_axis(out.dims, views[1].dims, axis);
        }
        Op::Random { .. } => assert!(out.rank() == 1 && out.is_contiguous(), "{step:?}"),
        _ => (1..views.len()).for_each(same),
    }
}

fn off_axis(one: &[usize], other: &[usize], axis: usize) {
    assert_eq!(one.len(), other.len());
    for at in 0..one.len() {
        assert!(at == axis || one[at] == other[at]);
    }
    assert!(axis < one.len());
}

/// Whether no two elements of the view are one: steps nest.
fn apart(view: &View<'_>) -> bool {
    let mut steps: Vec<(usize, usize)> = view
        .dims
        .iter()
        .zip(view.strides)
        .filter(|(len, _)| **len != 1)
        .map(|(&len, stride)| (stride.unsigned_abs(), len))
        .collect();
    steps.sort_unstable();
    let mut reach = 0;
    steps.iter().all(|&(stride, len)| {
        let clear = stride > reach;
        reach += stride * (len - 1);
        clear
    })
}

fn product(gemm: &Gemm, step: &Step) {
    assert!(
        gemm.batch > 0 && gemm.m > 0 && gemm.n > 0 && gemm.k > 0,
        "{step:?}"
    );
    assert_eq!(
        (gemm.alpha.dtype(), gemm.beta.dtype()),
        (gemm.dtype, gemm.dtype)
    );
    assert!(!gemm.out.transposed && !gemm.out.conjugated, "{step:?}");
    let sizes = [(gemm.m, gemm.n), (gemm.m, gemm.k), (gemm.k, gemm.n)];
    let matrices = [&gemm.out, &gemm.lhs, &gemm.rhs];
    for ((matrix, (rows, cols)), arg) in matrices.into_iter().zip(sizes).zip(&step.args) {
        let (start, end) = span(matrix, gemm.batch, rows, cols);
        assert!(start >= 0, "{step:?}");
        let size = gemm.dtype.size();
        assert!(end.cast_unsigned() * size <= arg.len, "{step:?}");
        assert_eq!(arg.offset % size, 0, "{step:?}");
        assert!(gemm.dtype.is_complex() || !matrix.conjugated);
    }
    let (_, end) = span(&gemm.out, 1, gemm.m, gemm.n);
    let matrix = end - gemm.out.offset.cast_signed();
    assert!(
        gemm.batch == 1 || gemm.out.batch_stride >= matrix,
        "{step:?}"
    );
}

/// The positions that a matrix touches; its stored rows fit their leading dimension.
fn span(matrix: &Matrix, batch: usize, rows: usize, cols: usize) -> (isize, isize) {
    let (count, len) = if matrix.transposed {
        (cols, rows)
    } else {
        (rows, cols)
    };
    assert!(matrix.ld >= len, "{matrix:?}");
    let within = ((count - 1) * matrix.ld + len).cast_signed();
    let across = (batch - 1).cast_signed() * matrix.batch_stride;
    let offset = matrix.offset.cast_signed();
    (offset + across.min(0), offset + across.max(0) + within)
}
