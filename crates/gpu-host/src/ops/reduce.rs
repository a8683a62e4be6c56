//! Reductions of lines to one element each.
//!
//! Promises [`Op::Reduce`](gpu_seam::Op::Reduce) with pairwise summation: the tree of additions
//! depends on the length of a line and never on the number of threads, so results are the same bits
//! on every run. Knows nothing of what is accumulated: that is [`fold`](super::fold).

use super::cast::Cast;
use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::fold::{All, Any, Fold, Least, Lines, Most, Prod, Relaid, Sum};
use super::grain;
use super::number::{Number, Ordered};
use super::raw::{Args, BLOCK, Room, generate};
use crate::parallel::both;
use gpu_seam::{DType, ReduceOp, View};

/// Accumulators that run side by side in one line, so that additions need not wait for each other.
const LANES: usize = 16;

/// Neighbouring lines that are reduced abreast: long runs of memory, and sums that stay in cache.
const STRIP: usize = 4 * BLOCK;

/// Rows, or sums of rows, that are added one after the other.
const ROWS: usize = 16;

/// `out = op(input)`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: ReduceOp,
    out: View<'a>,
    input: View<'a>,
) -> Option<()> {
    let call = Call {
        args,
        op,
        out,
        input,
    };
    match (input.dtype, out.dtype, op) {
        (DType::Bool, _, _) => call.counted::<Bool>(),
        (DType::U8, _, _) => call.counted::<u8>(),
        (DType::I8, _, _) => call.counted::<i8>(),
        (DType::U32, _, _) => call.counted::<u32>(),
        (DType::I32, _, _) => call.counted::<i32>(),
        (DType::I64, _, _) => call.counted::<i64>(),
        (DType::F16, DType::F32, _) => call.summed::<f16, f32, f32>(),
        (DType::F16, ..) => call
            .summed::<f16, f32, f16>()
            .or_else(|| call.ordered::<f16>()),
        (DType::BF16, DType::F32, _) => call.summed::<bf16, f32, f32>(),
        (DType::BF16, ..) => call
            .summed::<bf16, f32, bf16>()
            .or_else(|| call.ordered::<bf16>()),
        (DType::F32, ..) => call
            .summed::<f32, f32, f32>()
            .or_else(|| call.ordered::<f32>()),
        (DType::F64, ..) => call
            .summed::<f64, f64, f64>()
            .or_else(|| call.ordered::<f64>()),
        (DType::Complex64, ..) => call
            .summed::<C64, C64, C64>()
            .or_else(|| call.tested::<C64>()),
        (DType::Complex128, ..) => call
            .summed::<C128, C128, C128>()
            .or_else(|| call.tested::<C128>()),
        _ => None,
    }
}

/// One call, before its types are known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    op: ReduceOp,
    out: View<'a>,
    input: View<'a>,
}

impl Call<'_, '_> {
    /// Every reduction of bool and integers.
    fn counted<T: Ordered + Cast<i64> + Cast<f64> + Cast<T>>(&self) -> Option<()> {
        let sums = if self.out.dtype == DType::F64 {
            self.summed::<T, f64, f64>()
        } else {
            self.summed::<T, i64, i64>()
        };
        sums.or_else(|| self.ordered::<T>())
    }

    /// Sum and product, accumulated as `A`, given as `O`.
    fn summed<T: Cast<A>, A: Number + Cast<O>, O: Element>(&self) -> Option<()> {
        match self.op {
            ReduceOp::Sum => self.run::<Sum<A>, T, O>(),
            ReduceOp::Prod => self.run::<Prod<A>, T, O>(),
            _ => None,
        }
    }

    /// What ordered types have beside.
    fn ordered<T: Ordered + Cast<T>>(&self) -> Option<()> {
        match self.op {
            ReduceOp::Min => self.run::<Least, T, T>(),
            ReduceOp::Max => self.run::<Most, T, T>(),
            _ => self.tested::<T>(),
        }
    }

    /// Tests against zero.
    fn tested<T: Number>(&self) -> Option<()> {
        match self.op {
            ReduceOp::Any => self.run::<Any, T, Bool>(),
            ReduceOp::All => self.run::<All, T, Bool>(),
            _ => None,
        }
    }

