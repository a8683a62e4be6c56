//! Strided arrays of f64, each instruction in the plainest way, with the promises of a program
//! checked: a reshape that would have to copy is an error, and so is a matrix without a leading
//! dimension or a sum that is not three axes.

use super::super::run::Machine;
use std::cell::Cell;
use std::rc::Rc;

#[derive(Default)]
pub(super) struct Naive {
    bytes: Rc<Bytes>,
}

#[derive(Default)]
struct Bytes {
    live: Cell<usize>,
    peak: Cell<usize>,
}

/// Values that are counted while they live.
struct Storage {
    values: Vec<f64>,
    bytes: Option<Rc<Bytes>>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(bytes) = &self.bytes {
            bytes.live.set(bytes.live.get() - 8 * self.values.len());
        }
    }
}

#[derive(Clone)]
pub(super) struct Array {
    storage: Rc<Storage>,
    dims: Vec<usize>,
    strides: Vec<usize>,
}

impl Array {
    /// A row-major array that is not counted.
    pub(super) fn operand(dims: &[usize], values: Vec<f64>) -> Self {
        let storage = Rc::new(Storage {
            values,
            bytes: None,
        });
        Self {
            storage,
            dims: dims.to_vec(),
            strides: row_major(dims),
        }
    }

    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }

    pub(super) fn values(&self) -> Vec<f64> {
        positions(&self.dims)
            .map(|position| self.at(&position))
            .collect()
    }

    fn at(&self, position: &[usize]) -> f64 {
        let at: usize = position.iter().zip(&self.strides).map(|(p, s)| p * s).sum();
        self.storage.values[at]
    }

    /// Whether dims `row` and `column` are a matrix with a leading dimension.
    fn is_matrix(&self, row: usize, column: usize) -> bool {
        let fits = |outer: usize, inner: usize| {
            (self.dims[inner] == 1 || self.strides[inner] == 1)
                && (self.dims[outer] == 1 || self.strides[outer] >= self.dims[inner])
        };
        fits(row, column) || fits(column, row)
    }
}

impl Naive {
    pub(super) fn peak_bytes(&self) -> usize {
        self.bytes.peak.get()
    }

    fn fresh(&self, dims: &[usize], values: Vec<f64>) -> Array {
        let bytes = &self.bytes;
        bytes.live.set(bytes.live.get() + 8 * values.len());
        bytes.peak.set(bytes.peak.get().max(bytes.live.get()));
        let storage = Rc::new(Storage {
            values,
            bytes: Some(Rc::clone(bytes)),
        });
        Array {
            storage,
            dims: dims.to_vec(),
            strides: row_major(dims),
        }
    }
}

impl Machine for Naive {
    type Array = Array;
    type Error = String;

    fn diagonal(&self, of: &Array, first: usize, second: usize) -> Result<Array, String> {
        if first >= second || of.dims[first] != of.dims[second] {
            return Err(format!("diagonal {first} {second} of {:?}", of.dims));
        }
        let mut view = of.clone();
        let size = view.dims.remove(second);
        let stride = view.strides.remove(second);
        view.dims.remove(first);
        let stride = stride + view.strides.remove(first);
        view.dims.push(size);
        view.strides.push(stride);
        Ok(view)
    }

