//! Concatenation: one copy into a part of the output for each input that is not empty.
//!
//! Promises what [`Call::Concat`](crate::Call::Concat) says. Knows nothing of limits.

use super::draft::{Loop, Loops, lay_out, shift};
use super::plan::{Part, Plan};
use super::validate;
use crate::call::Dims;
use crate::error::Error;
use gpu_seam::View;

/// The inputs one after the other along `axis`.
pub(super) fn concat(plan: &mut Plan<'_>, inputs: &[View<'_>], axis: usize) -> Result<(), Error> {
    let Some(first) = inputs.first() else {
        return Err(plan.invalid("was given no input"));
    };
    validate::axis(plan.name, axis, first.dims)?;
    let mut dims = Dims::from_slice(first.dims);
    for (at, each) in inputs.iter().enumerate().skip(1) {
        if each.dtype != first.dtype {
            return Err(plan.invalid(format!(
                "input 0 is {} and input {at} is {}; cast one of them",
                first.dtype, each.dtype
            )));
        }
        let alike = each.dims.len() == dims.len()
            && (0..dims.len()).all(|at| at == axis || each.dims[at] == dims[at]);
        if !alike {
            return Err(plan.invalid(format!(
                "input 0 has dims {} and input {at} has dims {}; they may differ only at axis {axis}",
                validate::shape(first.dims),
                validate::shape(each.dims)
            )));
        }
        dims[axis] = dims[axis]
            .checked_add(each.dims[axis])
            .ok_or_else(|| plan.invalid(format!("the lengths along axis {axis} overflow")))?;
    }
    if plan.output(&dims, first.dtype)? == 0 {
        return Ok(());
    }
    let mut whole: Loops = dims.iter().map(|&len| Loop::pair(len, 0, 0)).collect();
    lay_out(&mut whole, 0);
    let mut start = 0;
    for (at, each) in inputs.iter().enumerate() {
        let len = each.dims[axis];
        if len == 0 {
            continue;
        }
        let mut loops = whole.clone();
        for (number, target) in loops.iter_mut().enumerate() {
            target.len = each.dims[number];
            target.strides[1] = each.strides[number];
        }
        let out = Part {
            offset: shift(0, start, whole[axis].strides[0]),
            ..Part::output(first.dtype)
        };
        plan.copy((out, Part::input(at, each)), loops)?;
        start += len;
    }
    Ok(())
}
