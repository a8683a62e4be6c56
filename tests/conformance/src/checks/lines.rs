//! Reduce, arg-reduce and scan: everything that runs along lines.

use crate::checks::moves::{SIZES, clean_bools};
use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, number, values};
use crate::layout::{Array, Form, Layout};
use crate::outcome::Outcome;
use crate::reference;
use crate::value::{Val, epsilon, least_normal};
use gpu_seam::{ArgOp, DType, Execute, Op, ReduceOp, ScanOp};

/// What a reduction or scan may give, the type's own first.
pub(crate) fn sums_to(from: DType) -> &'static [DType] {
    match from {
        DType::F16 => &[DType::F16, DType::F32],
        DType::BF16 => &[DType::BF16, DType::F32],
        DType::F32 => &[DType::F32],
        DType::F64 => &[DType::F64],
        DType::Complex64 => &[DType::Complex64],
        DType::Complex128 => &[DType::Complex128],
        _ => &[DType::I64, DType::F64],
    }
}

/// What lines are filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Small integers: sums are exact whatever their order.
    Exact,
    /// Ones, minus ones and a few twos: products are exact.
    Factors,
    /// Random numbers, to be judged with a tolerance.
    Random,
    /// Specials and random values, no NaN.
    Ordered,
    /// The same with NaN among them.
    WithNan,
    /// Zeros with one that is not, or the reverse.
    Truths(bool),
}

fn load(dtype: DType, load: Load, count: usize, rng: &mut Rng, kept: bool) -> Vec<Val> {
    let kind = match load {
        Load::Ordered | Load::WithNan => Kind::Any,
        Load::Random => Kind::Unit,
        _ => Kind::Small,
    };
    let mut values = values(dtype, kind, count, rng, kept);
    let zero = Val::zero(dtype);
    match load {
        Load::Factors => {
            let signed = !matches!(dtype, DType::Bool | DType::U8 | DType::U32);
            for value in &mut values {
                let minus = signed && rng.next() & 1 == 1;
                *value = number(dtype, if minus { -1 } else { 1 });
            }
            for _ in 0..(count / 3).min(6) {
                let at = rng.below(count);
                values[at] = number(dtype, 2);
            }
        }
        Load::Ordered => values
            .iter_mut()
            .filter(|x| x.is_nan())
            .for_each(|x| *x = zero),
        Load::WithNan => {
            // The specials come in a place of their own; elsewhere there is one NaN or none.
            values.rotate_right(count / 2);
        }
        Load::Truths(truth) => {
            values.fill(if truth { number(dtype, 1) } else { zero });
            let at = rng.below(count);
            values[at] = if truth { zero } else { number(dtype, 1) };
        }
        Load::Exact | Load::Random => {}
    }
    values
}

/// Shapes `(outer, line, inner)` and forms of output and input.
fn cases<V: Execute>(cx: &Cx<V>, dtype: DType) -> Vec<([usize; 3], Form, Form)> {
    let plain = (Form::Contiguous, Form::Contiguous);
    let sizes = SIZES
        .into_iter()
        .filter(|size| size * dtype.size() <= cx.capabilities().max_operand_bytes);
    let mut cases: Vec<_> = sizes.map(|size| ([1, size, 1], plain.0, plain.1)).collect();
    for dims in [
        [5, 33, 1],
        [1, 17, 7],
        [4, 65, 3],
        [33, 2, 33],
        [7, 1, 5],
        [300, 3, 1],
        [1, 3, 300],
        [2, 1000, 2],
    ] {
        cases.push((dims, plain.0, plain.1));
    }
    for form in Form::INPUTS {
        cases.push(([3, 9, 4], Form::Contiguous, form));
    }
    for form in Form::OUTPUTS {
        cases.push(([4, 7, 3], form, Form::Reversed));
    }
    cases
}

/// The lines of values laid out as `[outer, line, inner]`, in the order of `[outer, inner]`.
fn lines(values: &[Val], [outer, line, inner]: [usize; 3]) -> Vec<Vec<Val>> {
    let starts = (0..outer).flat_map(|o| (0..inner).map(move |i| o * line * inner + i));
    starts
        .map(|start| (0..line).map(|at| values[start + at * inner]).collect())
        .collect()
}

/// How near the sum of a line must be: its rounding errors grow with what is added up.
fn sum_tolerance(load: Load, dtype: DType, out: DType, longest: usize) -> Tolerance {
    match load {
        Load::Random => {
            let wide = if matches!(dtype, DType::F16 | DType::BF16) {
                DType::F32
            } else {
                dtype
            };
            let ulps = if out == wide || dtype == out {
                1.0
            } else {
                2.0
            };
            Tolerance::Near {
                ulps,
                abs: 2.0 * epsilon(wide) * longest as f64 + least_normal(out),
            }
        }
        _ => Tolerance::Value,
    }
}