    fn permute(&self, of: &Array, axes: &[usize]) -> Result<Array, String> {
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..of.dims.len()) {
            return Err(format!("permute {axes:?} of {:?}", of.dims));
        }
        Ok(Array {
            storage: Rc::clone(&of.storage),
            dims: axes.iter().map(|axis| of.dims[*axis]).collect(),
            strides: axes.iter().map(|axis| of.strides[*axis]).collect(),
        })
    }

    fn reshape(&self, of: &Array, dims: &[usize]) -> Result<Array, String> {
        let refused = || {
            format!(
                "reshape {:?} {:?} to {dims:?} is no view",
                of.dims, of.strides
            )
        };
        if of.dims.iter().product::<usize>() != dims.iter().product::<usize>() {
            return Err(refused());
        }
        // The runs of the old dims, innermost last, without dims of size 1.
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (dim, stride) in of
            .dims
            .iter()
            .zip(&of.strides)
            .filter(|(dim, _)| **dim != 1)
        {
            match runs.last_mut() {
                Some((size, outer)) if *outer == stride * dim => {
                    *size *= dim;
                    *outer = *stride;
                }
                _ => runs.push((*dim, *stride)),
            }
        }
        let mut strides = vec![0; dims.len()];
        for (at, dim) in dims.iter().enumerate().rev().filter(|(_, dim)| **dim != 1) {
            let (size, stride) = runs.last_mut().ok_or_else(refused)?;
            if *size % dim != 0 {
                return Err(refused());
            }
            strides[at] = *stride;
            *stride *= dim;
            *size /= dim;
            if *size == 1 {
                runs.pop();
            }
        }
        Ok(Array {
            storage: Rc::clone(&of.storage),
            dims: dims.to_vec(),
            strides,
        })
    }

    fn copy(&self, of: &Array) -> Result<Array, String> {
        Ok(self.fresh(&of.dims, of.values()))
    }

    fn sum(&self, of: &Array) -> Result<Array, String> {
        let [outer, summed, inner] = of.dims[..] else {
            return Err(format!("sum of {:?}", of.dims));
        };
        let sum = |position: Vec<usize>| {
            (0..summed)
                .map(|at| of.at(&[position[0], at, position[1]]))
                .sum()
        };
        let values = positions(&[outer, inner]).map(sum).collect();
        Ok(self.fresh(&[outer, inner], values))
    }

    fn multiply(&self, left: &Array, right: &Array) -> Result<Array, String> {
        let mut dims = Vec::new();
        for (a, b) in left.dims.iter().zip(&right.dims) {
            if a != b && *a != 1 && *b != 1 {
                return Err(format!("multiply {:?} {:?}", left.dims, right.dims));
            }
            dims.push(*a.max(b));
        }
        let read = |of: &Array, position: &[usize]| {
            let own: Vec<usize> = position.iter().zip(&of.dims).map(|(p, d)| p % d).collect();
            of.at(&own)
        };
        let values = positions(&dims)
            .map(|p| read(left, &p) * read(right, &p))
            .collect();
        Ok(self.fresh(&dims, values))
    }

    fn matmul(&self, left: &Array, right: &Array) -> Result<Array, String> {
        let rank = left.dims.len();
        let refused = || Err(format!("matmul {:?} {:?}", left, right));
        if !(rank == 2 || rank == 3) || right.dims.len() != rank {
            return refused();
        }
        let (batch, m, k) = (
            left.dims[..rank - 2].to_vec(),
            left.dims[rank - 2],
            left.dims[rank - 1],
        );
        let n = right.dims[rank - 1];
        if right.dims[..rank - 2] != batch[..] || right.dims[rank - 2] != k || k < 2 {
            return refused();
        }
        if !(left.is_matrix(rank - 2, rank - 1) && right.is_matrix(rank - 2, rank - 1)) {
            return refused();
        }
        let dims: Vec<usize> = batch.iter().copied().chain([m, n]).collect();
        let element = |p: Vec<usize>| {
            let at = |i: usize, j: usize| -> Vec<usize> {
                p[..rank - 2].iter().copied().chain([i, j]).collect()
            };
            (0..k)
                .map(|x| left.at(&at(p[rank - 2], x)) * right.at(&at(x, p[rank - 1])))
                .sum()
        };
        let values = positions(&dims).map(element).collect();
        Ok(self.fresh(&dims, values))
    }

    fn zeros(&self, dims: &[usize]) -> Result<Array, String> {
        Ok(self.fresh(dims, vec![0.0; dims.iter().product()]))
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} by {:?}", self.dims, self.strides)
    }
}

/// Every position of an array of `dims`, in row-major order.
pub(super) fn positions(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let dims = dims.to_vec();
    (0..dims.iter().product::<usize>()).map(move |mut flat| {
        let mut position = vec![0; dims.len()];
        for (at, dim) in dims.iter().enumerate().rev() {
            position[at] = flat % dim;
            flat /= dim;
        }
        position
    })
}

fn row_major(dims: &[usize]) -> Vec<usize> {
    let mut stride = 1;
    let mut strides: Vec<usize> = dims
        .iter()
        .rev()
        .map(|dim| {
            let own = stride;
            stride *= dim;
            own
        })
        .collect();
    strides.reverse();
    strides
}
