//! Reductions, positions of extremes, and running reductions.
//!
//! Promises [`Op::Reduce`], [`Op::ArgReduce`] and [`Op::Scan`] their rank-3 form, a copy only where
//! no order of the dimensions has that form, and that no narrow float is rounded between the parts
//! of one reduction: partial results of f16 and bf16 are f32. Knows nothing of limits.
//!
//! A reduction over several groups of dimensions that do not merge goes group by group, longest
//! first, through temporaries that lie in the input's own order: that moves fewer bytes than a
//! permuted copy of the input.

use super::draft::{Draft, Loop, Loops, lay_out, merge, shift, sort_by_step};
use super::plan::{Part, Plan, blank};
use super::{lines, validate};
use crate::call::Dims;
use crate::error::Error;
use gpu_seam::{ArgOp, DType, Op, ReduceOp, Scalar, ScanOp, View};
use smallvec::SmallVec;

/// A reduction over `axes`, giving `dtype`.
pub(super) fn reduce(
    plan: &mut Plan<'_>,
    op: ReduceOp,
    input: View<'_>,
    axes: &[usize],
    dtype: DType,
) -> Result<(), Error> {
    validate::reduce(op, input.dtype, dtype)?;
    let Some(mut fold) = Fold::new(plan, Kind::Reduce(op), input, axes, dtype)? else {
        return Ok(());
    };
    if fold.is_over_nothing() {
        let value = match op {
            ReduceOp::Sum | ReduceOp::Any => Scalar::zero(dtype),
            ReduceOp::Prod | ReduceOp::All => Scalar::one(dtype),
            _ => return Err(no_identity(plan, input, axes)),
        };
        return plan.fill(value);
    }
    fold.walk_lines_forwards();
    fold.run(plan)
}

/// The positions of extremes over `axes`.
pub(super) fn arg_reduce(
    plan: &mut Plan<'_>,
    op: ArgOp,
    input: View<'_>,
    axes: &[usize],
) -> Result<(), Error> {
    validate::ordered(plan.name, input.dtype)?;
    let Some(fold) = Fold::new(plan, Kind::Arg(op), input, axes, DType::I64)? else {
        return Ok(());
    };
    if fold.is_over_nothing() {
        return Err(no_identity(plan, input, axes));
    }
    if fold.line.iter().all(|each| each.len == 1) {
        // The only element of a line is its extreme, whatever it is.
        return plan.fill(Scalar::zero(DType::I64));
    }
    fold.run(plan)
}

/// A running reduction along `axis`, giving `dtype`.
pub(super) fn scan(
    plan: &mut Plan<'_>,
    op: ScanOp,
    input: View<'_>,
    axis: usize,
    dtype: DType,
) -> Result<(), Error> {
    validate::scan(op, input.dtype, dtype)?;
    validate::axis(plan.name, axis, input.dims)?;
    if plan.output(input.dims, dtype)? == 0 {
        return Ok(());
    }
    let out = Part::output(dtype);
    let mut part = Part::input(0, &input);
    let mut loops = input_loops(&input);
    lay_out(&mut loops, 0);
    if loops[axis].len == 1 {
        return plan.copy((out, part), loops);
    }
    let mut nest = without(&loops, axis);
    if nest.is_none() {
        part = plan.copied(part, &mut loops)?;
        nest = without(&loops, axis);
    }
    let Some(nest) = nest else {
        return Err(plan.unsupported("no form along lines"));
    };
    let op = Op::Scan {
        op,
        out: blank(dtype),
        input: blank(part.dtype),
    };
    emit(plan, op, (out, part), nest)
}

/// The nest along loop `axis`.
fn without(loops: &Loops, axis: usize) -> Option<Loops> {
    let mut kept = loops.clone();
    let line = kept.remove(axis);
    lines::nest(kept, line)
}

/// What is computed along the lines.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Reduce(ReduceOp),
    Arg(ArgOp),
}

impl Kind {
    /// The dtype of results that are to be reduced, or copied, once more to give `out`.
    const fn partial(self, out: DType) -> DType {
        match self {
            Self::Reduce(op) => partial(op, out),
            Self::Arg(_) => out,
        }
    }

    /// Whether one operation leads from `input` to `out`.
    fn gives(self, input: DType, out: DType) -> bool {
        self.partial(out) == out || input == out
    }

    const fn op(self, out: DType, input: DType) -> Op<'static> {
        let (out, input) = (blank(out), blank(input));
        match self {
            Self::Reduce(op) => Op::Reduce { op, out, input },
            Self::Arg(op) => Op::ArgReduce { op, out, input },
        }
    }
}

/// The dtype of results of `op` that are to be reduced once more to give `out`.
pub(super) const fn partial(op: ReduceOp, out: DType) -> DType {
    match (op, out) {
        (ReduceOp::Sum | ReduceOp::Prod, DType::F16 | DType::BF16) => DType::F32,
        _ => out,
    }
}

/// A reduction on its way: what is read, and the loops that stay and those that go. View 0 is the
/// call's output, view 1 what is read.
struct Fold {
    kind: Kind,
    part: Part,
    kept: Loops,
    line: Loops,
    dtype: DType,
}

