//! Numerics that went wrong elsewhere and have a name: each is one line of public bug reports.

use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Rng, number, specials};
use crate::layout::{Array, Layout};
use crate::outcome::{Outcome, Stop, equal};
use crate::reference;
use crate::value::{Val, least_normal};
use gpu_seam::{
    ArgOp, BinaryOp, DType, Execute, Op, Operand, ReduceOp, ScanOp, Subnormals, UnaryOp,
};

fn reals(values: &[f64]) -> Vec<Val> {
    values.iter().copied().map(Val::Real).collect()
}

/// Subnormals in arithmetic are kept, or flushed to zero of their sign, as the capabilities say.
pub(crate) fn subnormals_as_declared<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let tiny = least_normal(dtype);
    let input = Array::line(
        dtype,
        &reals(&[tiny / 2.0, -tiny / 2.0, tiny, -tiny * 0.75]),
    );
    let out = Array::blank(dtype, Layout::contiguous(&[4]));
    let (lhs, half) = (Operand::View(input.view()), Val::Real(0.5).scalar(dtype));
    let rhs = Operand::Scalar(half);
    let op = Op::Binary {
        op: BinaryOp::Mul,
        out: out.view(),
        lhs,
        rhs,
    };
    let launched = cx.launch(&op, &out, &[&input])?;
    let want = input.values().into_iter();
    let want: Vec<_> = want
        .map(|x| reference::binary(BinaryOp::Mul, dtype, x, Val::Real(0.5)))
        .collect();
    judge(
        dtype,
        &launched.out.values(),
        &want,
        Tolerance::Exact,
        cx.capabilities().subnormals,
    )
}

/// A reduction of one line.
fn reduced<V: Execute>(
    cx: &Cx<V>,
    op: ReduceOp,
    from: DType,
    to: DType,
    line: &[Val],
) -> Result<Val, Stop> {
    let input = Array::new(from, Layout::contiguous(&[1, line.len(), 1]), line);
    let out = Array::blank(to, Layout::contiguous(&[1, 1]));
    let op = Op::Reduce {
        op,
        out: out.view(),
        input: input.view(),
    };
    Ok(cx.launch(&op, &out, &[&input])?.out.values()[0])
}

/// Sums of f16 and bf16 are kept in f32 and rounded once: no saturation on the way.
pub(crate) fn narrow_sums<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let table = match dtype {
        DType::F16 => vec![(20_000, 20_000.0), (70_000, f64::INFINITY)],
        _ => vec![(70_000, 70_144.0)],
    };
    for (count, want) in table {
        let got = reduced(
            cx,
            ReduceOp::Sum,
            dtype,
            dtype,
            &vec![Val::Real(1.0); count],
        )?;
        equal(&format!("{count} ones"), got, Val::Real(want))?;
    }
    Ok(())
}

/// Sums and products of integers are i64, and counting trues does not wrap at a byte.
pub(crate) fn wide_integer_sums<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let greatest = crate::value::bounds(dtype).1;
    let value = if dtype == DType::Bool {
        Val::Bool(true)
    } else {
        Val::Int(greatest)
    };
    let got = reduced(cx, ReduceOp::Sum, dtype, DType::I64, &vec![value; 5000])?;
    equal(
        "the sum of 5000",
        got,
        Val::Int(5000 * greatest).rounded(DType::I64),
    )
}

/// NaN wins a minimum or maximum wherever it stands in a long line, and alone.
pub(crate) fn nan_wins_anywhere<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    for op in [ReduceOp::Min, ReduceOp::Max] {
        for count in [1, 2, 33, 10_000] {
            for place in [0, count / 2, count - 1] {
                let mut line = reals(&vec![1.0; count]);
                line[place] = Val::Real(f64::NAN);
                let got = reduced(cx, op, dtype, dtype, &line)?;
                judge(
                    dtype,
                    &[got],
                    &[Val::Real(f64::NAN)],
                    Tolerance::Exact,
                    Subnormals::Kept,
                )
                .map_err(|stop| stop.within(format!("{op} with NaN at {place} of {count}")))?;
            }
        }
    }
    Ok(())
}

/// All-negative lines: no idle lane's zero wins a maximum, no idle lane's one joins a product.
pub(crate) fn negative_lines<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    for count in [1, 2, 3, 17, 31, 32, 33, 63, 64, 65, 1023, 1025] {
        let mut line = vec![number(dtype, -100); count];
        line[0] = number(dtype, -99);
        equal(
            &format!("max of {count}"),
            reduced(cx, ReduceOp::Max, dtype, dtype, &line)?,
            line[0],
        )?;
        let line = vec![number(dtype, 100); count];
        equal(
            &format!("min of {count}"),
            reduced(cx, ReduceOp::Min, dtype, dtype, &line)?,
            line[0],
        )?;
    }
    Ok(())
}

/// argmax of zeros of both signs is the first; the smallest subnormal wins over them where kept.
pub(crate) fn argmax_of_zeros<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let tiny = least_normal(dtype) * crate::value::epsilon(dtype);
    let kept = if cx.keeps_subnormals() {
        Some((reals(&[-1.0, -0.0, tiny]), 2))
    } else {
        None
    };
    let cases = [(reals(&[-0.0, 0.0]), 0), (reals(&[0.0, -0.0]), 0)];
    for (line, want) in cases.into_iter().chain(kept) {
        let input = Array::new(dtype, Layout::contiguous(&[1, line.len(), 1]), &line);
        let out = Array::blank(DType::I64, Layout::contiguous(&[1, 1]));
        let op = Op::ArgReduce {
            op: ArgOp::ArgMax,
            out: out.view(),
            input: input.view(),
        };
        let launched = cx.launch(&op, &out, &[&input])?;
        equal(
            &format!("argmax of {line:?}"),
            launched.out.values()[0],
            Val::Int(want),
        )?;
    }
    Ok(())
}

