//! Random numbers: the generator's own bits, at every place of the counter.

use crate::compare::{Tolerance, judge};
use crate::cx::Cx;
use crate::layout::{Array, Layout};
use crate::outcome::{Outcome, equal};
use crate::reference::draw;
use crate::value::{Val, epsilon};
use gpu_seam::{DType, Distribution, Execute, Op};

/// Seeds and first counters: zero, ordinary, across 2^32, and around 2^64.
const PLACES: [(u64, u64); 6] = [
    (0, 0),
    (42, 1),
    (0x0123_4567_89ab_cdef, 1000),
    (7, 0xffff_fff0),
    (u64::MAX, 0x1_0000_0000),
    (9, u64::MAX - 2000),
];

/// A distribution against the reference, at all places, sizes and offsets.
pub(crate) fn distribution<V: Execute>(
    cx: &Cx<V>,
    distribution: Distribution,
    dtype: DType,
) -> Outcome {
    let tolerance = match (distribution, dtype.real()) {
        (Distribution::Uniform, _) => Tolerance::Exact,
        // The logarithm and the cosine are the device's own.
        (_, DType::F64) => Tolerance::Near {
            ulps: 16.0,
            abs: 16.0 * epsilon(DType::F64),
        },
        (_, DType::F32) => Tolerance::Near {
            ulps: 16.0,
            abs: 32.0 * epsilon(DType::F32),
        },
        _ => Tolerance::Near {
            ulps: 1.0,
            abs: 32.0 * epsilon(DType::F32),
        },
    };
    for (seed, first) in PLACES {
        for (count, offset) in [(1, 0), (2, 1), (33, 0), (65, 3), (1000, 0), (1001, 5)] {
            let layout = Layout {
                offset,
                span: offset + count + 2,
                ..Layout::contiguous(&[count])
            };
            let out = Array::blank(dtype, layout);
            let op = Op::Random {
                distribution,
                out: out.view(),
                seed,
                first,
            };
            let launched = cx.launch(&op, &out, &[])?;
            let counters = (0..count as u64).map(|at| first + at);
            let want: Vec<_> = counters
                .map(|at| draw(distribution, dtype, seed, at))
                .collect();
            judge(
                dtype,
                &launched.out.values(),
                &want,
                tolerance,
                cx.capabilities().subnormals,
            )
            .map_err(|stop| stop.within(format!("seed {seed} from {first}")))?;
        }
    }
    Ok(())
}

/// The known answer that Random123 publishes for counter 0 and key 0, as uniform f32: the words
/// 6627e8d5 and, as one complex number, e169c58d behind it.
pub(crate) fn philox_known_answer<V: Execute>(cx: &Cx<V>) -> Outcome {
    let word = |w: u32| f64::from(w >> 8) * 2f64.powi(-24);
    let first = word(0x6627_e8d5);
    for (dtype, want) in [
        (DType::F32, Val::Real(first)),
        (DType::Complex64, Val::Complex(first, word(0xe169_c58d))),
    ] {
        if dtype != DType::F32
            && !cx
                .capabilities()
                .support
                .serves(gpu_seam::Family::Random, dtype)
        {
            continue;
        }
        let out = Array::blank(dtype, Layout::contiguous(&[1]));
        let op = Op::Random {
            distribution: Distribution::Uniform,
            out: out.view(),
            seed: 0,
            first: 0,
        };
        let launched = cx.launch(&op, &out, &[])?;
        equal("the first number", launched.out.values()[0], want)?;
    }
    Ok(())
}

/// The second known answer has every counter bit set, the upper words too, and cannot be asked for
/// through the seam; what can is that a number depends on its counter alone, not on its place.
pub(crate) fn random_depends_on_the_counter_alone<V: Execute>(cx: &Cx<V>) -> Outcome {
    let draw = |first: u64, count: usize| {
        let out = Array::blank(DType::F32, Layout::contiguous(&[count]));
        let op = Op::Random {
            distribution: Distribution::Uniform,
            out: out.view(),
            seed: 5,
            first,
        };
        cx.launch(&op, &out, &[])
            .map(|launched| launched.out.bits())
    };
    let all = draw(100, 500)?;
    for (start, count) in [(0, 1), (1, 7), (255, 2), (100, 400)] {
        let part = draw(100 + start as u64, count)?;
        equal(
            &format!("{count} from {start}"),
            part.as_slice(),
            &all[start..start + count],
        )?;
    }
    Ok(())
}