    fn run<F: Fold<T>, T: Element, O: Element>(&self) -> Option<()>
    where
        F::Acc: Cast<O>,
    {
        let lines = Lines::<T>::new(self.args, self.input)?;
        let relaid = Relaid::<2>::new(self.out, lines.swapped)?;
        let out = relaid.of(self.args.window::<O>(0, self.out));
        let [_, along, inner] = lines.dims;
        let grain = grain::LIGHT.div_ceil(along);
        if lines.abreast() {
            // Wider than a block only where rows need not be gathered.
            let widest = if lines.strides[2] == 1 { STRIP } else { BLOCK };
            generate(out, grain, &|first, out| {
                let mut done = 0;
                while done < out.len() {
                    let (o, i) = ((first + done) / inner, (first + done) % inner);
                    let width = widest.min(inner - i).min(out.len() - done);
                    let mut sums = [F::START; STRIP];
                    strip::<F, T>(&lines, (o, i), 0, along, &mut sums[..width]);
                    for (out, sum) in out[done..done + width].iter_mut().zip(sums) {
                        *out = sum.cast();
                    }
                    done += width;
                }
            });
        } else {
            generate(out, grain, &|first, out| {
                for (at, out) in (first..).zip(out) {
                    let start = lines.start(at / inner, at % inner);
                    *out = line::<F, T>(&lines, start, along).cast();
                }
            });
        }
        Some(())
    }
}

/// Where a tree over `len` elements is split: half, rounded up to whole blocks.
pub(super) const fn half(len: usize) -> usize {
    (len / 2).next_multiple_of(BLOCK)
}

/// Reduces the `len` elements from position `start` on.
fn line<F: Fold<T>, T: Element>(lines: &Lines<'_, T>, start: isize, len: usize) -> F::Acc {
    let stride = lines.strides[1];
    if len <= BLOCK {
        let mut room = Room::new();
        return run::<F, T>(lines.reader.fetch(start, stride, len, &mut room));
    }
    let left = half(len);
    let middle = start + left.cast_signed() * stride;
    let (mut a, mut b) = (F::START, F::START);
    both(
        len / 2 >= grain::LIGHT,
        &mut || a = line::<F, T>(lines, start, left),
        &mut || b = line::<F, T>(lines, middle, len - left),
    );
    F::join(a, b)
}

/// Reduces a contiguous run of at most a block.
#[inline(always)]
pub(super) fn run<F: Fold<T>, T: Element>(run: &[T]) -> F::Acc {
    let (groups, rest) = run.as_chunks::<LANES>();
    let mut lanes = [F::START; LANES];
    for group in groups {
        for (lane, &x) in lanes.iter_mut().zip(group) {
            *lane = F::join(*lane, F::lift(x));
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = F::join(*lane, F::lift(x));
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            lanes[at] = F::join(lanes[at], lanes[at + width]);
        }
    }
    lanes[0]
}

/// Reduces elements `from..from + len` of the neighbouring lines from `(outer, inner)` on, one for
/// each of `sums`, which hold the identity.
fn strip<F: Fold<T>, T: Element>(
    lines: &Lines<'_, T>,
    line: (usize, usize),
    from: usize,
    len: usize,
    sums: &mut [F::Acc],
) {
    if len / 2 * sums.len() < grain::LIGHT {
        return branch::<F, T>(lines, line, from, len, sums);
    }
    let left = half(len);
    let mut others = [F::START; STRIP];
    let others = &mut others[..sums.len()];
    both(
        true,
        &mut || strip::<F, T>(lines, line, from, left, sums),
        &mut || strip::<F, T>(lines, line, from + left, len - left, others),
    );
    merge::<F, T>(sums, others);
}

/// As [`strip`], on this thread, by a tree of [`ROWS`] branches at each fork: wide, since each level
/// holds sums of its own.
fn branch<F: Fold<T>, T: Element>(
    lines: &Lines<'_, T>,
    (outer, inner): (usize, usize),
    from: usize,
    len: usize,
    sums: &mut [F::Acc],
) {
    if len <= ROWS {
        let mut room = Room::new();
        for at in from..from + len {
            let position = lines.position(outer, at, inner);
            let row = lines
                .reader
                .fetch(position, lines.strides[2], sums.len(), &mut room);
            for (sum, &x) in sums.iter_mut().zip(row) {
                *sum = F::join(*sum, F::lift(x));
            }
        }
        return;
    }
    let mut twig = ROWS;
    while twig * ROWS < len {
        twig *= ROWS;
    }
    let mut others = [F::START; STRIP];
    let others = &mut others[..sums.len()];
    for start in (from..from + len).step_by(twig) {
        others.fill(F::START);
        let len = twig.min(from + len - start);
        branch::<F, T>(lines, (outer, inner), start, len, others);
        merge::<F, T>(sums, others);
    }
}

fn merge<F: Fold<T>, T>(sums: &mut [F::Acc], others: &[F::Acc]) {
    for (sum, &other) in sums.iter_mut().zip(others) {
        *sum = F::join(*sum, other);
    }
}
