//! The order in which an element-wise operation walks its operands, and cursors that follow it.
//!
//! Promises that every position of the operands' common dims is visited once, in an order in which
//! the output's strides fall, with as few dimensions as the strides allow. Knows nothing of types.

use super::BLOCK;
use smallvec::{SmallVec, smallvec};

/// The most operands of an element-wise operation: one output and three inputs.
pub(crate) const OPERANDS: usize = 4;

/// Dimensions that need no heap; more are rare once merged, and never small work.
const USUAL_RANK: usize = 8;

/// One dimension: its length and each operand's stride in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) len: usize,
    pub(crate) strides: [isize; OPERANDS],
}

/// The walk, outermost dimension first.
pub(crate) struct Space {
    pub(crate) dims: SmallVec<[Dim; USUAL_RANK]>,
    /// Where each operand starts, relative to its own origin.
    pub(crate) start: [isize; OPERANDS],
    /// Whether each operand is contiguous in the order of the walk.
    pub(crate) linear: [bool; OPERANDS],
}

impl Space {
    /// The walk over `dims`. Operand 0 is the output; an operand without strides is a constant.
    /// With `keep_order` the order is row-major, else the one that suits the output.
    pub(crate) fn new(
        dims: &[usize],
        operands: [Option<&[isize]>; OPERANDS],
        keep_order: bool,
    ) -> Self {
        let mut space = Self {
            dims: SmallVec::new(),
            start: [0; OPERANDS],
            linear: [false; OPERANDS],
        };
        for (at, &len) in dims.iter().enumerate() {
            if len == 1 {
                continue;
            }
            let mut strides = [0; OPERANDS];
            for (stride, operand) in strides.iter_mut().zip(operands) {
                *stride = operand.map_or(0, |operand| operand[at]);
            }
            if !keep_order && strides[0] < 0 {
                for (start, stride) in space.start.iter_mut().zip(&mut strides) {
                    *start += (len - 1).cast_signed() * *stride;
                    *stride = -*stride;
                }
            }
            space.dims.push(Dim { len, strides });
        }
        if !keep_order {
            space.sort();
        }
        space.merge();
        if space.dims.is_empty() {
            space.dims.push(Dim {
                len: 1,
                strides: [0; OPERANDS],
            });
        }
        for operand in 0..OPERANDS {
            space.linear[operand] = space.is_linear(operand);
        }
        space
    }

    /// The same places walked over `dims`, which are some of this walk's.
    pub(crate) fn over(&self, dims: impl Iterator<Item = Dim>) -> Self {
        let mut dims: SmallVec<[Dim; USUAL_RANK]> = dims.collect();
        if dims.is_empty() {
            dims.push(Dim {
                len: 1,
                strides: [0; OPERANDS],
            });
        }
        Self {
            dims,
            start: self.start,
            linear: [false; OPERANDS],
        }
    }

