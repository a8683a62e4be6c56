//! What the toy computes: each operation a loop over values loaded and stored by view.

use crate::{Place, State};
use gpu_seam::{BinaryOp, DType, Gemm, Matrix, Op, Operand, ReduceOp, View};

/// Whether the toy has the operation.
pub(crate) fn serves(op: &Op<'_>) -> bool {
    match op {
        Op::Fill { .. } | Op::Binary { .. } | Op::Reduce { .. } | Op::Gemm(_) => {
            op.dtype() == DType::F32
        }
        Op::Gather { input, index, .. } => {
            matches!(input.dtype, DType::F32 | DType::I64) && index.dtype == DType::I64
        }
        _ => false,
    }
}

/// Element positions in row-major order.
fn positions(view: &View<'_>) -> Vec<usize> {
    let mut all = vec![view.offset];
    for (&dim, &stride) in view.dims.iter().zip(view.strides) {
        let steps = |at: usize| (0..dim as isize).map(move |i| at.wrapping_add_signed(i * stride));
        all = all.into_iter().flat_map(steps).collect();
    }
    all
}

/// The elements' bytes, one after the other.
fn load(state: &mut State, arg: Place, view: &View<'_>) -> Vec<u8> {
    let size = view.dtype.size();
    let bytes = state.bytes(arg);
    positions(view).into_iter().flat_map(|at| bytes[at * size..][..size].to_vec()).collect()
}

fn store(state: &mut State, arg: Place, view: &View<'_>, values: &[u8]) {
    let size = view.dtype.size();
    let bytes = state.bytes(arg);
    for (at, value) in positions(view).into_iter().zip(values.chunks_exact(size)) {
        bytes[at * size..][..size].copy_from_slice(value);
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect()
}

/// Runs a planned operation.
pub(crate) fn run(state: &mut State, op: &Op<'_>, args: &[Place], fault: &str) {
    match *op {
        Op::Fill { out, value } => {
            let count = positions(&out).len();
            store(state, args[0], &out, &value.to_le_bytes()[..4].repeat(count));
            if let (Some((_, end)), "fill_overruns") = (out.extent(), fault) {
                state.bytes(Place { offset: args[0].offset + 4 * end, len: 1, ..args[0] }).fill(0);
            }
        }
        Op::Binary { op, out, lhs, rhs } => {
            let mut side = |operand: Operand<'_>, arg: usize| match operand {
                Operand::Scalar(x) => x.to_le_bytes()[..4].repeat(positions(&out).len()),
                Operand::View(mut view) => {
                    match fault {
                        "add_ignores_offset" => view.offset = 0,
                        "add_ignores_strides" => view.strides = out.strides,
                        _ => {}
                    }
                    load(state, args[arg], &view)
                }
            };
            let (a, b) = (floats(&side(lhs, 1)), floats(&side(rhs, args.len() - 1)));
            let values = a.into_iter().zip(b).map(|(a, b)| binary(op, a, b, fault));
            store(state, args[0], &out, &values.flat_map(f32::to_le_bytes).collect::<Vec<_>>());
        }
        Op::Reduce { op, out, input } => {
            let values = floats(&load(state, args[1], &input));
            let (line, inner) = (input.dims[1], input.dims[2]);
            let used = line - usize::from(fault == "sum_drops_the_last" && line > 1);
            let starts = (0..values.len()).filter(|at| at / inner % line == 0);
            let reduced = starts.flat_map(|start| {
                let line = (0..used).map(|at| values[start + at * inner]);
                let bytes = reduce(op, line, fault).to_le_bytes();
                // A bool is the one byte 0 or 1; anything but zero ends in a byte that is not.
                if out.dtype == DType::Bool {
                    vec![u8::from(bytes != [0; 4])]
                } else {
                    bytes.into()
                }
            });
            let reduced: Vec<_> = reduced.collect();
            store(state, args[0], &out, &reduced);
        }
        Op::Gather { out, input, index, axis } => {
            pick(state, args, [out, input, index], axis, fault)
        }
        Op::Gemm(gemm) => product(state, args, &gemm, fault),
        _ => {}
    }
}

