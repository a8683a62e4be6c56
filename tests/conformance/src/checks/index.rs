//! Gather and scatter: axes, forms, index types, bad indices and the fault slot.

use crate::checks::moves::{any_bits, same_bits};
use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::data::{Kind, Rng, values};
use crate::layout::{Array, Form, Layout};
use crate::outcome::{Outcome, ensure, equal};
use crate::reference::binary;
use crate::value::{Val, halves};
use gpu_seam::{BinaryOp, DType, Execute, Op, ScatterMode};

/// The types that indices may have.
pub(crate) const INDICES: [DType; 4] = [DType::I64, DType::I32, DType::U32, DType::U8];

/// Dims of the indexed side, of the index side, and the axis in which they differ.
const CASES: [(&[usize], &[usize], usize); 8] = [
    (&[10], &[33], 0),
    (&[1], &[65], 0),
    (&[200], &[7], 0),
    (&[5, 9], &[17, 9], 0),
    (&[5, 9], &[5, 3], 1),
    (&[3, 40, 5], &[3, 40, 5], 1),
    (&[3, 4, 70], &[3, 4, 2], 2),
    (&[300, 2], &[1000, 2], 0),
];

/// An index array with values below `size`.
fn indices(dtype: DType, layout: Layout, size: usize, rng: &mut Rng) -> Array {
    let most = if dtype == DType::U8 {
        size.min(256)
    } else {
        size
    };
    let count = layout.elements();
    let values: Vec<_> = (0..count)
        .map(|_| Val::Int(rng.below(most) as i128))
        .collect();
    Array::new(dtype, layout, &values)
}

fn index_of(value: Val) -> Option<usize> {
    match value {
        Val::Int(x) => usize::try_from(x).ok(),
        _ => None,
    }
}

/// Where element `at` (row-major in `dims`) of the index side is in the indexed side, its coordinate
/// along `axis` replaced by `index`.
fn target(at: usize, dims: &[usize], other: &[usize], axis: usize, index: usize) -> usize {
    let mut rest = at;
    let mut coordinates = vec![0; dims.len()];
    for (coordinate, &dim) in coordinates.iter_mut().zip(dims).rev() {
        *coordinate = rest % dim;
        rest /= dim;
    }
    coordinates[axis] = index;
    coordinates
        .iter()
        .zip(other)
        .fold(0, |flat, (coordinate, dim)| flat * dim + coordinate)
}

/// Gather of `dtype` by indices of `by`: every case, and each form of each operand in one of them.
pub(crate) fn gather<V: Execute>(cx: &Cx<V>, dtype: DType, by: DType) -> Outcome {
    let mut rng = Rng::new(0x77);
    let mut run = |(from, to, axis): (&[usize], &[usize], usize), forms: [Form; 3]| {
        let input = any_bits(dtype, forms[1].of(from), &mut rng);
        let index = indices(by, forms[2].of(to), from[axis], &mut rng);
        let out = Array::blank(dtype, forms[0].of(to));
        let op = Op::Gather {
            out: out.view(),
            input: input.view(),
            index: index.view(),
            axis,
        };
        let launched = cx.launch(&op, &out, &[&input, &index])?;
        let bits = input.bits();
        let picked = index
            .values()
            .into_iter()
            .enumerate()
            .map(|(at, value)| bits[target(at, to, from, axis, index_of(value).unwrap_or(0))]);
        same_bits(&launched.out.bits(), &picked.collect::<Vec<_>>())
            .map_err(|stop| stop.within(format!("{from:?} by {to:?} axis {axis} {forms:?}")))?;
        equal("the fault slot", launched.slot, [0; 4])
    };
    for case in CASES {
        run(case, [Form::Contiguous; 3])?;
    }
    for form in Form::INPUTS {
        run(CASES[4], [Form::Contiguous, form, Form::Contiguous])?;
        run(CASES[3], [Form::Contiguous, Form::Contiguous, form])?;
    }
    for form in Form::OUTPUTS {
        run(CASES[6], [form, Form::Reversed, Form::Transposed])?;
    }
    Ok(())
}

/// Scatter of `dtype` by indices of `by`.
pub(crate) fn scatter<V: Execute>(
    cx: &Cx<V>,
    mode: ScatterMode,
    dtype: DType,
    by: DType,
) -> Outcome {
    let mut rng = Rng::new(0x88);
    let mut run = |(to, from, axis): (&[usize], &[usize], usize), forms: [Form; 3]| {
        let mut small = |layout: Layout| {
            let values = values(dtype, Kind::Small, layout.elements(), &mut rng, true);
            Array::new(dtype, layout, &values)
        };
        let out = small(forms[0].of(to));
        let src = small(forms[1].of(from));
        let index = indices(by, forms[2].of(from), to[axis], &mut rng);
        let op = Op::Scatter {
            mode,
            out: out.view(),
            index: index.view(),
            src: src.view(),
            axis,
        };
        let launched = cx.launch(&op, &out, &[&index, &src])?;
        // Each target's candidates: of equal targets Set keeps one whole element.
        let mut candidates: Vec<Vec<Val>> = out.values().into_iter().map(|x| vec![x]).collect();
        let mut hit = vec![false; candidates.len()];
        let pairs = index.values().into_iter().zip(src.values());
        for (at, (value, element)) in pairs.enumerate() {
            let place = target(at, from, to, axis, index_of(value).unwrap_or(0));
            if mode == ScatterMode::Add {
                let sum = binary(BinaryOp::Add, dtype, candidates[place][0], element);
                candidates[place] = vec![sum];
            } else if std::mem::replace(&mut hit[place], true) {
                candidates[place].push(element);
            } else {
                candidates[place] = vec![element];
            }
        }
        let what = || format!("{to:?} by {from:?} axis {axis} {forms:?}");
        for (at, (got, any)) in launched
            .out
            .values()
            .into_iter()
            .zip(&candidates)
            .enumerate()
        {
            // Small integers: equal as values, whatever the sign of a zero.
            ensure(any.contains(&got), || {
                format!("{}: element {at} is {got:?}, not {any:?}", what())
            })?;
        }
        equal("the fault slot", launched.slot, [0; 4])
    };
    for case in CASES {
        run(case, [Form::Contiguous; 3])?;
    }
    for form in Form::INPUTS {
        run(CASES[4], [Form::Contiguous, form, Form::Contiguous])?;
        run(CASES[3], [Form::Contiguous, Form::Contiguous, form])?;
    }
    for form in Form::OUTPUTS {
        run(CASES[6], [form, Form::Reversed, Form::Transposed])?;
    }
    Ok(())
}

