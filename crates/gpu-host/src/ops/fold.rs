//! What reductions and scans accumulate, and the line they run along.
//!
//! Promises the accumulators of `docs/semantics.md` (f16 and bf16 in f32, integers in i64 or f64,
//! everything else in itself), identities to start from, and one choice of how three dimensions are
//! walked. Knows nothing of loops.

use super::cast::Cast;
use super::element::{Bool, Element, Plain};
use super::number::{Number, Ordered};
use super::raw::{Args, Reader, Window};
use gpu_seam::View;
use std::marker::PhantomData;

/// A way to reduce elements of type `T`: associative up to rounding.
pub(crate) trait Fold<T>: 'static {
    /// What is accumulated.
    type Acc: Plain;
    /// The identity.
    const START: Self::Acc;
    /// An element as an accumulator.
    fn lift(x: T) -> Self::Acc;
    /// Two accumulators as one.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// The sum, accumulated as `A`.
pub(crate) struct Sum<A>(PhantomData<A>);
/// The product, accumulated as `A`.
pub(crate) struct Prod<A>(PhantomData<A>);
/// The smallest; NaN if any is.
pub(crate) struct Least;
/// The largest; NaN if any is.
pub(crate) struct Most;
/// Whether any is not zero.
pub(crate) struct Any;
/// Whether none is zero.
pub(crate) struct All;

impl<T: Cast<A>, A: Number> Fold<T> for Sum<A> {
    type Acc = A;
    const START: A = A::ZERO;
    #[inline(always)]
    fn lift(x: T) -> A {
        x.cast()
    }
    #[inline(always)]
    fn join(a: A, b: A) -> A {
        a.add(b)
    }
}

impl<T: Cast<A>, A: Number> Fold<T> for Prod<A> {
    type Acc = A;
    const START: A = A::ONE;
    #[inline(always)]
    fn lift(x: T) -> A {
        x.cast()
    }
    #[inline(always)]
    fn join(a: A, b: A) -> A {
        a.mul(b)
    }
}

impl<T: Ordered> Fold<T> for Least {
    type Acc = T;
    const START: T = T::TOP;
    #[inline(always)]
    fn lift(x: T) -> T {
        x
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.least(b)
    }
}

impl<T: Ordered> Fold<T> for Most {
    type Acc = T;
    const START: T = T::BOTTOM;
    #[inline(always)]
    fn lift(x: T) -> T {
        x
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.most(b)
    }
}

impl<T: Number> Fold<T> for Any {
    type Acc = Bool;
    const START: Bool = Bool(0);
    #[inline(always)]
    fn lift(x: T) -> Bool {
        x.truth().into()
    }
    #[inline(always)]
    fn join(a: Bool, b: Bool) -> Bool {
        a.add(b)
    }
}

impl<T: Number> Fold<T> for All {
    type Acc = Bool;
    const START: Bool = Bool(1);
    #[inline(always)]
    fn lift(x: T) -> Bool {
        x.truth().into()
    }
    #[inline(always)]
    fn join(a: Bool, b: Bool) -> Bool {
        a.mul(b)
    }
}

/// An input of three dimensions, walked along the middle one.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a, T> {
    pub(crate) reader: Reader<'a, T>,
    /// Dims: outer, along, inner.
    pub(crate) dims: [usize; 3],
    /// Strides of the same.
    pub(crate) strides: [isize; 3],
    /// Whether outer and inner changed places, so that inner has the smaller stride.
    pub(crate) swapped: bool,
}

/// Fewer neighbouring lines than this are walked one by one.
const FEW: usize = 8;

impl<'a, T: Plain> Lines<'a, T> {
    /// The lines of argument 1; `None` when it has not three dimensions.
    pub(crate) fn new(args: &Args<'a>, input: View<'a>) -> Option<Self> {
        let (&[outer, along, inner], &[so, sa, si]) = (input.dims, input.strides) else {
            return None;
        };
        let reader = args.window(1, input).reader();
        let swapped = inner == 1 || (outer != 1 && so.abs() < si.abs());
        let (dims, strides) = if swapped {
            ([inner, along, outer], [si, sa, so])
        } else {
            ([outer, along, inner], [so, sa, si])
        };
        Some(Self {
            reader,
            dims,
            strides,
            swapped,
        })
    }

    /// Whether neighbouring lines are better walked abreast than one by one.
    pub(crate) const fn abreast(&self) -> bool {
        self.dims[2] >= FEW && self.strides[2].abs() < self.strides[1].abs()
    }

    /// The position of the first element of line (`outer`, `inner`).
    #[inline(always)]
    pub(crate) const fn start(&self, outer: usize, inner: usize) -> isize {
        outer.cast_signed() * self.strides[0] + inner.cast_signed() * self.strides[2]
    }

    /// The position of element `at` of line (`outer`, `inner`).
    #[inline(always)]
    pub(crate) const fn position(&self, outer: usize, at: usize, inner: usize) -> isize {
        self.start(outer, inner) + at.cast_signed() * self.strides[1]
    }
}

/// The layout of an output of the same lines, with outer and inner in the same places: all three
/// dimensions for a scan, two for a reduction.
pub(crate) struct Relaid<const N: usize> {
    dims: [usize; N],
    strides: [isize; N],
}

impl<const N: usize> Relaid<N> {
    /// The layout of `view`; `None` when it has not `N` dimensions.
    pub(crate) fn new(view: View<'_>, swapped: bool) -> Option<Self> {
        let mut dims: [usize; N] = view.dims.try_into().ok()?;
        let mut strides: [isize; N] = view.strides.try_into().ok()?;
        if swapped {
            dims.swap(0, N - 1);
            strides.swap(0, N - 1);
        }
        Some(Self { dims, strides })
    }

    /// `window` under this layout.
    pub(crate) const fn of<'s, O: Element>(&'s self, window: Window<'s, O>) -> Window<'s, O> {
        window.relaid(&self.dims, &self.strides)
    }
}
