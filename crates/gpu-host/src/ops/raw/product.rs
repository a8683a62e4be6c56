//! Matrix products of the library types, through the `gemm` crate.
//!
//! Promises that one call of [`multiply`] is one product of the batch, that with `beta` zero the
//! output is not read, and that nothing outside the three matrices is touched. Knows nothing of the
//! types that the library does not serve.
//!
//! # Safety
//!
//! See [`raw`](super). The library is given pointers and strides straight from the operation.

#![expect(unsafe_code, reason = "calls the gemm library on raw matrices")]

use super::super::element::{C64, C128, Plain};
use super::Args;
use crate::parallel;
use gemm::Parallelism;
use gpu_seam::{Gemm, Matrix};
use std::marker::PhantomData;
use std::ops::Range;

/// Rows and columns of a tile of the types that the library does not serve.
pub(crate) const TILE: usize = 64;

/// Columns of a product that is computed row by row.
pub(crate) const NARROW: usize = 16;

/// Multiplications from which one product is worth several threads.
const TOGETHER: usize = 1 << 18;

/// Multiplications from which each product of a batch gets all threads, one after the other.
const ALONE: usize = 1 << 24;

/// A batch of matrices of one argument: element (i, j) of matrix b by its position.
#[derive(Clone, Copy)]
pub(crate) struct Matrices<'a, T> {
    origin: *mut T,
    batch: isize,
    rows: isize,
    columns: isize,
    conjugated: bool,
    life: PhantomData<&'a T>,
}

// SAFETY: an address with a layout; what is done with it on several threads is argued where it is
// done.
unsafe impl<T: Send> Send for Matrices<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Matrices<'_, T> {}

/// The output and the factors of a product.
#[derive(Clone, Copy)]
pub(crate) struct Product<'a, T> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    out: Matrices<'a, T>,
    lhs: Matrices<'a, T>,
    rhs: Matrices<'a, T>,
}

impl<'a> Args<'a> {
    /// The matrices of a product, one argument each.
    pub(crate) fn product<T: Plain>(&self, gemm: &Gemm) -> Product<'a, T> {
        let matrices = |at: usize, matrix: &Matrix| {
            let ld = matrix.ld.cast_signed();
            let (rows, columns) = if matrix.transposed { (1, ld) } else { (ld, 1) };
            Matrices {
                origin: self
                    .start(at)
                    .as_ptr()
                    .cast::<T>()
                    .wrapping_add(matrix.offset),
                batch: matrix.batch_stride,
                rows,
                columns,
                conjugated: matrix.conjugated,
                life: PhantomData,
            }
        };
        Product {
            m: gemm.m,
            n: gemm.n,
            k: gemm.k,
            out: matrices(0, &gemm.out),
            lhs: matrices(1, &gemm.lhs),
            rhs: matrices(2, &gemm.rhs),
        }
    }
}

impl<T: Plain> Matrices<'_, T> {
    const fn of(&self, batch: usize) -> *mut T {
        self.origin
            .wrapping_offset(batch.cast_signed() * self.batch)
    }
}

/// An element type that the library multiplies.
pub(crate) trait Library: Plain {
    /// Whether conjugation means anything.
    const COMPLEX: bool;
}

impl Library for f32 {
    const COMPLEX: bool = false;
}
impl Library for f64 {
    const COMPLEX: bool = false;
}
impl Library for C64 {
    const COMPLEX: bool = true;
}
impl Library for C128 {
    const COMPLEX: bool = true;
}

impl<T: Library> Product<'_, T> {
    /// `out[b] = alpha * lhs[b] · rhs[b] + beta * out[b]` for all `b < batch`, by the library: `T`
    /// is f32, f64 or complex. Without `beta` the output is not read.
    pub(crate) fn multiply_all(&self, batch: usize, alpha: T, beta: Option<T>) {
        let work = self.m * self.n * (self.k + 1);
        if batch > 1 && work < ALONE {
            let grain = TOGETHER / work + 1;
            parallel::for_ranges(batch, grain, 1, |range| {
                for b in range {
                    self.multiply(b, alpha, beta, false);
                }
            });
        } else {
            let parallel = work >= TOGETHER && parallel::threads() > 1;
            for b in 0..batch {
                self.multiply(b, alpha, beta, parallel);
            }
        }
    }

    /// One product of the batch.
    fn multiply(&self, b: usize, alpha: T, beta: Option<T>, parallel: bool) {
        let (out, lhs, rhs) = (&self.out, &self.lhs, &self.rhs);
        let parallelism = if parallel {
            Parallelism::Rayon(0)
        } else {
            Parallelism::None
        };
        // SAFETY: the three matrices are live, of these sizes and strides; the output overlaps
        // neither factor, and its batches are disjoint. What the library calls alpha is the
        // output's factor, which it does not apply when it is told not to read the output.
        unsafe {
            gemm::gemm(
                self.m,
                self.n,
                self.k,
                out.of(b),
                out.columns,
                out.rows,
                beta.is_some(),
                lhs.of(b),
                lhs.columns,
                lhs.rows,
                rhs.of(b),
                rhs.columns,
                rhs.rows,
                beta.unwrap_or_default(),
                alpha,
                false,
                lhs.conjugated && T::COMPLEX,
                rhs.conjugated && T::COMPLEX,
                parallelism,
            );
        }
    }
}