    /// Orders the dimensions by the output's stride, largest first; equal ones stay as they are.
    fn sort(&mut self) {
        // By insertion: few dimensions, and nearly always in order.
        for from in 1..self.dims.len() {
            let mut at = from;
            while at > 0 && self.dims[at - 1].strides[0] < self.dims[at].strides[0] {
                self.dims.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// Joins neighbouring dimensions that every operand walks as one.
    fn merge(&mut self) {
        let mut kept = 0;
        for at in 1..self.dims.len() {
            let inner = self.dims[at];
            let joins = self.dims[kept]
                .strides
                .iter()
                .zip(&inner.strides)
                .all(|(outer, stride)| *outer == stride.wrapping_mul(inner.len.cast_signed()));
            if joins {
                self.dims[kept].len *= inner.len;
                self.dims[kept].strides = inner.strides;
            } else {
                kept += 1;
                self.dims[kept] = inner;
            }
        }
        self.dims.truncate(kept + 1);
    }

    fn is_linear(&self, operand: usize) -> bool {
        let mut expected = 1isize;
        for dim in self.dims.iter().rev() {
            if dim.len != 1 && dim.strides[operand] != expected {
                return false;
            }
            expected *= dim.len.cast_signed();
        }
        true
    }
}

/// A place in a walk, for one operand.
pub(crate) struct Cursor {
    at: SmallVec<[usize; USUAL_RANK]>,
    position: isize,
}

/// A run of elements at equal distances.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Position of the first, relative to the operand's origin.
    pub(crate) position: isize,
    /// From one to the next.
    pub(crate) stride: isize,
    /// How many.
    pub(crate) len: usize,
}

impl Cursor {
    /// The place of the element with number `index` in the walk.
    pub(crate) fn seek(space: &Space, operand: usize, mut index: usize) -> Self {
        let mut cursor = Self {
            at: smallvec![0; space.dims.len()],
            position: space.start[operand],
        };
        for (dim, at) in space.dims.iter().zip(&mut cursor.at).rev() {
            *at = index % dim.len;
            index /= dim.len;
            cursor.position += at.cast_signed() * dim.strides[operand];
        }
        cursor
    }

    /// The next run of at most `most` elements, which is then behind.
    #[inline(always)]
    pub(crate) fn next(&mut self, space: &Space, operand: usize, most: usize) -> Run {
        let (dims, at) = (&space.dims[..], &mut self.at[..]);
        let mut dim = dims.len() - 1;
        let stride = dims[dim].strides[operand];
        let run = Run {
            position: self.position,
            stride,
            len: most.min(dims[dim].len - at[dim]),
        };
        at[dim] += run.len;
        self.position += run.len.cast_signed() * stride;
        while at[dim] == dims[dim].len && dim > 0 {
            self.position -= dims[dim].len.cast_signed() * dims[dim].strides[operand];
            at[dim] = 0;
            dim -= 1;
            at[dim] += 1;
            self.position += dims[dim].strides[operand];
        }
        run
    }
}

const _: () = assert!(BLOCK.is_power_of_two(), "ranges are aligned to blocks");

#[cfg(test)]
mod tests {
    use super::{Cursor, Space};

    fn lengths(space: &Space) -> Vec<usize> {
        space.dims.iter().map(|dim| dim.len).collect()
    }

    fn positions(space: &Space, operand: usize, from: usize, n: usize) -> Vec<isize> {
        let mut cursor = Cursor::seek(space, operand, from);
        let mut seen = Vec::new();
        while seen.len() < n {
            let run = cursor.next(space, operand, n - seen.len());
            seen.extend((0..run.len).map(|i| run.position + i.cast_signed() * run.stride));
        }
        seen
    }

    #[test]
    fn contiguous_operands_become_one_line() {
        let strides = [12, 4, 1];
        let space = Space::new(
            &[2, 3, 4],
            [Some(&strides), Some(&strides), None, None],
            false,
        );
        assert_eq!(lengths(&space), [24]);
        assert!(space.linear[0] && space.linear[1] && !space.linear[2]);
    }

    #[test]
    fn a_transposed_output_is_walked_in_its_own_order() {
        let space = Space::new(&[2, 3], [Some(&[1, 2]), Some(&[3, 1]), None, None], false);
        assert_eq!(lengths(&space), [3, 2]);
        assert!(space.linear[0]);
        assert_eq!(positions(&space, 1, 0, 6), [0, 3, 1, 4, 2, 5]);
        assert_eq!(positions(&space, 1, 3, 2), [4, 2]);
    }

    #[test]
    fn a_reversed_output_is_walked_forwards() {
        let space = Space::new(&[4], [Some(&[-1]), Some(&[2]), None, None], false);
        assert_eq!(positions(&space, 0, 0, 4), [-3, -2, -1, 0]);
        assert_eq!(positions(&space, 1, 0, 4), [6, 4, 2, 0]);
        let kept = Space::new(&[4], [Some(&[-1]), Some(&[2]), None, None], true);
        assert_eq!(positions(&kept, 0, 0, 4), [0, -1, -2, -3]);
    }

    #[test]
    fn broadcasts_and_unit_dims() {
        let space = Space::new(
            &[2, 1, 3],
            [Some(&[3, 9, 1]), Some(&[0, 9, 1]), Some(&[1, 0, 0]), None],
            false,
        );
        assert_eq!(lengths(&space), [2, 3]);
        assert_eq!(positions(&space, 1, 0, 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(positions(&space, 2, 0, 6), [0, 0, 0, 1, 1, 1]);
        let one = Space::new(&[1, 1], [Some(&[5, 5]), None, None, None], false);
        assert_eq!(lengths(&one), [1]);
        assert_eq!(positions(&one, 0, 0, 1), [0]);
    }
}
