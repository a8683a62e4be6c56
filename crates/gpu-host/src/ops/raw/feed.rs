//! Operands on their way to and from kernels, known by the size of their elements alone.
//!
//! Promises runs of contiguous elements of each input and a contiguous place for the output's,
//! whatever the layouts are, with one piece of code for all types. Knows nothing of kernels.
//!
//! # Safety
//!
//! See [`raw`](super). A [`Place`] is made of a [`Window`] or a value, so that its address, strides
//! and size are those of elements that the operation may touch.

#![expect(unsafe_code, reason = "moves elements through raw pointers")]

use super::super::element::{Bits64, Bits128};
use super::space::{Cursor, Space};
use super::{BLOCK, Plain, Source, Window};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Evaluates `$call` with `$T` as a type of `$size` bytes.
macro_rules! by_size {
    ($size:expr, $T:ident => $call:expr) => {
        match $size {
            1 => {
                type $T = u8;
                $call
            }
            2 => {
                type $T = u16;
                $call
            }
            4 => {
                type $T = u32;
                $call
            }
            8 => {
                type $T = Bits64;
                $call
            }
            _ => {
                type $T = Bits128;
                $call
            }
        }
    };
}

/// The largest element.
const WIDEST: usize = 16;

/// One operand: a view of memory, one value, or nothing.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    origin: *mut u8,
    /// Bytes of an element; 0 for nothing.
    size: usize,
    /// The value, for an operand without strides.
    value: u128,
    /// In elements.
    pub(super) strides: Option<&'a [isize]>,
    life: PhantomData<&'a ()>,
}

// SAFETY: an address with a layout; what is done with it on several threads is argued where it is
// done.
unsafe impl Send for Place<'_> {}
// SAFETY: as above.
unsafe impl Sync for Place<'_> {}

impl Place<'_> {
    /// The operand that an operation has not.
    pub(super) const NONE: Self = Self {
        origin: std::ptr::null_mut(),
        size: 0,
        value: 0,
        strides: None,
        life: PhantomData,
    };

    /// Whether it is contiguous.
    #[inline(always)]
    pub(super) fn is_straight(&self, dims: &[usize]) -> bool {
        self.strides
            .is_some_and(|strides| super::is_contiguous(dims, strides))
    }

    /// Whether it can be read as it lies while `out` is written: contiguous and another memory, or
    /// nothing.
    #[inline(always)]
    pub(super) fn is_straight_beside(&self, out: &Self, dims: &[usize]) -> bool {
        self.size == 0 || (self.origin.addr() != out.origin.addr() && self.is_straight(dims))
    }

    /// The same, as a value if it is one element that is repeated. Not for an output.
    pub(super) fn as_value(self, dims: &[usize]) -> Self {
        let repeats = |strides: &[isize]| {
            dims.iter()
                .zip(strides)
                .all(|(&dim, &stride)| dim == 1 || stride == 0)
        };
        if !self.strides.is_some_and(repeats) {
            return self;
        }
        let origin = self.origin;
        let value = by_size!(self.size, T => {
            // SAFETY: the origin is an element of an input; nothing writes it before the kernels
            // run, and they are given this value.
            unsafe { origin.cast::<T>().read() }.to_bits()
        });
        Self {
            value,
            strides: None,
            ..self
        }
    }

    /// The address of the element with this number, of a contiguous operand.
    #[inline(always)]
    pub(super) const fn element(&self, number: usize) -> *mut u8 {
        if self.size == 0 {
            // Fit for no elements of no type.
            return std::ptr::without_provenance_mut(WIDEST);
        }
        self.origin.wrapping_add(number * self.size)
    }

    const fn at(&self, element: isize) -> *mut u8 {
        self.origin
            .wrapping_offset(element * self.size.cast_signed())
    }
}

impl<'a, T: Plain> Window<'a, T> {
    /// The window without its type.
    #[inline(always)]
    pub(super) const fn place(&self) -> Place<'a> {
        Place {
            origin: self.origin.cast(),
            size: size_of::<T>(),
            value: 0,
            strides: Some(self.strides),
            life: PhantomData,
        }
    }
}

impl<'a, T: Plain> Source<'a, T> {
    /// The source without its type.
    #[inline(always)]
    pub(super) fn place(&self) -> Place<'a> {
        match self {
            Self::Window(window) => window.place(),
            Self::Value(value) => Place {
                size: size_of::<T>(),
                value: value.to_bits(),
                ..Place::NONE
            },
        }
    }
}

/// Room for a block of elements of any type.
#[repr(align(64))]
pub(super) struct Room([MaybeUninit<u8>; BLOCK * WIDEST]);

impl Room {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; BLOCK * WIDEST])
    }

    #[inline(always)]
    const fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// How an input's elements reach a kernel.
enum Mode {
    /// As they lie.
    Direct,
    /// The room holds the value, over and over.
    Constant,
    /// Copied into the room first, since the output overwrites them.
    InPlace,
    /// Gathered into the room.
    Gathered(Cursor),
}

/// One input over one range of the walk.
pub(super) struct Feed<'f> {
    mode: Mode,
    first: *const u8,
    size: usize,
    space: &'f Space,
    operand: usize,
    room: &'f mut Room,
}

