//! How shapes, axes and slices are given: in whatever form is at hand.
//!
//! Promises that no form loses a value: a size, axis or position that does not fit is kept as one
//! that is out of range, and refused where it is used. Knows nothing of any tensor.

use gpu_dispatch::Dims;
use smallvec::{SmallVec, smallvec};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// The dims of a new tensor: `[2, 3]`, a slice, a vector; `[]` is a scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(pub(crate) Dims);

/// Dims of which some may be left open: `-1` in [`reshape`](crate::Tensor::reshape) is what
/// remains, in [`expand`](crate::Tensor::expand) what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extents(pub(crate) SmallVec<[Extent; 6]>);

/// One of the [`Extents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// So many elements.
    Size(usize),
    /// Given as -1.
    Open,
    /// A number that is neither: refused where it is used.
    Wrong(i64),
}

/// An axis. Negative ones count from the last, which is -1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis(pub(crate) isize);

/// Several axes, or all of them (`..`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axes(pub(crate) Option<SmallVec<[isize; 6]>>);

/// Which positions along an axis: NumPy's `start:stop:step`.
///
/// Negative positions count from the end, what lies outside is cut off, and a negative step goes
/// backwards. Any Rust range of integers is one, with step 1 (but clippy takes a literal `1..-1` for
/// a mistake: write `Slice::new(Some(1), Some(-1), 1)`).
///
/// ```
/// use tensor_core::Slice;
/// let evens = Slice::from(0..10).step(2);
/// let backwards = Slice::full().step(-1);
/// # let _ = (evens, backwards);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub(crate) start: Option<isize>,
    pub(crate) stop: Option<isize>,
    pub(crate) step: isize,
}

impl Slice {
    /// `start:stop:step`; `None` is the end that the step comes from or goes to.
    #[must_use]
    pub const fn new(start: Option<isize>, stop: Option<isize>, step: isize) -> Self {
        Self { start, stop, step }
    }

    /// Everything: `:`.
    #[must_use]
    pub const fn full() -> Self {
        Self::new(None, None, 1)
    }

    /// The same ends with another step.
    #[must_use]
    pub const fn step(mut self, step: isize) -> Self {
        self.step = step;
        self
    }
}

/// `usize` to a position; what does not fit is out of range whatever it is used for.
fn saturated(value: usize) -> isize {
    isize::try_from(value).unwrap_or(isize::MAX)
}

macro_rules! axis_from {
    ($($type:ty => |$value:ident| $axis:expr;)+) => {$(
        impl From<$type> for Axis {
            fn from($value: $type) -> Self {
                Self($axis)
            }
        }

        impl From<$type> for Axes {
            fn from(axis: $type) -> Self {
                Self(Some(smallvec![Axis::from(axis).0]))
            }
        }

        impl<const N: usize> From<[$type; N]> for Axes {
            fn from(axes: [$type; N]) -> Self {
                Self::from(axes.as_slice())
            }
        }

        impl<const N: usize> From<&[$type; N]> for Axes {
            fn from(axes: &[$type; N]) -> Self {
                Self::from(axes.as_slice())
            }
        }

        impl From<&[$type]> for Axes {
            fn from(axes: &[$type]) -> Self {
                Self(Some(axes.iter().map(|&axis| Axis::from(axis).0).collect()))
            }
        }

        impl From<Vec<$type>> for Axes {
            fn from(axes: Vec<$type>) -> Self {
                Self::from(axes.as_slice())
            }
        }

        impl From<Range<$type>> for Slice {
            fn from(range: Range<$type>) -> Self {
                Self::new(Some(Axis::from(range.start).0), Some(Axis::from(range.end).0), 1)
            }
        }

        impl From<RangeInclusive<$type>> for Slice {
            fn from(range: RangeInclusive<$type>) -> Self {
                Self::new(Some(Axis::from(*range.start()).0), after(Axis::from(*range.end())), 1)
            }
        }

        impl From<RangeFrom<$type>> for Slice {
            fn from(range: RangeFrom<$type>) -> Self {
                Self::new(Some(Axis::from(range.start).0), None, 1)
            }
        }

        impl From<RangeTo<$type>> for Slice {
            fn from(range: RangeTo<$type>) -> Self {
                Self::new(None, Some(Axis::from(range.end).0), 1)
            }
        }

        impl From<RangeToInclusive<$type>> for Slice {
            fn from(range: RangeToInclusive<$type>) -> Self {
                Self::new(None, after(Axis::from(range.end)), 1)
            }
        }
    )+};
}

