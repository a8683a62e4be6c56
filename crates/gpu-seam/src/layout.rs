//! How elements lie in a byte range: dtype, element offset, dims and strides.
//!
//! Promises checked arithmetic about what a [`View`] touches. Knows nothing of who owns the memory:
//! the buffers go beside an operation, so that planning needs none.

use crate::dtype::DType;

/// The highest rank a [`View`] may have.
pub const MAX_RANK: usize = 64;

/// A strided view of elements, relative to the byte range it is applied to.
///
/// Element `(i0, i1, …)` is at element position `offset + i0 * strides[0] + i1 * strides[1] + …`.
/// Strides are in elements and signed; a stride of 0 repeats. Rank 0 is one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct View<'a> {
    /// The element type.
    pub dtype: DType,
    /// Position of element `(0, 0, …)`, in elements from the start of the byte range.
    pub offset: usize,
    /// Elements along each dimension.
    pub dims: &'a [usize],
    /// Step along each dimension, in elements; as many as `dims`.
    pub strides: &'a [isize],
}

impl<'a> View<'a> {
    /// A view of `dims` and `strides` (as many of each) whose first element is at `offset`.
    #[must_use]
    pub const fn new(dtype: DType, offset: usize, dims: &'a [usize], strides: &'a [isize]) -> Self {
        Self {
            dtype,
            offset,
            dims,
            strides,
        }
    }

    /// The number of dimensions.
    #[must_use]
    pub const fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements, or `None` when it overflows `usize`. Rank 0 has one.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        // A zero anywhere is zero elements, whatever the other dimensions would overflow to.
        if self.dims.contains(&0) {
            return Some(0);
        }
        self.dims
            .iter()
            .try_fold(1usize, |product, &dim| product.checked_mul(dim))
    }

    /// The half-open range `(start, end)` of element positions that holds everything the view
    /// touches; `(offset, offset)` when it has no elements. `None` when a position is negative or
    /// overflows, or when `dims` and `strides` differ in length.
    #[must_use]
    pub fn extent(&self) -> Option<(usize, usize)> {
        if self.dims.len() != self.strides.len() {
            return None;
        }
        if self.dims.contains(&0) {
            return Some((self.offset, self.offset));
        }
        let mut below = 0usize;
        let mut above = 0usize;
        for (&dim, &stride) in self.dims.iter().zip(self.strides) {
            let reach = (dim - 1).checked_mul(stride.unsigned_abs())?;
            if stride < 0 {
                below = below.checked_add(reach)?;
            } else {
                above = above.checked_add(reach)?;
            }
        }
        let start = self.offset.checked_sub(below)?;
        let end = self.offset.checked_add(above)?.checked_add(1)?;
        Some((start, end))
    }

    /// Whether the elements lie one after the other in row-major order. Strides of dimensions of
    /// length 1 do not count, and a view without elements is contiguous.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        if self.dims.contains(&0) {
            return true;
        }
        let mut expected = 1usize;
        for (&dim, &stride) in self.dims.iter().zip(self.strides).rev() {
            if dim != 1 {
                if usize::try_from(stride) != Ok(expected) {
                    return false;
                }
                expected = expected.saturating_mul(dim);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::View;
    use crate::dtype::DType;

    fn view<'a>(offset: usize, dims: &'a [usize], strides: &'a [isize]) -> View<'a> {
        View::new(DType::F32, offset, dims, strides)
    }

    #[test]
    fn extent_counts_negative_and_zero_strides() {
        assert_eq!(view(5, &[], &[]).extent(), Some((5, 6)));
        assert_eq!(view(5, &[2, 3], &[3, 1]).extent(), Some((5, 11)));
        assert_eq!(view(5, &[6], &[-1]).extent(), Some((0, 6)));
        assert_eq!(view(5, &[7], &[-1]).extent(), None);
        assert_eq!(view(5, &[1000], &[0]).extent(), Some((5, 6)));
        assert_eq!(view(5, &[0, 9], &[-9, 1]).extent(), Some((5, 5)));
        assert_eq!(view(0, &[usize::MAX], &[2]).extent(), None);
        assert_eq!(view(0, &[1], &[]).extent(), None);
    }

    #[test]
    fn elements_overflow_is_none_unless_empty() {
        assert_eq!(view(0, &[usize::MAX, 2], &[0, 0]).elements(), None);
        assert_eq!(view(0, &[usize::MAX, 2, 0], &[0, 0, 0]).elements(), Some(0));
        assert_eq!(view(0, &[], &[]).elements(), Some(1));
    }

    #[test]
    fn contiguity_ignores_strides_of_unit_dims() {
        assert!(view(0, &[1, 1, 13, 13], &[0, 0, 13, 1]).is_contiguous());
        assert!(!view(0, &[2, 1, 13, 13], &[0, 0, 13, 1]).is_contiguous());
        assert!(view(3, &[], &[]).is_contiguous());
        assert!(view(0, &[3, 0], &[7, -2]).is_contiguous());
        assert!(!view(0, &[2, 3], &[1, 2]).is_contiguous());
        assert!(!view(5, &[6], &[-1]).is_contiguous());
    }
}
