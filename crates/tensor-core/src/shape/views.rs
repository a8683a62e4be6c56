//! Views: other dims, strides and offset for the same storage.
//!
//! Promises that a view names only positions that the layout it was made from names. Knows
//! nothing of copies: what needs one is not a view.

use super::layout::{checked_elements, resolve};
use super::{Extent, Extents, Layout, Slice};
use crate::error::{Error, Shown};
use gpu_dispatch::Dims;

impl Layout {
    /// The dimensions in another order.
    pub(crate) fn permuted(&self, op: &'static str, axes: &[isize]) -> Result<Self, Error> {
        if axes.len() != self.rank() {
            let detail = format!(
                "{} axes were given for rank {}: {}",
                axes.len(),
                self.rank(),
                Shown(axes)
            );
            return Err(Error::invalid(op, detail));
        }
        let order = self.axes(op, Some(axes))?;
        Ok(Self {
            dims: order.iter().map(|&axis| self.dims[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// Two dimensions exchanged.
    pub(crate) fn transposed(&self, op: &'static str, a: isize, b: isize) -> Result<Self, Error> {
        let (a, b) = (self.axis(op, a)?, self.axis(op, b)?);
        let mut view = self.clone();
        view.dims.swap(a, b);
        view.strides.swap(a, b);
        Ok(view)
    }

    /// `len` positions of `axis` from `start` on.
    pub(crate) fn narrowed(
        &self,
        op: &'static str,
        axis: isize,
        start: usize,
        len: usize,
    ) -> Result<Self, Error> {
        let dimension = self.axis(op, axis)?;
        let size = self.dims[dimension];
        if start.checked_add(len).is_none_or(|end| end > size) {
            let detail =
                format!("{len} positions from {start} on do not lie in axis {axis} of size {size}");
            return Err(Error::invalid(op, detail));
        }
        Ok(self.stepped(dimension, start, len, 1))
    }

    /// NumPy's `start:stop:step` along `axis`.
    pub(crate) fn sliced(
        &self,
        op: &'static str,
        axis: isize,
        slice: Slice,
    ) -> Result<Self, Error> {
        let dimension = self.axis(op, axis)?;
        let size = self.dims[dimension];
        if slice.step == 0 {
            return Err(Error::invalid(
                op,
                format!("the step along axis {axis} is zero"),
            ));
        }
        let (start, len) = positions(size, slice);
        Ok(self.stepped(dimension, start, len, slice.step))
    }

    /// The positions `start + i * step` of a dimension, for `i < len`; all of them inside it.
    fn stepped(&self, dimension: usize, start: usize, len: usize, step: isize) -> Self {
        let mut view = self.clone();
        view.dims[dimension] = len;
        let stride = self.strides[dimension];
        // With one position or none the stride leads nowhere; saturation cannot be met otherwise,
        // since all positions lie inside the storage.
        view.strides[dimension] = stride.saturating_mul(step);
        if self.elements() != 0 && len != 0 {
            let skipped = stride.saturating_mul(start.cast_signed());
            view.offset = view.offset.saturating_add_signed(skipped);
        }
        view
    }

    /// Stretched to `dims`: dimensions of size 1 repeat, and new ones come in front.
    pub(crate) fn broadcast(&self, op: &'static str, dims: &[usize]) -> Result<Self, Error> {
        let refuse = |why: String| {
            let detail = format!(
                "{} cannot be broadcast to {}: {why}",
                Shown(&self.dims),
                Shown(dims)
            );
            Error::invalid(op, detail)
        };
        checked_elements(op, dims)?;
        let Some(lead) = dims.len().checked_sub(self.rank()) else {
            return Err(refuse(format!("it has {} dimensions", self.rank())));
        };
        let mut view = self.clone();
        view.dims = dims.iter().copied().collect();
        view.strides = std::iter::repeat_n(0, lead)
            .chain(self.strides.iter().copied())
            .collect();
        for (at, (&have, &want)) in self.dims.iter().zip(&dims[lead..]).enumerate() {
            if have == 1 && want != 1 {
                view.strides[lead + at] = 0;
            } else if have != want {
                return Err(refuse(format!(
                    "axis {at} has size {have}, not 1 or {want}"
                )));
            }
        }
        Ok(view)
    }

    /// As [`broadcast`](Self::broadcast); open extents keep the size there is.
    pub(crate) fn expanded(&self, op: &'static str, extents: &Extents) -> Result<Self, Error> {
        let lead = extents.0.len().saturating_sub(self.rank());
        let mut dims = Dims::new();
        for (at, extent) in extents.0.iter().enumerate() {
            match (
                *extent,
                at.checked_sub(lead).and_then(|at| self.dims.get(at)),
            ) {
                (Extent::Size(size), _) => dims.push(size),
                (Extent::Open, Some(&size)) => dims.push(size),
                (Extent::Open, None) => {
                    let detail = format!("-1 at position {at} keeps no dimension: it is a new one");
                    return Err(Error::invalid(op, detail));
                }
                (Extent::Wrong(size), _) => {
                    return Err(Error::invalid(
                        op,
                        format!("{size} is no size of a dimension"),
                    ));
                }
            }
        }
        self.broadcast(op, &dims)
    }

    /// Without the dimensions `axes`, each of size 1; without all of size 1 when `None`.
    pub(crate) fn squeezed(&self, op: &'static str, axes: Option<&[isize]>) -> Result<Self, Error> {
        let gone = match axes {
            None => (0..self.rank())
                .filter(|&axis| self.dims[axis] == 1)
                .collect(),
            Some(_) => self.axes(op, axes)?,
        };
        if let Some(&axis) = gone.iter().find(|&&axis| self.dims[axis] != 1) {
            let detail = format!("axis {axis} has size {}, not 1", self.dims[axis]);
            return Err(Error::invalid(op, detail));
        }
        let kept = (0..self.rank()).filter(|axis| !gone.contains(axis));
        Ok(Self {
            dims: kept.clone().map(|axis| self.dims[axis]).collect(),
            strides: kept.map(|axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// With a dimension of size 1 at `axis` of the result.
    pub(crate) fn unsqueezed(&self, op: &'static str, axis: isize) -> Result<Self, Error> {
        let at = resolve(op, axis, self.rank() + 1)?;
        let mut view = self.clone();
        // What a row-major layout would have there, so that the stride stays a plausible one.
        let stride = match (self.dims.get(at), self.strides.get(at)) {
            (Some(&dim), Some(&stride)) => stride.saturating_mul(dim.max(1).cast_signed()),
            _ => 1,
        };
        view.dims.insert(at, 1);
        view.strides.insert(at, stride);
        checked_elements(op, &view.dims)?;
        Ok(view)
    }

    /// Backwards along `axes`.
    pub(crate) fn flipped(&self, op: &'static str, axes: Option<&[isize]>) -> Result<Self, Error> {
        let mut view = self.clone();
        for dimension in self.axes(op, axes)? {
            let last = self.dims[dimension].saturating_sub(1);
            view = view.stepped(dimension, last, self.dims[dimension], -1);
        }
        Ok(view)
    }

    /// The diagonal of the planes of axes `first` and `second`, as a new last dimension; it starts
    /// `offset` to the right of the main one (to the left, when negative).
    pub(crate) fn diagonal(
        &self,
        op: &'static str,
        offset: isize,
        first: isize,
        second: isize,
    ) -> Result<Self, Error> {
        let (a, b) = (self.axis(op, first)?, self.axis(op, second)?);
        if a == b {
            let detail = format!("a diagonal needs two axes, but {first} and {second} are one");
            return Err(Error::invalid(op, detail));
        }
        let skip = offset.unsigned_abs();
        let (down, right) = if offset < 0 { (skip, 0) } else { (0, skip) };
        let len = self.dims[a]
            .saturating_sub(down)
            .min(self.dims[b].saturating_sub(right));
        let mut view = if len == 0 {
            self.clone()
        } else {
            self.stepped(a, down, len, 1).stepped(b, right, len, 1)
        };
        let stride = self.strides[a].saturating_add(self.strides[b]);
        for axis in [a.max(b), a.min(b)] {
            view.dims.remove(axis);
            view.strides.remove(axis);
        }
        view.dims.push(len);
        view.strides.push(stride);
        Ok(view)
    }
}

/// The first position of a slice of a dimension of `size`, and how many there are: Python's
/// `slice.indices`, in whole numbers wide enough for any argument.
fn positions(size: usize, slice: Slice) -> (usize, usize) {
    let size = size as i128;
    let step = slice.step as i128;
    let (lowest, highest) = if step < 0 { (-1, size - 1) } else { (0, size) };
    let place = |at: Option<isize>, default: i128| match at {
        None => default,
        Some(at) if at < 0 => (at as i128 + size).clamp(lowest, highest),
        Some(at) => (at as i128).clamp(lowest, highest),
    };
    let (first, last) = if step < 0 {
        (highest, lowest)
    } else {
        (lowest, highest)
    };
    let (start, stop) = (place(slice.start, first), place(slice.stop, last));
    let span = if step < 0 { start - stop } else { stop - start };
    let len = if span <= 0 {
        0
    } else {
        (span - 1) / step.abs() + 1
    };
    // Both are within 0..=size, which came from a usize; without elements there is no first one.
    let start = usize::try_from(start).unwrap_or(0);
    (start, usize::try_from(len).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::shape::layout::tests::positions;
    use crate::shape::{Extents, Layout, Shape, Slice};
    use rstest::rstest;

    fn layout(dims: &[usize]) -> Layout {
        Layout::contiguous("test", Shape::from(dims).0).unwrap()
    }

    fn text(result: Result<Layout, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[rstest]
    // The answers are those of Python: `list(range(5))[start:stop:step]`.
    #[case(Slice::full(), &[0, 1, 2, 3, 4])]
    #[case(Slice::from(1..3), &[1, 2])]
    #[case(Slice::from(-2..), &[3, 4])]
    #[case(Slice::from(..-2), &[0, 1, 2])]
    #[case(Slice::new(Some(3), Some(1), 1), &[])]
    #[case(Slice::from(-100..100), &[0, 1, 2, 3, 4])]
    #[case(Slice::from(7..), &[])]
    #[case(Slice::full().step(2), &[0, 2, 4])]
    #[case(Slice::full().step(-1), &[4, 3, 2, 1, 0])]
    #[case(Slice::full().step(-2), &[4, 2, 0])]
    #[case(Slice::new(Some(3), Some(0), -1), &[3, 2, 1])]
    #[case(Slice::new(Some(3), None, -2), &[3, 1])]
    #[case(Slice::new(None, Some(-3), -1), &[4, 3])]
    #[case(Slice::new(Some(-100), None, -1), &[])]
    #[case(Slice::new(Some(isize::MAX), Some(isize::MIN), isize::MIN), &[4])]
    #[case(Slice::new(Some(isize::MIN), Some(isize::MAX), isize::MAX), &[0])]
    fn slices_are_those_of_python(#[case] slice: Slice, #[case] is: &[isize]) {
        let view = layout(&[5]).sliced("slice", 0, slice).unwrap();
        assert_eq!(positions(&view), is);
    }

    #[test]
    fn views_compose() {
        let view = layout(&[4, 6])
            .sliced("slice", 1, Slice::full().step(-2))
            .unwrap();
        assert_eq!(positions(&view)[..3], [5, 3, 1]);
        let view = view.transposed("transpose", 0, -1).unwrap();
        assert_eq!(positions(&view)[..5], [5, 11, 17, 23, 3]);
        let view = view.narrowed("narrow", 1, 2, 2).unwrap();
        assert_eq!(positions(&view), [17, 23, 15, 21, 13, 19]);
        let view = view.flipped("flip", None).unwrap();
        assert_eq!(positions(&view), [19, 13, 21, 15, 23, 17]);
    }

    #[test]
    fn diagonals_start_where_they_are_told() {
        let diagonal = |offset, a, b| layout(&[3, 4]).diagonal("diagonal", offset, a, b);
        assert_eq!(positions(&diagonal(0, 0, 1).unwrap()), [0, 5, 10]);
        assert_eq!(positions(&diagonal(2, 0, 1).unwrap()), [2, 7]);
        assert_eq!(positions(&diagonal(-1, 0, 1).unwrap()), [4, 9]);
        assert_eq!(positions(&diagonal(1, 1, 0).unwrap()), [4, 9]);
        assert!(positions(&diagonal(9, 0, 1).unwrap()).is_empty());
        assert!(positions(&diagonal(isize::MIN, 0, 1).unwrap()).is_empty());
        let cube = layout(&[2, 3, 3]).diagonal("diagonal", 0, 1, 2).unwrap();
        assert_eq!(cube.dims(), [2, 3]);
        assert_eq!(positions(&cube), [0, 4, 8, 9, 13, 17]);
        insta::assert_snapshot!(text(diagonal(0, 1, -1)), @"diagonal: a diagonal needs two axes, but 1 and -1 are one");
    }

    #[test]
    fn broadcasting_repeats_and_adds_in_front() {
        let row = layout(&[1, 3]);
        let view = row.broadcast("broadcast_to", &[2, 2, 3]).unwrap();
        assert_eq!(view.strides(), [0, 0, 1]);
        assert_eq!(positions(&view), [0, 1, 2].repeat(4));
        assert_eq!(
            row.broadcast("broadcast_to", &[0, 3]).unwrap().dims(),
            [0, 3]
        );
        let expanded = row.expanded("expand", &Extents::from([5, -1, -1])).unwrap();
        assert_eq!(expanded.dims(), [5, 1, 3]);
        insta::assert_snapshot!(text(row.broadcast("broadcast_to", &[3])), @"broadcast_to: [1, 3] cannot be broadcast to [3]: it has 2 dimensions");
        insta::assert_snapshot!(text(row.broadcast("broadcast_to", &[2, 4])), @"broadcast_to: [1, 3] cannot be broadcast to [2, 4]: axis 1 has size 3, not 1 or 4");
        insta::assert_snapshot!(text(row.broadcast("broadcast_to", &[1 << 62, 3])), @"broadcast_to: shape [4611686018427387904, 3] has too many elements to address");
        insta::assert_snapshot!(text(row.expanded("expand", &Extents::from([-1, 1, 3]))), @"expand: -1 at position 0 keeps no dimension: it is a new one");
    }

    #[test]
    fn unit_dimensions_come_and_go() {
        let view = layout(&[1, 3, 1]);
        assert_eq!(view.squeezed("squeeze", None).unwrap().dims(), [3]);
        assert_eq!(
            view.squeezed("squeeze", Some(&[-1])).unwrap().dims(),
            [1, 3]
        );
        assert_eq!(
            view.unsqueezed("unsqueeze", -1).unwrap().dims(),
            [1, 3, 1, 1]
        );
        assert_eq!(layout(&[]).unsqueezed("unsqueeze", 0).unwrap().dims(), [1]);
        assert!(view.unsqueezed("unsqueeze", 1).unwrap().is_contiguous());
        insta::assert_snapshot!(text(view.squeezed("squeeze", Some(&[1]))), @"squeeze: axis 1 has size 3, not 1");
        insta::assert_snapshot!(text(view.unsqueezed("unsqueeze", 4)), @"unsqueeze: axis 4 is out of range for rank 4: from -4 to 3");
        insta::assert_snapshot!(text(layout(&[1; 64]).unsqueezed("unsqueeze", 0)), @"unsqueeze: 65 dimensions; a tensor has at most 64");
    }

    #[test]
    fn what_lies_outside_is_refused() {
        let square = layout(&[3, 4]);
        insta::assert_snapshot!(text(square.narrowed("narrow", 1, 2, 3)), @"narrow: 3 positions from 2 on do not lie in axis 1 of size 4");
        insta::assert_snapshot!(text(square.narrowed("narrow", 1, usize::MAX, 2)), @"narrow: 2 positions from 18446744073709551615 on do not lie in axis 1 of size 4");
        insta::assert_snapshot!(text(square.sliced("slice", 0, Slice::full().step(0))), @"slice: the step along axis 0 is zero");
        insta::assert_snapshot!(text(square.permuted("permute", &[0])), @"permute: 1 axes were given for rank 2: [0]");
        insta::assert_snapshot!(text(square.permuted("permute", &[0, 0])), @"permute: axis 0 is named twice in [0, 0]");
        insta::assert_snapshot!(text(layout(&[]).transposed("transpose", 0, 1)), @"transpose: axis 0 is out of range: a scalar has no axes");
    }

    #[test]
    fn an_end_of_an_axis_may_be_empty() {
        let view = layout(&[3, 4]).narrowed("narrow", 0, 3, 0).unwrap();
        assert_eq!((view.dims(), view.elements()), ([0, 4].as_slice(), 0));
        assert_eq!(view.view(gpu_seam::DType::U8).extent(), Some((0, 0)));
    }
}
