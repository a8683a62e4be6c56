//! The canonical form of whatever works along lines: (outer, line, inner).
//!
//! Promises a nest of exactly three loops whose inner one has the smaller steps in the input, or
//! says that there is none. Knows nothing of what is computed along the line.

use super::draft::{Loop, Loops, VIEWS, merge};

/// The nest of `line` inside the `kept` loops; view 0 is the output, view 1 the input. `None` when
/// the kept loops are more than two even after merging.
pub(super) fn nest(mut kept: Loops, line: Loop) -> Option<Loops> {
    merge(&mut kept);
    let step = |each: &Loop| each.strides[1].unsigned_abs();
    let (outer, inner) = match kept[..] {
        [] => (None, None),
        [one] if step(&one) < step(&line) => (None, Some(one)),
        [one] => (Some(one), None),
        [one, other] if step(&one) < step(&other) => (Some(other), Some(one)),
        [one, other] => (Some(one), Some(other)),
        _ => return None,
    };
    let inner = inner.unwrap_or(Loop {
        len: 1,
        strides: [1; VIEWS],
    });
    // The stride of a loop of length 1 is free: take that of a row-major array.
    let outer = outer.unwrap_or(Loop::pair(
        1,
        inner.len.cast_signed(),
        line.strides[1].wrapping_mul(line.len.cast_signed()),
    ));
    Some(Loops::from_slice(&[outer, line, inner]))
}
