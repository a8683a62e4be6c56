//! Element-wise loops: kernels get contiguous, unaliased runs, whatever the layouts are.
//!
//! Promises that a kernel is called with slices of equal length that together cover the output once,
//! and that an input which is the output itself is read before it is written. Operands that are not
//! contiguous in the order of the walk are gathered a block at a time, so that each kernel has one
//! loop, which vectorises. Knows nothing of what kernels compute.
//!
//! # Safety
//!
//! See [`raw`](super). Tasks get disjoint ranges of the walk, hence disjoint output elements. The
//! walk itself knows operands by their size only ([`feed`](super::feed)); the functions here put the
//! types back, and are the only ones that make its kernels.

#![expect(unsafe_code, reason = "turns raw ranges into slices")]

use super::feed::{Feed, Place, Room, Sink};
use super::space::Space;
use super::{BLOCK, Plain, Source, Window};
use crate::parallel;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Writes every element of `out` by `kernel`, on several threads from twice `grain` elements up.
pub(crate) fn map0<O: Plain>(out: Window<'_, O>, grain: usize, kernel: &(dyn Fn(&mut [O]) + Sync)) {
    walk(
        out.place(),
        [Place::NONE; 3],
        out.dims,
        grain,
        false,
        &|run| {
            // SAFETY: the run's output is `run.len` elements of `out` or of a room, this call's alone.
            kernel(unsafe { from_raw_parts_mut(run.out.cast(), run.len) });
        },
    );
}

/// As [`map0`], of one input.
pub(crate) fn map1<A: Plain, O: Plain>(
    out: Window<'_, O>,
    a: Source<'_, A>,
    grain: usize,
    kernel: fn(&mut [O], &[A]),
) {
    let inputs = [a.place(), Place::NONE, Place::NONE];
    walk(out.place(), inputs, out.dims, grain, false, &|run| {
        // SAFETY: as in `map0`; inputs that share elements of the output were copied to a room.
        let out = unsafe { from_raw_parts_mut(run.out.cast(), run.len) };
        // SAFETY: `run.len` elements of `a` or of a room, which nothing writes meanwhile.
        let a = unsafe { from_raw_parts(run.inputs[0].cast(), run.len) };
        kernel(out, a);
    });
}

/// As [`map0`], of two inputs.
pub(crate) fn map2<A: Plain, O: Plain>(
    out: Window<'_, O>,
    a: Source<'_, A>,
    b: Source<'_, A>,
    grain: usize,
    kernel: fn(&mut [O], &[A], &[A]),
) {
    let inputs = [a.place(), b.place(), Place::NONE];
    walk(out.place(), inputs, out.dims, grain, false, &|run| {
        // SAFETY: as in `map1`.
        let out = unsafe { from_raw_parts_mut(run.out.cast(), run.len) };
        // SAFETY: as in `map1`.
        let a = unsafe { from_raw_parts(run.inputs[0].cast(), run.len) };
        // SAFETY: as in `map1`.
        let b = unsafe { from_raw_parts(run.inputs[1].cast(), run.len) };
        kernel(out, a, b);
    });
}

/// A kernel of a condition and two inputs.
pub(crate) type Choice<C, O> = fn(&mut [O], &[C], &[O], &[O]);

/// As [`map0`], of a condition and two inputs.
pub(crate) fn map3<C: Plain, O: Plain>(
    out: Window<'_, O>,
    c: Source<'_, C>,
    a: Source<'_, O>,
    b: Source<'_, O>,
    grain: usize,
    kernel: Choice<C, O>,
) {
    let inputs = [c.place(), a.place(), b.place()];
    walk(out.place(), inputs, out.dims, grain, false, &|run| {
        // SAFETY: as in `map1`.
        let out = unsafe { from_raw_parts_mut(run.out.cast(), run.len) };
        // SAFETY: as in `map1`.
        let c = unsafe { from_raw_parts(run.inputs[0].cast(), run.len) };
        // SAFETY: as in `map1`.
        let a = unsafe { from_raw_parts(run.inputs[1].cast(), run.len) };
        // SAFETY: as in `map1`.
        let b = unsafe { from_raw_parts(run.inputs[2].cast(), run.len) };
        kernel(out, c, a, b);
    });
}

/// Writes every element of `out` by `kernel`, which gets the row-major number of the first element
/// of a run and the run, on several threads from twice `grain` elements up.
pub(crate) fn generate<O: Plain>(
    out: Window<'_, O>,
    grain: usize,
    kernel: &(dyn Fn(usize, &mut [O]) + Sync),
) {
    walk(
        out.place(),
        [Place::NONE; 3],
        out.dims,
        grain,
        true,
        &|run| {
            // SAFETY: as in `map0`.
            kernel(run.first, unsafe {
                from_raw_parts_mut(run.out.cast(), run.len)
            });
        },
    );
}

/// What a kernel is called with: `len` elements of the output and of each input.
struct Run {
    /// The number of the first in the walk.
    first: usize,
    len: usize,
    out: *mut u8,
    inputs: [*const u8; 3],
}

/// Walks `dims`, in row-major order if `in_order`, and calls `kernel` with runs that cover them.
#[inline(always)]
fn walk(
    out: Place<'_>,
    inputs: [Place<'_>; 3],
    dims: &[usize],
    grain: usize,
    in_order: bool,
    kernel: &(dyn Fn(Run) + Sync),
) {
    if out.is_straight(dims)
        && inputs
            .iter()
            .all(|input| input.is_straight_beside(&out, dims))
    {
        parallel::for_ranges(dims.iter().product(), grain, BLOCK.min(grain), |range| {
            kernel(Run {
                first: range.start,
                len: range.len(),
                out: out.element(range.start),
                inputs: [0, 1, 2].map(|at| inputs[at].element(range.start).cast_const()),
            });
        });
    } else {
        by_blocks(out, inputs, dims, grain, in_order, kernel);
    }
}

/// [`walk`] where an operand must be gathered, repeated, or saved from being overwritten.
#[inline(never)]
fn by_blocks(
    out: Place<'_>,
    inputs: [Place<'_>; 3],
    dims: &[usize],
    grain: usize,
    in_order: bool,
    kernel: &(dyn Fn(Run) + Sync),
) {
    let inputs = inputs.map(|input| input.as_value(dims));
    let [a, b, c] = &inputs;
    let space = Space::new(
        dims,
        [out.strides, a.strides, b.strides, c.strides],
        in_order,
    );
    parallel::for_ranges(dims.iter().product(), grain, BLOCK.min(grain), |range| {
        let [a, b, c] = &inputs;
        let mut rooms = [const { Room::new() }; 4];
        let [room_a, room_b, room_c, room_out] = &mut rooms;
        let mut a = Feed::new(a, &space, 1, &out, &range, room_a);
        let mut b = Feed::new(b, &space, 2, &out, &range, room_b);
        let mut c = Feed::new(c, &space, 3, &out, &range, room_c);
        let mut sink = Sink::new(&out, &space, range.start, room_out);
        let whole = sink.is_direct() && a.is_direct() && b.is_direct() && c.is_direct();
        let step = if whole { range.len() } else { BLOCK };
        let mut first = range.start;
        while first < range.end {
            let len = step.min(range.end - first);
            kernel(Run {
                first,
                len,
                out: sink.room(first),
                inputs: [
                    a.fetch(first, len),
                    b.fetch(first, len),
                    c.fetch(first, len),
                ],
            });
            sink.put(len);
            first += len;
        }
    });
}
