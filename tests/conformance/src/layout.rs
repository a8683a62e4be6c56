//! How a check lays elements out: the forms that a canonical view may have, and arrays in them.
//!
//! Promises that whatever lies between and around the elements holds a pattern that can be checked
//! afterwards. Knows nothing of devices.

use crate::value::Val;
use gpu_seam::{DType, View};

/// Dims, strides and offset, and the length of the argument they lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) dims: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) offset: usize,
    /// Elements of the argument.
    pub(crate) span: usize,
}

/// The ways in which the same dims can lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Row-major, from the start.
    Contiguous,
    /// Row-major, three elements in, with two behind.
    Offset,
    /// Every second element of rows that are one longer.
    Gapped,
    /// Row-major with every dimension walked backwards.
    Reversed,
    /// Column-major.
    Transposed,
    /// The first dimension repeats (inputs only).
    Broadcast,
}

impl Form {
    /// Forms that an output may have.
    pub(crate) const OUTPUTS: [Self; 5] = [
        Self::Contiguous,
        Self::Offset,
        Self::Gapped,
        Self::Reversed,
        Self::Transposed,
    ];
    /// Forms that an input may have.
    pub(crate) const INPUTS: [Self; 6] = [
        Self::Contiguous,
        Self::Offset,
        Self::Gapped,
        Self::Reversed,
        Self::Transposed,
        Self::Broadcast,
    ];

    /// These dims laid out in this form.
    pub(crate) fn of(self, dims: &[usize]) -> Layout {
        let order: Vec<usize> = match self {
            Self::Transposed => (0..dims.len()).rev().collect(),
            _ => (0..dims.len()).collect(),
        };
        let (step, pad) = if self == Self::Gapped { (2, 1) } else { (1, 0) };
        let mut strides = vec![0isize; dims.len()];
        let mut size: usize = step;
        for &axis in order.iter().rev() {
            if self == Self::Broadcast && axis == 0 {
                continue;
            }
            strides[axis] = size.cast_signed();
            size *= dims[axis] + pad;
        }
        let mut layout = Layout {
            dims: dims.to_vec(),
            strides,
            offset: 0,
            span: size,
        };
        match self {
            Self::Offset => {
                layout.offset = 3;
                layout.span += 5;
            }
            Self::Reversed => {
                layout.offset = 1 + layout.last();
                layout.span = layout.offset + 1;
                layout
                    .strides
                    .iter_mut()
                    .for_each(|stride| *stride = -*stride);
            }
            _ => {}
        }
        layout
    }
}

impl Layout {
    /// Row-major, from the start.
    pub(crate) fn contiguous(dims: &[usize]) -> Self {
        Form::Contiguous.of(dims)
    }

    /// The same elements as a view.
    pub(crate) fn view(&self, dtype: DType) -> View<'_> {
        View::new(dtype, self.offset, &self.dims, &self.strides)
    }

    /// How many elements the dims make.
    pub(crate) fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// The element positions in row-major order of the dims.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![self.offset];
        for (&dim, &stride) in self.dims.iter().zip(&self.strides) {
            let steps = (0..dim).map(|at| at.cast_signed() * stride);
            let steps: Vec<isize> = steps.collect();
            positions = positions
                .iter()
                .flat_map(|&base| {
                    steps
                        .iter()
                        .map(move |&step| base.wrapping_add_signed(step))
                })
                .collect();
        }
        positions
    }

    /// The position of the last element of positive strides, from the offset.
    fn last(&self) -> usize {
        let ends = self.dims.iter().zip(&self.strides);
        ends.map(|(&dim, &stride)| (dim - 1) * stride.unsigned_abs())
            .sum()
    }
}

/// Elements in a layout, with a pattern in the gaps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    /// An argument that holds the pattern only: an output before its operation.
    pub(crate) fn blank(dtype: DType, layout: Layout) -> Self {
        let bytes = pattern(layout.span * dtype.size(), 0x5b);
        Self {
            dtype,
            layout,
            bytes,
        }
    }

    /// These values, in row-major order of the dims. Where the layout repeats an element, the last
    /// value for it counts: ask [`values`](Self::values).
    pub(crate) fn new(dtype: DType, layout: Layout, values: &[Val]) -> Self {
        let mut array = Self::blank(dtype, layout);
        for (position, value) in array.layout.positions().into_iter().zip(values) {
            array.put(position, *value);
        }
        array
    }

    /// These values, contiguous, of rank 1.
    pub(crate) fn line(dtype: DType, values: &[Val]) -> Self {
        Self::new(dtype, Layout::contiguous(&[values.len()]), values)
    }

    /// The view that an operation is given.
    pub(crate) fn view(&self) -> View<'_> {
        self.layout.view(self.dtype)
    }

    /// The values in row-major order of the dims.
    pub(crate) fn values(&self) -> Vec<Val> {
        let positions = self.layout.positions().into_iter();
        positions
            .map(|at| Val::decode(self.dtype, &self.bytes[at * self.dtype.size()..]))
            .collect()
    }

    /// The bits in row-major order of the dims.
    pub(crate) fn bits(&self) -> Vec<u128> {
        let size = self.dtype.size();
        let positions = self.layout.positions().into_iter();
        positions
            .map(|at| {
                let mut low = [0; 16];
                low[..size].copy_from_slice(&self.bytes[at * size..(at + 1) * size]);
                u128::from_le_bytes(low)
            })
            .collect()
    }

    /// Sets the element at a position.
    pub(crate) fn put(&mut self, position: usize, value: Val) {
        self.put_bits(position, value.bits(self.dtype));
    }

    /// Sets the bits of the element at a position.
    pub(crate) fn put_bits(&mut self, position: usize, bits: u128) {
        let size = self.dtype.size();
        self.bytes[position * size..(position + 1) * size]
            .copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// Bytes that depend on their place, so that a shifted copy of them is seen.
pub(crate) fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(131) ^ (at >> 8).wrapping_mul(29) ^ seed).to_le_bytes()[0])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Form;
    use gpu_seam::DType;

    #[test]
    fn forms_stay_inside_and_address_each_element_once() {
        for form in Form::OUTPUTS {
            for dims in [&[1usize][..], &[5], &[3, 4], &[2, 3, 5]] {
                let layout = form.of(dims);
                let (start, end) = layout.view(DType::U8).extent().expect("an extent");
                assert!(end <= layout.span, "{form:?} {dims:?}");
                let mut positions = layout.positions();
                assert_eq!(positions.len(), layout.elements());
                positions.sort_unstable();
                positions.dedup();
                assert_eq!(positions.len(), layout.elements(), "{form:?} {dims:?}");
                assert!(positions[0] == start && positions.last() == Some(&(end - 1)));
            }
        }
        assert_eq!(Form::Transposed.of(&[2, 3]).strides, [1, 2]);
        assert_eq!(Form::Broadcast.of(&[2, 3]).strides, [0, 1]);
        assert_eq!(Form::Gapped.of(&[2, 3]).strides, [8, 2]);
    }
}
