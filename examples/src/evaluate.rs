//! A plain evaluator in f64 and Complex128: what results are checked against.
//!
//! Promises the value that the definition gives, to within the rounding of f64, by code that shares
//! nothing with tensor-core, gpu-dispatch or a vendor: own index logic, own loops. It contracts two
//! operands at a time along a path, so that large networks are within reach, and refuses arrays
//! beyond [`MAX_ELEMENTS`]. Knows nothing of devices.

use crate::array::{Array, Number, TooLarge};
use crate::network::Network;
use std::borrow::Cow;

/// The most elements of one array on the way.
pub const MAX_ELEMENTS: usize = 1 << 29;

/// The elements of the network's output in row-major order, contracted along `walk` (of one of the
/// network's paths, or a path that is known to lead to one operand). `done(n)` is called after the
/// n-th step, from 1.
///
/// # Errors
/// [`TooLarge`] when an array on the way exceeds [`MAX_ELEMENTS`] or memory.
pub fn evaluate<T: Number>(
    network: &Network,
    walk: &[Vec<usize>],
    operands: &[Vec<T>],
    mut done: impl FnMut(usize),
) -> Result<Vec<T>, TooLarge> {
    if network.sizes.contains(&0) {
        // Nothing is summed; and the other sizes may be beyond any product.
        return crate::array::zeros(&network.output_shape());
    }
    // How many of the arrays that are left have each index, the output counting as one.
    let mut holders = vec![0usize; network.sizes.len()];
    let mut arrays: Vec<Option<Array<'_, T>>> = Vec::with_capacity(operands.len() + walk.len());
    for (term, values) in network.terms.iter().zip(operands) {
        let array = Array::of_term(term, &network.sizes, values)?;
        array.indices.iter().for_each(|index| holders[*index] += 1);
        arrays.push(Some(array));
    }
    network.output.iter().for_each(|index| holders[*index] += 1);
    for (at, step) in walk.iter().enumerate() {
        let mut result: Option<Array<'_, T>> = None;
        for number in step {
            let Some(next) = arrays[*number].take() else {
                continue;
            };
            next.indices.iter().for_each(|index| holders[*index] -= 1);
            result = Some(match result {
                None => next,
                Some(left) => {
                    // What the rest of the step still has must be kept for it.
                    left.indices.iter().for_each(|index| holders[*index] -= 1);
                    contract(left, next, |index| holders[index] > 0)?
                }
            });
            if let Some(array) = &result {
                array.indices.iter().for_each(|index| holders[*index] += 1);
            }
        }
        if step.len() == 1
            && let Some(array) = result.take()
        {
            array.indices.iter().for_each(|index| holders[*index] -= 1);
            let kept = array.sum_all_but(|index| holders[index] > 0)?;
            kept.indices.iter().for_each(|index| holders[*index] += 1);
            result = Some(kept);
        }
        arrays.push(result);
        done(at + 1);
    }
    let Some(last) = arrays.pop().flatten() else {
        return Ok(Vec::new());
    };
    let last = last.sum_all_but(|index| network.output.contains(&index))?;
    Ok(last.arranged(&network.output)?.values.into_owned())
}

/// The sum of products of two arrays over every index that is not `needed` elsewhere.
fn contract<'a, T: Number>(
    left: Array<'a, T>,
    right: Array<'a, T>,
    needed: impl Fn(usize) -> bool,
) -> Result<Array<'a, T>, TooLarge> {
    let left = left.sum_all_but(|index| needed(index) || right.indices.contains(&index))?;
    let right = right.sum_all_but(|index| needed(index) || left.indices.contains(&index))?;
    // The one with more of its own goes right: the inner loop runs along it.
    let own = |of: &Array<'_, T>, other: &Array<'_, T>| -> usize {
        let own = of
            .indices
            .iter()
            .zip(&of.dims)
            .filter(|(index, _)| !other.indices.contains(index));
        own.map(|(_, dim)| *dim).product()
    };
    let (left, right) = if own(&left, &right) > own(&right, &left) {
        (right, left)
    } else {
        (left, right)
    };
    let pick =
        |from: &Array<'_, T>, other: &Array<'_, T>, shared: bool, kept: bool| -> Vec<usize> {
            let holds =
                |index: &usize| other.indices.contains(index) == shared && needed(*index) == kept;
            from.indices
                .iter()
                .copied()
                .filter(|index| holds(index))
                .collect()
        };
    let batch = pick(&right, &left, true, true);
    let summed = pick(&right, &left, true, false);
    let rows = pick(&left, &right, false, true);
    let columns = pick(&right, &left, false, true);
    if summed.is_empty() {
        return left.times(&right);
    }
    let join = |lists: [&[usize]; 3]| lists.concat();
    let order = join([&batch, &rows, &columns]);
    let long = |list: &[usize]| right.volume(list).max(left.volume(list));
    let shape = Shape {
        rows: left.volume(&rows),
        columns: right.volume(&columns),
        summed: long(&summed),
    };
    let dims: Vec<usize> = order
        .iter()
        .map(|index| left.size(*index).max(right.size(*index)))
        .collect();
    let left = left.arranged(&join([&batch, &rows, &summed]))?;
    let mut values = crate::array::zeros(&dims)?;
    if shape.columns >= WIDE {
        let right = right.arranged(&join([&batch, &summed, &columns]))?;
        shape.along_columns(&left.values, &right.values, &mut values);
    } else {
        let right = right.arranged(&join([&batch, &columns, &summed]))?;
        shape.along_sums(&left.values, &right.values, &mut values);
    }
    Ok(Array {
        indices: order,
        dims,
        values: Cow::Owned(values),
    })
}

