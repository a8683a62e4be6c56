//! Gather, index-select and scatter.
//!
//! Promises views of equal rank with the looked-up dimension apart and all others merged. Knows
//! nothing of limits, and nothing of the indices' values: those are the device's to check.

use super::draft::{Draft, Lookup, Loop, Loops, lay_out};
use super::plan::{Part, Plan, blank};
use super::validate::shape;
use super::{Slot, broadcast, validate};
use crate::call::Dims;
use crate::error::Error;
use gpu_seam::{Op, ScatterMode, View};

/// `out[p] = input[p with p[axis] replaced by index[p]]`.
pub(super) fn gather(
    plan: &mut Plan<'_>,
    input: View<'_>,
    index: View<'_>,
    axis: usize,
) -> Result<(), Error> {
    check(plan, ("input", input), index, axis)?;
    look_up(plan, input, index, (index.dims, axis))
}

/// `out[.., j, ..] = input[.., index[j], ..]` at `axis`.
pub(super) fn index_select(
    plan: &mut Plan<'_>,
    input: View<'_>,
    index: View<'_>,
    axis: usize,
) -> Result<(), Error> {
    validate::index(plan.name, index.dtype)?;
    validate::axis(plan.name, axis, input.dims)?;
    let &[len] = index.dims else {
        let found = shape(index.dims);
        return Err(plan.invalid(format!("the index has dims {found}; it must have rank 1")));
    };
    let mut dims = Dims::from_slice(input.dims);
    dims[axis] = len;
    look_up(plan, input, index, (&dims, axis))
}

/// Emits the gather of `dims` at `axis`, an index of lower rank repeating over the rest.
fn look_up(
    plan: &mut Plan<'_>,
    input: View<'_>,
    index: View<'_>,
    (dims, axis): (&[usize], usize),
) -> Result<(), Error> {
    let elements = plan.output(dims, input.dtype)?;
    let size = input.dims[axis];
    if elements == 0 {
        return Ok(());
    }
    if size == 0 {
        return Err(nothing_there(plan, axis));
    }
    let selects = index.dims.len() != dims.len();
    let loops = dims.iter().enumerate().map(|(at, &len)| {
        let step = match selects {
            true if at == axis => index.strides[0],
            true => 0,
            false => broadcast::stride(&index, dims.len(), at),
        };
        Loop {
            len,
            strides: [0, input.strides[at], step, 0],
        }
    });
    let mut loops: Loops = loops.collect();
    lay_out(&mut loops, 0);
    let op = Op::Gather {
        out: blank(input.dtype),
        input: blank(input.dtype),
        index: blank(index.dtype),
        axis: 0,
    };
    let slots = [Slot::Output, Slot::Input(0), Slot::Input(1)];
    let mut draft = Draft::new(op, loops, &slots);
    draft.offsets = [0, input.offset, index.offset, 0];
    draft.lookup = Some(Lookup {
        view: 1,
        axis,
        size,
    });
    draft.merge();
    plan.emit(&draft)
}

/// A copy of `base` with `src` put, or added, where `index` says.
pub(super) fn scatter(
    plan: &mut Plan<'_>,
    mode: ScatterMode,
    (base, index, src): (View<'_>, View<'_>, View<'_>),
    axis: usize,
) -> Result<(), Error> {
    validate::same(plan.name, ("base", base.dtype), ("src", src.dtype))?;
    check(plan, ("base", base), index, axis)?;
    if index.dims != src.dims {
        return Err(plan.invalid(format!(
            "the index has dims {} and src has dims {}; they must be equal",
            shape(index.dims),
            shape(src.dims)
        )));
    }
    let elements = plan.output(base.dims, base.dtype)?;
    let size = base.dims[axis];
    let is_empty = index.dims.contains(&0);
    if !is_empty && size == 0 {
        return Err(nothing_there(plan, axis));
    }
    if elements == 0 {
        return Ok(());
    }
    let dims = base.dims.iter().zip(base.strides);
    let mut loops: Loops = dims
        .map(|(&len, &stride)| Loop::pair(len, 0, stride))
        .collect();
    lay_out(&mut loops, 0);
    let out = Part::output(base.dtype);
    plan.copy((out, Part::input(0, &base)), loops.clone())?;
    if is_empty {
        return Ok(());
    }
    for (at, each) in loops.iter_mut().enumerate() {
        each.len = index.dims[at];
        each.strides = [each.strides[0], index.strides[at], src.strides[at], 0];
    }
    let op = Op::Scatter {
        mode,
        out: blank(base.dtype),
        index: blank(index.dtype),
        src: blank(src.dtype),
        axis: 0,
    };
    let slots = [Slot::Output, Slot::Input(1), Slot::Input(2)];
    let mut draft = Draft::new(op, loops, &slots);
    draft.offsets = [0, index.offset, src.offset, 0];
    draft.lookup = Some(Lookup {
        view: 0,
        axis,
        size,
    });
    draft.merge();
    plan.emit(&draft)
}

/// Checks an index against the target that it looks up.
fn check(
    plan: &Plan<'_>,
    (what, target): (&str, View<'_>),
    index: View<'_>,
    axis: usize,
) -> Result<(), Error> {
    validate::index(plan.name, index.dtype)?;
    validate::axis(plan.name, axis, target.dims)?;
    let fits = target.dims.len() == index.dims.len()
        && (0..target.dims.len()).all(|at| at == axis || index.dims[at] <= target.dims[at]);
    if fits {
        return Ok(());
    }
    Err(plan.invalid(format!(
        "the index has dims {} and {what} has dims {}; the ranks must be equal, and the index no \
         longer except along axis {axis}",
        shape(index.dims),
        shape(target.dims)
    )))
}

fn nothing_there(plan: &Plan<'_>, axis: usize) -> Error {
    plan.invalid(format!(
        "every index is out of range: axis {axis} has size 0"
    ))
}
