//! Running a program on whatever can carry out its instructions.
//!
//! Promises that an array is dropped as soon as the instruction that reads it has been carried out.
//! Knows nothing of devices.

use super::program::{Input, Instruction, Kind, Program};
use std::borrow::Cow;

/// Carries out instructions. All arrays are of one element type.
pub(super) trait Machine {
    type Array: Clone;
    type Error;

    /// The view in which the axes `first < second` are one, the last.
    fn diagonal(
        &self,
        of: &Self::Array,
        first: usize,
        second: usize,
    ) -> Result<Self::Array, Self::Error>;

    /// The view with its axes in this order.
    fn permute(&self, of: &Self::Array, axes: &[usize]) -> Result<Self::Array, Self::Error>;

    /// The same elements in row-major order under other dims: a view where that is possible.
    fn reshape(&self, of: &Self::Array, dims: &[usize]) -> Result<Self::Array, Self::Error>;

    /// A row-major copy.
    fn copy(&self, of: &Self::Array) -> Result<Self::Array, Self::Error>;

    /// The sum over the middle axis of three.
    fn sum(&self, of: &Self::Array) -> Result<Self::Array, Self::Error>;

    /// The broadcast product.
    fn multiply(&self, left: &Self::Array, right: &Self::Array)
    -> Result<Self::Array, Self::Error>;

    /// The product of matrices, or of a batch of them.
    fn matmul(&self, left: &Self::Array, right: &Self::Array) -> Result<Self::Array, Self::Error>;

    /// A row-major array of zeros.
    fn zeros(&self, dims: &[usize]) -> Result<Self::Array, Self::Error>;
}

/// Runs `program` over `operands`, which are as many and of the shapes that it was made for.
/// `done(n)` is called after the n-th instruction, from 1.
pub(super) fn run<M: Machine>(
    program: &Program,
    machine: &M,
    operands: &[&M::Array],
    mut done: impl FnMut(usize),
) -> Result<Option<M::Array>, M::Error> {
    let mut slots: Vec<Option<Cow<'_, M::Array>>> = operands
        .iter()
        .map(|operand| Some(Cow::Borrowed(*operand)))
        .collect();
    slots.resize_with(program.operands + program.instructions.len(), || None);
    for (at, instruction) in program.instructions.iter().enumerate() {
        let output = carry_out(instruction, machine, &slots)?;
        for slot in program.dead_after(instruction) {
            slots[slot] = None;
        }
        slots[instruction.output] = output.map(Cow::Owned);
        done(at + 1);
    }
    Ok(slots.swap_remove(program.result).map(Cow::into_owned))
}

/// The output of one instruction, or `None` when it reads an empty slot.
fn carry_out<M: Machine>(
    instruction: &Instruction,
    machine: &M,
    slots: &[Option<Cow<'_, M::Array>>],
) -> Result<Option<M::Array>, M::Error> {
    let mut views = Vec::with_capacity(2);
    for input in &instruction.inputs {
        let Some(array) = &slots[input.slot] else {
            return Ok(None);
        };
        let view = match &instruction.kind {
            Kind::View(diagonals) if !diagonals.is_empty() => {
                let mut view = array.as_ref().clone();
                for (first, second) in diagonals {
                    view = machine.diagonal(&view, *first, *second)?;
                }
                view_of(machine, &view, input)?
            }
            _ => view_of(machine, array, input)?,
        };
        views.push(view);
    }
    let output = match (&instruction.kind, views.as_slice()) {
        (Kind::Zeros, []) => return machine.zeros(&instruction.dims).map(Some),
        (Kind::View(_), [view]) => return Ok(Some(view.clone())),
        (Kind::Copy, [view]) => machine.copy(view)?,
        (Kind::Sum, [view]) => machine.sum(view)?,
        (Kind::Multiply, [left, right]) => machine.multiply(left, right)?,
        (Kind::Matmul, [left, right]) => machine.matmul(left, right)?,
        _ => return Ok(None),
    };
    // The views end here, before the caller drops what they are views of.
    drop(views);
    machine.reshape(&output, &instruction.dims).map(Some)
}

fn view_of<M: Machine>(machine: &M, array: &M::Array, input: &Input) -> Result<M::Array, M::Error> {
    let in_order = input.axes.iter().enumerate().all(|(at, axis)| at == *axis);
    if in_order {
        return machine.reshape(array, &input.dims);
    }
    machine.reshape(&machine.permute(array, &input.axes)?, &input.dims)
}
