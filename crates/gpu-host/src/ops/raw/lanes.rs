//! Running along lines: each output element depends on those before it.
//!
//! Promises that every line is walked from its start to its end by one task, and that each output
//! element is written once. Knows nothing of what is carried along.
//!
//! # Safety
//!
//! See [`raw`](super). Tasks get disjoint lines of the output.

#![expect(unsafe_code, reason = "writes outputs through raw pointers")]

use super::{BLOCK, Plain, Room, Window};
use crate::parallel;

/// The lines along the middle dimension of an output of three, walked one block at a time.
///
/// `start` makes the state of a line from its `(outer, inner)`; `step` gets the state, the line, the
/// number of a run's first element and the run to be written (at most [`BLOCK`] elements).
pub(crate) fn along<O: Plain, S>(
    out: Window<'_, O>,
    grain: usize,
    start: impl Fn(usize, usize) -> S + Sync,
    step: impl Fn(&mut S, (usize, usize), usize, &mut [O]) + Sync,
) {
    let (&[outer, scanned, inner], &[so, ss, si]) = (out.dims, out.strides) else {
        return;
    };
    parallel::for_ranges(outer * inner, grain.div_ceil(scanned), 1, |lines| {
        let mut room = Room::new();
        for line in lines {
            let (o, i) = (line / inner, line % inner);
            let base = out.address(o.cast_signed() * so + i.cast_signed() * si);
            let mut state = start(o, i);
            for first in (0..scanned).step_by(BLOCK) {
                let len = BLOCK.min(scanned - first);
                step(&mut state, (o, i), first, room.cleared(len));
                let to = base.wrapping_offset(first.cast_signed() * ss);
                // SAFETY: the run is part of a line that is this task's alone.
                unsafe { room.scatter(to, ss, len) };
            }
        }
    });
}

/// The lines along the middle dimension of an output of three, walked a row of neighbouring lines at
/// a time.
///
/// `start` makes the state of up to [`BLOCK`] lines from `(outer, first inner, width)`; `step` gets
/// the state, those, the number of the element along the lines, and the row to be written.
pub(crate) fn abreast<O: Plain, S>(
    out: Window<'_, O>,
    grain: usize,
    start: impl Fn((usize, usize, usize)) -> S + Sync,
    step: impl Fn(&mut S, (usize, usize, usize), usize, &mut [O]) + Sync,
) {
    let (&[outer, scanned, inner], &[so, ss, si]) = (out.dims, out.strides) else {
        return;
    };
    let across = inner.div_ceil(BLOCK);
    let width = inner.min(BLOCK);
    parallel::for_ranges(
        outer * across,
        grain.div_ceil(scanned * width),
        1,
        |strips| {
            let mut room = Room::new();
            for strip in strips {
                let (o, i) = (strip / across, strip % across * BLOCK);
                let width = BLOCK.min(inner - i);
                let mut state = start((o, i, width));
                let base = out.address(o.cast_signed() * so + i.cast_signed() * si);
                for r in 0..scanned {
                    step(&mut state, (o, i, width), r, room.cleared(width));
                    let to = base.wrapping_offset(r.cast_signed() * ss);
                    // SAFETY: the row is part of lines that are this task's alone.
                    unsafe { room.scatter(to, si, width) };
                }
            }
        },
    );
}

impl<O: Plain> Room<O> {
    /// The first `len` elements, as default values.
    fn cleared(&mut self, len: usize) -> &mut [O] {
        for slot in &mut self.0[..len] {
            slot.write(O::default());
        }
        // SAFETY: initialised just now.
        unsafe { std::slice::from_raw_parts_mut(self.ptr(), len) }
    }

    /// Writes the first `len` elements to places `stride` apart.
    ///
    /// # Safety
    /// They are initialised, and the places are elements of an output that nothing else uses.
    unsafe fn scatter(&self, to: *mut O, stride: isize, len: usize) {
        for (i, slot) in self.0[..len].iter().enumerate() {
            // SAFETY: initialised, by contract.
            let value = unsafe { slot.assume_init() };
            // SAFETY: the caller vouches for the place.
            unsafe { to.wrapping_offset(i.cast_signed() * stride).write(value) };
        }
    }
}
