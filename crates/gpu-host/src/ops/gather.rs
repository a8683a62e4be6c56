//! Looking up elements by index.
//!
//! Promises [`Op::Gather`](gpu_seam::Op::Gather) for every element type, as bits. What an index may
//! be is [`index`](super::index)'s business.

use super::element::{Plain, with_bits};
use super::grain;
use super::index::Lookup;
use super::raw::{Args, generate};
use super::support;
use gpu_seam::{GpuError, Op, View};

/// `out[p] = input[p with p[axis] replaced by index[p]]`.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    out: View<'a>,
    input: View<'a>,
    index: View<'a>,
    axis: usize,
) -> Result<(), GpuError> {
    let Some(lookup) = Lookup::new(args, 2, index, input, axis, index) else {
        return Err(support::refusal(&Op::Gather {
            out,
            input,
            index,
            axis,
        }));
    };
    with_bits!(out.dtype, T => {
        let reader = args.window::<T>(1, input).reader();
        generate(args.window::<T>(0, out), grain::MEDIUM, &|first, out| {
            let mut done = 0;
            for step in lookup.steps(first, out.len()) {
                let out = &mut out[done..done + step.len];
                done += step.len;
                match lookup.whole(&step) {
                    Some((Some(position), 1)) => {
                        out.copy_from_slice(reader.run(position, step.len));
                    }
                    Some((None, _)) => out.fill(T::default()),
                    Some((Some(position), stride)) => {
                        for (at, out) in (0isize..).zip(out) {
                            *out = reader.at(position + at * stride);
                        }
                    }
                    None => {
                        for (at, out) in out.iter_mut().enumerate() {
                            *out = lookup
                                .position(&step, at)
                                .map_or(<T as Plain>::from_bits(0), |position| reader.at(position));
                        }
                    }
                }
            }
        });
    });
    lookup.finish(args)
}
