//! From byte ranges to typed elements: the only place where operations touch raw memory.
//!
//! Promises the rest of [`ops`](crate::ops) safe ways to read inputs ([`Reader`]), to compute
//! element by element ([`map`]), to fill outputs from their positions ([`generate`]), to run along
//! lines ([`lanes`]), to update a target ([`Target`]) and to multiply matrices ([`product`]).
//! Knows nothing of what is computed.
//!
//! # Safety
//!
//! Everything rests on one witness: [`Args`] is made by an unsafe function whose caller vouches that
//! the ranges fit the operation. A [`Window`] of it is typed memory that a view addresses. What the
//! seam promises of canonical operations is then used throughout:
//! - every element of a view lies inside its argument, whose memory lives for `'a`;
//! - no two positions of an output view are the same element;
//! - an output overlaps no input, but for element-wise operations an input of equal element size may
//!   be the very same view of the very same argument. `map` alone serves those: it copies a block of
//!   such an input before it writes the output's block, so that no reference to memory that is
//!   written is ever alive.
//!
//! A `&[T]` is made only of contiguous runs of elements that an input view addresses, and a
//! `&mut [T]` only of such runs of an output; both end before another task gets the same elements.

#![expect(unsafe_code, reason = "turns raw ranges into typed elements")]

mod feed;
pub(crate) mod lanes;
pub(crate) mod map;
pub(crate) mod product;
pub(crate) mod space;
mod transfer;

pub(crate) use map::{generate, map0, map1, map2, map3};
pub(crate) use transfer::copy;

use super::element::{Element, Plain};
use gpu_seam::{FAULT_SLOT_BYTES, GpuError, Op, Operand, View};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// The most arguments that an operation has.
pub(crate) const MOST_ARGS: usize = 4;

/// Elements that are worked on at a time where they must be gathered first.
pub(crate) const BLOCK: usize = 256;

/// The bytes of one argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawArg {
    start: NonNull<u8>,
    len: usize,
}

impl RawArg {
    /// A range of no bytes, to fill a list with.
    pub(crate) const EMPTY: Self = Self {
        start: NonNull::dangling(),
        len: 0,
    };

    /// The `len` bytes from `start`.
    pub(crate) const fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }
}

/// The arguments of one operation, vouched for.
pub(crate) struct Args<'a> {
    list: [RawArg; MOST_ARGS],
    life: PhantomData<&'a ()>,
}

impl<'a> Args<'a> {
    /// How many arguments `op` takes.
    pub(crate) fn expected(op: &Op<'_>) -> usize {
        let view = |operand: &Operand<'_>| usize::from(matches!(operand, Operand::View(_)));
        match op {
            Op::Fill { .. } | Op::Random { .. } => 1,
            Op::Copy { .. }
            | Op::Unary { .. }
            | Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::Scan { .. } => 2,
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => 1 + view(lhs) + view(rhs),
            Op::Select {
                on_true, on_false, ..
            } => 2 + view(on_true) + view(on_false),
            Op::Gather { .. } | Op::Scatter { .. } => 4,
            // Gemm; a later operation is refused before its arguments matter.
            _ => 3,
        }
    }

    /// The arguments of `op`, in the seam's order, the rest of the list being empty.
    ///
    /// # Safety
    /// For `'a`, the contract of [`Execute::execute`](gpu_seam::Execute::execute) holds: the ranges
    /// are live, fit `op` (which is canonical), and are used by nothing else but as it allows.
    pub(crate) const unsafe fn new(op: &Op<'a>, list: &[RawArg; MOST_ARGS]) -> Self {
        let _ = op;
        Self {
            list: *list,
            life: PhantomData,
        }
    }

