//! Matrix products against the triple loop.

use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, number, values};
use crate::layout::{Array, Layout};
use crate::outcome::Outcome;
use crate::reference::{binary, unary};
use crate::value::{Val, epsilon};
use gpu_seam::{BinaryOp, DType, Execute, Gemm, Matrix, Op, UnaryOp};

/// One product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product {
    pub(crate) batch: usize,
    pub(crate) mnk: [usize; 3],
    /// Whether lhs and rhs are stored transposed.
    pub(crate) transposed: [bool; 2],
    /// Whether lhs and rhs are conjugated.
    pub(crate) conjugated: [bool; 2],
    /// Elements by which the rows of lhs, rhs and out are longer than needed.
    pub(crate) padding: [usize; 3],
    /// Elements before lhs, rhs and out.
    pub(crate) offsets: [usize; 3],
    /// Whether one lhs, one rhs serves the whole batch.
    pub(crate) shared: [bool; 2],
    pub(crate) alpha: i32,
    pub(crate) beta: i32,
}

impl Product {
    /// A single plain product.
    pub(crate) const fn plain(mnk: [usize; 3]) -> Self {
        Self {
            batch: 1,
            mnk,
            transposed: [false; 2],
            conjugated: [false; 2],
            padding: [0; 3],
            offsets: [0; 3],
            shared: [false; 2],
            alpha: 1,
            beta: 0,
        }
    }
}

/// How one matrix of a product is stored: as an array of `[batch, rows, columns]` and its
/// descriptor.
fn stored(
    (batch, rows, columns): (usize, usize, usize),
    (padding, offset): (usize, usize),
    transposed: bool,
    conjugated: bool,
    shared: bool,
) -> (Layout, Matrix) {
    let (stored_rows, stored_columns) = if transposed {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let ld = stored_columns.max(1) + padding;
    let size = stored_rows * ld + padding;
    let batch_stride = if shared { 0 } else { size.cast_signed() };
    let row_stride = ld.cast_signed();
    let strides = if transposed {
        [batch_stride, 1, row_stride]
    } else {
        [batch_stride, row_stride, 1]
    };
    let copies = if shared { 1 } else { batch };
    let layout = Layout {
        dims: vec![batch, rows, columns],
        strides: strides.to_vec(),
        offset,
        // A k of 0 leaves no element; the argument is there all the same.
        span: offset + (copies * size).max(1),
    };
    (
        layout,
        Matrix {
            offset,
            ld,
            batch_stride,
            transposed,
            conjugated,
        },
    )
}

/// Runs one product of `kind` values and judges it; `before` is what the output holds, small random
/// values where nothing else is asked.
pub(crate) fn product<V: Execute>(
    cx: &Cx<V>,
    dtype: DType,
    case: Product,
    kind: Kind,
    before: Option<Val>,
    rng: &mut Rng,
) -> Outcome {
    let Product {
        batch,
        mnk: [m, n, k],
        transposed,
        conjugated,
        padding,
        offsets,
        ..
    } = case;
    let place = |at: usize| (padding[at], offsets[at]);
    let (lhs_layout, lhs) = stored(
        (batch, m, k),
        place(0),
        transposed[0],
        conjugated[0],
        case.shared[0],
    );
    let (rhs_layout, rhs) = stored(
        (batch, k, n),
        place(1),
        transposed[1],
        conjugated[1],
        case.shared[1],
    );
    let (out_layout, out) = stored((batch, m, n), place(2), false, false, false);
    let mut array = |layout: Layout, kind: Kind| {
        let values = values(dtype, kind, layout.elements(), rng, true);
        Array::new(dtype, layout, &values)
    };
    let a = array(lhs_layout, kind);
    let b = array(rhs_layout, kind);
    let c = match before {
        Some(value) => Array::new(dtype, out_layout.clone(), &vec![value; batch * m * n]),
        None => array(out_layout, Kind::Small),
    };
    let (alpha, beta) = (number(dtype, case.alpha), number(dtype, case.beta));
    let (alpha_bits, beta_bits) = (alpha.scalar(dtype), beta.scalar(dtype));
    let gemm = Gemm {
        dtype,
        batch,
        m,
        n,
        k,
        alpha: alpha_bits,
        beta: beta_bits,
        out,
        lhs,
        rhs,
    };
    let launched = cx.launch(&Op::Gemm(gemm), &c, &[&a, &b])?;
    let want = loops(dtype, &case, [&a, &b, &c]);
    let tolerance = match kind {
        Kind::Small => Tolerance::Value,
        // Rounding errors grow with the length; |alpha| and the values are at most 4.
        _ => Tolerance::Near {
            ulps: 4.0,
            abs: 16.0 * epsilon(dtype) * (k as f64 + 4.0),
        },
    };
    judge(
        dtype,
        &launched.out.values(),
        &want,
        tolerance,
        cx.capabilities().subnormals,
    )
    .map_err(|stop| stop.within(format!("{case:?}")))
}

/// The triple loop, rounded to the type once at the end (integers wrap all along).
fn loops(dtype: DType, case: &Product, [a, b, c]: [&Array; 3]) -> Vec<Val> {
    let [m, n, k] = case.mnk;
    let wide = match dtype {
        DType::F16 | DType::BF16 | DType::F32 => DType::F64,
        DType::Complex64 => DType::Complex128,
        other => other,
    };
    let conjugated = |values: Vec<Val>, conjugated: bool| -> Vec<Val> {
        let conj = |x| {
            if conjugated {
                unary(UnaryOp::Conj, wide, x)
            } else {
                x
            }
        };
        values.into_iter().map(conj).collect()
    };
    let a = conjugated(a.values(), case.conjugated[0]);
    let b = conjugated(b.values(), case.conjugated[1]);
    let old = c.values();
    let (alpha, beta) = (number(dtype, case.alpha), number(dtype, case.beta));
    let mul = |x, y| binary(BinaryOp::Mul, wide, x, y);
    let add = |x, y| binary(BinaryOp::Add, wide, x, y);
    let mut out = Vec::with_capacity(old.len());
    for batch in 0..case.batch {
        for i in 0..m {
            for j in 0..n {
                let mut sum = Val::zero(wide);
                for at in 0..k {
                    sum = add(
                        sum,
                        mul(a[(batch * m + i) * k + at], b[(batch * k + at) * n + j]),
                    );
                }
                let mut value = mul(alpha, sum);
                if beta.truth() {
                    value = add(value, mul(beta, old[out.len()]));
                }
                out.push(value.rounded(dtype));
            }
        }
    }
    out
}

/// Sizes around every block edge.
pub(crate) fn sizes<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd0);
    for mnk in [
        [1, 1, 1],
        [1, 1, 65],
        [1, 33, 1],
        [33, 1, 1],
        [2, 3, 4],
        [3, 2, 1],
        [7, 5, 3],
        [1, 64, 33],
        [64, 1, 33],
        [31, 32, 33],
        [32, 32, 32],
        [33, 31, 32],
        [64, 64, 64],
        [65, 63, 64],
        [16, 128, 17],
        [2, 2, 200],
        [130, 3, 5],
    ] {
        product(cx, dtype, Product::plain(mnk), Kind::Small, None, &mut rng)?;
    }
    if dtype.is_float() || dtype.is_complex() {
        for mnk in [[5, 7, 9], [33, 34, 65], [1, 1, 1000]] {
            product(cx, dtype, Product::plain(mnk), Kind::Unit, None, &mut rng)?;
        }
    }
    Ok(())
}

