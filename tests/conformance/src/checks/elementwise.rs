//! Unary, binary, compare and select.

use crate::checks::moves::{SHAPES, any_bits, clean_bools, same_bits};
use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, specials, values};
use crate::launch::Input;
use crate::layout::{Array, Form, Layout};
use crate::outcome::Outcome;
use crate::reference;
use crate::value::{Val, epsilon, least_normal};
use gpu_seam::{BinaryOp, CompareOp, DType, Execute, Op, Operand, UnaryOp};

/// What a function of `dtype` gives.
pub(crate) const fn unary_output(op: UnaryOp, dtype: DType) -> DType {
    match op {
        UnaryOp::IsNan => DType::Bool,
        UnaryOp::Abs => dtype.real(),
        _ => dtype,
    }
}

/// Whether the function exists for the type.
pub(crate) fn has_unary(op: UnaryOp, dtype: DType) -> bool {
    match op {
        UnaryOp::Neg => dtype != DType::Bool,
        UnaryOp::Not => dtype == DType::Bool || dtype.is_integer(),
        UnaryOp::Abs | UnaryOp::Conj | UnaryOp::IsNan => true,
        _ => dtype.is_float() || dtype.is_complex(),
    }
}

/// Whether the function exists for the type.
pub(crate) fn has_binary(op: BinaryOp, dtype: DType) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Mul => true,
        BinaryOp::Sub | BinaryOp::Div => dtype != DType::Bool,
        BinaryOp::Rem => dtype != DType::Bool && !dtype.is_complex(),
        _ => !dtype.is_complex(),
    }
}

/// Whether the comparison exists for the type.
pub(crate) fn has_compare(op: CompareOp, dtype: DType) -> bool {
    matches!(op, CompareOp::Eq | CompareOp::Ne) || !dtype.is_complex()
}

/// A function may be off by what good device libraries are off by; what rounds once is exact.
fn unary_tolerance(op: UnaryOp, dtype: DType) -> Tolerance {
    let complex = dtype.is_complex();
    let ulps = match op {
        UnaryOp::Abs if complex => 4.0,
        UnaryOp::Sqrt | UnaryOp::Recip if !complex => 3.0,
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Tanh if dtype == DType::F64 => 16.0,
        // exp of large numbers loses as many bits as the number has before its point.
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Tanh | UnaryOp::Sqrt | UnaryOp::Recip => 64.0,
        _ => return Tolerance::Exact,
    };
    let narrow = matches!(dtype, DType::F16 | DType::BF16);
    let near_zero = match op {
        // A logarithm near 1 and a tangent near 0 come out of cancellation.
        UnaryOp::Log | UnaryOp::Tanh => 4.0 * epsilon(if narrow { DType::F32 } else { dtype }),
        UnaryOp::Exp if complex => 64.0 * epsilon(dtype),
        _ => 0.0,
    };
    let subnormal = 4.0 * least_normal(dtype) * epsilon(dtype);
    // Narrow types are computed in f32 and rounded once.
    let ulps = if narrow { 1.0 } else { ulps };
    Tolerance::Near {
        ulps,
        abs: near_zero + subnormal,
    }
}

fn binary_tolerance(op: BinaryOp, dtype: DType) -> Tolerance {
    let subnormal = 4.0 * least_normal(dtype) * epsilon(dtype);
    match op {
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem => Tolerance::Value,
        BinaryOp::Div if dtype.is_float() => Tolerance::Near {
            ulps: 3.0,
            abs: subnormal,
        },
        BinaryOp::Mul | BinaryOp::Div if dtype.is_complex() => Tolerance::Near {
            ulps: 16.0,
            abs: subnormal,
        },
        _ => Tolerance::Exact,
    }
}

/// A function of one element: every size, forms of both sides, specials, in place.
pub(crate) fn unary<V: Execute>(cx: &Cx<V>, op: UnaryOp, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0x11);
    let to = unary_output(op, dtype);
    let mut input_of = |layout: Layout| {
        let values = values(
            dtype,
            Kind::Any,
            layout.elements(),
            &mut rng,
            cx.keeps_subnormals(),
        );
        Array::new(dtype, layout, &values)
    };
    let judged = |out: &Array, input: &Array| {
        clean_bools(out)?;
        let want = input
            .values()
            .into_iter()
            .map(|x| reference::unary(op, dtype, x));
        let want: Vec<_> = want.collect();
        let tolerance = unary_tolerance(op, dtype);
        judge(
            to,
            &out.values(),
            &want,
            tolerance,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within(format!("{:?} to {:?}", input.layout, out.layout)))
    };
    let run = |out: Layout, input: &Array| {
        let out = Array::blank(to, out);
        let op = Op::Unary {
            op,
            out: out.view(),
            input: input.view(),
        };
        judged(&cx.launch(&op, &out, &[input])?.out, input)
    };
    for size in cx.sizes(dtype) {
        run(
            Layout::contiguous(&[size]),
            &input_of(Layout::contiguous(&[size])),
        )?;
    }
    for form in Form::INPUTS {
        run(
            Layout::contiguous(&[3, 4, 5]),
            &input_of(form.of(&[3, 4, 5])),
        )?;
    }
    for form in Form::OUTPUTS {
        run(form.of(&[5, 7]), &input_of(Form::Reversed.of(&[5, 7])))?;
    }
    if dtype.size() == to.size() {
        let input = input_of(Form::Gapped.of(&[5, 7]));
        let out = Array {
            dtype: to,
            ..input.clone()
        };
        let op = Op::Unary {
            op,
            out: out.view(),
            input: input.view(),
        };
        judged(&cx.launch_with(&op, &out, &[Input::Output])?.out, &input)?;
    }
    Ok(())
}

