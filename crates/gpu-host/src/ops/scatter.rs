//! Updating elements by index.
//!
//! Promises [`Op::Scatter`](gpu_seam::Op::Scatter) in row-major order of the source, on one thread:
//! of equal targets the last is kept, and sums are the same bits on every run. What an index may be
//! is [`index`](super::index)'s business.

use super::element::{Plain, with_bits, with_element};
use super::index::Lookup;
use super::number::Number;
use super::raw::{Args, Target};
use super::support;
use gpu_seam::{GpuError, Op, ScatterMode, View};

/// `out[p with p[axis] replaced by index[p]] = src[p]`, or `+=`.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    mode: ScatterMode,
    out: View<'a>,
    index: View<'a>,
    src: View<'a>,
    axis: usize,
) -> Result<(), GpuError> {
    let refusal = || {
        support::refusal(&Op::Scatter {
            mode,
            out,
            index,
            src,
            axis,
        })
    };
    let Some(lookup) = Lookup::new(args, 1, index, out, axis, src) else {
        return Err(refusal());
    };
    match mode {
        ScatterMode::Set => with_bits!(out.dtype, T => {
            update(args, &lookup, out, src, |_, new: T| new);
        }),
        ScatterMode::Add => with_element!(out.dtype, T => {
            update(args, &lookup, out, src, |old: T, new: T| old.add(new));
        }, _ => return Err(refusal())),
        _ => return Err(refusal()),
    }
    lookup.finish(args)
}

/// Makes each target what `change` makes of it and its source.
fn update<'a, T: Plain>(
    args: &Args<'a>,
    lookup: &Lookup<'a>,
    out: View<'a>,
    src: View<'a>,
    change: impl Fn(T, T) -> T,
) {
    let window = args.window::<T>(2, src);
    let source = window.reader();
    let mut target = Target::new(args.window::<T>(0, out));
    for step in lookup.steps(0, window.elements()) {
        let (first, stride) = step.other;
        if let (Some((position, 1)), 1) = (lookup.whole(&step), stride) {
            if let Some(position) = position {
                let run = source.run(first, step.len);
                for (old, &new) in target.run(position, step.len).iter_mut().zip(run) {
                    *old = change(*old, new);
                }
            }
            continue;
        }
        for at in 0..step.len {
            if let Some(position) = lookup.position(&step, at) {
                let new = source.at(first + at.cast_signed() * stride);
                target.set(position, change(target.get(position), new));
            }
        }
    }
}
