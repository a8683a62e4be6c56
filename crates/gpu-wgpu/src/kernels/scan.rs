//! Running reductions along lines, of any length.
//!
//! A short line, or one of very many, is walked by one invocation. Others are cut into pieces of a
//! workgroup each: one kernel folds every piece, one turns the folds of a line into what comes
//! before each piece, one walks the pieces again from there. Promises one accumulator type from the
//! first element to the last. Knows nothing of buffers.

use super::element::{Reg, Width, decode, encode};
use super::functions::{self, Fold};
use super::launch::{Launch, Operand, TURNS};
use super::reduce::{Cut, End, Lines, Reduce, folded, groups, lifted, step};
use super::space::View32;
use super::text::{Seen, Text, param, word};
use super::{GROUP, Kernel};
use gpu_seam::{DType, GpuError, Op, ScanOp};

/// Lines up to this length are walked by one invocation each.
const SHORT: usize = 256;
/// So many lines are walked by one invocation each, unless they are very long.
const MANY: usize = 8192;
/// Elements that an invocation of a workgroup walks, at least.
const RUN: usize = 8;
/// Pieces of a line, at most: one invocation goes through them.
const PIECES: usize = 1024;

/// What a kernel of a scan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// An invocation walks a whole line.
    Line,
    /// An invocation replaces the folds of a line's pieces by what comes before each.
    Carries,
    /// A workgroup walks a piece, from what comes before it where there is more than one.
    Piece { carried: bool },
}

/// One kernel of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scan {
    op: ScanOp,
    input: DType,
    out: DType,
    part: Part,
}

impl Scan {
    /// The text of the kernel. Bindings: the output and the input (for [`Part::Carries`] the
    /// scratch), then the scratch of a carried piece.
    pub(crate) fn source(&self) -> String {
        let fold =
            functions::running(self.op).and_then(|op| functions::fold(op, self.input, self.out));
        let Some(fold) = fold else {
            return String::new();
        };
        let acc = Seen::Plain(Width::of(fold.acc));
        if self.part == Part::Carries {
            return carries(&fold, acc);
        }
        let width = Width::of(self.out);
        let out = match width.is_narrow() {
            true => Seen::Atomic(width),
            false => Seen::Plain(width),
        };
        let mut bindings = vec![out, Seen::Plain(Width::of(self.input))];
        let carried = self.part == Part::Piece { carried: true };
        bindings.extend(carried.then_some(acc));
        let mut text = Text::new(&bindings);
        step(&mut text, &fold);
        lifted(&mut text, &fold, End::View(self.input));
        let ty = Reg::of(fold.acc).wgsl();
        let made = encode(self.out, "acc");
        let strides = [word::STRIDES, word::STRIDES + word::RANK];
        let (item, run) = match self.part {
            Part::Line => (format!("group * {GROUP}u + local"), "start"),
            _ => ("group".to_owned(), "first"),
        };
        let places = format!(
            "let item = {item};\n\
             if item >= {count} {{\n    return;\n}}\n\
             let line = item / {pieces};\n\
             let start = (item % {pieces}) * {piece};\n\
             let end = min(start + {piece}, {length});\n\
             let outer = line / {inner};\n\
             let inner = line % {inner};\n\
             let put = {base_to} + outer * {to0} + inner * {to2};\n\
             let taken = {base_from} + outer * {from0} + inner * {from2};\n",
            count = param(word::COUNT),
            length = param(word::EXTRA),
            piece = param(word::EXTRA + 1),
            pieces = param(word::EXTRA + 2),
            inner = param(word::EXTRA + 3),
            base_to = param(word::BASE),
            base_from = param(word::BASE + 1),
            to0 = param(strides[0]),
            to2 = param(strides[0] + 2),
            from0 = param(strides[1]),
            from2 = param(strides[1] + 2),
        );
        let (to, from) = (param(strides[0] + 1), param(strides[1] + 1));
        // The first element is taken as it is: there need be no neutral accumulator before it.
        let walk = format!(
            "for (var r = {run}; r < last; r++) {{\n    \
             let value = lifted(taken + r * {from});\n    \
             if begun {{\n        acc = step(acc, value);\n    }} else {{\n        \
             acc = value;\n        begun = true;\n    }}\n    \
             store0(put + r * {to}, {made});\n\
             }}\n"
        );
        let body = match self.part {
            Part::Line => format!(
                "{places}let last = end;\nvar acc: {ty} = {};\nvar begun = false;\n{walk}",
                fold.start
            ),
            _ => {
                text.line(&format!("var<workgroup> folds: array<{ty}, {GROUP}>;"));
                let carry = match carried {
                    true => format!(
                        "if start > 0u {{\n    let before = {};\n    \
                         if begun {{\n        acc = step(before, acc);\n    }} else {{\n        \
                         acc = before;\n        begun = true;\n    }}\n}}\n",
                        decode(
                            fold.acc,
                            &format!("load2({} + item)", param(word::BASE + 2))
                        )
                    ),
                    false => String::new(),
                };
                format!("{places}{}{carry}{walk}", before(ty, &fold, &from))
            }
        };
        text.main(GROUP, &body);
        text.finish()
    }
}

