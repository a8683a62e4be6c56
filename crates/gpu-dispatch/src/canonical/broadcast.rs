//! NumPy's broadcasting rule: dims aligned at the right, a dimension of length 1 repeats.
//!
//! Promises strides of 0 where a view repeats. Knows nothing of operations.

use super::validate::shape;
use crate::call::Dims;
use crate::error::Error;
use gpu_seam::View;
use std::fmt::Write;

/// The dims that all `shapes` broadcast to.
pub(super) fn dims(name: &'static str, shapes: &[&[usize]]) -> Result<Dims, Error> {
    let rank = shapes.iter().map(|dims| dims.len()).max().unwrap_or(0);
    let mut dims = Dims::from_elem(1, rank);
    for shape in shapes {
        let lead = rank - shape.len();
        for (target, &len) in dims[lead..].iter_mut().zip(*shape) {
            if *target == 1 {
                *target = len;
            } else if len != 1 && len != *target {
                return Err(mismatch(name, shapes));
            }
        }
    }
    Ok(dims)
}

/// Whether `from` broadcasts to `to` without changing it.
pub(super) fn fits(from: &[usize], to: &[usize]) -> bool {
    let Some(lead) = to.len().checked_sub(from.len()) else {
        return false;
    };
    from.iter()
        .zip(&to[lead..])
        .all(|(&len, &target)| len == target || len == 1)
}

/// The stride of `view` along dimension `at` of the `rank` dims that it is broadcast to.
pub(super) fn stride(view: &View<'_>, rank: usize, at: usize) -> isize {
    match (at + view.dims.len()).checked_sub(rank) {
        Some(own) if view.dims[own] != 1 => view.strides[own],
        _ => 0,
    }
}

fn mismatch(name: &'static str, shapes: &[&[usize]]) -> Error {
    let mut detail = String::from("dims ");
    for (at, dims) in shapes.iter().enumerate() {
        let link = match at {
            0 => "",
            _ if at + 1 == shapes.len() => " and ",
            _ => ", ",
        };
        // Writing to a String cannot fail.
        let _ = write!(detail, "{link}{}", shape(dims));
    }
    detail.push_str(" do not broadcast to one shape");
    Error::invalid(name, detail)
}
