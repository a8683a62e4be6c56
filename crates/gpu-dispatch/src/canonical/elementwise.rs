//! Fill, random, copy, unary, binary, compare and select: one output element from one element of
//! each input.
//!
//! Promises rank 1 whenever all inputs are contiguous and of the output's dims. Knows nothing of
//! limits, nor of the short way that most such calls take.

use super::draft::{Draft, Loop, Loops, VIEWS, lay_out};
use super::plan::{CALL_SLOTS, Plan, blank, line};
use super::{Slot, broadcast, validate};
use crate::error::Error;
use gpu_seam::{BinaryOp, CompareOp, DType, Distribution, Op, Operand, Scalar, UnaryOp, View};
use smallvec::SmallVec;

/// The views of a call, in order.
type Views<'a> = SmallVec<[View<'a>; VIEWS]>;

/// Every element `value`.
pub(super) fn fill(plan: &mut Plan<'_>, dims: &[usize], value: Scalar) -> Result<(), Error> {
    let out = blank(value.dtype());
    over_output(plan, dims, Op::Fill { out, value })
}

/// Numbers drawn with key and first counter `(seed, first)`.
pub(super) fn random(
    plan: &mut Plan<'_>,
    distribution: Distribution,
    dims: &[usize],
    dtype: DType,
    (seed, first): (u64, u64),
) -> Result<(), Error> {
    let serves = dtype.is_float() || dtype.is_complex();
    validate::defined(plan.name, dtype, serves, validate::FIELDS)?;
    let op = Op::Random {
        distribution,
        out: blank(dtype),
        seed,
        first,
    };
    over_output(plan, dims, op)
}

/// An operation without inputs.
fn over_output(plan: &mut Plan<'_>, dims: &[usize], op: Op<'static>) -> Result<(), Error> {
    match plan.output(dims, op.dtype())? {
        0 => Ok(()),
        elements => plan.emit(&Draft::new(op, line(elements), &[Slot::Output])),
    }
}

/// A copy, cast to `dtype`.
pub(super) fn copy(plan: &mut Plan<'_>, input: View<'_>, dtype: DType) -> Result<(), Error> {
    let op = Op::Copy {
        out: blank(dtype),
        input: blank(input.dtype),
    };
    over(plan, op, dtype, &[input])
}

/// A function of each element.
pub(super) fn unary(plan: &mut Plan<'_>, op: UnaryOp, input: View<'_>) -> Result<(), Error> {
    let dtype = validate::unary(op, input.dtype)?;
    let op = Op::Unary {
        op,
        out: blank(dtype),
        input: blank(input.dtype),
    };
    over(plan, op, dtype, &[input])
}

/// A function of two elements.
pub(super) fn binary(
    plan: &mut Plan<'_>,
    op: BinaryOp,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
) -> Result<(), Error> {
    let dtype = lhs.dtype();
    validate::same(plan.name, ("lhs", dtype), ("rhs", rhs.dtype()))?;
    validate::binary(op, dtype)?;
    let mut inputs = Views::new();
    let op = Op::Binary {
        op,
        out: blank(dtype),
        lhs: operand(lhs, &mut inputs),
        rhs: operand(rhs, &mut inputs),
    };
    over(plan, op, dtype, &inputs)
}

/// A comparison of two elements.
pub(super) fn compare(
    plan: &mut Plan<'_>,
    op: CompareOp,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
) -> Result<(), Error> {
    let dtype = lhs.dtype();
    validate::same(plan.name, ("lhs", dtype), ("rhs", rhs.dtype()))?;
    validate::compare(op, dtype)?;
    let mut inputs = Views::new();
    let op = Op::Compare {
        op,
        out: blank(DType::Bool),
        lhs: operand(lhs, &mut inputs),
        rhs: operand(rhs, &mut inputs),
    };
    over(plan, op, DType::Bool, &inputs)
}

/// A choice of two elements.
pub(super) fn select(
    plan: &mut Plan<'_>,
    condition: View<'_>,
    on_true: Operand<'_>,
    on_false: Operand<'_>,
) -> Result<(), Error> {
    let dtype = on_true.dtype();
    if condition.dtype != DType::Bool {
        let found = condition.dtype;
        return Err(plan.invalid(format!("the condition is {found}; it must be bool")));
    }
    validate::same(
        plan.name,
        ("the true branch", dtype),
        ("the false branch", on_false.dtype()),
    )?;
    let mut inputs = Views::new();
    inputs.push(condition);
    let op = Op::Select {
        out: blank(dtype),
        condition: blank(DType::Bool),
        on_true: operand(on_true, &mut inputs),
        on_false: operand(on_false, &mut inputs),
    };
    over(plan, op, dtype, &inputs)
}

/// Notes the view of an operand and blanks it.
fn operand<'a>(operand: Operand<'a>, views: &mut Views<'a>) -> Operand<'static> {
    match operand {
        Operand::View(view) => {
            views.push(view);
            Operand::View(blank(view.dtype))
        }
        Operand::Scalar(scalar) => Operand::Scalar(scalar),
    }
}

/// Lowers `op` over the dims that its inputs broadcast to.
fn over(
    plan: &mut Plan<'_>,
    op: Op<'static>,
    dtype: DType,
    inputs: &[View<'_>],
) -> Result<(), Error> {
    let shapes: SmallVec<[&[usize]; VIEWS]> = inputs.iter().map(|view| view.dims).collect();
    let dims = broadcast::dims(plan.name, &shapes)?;
    if plan.output(&dims, dtype)? == 0 {
        return Ok(());
    }
    let loops = dims.iter().enumerate().map(|(at, &len)| {
        let mut strides = [0; VIEWS];
        for (stride, view) in strides[1..].iter_mut().zip(inputs) {
            *stride = broadcast::stride(view, dims.len(), at);
        }
        Loop { len, strides }
    });
    let mut loops: Loops = loops.collect();
    lay_out(&mut loops, 0);
    let mut draft = Draft::new(op, loops, &CALL_SLOTS[..=inputs.len()]);
    for (offset, view) in draft.offsets[1..].iter_mut().zip(inputs) {
        *offset = view.offset;
    }
    draft.merge();
    plan.emit(&draft)
}
