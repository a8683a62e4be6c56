//! Matrix products at their edges: nothing to sum, stale NaN, integers that wrap, long sums.

use crate::checks::gemm::{Product, product};
use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, number};
use crate::layout::{Array, Layout};
use crate::outcome::{Outcome, Stop};
use crate::value::{Val, bounds};
use gpu_seam::{DType, Execute, Family, Gemm, Matrix, Op, Scalar};

/// A `k` of 0 leaves `beta` times what was there; with `beta` 0 that is zero.
pub(crate) fn empty_sum<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd4);
    for beta in [0, 1, 2] {
        for batch in [1, 10] {
            let case = Product {
                batch,
                beta,
                padding: [0, 0, 1],
                ..Product::plain([3, 5, 0])
            };
            product(cx, dtype, case, Kind::Small, None, &mut rng)?;
        }
    }
    Ok(())
}

/// With `beta` 0, what the output held is not read: no NaN or infinity comes through, at any edge.
pub(crate) fn stale_nan<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd5);
    let stale = |x: f64| {
        if dtype.is_complex() {
            Val::Complex(x, x)
        } else {
            Val::Real(x)
        }
    };
    for mnk in [
        [5, 7, 3],
        [4, 4, 4],
        [65, 65, 3],
        [1, 1, 1],
        [33, 1, 70],
        [3, 3, 0],
    ] {
        for value in [f64::NAN, f64::INFINITY] {
            let before = Some(stale(value));
            for transposed in [[false, false], [true, true]] {
                let case = Product {
                    transposed,
                    ..Product::plain(mnk)
                };
                product(cx, dtype, case, Kind::Small, before, &mut rng)?;
                let scaled = Product {
                    alpha: 2,
                    batch: 2,
                    ..case
                };
                product(cx, dtype, scaled, Kind::Small, before, &mut rng)?;
            }
        }
    }
    Ok(())
}

/// Integer products and sums wrap.
pub(crate) fn wraps<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let greatest = Val::Int(bounds(dtype).1);
    let a = Array::new(dtype, Layout::contiguous(&[1, 1, 3]), &[greatest; 3]);
    let b = Array::new(dtype, Layout::contiguous(&[1, 3, 1]), &[greatest; 3]);
    let out = Array::blank(dtype, Layout::contiguous(&[1, 1, 1]));
    let (alpha, beta) = (Scalar::one(dtype), Scalar::zero(dtype));
    let [lhs, rhs, result] = [3, 1, 1].map(row);
    let gemm = Gemm {
        dtype,
        batch: 1,
        m: 1,
        n: 1,
        k: 3,
        alpha,
        beta,
        out: result,
        lhs,
        rhs,
    };
    let launched = cx.launch(&Op::Gemm(gemm), &out, &[&a, &b])?;
    // The greatest is -1 modulo 2^bits where unsigned, and its square is 1; signed, it is
    // 2^(bits-1) - 1, whose square is 1 modulo 2^bits too.
    let want = [number(dtype, 3)];
    judge(
        dtype,
        &launched.out.values(),
        &want,
        Tolerance::Exact,
        cx.capabilities().subnormals,
    )
}

/// f16 and bf16 sums are kept in f32: thousands of ones add up, and round once.
pub(crate) fn narrow_accumulates_wide<V: Execute>(cx: &Cx<V>) -> Outcome {
    let mut served = 0;
    let table = cx.capabilities().support;
    for (dtype, k, want) in [
        (DType::F16, 20_000, 20_000.0),
        (DType::BF16, 70_000, 70_144.0),
    ] {
        if !table.serves(Family::Gemm, dtype) {
            continue;
        }
        served += 1;
        let ones = vec![Val::Real(1.0); k];
        let a = Array::new(dtype, Layout::contiguous(&[1, 1, k]), &ones);
        let b = Array::new(dtype, Layout::contiguous(&[1, k, 1]), &ones);
        let out = Array::blank(dtype, Layout::contiguous(&[1, 1, 1]));
        let (alpha, beta) = (Scalar::one(dtype), Scalar::zero(dtype));
        let [lhs, rhs, result] = [k, 1, 1].map(row);
        let gemm = Gemm {
            dtype,
            batch: 1,
            m: 1,
            n: 1,
            k,
            alpha,
            beta,
            out: result,
            lhs,
            rhs,
        };
        let launched = cx.launch(&Op::Gemm(gemm), &out, &[&a, &b])?;
        let (got, want) = (launched.out.values(), [Val::Real(want)]);
        judge(
            dtype,
            &got,
            &want,
            Tolerance::Exact,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within(dtype))?;
    }
    match served {
        0 => Err(Stop::Unsupported(String::from(
            "the table has neither f16 nor bf16 for gemm",
        ))),
        _ => Ok(()),
    }
}

const fn row(ld: usize) -> Matrix {
    Matrix {
        offset: 0,
        ld,
        batch_stride: 0,
        transposed: false,
        conjugated: false,
    }
}
