//! Functions of one element.
//!
//! Promises [`Op::Unary`](gpu_seam::Op::Unary). What a function does to a value is
//! [`number`](super::number)'s and [`complex`](super::complex)'s business.

use super::complex::Wide;
use super::element::{Bool, C64, C128, Element, bf16, f16};
use super::grain;
use super::math::wide;
use super::number::{Analytic, Bitwise, Conjugate, Number, Real, Signed};
use super::raw::{Args, Source, map1};
use gpu_seam::{DType, UnaryOp, View};

/// A function of a run of elements.
type Kernel<T, O> = fn(&mut [O], &[T]);

/// A loop over a run.
macro_rules! each {
    ($f:expr) => {
        Some(|out, input| {
            for (out, &x) in out.iter_mut().zip(input) {
                *out = $f(x);
            }
        })
    };
}

/// `out = op(input)`; `None` when it is not served.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    op: UnaryOp,
    out: View<'a>,
    input: View<'a>,
) -> Option<()> {
    let call = Call {
        args,
        op,
        out,
        input,
    };
    match input.dtype {
        DType::Bool => call.run(boolean(op)),
        DType::U8 => call.run(integer::<u8>(op)),
        DType::I8 => call.run(integer::<i8>(op)),
        DType::U32 => call.run(integer::<u32>(op)),
        DType::I32 => call.run(integer::<i32>(op)),
        DType::I64 => call.run(integer::<i64>(op)),
        DType::F16 => call.run(float::<f16>(op)),
        DType::BF16 => call.run(float::<bf16>(op)),
        DType::F32 => call.run(float::<f32>(op)),
        DType::F64 => call.run(float::<f64>(op)),
        DType::Complex64 => match op {
            UnaryOp::Abs => call.run::<C64, f32>(each!(Wide::abs)),
            _ => call.run(complex::<C64>(op)),
        },
        DType::Complex128 => match op {
            UnaryOp::Abs => call.run::<C128, f64>(each!(Wide::abs)),
            _ => call.run(complex::<C128>(op)),
        },
        _ => None,
    }
}

/// One call, before its types are known.
struct Call<'c, 'a> {
    args: &'c Args<'a>,
    op: UnaryOp,
    out: View<'a>,
    input: View<'a>,
}

impl Call<'_, '_> {
    /// Runs `kernel`, or the type's own test for NaN.
    fn run<T: Number, O: Element>(&self, kernel: Option<Kernel<T, O>>) -> Option<()> {
        let input = Source::Window(self.args.window::<T>(1, self.input));
        if self.op == UnaryOp::IsNan {
            let kernel: Option<Kernel<T, Bool>> = each!(|x: T| Bool::from(x.nan()));
            map1(self.args.window(0, self.out), input, grain::LIGHT, kernel?);
        } else {
            let grain = match self.op {
                UnaryOp::Neg | UnaryOp::Conj | UnaryOp::Not => grain::LIGHT,
                _ if T::DTYPE.is_complex() => grain::HEAVY,
                _ => grain::MEDIUM,
            };
            map1(self.args.window(0, self.out), input, grain, kernel?);
        }
        Some(())
    }
}

fn boolean(op: UnaryOp) -> Option<Kernel<Bool, Bool>> {
    match op {
        UnaryOp::Abs | UnaryOp::Conj => each!(|x| x),
        UnaryOp::Not => each!(Bitwise::complement),
        _ => None,
    }
}

fn integer<T: Real + Bitwise>(op: UnaryOp) -> Option<Kernel<T, T>> {
    match op {
        UnaryOp::Neg => each!(Signed::neg),
        UnaryOp::Abs => each!(Real::magnitude),
        UnaryOp::Conj => each!(|x| x),
        UnaryOp::Not => each!(Bitwise::complement),
        _ => None,
    }
}

fn float<T: Real + Analytic>(op: UnaryOp) -> Option<Kernel<T, T>> {
    match op {
        UnaryOp::Neg => each!(Signed::neg),
        UnaryOp::Abs => each!(Real::magnitude),
        UnaryOp::Conj => each!(|x| x),
        _ => real_analytic(op),
    }
}

fn complex<T: Analytic + Conjugate>(op: UnaryOp) -> Option<Kernel<T, T>> {
    match op {
        UnaryOp::Neg => each!(Signed::neg),
        UnaryOp::Conj => each!(Conjugate::conjugate),
        _ => analytic(op),
    }
}

/// A loop over a run, compiled for wide vectors.
macro_rules! each_wide {
    ($f:expr) => {
        Some(|out, input| {
            wide(|| {
                for (out, &x) in out.iter_mut().zip(input) {
                    *out = $f(x);
                }
            });
        })
    };
}

/// Functions of floats, which vectorise.
fn real_analytic<T: Analytic>(op: UnaryOp) -> Option<Kernel<T, T>> {
    match op {
        UnaryOp::Exp => each_wide!(Analytic::exp),
        UnaryOp::Log => each_wide!(Analytic::log),
        UnaryOp::Sqrt => each_wide!(Analytic::sqrt),
        UnaryOp::Tanh => each_wide!(Analytic::tanh),
        UnaryOp::Recip => each_wide!(Analytic::recip),
        _ => None,
    }
}

fn analytic<T: Analytic>(op: UnaryOp) -> Option<Kernel<T, T>> {
    match op {
        UnaryOp::Exp => each!(Analytic::exp),
        UnaryOp::Log => each!(Analytic::log),
        UnaryOp::Sqrt => each!(Analytic::sqrt),
        UnaryOp::Tanh => each!(Analytic::tanh),
        UnaryOp::Recip => each!(Analytic::recip),
        _ => None,
    }
}