/// From so many columns on the inner loop runs along them.
const WIDE: usize = 8;
/// How many columns are worked on at a time, so that they stay in the nearest cache.
const BLOCK: usize = 512;

/// The shape of one matrix product of a batch.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    summed: usize,
}

impl Shape {
    /// `out[b][i][j] += left[b][i][k] * right[b][k][j]`.
    fn along_columns<T: Number>(self, left: &[T], right: &[T], out: &mut [T]) {
        // Four rows at a time share what is read of the right matrix.
        const ROWS: usize = 4;
        let Self {
            columns, summed, ..
        } = self;
        let product = |(left, right, out): (&[T], &[T], &mut [T])| {
            for start in (0..columns).step_by(BLOCK) {
                let end = columns.min(start + BLOCK);
                for (left, out) in left
                    .chunks(ROWS * summed)
                    .zip(out.chunks_mut(ROWS * columns))
                {
                    let mut out_rows: Vec<&mut [T]> = out
                        .chunks_mut(columns)
                        .map(|row| &mut row[start..end])
                        .collect();
                    for (k, right) in right.chunks(columns).enumerate() {
                        let right = &right[start..end];
                        for (row, out) in out_rows.iter_mut().enumerate() {
                            let factor = left[row * summed + k];
                            for (out, right) in out.iter_mut().zip(right) {
                                *out += factor * *right;
                            }
                        }
                    }
                }
            }
        };
        self.each(left, right, out, summed * columns, product);
    }

    /// `out[b][i][j] = sum over k of left[b][i][k] * right[b][j][k]`.
    fn along_sums<T: Number>(self, left: &[T], right: &[T], out: &mut [T]) {
        const LANES: usize = 4;
        let Self {
            columns, summed, ..
        } = self;
        let product = |(left, right, out): (&[T], &[T], &mut [T])| {
            for (left, out) in left.chunks(summed).zip(out.chunks_mut(columns)) {
                for (right, out) in right.chunks(summed).zip(out) {
                    let mut lanes = [T::default(); LANES];
                    for (left, right) in left.chunks(LANES).zip(right.chunks(LANES)) {
                        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
                            *lane += *left * *right;
                        }
                    }
                    *out = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
                }
            }
        };
        self.each(left, right, out, columns * summed, product);
    }

    /// Runs `product` on each matrix of the batch, a few rows at a time, on all threads.
    fn each<T: Number>(
        self,
        left: &[T],
        right: &[T],
        out: &mut [T],
        right_size: usize,
        product: impl Fn((&[T], &[T], &mut [T])) + Sync,
    ) {
        use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
        use rayon::slice::ParallelSliceMut as _;
        let Self {
            rows,
            columns,
            summed,
        } = self;
        if out.is_empty() || summed == 0 {
            return;
        }
        // A task is a whole number of small matrices, or some rows of a large one.
        let work = (rows * columns * summed).max(1);
        if work < 1 << 16 {
            let matrices = (1usize << 16) / work;
            out.par_chunks_mut(matrices * rows * columns)
                .enumerate()
                .for_each(|(task, out)| {
                    for (at, out) in out.chunks_mut(rows * columns).enumerate() {
                        let batch = task * matrices + at;
                        let left = &left[batch * rows * summed..][..rows * summed];
                        product((left, &right[batch * right_size..][..right_size], out));
                    }
                });
            return;
        }
        let share = rows
            .div_ceil(2 * rayon::current_num_threads())
            .next_multiple_of(4)
            .min(rows);
        for (batch, out) in out.chunks_mut(rows * columns).enumerate() {
            let left = &left[batch * rows * summed..][..rows * summed];
            let right = &right[batch * right_size..][..right_size];
            out.par_chunks_mut(share * columns)
                .enumerate()
                .for_each(|(task, out)| {
                    let left = &left[task * share * summed..][..out.len() / columns * summed];
                    product((left, right, out));
                });
        }
    }
}
