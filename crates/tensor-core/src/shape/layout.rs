//! Where the elements of a tensor are in its storage.
//!
//! Promises that the number of elements fits `isize` and that every element position is inside
//! the storage it was made for. Knows nothing of the storage itself.

use crate::error::{Error, Shown};
use gpu_dispatch::{Dims, Strides};
use gpu_seam::{DType, MAX_RANK, View};

/// Dims, strides and offset of a tensor, in elements.
///
/// Rank 0 is one element. Up to rank 6 nothing is on the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub(super) dims: Dims,
    pub(super) strides: Strides,
    pub(super) offset: usize,
}

impl Layout {
    /// The row-major layout of `dims` from element 0 on.
    ///
    /// # Errors
    /// More than `isize::MAX` elements, or more dimensions than a tensor may have.
    pub(crate) fn contiguous(op: &'static str, dims: Dims) -> Result<Self, Error> {
        checked_elements(op, &dims)?;
        Ok(Self::of_result(dims))
    }

    /// The row-major layout of what an engine gave: its size was checked there.
    pub(crate) fn of_result(dims: Dims) -> Self {
        let mut strides: Strides = Strides::from_elem(1, dims.len());
        let mut next = 1isize;
        for (stride, &dim) in strides.iter_mut().zip(&dims).rev() {
            *stride = next;
            // An empty dimension counts as one. Saturation is met only beside one, where strides
            // lead nowhere.
            next = next.saturating_mul(isize::try_from(dim.max(1)).unwrap_or(isize::MAX));
        }
        Self {
            dims,
            strides,
            offset: 0,
        }
    }

    /// Elements along each dimension.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Steps along each dimension, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Position of the first element, in elements.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        // Checked when the layout was made; the product of a part is no larger unless a zero
        // follows, and then wrapping does not matter.
        self.dims
            .iter()
            .fold(1, |product: usize, &dim| product.wrapping_mul(dim))
    }

    /// Whether the elements lie one after the other in row-major order.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.view(DType::U8).is_contiguous()
    }

    /// The layout as a view of elements of `dtype`.
    #[must_use]
    pub fn view(&self, dtype: DType) -> View<'_> {
        View::new(dtype, self.offset, &self.dims, &self.strides)
    }

    /// The dimension that `axis` names.
    pub(crate) fn axis(&self, op: &'static str, axis: isize) -> Result<usize, Error> {
        resolve(op, axis, self.rank())
    }

    /// The dimensions that `axes` name, each once, in their order; all when `None`.
    pub(crate) fn axes(&self, op: &'static str, axes: Option<&[isize]>) -> Result<Dims, Error> {
        let Some(axes) = axes else {
            return Ok((0..self.rank()).collect());
        };
        if axes.len() > self.rank() {
            let detail = format!(
                "{} axes were given for rank {}: {}",
                axes.len(),
                self.rank(),
                Shown(axes)
            );
            return Err(Error::invalid(op, detail));
        }
        let mut resolved = Dims::new();
        for &axis in axes {
            let dimension = self.axis(op, axis)?;
            if resolved.contains(&dimension) {
                return Err(Error::invalid(
                    op,
                    format!("axis {axis} is named twice in {}", Shown(axes)),
                ));
            }
            resolved.push(dimension);
        }
        Ok(resolved)
    }
}

/// The dimension that `axis` names in a tensor of `rank` dimensions.
pub(super) fn resolve(op: &'static str, axis: isize, rank: usize) -> Result<usize, Error> {
    let from_end = rank.checked_sub(axis.unsigned_abs());
    let dimension = match usize::try_from(axis) {
        Ok(axis) if axis < rank => Some(axis),
        Ok(_) => None,
        Err(_) => from_end,
    };
    dimension.ok_or_else(|| {
        let detail = match rank {
            0 => format!("axis {axis} is out of range: a scalar has no axes"),
            1 => format!("axis {axis} is out of range for rank 1: from -1 to 0"),
            _ => format!(
                "axis {axis} is out of range for rank {rank}: from -{rank} to {}",
                rank - 1
            ),
        };
        Error::invalid(op, detail)
    })
}

