//! Fill and copy, casts included.
//!
//! Promises [`Op::Fill`](gpu_seam::Op::Fill) and [`Op::Copy`](gpu_seam::Op::Copy) for every element
//! type and every pair of them. What a cast does to a value is [`cast`](super::cast)'s business.

use super::cast;
use super::element::{Plain, with_bits, with_element};
use super::grain;
use super::raw::{self, Args, Source, map0, map1};
use gpu_seam::{Scalar, View};

/// `out = value`.
pub(super) fn fill<'a>(args: &Args<'a>, out: View<'a>, value: Scalar) -> Option<()> {
    with_bits!(out.dtype, T => {
        let value = T::from_bits(value.bits());
        map0(args.window::<T>(0, out), grain::LIGHT, &|out| out.fill(value));
    });
    Some(())
}

/// `out = input`, cast when the dtypes differ.
pub(super) fn copy<'a>(args: &Args<'a>, out: View<'a>, input: View<'a>) -> Option<()> {
    if out.dtype == input.dtype {
        with_bits!(out.dtype, T => raw::copy(args.window::<T>(0, out), args.window(1, input)));
        return Some(());
    }
    with_element!(input.dtype, I => with_element!(out.dtype, O => {
        let input = Source::Window(args.window::<I>(1, input));
        map1(args.window::<O>(0, out), input, grain::LIGHT, cast::kernel::<I, O>());
        Some(())
    }, _ => None), _ => None)
}
