//! Plain arrays over indices, for the evaluator: permuting, summing, multiplying.
//!
//! Promises row-major values in the order of the indices. Knows nothing of paths.

use crate::evaluate::MAX_ELEMENTS;
use num_complex::Complex;
use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::ParallelSliceMut as _;
use std::borrow::Cow;
use std::ops::{Add, AddAssign, Mul};

/// f64 or Complex128.
pub trait Number:
    Copy + Default + Send + Sync + Add<Output = Self> + AddAssign + Mul<Output = Self> + 'static
{
}

impl Number for f64 {}
impl Number for Complex<f64> {}

/// An array that the evaluator does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an array of dims {dims:?} exceeds what the plain evaluator holds ({MAX_ELEMENTS} elements)"
)]
pub struct TooLarge {
    /// Its dims.
    pub dims: Vec<usize>,
}

/// Values in row-major order, one dimension for each index, no index twice.
pub(crate) struct Array<'a, T: Number> {
    pub(crate) indices: Vec<usize>,
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Cow<'a, [T]>,
}

/// Zeros of these dims.
pub(crate) fn zeros<T: Number>(dims: &[usize]) -> Result<Vec<T>, TooLarge> {
    let too_large = || TooLarge {
        dims: dims.to_vec(),
    };
    let elements = crate::network::elements(dims).filter(|elements| *elements <= MAX_ELEMENTS);
    let elements = elements.ok_or_else(too_large)?;
    let mut values = Vec::new();
    values
        .try_reserve_exact(elements)
        .map_err(|_| too_large())?;
    values.resize(elements, T::default());
    Ok(values)
}

impl<'a, T: Number> Array<'a, T> {
    /// An operand: of a repeated index the diagonal.
    pub(crate) fn of_term(
        term: &[usize],
        sizes: &[usize],
        values: &'a [T],
    ) -> Result<Self, TooLarge> {
        let mut indices = Vec::with_capacity(term.len());
        for index in term {
            if !indices.contains(index) {
                indices.push(*index);
            }
        }
        let dims: Vec<usize> = indices.iter().map(|index| sizes[*index]).collect();
        if indices.len() == term.len() {
            return Ok(Self {
                indices,
                dims,
                values: Cow::Borrowed(values),
            });
        }
        let strides = row_major(&term.iter().map(|index| sizes[*index]).collect::<Vec<_>>());
        let step = |index: &usize| {
            term.iter()
                .zip(&strides)
                .filter(|(own, _)| *own == index)
                .map(|(_, stride)| stride)
                .sum()
        };
        let strides: Vec<usize> = indices.iter().map(step).collect();
        let mut diagonal = zeros(&dims)?;
        fill(&mut diagonal, &dims, [strides.as_slice(); 2], |at, _| {
            values[at]
        });
        Ok(Self {
            indices,
            dims,
            values: Cow::Owned(diagonal),
        })
    }

    /// The size of `index`; 1 where there is none.
    pub(crate) fn size(&self, index: usize) -> usize {
        self.indices
            .iter()
            .position(|own| *own == index)
            .map_or(1, |at| self.dims[at])
    }

    /// The product of the sizes of `indices`.
    pub(crate) fn volume(&self, indices: &[usize]) -> usize {
        indices.iter().map(|index| self.size(*index)).product()
    }

    /// The step of each of `indices`; 0 where there is none.
    fn strides(&self, indices: &[usize]) -> Vec<usize> {
        let own = row_major(&self.dims);
        let step = |index| {
            self.indices
                .iter()
                .position(|other| other == index)
                .map_or(0, |at| own[at])
        };
        indices.iter().map(step).collect()
    }

    /// The same array with its indices in this order.
    pub(crate) fn arranged(self, order: &[usize]) -> Result<Self, TooLarge> {
        if self.indices == order {
            return Ok(self);
        }
        let dims: Vec<usize> = order.iter().map(|index| self.size(*index)).collect();
        let strides = self.strides(order);
        let mut values = zeros(&dims)?;
        fill(&mut values, &dims, [strides.as_slice(); 2], |at, _| {
            self.values[at]
        });
        Ok(Array {
            indices: order.to_vec(),
            dims,
            values: Cow::Owned(values),
        })
    }