fn binary(op: BinaryOp, a: f32, b: f32, fault: &str) -> f32 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        _ if (a.is_nan() || b.is_nan()) && fault != "min_loses_nan" => f32::NAN,
        BinaryOp::Min => a.min(b),
        _ => a.max(b),
    }
}

fn reduce(op: ReduceOp, mut line: impl Iterator<Item = f32>, fault: &str) -> f32 {
    let (start, step) = match op {
        ReduceOp::Any => return f32::from(u8::from(line.any(|x| x != 0.0))),
        ReduceOp::All => return f32::from(u8::from(line.all(|x| x != 0.0))),
        ReduceOp::Sum => (0.0, BinaryOp::Add),
        ReduceOp::Prod => (1.0, BinaryOp::Mul),
        ReduceOp::Min => (f32::INFINITY, BinaryOp::Min),
        _ if fault == "max_starts_at_zero" => (0.0, BinaryOp::Max),
        _ => (f32::NEG_INFINITY, BinaryOp::Max),
    };
    line.fold(start, |a, b| binary(step, a, b, fault))
}

fn pick(state: &mut State, args: &[Place], views: [View<'_>; 3], axis: usize, fault: &str) {
    let [out, input, index] = views;
    let size = out.dtype.size();
    // The input walked like the index, at 0 along the axis.
    let mut strides = input.strides.to_vec();
    let stride = std::mem::take(&mut strides[axis]);
    let bases = positions(&View { dims: index.dims, strides: &strides, ..input });
    let wanted = load(state, args[2], &index);
    let (mut values, mut bad) = (Vec::new(), None);
    for (base, wanted) in bases.into_iter().zip(wanted.as_chunks::<8>().0) {
        let inside = |at: &usize| *at < input.dims[axis];
        let mut at = usize::try_from(i64::from_le_bytes(*wanted)).ok().filter(inside);
        if at.is_none() {
            bad = bad.or(Some(wanted));
            at = (fault == "bad_index_is_clamped").then_some(0);
        }
        match at.map(|at| base.wrapping_add_signed(at as isize * stride)) {
            Some(at) => values.extend_from_slice(&state.bytes(args[1])[at * size..][..size]),
            None => values.extend(vec![0; size]),
        }
    }
    store(state, args[0], &out, &values);
    if let (Some(bad), false) = (bad, fault == "fault_slot_stays_silent") {
        let slot = state.bytes(args[3]);
        slot[0] = 1;
        slot[4..12].copy_from_slice(bad);
    }
}

fn product(state: &mut State, args: &[Place], gemm: &Gemm, fault: &str) {
    let [out, lhs, rhs] = [0, 1, 2].map(|at| floats(state.bytes(args[at])));
    let place = |matrix: &Matrix, batch: usize, i: usize, j: usize| {
        let turned = matrix.transposed && fault != "gemm_ignores_transpose";
        let (i, j) = if turned { (j, i) } else { (i, j) };
        let shared = matrix.batch_stride == 0 && fault == "gemm_walks_a_shared_factor";
        let stride = if shared { 1 } else { matrix.batch_stride };
        (matrix.offset + i * matrix.ld + j).wrapping_add_signed(batch as isize * stride)
    };
    let [alpha, beta] = [gemm.alpha, gemm.beta].map(|x| f32::from_bits(x.bits() as u32));
    let rows = (0..gemm.batch).flat_map(|batch| (0..gemm.m).map(move |i| (batch, i)));
    for (batch, i, j) in rows.flat_map(|(batch, i)| (0..gemm.n).map(move |j| (batch, i, j))) {
        let sum = (0..gemm.k).fold(0.0, |sum, at| {
            // Only a planted fault goes beyond the factors.
            let a = lhs.get(place(&gemm.lhs, batch, i, at)).unwrap_or(&0.0);
            let b = rhs.get(place(&gemm.rhs, batch, at, j)).unwrap_or(&0.0);
            sum + f64::from(*a) * f64::from(*b)
        });
        let (mut value, at) = (alpha * sum as f32, place(&gemm.out, batch, i, j));
        if beta != 0.0 || fault == "gemm_reads_stale_output" {
            value += beta * out[at];
        }
        state.bytes(args[0])[4 * at..][..4].copy_from_slice(&value.to_le_bytes());
    }
}
