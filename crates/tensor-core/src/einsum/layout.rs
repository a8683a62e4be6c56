//! Where the indices of an array lie in memory.
//!
//! Promises exact answers to two questions: is a run of indices one dimension of one stride, and are
//! two such runs a matrix with a leading dimension. Knows nothing of steps.

use super::network::{Index, Indices};
use smallvec::SmallVec;

/// The axes of an array, in logical order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) axes: SmallVec<[Axis; 8]>,
}

/// One dimension: its index and its step in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) index: Index,
    pub(super) stride: usize,
}

/// Some indices as one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) size: usize,
    /// 0 when there are none.
    pub(super) stride: usize,
}

impl Layout {
    /// A row-major array of these indices. The caller has checked that its size does not overflow.
    pub(super) fn row_major(order: &[Index], sizes: &[usize]) -> Self {
        let mut stride = 1;
        let mut axes: SmallVec<[Axis; 8]> = order
            .iter()
            .rev()
            .map(|index| {
                let axis = Axis {
                    index: *index,
                    stride,
                };
                stride *= sizes[*index as usize];
                axis
            })
            .collect();
        axes.reverse();
        Self { axes }
    }

    /// Its indices, in logical order.
    pub(super) fn order(&self) -> Indices {
        self.axes.iter().map(|axis| axis.index).collect()
    }

    /// Those of its indices that are in `set`, the outermost in memory first.
    pub(super) fn natural(&self, set: &[Index]) -> Indices {
        let mut axes: SmallVec<[Axis; 8]> = self
            .axes
            .iter()
            .copied()
            .filter(|axis| set.contains(&axis.index))
            .collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(axis.stride));
        axes.iter().map(|axis| axis.index).collect()
    }

    /// The step of `index`, 0 when it has none.
    pub(super) fn stride(&self, index: Index) -> usize {
        self.axes
            .iter()
            .find(|axis| axis.index == index)
            .map_or(0, |axis| axis.stride)
    }

    /// The logical position of `index`.
    pub(super) fn position(&self, index: Index) -> Option<usize> {
        self.axes.iter().position(|axis| axis.index == index)
    }

    /// `order` as one dimension, if its indices lie so.
    pub(super) fn run(&self, order: &[Index], sizes: &[usize]) -> Option<Run> {
        let mut run = Run { size: 1, stride: 0 };
        for index in order.iter().rev() {
            let stride = self.stride(*index);
            if run.size == 1 {
                run.stride = stride;
            } else if stride != run.stride * run.size {
                return None;
            }
            run.size *= sizes[*index as usize];
        }
        Some(run)
    }

    /// Whether a batch of matrices with these batch, row and column indices can be read in place: each
    /// group is one dimension, and rows or columns are stored without gaps.
    pub(super) fn is_matrix(
        &self,
        batch: &[Index],
        rows: &[Index],
        columns: &[Index],
        sizes: &[usize],
    ) -> bool {
        let run = |order| self.run(order, sizes);
        let (Some(_), Some(rows), Some(columns)) = (run(batch), run(rows), run(columns)) else {
            return false;
        };
        let stored = |outer: Run, inner: Run| {
            (inner.size == 1 || inner.stride == 1)
                && (outer.size == 1 || outer.stride >= inner.size)
        };
        stored(rows, columns) || stored(columns, rows)
    }
}