/// Transposed factors, padded rows, offsets, conjugates.
pub(crate) fn forms<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd1);
    let flags = [[false, false], [true, false], [false, true], [true, true]];
    for mnk in [[5, 7, 3], [17, 1, 33], [1, 17, 5], [34, 33, 9]] {
        for transposed in flags {
            let plain = Product {
                transposed,
                ..Product::plain(mnk)
            };
            let kind = Kind::Small;
            product(cx, dtype, plain, kind, None, &mut rng)?;
            product(
                cx,
                dtype,
                Product {
                    padding: [3, 1, 2],
                    ..plain
                },
                kind,
                None,
                &mut rng,
            )?;
            product(
                cx,
                dtype,
                Product {
                    offsets: [1, 5, 3],
                    ..plain
                },
                kind,
                None,
                &mut rng,
            )?;
            if dtype.is_complex() {
                for conjugated in flags {
                    let case = Product {
                        conjugated,
                        padding: [1, 0, 4],
                        ..plain
                    };
                    product(cx, dtype, case, kind, None, &mut rng)?;
                }
            }
        }
    }
    Ok(())
}

/// Batches, with a factor that is shared by all, and padding between matrices.
pub(crate) fn batches<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd2);
    for shared in [[false, false], [true, false], [false, true], [true, true]] {
        for (batch, mnk) in [
            (2, [3, 4, 5]),
            (10, [2, 4, 3]),
            (3, [33, 17, 32]),
            (32, [1, 1, 7]),
        ] {
            let plain = Product {
                batch,
                shared,
                ..Product::plain(mnk)
            };
            product(cx, dtype, plain, Kind::Small, None, &mut rng)?;
            let case = Product {
                padding: [2, 3, 1],
                transposed: [true, true],
                ..plain
            };
            product(cx, dtype, case, Kind::Small, None, &mut rng)?;
        }
    }
    Ok(())
}

/// Factors of the product and of what was there.
pub(crate) fn scales<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xd3);
    let signed = !matches!(dtype, DType::Bool | DType::U8 | DType::U32);
    let minus = if signed { -1 } else { 3 };
    for (alpha, beta) in [
        (1, 1),
        (2, 0),
        (0, 1),
        (0, 0),
        (minus, 2),
        (2, minus),
        (1, minus),
    ] {
        for mnk in [[5, 7, 3], [33, 34, 17]] {
            let case = Product {
                alpha,
                beta,
                padding: [0, 0, 2],
                ..Product::plain(mnk)
            };
            product(cx, dtype, case, Kind::Small, None, &mut rng)?;
            let case = Product {
                batch: 3,
                transposed: [true, false],
                ..case
            };
            product(cx, dtype, case, Kind::Small, None, &mut rng)?;
        }
    }
    Ok(())
}
