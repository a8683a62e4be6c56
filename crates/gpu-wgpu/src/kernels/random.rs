//! Random numbers: Philox4x32-10, element by element.
//!
//! Promises that element i depends on the seed and `first + i` alone, and that uniform numbers have
//! the same bits on every device. Normal numbers are as near as the device's arithmetic. Knows
//! nothing of buffers.

use super::Kernel;
use super::each::{Each, measured};
use super::element::{Width, encode, raw_type};
use super::launch::{Launch, Operand};
use super::space::Space;
use super::text::{Text, param, word};
use gpu_seam::{DType, Distribution, GpuError, Op};

/// One random kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Random {
    distribution: Distribution,
    out: DType,
    each: Each,
}

/// Where the parameters have the words of the seed and of the first counter.
const SEED: usize = word::EXTRA;
const FIRST: usize = word::EXTRA + 2;

impl Random {
    /// The text of the kernel. Its one binding is the output.
    pub(crate) fn source(&self) -> String {
        let mut text = Text::new(&[self.each.seen()]);
        let words = format!(
            "let at = add_i64(vec2<u32>({}, {}), vec2<u32>(i, 0u));\n    \
             let words = philox(vec4<u32>(at, 0u, 0u), vec2<u32>({}, {}));",
            param(FIRST),
            param(FIRST + 1),
            param(SEED),
            param(SEED + 1)
        );
        // The documentation of `Distribution` says which words become which numbers.
        let wide = self.out.real() == DType::F64;
        let (u0, u1) = match wide {
            true => ("unit_f64(words.xy)", "unit_f64(words.zw)"),
            false => ("unit_f32(words.x)", "unit_f32(words.y)"),
        };
        text.line(
            "fn unit_f32(word: u32) -> f32 {\n    \
             return f32(word >> 8u) * 5.9604644775390625e-8f;\n}\n\
             fn unit_f64(words: vec2<u32>) -> f64 {\n    \
             // Whole numbers below 2^53, by halves that convert exactly.\n    \
             let low = (words.x >> 11u) | (words.y << 21u);\n    \
             return f64(words.y >> 11u) * 4.76837158203125e-7lf + \
             f64(low) * 1.1102230246251565e-16lf;\n}",
        );
        let real = if wide { "f64" } else { "f32" };
        let one = if wide { "1.0lf" } else { "1.0f" };
        let two = if wide { "-2.0lf" } else { "-2.0f" };
        text.line(&format!(
            "fn normal(u0: {real}, u1: {real}) -> vec2<{real}> {{\n    \
             // 1 - u0 is exact, and not 0.\n    \
             return sqrt({two} * log_{real}({one} - u0)) * circle_of_{real}(u1);\n}}"
        ));
        let complex = self.out.is_complex();
        let value = match (self.distribution, complex) {
            (Distribution::Uniform, false) => u0.to_owned(),
            (Distribution::Uniform, true) => format!("vec2<{real}>({u0}, {u1})"),
            (_, false) => format!("normal({u0}, {u1}).x"),
            (_, true) => format!("normal({u0}, {u1})"),
        };
        let uniform = self.distribution == Distribution::Uniform;
        let raw = match self.out {
            DType::F16 if uniform => format!("f16_below({value})"),
            DType::BF16 if uniform => format!("(bitcast<u32>({value}) >> 16u)"),
            other => encode(other, &value),
        };
        text.line(&format!(
            "fn element(i: u32) -> {} {{\n    {words}\n    return {raw};\n}}",
            raw_type(Width::of(self.out))
        ));
        self.each.main(&mut text, Space::Linear);
        text.finish()
    }
}

/// The launch of a random operation; `None` when it is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<Launch>, GpuError> {
    let Op::Random {
        distribution,
        out,
        seed,
        first,
    } = *op
    else {
        return Ok(None);
    };
    let known = matches!(distribution, Distribution::Uniform | Distribution::Normal);
    if !known || !(out.dtype.is_float() || out.dtype.is_complex()) {
        return Ok(None);
    }
    let (count, view) = measured(op.name(), &out)?;
    let each = Each::of(&out);
    let kernel = Kernel::Random(Random {
        distribution,
        out: out.dtype,
        each,
    });
    let mut launch = Launch::new(kernel, each.groups(op.name(), &out, count)?);
    launch.param(word::COUNT, count);
    for (at, word) in [(SEED, seed), (FIRST, first)] {
        let [low, high] = halves(word);
        launch.param(at, low);
        launch.param(at + 1, high);
    }
    launch.bind(Operand::argument(0, view.dtype(), view.offset()));
    Ok(Some(launch))
}

/// The low and the high word.
fn halves(word: u64) -> [u32; 2] {
    let bytes = word.to_le_bytes();
    let half =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    [half(0), half(4)]
}