axis_from! {
    i32 => |value| isize::try_from(value).unwrap_or(if value < 0 { isize::MIN } else { isize::MAX });
    isize => |value| value;
    usize => |value| saturated(value);
}

/// The stop that includes `last`: -1 is the last of all, so nothing stops after it.
const fn after(last: Axis) -> Option<isize> {
    match last.0 {
        -1 => None,
        last => Some(last.saturating_add(1)),
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::full()
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Self(None)
    }
}

macro_rules! shape_from {
    ($($(#[$generic:ident])? $type:ty),+) => {$(
        impl $(<const $generic: usize>)? From<$type> for Shape {
            fn from(dims: $type) -> Self {
                Self(dims.iter().copied().collect())
            }
        }
    )+};
}

shape_from!(
    #[N]
    [usize; N],
    #[N]
    &[usize; N],
    &[usize],
    Vec<usize>,
    &Vec<usize>,
    &Dims
);

impl From<Dims> for Shape {
    fn from(dims: Dims) -> Self {
        Self(dims)
    }
}

impl From<usize> for Shape {
    fn from(length: usize) -> Self {
        Self(smallvec![length])
    }
}

impl From<i32> for Extent {
    fn from(size: i32) -> Self {
        match size {
            -1 => Self::Open,
            _ => usize::try_from(size).map_or(Self::Wrong(size.into()), Self::Size),
        }
    }
}

impl From<isize> for Extent {
    fn from(size: isize) -> Self {
        match size {
            -1 => Self::Open,
            _ => usize::try_from(size).map_or(
                Self::Wrong(i64::try_from(size).unwrap_or(i64::MIN)),
                Self::Size,
            ),
        }
    }
}

impl From<usize> for Extent {
    fn from(size: usize) -> Self {
        Self::Size(size)
    }
}

macro_rules! extents_from {
    ($($type:ty),+) => {$(
        impl From<$type> for Extents {
            fn from(size: $type) -> Self {
                Self(smallvec![Extent::from(size)])
            }
        }

        impl<const N: usize> From<[$type; N]> for Extents {
            fn from(sizes: [$type; N]) -> Self {
                Self::from(sizes.as_slice())
            }
        }

        impl<const N: usize> From<&[$type; N]> for Extents {
            fn from(sizes: &[$type; N]) -> Self {
                Self::from(sizes.as_slice())
            }
        }

        impl From<&[$type]> for Extents {
            fn from(sizes: &[$type]) -> Self {
                Self(sizes.iter().map(|&size| Extent::from(size)).collect())
            }
        }

        impl From<Vec<$type>> for Extents {
            fn from(sizes: Vec<$type>) -> Self {
                Self::from(sizes.as_slice())
            }
        }
    )+};
}

extents_from!(i32, isize, usize);

impl From<Shape> for Extents {
    fn from(shape: Shape) -> Self {
        Self::from(shape.0.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::{Axes, Axis, Extent, Extents, Shape, Slice};

    #[test]
    fn literals_need_no_suffix() {
        fn axis(axis: impl Into<Axis>) -> isize {
            axis.into().0
        }
        fn axes(axes: impl Into<Axes>) -> Option<usize> {
            axes.into().0.map(|axes| axes.len())
        }
        fn shape(shape: impl Into<Shape>) -> usize {
            shape.into().0.len()
        }
        fn extents(extents: impl Into<Extents>) -> Vec<Extent> {
            extents.into().0.into_vec()
        }
        assert_eq!((axis(-1), axis(usize::MAX)), (-1, isize::MAX));
        assert_eq!((axes(1), axes([0, -1]), axes(..)), (Some(1), Some(2), None));
        assert_eq!((shape([]), shape([2, 3]), shape(vec![1usize])), (0, 2, 1));
        assert_eq!(extents([2, -1]), [Extent::Size(2), Extent::Open]);
        assert_eq!(extents(-7), [Extent::Wrong(-7)]);
    }

    #[test]
    fn ranges_are_slices() {
        assert_eq!(Slice::from(-2..-1), Slice::new(Some(-2), Some(-1), 1));
        assert_eq!(Slice::from(..=-1), Slice::full());
        assert_eq!(Slice::from(2..=3).step(2), Slice::new(Some(2), Some(4), 2));
        assert_eq!(Slice::from(..), Slice::full());
    }
}
