//! Positions of extremes.
//!
//! As a reduction, of pairs of a value and its position. The first of equals wins whatever the
//! order in which pairs meet, since positions are compared too. Promises that a NaN wins at its
//! first place. Knows nothing of buffers.

use super::element::{Reg, Width, decode, encode};
use super::launch::{Launch, Operand};
use super::reduce::{Cut, End, Lines, groups, partials, to_view, tree};
use super::text::{Seen, Text, param, word};
use super::{GROUP, Kernel};
use gpu_seam::{ArgOp, DType, GpuError, Op};

/// One kernel of an arg-reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Arg {
    op: ArgOp,
    input: DType,
    from: End,
    to: End,
    grouped: bool,
}

impl Arg {
    /// The text of the kernel. Bindings: where results go, the values, and the positions of partial
    /// results, where there are any.
    pub(crate) fn source(&self) -> String {
        let reg = Reg::of(self.input);
        let held = reg.dtype();
        let (ty, suffix) = (reg.wgsl(), reg.suffix());
        let out = match self.to {
            End::View(_) => Seen::Plain(Width::W8),
            End::Partial => Seen::Plain(Width::of(held)),
        };
        let input = match self.from {
            End::View(dtype) => Seen::Plain(Width::of(dtype)),
            End::Partial => Seen::Plain(Width::of(held)),
        };
        let partial = self.from == End::Partial || self.to == End::Partial;
        let mut bindings = vec![out, input];
        bindings.extend(partial.then_some(Seen::Plain(Width::W4)));
        let mut text = Text::new(&bindings);
        let wins = match self.op {
            ArgOp::ArgMin => format!("less_{suffix}(b.value, a.value)"),
            _ => format!("less_{suffix}(a.value, b.value)"),
        };
        text.line(&format!(
            "struct Best {{\n    value: {ty},\n    at: u32,\n}}\n\
             // Whichever of the two is the extreme. Position 0xffffffff is that of nothing.\n\
             fn better(a: Best, b: Best) -> Best {{\n    \
             if b.at == 0xffffffffu {{\n        return a;\n    }}\n    \
             if a.at == 0xffffffffu {{\n        return b;\n    }}\n    \
             let first = b.at < a.at;\n    \
             let not_a = nan_{suffix}(a.value);\n    \
             let not_b = nan_{suffix}(b.value);\n    \
             if not_a || not_b {{\n        \
             if not_b && (first || !not_a) {{\n            return b;\n        }}\n        \
             return a;\n    }}\n    \
             if {wins} || (first && equal_{suffix}(a.value, b.value)) {{\n        return b;\n    }}\n    \
             return a;\n}}"
        ));
        let found = match self.from {
            End::View(dtype) => format!("Best({}, r)", decode(dtype, "load1(i)")),
            End::Partial => format!(
                "Best({}, load2({} + (i - {})))",
                decode(held, "load1(i)"),
                param(word::BASE + 2),
                param(word::BASE + 1),
            ),
        };
        text.line(&format!(
            "fn found(i: u32, r: u32) -> Best {{\n    return {found};\n}}"
        ));
        let stored = match self.to {
            End::View(_) => format!(
                "store0({} + outer * {} + inner * {}, vec2<u32>(acc.at, 0u));",
                param(word::BASE),
                param(word::STRIDES),
                param(word::STRIDES + 1)
            ),
            End::Partial => format!(
                "store0({} + item, {});\nstore2({} + item, acc.at);",
                param(word::BASE),
                encode(held, "acc.value"),
                param(word::BASE + 2)
            ),
        };
        let mut body = self.body();
        if self.grouped {
            text.line(&format!("var<workgroup> tree: array<Best, {GROUP}>;"));
            body.push_str(&tree(
                "tree[local] = better(tree[local], tree[local + half]);",
            ));
            body.push_str(&format!(
                "if local == 0u {{\n    acc = tree[0];\n{}}}\n",
                super::text::indent(&stored)
            ));
        } else {
            body.push_str(&stored);
            body.push('\n');
        }
        text.main(GROUP, &body);
        text.finish()
    }

