//! Copies without a cast: bits from one layout to another.
//!
//! Promises a plain memory copy where both sides are contiguous, runs where they share their
//! innermost dimension, and tiles where they do not, so that neither side wastes its cache lines
//! even when every dimension is short. Knows nothing of element types but their size.
//!
//! # Safety
//!
//! See [`raw`](super). Tasks get disjoint sets of tiles.

#![expect(unsafe_code, reason = "moves elements through raw pointers")]

use super::map::map1;
use super::space::{Cursor, Dim, Space};
use super::{Plain, Source, Window};
use crate::parallel;
use std::mem::MaybeUninit;

/// Bytes for each task.
const GRAIN: usize = 1 << 19;

/// The most elements along each side of a tile.
const SIDE: usize = 32;

/// Runs of this many bytes are copied one by one.
const LONG_RUN: usize = 128;

/// Below this many elements tiles cost more than they save.
const FEW: usize = 256;

const OUT: usize = 0;
const INPUT: usize = 1;

/// `out = input`, which have the same dims.
pub(crate) fn copy<T: Plain>(out: Window<'_, T>, input: Window<'_, T>) {
    if out.elements() >= FEW && !(out.is_contiguous() && input.is_contiguous()) {
        let strides = [Some(out.strides), Some(input.strides), None, None];
        let space = Space::new(out.dims, strides, false);
        if wants_tiles(&space, size_of::<T>()) {
            return by_tiles(out, input, &space);
        }
    }
    let grain = GRAIN / size_of::<T>();
    map1(out, Source::Window(input), grain, |out, input| {
        out.copy_from_slice(input);
    });
}

/// Whether the walk's innermost runs are short or far apart on the input's side.
fn wants_tiles(space: &Space, size: usize) -> bool {
    let Some((inner, outer)) = space.dims.split_last() else {
        return false;
    };
    let reach = inner.strides[INPUT].unsigned_abs();
    let nearer = |dim: &Dim| dim.strides[INPUT] != 0 && dim.strides[INPUT].unsigned_abs() < reach;
    let short = inner.len * size < LONG_RUN && outer.iter().any(|dim| dim.strides[INPUT] != 0);
    outer.iter().any(nearer) || short
}

/// Some dimensions of the walk, the last of them in strips, as one side of a tile: where its
/// elements are, on each side of the copy.
struct Side {
    out: [isize; SIDE],
    input: [isize; SIDE],
    /// Elements of a whole strip.
    len: usize,
    /// The dimension that is walked in strips, its length in a strip, and elements for each of it.
    strips: Dim,
    step: usize,
    each: usize,
}

impl Side {
    /// The side of those dimensions of `rest` that come first by `stride`; they are taken out.
    fn take(rest: &mut Vec<Dim>, stride: impl Fn(&Dim) -> usize) -> Self {
        let mut side = Self {
            out: [0; SIDE],
            input: [0; SIDE],
            len: 1,
            strips: Dim {
                len: 1,
                strides: [0; super::space::OPERANDS],
            },
            step: 1,
            each: 1,
        };
        while side.len < SIDE {
            let nearest = (0..rest.len())
                .filter(|&at| stride(&rest[at]) != 0)
                .min_by_key(|&at| stride(&rest[at]));
            let Some(nearest) = nearest else { break };
            let dim = rest.remove(nearest);
            let step = dim.len.min(SIDE / side.len);
            for at in 1..step {
                for before in 0..side.len {
                    let by = |operand: usize| at.cast_signed() * dim.strides[operand];
                    side.out[at * side.len + before] = side.out[before] + by(OUT);
                    side.input[at * side.len + before] = side.input[before] + by(INPUT);
                }
            }
            side.each = side.len;
            side.len *= step;
            side.step = step;
            side.strips = dim;
            if step < dim.len {
                return side;
            }
        }
        side
    }

    /// How many strips there are.
    const fn count(&self) -> usize {
        self.strips.len.div_ceil(self.step)
    }

    /// Where strip `at` starts on the side of `operand`.
    const fn start(&self, at: usize, operand: usize) -> isize {
        (at * self.step).cast_signed() * self.strips.strides[operand]
    }

    /// Elements of strip `at`: the last may be shorter.
    fn len(&self, at: usize) -> usize {
        self.each * self.step.min(self.strips.len - at * self.step)
    }
}

/// Copies tile by tile: one side of a tile along the input's nearest elements, the other along the
/// output's.
fn by_tiles<T: Plain>(out: Window<'_, T>, input: Window<'_, T>, space: &Space) {
    let mut rest = space.dims.to_vec();
    let near_input = Side::take(&mut rest, |dim| dim.strides[INPUT].unsigned_abs());
    let near_out = Side::take(&mut rest, |dim| dim.strides[OUT].unsigned_abs());
    let planes = space.over(rest.iter().copied());
    let count: usize = rest.iter().map(|dim| dim.len).product();
    let (down, across) = (near_input.count(), near_out.count());
    let bytes = near_input.len * near_out.len * size_of::<T>();
    parallel::for_ranges(count * down * across, GRAIN.div_ceil(bytes), 1, |range| {
        for item in range {
            let (plane, item) = (item / (down * across), item % (down * across));
            let (i, j) = (item / across, item % across);
            let origin = |operand: usize| {
                Cursor::seek(&planes, operand, plane)
                    .next(&planes, operand, 1)
                    .position
                    + near_input.start(i, operand)
                    + near_out.start(j, operand)
            };
            let mut held = [[const { MaybeUninit::<T>::uninit() }; SIDE]; SIDE];
            let (rows, columns) = (near_input.len(i), near_out.len(j));
            let from = input.address(origin(INPUT));
            for (held, by) in held.iter_mut().zip(&near_out.input[..columns]) {
                let from = from.wrapping_offset(*by);
                for (slot, by) in held.iter_mut().zip(&near_input.input[..rows]) {
                    // SAFETY: an element of the input, which nothing writes.
                    slot.write(unsafe { from.wrapping_offset(*by).read() });
                }
            }
            let to = out.address(origin(OUT));
            for (row, by) in near_input.out[..rows].iter().enumerate() {
                let to = to.wrapping_offset(*by);
                for (held, by) in held.iter().zip(&near_out.out[..columns]) {
                    // SAFETY: written by the loop above.
                    let value = unsafe { held[row].assume_init() };
                    // SAFETY: an element of the output that is this task's alone.
                    unsafe { to.wrapping_offset(*by).write(value) };
                }
            }
        }
    });
}
