//! The entry point of kernels that make each output element from its number.
//!
//! A kernel brings `element(i)`, the raw output element number i in row-major order. An invocation
//! makes one element, or, where narrow elements lie one after the other, one whole word of them, so
//! that no two invocations write parts of one word; narrow elements that lie apart are put into
//! their words atomically. Promises that nothing but the output's elements is written. Knows
//! nothing of what an element is made of.

use super::GROUP;
use super::element::Width;
use super::launch::Threads;
use super::space::{Space, View32};
use super::text::{Seen, Text, param, word};
use gpu_seam::{GpuError, View};

/// How the output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Each {
    width: Width,
    /// Whether an invocation makes a whole word of narrow elements.
    packed: bool,
}

impl Each {
    /// How `out` is written.
    pub(crate) fn of(out: &View<'_>) -> Self {
        let width = Width::of(out.dtype);
        Self {
            width,
            packed: width.is_narrow() && out.is_contiguous(),
        }
    }

    /// How the kernel sees binding 0.
    pub(crate) const fn seen(self) -> Seen {
        match self.width.is_narrow() && !self.packed {
            true => Seen::Atomic(self.width),
            false => Seen::Plain(self.width),
        }
    }

    /// Workgroups that make the `count` elements of `out`.
    pub(crate) fn groups(
        self,
        name: &'static str,
        out: &View<'_>,
        count: u32,
    ) -> Result<u32, GpuError> {
        let threads = match self.packed {
            true => {
                let per = 4 / self.width.bytes();
                Threads::of(name, (out.offset % per + count as usize).div_ceil(per))?
            }
            false => Threads::of(name, count as usize)?,
        };
        Ok(threads.groups(GROUP))
    }

    /// Adds the entry point. `space` says where the output's elements lie.
    pub(crate) fn main(self, text: &mut Text, space: Space) {
        let count = param(word::COUNT);
        let body = if self.packed {
            self.packed(&count)
        } else {
            format!(
                "let i = group * {GROUP}u + local;\n\
                 if i >= {count} {{\n    return;\n}}\n\
                 {coordinates}store0({at}, element(i));\n",
                coordinates = space.coordinates("i"),
                at = space.position("i", 0),
            )
        };
        text.main(GROUP, &body);
    }

    /// Makes one word: the elements in it that are the output's, and the rest as it was.
    fn packed(self, count: &str) -> String {
        let per = 4 / self.width.bytes();
        let bits = 8 * self.width.bytes();
        let ones = match self.width {
            Width::W1 => "0xffu",
            _ => "0xffffu",
        };
        let base = param(word::BASE);
        format!(
            "let at_word = {base} / {per}u + group * {GROUP}u + local;\n\
             let first = at_word * {per}u;\n\
             if first >= {base} + {count} {{\n    return;\n}}\n\
             var made_word = 0u;\n\
             var mask = 0u;\n\
             for (var part = 0u; part < {per}u; part++) {{\n    \
             // Before the first element this wraps to far beyond the last.\n    \
             let i = first + part - {base};\n    \
             if i < {count} {{\n        \
             made_word |= element(i) << (part * {bits}u);\n        \
             mask |= {ones} << (part * {bits}u);\n    \
             }}\n\
             }}\n\
             if mask != 0xffffffffu {{\n    \
             made_word |= b0[at_word] & ~mask;\n\
             }}\n\
             b0[at_word] = made_word;\n"
        )
    }
}

/// The count of `out`'s elements, and its view.
pub(crate) fn measured<'a>(
    name: &'static str,
    out: &View<'a>,
) -> Result<(u32, View32<'a>), GpuError> {
    Ok((View32::count(name, out)?, View32::of(name, out)?))
}
