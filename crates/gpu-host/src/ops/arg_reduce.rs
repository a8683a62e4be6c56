//! Positions of extremes.
//!
//! Promises [`Op::ArgReduce`](gpu_seam::Op::ArgReduce): NaN wins at its first place, the first of
//! equals wins, also of -0 and 0. Knows nothing of threads: splitting is [`reduce`](super::reduce)'s.

use super::element::{Bool, bf16, f16};
use super::fold::{Fold, Least, Lines, Most, Relaid};
use super::grain;
use super::number::Ordered;
use super::raw::{Args, BLOCK, Room, generate};
use super::reduce::{half, run};
use crate::parallel::both;
use gpu_seam::{ArgOp, DType, View};

/// `out = position of the extreme of input`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: ArgOp,
    out: View<'a>,
    input: View<'a>,
) -> Option<()> {
    match input.dtype {
        DType::Bool => either::<Bool>(args, op, out, input),
        DType::U8 => either::<u8>(args, op, out, input),
        DType::I8 => either::<i8>(args, op, out, input),
        DType::U32 => either::<u32>(args, op, out, input),
        DType::I32 => either::<i32>(args, op, out, input),
        DType::I64 => either::<i64>(args, op, out, input),
        DType::F16 => either::<f16>(args, op, out, input),
        DType::BF16 => either::<bf16>(args, op, out, input),
        DType::F32 => either::<f32>(args, op, out, input),
        DType::F64 => either::<f64>(args, op, out, input),
        _ => None,
    }
}

fn either<T: Ordered>(args: &Args<'_>, op: ArgOp, out: View<'_>, input: View<'_>) -> Option<()> {
    match op {
        ArgOp::ArgMin => find::<Least, T>(args, out, input),
        ArgOp::ArgMax => find::<Most, T>(args, out, input),
        _ => None,
    }
}

/// An order to find the first of.
trait Extreme<T>: Fold<T, Acc = T> {
    /// Whether `a` goes before `b`, NaN apart.
    fn beats(a: T, b: T) -> bool;
}

impl<T: Ordered> Extreme<T> for Least {
    #[inline(always)]
    fn beats(a: T, b: T) -> bool {
        a.less(b)
    }
}

impl<T: Ordered> Extreme<T> for Most {
    #[inline(always)]
    fn beats(a: T, b: T) -> bool {
        b.less(a)
    }
}

/// Whether a later `x` takes the place of `best`.
#[inline(always)]
fn replaces<F: Extreme<T>, T: Ordered>(x: T, best: T) -> bool {
    F::beats(x, best) || (x.nan() && !best.nan())
}

fn find<F: Extreme<T>, T: Ordered>(args: &Args<'_>, out: View<'_>, input: View<'_>) -> Option<()> {
    let lines = Lines::<T>::new(args, input)?;
    let relaid = Relaid::<2>::new(out, lines.swapped)?;
    let out = relaid.of(args.window::<i64>(0, out));
    let [_, along, inner] = lines.dims;
    let grain = grain::LIGHT.div_ceil(along);
    if lines.abreast() {
        generate(out, grain, &|first, out| {
            let mut done = 0;
            while done < out.len() {
                let (o, i) = ((first + done) / inner, (first + done) % inner);
                let width = BLOCK.min(inner - i).min(out.len() - done);
                strip::<F, T>(&lines, (o, i), &mut out[done..done + width]);
                done += width;
            }
        });
    } else {
        generate(out, grain, &|first, out| {
            for (at, out) in (first..).zip(out) {
                let start = lines.start(at / inner, at % inner);
                *out = line::<F, T>(&lines, start, along).1.cast_signed() as i64;
            }
        });
    }
    Some(())
}

/// The extreme of the `len` elements from position `start` on, and its number.
fn line<F: Extreme<T>, T: Ordered>(lines: &Lines<'_, T>, start: isize, len: usize) -> (T, usize) {
    let stride = lines.strides[1];
    if len <= BLOCK {
        let mut room = Room::new();
        let run_ = lines.reader.fetch(start, stride, len, &mut room);
        let best = run::<F, T>(run_);
        let found = if best.nan() {
            run_.iter().position(|x| x.nan())
        } else {
            run_.iter().position(|x| x.equal(best))
        };
        // The extreme is one of the run's own elements.
        return (best, found.unwrap_or(0));
    }
    let left = half(len);
    let middle = start + left.cast_signed() * stride;
    let (mut a, mut b) = ((F::START, 0), (F::START, 0));
    both(
        len / 2 >= grain::LIGHT,
        &mut || a = line::<F, T>(lines, start, left),
        &mut || b = line::<F, T>(lines, middle, len - left),
    );
    if replaces::<F, T>(b.0, a.0) {
        (b.0, left + b.1)
    } else {
        a
    }
}

/// The numbers of the extremes of the neighbouring lines from `(outer, inner)` on.
fn strip<F: Extreme<T>, T: Ordered>(
    lines: &Lines<'_, T>,
    (outer, inner): (usize, usize),
    out: &mut [i64],
) {
    let width = out.len();
    let mut room = Room::new();
    let mut best = [F::START; BLOCK];
    for (r, at) in (0..lines.dims[1]).zip(0i64..) {
        let position = lines.position(outer, r, inner);
        let row = lines
            .reader
            .fetch(position, lines.strides[2], width, &mut room);
        for ((best, out), &x) in best.iter_mut().zip(&mut *out).zip(row) {
            if r == 0 || replaces::<F, T>(x, *best) {
                *best = x;
                *out = at;
            }
        }
    }
}