    /// The elements that `view`, one of the operation's own, addresses in argument `at`.
    pub(crate) fn window<T: Plain>(&self, at: usize, view: View<'a>) -> Window<'a, T> {
        debug_assert_eq!(size_of::<T>(), view.dtype.size(), "a type of another size");
        debug_assert!(
            view.extent()
                .is_some_and(|(_, end)| end * size_of::<T>() <= self.list[at].len),
            "a bug above the host vendor: {view:?} exceeds {} bytes",
            self.list[at].len
        );
        Window {
            origin: self.list[at]
                .start
                .as_ptr()
                .cast::<T>()
                .wrapping_add(view.offset),
            dims: view.dims,
            strides: view.strides,
            life: PhantomData,
        }
    }

    /// The elements of an operand: a window of argument `next`, which is then counted up, or a value.
    pub(crate) fn source<T: Element>(
        &self,
        next: &mut usize,
        operand: Operand<'a>,
    ) -> Source<'a, T> {
        match operand {
            Operand::View(view) => {
                let window = self.window(*next, view);
                *next += 1;
                Source::Window(window)
            }
            Operand::Scalar(scalar) => Source::Value(T::from_scalar(scalar)),
        }
    }

    /// The first byte of argument `at`, for [`product`].
    pub(super) const fn start(&self, at: usize) -> NonNull<u8> {
        self.list[at].start
    }

    /// Notes a bad index in the fault slot, which is the last of four arguments.
    pub(crate) fn note_fault(&self, index: i64) -> Result<(), GpuError> {
        let slot = self.list[3];
        if slot.len < FAULT_SLOT_BYTES {
            return Err(GpuError::unsupported(
                "fault slot",
                format!("a bug above the host vendor: {} bytes", slot.len),
            ));
        }
        let mut note = [0; FAULT_SLOT_BYTES];
        note[0] = 1;
        note[4..12].copy_from_slice(&index.to_le_bytes());
        // SAFETY: the slot is live, its length was checked, and nothing else uses it meanwhile.
        unsafe {
            slot.start
                .as_ptr()
                .cast::<[u8; FAULT_SLOT_BYTES]>()
                .write_unaligned(note)
        };
        Ok(())
    }
}

/// Elements that a view addresses.
#[derive(Debug)]
pub(crate) struct Window<'a, T> {
    origin: *mut T,
    pub(crate) dims: &'a [usize],
    pub(crate) strides: &'a [isize],
    life: PhantomData<&'a T>,
}

impl<T> Clone for Window<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Window<'_, T> {}

// SAFETY: a window is an address with a layout; what is done with it on several threads is argued
// where it is done.
unsafe impl<T: Send> Send for Window<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Window<'_, T> {}

impl<'a, T: Plain> Window<'a, T> {
    /// The address of the element at `position`.
    #[inline(always)]
    const fn address(&self, position: isize) -> *mut T {
        self.origin.wrapping_offset(position)
    }

    /// The number of elements.
    pub(crate) fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether the elements lie one after the other in row-major order.
    pub(crate) fn is_contiguous(&self) -> bool {
        is_contiguous(self.dims, self.strides)
    }

    /// The same elements under another layout of the same elements.
    pub(crate) const fn relaid<'b>(self, dims: &'b [usize], strides: &'b [isize]) -> Window<'b, T>
    where
        'a: 'b,
    {
        Window {
            origin: self.origin,
            dims,
            strides,
            life: PhantomData,
        }
    }

    /// Read access.
    pub(crate) fn reader(self) -> Reader<'a, T> {
        let mut below = 0;
        let mut above = 0;
        for (&dim, &stride) in self.dims.iter().zip(self.strides) {
            let reach = (dim - 1) * stride.unsigned_abs();
            if stride < 0 {
                below += reach
            } else {
                above += reach
            }
        }
        Reader {
            first: self.origin.wrapping_sub(below),
            before: below,
            len: below + above + 1,
            life: PhantomData,
        }
    }
}

/// Whether a layout is contiguous in row-major order.
#[inline(always)]
fn is_contiguous(dims: &[usize], strides: &[isize]) -> bool {
    let mut expected = 1;
    for (&dim, &stride) in dims.iter().zip(strides).rev() {
        if dim != 1 {
            if stride != expected {
                return false;
            }
            expected *= dim.cast_signed();
        }
    }
    true
}

/// An input of an element-wise operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, T> {
    /// One element for each of the output.
    Window(Window<'a, T>),
    /// One value for all.
    Value(T),
}

