//! Fill, copy and cast.

use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, specials, values};
use crate::launch::Input;
use crate::layout::{Array, Form, Layout};
use crate::outcome::{Outcome, Stop, ensure};
use crate::reference::cast as cast_value;
use crate::value::{Val, single};
use gpu_seam::{DType, Execute, Op, Scalar, Subnormals};

/// Lengths around the widths of warps, waves, vectors and blocks, and one beyond 16 bits.
pub(crate) const SIZES: [usize; 11] = [1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 65_537];

/// Dims for strided forms: odd, of every rank that all vendors serve.
pub(crate) const SHAPES: [&[usize]; 3] = [&[37], &[5, 7], &[3, 4, 5]];

impl<V: Execute> Cx<V> {
    /// Whether subnormals are kept in arithmetic.
    pub(crate) fn keeps_subnormals(&self) -> bool {
        self.capabilities().subnormals == Subnormals::Kept
    }

    /// The sizes of which an argument is served.
    pub(crate) fn sizes(&self, dtype: DType) -> impl Iterator<Item = usize> + use<V> {
        let most = self.capabilities().max_operand_bytes / dtype.size();
        SIZES.into_iter().filter(move |&size| size <= most)
    }
}

/// Elements of every bit pattern that the type may hold.
pub(crate) fn any_bits(dtype: DType, layout: Layout, rng: &mut Rng) -> Array {
    let mut array = Array::blank(dtype, layout);
    for position in array.layout.positions() {
        let bits = u128::from(rng.next()) << 64 | u128::from(rng.next());
        let bits = if dtype == DType::Bool { bits & 1 } else { bits };
        array.put_bits(position, bits);
    }
    array
}

/// Fails at the first element whose bits differ.
pub(crate) fn same_bits(got: &[u128], want: &[u128]) -> Outcome {
    let wrong = got.iter().zip(want).position(|(got, want)| got != want);
    wrong.map_or(Ok(()), |at| {
        let (got, want) = (got[at], want[at]);
        Err(Stop::Failed(format!(
            "element {at} has bits {got:#x} where {want:#x} is right"
        )))
    })
}

/// Fill: every size, every form, every special, any bits.
pub(crate) fn fill<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let run = |value: Scalar, layout: Layout| {
        let out = Array::blank(dtype, layout);
        let op = Op::Fill {
            out: out.view(),
            value,
        };
        let launched = cx.launch(&op, &out, &[])?;
        same_bits(
            &launched.out.bits(),
            &vec![value.bits(); out.layout.elements()],
        )
        .map_err(|stop| stop.within(format!("{value:?} into {:?}", out.layout)))
    };
    let odd = Scalar::from_bits(dtype, 0x8123_4567_89ab_cdef_fedc_ba98_7654_3211);
    for size in cx.sizes(dtype) {
        run(odd, Layout::contiguous(&[size]))?;
    }
    for value in specials(dtype, true) {
        run(value.scalar(dtype), Layout::contiguous(&[17]))?;
    }
    for form in Form::OUTPUTS {
        for dims in SHAPES {
            run(odd, form.of(dims))?;
        }
    }
    run(Scalar::zero(dtype), Layout::contiguous(&[]))?;
    run(Scalar::one(dtype), Layout::contiguous(&[1, 1, 9]))
}

/// Copy within a type: bit for bit, between all forms.
pub(crate) fn copy<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xc0);
    let mut run = |to: Layout, from: Layout| {
        let what = format!("{from:?} to {to:?}");
        let out = Array::blank(dtype, to);
        let input = any_bits(dtype, from, &mut rng);
        let op = Op::Copy {
            out: out.view(),
            input: input.view(),
        };
        let launched = cx.launch(&op, &out, &[&input])?;
        same_bits(&launched.out.bits(), &input.bits()).map_err(|stop| stop.within(what))
    };
    for size in cx.sizes(dtype) {
        run(Layout::contiguous(&[size]), Layout::contiguous(&[size]))?;
    }
    for dims in SHAPES {
        for to in Form::OUTPUTS {
            for from in Form::INPUTS {
                run(to.of(dims), from.of(dims))?;
            }
        }
    }
    // A transpose larger than one tile, and a single element.
    run(
        Layout::contiguous(&[65, 33]),
        Form::Transposed.of(&[65, 33]),
    )?;
    run(Layout::contiguous(&[]), Layout::contiguous(&[]))
}

/// Cast: specials and random values, contiguous, strided, and in place where the sizes allow it.
pub(crate) fn cast<V: Execute>(cx: &Cx<V>, from: DType, to: DType) -> Outcome {
    let mut rng = Rng::new(0xca);
    let narrows = matches!(to.real(), DType::F16 | DType::BF16) && from.real() == DType::F64;
    let exact = |value: Val| match value {
        // Numbers that f32 holds: a way through f32 rounds once then, as it must.
        Val::Real(x) if narrows => Val::Real(f64::from(single(x))),
        Val::Complex(re, im) if narrows => {
            Val::Complex(f64::from(single(re)), f64::from(single(im)))
        }
        other => other,
    };
    let wanted = |input: &Array| -> Vec<Val> {
        input
            .values()
            .into_iter()
            .map(|value| cast_value(value, from, to))
            .collect()
    };
    let mut input_of = |layout: Layout| {
        let count = layout.elements();
        let values = values(from, Kind::Any, count, &mut rng, cx.keeps_subnormals());
        let values: Vec<_> = values.into_iter().map(exact).collect();
        Array::new(from, layout, &values)
    };
    let run = |out: Layout, input: &Array| {
        let out = Array::blank(to, out);
        let op = Op::Copy {
            out: out.view(),
            input: input.view(),
        };
        let launched = cx.launch(&op, &out, &[input])?;
        clean_bools(&launched.out)?;
        let (got, want) = (launched.out.values(), wanted(input));
        judge(
            to,
            &got,
            &want,
            Tolerance::Exact,
            cx.capabilities().subnormals,
        )
    };
    for size in [1, 33, 65, 1000] {
        run(
            Layout::contiguous(&[size]),
            &input_of(Layout::contiguous(&[size])),
        )?;
    }
    for (out, input) in [
        (Form::Gapped, Form::Reversed),
        (Form::Transposed, Form::Offset),
    ] {
        run(out.of(&[3, 4, 9]), &input_of(input.of(&[3, 4, 9])))?;
    }
    if from.size() == to.size() {
        let input = input_of(Layout::contiguous(&[65]));
        let out = Array {
            dtype: to,
            ..input.clone()
        };
        let op = Op::Copy {
            out: out.view(),
            input: input.view(),
        };
        let launched = cx.launch_with(&op, &out, &[Input::Output])?;
        let want = wanted(&input);
        judge(
            to,
            &launched.out.values(),
            &want,
            Tolerance::Exact,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within("in place"))?;
    }
    Ok(())
}

/// Stored bools are 0 or 1.
pub(crate) fn clean_bools(out: &Array) -> Outcome {
    if out.dtype != DType::Bool {
        return Ok(());
    }
    let dirty = out.bits().into_iter().find(|bits| *bits > 1);
    ensure(dirty.is_none(), || format!("a bool is stored as {dirty:?}"))
}