/// The number of elements of `dims`; an error when it is not addressable.
pub(super) fn checked_elements(op: &'static str, dims: &[usize]) -> Result<usize, Error> {
    if dims.len() > MAX_RANK {
        let detail = format!("{} dimensions; a tensor has at most {MAX_RANK}", dims.len());
        return Err(Error::invalid(op, detail));
    }
    View::new(DType::U8, 0, dims, &[])
        .elements()
        .filter(|&elements| isize::try_from(elements).is_ok())
        .ok_or_else(|| {
            let detail = format!("shape {} has too many elements to address", Shown(dims));
            Error::invalid(op, detail)
        })
}

#[cfg(test)]
pub(super) mod tests {
    use super::Layout;
    use crate::shape::Shape;
    use rstest::rstest;

    /// The positions that a layout names, in its order.
    pub(in crate::shape) fn positions(layout: &Layout) -> Vec<isize> {
        let mut all = vec![layout.offset().cast_signed()];
        for (&dim, &stride) in layout.dims().iter().zip(layout.strides()) {
            all = all
                .into_iter()
                .flat_map(|at| (0..dim.cast_signed()).map(move |step| at + step * stride))
                .collect();
        }
        all
    }

    #[rstest]
    #[case(&[], &[])]
    #[case(&[5], &[1])]
    #[case(&[2, 3, 4], &[12, 4, 1])]
    #[case(&[0, 2048], &[2048, 1])]
    #[case(&[2, 0, 3], &[3, 3, 1])]
    #[case(&[0, 0], &[1, 1])]
    fn g2_059_strides_count_an_empty_dimension_as_one(
        #[case] dims: &[usize],
        #[case] strides: &[isize],
    ) {
        let layout = Layout::contiguous("test", Shape::from(dims).0).unwrap();
        assert_eq!(layout.strides(), strides);
        assert!(layout.is_contiguous());
        assert_eq!(layout.elements(), dims.iter().product::<usize>());
    }

    #[test]
    fn what_cannot_be_addressed_is_refused() {
        let layout = |dims: &[usize]| Layout::contiguous("zeros", Shape::from(dims).0);
        assert!(layout(&[usize::MAX]).is_err());
        assert!(layout(&[1 << 32, 1 << 31]).is_err());
        assert!(layout(&[1; 65]).is_err());
        let empty = layout(&[1 << 40, 1 << 40, 0]).unwrap();
        assert_eq!(empty.elements(), 0);
        insta::assert_snapshot!(
            layout(&[1 << 40, 1 << 40]).unwrap_err(),
            @"zeros: shape [1099511627776, 1099511627776] has too many elements to address"
        );
    }

    #[rstest]
    #[case(-3, Ok(0))]
    #[case(-1, Ok(2))]
    #[case(2, Ok(2))]
    #[case(3, Err("test: axis 3 is out of range for rank 3: from -3 to 2"))]
    #[case(-4, Err("test: axis -4 is out of range for rank 3: from -3 to 2"))]
    #[case(
        isize::MIN,
        Err("test: axis -9223372036854775808 is out of range for rank 3: from -3 to 2")
    )]
    fn axes_count_from_either_end(#[case] axis: isize, #[case] is: Result<usize, &str>) {
        let layout = Layout::contiguous("test", Shape::from([2, 3, 4]).0).unwrap();
        let found = layout.axis("test", axis).map_err(|error| error.to_string());
        assert_eq!(found, is.map_err(str::to_owned));
    }

    #[test]
    fn lists_of_axes_are_checked() {
        let layout = Layout::contiguous("test", Shape::from([2, 3, 4]).0).unwrap();
        let axes = |axes: &[isize]| {
            layout
                .axes("test", Some(axes))
                .map(|axes| axes.to_vec())
                .map_err(|error| error.to_string())
        };
        assert_eq!(axes(&[-1, 0]), Ok(vec![2, 0]));
        assert_eq!(axes(&[]), Ok(vec![]));
        assert_eq!(layout.axes("test", None).unwrap().to_vec(), [0, 1, 2]);
        insta::assert_snapshot!(axes(&[2, -1]).unwrap_err(), @"test: axis -1 is named twice in [2, -1]");
        insta::assert_snapshot!(axes(&[0, 1, 2, 0]).unwrap_err(), @"test: 4 axes were given for rank 3: [0, 1, 2, 0]");
    }
}
