//! Copies without a cast: bits from one layout to another.
//!
//! Promises a plain memory copy where both sides are contiguous, and tiles where each side has its
//! smallest stride along another dimension, so that neither wastes its cache lines. Knows nothing of
//! element types but their size.
//!
//! # Safety
//!
//! See [`raw`](super). Tasks get disjoint strips of the output.

#![expect(unsafe_code, reason = "moves elements through raw pointers")]

use super::map::map1;
use super::space::{Cursor, Space};
use super::{Plain, Source, Window};
use crate::parallel;
use std::mem::MaybeUninit;

/// Bytes for each task.
const GRAIN: usize = 1 << 19;

/// Elements along each side of a tile.
const TILE: usize = 32;

const OUT: usize = 0;
const INPUT: usize = 1;

/// `out = input`, which have the same dims.
pub(crate) fn copy<T: Plain>(out: Window<'_, T>, input: Window<'_, T>) {
    if !(out.is_contiguous() && input.is_contiguous()) {
        let strides = [Some(out.strides), Some(input.strides), None, None];
        let space = Space::new(out.dims, strides, false);
        if let Some(along) = crosswise(&space) {
            return by_tiles(out, input, &space, along);
        }
    }
    let grain = GRAIN / size_of::<T>();
    map1(out, Source::Window(input), grain, |out, input| {
        out.copy_from_slice(input);
    });
}

/// The dimension along which the input has its smallest stride, when that is not the innermost and
/// tiles are worth it.
fn crosswise(space: &Space) -> Option<usize> {
    let inner = space.dims().len() - 1;
    let reach = |at: usize| space.stride(at, INPUT).unsigned_abs();
    let along = (0..inner)
        .filter(|&at| space.dims()[at] >= TILE / 4 && reach(at) != 0)
        .min_by_key(|&at| reach(at))?;
    (space.dims()[inner] >= TILE / 4 && reach(along) < reach(inner)).then_some(along)
}

/// One side of a copy in a plane of two dimensions: an address, and the strides along each.
#[derive(Clone, Copy)]
struct Plane<T> {
    origin: *mut T,
    along: isize,
    inner: isize,
}

impl<T> Plane<T> {
    const fn place(&self, along: usize, inner: usize) -> *mut T {
        let at = along.cast_signed() * self.along + inner.cast_signed() * self.inner;
        self.origin.wrapping_offset(at)
    }
}

/// Copies tile by tile in the plane of dimension `along` and the innermost.
fn by_tiles<T: Plain>(out: Window<'_, T>, input: Window<'_, T>, space: &Space, along: usize) {
    let inner = space.dims().len() - 1;
    let (rows, columns) = (space.dims()[along], space.dims()[inner]);
    let strips = rows.div_ceil(TILE);
    let planes: usize = space.dims().iter().product::<usize>() / (rows * columns);
    let grain = GRAIN.div_ceil(TILE * columns * size_of::<T>());
    let others = space.without([along, inner]);
    parallel::for_ranges(planes * strips, grain, 1, |range| {
        for item in range {
            let (plane, row) = (item / strips, item % strips * TILE);
            let side = |window: &Window<'_, T>, operand| Plane {
                origin: window.address(
                    Cursor::seek(&others, operand, plane)
                        .next(&others, operand, 1)
                        .position
                        + row.cast_signed() * space.stride(along, operand),
                ),
                along: space.stride(along, operand),
                inner: space.stride(inner, operand),
            };
            let (to, from) = (side(&out, OUT), side(&input, INPUT));
            let height = TILE.min(rows - row);
            for column in (0..columns).step_by(TILE) {
                tile(to, from, column, height, TILE.min(columns - column));
            }
        }
    });
}

/// Copies one tile: in along the input's short stride, out along the output's.
#[inline(always)]
fn tile<T: Plain>(to: Plane<T>, from: Plane<T>, column: usize, height: usize, width: usize) {
    let mut held = [[const { MaybeUninit::<T>::uninit() }; TILE]; TILE];
    for (j, held) in held[..width].iter_mut().enumerate() {
        for (i, slot) in held[..height].iter_mut().enumerate() {
            // SAFETY: an element of the input, which nothing writes.
            slot.write(unsafe { from.place(i, column + j).read() });
        }
    }
    for i in 0..height {
        for (j, held) in held[..width].iter().enumerate() {
            // SAFETY: written by the loop above.
            let value = unsafe { held[i].assume_init() };
            // SAFETY: an element of the output that is this task's alone.
            unsafe { to.place(i, column + j).write(value) };
        }
    }
}
