//! What gather and scatter share: indices of any integer type, checked, and where they are looked up.
//!
//! Promises that an index is only ever used inside its dimension, and that the first bad one in
//! row-major order is the one that is noted. Knows nothing of what is moved.

use super::raw::space::{Cursor, Space};
use super::raw::{Args, Reader};
use gpu_seam::{DType, GpuError, MAX_RANK, View};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Indices of any type, read as i64.
#[derive(Clone, Copy)]
pub(super) enum Indices<'a> {
    U8(Reader<'a, u8>),
    U32(Reader<'a, u32>),
    I32(Reader<'a, i32>),
    I64(Reader<'a, i64>),
}

impl<'a> Indices<'a> {
    /// The indices of argument `at`; `None` when they are of another type.
    fn new(args: &Args<'a>, at: usize, view: View<'a>) -> Option<Self> {
        Some(match view.dtype {
            DType::U8 => Self::U8(args.window(at, view).reader()),
            DType::U32 => Self::U32(args.window(at, view).reader()),
            DType::I32 => Self::I32(args.window(at, view).reader()),
            DType::I64 => Self::I64(args.window(at, view).reader()),
            _ => return None,
        })
    }

    #[inline(always)]
    fn at(&self, position: isize) -> i64 {
        match self {
            Self::U8(reader) => reader.at(position).into(),
            Self::U32(reader) => reader.at(position).into(),
            Self::I32(reader) => reader.at(position).into(),
            Self::I64(reader) => reader.at(position),
        }
    }
}

/// A lookup along one dimension, walked in row-major order of the indices.
pub(super) struct Lookup<'a> {
    indices: Indices<'a>,
    space: Space,
    /// Elements along the dimension that is looked up, and its stride.
    size: usize,
    stride: isize,
    /// The walk number of the first bad index so far.
    bad: AtomicUsize,
}

/// The operands of the walk.
const INDEX: usize = 0;
const LOOKED_UP: usize = 1;
const OTHER: usize = 2;

/// A run of elements: positions of the index, the looked-up element at index 0, and the other.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The walk number of the first element.
    number: usize,
    /// How many.
    pub(super) len: usize,
    index: (isize, isize),
    looked_up: (isize, isize),
    /// Position and stride of the other view.
    pub(super) other: (isize, isize),
}

impl<'a> Lookup<'a> {
    /// A lookup in `looked_up` along `axis` by argument `at`, beside `other` of the same dims as
    /// the indices; `None` when the indices are of another type.
    pub(super) fn new(
        args: &Args<'a>,
        at: usize,
        index: View<'a>,
        looked_up: View<'_>,
        axis: usize,
        other: View<'_>,
    ) -> Option<Self> {
        let mut strides = [0; MAX_RANK];
        let strides = &mut strides[..looked_up.strides.len()];
        strides.copy_from_slice(looked_up.strides);
        strides[axis] = 0;
        let operands = [
            Some(index.strides),
            Some(&*strides),
            Some(other.strides),
            None,
        ];
        Some(Self {
            indices: Indices::new(args, at, index)?,
            space: Space::new(index.dims, operands, true),
            size: looked_up.dims[axis],
            stride: looked_up.strides[axis],
            bad: AtomicUsize::new(usize::MAX),
        })
    }

    /// The runs that make up elements `first..first + len` of the walk.
    pub(super) fn steps(&self, first: usize, len: usize) -> impl Iterator<Item = Step> {
        let mut cursors = [INDEX, LOOKED_UP, OTHER].map(|at| Cursor::seek(&self.space, at, first));
        let mut done = 0;
        std::iter::from_fn(move || {
            (done < len).then(|| {
                let [index, looked_up, other] = [INDEX, LOOKED_UP, OTHER]
                    .map(|at| cursors[at].next(&self.space, at, len - done));
                let step = Step {
                    number: first + done,
                    len: index.len,
                    index: (index.position, index.stride),
                    looked_up: (looked_up.position, looked_up.stride),
                    other: (other.position, other.stride),
                };
                done += step.len;
                step
            })
        })
    }

    /// Whether one index serves the whole of `step`, whose looked-up elements then lie in one run:
    /// its position (`None` for a bad index) and stride.
    #[inline(always)]
    pub(super) fn whole(&self, step: &Step) -> Option<(Option<isize>, isize)> {
        (step.index.1 == 0).then(|| (self.position(step, 0), step.looked_up.1))
    }

    /// The position of the looked-up element for element `at` of `step`, or `None` for a bad index,
    /// which is remembered.
    #[inline(always)]
    pub(super) fn position(&self, step: &Step, at: usize) -> Option<isize> {
        let at_signed = at.cast_signed();
        let index = self.indices.at(step.index.0 + at_signed * step.index.1);
        match usize::try_from(index) {
            Ok(index) if index < self.size => Some(
                step.looked_up.0 + at_signed * step.looked_up.1 + index.cast_signed() * self.stride,
            ),
            _ => {
                self.bad.fetch_min(step.number + at, Ordering::Relaxed);
                None
            }
        }
    }

    /// Notes the first bad index, if there was one.
    pub(super) fn finish(self, args: &Args<'_>) -> Result<(), GpuError> {
        let bad = self.bad.load(Ordering::Relaxed);
        if bad == usize::MAX {
            return Ok(());
        }
        let run = Cursor::seek(&self.space, INDEX, bad).next(&self.space, INDEX, 1);
        args.note_fault(self.indices.at(run.position))
    }
}