impl Fold {
    /// Validates, and says what the output is. `None` when the output is empty.
    fn new(
        plan: &mut Plan<'_>,
        kind: Kind,
        input: View<'_>,
        axes: &[usize],
        dtype: DType,
    ) -> Result<Option<Self>, Error> {
        let chosen = validate::axes(plan.name, axes, input.dims)?;
        let (mut kept, mut line) = (Loops::new(), Loops::new());
        for (at, each) in input_loops(&input).into_iter().enumerate() {
            if chosen[at] {
                line.push(each);
            } else {
                kept.push(each);
            }
        }
        let dims: Dims = kept.iter().map(|each| each.len).collect();
        if plan.output(&dims, dtype)? == 0 {
            return Ok(None);
        }
        lay_out(&mut kept, 0);
        Ok(Some(Self {
            kind,
            part: Part::input(0, &input),
            kept,
            line,
            dtype,
        }))
    }

    fn is_over_nothing(&self) -> bool {
        self.line.iter().any(|each| each.len == 0)
    }

    /// Turns the steps along lines positive, for an operation that does not mind the order.
    fn walk_lines_forwards(&mut self) {
        for each in &mut self.line {
            let stride = each.strides[1];
            if stride < 0 {
                self.part.offset = shift(self.part.offset, each.len - 1, stride);
                each.strides[1] = -stride;
            }
        }
    }

    fn run(mut self, plan: &mut Plan<'_>) -> Result<(), Error> {
        let any_order = matches!(self.kind, Kind::Reduce(_));
        loop {
            if any_order {
                sort_by_step(&mut self.line, 1);
            }
            merge(&mut self.line);
            if self.line.is_empty() {
                // All is reduced; only the order of the dimensions or the dtype is left to mend.
                return plan.copy((Part::output(self.dtype), self.part), self.kept);
            }
            let single = self.line.len() == 1;
            if single
                && self.kind.gives(self.part.dtype, self.dtype)
                && let Some(nest) = lines::nest(self.kept.clone(), self.line[0])
            {
                let op = self.kind.op(self.dtype, self.part.dtype);
                return emit(plan, op, (Part::output(self.dtype), self.part), nest);
            }
            let group = (0..self.line.len())
                .filter(|&group| (single || any_order) && self.in_storage_order(group).is_some())
                .max_by_key(|&group| self.line[group].len);
            match group {
                Some(group) => self.reduce_group(plan, group)?,
                None => self.copy_lines_innermost(plan)?,
            }
        }
    }

    /// All loops but `group` of the line, in storage order, with the strides of a new contiguous
    /// array as those of view 0; and their nest around that group.
    fn in_storage_order(&self, group: usize) -> Option<(Loops, Loops)> {
        let mut rest = self.kept.clone();
        rest.extend_from_slice(&self.line);
        rest.remove(self.kept.len() + group);
        let mut order: SmallVec<[usize; 6]> = (0..rest.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(rest[at].strides[1].unsigned_abs()));
        let mut elements = 1;
        for &at in order.iter().rev() {
            rest[at].strides[0] = elements;
            elements *= rest[at].len.cast_signed();
        }
        let sorted = order.iter().map(|&at| rest[at]).collect();
        let nest = lines::nest(sorted, self.line[group])?;
        Some((rest, nest))
    }

    /// Reduces one group of the line into a temporary and goes on from there.
    fn reduce_group(&mut self, plan: &mut Plan<'_>, group: usize) -> Result<(), Error> {
        let Some((rest, nest)) = self.in_storage_order(group) else {
            return Ok(());
        };
        let dtype = self.kind.partial(self.dtype);
        let elements = rest.iter().map(|each| each.len).product();
        let out = Part {
            slot: plan.temporary(elements, dtype)?,
            offset: 0,
            dtype,
        };
        let op = self.kind.op(dtype, self.part.dtype);
        emit(plan, op, (out, self.part), nest)?;
        self.line.remove(group);
        for (own, new) in self.kept.iter_mut().chain(&mut self.line).zip(&rest) {
            own.strides[1] = new.strides[0];
        }
        self.part = out;
        Ok(())
    }

    /// Copies what is read so that the line is innermost.
    fn copy_lines_innermost(&mut self, plan: &mut Plan<'_>) -> Result<(), Error> {
        let mut all = self.kept.clone();
        all.extend_from_slice(&self.line);
        self.part = plan.copied(self.part, &mut all)?;
        for (own, new) in self.kept.iter_mut().chain(&mut self.line).zip(&all) {
            own.strides[1] = new.strides[1];
        }
        Ok(())
    }
}

/// The dims of an input as loops; its strides are those of view 1.
fn input_loops(input: &View<'_>) -> Loops {
    let loops = input.dims.iter().zip(input.strides);
    loops
        .map(|(&len, &stride)| Loop::pair(len, 0, stride))
        .collect()
}

fn emit(
    plan: &mut Plan<'_>,
    op: Op<'static>,
    (out, input): (Part, Part),
    nest: Loops,
) -> Result<(), Error> {
    let mut draft = Draft::new(op, nest, &[out.slot, input.slot]);
    draft.offsets = [out.offset, input.offset, 0, 0];
    plan.emit(&draft)
}

fn no_identity(plan: &Plan<'_>, input: View<'_>, axes: &[usize]) -> Error {
    plan.invalid(format!(
        "has no identity: dims {} leave nothing to reduce over axes {}",
        validate::shape(input.dims),
        validate::shape(axes)
    ))
}
