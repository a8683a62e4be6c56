//! Other dims for the same elements in the same order.
//!
//! Promises that a reshape is a view wherever strides exist for it. Knows nothing of copies: it
//! says that one is needed, and [`Tensor`](crate::Tensor) makes it.

use super::layout::checked_elements;
use super::{Extent, Extents, Layout};
use crate::error::{Error, Shown};
use gpu_dispatch::{Dims, Strides};
use smallvec::SmallVec;

impl Layout {
    /// The dims that `extents` mean for this many elements, one open extent filled in.
    pub(crate) fn fill_in(&self, op: &'static str, extents: &Extents) -> Result<Dims, Error> {
        let elements = self.elements();
        let mut dims = Dims::new();
        let mut open = None;
        for (at, extent) in extents.0.iter().enumerate() {
            match *extent {
                Extent::Size(size) => dims.push(size),
                Extent::Open if open.is_none() => {
                    open = Some(at);
                    dims.push(1);
                }
                Extent::Open => {
                    return Err(Error::invalid(op, "only one dimension can be -1"));
                }
                Extent::Wrong(size) => {
                    return Err(Error::invalid(
                        op,
                        format!("{size} is no size of a dimension"),
                    ));
                }
            }
        }
        let known = checked_elements(op, &dims)?;
        if let Some(open) = open {
            if known == 0 || !elements.is_multiple_of(known) {
                dims.remove(open);
                let detail = format!(
                    "{elements} elements leave no size for the -1 beside {}",
                    Shown(&dims)
                );
                return Err(Error::invalid(op, detail));
            }
            dims[open] = elements / known;
        } else if known != elements {
            let detail = format!(
                "{elements} elements do not go into shape {} of {known}",
                Shown(&dims)
            );
            return Err(Error::invalid(op, detail));
        }
        Ok(dims)
    }

    /// The same elements in the same order with other dims, of equally many elements; `None` when
    /// no strides exist for them and they have to be copied.
    pub(crate) fn reshaped(&self, dims: &Dims) -> Option<Self> {
        let mut fresh = Self::of_result(dims.clone());
        if self.elements() == 0 || self.is_contiguous() {
            fresh.offset = self.offset;
            return Some(fresh);
        }
        // Runs of old dimensions that one stride walks through, innermost first: (length, stride).
        let mut runs: SmallVec<[(usize, isize); 6]> = SmallVec::new();
        for (&dim, &stride) in self.dims.iter().zip(&self.strides).rev() {
            if dim == 1 {
                continue;
            }
            match runs.last_mut() {
                Some((length, step))
                    if step.checked_mul(isize::try_from(*length).ok()?) == Some(stride) =>
                {
                    *length *= dim;
                }
                _ => runs.push((dim, stride)),
            }
        }
        // Each new dimension takes its share of the innermost run that is left.
        let mut strides: Strides = fresh.strides.clone();
        let mut runs = runs.into_iter();
        let mut left = 1usize;
        let mut step = 1isize;
        for (stride, &dim) in strides.iter_mut().zip(dims).rev() {
            if dim == 1 {
                *stride = step;
                continue;
            }
            if left == 1 {
                (left, step) = runs.next()?;
            }
            if !left.is_multiple_of(dim) {
                return None;
            }
            *stride = step;
            left /= dim;
            step = step.checked_mul(isize::try_from(dim).ok()?)?;
        }
        fresh.strides = strides;
        fresh.offset = self.offset;
        Some(fresh)
    }
}

#[cfg(test)]
mod tests {
    use crate::shape::layout::tests::positions;
    use crate::shape::{Axes, Extents, Layout, Shape, Slice};
    use rstest::rstest;

    fn layout(dims: &[usize]) -> Layout {
        Layout::contiguous("test", Shape::from(dims).0).unwrap()
    }

    #[rstest]
    #[case(layout(&[2, 3, 4]), &[6, 4], true)]
    #[case(layout(&[2, 3, 4]), &[24], true)]
    #[case(layout(&[2, 3, 4]), &[1, 2, 1, 12, 1], true)]
    #[case(layout(&[2, 3, 4]).permuted("t", &Axes::from([1, 0, 2]).0.unwrap()).unwrap(), &[6, 4], false)]
    #[case(layout(&[2, 3, 4]).permuted("t", &Axes::from([2, 0, 1]).0.unwrap()).unwrap(), &[4, 6], true)]
    #[case(layout(&[2, 3, 4]).permuted("t", &Axes::from([2, 0, 1]).0.unwrap()).unwrap(), &[2, 2, 3, 2], true)]
    #[case(layout(&[4, 6]).sliced("t", 1, Slice::from(0..3)).unwrap(), &[2, 2, 3], true)]
    #[case(layout(&[4, 6]).sliced("t", 1, Slice::from(0..3)).unwrap(), &[12], false)]
    #[case(layout(&[6]).sliced("t", 0, Slice::full().step(-1)).unwrap(), &[2, 3], true)]
    #[case(layout(&[1, 3]).broadcast("t", &[4, 3]).unwrap(), &[2, 2, 3], true)]
    #[case(layout(&[1, 3]).broadcast("t", &[4, 3]).unwrap(), &[12], false)]
    #[case(layout(&[1, 1]).broadcast("t", &[4, 3]).unwrap(), &[12], true)]
    #[case(layout(&[0, 3]), &[3, 7, 0], true)]
    #[case(layout(&[]), &[1, 1], true)]
    fn a_view_where_strides_exist(
        #[case] from: Layout,
        #[case] dims: &[usize],
        #[case] view: bool,
    ) {
        let shape = from.fill_in("reshape", &Extents::from(dims)).unwrap();
        let reshaped = from.reshaped(&shape);
        assert_eq!(reshaped.is_some(), view);
        if let Some(reshaped) = reshaped {
            assert_eq!(reshaped.dims(), dims);
            assert_eq!(positions(&reshaped), positions(&from));
        }
    }

    #[test]
    fn one_dimension_may_be_left_open() {
        let fill = |dims: &[isize]| {
            layout(&[2, 3, 4])
                .fill_in("reshape", &Extents::from(dims))
                .map(|dims| dims.to_vec())
                .map_err(|error| error.to_string())
        };
        assert_eq!(fill(&[-1, 6]), Ok(vec![4, 6]));
        assert_eq!(fill(&[24, -1]), Ok(vec![24, 1]));
        insta::assert_snapshot!(fill(&[-1, -1]).unwrap_err(), @"reshape: only one dimension can be -1");
        insta::assert_snapshot!(fill(&[-1, 7]).unwrap_err(), @"reshape: 24 elements leave no size for the -1 beside [7]");
        insta::assert_snapshot!(fill(&[-1, 0]).unwrap_err(), @"reshape: 24 elements leave no size for the -1 beside [0]");
        insta::assert_snapshot!(fill(&[5, 5]).unwrap_err(), @"reshape: 24 elements do not go into shape [5, 5] of 25");
        insta::assert_snapshot!(fill(&[-2]).unwrap_err(), @"reshape: -2 is no size of a dimension");
        insta::assert_snapshot!(fill(&[isize::MAX, isize::MAX]).unwrap_err(), @"reshape: shape [9223372036854775807, 9223372036854775807] has too many elements to address");
    }
}