/// One side of a function of two elements.
#[derive(Clone)]
enum Side {
    View(Array),
    Scalar(Val),
}

impl Side {
    fn operand(&self, dtype: DType) -> Operand<'_> {
        match self {
            Self::View(array) => Operand::View(array.view()),
            Self::Scalar(value) => Operand::Scalar(value.scalar(dtype)),
        }
    }

    fn array(&self) -> Option<&Array> {
        match self {
            Self::View(array) => Some(array),
            Self::Scalar(_) => None,
        }
    }

    fn values(&self, count: usize) -> Vec<Val> {
        match self {
            Self::View(array) => array.values(),
            Self::Scalar(value) => vec![*value; count],
        }
    }
}

/// The pairs of sides that functions of two elements are tried on, with the layout of the output.
fn pairs<V: Execute>(cx: &Cx<V>, dtype: DType) -> Vec<(Layout, Side, Side)> {
    let mut rng = Rng::new(0x22);
    let kept = cx.keeps_subnormals();
    let special = specials(dtype, kept);
    let each = |x: &Val| vec![*x; special.len()];
    let crossed: Vec<Val> = special.iter().flat_map(each).collect();
    let cycled: Vec<Val> = special
        .iter()
        .copied()
        .cycle()
        .take(crossed.len())
        .collect();
    let line = Layout::contiguous(&[crossed.len()]);
    let crossed = Side::View(Array::new(dtype, line.clone(), &crossed));
    let cycled = Side::View(Array::new(dtype, line.clone(), &cycled));
    let mut pairs = vec![(line, crossed, cycled)];
    let mut side = |layout: Layout| {
        let values = values(dtype, Kind::Any, layout.elements(), &mut rng, kept);
        Side::View(Array::new(dtype, layout, &values))
    };
    for size in cx.sizes(dtype) {
        let line = Layout::contiguous(&[size]);
        // The specials of one side start elsewhere, so that they do not meet their likes only.
        let lhs = side(line.clone());
        let mut rhs = side(line.clone());
        if let Side::View(array) = &mut rhs {
            let mut values = array.values();
            values.rotate_left(size / 3);
            *array = Array::new(dtype, line.clone(), &values);
        }
        pairs.push((line, lhs, rhs));
    }
    for form in Form::INPUTS {
        let dims = SHAPES[2];
        pairs.push((
            Layout::contiguous(dims),
            side(form.of(dims)),
            side(Form::Contiguous.of(dims)),
        ));
        pairs.push((
            Layout::contiguous(dims),
            side(Form::Transposed.of(dims)),
            side(form.of(dims)),
        ));
    }
    for form in Form::OUTPUTS {
        let dims = SHAPES[1];
        pairs.push((
            form.of(dims),
            side(Form::Offset.of(dims)),
            side(Form::Reversed.of(dims)),
        ));
    }
    for value in special.iter().take(8) {
        let line = Layout::contiguous(&[33]);
        pairs.push((line.clone(), side(line.clone()), Side::Scalar(*value)));
        pairs.push((line.clone(), Side::Scalar(*value), side(line)));
    }
    pairs
}

/// A function of two elements: pairs of specials, every size, forms, scalars, in place.
pub(crate) fn binary<V: Execute>(cx: &Cx<V>, op: BinaryOp, dtype: DType) -> Outcome {
    let judged = |out: &Array, lhs: &Side, rhs: &Side| {
        clean_bools(out)?;
        let count = out.layout.elements();
        let pairs = lhs.values(count).into_iter().zip(rhs.values(count));
        let want: Vec<_> = pairs
            .map(|(a, b)| reference::binary(op, dtype, a, b))
            .collect();
        let tolerance = binary_tolerance(op, dtype);
        judge(
            dtype,
            &out.values(),
            &want,
            tolerance,
            cx.capabilities().subnormals,
        )
    };
    let pairs = pairs(cx, dtype);
    for (layout, lhs, rhs) in &pairs {
        let out = Array::blank(dtype, layout.clone());
        let (a, b) = (lhs.operand(dtype), rhs.operand(dtype));
        let canonical = Op::Binary {
            op,
            out: out.view(),
            lhs: a,
            rhs: b,
        };
        let inputs: Vec<_> = [lhs, rhs].into_iter().filter_map(Side::array).collect();
        let launched = cx.launch(&canonical, &out, &inputs)?;
        judged(&launched.out, lhs, rhs).map_err(|stop| {
            let sides = inputs.iter().map(|array| &array.layout);
            stop.within(format!("{:?} to {layout:?}", sides.collect::<Vec<_>>()))
        })?;
    }
    // The output may be either input, or both.
    let (layout, lhs, rhs) = &pairs[4];
    let (Some(a), Some(b)) = (lhs.array(), rhs.array()) else {
        return Ok(());
    };
    let view = Operand::View(layout.view(dtype));
    for (out, inputs, sides) in [
        (a, [Input::Output, Input::Array(b)], (lhs, rhs)),
        (b, [Input::Array(a), Input::Output], (lhs, rhs)),
        (a, [Input::Output, Input::Output], (lhs, lhs)),
    ] {
        let canonical = Op::Binary {
            op,
            out: out.view(),
            lhs: view,
            rhs: view,
        };
        let launched = cx.launch_with(&canonical, out, &inputs)?;
        judged(&launched.out, sides.0, sides.1).map_err(|stop| stop.within("in place"))?;
    }
    Ok(())
}

