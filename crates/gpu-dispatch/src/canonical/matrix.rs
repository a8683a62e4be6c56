//! A factor of a matrix product, and whether it has a leading-dimension form.
//!
//! Promises `ld >=` the length of a stored row in every form given, with the free strides of
//! dimensions of length 1 mended. Knows nothing of products.

use super::plan::Part;
use gpu_seam::Matrix;

/// A matrix with arbitrary strides; its batch loops are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) part: Part,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row: isize,
    pub(super) col: isize,
    pub(super) conjugated: bool,
}

impl Side {
    /// Its transpose, over the same elements.
    pub(super) const fn transpose(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row: self.col,
            col: self.row,
            ..self
        }
    }

    /// The leading dimension, and whether columns are stored as rows; `None` when neither stride
    /// is that of neighbours or the stored rows overlap or run backwards.
    pub(super) fn form(&self) -> Option<(usize, bool)> {
        let plain = leading((self.rows, self.row), (self.cols, self.col));
        let transposed = || leading((self.cols, self.col), (self.rows, self.row));
        plain
            .map(|ld| (ld, false))
            .or_else(|| transposed().map(|ld| (ld, true)))
    }

    /// The canonical matrix, its batches `batch_stride` apart.
    pub(super) fn matrix(&self, batch_stride: isize) -> Option<Matrix> {
        let (ld, transposed) = self.form()?;
        Some(Matrix {
            offset: self.part.offset,
            ld,
            batch_stride,
            transposed,
            // What is real is its own conjugate.
            conjugated: self.conjugated && self.part.dtype.is_complex(),
        })
    }
}

/// The leading dimension of `count` stored rows `step` apart, each of `len` elements `stride` apart.
fn leading((count, step): (usize, isize), (len, stride): (usize, isize)) -> Option<usize> {
    if len != 1 && stride != 1 {
        return None;
    }
    if count == 1 {
        return Some(len);
    }
    usize::try_from(step).ok().filter(|&ld| ld >= len)
}