    fn body(&self) -> String {
        let stride = word::STRIDES + word::RANK;
        let (item, first, by) = match self.grouped {
            true => ("group".to_owned(), "start + local", format!("{GROUP}u")),
            false => (
                format!("group * {GROUP}u + local"),
                "start",
                "1u".to_owned(),
            ),
        };
        format!(
            "let item = {item};\n\
             if item >= {count} {{\n    return;\n}}\n\
             let line = item / {pieces};\n\
             let start = (item % {pieces}) * {piece};\n\
             let end = min(start + {piece}, {length});\n\
             let outer = line / {inner};\n\
             let inner = line % {inner};\n\
             let at = {base} + outer * {outer_stride} + inner * {inner_stride};\n\
             var acc: Best;\n\
             acc.at = 0xffffffffu;\n\
             for (var r = {first}; r < end; r += {by}) {{\n    \
             acc = better(acc, found(at + r * {line_stride}, r));\n\
             }}\n",
            count = param(word::COUNT),
            length = param(word::EXTRA),
            piece = param(word::EXTRA + 1),
            pieces = param(word::EXTRA + 2),
            inner = param(word::EXTRA + 3),
            base = param(word::BASE + 1),
            outer_stride = param(stride),
            line_stride = param(stride + 1),
            inner_stride = param(stride + 2),
        )
    }
}

/// The launches of an arg-reduction and the bytes of scratch they need; `None` when it is not
/// served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let Op::ArgReduce { op, out, input } = *op else {
        return Ok(None);
    };
    let known = matches!(op, ArgOp::ArgMin | ArgOp::ArgMax);
    if !known || input.dtype.is_complex() || out.dtype != DType::I64 {
        return Ok(None);
    }
    let name = op.name();
    let lines = Lines::of(name, &input)?;
    let held = Width::of(Reg::of(input.dtype).dtype());
    let cut = Cut::of(&lines, held.bytes() + 4);
    let kernel = Arg {
        op,
        input: input.dtype,
        from: End::View(input.dtype),
        to: End::View(out.dtype),
        grouped: cut.grouped,
    };
    if cut.pieces == 1 {
        let mut launch = found(kernel, &lines, cut)?;
        launch.bind(Operand::argument(0, out.dtype, out.offset));
        launch.bind(Operand::argument(1, input.dtype, input.offset));
        to_view(&mut launch, name, &out)?;
        return Ok(Some((vec![launch], 0)));
    }
    let items = lines.count * cut.pieces;
    // Positions behind values.
    let positions = Operand::scratch(Width::W4, items * held.bytes() / 4);
    let partial = Arg {
        to: End::Partial,
        ..kernel
    };
    let mut first = found(partial, &lines, cut)?;
    first.bind(Operand::scratch(held, 0));
    first.bind(Operand::argument(1, input.dtype, input.offset));
    first.bind(positions);
    let second = Arg {
        from: End::Partial,
        grouped: cut.pieces > 64,
        ..kernel
    };
    let groups = groups(name, lines.count, second.grouped)?;
    let mut second = Launch::new(Kernel::Arg(second), groups);
    partials(&mut second, &lines, cut);
    second.bind(Operand::argument(0, out.dtype, out.offset));
    second.bind(Operand::scratch(held, 0));
    second.bind(positions);
    to_view(&mut second, name, &out)?;
    Ok(Some((vec![first, second], items * (held.bytes() + 4))))
}

fn found(kernel: Arg, lines: &Lines<'_>, cut: Cut) -> Result<Launch, GpuError> {
    let items = lines.count * cut.pieces;
    let groups = groups(lines.name, items, cut.grouped)?;
    let mut launch = Launch::new(Kernel::Arg(kernel), groups);
    launch.param(word::COUNT, u32::try_from(items).unwrap_or(u32::MAX));
    lines.enter(&mut launch, cut.pieces, cut.piece);
    Ok(launch)
}
