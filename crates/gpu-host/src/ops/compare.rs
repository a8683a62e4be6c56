//! Comparisons of two elements.
//!
//! Promises [`Op::Compare`](gpu_seam::Op::Compare). Greater is less with the operands swapped, which
//! is the same also for NaN.

use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::grain;
use super::number::{Number, Ordered};
use super::raw::{Args, map2};
use gpu_seam::{CompareOp, DType, Operand, View};

/// A comparison of two runs of elements.
type Kernel<T> = fn(&mut [Bool], &[T], &[T]);

/// A loop over two runs.
macro_rules! each {
    ($f:expr) => {
        Some(|out: &mut [Bool], lhs, rhs| {
            for ((out, &a), &b) in out.iter_mut().zip(lhs).zip(rhs) {
                *out = Bool::from($f(a, b));
            }
        })
    };
}

/// `out = op(lhs, rhs)`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: CompareOp,
    out: View<'a>,
    lhs: Operand<'a>,
    rhs: Operand<'a>,
) -> Option<()> {
    let call = Call {
        args,
        op,
        out,
        lhs,
        rhs,
    };
    match lhs.dtype() {
        DType::Bool => call.run::<Bool>(ordered(op)),
        DType::U8 => call.run::<u8>(ordered(op)),
        DType::I8 => call.run::<i8>(ordered(op)),
        DType::U32 => call.run::<u32>(ordered(op)),
        DType::I32 => call.run::<i32>(ordered(op)),
        DType::I64 => call.run::<i64>(ordered(op)),
        DType::F16 => call.run::<f16>(ordered(op)),
        DType::BF16 => call.run::<bf16>(ordered(op)),
        DType::F32 => call.run::<f32>(ordered(op)),
        DType::F64 => call.run::<f64>(ordered(op)),
        DType::Complex64 => call.run::<C64>(equality(op)),
        DType::Complex128 => call.run::<C128>(equality(op)),
        _ => None,
    }
}

/// One call, before its type is known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    op: CompareOp,
    out: View<'a>,
    lhs: Operand<'a>,
    rhs: Operand<'a>,
}

impl Call<'_, '_> {
    fn run<T: Element>(&self, kernel: Option<Kernel<T>>) -> Option<()> {
        let mut next = 1;
        let lhs = self.args.source::<T>(&mut next, self.lhs);
        let rhs = self.args.source::<T>(&mut next, self.rhs);
        let (lhs, rhs) = match self.op {
            CompareOp::Gt | CompareOp::Ge => (rhs, lhs),
            _ => (lhs, rhs),
        };
        map2(
            self.args.window(0, self.out),
            lhs,
            rhs,
            grain::LIGHT,
            kernel?,
        );
        Some(())
    }
}

fn ordered<T: Ordered>(op: CompareOp) -> Option<Kernel<T>> {
    match op {
        CompareOp::Lt | CompareOp::Gt => each!(Ordered::less),
        CompareOp::Le | CompareOp::Ge => each!(Ordered::at_most),
        _ => equality(op),
    }
}

fn equality<T: Number>(op: CompareOp) -> Option<Kernel<T>> {
    match op {
        CompareOp::Eq => each!(Number::equal),
        CompareOp::Ne => each!(|a: T, b| !a.equal(b)),
        _ => None,
    }
}
