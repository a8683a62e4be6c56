//! Running reductions along lines.
//!
//! Promises [`Op::Scan`](gpu_seam::Op::Scan): every output element is the reduction of all before it
//! and itself, accumulated in order. Knows nothing of what is accumulated: that is
//! [`fold`](super::fold).

use super::cast::Cast;
use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::fold::{Fold, Least, Lines, Most, Prod, Relaid, Sum};
use super::grain;
use super::number::{Number, Ordered};
use super::raw::lanes::{abreast, along};
use super::raw::{Args, BLOCK, Room};
use gpu_seam::{DType, ScanOp, View};

/// `out = op(input)`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: ScanOp,
    out: View<'a>,
    input: View<'a>,
) -> Option<()> {
    let call = Call {
        args,
        op,
        out,
        input,
    };
    match (input.dtype, out.dtype) {
        (DType::Bool, _) => call.counted::<Bool>(),
        (DType::U8, _) => call.counted::<u8>(),
        (DType::I8, _) => call.counted::<i8>(),
        (DType::U32, _) => call.counted::<u32>(),
        (DType::I32, _) => call.counted::<i32>(),
        (DType::I64, _) => call.counted::<i64>(),
        (DType::F16, DType::F32) => call.summed::<f16, f32, f32>(),
        (DType::F16, _) => call
            .summed::<f16, f32, f16>()
            .or_else(|| call.ordered::<f16>()),
        (DType::BF16, DType::F32) => call.summed::<bf16, f32, f32>(),
        (DType::BF16, _) => call
            .summed::<bf16, f32, bf16>()
            .or_else(|| call.ordered::<bf16>()),
        (DType::F32, _) => call
            .summed::<f32, f32, f32>()
            .or_else(|| call.ordered::<f32>()),
        (DType::F64, _) => call
            .summed::<f64, f64, f64>()
            .or_else(|| call.ordered::<f64>()),
        (DType::Complex64, _) => call.summed::<C64, C64, C64>(),
        (DType::Complex128, _) => call.summed::<C128, C128, C128>(),
        _ => None,
    }
}

/// One call, before its types are known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    op: ScanOp,
    out: View<'a>,
    input: View<'a>,
}

impl Call<'_, '_> {
    /// Every scan of bool and integers.
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
            ScanOp::Sum => self.run::<Sum<A>, T, O>(),
            ScanOp::Prod => self.run::<Prod<A>, T, O>(),
            _ => None,
        }
    }

    /// What ordered types have beside.
    fn ordered<T: Ordered + Cast<T>>(&self) -> Option<()> {
        match self.op {
            ScanOp::Min => self.run::<Least, T, T>(),
            ScanOp::Max => self.run::<Most, T, T>(),
            _ => None,
        }
    }

    fn run<F: Fold<T>, T: Element, O: Element>(&self) -> Option<()>
    where
        F::Acc: Cast<O>,
    {
        let lines = Lines::<T>::new(self.args, self.input)?;
        let relaid = Relaid::<3>::new(self.out, lines.swapped)?;
        let out = relaid.of(self.args.window::<O>(0, self.out));
        let [_, sa, si] = lines.strides;
        if lines.abreast() {
            let start = |_| [F::START; BLOCK];
            abreast(out, grain::LIGHT, start, |state, (o, i, width), r, out| {
                let mut room = Room::new();
                let row = lines
                    .reader
                    .fetch(lines.position(o, r, i), si, width, &mut room);
                for ((acc, out), &x) in state.iter_mut().zip(out).zip(row) {
                    *acc = F::join(*acc, F::lift(x));
                    *out = acc.cast();
                }
            });
        } else {
            let start = |_, _| F::START;
            along(out, grain::LIGHT, start, |acc, (o, i), first, out| {
                let mut room = Room::new();
                let position = lines.position(o, first, i);
                let run = lines.reader.fetch(position, sa, out.len(), &mut room);
                for (out, &x) in out.iter_mut().zip(run) {
                    *acc = F::join(*acc, F::lift(x));
                    *out = acc.cast();
                }
            });
        }
        Some(())
    }
}