/// A reduction from `dtype` to `out`.
pub(crate) fn reduce<V: Execute>(cx: &Cx<V>, op: ReduceOp, dtype: DType, out: DType) -> Outcome {
    let loads: &[Load] = match op {
        ReduceOp::Prod => &[Load::Factors],
        ReduceOp::Min | ReduceOp::Max => &[Load::Ordered, Load::WithNan],
        ReduceOp::Any => &[Load::Truths(false), Load::Exact],
        ReduceOp::All => &[Load::Truths(true), Load::Exact],
        _ if dtype.is_float() || dtype.is_complex() => &[Load::Exact, Load::Random],
        _ => &[Load::Exact],
    };
    let mut rng = Rng::new(0x44);
    for (dims, to, from) in cases(cx, dtype) {
        for &kind in loads {
            let count = dims.iter().product();
            let values = load(dtype, kind, count, &mut rng, cx.keeps_subnormals());
            let input = Array::new(dtype, from.of(&dims), &values);
            let output = Array::blank(out, to.of(&[dims[0], dims[2]]));
            let canonical = Op::Reduce {
                op,
                out: output.view(),
                input: input.view(),
            };
            let launched = cx.launch(&canonical, &output, &[&input])?;
            clean_bools(&launched.out)?;
            let lines = lines(&input.values(), dims).into_iter();
            let want: Vec<_> = lines
                .map(|line| reference::reduce(op, out, &line))
                .collect();
            let tolerance = sum_tolerance(kind, dtype, out, dims[1]);
            judge(
                out,
                &launched.out.values(),
                &want,
                tolerance,
                cx.capabilities().subnormals,
            )
            .map_err(|stop| stop.within(format!("{kind:?} {dims:?} {from:?} to {to:?}")))?;
        }
    }
    Ok(())
}

/// The positions of extremes: ties, NaN, all forms.
pub(crate) fn arg_reduce<V: Execute>(cx: &Cx<V>, op: ArgOp, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0x55);
    for (dims, to, from) in cases(cx, dtype) {
        for kind in [Load::Exact, Load::Ordered, Load::WithNan] {
            let count = dims.iter().product();
            let values = load(dtype, kind, count, &mut rng, cx.keeps_subnormals());
            let input = Array::new(dtype, from.of(&dims), &values);
            let output = Array::blank(DType::I64, to.of(&[dims[0], dims[2]]));
            let canonical = Op::ArgReduce {
                op,
                out: output.view(),
                input: input.view(),
            };
            let launched = cx.launch(&canonical, &output, &[&input])?;
            let lines = lines(&input.values(), dims).into_iter();
            let want: Vec<_> = lines.map(|line| reference::arg_reduce(op, &line)).collect();
            let got = launched.out.values();
            judge(
                DType::I64,
                &got,
                &want,
                Tolerance::Exact,
                cx.capabilities().subnormals,
            )
            .map_err(|stop| stop.within(format!("{kind:?} {dims:?} {from:?} to {to:?}")))?;
        }
    }
    Ok(())
}

/// A running reduction from `dtype` to `out`.
pub(crate) fn scan<V: Execute>(cx: &Cx<V>, op: ScanOp, dtype: DType, out: DType) -> Outcome {
    let loads: &[Load] = match op {
        ScanOp::Prod => &[Load::Factors],
        ScanOp::Min | ScanOp::Max => &[Load::Ordered, Load::WithNan],
        _ if dtype.is_float() || dtype.is_complex() => &[Load::Exact, Load::Random],
        _ => &[Load::Exact],
    };
    let mut rng = Rng::new(0x66);
    for (dims, to, from) in cases(cx, dtype) {
        for &kind in loads {
            let count = dims.iter().product();
            let values = load(dtype, kind, count, &mut rng, cx.keeps_subnormals());
            let input = Array::new(dtype, from.of(&dims), &values);
            let output = Array::blank(out, to.of(&dims));
            let canonical = Op::Scan {
                op,
                out: output.view(),
                input: input.view(),
            };
            let launched = cx.launch(&canonical, &output, &[&input])?;
            clean_bools(&launched.out)?;
            let got = lines(&launched.out.values(), dims);
            for (at, line) in lines(&input.values(), dims).into_iter().enumerate() {
                let want = reference::scan(op, out, &line);
                let tolerance = sum_tolerance(kind, dtype, out, dims[1]);
                judge(
                    out,
                    &got[at],
                    &want,
                    tolerance,
                    cx.capabilities().subnormals,
                )
                .map_err(|stop| {
                    stop.within(format!("{kind:?} line {at} of {dims:?} {from:?} to {to:?}"))
                })?;
            }
        }
    }
    Ok(())
}

/// The whole of a line far beyond one block, as exact sums: f32 ones and bools.
pub(crate) fn long_sum_f32<V: Execute>(cx: &Cx<V>) -> Outcome {
    let most = cx.capabilities().max_operand_bytes / 4;
    let count = 1_000_003.min(most);
    let ones = vec![Val::Real(1.0); count];
    let input = Array::new(DType::F32, Layout::contiguous(&[1, count, 1]), &ones);
    let out = Array::blank(DType::F32, Layout::contiguous(&[1, 1]));
    let op = Op::Reduce {
        op: ReduceOp::Sum,
        out: out.view(),
        input: input.view(),
    };
    let launched = cx.launch(&op, &out, &[&input])?;
    let want = [Val::Real(count as f64)];
    judge(
        DType::F32,
        &launched.out.values(),
        &want,
        Tolerance::Value,
        cx.capabilities().subnormals,
    )
}