impl<T: Plain> Product<'_, T> {
    /// Element (i, j) of the left factor of product `b`.
    #[inline(always)]
    pub(crate) fn lhs(&self, b: usize, i: usize, j: usize) -> T {
        self.lhs.read(b, i, j, self.m, self.k)
    }

    /// Element (i, j) of the right factor of product `b`.
    #[inline(always)]
    pub(crate) fn rhs(&self, b: usize, i: usize, j: usize) -> T {
        self.rhs.read(b, i, j, self.k, self.n)
    }

    /// Computes outputs of at most [`NARROW`] columns row by row: `compute` gets the number of the
    /// product, the row and its sums, to be added to; `finish` makes an output element of a sum and,
    /// where `read`, of what was there. Products are spread over threads from twice `grain` up.
    pub(crate) fn by_rows(
        &self,
        batch: usize,
        grain: usize,
        read: bool,
        compute: impl Fn(usize, usize, &mut [T]) + Sync,
        finish: impl Fn(T, T) -> T + Sync,
    ) {
        let width = self.n.min(NARROW);
        parallel::for_ranges(batch, grain, 1, |range| {
            for b in range {
                for i in 0..self.m {
                    let mut sums = [T::default(); NARROW];
                    compute(b, i, &mut sums[..width]);
                    for (j, &sum) in sums[..width].iter().enumerate() {
                        self.rewrite((b, i, j), read, |old| finish(sum, old));
                    }
                }
            }
        });
    }

    /// Makes output element (b, i, j), which is the calling task's alone, what `change` makes of
    /// what was there, or of nothing unless `read`.
    #[inline(always)]
    fn rewrite(&self, (b, i, j): (usize, usize, usize), read: bool, change: impl Fn(T) -> T) {
        let place = self.out.place(b, i, j);
        let old = if read {
            // SAFETY: an element of the output that is this task's alone.
            unsafe { place.read() }
        } else {
            T::default()
        };
        // SAFETY: as above.
        unsafe { place.write(change(old)) };
    }

    /// Whether the factors are conjugated as they are read.
    pub(crate) const fn conjugated(&self) -> (bool, bool) {
        (self.lhs.conjugated, self.rhs.conjugated)
    }

    /// Computes the outputs tile by tile: `compute` gets the number of the product, the tile's rows
    /// and columns and its sums, row after row, to be added to; `finish` makes an output element of
    /// a sum and, where `read`, of what was there. Tiles are spread over threads from twice `grain`
    /// tiles up.
    pub(crate) fn by_tiles<A: Plain>(
        &self,
        batch: usize,
        grain: usize,
        read: bool,
        compute: impl Fn(usize, Range<usize>, Range<usize>, &mut [[A; TILE]; TILE]) + Sync,
        finish: impl Fn(A, T) -> T + Sync,
    ) {
        let (down, across) = (self.m.div_ceil(TILE), self.n.div_ceil(TILE));
        parallel::for_ranges(batch * down * across, grain, 1, |tiles| {
            for tile in tiles {
                let (b, tile) = (tile / (down * across), tile % (down * across));
                let (i, j) = (tile / across * TILE, tile % across * TILE);
                let (rows, columns) = (i..self.m.min(i + TILE), j..self.n.min(j + TILE));
                let mut sums = [[A::default(); TILE]; TILE];
                compute(b, rows.clone(), columns.clone(), &mut sums);
                for (i, sums) in rows.zip(&sums) {
                    for (j, &sum) in columns.clone().zip(sums) {
                        self.rewrite((b, i, j), read, |old| finish(sum, old));
                    }
                }
            }
        });
    }
}

impl<T: Plain> Matrices<'_, T> {
    #[inline(always)]
    const fn place(&self, b: usize, i: usize, j: usize) -> *mut T {
        let at = i.cast_signed() * self.rows + j.cast_signed() * self.columns;
        self.of(b).wrapping_offset(at)
    }

    #[inline(always)]
    fn read(&self, b: usize, i: usize, j: usize, rows: usize, columns: usize) -> T {
        assert!(i < rows && j < columns, "outside the matrix");
        // SAFETY: an element of a factor, which nothing writes meanwhile.
        unsafe { self.place(b, i, j).read() }
    }
}