/// Checked reading of an input view, by element position relative to its origin.
///
/// Only positions that the view addresses may be asked for: the check is against its extent.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a, T> {
    first: *const T,
    before: usize,
    len: usize,
    life: PhantomData<&'a T>,
}

// SAFETY: it only reads memory that nothing writes for `'a`.
unsafe impl<T: Sync> Send for Reader<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Reader<'_, T> {}

/// Room for a block of elements.
pub(crate) struct Room<T>([MaybeUninit<T>; BLOCK]);

impl<T: Plain> Room<T> {
    /// Room with nothing in it.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; BLOCK])
    }

    const fn ptr(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}

impl<'a, T: Plain> Reader<'a, T> {
    /// Index into the extent, checked for `len` elements `stride` apart.
    #[inline(always)]
    fn index(&self, position: isize, len: usize, stride: isize) -> usize {
        let first = self.before.wrapping_add_signed(position);
        let last = first.wrapping_add_signed(stride.wrapping_mul((len - 1).cast_signed()));
        assert!(first < self.len && last < self.len, "outside the view");
        first
    }

    /// The element at `position`.
    #[inline(always)]
    pub(crate) fn at(&self, position: isize) -> T {
        let index = self.index(position, 1, 0);
        // SAFETY: `index` is inside the view's extent, which lies inside live memory.
        unsafe { self.first.wrapping_add(index).read() }
    }

    /// The `len` elements from `position` on.
    #[inline(always)]
    pub(crate) fn run(&self, position: isize, len: usize) -> &'a [T] {
        if len == 0 {
            return &[];
        }
        let index = self.index(position, len, 1);
        let first = self.first.wrapping_add(index);
        // SAFETY: the run's ends are inside the extent, its elements are the view's own, and
        // nothing writes an input for `'a`.
        unsafe { std::slice::from_raw_parts(first, len) }
    }

    /// The `len` (at most [`BLOCK`]) elements from `position` on, `stride` apart: as they lie when
    /// that is contiguous, else gathered into `room`.
    #[inline(always)]
    pub(crate) fn fetch<'r>(
        &self,
        position: isize,
        stride: isize,
        len: usize,
        room: &'r mut Room<T>,
    ) -> &'r [T]
    where
        'a: 'r,
    {
        if stride == 1 || len == 1 {
            return self.run(position, len);
        }
        assert!(len <= BLOCK, "more than a block");
        if len == 0 {
            return &[];
        }
        let mut from = self.first.wrapping_add(self.index(position, len, stride));
        for slot in &mut room.0[..len] {
            // SAFETY: between two positions inside the extent.
            slot.write(unsafe { from.read() });
            from = from.wrapping_offset(stride);
        }
        // SAFETY: the loop wrote the first `len` elements.
        unsafe { std::slice::from_raw_parts(room.ptr(), len) }
    }
}

/// A target that is updated element by element, by position relative to its origin.
pub(crate) struct Target<'a, T>(Reader<'a, T>);

impl<'a, T: Plain> Target<'a, T> {
    /// Exclusive access to an output that no input overlaps.
    pub(crate) fn new(window: Window<'a, T>) -> Self {
        Self(window.reader())
    }

    /// The element at `position`.
    #[inline(always)]
    pub(crate) fn get(&self, position: isize) -> T {
        self.0.at(position)
    }

    /// The `len` elements from `position` on.
    #[inline(always)]
    pub(crate) fn run(&mut self, position: isize, len: usize) -> &mut [T] {
        let index = if len == 0 {
            0
        } else {
            self.0.index(position, len, 1)
        };
        let first = self.0.first.cast_mut().wrapping_add(index);
        // SAFETY: the run's ends are inside the extent of an output, which this target alone uses.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    /// Replaces the element at `position`.
    #[inline(always)]
    pub(crate) fn set(&mut self, position: isize, value: T) {
        let index = self.0.index(position, 1, 0);
        // SAFETY: inside the extent of an output, which this target alone uses.
        unsafe { self.0.first.cast_mut().wrapping_add(index).write(value) };
    }
}
