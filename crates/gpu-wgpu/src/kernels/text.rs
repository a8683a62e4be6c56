//! The parts that every kernel's text has: bindings, parameters, the library functions it names.
//!
//! Promises that a kernel's text holds exactly the library functions it reaches, each once. Knows
//! nothing of what a kernel computes.

use super::element::{Width, raw_type};
use super::library;
use std::fmt::Write as _;

/// The words of the parameters: what every kernel means by them.
pub(crate) mod word {
    /// How many elements, lines or groups there are.
    pub(crate) const COUNT: usize = 0;
    /// The position of the first element of each binding's view, in elements of the binding.
    pub(crate) const BASE: usize = 1;
    /// What a family needs besides.
    pub(crate) const EXTRA: usize = 6;
    /// The raw words of the first scalar.
    pub(crate) const SCALAR: usize = 16;
    /// The raw words of the second scalar.
    pub(crate) const SECOND: usize = 20;
    /// Dimensions, outermost first.
    pub(crate) const DIMS: usize = 24;
    /// Strides of operand 0; those of the next follow after [`RANK`] words.
    pub(crate) const STRIDES: usize = DIMS + RANK;
    /// The most dimensions.
    pub(crate) const RANK: usize = 16;
}

/// The expression for parameter word `at`.
pub(crate) fn param(at: usize) -> String {
    let part = ["x", "y", "z", "w"][at % 4];
    format!("P[{}].{part}", at / 4)
}

/// The expression for `count` raw words from parameter word `at` on, a multiple of 4.
pub(crate) fn raw_param(at: usize, width: Width) -> String {
    let swizzle = match width {
        Width::W8 => "xy",
        Width::W16 => "xyzw",
        _ => "x",
    };
    format!("P[{}].{swizzle}", at / 4)
}

/// How a kernel sees a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Elements of that width; narrow ones packed in words.
    Plain(Width),
    /// Words, atomically: narrow elements that several invocations write, or counters.
    Atomic(Width),
}

/// The text of a kernel under construction.
pub(crate) struct Text {
    head: String,
    body: String,
}

impl Text {
    /// A kernel with those bindings, in order.
    pub(crate) fn new(bindings: &[Seen]) -> Self {
        let mut head = String::new();
        for (at, seen) in bindings.iter().enumerate() {
            let element = match seen {
                Seen::Plain(width) => raw_type(*width).to_owned(),
                Seen::Atomic(_) => "atomic<u32>".to_owned(),
            };
            let _ = writeln!(
                head,
                "@group(0) @binding({at}) var<storage, read_write> b{at}: array<{element}>;"
            );
        }
        head.push_str("@group(1) @binding(0) var<uniform> P: array<vec4<u32>, 32>;\n");
        let mut text = Self {
            head,
            body: String::new(),
        };
        for (at, seen) in bindings.iter().enumerate() {
            text.accessors(at, *seen);
        }
        text
    }

    /// `load{at}(i)` and `store{at}(i, raw)` of a binding. A plain narrow binding has no store: two
    /// invocations must not write parts of one word.
    fn accessors(&mut self, at: usize, seen: Seen) {
        let (width, atomic) = match seen {
            Seen::Plain(width) => (width, false),
            Seen::Atomic(width) => (width, true),
        };
        let raw = raw_type(width);
        let word = |index: &str| match atomic {
            true => format!("atomicLoad(&b{at}[{index}])"),
            false => format!("b{at}[{index}]"),
        };
        let (load, store) = match width {
            Width::W1 | Width::W2 => {
                let (shift, part, bits, mask) = match width {
                    Width::W1 => ("2u", "3u", "3u", "0xffu"),
                    _ => ("1u", "1u", "4u", "0xffffu"),
                };
                let load = format!(
                    "return ({} >> ((i & {part}) << {bits})) & {mask};",
                    word(&format!("i >> {shift}"))
                );
                let store = format!(
                    "let s = (i & {part}) << {bits};\n    \
                     atomicAnd(&b{at}[i >> {shift}], ~({mask} << s));\n    \
                     atomicOr(&b{at}[i >> {shift}], raw << s);"
                );
                (load, atomic.then_some(store))
            }
            _ if atomic => (
                format!("return {};", word("i")),
                Some(format!("atomicStore(&b{at}[i], raw);")),
            ),
            _ => (
                format!("return b{at}[i];"),
                Some(format!("b{at}[i] = raw;")),
            ),
        };
        self.line(&format!("fn load{at}(i: u32) -> {raw} {{\n    {load}\n}}"));
        if let Some(store) = store {
            self.line(&format!(
                "fn store{at}(i: u32, raw: {raw}) {{\n    {store}\n}}"
            ));
        }
    }

    /// Adds lines.
    pub(crate) fn line(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Adds the entry point with `size` invocations a workgroup. In `body`, `group` is the linear
    /// number of the workgroup and `local` that of the invocation in it.
    pub(crate) fn main(&mut self, size: u32, body: &str) {
        self.line(&format!(
            "@compute @workgroup_size({size})\n\
             fn main(@builtin(workgroup_id) place: vec3<u32>, \
             @builtin(num_workgroups) grid: vec3<u32>, \
             @builtin(local_invocation_index) local: u32) {{\n    \
             let group = place.y * grid.x + place.x;\n{}}}",
            indent(body)
        ));
    }

    /// The whole text, with what it needs of the library. Accessors that nothing calls are left
    /// out, as the library's functions are.
    pub(crate) fn finish(self) -> String {
        let mut text = self.head;
        text.push_str(&library::link(&self.body));
        text
    }
}

/// `body` a level further in.
pub(crate) fn indent(body: &str) -> String {
    let mut text = String::new();
    for line in body.lines() {
        if !line.is_empty() {
            text.push_str("    ");
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Seen, Text, param};
    use crate::kernels::element::Width;

    #[test]
    fn parameters_are_words_of_vectors() {
        assert_eq!((param(0), param(7)), ("P[0].x".into(), "P[1].w".into()));
    }

    #[test]
    fn what_nothing_calls_is_left_out() {
        let mut text = Text::new(&[Seen::Atomic(Width::W1), Seen::Plain(Width::W2)]);
        text.main(64, "store0(local, load1(group));");
        let text = text.finish();
        assert!(text.contains("fn store0(") && text.contains("fn load1("));
        assert!(!text.contains("fn load0("), "{text}");
    }
}
