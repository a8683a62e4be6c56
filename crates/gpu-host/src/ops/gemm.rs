//! Matrix products.
//!
//! Promises [`Op::Gemm`](gpu_seam::Op::Gemm): f32, f64 and complex by the `gemm` library; f16 and
//! bf16 with f32 sums, rounded once at the end; integers wrapping; bool as or of ands. With `beta`
//! zero the output is not read. Knows nothing of pointers: those are
//! [`raw::product`](super::raw::product)'s.

use super::cast::Cast;
use super::element::{Bool, C64, C128, bf16, f16};
use super::math::wide;
use super::number::{Conjugate, Number};
use super::raw::Args;
use super::raw::product::{Library, NARROW, TILE};
use gpu_seam::{DType, Gemm};

/// Multiplications for each task of the types that the library does not serve.
const GRAIN: usize = 1 << 18;

/// Multiplications up to which a product is computed here, row by row.
const SMALL: usize = 512;

/// Elements of the summed dimension that are packed at a time.
const DEPTH: usize = 64;

/// `out = alpha * lhs · rhs + beta * out`; `None` when it is not served.
pub(super) fn execute(args: &Args<'_>, gemm: &Gemm) -> Option<()> {
    match gemm.dtype {
        DType::Bool => packed::<Bool, Bool>(args, gemm),
        DType::U8 => packed::<u8, u8>(args, gemm),
        DType::I8 => packed::<i8, i8>(args, gemm),
        DType::U32 => packed::<u32, u32>(args, gemm),
        DType::I32 => packed::<i32, i32>(args, gemm),
        DType::I64 => packed::<i64, i64>(args, gemm),
        DType::F16 => packed::<f16, f32>(args, gemm),
        DType::BF16 => packed::<bf16, f32>(args, gemm),
        DType::F32 => library::<f32>(args, gemm),
        DType::F64 => library::<f64>(args, gemm),
        DType::Complex64 => library::<C64>(args, gemm),
        DType::Complex128 => library::<C128>(args, gemm),
        _ => return None,
    }
    Some(())
}

/// The output's factor, or `None` when the output is not to be read.
fn kept<T: Number>(gemm: &Gemm) -> Option<T> {
    let beta = T::from_scalar(gemm.beta);
    beta.truth().then_some(beta)
}

fn library<T: Number + Library + Conjugate>(args: &Args<'_>, gemm: &Gemm) {
    let product = args.product::<T>(gemm);
    let (alpha, beta) = (T::from_scalar(gemm.alpha), kept::<T>(gemm));
    if gemm.n > NARROW || gemm.m * gemm.n * gemm.k > SMALL {
        return product.multiply_all(gemm.batch, alpha, beta);
    }
    // Shorter than the library's way to its kernels.
    let (conjugate_left, conjugate_right) = product.conjugated();
    let turned = |x: T, turn: bool| if turn { x.conjugate() } else { x };
    let grain = GRAIN / SMALL;
    product.by_rows(
        gemm.batch,
        grain,
        beta.is_some(),
        |b, i, sums| {
            for p in 0..gemm.k {
                let left = turned(product.lhs(b, i, p), conjugate_left);
                for (j, sum) in sums.iter_mut().enumerate() {
                    let right = turned(product.rhs(b, p, j), conjugate_right);
                    *sum = sum.add(left.mul(right));
                }
            }
        },
        |sum, old| match beta {
            Some(beta) => alpha.mul(sum).add(beta.mul(old)),
            None => alpha.mul(sum),
        },
    );
}

/// A product with sums of type `A`, by tiles: strips of both factors are packed as `A`.
fn packed<T: Number + Cast<A>, A: Number + Cast<T>>(args: &Args<'_>, gemm: &Gemm) {
    let product = args.product::<T>(gemm);
    let alpha: A = T::from_scalar(gemm.alpha).cast();
    let beta: Option<A> = kept::<T>(gemm).map(Cast::cast);
    let grain = GRAIN / (TILE * TILE * gemm.k.max(1)) + 1;
    product.by_tiles(
        gemm.batch,
        grain,
        beta.is_some(),
        |b, rows, columns, sums: &mut [[A; TILE]; TILE]| {
            let mut left = [[A::default(); DEPTH]; TILE];
            let mut right = [[A::default(); TILE]; DEPTH];
            for start in (0..gemm.k).step_by(DEPTH) {
                let depth = start..gemm.k.min(start + DEPTH);
                for (left, i) in left.iter_mut().zip(rows.clone()) {
                    for (x, p) in left.iter_mut().zip(depth.clone()) {
                        *x = product.lhs(b, i, p).cast();
                    }
                }
                for (right, p) in right.iter_mut().zip(depth.clone()) {
                    for (x, j) in right.iter_mut().zip(columns.clone()) {
                        *x = product.rhs(b, p, j).cast();
                    }
                }
                tile(&left[..rows.len()], &right[..depth.len()], sums);
            }
        },
        |sum, old| match beta {
            Some(beta) => alpha.mul(sum).add(beta.mul(old.cast())).cast(),
            None => alpha.mul(sum).cast(),
        },
    );
}

/// Adds the product of packed strips to `sums`.
fn tile<A: Number>(left: &[[A; DEPTH]], right: &[[A; TILE]], sums: &mut [[A; TILE]; TILE]) {
    wide(|| {
        for (sums, left) in sums.iter_mut().zip(left) {
            for (&a, right) in left.iter().zip(right) {
                for (sum, &b) in sums.iter_mut().zip(right) {
                    *sum = sum.add(a.mul(b));
                }
            }
        }
    });
}