/// Indices just outside, far outside, and negative where the type has them.
fn bad_indices(by: DType, size: usize) -> Vec<i128> {
    let size = size as i128;
    match by {
        DType::I64 => vec![
            size,
            -1,
            i128::from(i64::MIN),
            i128::from(i64::MAX),
            (1 << 32) + 1,
        ],
        DType::I32 => vec![size, -1, i128::from(i32::MIN), i128::from(i32::MAX)],
        DType::U32 => vec![size, i128::from(u32::MAX)],
        _ => vec![size, 255],
    }
}

/// The slot that a bad index leaves.
fn noted(index: i128) -> [u32; 4] {
    // Every bad index of this file fits in an i64.
    let [low, high] = halves(i64::try_from(index).unwrap_or(0).cast_unsigned());
    [1, low, high, 0]
}

/// A bad index reads nothing, leaves zero, and is noted whole; the others are served.
pub(crate) fn gather_bad_index<V: Execute>(cx: &Cx<V>, dtype: DType, by: DType) -> Outcome {
    let mut rng = Rng::new(0x99);
    let input = any_bits(dtype, Layout::contiguous(&[10]), &mut rng);
    for bad in bad_indices(by, 10) {
        for place in [0, 13, 32] {
            let mut index = indices(by, Layout::contiguous(&[33]), 10, &mut rng);
            index.put(place, Val::Int(bad));
            let out = Array::blank(dtype, Layout::contiguous(&[33]));
            let op = Op::Gather {
                out: out.view(),
                input: input.view(),
                index: index.view(),
                axis: 0,
            };
            let launched = cx.launch(&op, &out, &[&input, &index])?;
            let bits = input.bits();
            let picked = index.values().into_iter().map(|value| {
                index_of(value)
                    .and_then(|at| bits.get(at))
                    .copied()
                    .unwrap_or(0)
            });
            same_bits(&launched.out.bits(), &picked.collect::<Vec<_>>())
                .map_err(|stop| stop.within(format!("index {bad} at {place}")))?;
            equal("the fault slot", launched.slot, noted(bad))?;
        }
    }
    Ok(())
}

/// A bad index writes nothing and is noted whole; the others are served.
pub(crate) fn scatter_bad_index<V: Execute>(
    cx: &Cx<V>,
    mode: ScatterMode,
    dtype: DType,
    by: DType,
) -> Outcome {
    let mut rng = Rng::new(0xaa);
    let ones = |count: usize| vec![crate::data::number(dtype, 1); count];
    for bad in bad_indices(by, 10) {
        let out = Array::line(dtype, &vec![Val::zero(dtype); 10]);
        let src = Array::line(dtype, &ones(4));
        let mut index = Array::line(by, &[1, 3, 5, 7].map(Val::Int));
        let place = rng.below(4);
        index.put(place, Val::Int(bad));
        let op = Op::Scatter {
            mode,
            out: out.view(),
            index: index.view(),
            src: src.view(),
            axis: 0,
        };
        let launched = cx.launch(&op, &out, &[&index, &src])?;
        let mut want = vec![Val::zero(dtype); 10];
        for value in index.values() {
            if let Some(slot) = index_of(value).and_then(|at| want.get_mut(at)) {
                *slot = crate::data::number(dtype, 1);
            }
        }
        let got = launched.out.values();
        judge(
            dtype,
            &got,
            &want,
            Tolerance::Value,
            cx.capabilities().subnormals,
        )
        .map_err(|stop| stop.within(format!("index {bad} at {place}")))?;
        equal("the fault slot", launched.slot, noted(bad))?;
    }
    Ok(())
}

/// All indices bad: the slot holds one of them, whole, and no half of another.
pub(crate) fn many_bad_indices<V: Execute>(cx: &Cx<V>, dtype: DType) -> Outcome {
    let mut rng = Rng::new(0xbb);
    let input = any_bits(dtype, Layout::contiguous(&[10]), &mut rng);
    let bad: Vec<_> = (0..1000i128).map(|at| -(at << 33) - at - 1).collect();
    let values: Vec<_> = bad.iter().map(|index| Val::Int(*index)).collect();
    let index = Array::line(DType::I64, &values);
    let out = Array::blank(dtype, Layout::contiguous(&[1000]));
    let op = Op::Gather {
        out: out.view(),
        input: input.view(),
        index: index.view(),
        axis: 0,
    };
    let launched = cx.launch(&op, &out, &[&input, &index])?;
    same_bits(&launched.out.bits(), &[0; 1000])?;
    ensure(
        bad.iter().any(|index| noted(*index) == launched.slot),
        || {
            format!(
                "the fault slot holds {:x?}, which is none of the bad indices",
                launched.slot
            )
        },
    )
}