/// Folds each invocation's run and gives `acc` and `begun` of the runs before it (Hillis and Steele,
/// "Data parallel algorithms", 1986).
fn before(ty: &str, fold: &Fold, from: &str) -> String {
    format!(
        "let length = (end - start + {last}u) / {GROUP}u;\n\
         let first = min(start + local * length, end);\n\
         let last = min(first + length, end);\n\
         var total: {ty} = {start};\n\
         for (var r = first; r < last; r++) {{\n    \
         total = step(total, lifted(taken + r * {from}));\n\
         }}\n\
         folds[local] = total;\n\
         workgroupBarrier();\n\
         for (var reach = 1u; reach < {GROUP}u; reach <<= 1u) {{\n    \
         var joined = folds[local];\n    \
         if local >= reach {{\n        joined = step(folds[local - reach], joined);\n    }}\n    \
         workgroupBarrier();\n    \
         folds[local] = joined;\n    \
         workgroupBarrier();\n\
         }}\n\
         var begun = local > 0u;\n\
         var acc: {ty} = {start};\n\
         if begun {{\n    acc = folds[local - 1u];\n}}\n",
        start = fold.start,
        last = GROUP - 1,
    )
}

fn carries(fold: &Fold, acc: Seen) -> String {
    let mut text = Text::new(&[acc]);
    step(&mut text, fold);
    let ty = Reg::of(fold.acc).wgsl();
    text.main(
        GROUP,
        &format!(
            "let line = group * {GROUP}u + local;\n\
             if line >= {count} {{\n    return;\n}}\n\
             let first = {base} + line * {pieces};\n\
             var acc: {ty} = {start};\n\
             for (var piece = 0u; piece < {pieces}; piece++) {{\n    \
             let own = {own};\n    \
             store0(first + piece, {before});\n    \
             acc = step(acc, own);\n\
             }}\n",
            count = param(word::COUNT),
            base = param(word::BASE),
            pieces = param(word::EXTRA + 2),
            start = fold.start,
            own = decode(fold.acc, "load0(first + piece)"),
            before = encode(fold.acc, "acc"),
        ),
    );
    text.finish()
}

/// The launches of a scan and the bytes of scratch they need; `None` when it is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let Op::Scan { op, out, input } = *op else {
        return Ok(None);
    };
    let Some(reduce) = functions::running(op) else {
        return Ok(None);
    };
    let Some(fold) = functions::fold(reduce, input.dtype, out.dtype) else {
        return Ok(None);
    };
    let name = op.name();
    let lines = Lines::of(name, &input)?;
    let kernel = |part| {
        Kernel::Scan(Scan {
            op,
            input: input.dtype,
            out: out.dtype,
            part,
        })
    };
    let walk = |part, items, grouped, cut: Cut| -> Result<Launch, GpuError> {
        let mut launch = Launch::new(kernel(part), groups(name, items, grouped)?);
        launch.param(word::COUNT, u32::try_from(items).unwrap_or(u32::MAX));
        lines.enter(&mut launch, cut.pieces, cut.piece);
        let view = View32::of(name, &out)?;
        for at in 0..3 {
            launch.param(word::STRIDES + at, view.stride(at));
        }
        launch.bind(Operand::argument(0, out.dtype, out.offset));
        launch.bind(Operand::argument(1, input.dtype, input.offset));
        Ok(launch)
    };
    let group = GROUP as usize;
    if lines.length <= SHORT || lines.count >= MANY && lines.length < TURNS {
        let cut = Cut {
            grouped: false,
            pieces: 1,
            piece: lines.length,
        };
        let launch = walk(Part::Line, lines.count, false, cut)?;
        return Ok(Some((vec![launch], 0)));
    }
    let run = RUN.max(lines.length.div_ceil(group * PIECES));
    let piece = (run * group).min(lines.length);
    let cut = Cut {
        grouped: true,
        pieces: lines.length.div_ceil(piece),
        piece,
    };
    let items = lines.count * cut.pieces;
    if cut.pieces == 1 {
        let launch = walk(Part::Piece { carried: false }, items, true, cut)?;
        return Ok(Some((vec![launch], 0)));
    }
    let acc = Width::of(fold.acc);
    let scratch = Operand::scratch(acc, 0);
    let mut first = folded(Reduce::partial(reduce, input.dtype, out.dtype), &lines, cut)?;
    first.bind(scratch);
    first.bind(Operand::argument(1, input.dtype, input.offset));
    let groups = groups(name, lines.count, false)?;
    let mut second = Launch::new(kernel(Part::Carries), groups);
    second.param(word::COUNT, u32::try_from(lines.count).unwrap_or(u32::MAX));
    second.param(
        word::EXTRA + 2,
        u32::try_from(cut.pieces).unwrap_or(u32::MAX),
    );
    second.bind(scratch);
    let mut third = walk(Part::Piece { carried: true }, items, true, cut)?;
    third.bind(scratch);
    Ok(Some((vec![first, second, third], items * acc.bytes())))
}