impl<'f> Feed<'f> {
    /// The input over `range`, beside the output `out`.
    pub(super) fn new(
        place: &Place<'_>,
        space: &'f Space,
        operand: usize,
        out: &Place<'_>,
        range: &Range<usize>,
        room: &'f mut Room,
    ) -> Self {
        let mut first = place.element(0);
        let mode = if place.size == 0 {
            Mode::Direct
        } else if place.strides.is_none() {
            let len = BLOCK.min(range.len());
            repeat(place.value, place.size, room.start(), len);
            Mode::Constant
        } else if !space.linear[operand] {
            Mode::Gathered(Cursor::seek(space, operand, range.start))
        } else {
            first = place.at(space.start[operand]);
            if place.origin.addr() == out.origin.addr() {
                Mode::InPlace
            } else {
                Mode::Direct
            }
        };
        Self {
            mode,
            first,
            size: place.size,
            space,
            operand,
            room,
        }
    }

    /// Whether any number of elements can be had at once.
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.mode, Mode::Direct)
    }

    /// The `len` elements from number `first` of the walk on: at most [`BLOCK`] unless direct, and
    /// each range from its start to its end.
    #[inline(always)]
    pub(super) fn fetch(&mut self, first: usize, len: usize) -> *const u8 {
        let room = self.room.start();
        match &mut self.mode {
            Mode::Direct => return self.first.wrapping_add(first * self.size),
            Mode::Constant => {}
            Mode::InPlace => {
                let from = self.first.wrapping_add(first * self.size);
                // SAFETY: the walk is linear in this input, so that the elements are its own; the
                // room is as long as a block.
                unsafe { room.copy_from_nonoverlapping(from, len * self.size) };
            }
            Mode::Gathered(cursor) => {
                let moved = Moved {
                    cursor,
                    space: self.space,
                    operand: self.operand,
                };
                moved.gather(self.size, self.first, room, len);
            }
        }
        room
    }
}

/// The output over one range of the walk.
pub(super) struct Sink<'f> {
    cursor: Option<Cursor>,
    first: *mut u8,
    size: usize,
    space: &'f Space,
    room: &'f mut Room,
}

impl<'f> Sink<'f> {
    /// The output from number `start` of the walk on.
    pub(super) fn new(out: &Place<'_>, space: &'f Space, start: usize, room: &'f mut Room) -> Self {
        let cursor = (!space.linear[0]).then(|| {
            // A kernel is given a slice of it, which must hold values.
            room.0.fill(MaybeUninit::new(0));
            Cursor::seek(space, 0, start)
        });
        let first = if cursor.is_none() {
            out.at(space.start[0])
        } else {
            out.origin
        };
        Self {
            cursor,
            first,
            size: out.size,
            space,
            room,
        }
    }

    /// Whether kernels write the output itself.
    pub(super) const fn is_direct(&self) -> bool {
        self.cursor.is_none()
    }

    /// Where a kernel writes the elements from number `first` of the walk on: at most [`BLOCK`]
    /// unless direct.
    pub(super) const fn room(&mut self, first: usize) -> *mut u8 {
        if self.cursor.is_some() {
            self.room.start()
        } else {
            self.first.wrapping_add(first * self.size)
        }
    }

    /// Moves the `len` elements that a kernel wrote into the room to where they belong.
    pub(super) fn put(&mut self, len: usize) {
        if let Some(cursor) = &mut self.cursor {
            let moved = Moved {
                cursor,
                space: self.space,
                operand: 0,
            };
            moved.spread(self.size, self.room.start(), self.first, len);
        }
    }
}

/// Writes `len` times `value` to `room`, which has room for them.
#[inline(always)]
fn repeat(value: u128, size: usize, room: *mut u8, len: usize) {
    by_size!(size, T => {
        let (value, room) = (T::from_bits(value), room.cast::<T>());
        for at in 0..len {
            // SAFETY: inside the room, which is aligned for any element.
            unsafe { room.wrapping_add(at).write(value) };
        }
    });
}

/// An operand that is moved run by run.
struct Moved<'m> {
    cursor: &'m mut Cursor,
    space: &'m Space,
    operand: usize,
}

impl Moved<'_> {
    /// Copies the next `len` elements to `room`.
    fn gather(self, size: usize, origin: *const u8, room: *mut u8, len: usize) {
        by_size!(size, T => self.runs(origin.cast::<T>(), room.cast::<T>(), len, |from, to, run, stride| {
            if stride == 1 {
                // SAFETY: a run of the input's own elements; the room has space for it.
                unsafe { to.copy_from_nonoverlapping(from, run) };
            } else {
                for at in 0..run {
                    // SAFETY: an element of the run.
                    let value = unsafe { from.wrapping_offset(at.cast_signed() * stride).read() };
                    // SAFETY: inside the room.
                    unsafe { to.wrapping_add(at).write(value) };
                }
            }
        }));
    }

    /// Copies `len` elements of `room` to the next places.
    fn spread(self, size: usize, room: *mut u8, origin: *mut u8, len: usize) {
        by_size!(size, T => self.runs(origin.cast_const().cast::<T>(), room.cast::<T>(), len, |to, from, run, stride| {
            let to = to.cast_mut();
            for at in 0..run {
                // SAFETY: inside the room, which holds values.
                let value = unsafe { from.wrapping_add(at).read() };
                // SAFETY: an element of the output that is this task's alone.
                unsafe { to.wrapping_offset(at.cast_signed() * stride).write(value) };
            }
        }));
    }

    /// Calls `each` with the places of each run: in the view, in the room, how many, how far apart.
    #[inline(always)]
    fn runs<T>(
        self,
        origin: *const T,
        room: *mut T,
        len: usize,
        each: impl Fn(*const T, *mut T, usize, isize),
    ) {
        let mut done = 0;
        while done < len {
            let run = self.cursor.next(self.space, self.operand, len - done);
            let place = origin.wrapping_offset(run.position);
            each(place, room.wrapping_add(done), run.len, run.stride);
            done += run.len;
        }
    }
}
