//! Functions of two elements.
//!
//! Promises [`Op::Binary`](gpu_seam::Op::Binary). What a function does to values is
//! [`number`](super::number)'s business.

use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::grain;
use super::math::wide;
use super::number::{Number, Ordered, Real, Signed};
use super::raw::{Args, map2};
use gpu_seam::{BinaryOp, DType, Operand, View};

/// A function of two runs of elements.
type Kernel<T> = fn(&mut [T], &[T], &[T]);

/// A loop over two runs.
macro_rules! each {
    ($f:expr) => {
        Some(|out, lhs, rhs| {
            for ((out, &a), &b) in out.iter_mut().zip(lhs).zip(rhs) {
                *out = $f(a, b);
            }
        })
    };
}

/// `out = op(lhs, rhs)`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: BinaryOp,
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
    match out.dtype {
        DType::Bool => call.run::<Bool>(boolean(op)),
        DType::U8 => call.run::<u8>(real(op)),
        DType::I8 => call.run::<i8>(real(op)),
        DType::U32 => call.run::<u32>(real(op)),
        DType::I32 => call.run::<i32>(real(op)),
        DType::I64 => call.run::<i64>(real(op)),
        DType::F16 => call.run::<f16>(narrow(op)),
        DType::BF16 => call.run::<bf16>(narrow(op)),
        DType::F32 => call.run::<f32>(real(op)),
        DType::F64 => call.run::<f64>(real(op)),
        DType::Complex64 => call.run::<C64>(complex(op)),
        DType::Complex128 => call.run::<C128>(complex(op)),
        _ => None,
    }
}

/// One call, before its type is known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    op: BinaryOp,
    out: View<'a>,
    lhs: Operand<'a>,
    rhs: Operand<'a>,
}

impl Call<'_, '_> {
    fn run<T: Element>(&self, kernel: Option<Kernel<T>>) -> Option<()> {
        let mut next = 1;
        let lhs = self.args.source::<T>(&mut next, self.lhs);
        let rhs = self.args.source::<T>(&mut next, self.rhs);
        let grain = match self.op {
            BinaryOp::Div | BinaryOp::Rem => grain::MEDIUM,
            _ => grain::LIGHT,
        };
        map2(self.args.window::<T>(0, self.out), lhs, rhs, grain, kernel?);
        Some(())
    }
}

fn boolean(op: BinaryOp) -> Option<Kernel<Bool>> {
    match op {
        BinaryOp::Min => each!(Ordered::least),
        BinaryOp::Max => each!(Ordered::most),
        _ => common(op),
    }
}

fn real<T: Real>(op: BinaryOp) -> Option<Kernel<T>> {
    match op {
        BinaryOp::Sub => each!(Signed::sub),
        BinaryOp::Div => each!(Signed::div),
        BinaryOp::Rem => each!(Real::rem),
        BinaryOp::Min => each!(Ordered::least),
        BinaryOp::Max => each!(Ordered::most),
        _ => common(op),
    }
}

/// A loop over two runs, compiled for wide vectors.
macro_rules! each_wide {
    ($f:expr) => {
        Some(|out, lhs, rhs| {
            wide(|| {
                for ((out, &a), &b) in out.iter_mut().zip(lhs).zip(rhs) {
                    *out = $f(a, b);
                }
            });
        })
    };
}

/// As [`real`], for types whose conversions are worth wide vectors.
fn narrow<T: Real>(op: BinaryOp) -> Option<Kernel<T>> {
    match op {
        BinaryOp::Add => each_wide!(Number::add),
        BinaryOp::Sub => each_wide!(Signed::sub),
        BinaryOp::Mul => each_wide!(Number::mul),
        BinaryOp::Div => each_wide!(Signed::div),
        BinaryOp::Min => each_wide!(Ordered::least),
        BinaryOp::Max => each_wide!(Ordered::most),
        _ => real(op),
    }
}

fn complex<T: Signed>(op: BinaryOp) -> Option<Kernel<T>> {
    match op {
        BinaryOp::Sub => each!(Signed::sub),
        BinaryOp::Div => each!(Signed::div),
        _ => common(op),
    }
}

fn common<T: Number>(op: BinaryOp) -> Option<Kernel<T>> {
    match op {
        BinaryOp::Add => each!(Number::add),
        BinaryOp::Mul => each!(Number::mul),
        _ => None,
    }
}