/// A comparison: pairs of specials, every size, forms, scalars.
pub(crate) fn compare<V: Execute>(cx: &Cx<V>, op: CompareOp, dtype: DType) -> Outcome {
    for (layout, lhs, rhs) in pairs(cx, dtype) {
        // Some strides of the elements' own layout, for the bools.
        let out = Array::blank(DType::Bool, layout.clone());
        let (a, b) = (lhs.operand(dtype), rhs.operand(dtype));
        let canonical = Op::Compare {
            op,
            out: out.view(),
            lhs: a,
            rhs: b,
        };
        let inputs: Vec<_> = [&lhs, &rhs].into_iter().filter_map(Side::array).collect();
        let launched = cx.launch(&canonical, &out, &inputs)?;
        clean_bools(&launched.out)?;
        let count = layout.elements();
        let pairs = lhs.values(count).into_iter().zip(rhs.values(count));
        let want: Vec<_> = pairs.map(|(a, b)| reference::compare(op, a, b)).collect();
        let got = launched.out.values();
        judge(
            DType::Bool,
            &got,
            &want,
            Tolerance::Exact,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within(format!("{layout:?}")))?;
    }
    Ok(())
}

/// Select: bit for bit, forms, scalars on either side and both, in place.
pub(crate) fn select<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0x33);
    let mut run = |out: Layout, forms: [Layout; 3], scalars: [bool; 2], in_place: bool| {
        let condition = any_bits(DType::Bool, forms[0].clone(), &mut rng);
        let mut branch = |at: usize| {
            let array = any_bits(dtype, forms[at].clone(), &mut rng);
            if scalars[at - 1] {
                Side::Scalar(array.values()[0])
            } else {
                Side::View(array)
            }
        };
        let (yes, no) = (branch(1), branch(2));
        let out = match (&yes, in_place) {
            (Side::View(array), true) => array.clone(),
            _ => Array::blank(dtype, out),
        };
        let (on_true, on_false) = (yes.operand(dtype), no.operand(dtype));
        let op = Op::Select {
            out: out.view(),
            condition: condition.view(),
            on_true,
            on_false,
        };
        let mut inputs = vec![Input::Array(&condition)];
        for (side, aliased) in [(&yes, in_place), (&no, false)] {
            inputs.extend(side.array().map(|array| match aliased {
                true => Input::Output,
                false => Input::Array(array),
            }));
        }
        let launched = cx.launch_with(&op, &out, &inputs)?;
        let count = condition.layout.elements();
        let bits = |side: &Side| match side {
            Side::View(array) => array.bits(),
            Side::Scalar(value) => vec![value.bits(dtype); count],
        };
        let branches = bits(&yes).into_iter().zip(bits(&no));
        let chosen = condition.bits().into_iter().zip(branches);
        let want: Vec<_> = chosen
            .map(|(c, (yes, no))| if c == 0 { no } else { yes })
            .collect();
        same_bits(&launched.out.bits(), &want).map_err(|stop| stop.within(format!("{forms:?}")))
    };
    for size in cx.sizes(dtype) {
        let line = || Layout::contiguous(&[size]);
        run(line(), [line(), line(), line()], [false, false], false)?;
    }
    for dims in SHAPES {
        let plain = || Layout::contiguous(dims);
        for form in Form::INPUTS {
            run(
                plain(),
                [form.of(dims), plain(), plain()],
                [false, false],
                false,
            )?;
            run(
                plain(),
                [plain(), form.of(dims), Form::Reversed.of(dims)],
                [false, false],
                false,
            )?;
        }
        for form in Form::OUTPUTS {
            run(
                form.of(dims),
                [plain(), plain(), plain()],
                [false, true],
                false,
            )?;
        }
        run(plain(), [plain(), plain(), plain()], [true, false], false)?;
        run(plain(), [plain(), plain(), plain()], [true, true], false)?;
        run(plain(), [plain(), plain(), plain()], [false, false], true)?;
    }
    Ok(())
}