/// A running maximum is NaN from the first NaN on.
pub(crate) fn cummax_after_nan<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let line = reals(&[1.0, f64::NAN, 5.0]);
    let input = Array::new(dtype, Layout::contiguous(&[1, 3, 1]), &line);
    let out = Array::blank(dtype, Layout::contiguous(&[1, 3, 1]));
    let op = Op::Scan {
        op: ScanOp::Max,
        out: out.view(),
        input: input.view(),
    };
    let launched = cx.launch(&op, &out, &[&input])?;
    let want = reals(&[1.0, f64::NAN, f64::NAN]);
    judge(
        dtype,
        &launched.out.values(),
        &want,
        Tolerance::Exact,
        Subnormals::Kept,
    )
}

/// A function of given values.
fn applied<V: Execute>(
    cx: &Cx<V>,
    op: UnaryOp,
    dtype: DType,
    values: &[Val],
) -> Result<Vec<Val>, Stop> {
    let input = Array::line(dtype, values);
    let to = crate::checks::elementwise::unary_output(op, dtype);
    let out = Array::blank(to, Layout::contiguous(&[values.len()]));
    let op = Op::Unary {
        op,
        out: out.view(),
        input: input.view(),
    };
    Ok(cx.launch(&op, &out, &[&input])?.out.values())
}

/// tanh goes to 1 and stays there: no zero near 44, no NaN above.
pub(crate) fn tanh_saturates<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let input = reals(&[
        40.0,
        43.9,
        44.4,
        100.0,
        1000.0,
        -1000.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    let want = reals(&[1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, f64::NAN]);
    let got = applied(cx, UnaryOp::Tanh, dtype, &input)?;
    judge(
        dtype,
        &got,
        &want,
        Tolerance::Near {
            ulps: 1.0,
            abs: 0.0,
        },
        Subnormals::Kept,
    )
}

/// The test for NaN is made on bits: no NaN of any payload escapes it, and no infinity is caught.
pub(crate) fn nan_test_on_bits<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let inf = Val::Real(f64::INFINITY).bits(dtype);
    let sign = 1u128 << (8 * dtype.size() - 1);
    let bits = [
        inf,
        inf | 1,
        inf | sign,
        inf | sign | 1,
        sign - 1,
        0,
        sign,
        1,
        inf - 1,
    ];
    let mut input = Array::blank(dtype, Layout::contiguous(&[bits.len()]));
    for (at, bits) in bits.iter().enumerate() {
        input.put_bits(at, *bits);
    }
    let out = Array::blank(DType::Bool, Layout::contiguous(&[bits.len()]));
    let op = Op::Unary {
        op: UnaryOp::IsNan,
        out: out.view(),
        input: input.view(),
    };
    let got = cx.launch(&op, &out, &[&input])?.out.bits();
    equal("is_nan", got, vec![0, 1, 0, 1, 1, 0, 0, 0, 0])
}

/// |z| and 1/z do not square on the way: large and small numbers come out right.
pub(crate) fn complex_without_overflow<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let (large, small) = match dtype {
        DType::Complex64 => (1e30, 1e-30),
        _ => (1e200, 1e-200),
    };
    let parts = [
        (large, large),
        (3.0 * small, 4.0 * small),
        (large, small),
        (-large, 1.0),
        (0.0, -large),
    ];
    let values: Vec<_> = parts
        .iter()
        .map(|&(re, im)| Val::Complex(re, im).rounded(dtype))
        .collect();
    for op in [UnaryOp::Abs, UnaryOp::Recip, UnaryOp::Sqrt, UnaryOp::Log] {
        let want: Vec<_> = values
            .iter()
            .map(|x| reference::unary(op, dtype, *x))
            .collect();
        let to = crate::checks::elementwise::unary_output(op, dtype);
        let abs = if op == UnaryOp::Log { 1e-5 } else { 0.0 };
        let tolerance = Tolerance::Near { ulps: 16.0, abs };
        judge(
            to,
            &applied(cx, op, dtype, &values)?,
            &want,
            tolerance,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within(op))?;
    }
    let input = Array::line(dtype, &values);
    let out = Array::blank(dtype, Layout::contiguous(&[values.len()]));
    let view = Operand::View(input.view());
    let op = Op::Binary {
        op: BinaryOp::Div,
        out: out.view(),
        lhs: view,
        rhs: view,
    };
    let want = vec![Val::Complex(1.0, 0.0); values.len()];
    let got = cx.launch(&op, &out, &[&input, &input])?.out.values();
    judge(
        dtype,
        &got,
        &want,
        Tolerance::Near {
            ulps: 16.0,
            abs: 0.0,
        },
        Subnormals::Kept,
    )
    .map_err(|stop| stop.within("z / z"))
}

/// Every special survives a way through the device and a select, bit for bit.
pub(crate) fn specials_travel<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(1);
    let mut values = specials(dtype, true);
    let turn = rng.below(values.len());
    values.rotate_left(turn);
    let input = Array::line(dtype, &values);
    let out = Array::blank(dtype, Layout::contiguous(&[values.len()]));
    let op = Op::Copy {
        out: out.view(),
        input: input.view(),
    };
    equal(
        "the bits",
        cx.launch(&op, &out, &[&input])?.out.bits(),
        input.bits(),
    )
}
