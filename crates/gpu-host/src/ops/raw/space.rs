//! The order in which an element-wise operation walks its operands, and cursors that follow it.
//!
//! Promises that every position of the operands' common dims is visited once, in an order in which
//! the output's strides fall, with as few dimensions as the strides allow. Knows nothing of types.

use super::BLOCK;
use gpu_seam::MAX_RANK;

/// The most operands of an element-wise operation: one output and three inputs.
pub(crate) const OPERANDS: usize = 4;

/// The walk: dims and, for each operand, strides in elements. Outermost first.
pub(crate) struct Space {
    rank: usize,
    dims: [usize; MAX_RANK],
    strides: [[isize; OPERANDS]; MAX_RANK],
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
            rank: 0,
            dims: [1; MAX_RANK],
            strides: [[0; OPERANDS]; MAX_RANK],
            start: [0; OPERANDS],
            linear: [false; OPERANDS],
        };
        for (at, &dim) in dims.iter().enumerate() {
            if dim == 1 {
                continue;
            }
            let mut strides = [0; OPERANDS];
            for (stride, operand) in strides.iter_mut().zip(operands) {
                *stride = operand.map_or(0, |operand| operand[at]);
            }
            if !keep_order && strides[0] < 0 {
                for (start, stride) in space.start.iter_mut().zip(&mut strides) {
                    *start += (dim - 1).cast_signed() * *stride;
                    *stride = -*stride;
                }
            }
            space.insert(dim, strides, keep_order);
        }
        space.merge();
        for operand in 0..OPERANDS {
            space.linear[operand] = space.is_linear(operand);
        }
        space
    }

    /// Adds a dimension: last, or behind the last one whose output stride is not smaller.
    fn insert(&mut self, dim: usize, strides: [isize; OPERANDS], keep_order: bool) {
        let mut at = self.rank;
        while !keep_order && at > 0 && self.strides[at - 1][0].abs() < strides[0].abs() {
            self.dims[at] = self.dims[at - 1];
            self.strides[at] = self.strides[at - 1];
            at -= 1;
        }
        self.dims[at] = dim;
        self.strides[at] = strides;
        self.rank += 1;
    }

    /// Joins neighbouring dimensions that every operand walks as one. Leaves at least one.
    fn merge(&mut self) {
        let mut kept = 0;
        for at in 1..self.rank {
            let (dim, strides) = (self.dims[at], self.strides[at]);
            let joins = self.strides[kept]
                .iter()
                .zip(&strides)
                .all(|(outer, inner)| *outer == inner.wrapping_mul(dim.cast_signed()));
            if joins {
                self.dims[kept] *= dim;
            } else {
                kept += 1;
                self.dims[kept] = dim;
            }
            self.strides[kept] = strides;
        }
        self.rank = self.rank.min(kept + 1).max(1);
    }

    fn is_linear(&self, operand: usize) -> bool {
        let mut expected = 1usize;
        for at in (0..self.rank).rev() {
            if self.dims[at] != 1 && self.strides[at][operand] != expected.cast_signed() {
                return false;
            }
            expected *= self.dims[at];
        }
        true
    }

    /// The dims, outermost first; at least one.
    pub(crate) fn dims(&self) -> &[usize] {
        &self.dims[..self.rank]
    }

    /// The walk over the other dimensions alone.
    pub(crate) fn without(&self, gone: [usize; 2]) -> Self {
        let mut space = Self {
            rank: 0,
            dims: [1; MAX_RANK],
            strides: [[0; OPERANDS]; MAX_RANK],
            start: self.start,
            linear: [false; OPERANDS],
        };
        for at in (0..self.rank).filter(|at| !gone.contains(at)) {
            space.insert(self.dims[at], self.strides[at], true);
        }
        space.rank = space.rank.max(1);
        space
    }

    /// The stride of `operand` along dimension `at`.
    pub(crate) const fn stride(&self, at: usize, operand: usize) -> isize {
        self.strides[at][operand]
    }
}

/// A place in a walk, for one operand.
pub(crate) struct Cursor {
    at: [usize; MAX_RANK],
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
            at: [0; MAX_RANK],
            position: space.start[operand],
        };
        for dim in (0..space.rank).rev() {
            let here = index % space.dims[dim];
            index /= space.dims[dim];
            cursor.at[dim] = here;
            cursor.position += here.cast_signed() * space.strides[dim][operand];
        }
        cursor
    }

    /// The next run of at most `most` elements, which is then behind.
    #[inline(always)]
    pub(crate) fn next(&mut self, space: &Space, operand: usize, most: usize) -> Run {
        let inner = space.rank - 1;
        let stride = space.strides[inner][operand];
        let run = Run {
            position: self.position,
            stride,
            len: most.min(space.dims[inner] - self.at[inner]),
        };
        self.at[inner] += run.len;
        self.position += run.len.cast_signed() * stride;
        let mut dim = inner;
        while self.at[dim] == space.dims[dim] && dim > 0 {
            self.position -= space.dims[dim].cast_signed() * space.strides[dim][operand];
            self.at[dim] = 0;
            dim -= 1;
            self.at[dim] += 1;
            self.position += space.strides[dim][operand];
        }
        run
    }
}

const _: () = assert!(BLOCK.is_power_of_two(), "ranges are aligned to blocks");

#[cfg(test)]
mod tests {
    use super::{Cursor, Space};

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
        assert_eq!(space.dims(), [24]);
        assert!(space.linear[0] && space.linear[1] && !space.linear[2]);
    }

    #[test]
    fn a_transposed_output_is_walked_in_its_own_order() {
        let space = Space::new(&[2, 3], [Some(&[1, 2]), Some(&[3, 1]), None, None], false);
        assert_eq!(space.dims(), [3, 2]);
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
        assert_eq!(space.dims(), [2, 3]);
        assert_eq!(positions(&space, 1, 0, 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(positions(&space, 2, 0, 6), [0, 0, 0, 1, 1, 1]);
        let one = Space::new(&[1, 1], [Some(&[5, 5]), None, None, None], false);
        assert_eq!(one.dims(), [1]);
        assert_eq!(positions(&one, 0, 0, 1), [0]);
    }
}