    /// The sum over every index that is not `kept`.
    pub(crate) fn sum_all_but(self, kept: impl Fn(usize) -> bool) -> Result<Self, TooLarge> {
        let (mut order, summed): (Vec<usize>, Vec<usize>) =
            self.indices.iter().partition(|index| kept(**index));
        if summed.is_empty() {
            return Ok(self);
        }
        let (left, lines) = (order.len(), self.volume(&summed));
        order.extend(summed);
        let mut arranged = self.arranged(&order)?;
        arranged.indices.truncate(left);
        arranged.dims.truncate(left);
        let mut sums = zeros(&arranged.dims)?;
        if lines > 0 {
            for (sum, line) in sums.iter_mut().zip(arranged.values.chunks(lines)) {
                line.iter().for_each(|value| *sum += *value);
            }
        }
        Ok(Array {
            values: Cow::Owned(sums),
            ..arranged
        })
    }

    /// The product, element by element where the two share an index, of all with all elsewhere.
    pub(crate) fn times(self, right: &Self) -> Result<Self, TooLarge> {
        let (large, small) = if self.values.len() >= right.values.len() {
            (&self, right)
        } else {
            (right, &self)
        };
        let mut indices = large.indices.clone();
        indices.extend(
            small
                .indices
                .iter()
                .filter(|index| !large.indices.contains(index)),
        );
        let dims: Vec<usize> = indices
            .iter()
            .map(|index| large.size(*index).max(small.size(*index)))
            .collect();
        let strides = [large.strides(&indices), small.strides(&indices)];
        let mut values = zeros(&dims)?;
        let product = |a: usize, b: usize| large.values[a] * small.values[b];
        fill(&mut values, &dims, [&strides[0], &strides[1]], product);
        Ok(Array {
            indices,
            dims,
            values: Cow::Owned(values),
        })
    }
}

/// Fills `out`, of row-major `dims`, with what `value` gives for the offsets of each element in two
/// arrays that it is read from, on all threads.
fn fill<T: Number>(
    out: &mut [T],
    dims: &[usize],
    strides: [&[usize]; 2],
    value: impl Fn(usize, usize) -> T + Sync,
) {
    const TASK: usize = 1 << 16;
    if out.is_empty() {
        return;
    }
    let axes = merged(dims, strides);
    let (inner, outer) = match axes.split_last() {
        Some((inner, outer)) => (*inner, outer),
        None => ((1, [0, 0]), &axes[..]),
    };
    let lines = TASK.div_ceil(inner.0);
    out.par_chunks_mut(lines * inner.0)
        .enumerate()
        .for_each(|(task, out)| {
            let mut position = vec![0; outer.len()];
            let mut at = [0, 0];
            let mut flat = task * lines;
            for (place, (dim, steps)) in position.iter_mut().zip(outer).rev() {
                *place = flat % dim;
                flat /= dim;
                at = [at[0] + *place * steps[0], at[1] + *place * steps[1]];
            }
            for line in out.chunks_mut(inner.0) {
                let mut from = at;
                for element in line {
                    *element = value(from[0], from[1]);
                    from = [from[0] + inner.1[0], from[1] + inner.1[1]];
                }
                for (place, (dim, steps)) in position.iter_mut().zip(outer).rev() {
                    *place += 1;
                    at = [at[0] + steps[0], at[1] + steps[1]];
                    if *place < *dim {
                        break;
                    }
                    at = [at[0] - *dim * steps[0], at[1] - *dim * steps[1]];
                    *place = 0;
                }
            }
        });
}

/// The axes with those merged that one stride walks through, in both arrays.
fn merged(dims: &[usize], strides: [&[usize]; 2]) -> Vec<(usize, [usize; 2])> {
    let mut axes: Vec<(usize, [usize; 2])> = Vec::with_capacity(dims.len());
    for (at, dim) in dims.iter().enumerate().filter(|(_, dim)| **dim != 1) {
        let steps = [strides[0][at], strides[1][at]];
        match axes.last_mut() {
            Some((size, outer)) if *outer == [steps[0] * dim, steps[1] * dim] => {
                *size *= dim;
                *outer = steps;
            }
            _ => axes.push((*dim, steps)),
        }
    }
    axes
}

fn row_major(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for at in (1..dims.len()).rev() {
        strides[at - 1] = strides[at] * dims[at];
    }
    strides
}
