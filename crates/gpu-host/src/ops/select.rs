//! The choice of one of two elements.
//!
//! Promises [`Op::Select`](gpu_seam::Op::Select) for every element type: elements move as bits.

use super::element::{Bool, Plain, with_bits};
use super::grain;
use super::raw::{Args, Source, map3};
use gpu_seam::{Operand, View};

/// `out = if condition { on_true } else { on_false }`.
pub(super) fn execute<'a>(
    args: &Args<'a>,
    out: View<'a>,
    condition: View<'a>,
    on_true: Operand<'a>,
    on_false: Operand<'a>,
) -> Option<()> {
    with_bits!(out.dtype, T => {
        let condition = Source::Window(args.window::<Bool>(1, condition));
        let mut next = 2;
        let on_true = bits::<T>(args, &mut next, on_true);
        let on_false = bits::<T>(args, &mut next, on_false);
        map3(args.window::<T>(0, out), condition, on_true, on_false, grain::LIGHT, |out, c, t, f| {
            for (((out, c), &t), &f) in out.iter_mut().zip(c).zip(t).zip(f) {
                *out = if c.get() { t } else { f };
            }
        });
    });
    Some(())
}

/// An operand as bits.
fn bits<'a, T: Plain>(args: &Args<'a>, next: &mut usize, operand: Operand<'a>) -> Source<'a, T> {
    match operand {
        Operand::View(view) => {
            *next += 1;
            Source::Window(args.window(*next - 1, view))
        }
        Operand::Scalar(scalar) => Source::Value(T::from_bits(scalar.bits())),
    }
}
