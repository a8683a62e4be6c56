//! Reductions of lines, of any length.
//!
//! A line is folded by one invocation, or by a workgroup with a tree at the end; a long one in
//! pieces, whose partial results lie in scratch and are folded by a second kernel. So no float sum
//! has more than about a thousand terms in a row. Promises one accumulator type from the first
//! element to the last. Knows nothing of buffers.

use super::element::{Reg, Width, decode, encode};
use super::functions::{self, Fold};
use super::launch::{Launch, Operand, Threads};
use super::space::View32;
use super::text::{Seen, Text, param, word};
use super::{GROUP, Kernel};
use gpu_seam::{DType, GpuError, Op, ReduceOp, View};

/// Elements that an invocation folds in a row, at most where there is scratch for more pieces.
const RUN: usize = 1024;
/// Lines up to this length are folded by one invocation each.
const SHORT: usize = 64;
/// Elements that a workgroup folds.
const GROUP_RUN: usize = GROUP as usize * 64;
/// Bytes of scratch for partial results, at most.
const SCRATCH: usize = 64 << 20;

/// Where a kernel's elements come from, or its results go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    /// A view of elements of that dtype.
    View(DType),
    /// Accumulators in scratch.
    Partial,
}

/// One reduction kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Reduce {
    op: ReduceOp,
    /// The dtypes of the whole reduction.
    input: DType,
    out: DType,
    from: End,
    to: End,
    /// Whether a workgroup folds each piece, not an invocation.
    grouped: bool,
}

/// The parameters beyond the common ones.
const LENGTH: usize = word::EXTRA;
const PIECE: usize = word::EXTRA + 1;
const PIECES: usize = word::EXTRA + 2;
const INNER: usize = word::EXTRA + 3;

impl Reduce {
    /// The fold of pieces by workgroups, to scratch.
    pub(crate) const fn partial(op: ReduceOp, input: DType, out: DType) -> Self {
        Self {
            op,
            input,
            out,
            from: End::View(input),
            to: End::Partial,
            grouped: true,
        }
    }

    /// The text of the kernel.
    pub(crate) fn source(&self) -> String {
        let Some(fold) = functions::fold(self.op, self.input, self.out) else {
            return String::new();
        };
        let acc = Width::of(fold.acc);
        let out = match self.to {
            End::View(dtype) if Width::of(dtype).is_narrow() => Seen::Atomic(Width::of(dtype)),
            End::View(dtype) => Seen::Plain(Width::of(dtype)),
            End::Partial => Seen::Plain(acc),
        };
        let input = match self.from {
            End::View(dtype) => Seen::Plain(Width::of(dtype)),
            End::Partial => Seen::Plain(acc),
        };
        let mut text = Text::new(&[out, input]);
        step(&mut text, &fold);
        lifted(&mut text, &fold, self.from);
        let ty = Reg::of(fold.acc).wgsl();
        let (made, at) = match self.to {
            End::View(dtype) => (
                encode(dtype, "acc"),
                format!(
                    "{} + outer * {} + inner * {}",
                    param(word::BASE),
                    param(word::STRIDES),
                    param(word::STRIDES + 1)
                ),
            ),
            End::Partial => (
                encode(fold.acc, "acc"),
                format!("{} + item", param(word::BASE)),
            ),
        };
        let stride = word::STRIDES + word::RANK;
        let (first, by) = match self.grouped {
            true => ("start + local", format!("{GROUP}u")),
            false => ("start", "1u".to_owned()),
        };
        let item = match self.grouped {
            true => "group".to_owned(),
            false => format!("group * {GROUP}u + local"),
        };
        let mut body = format!(
            "let item = {item};\n\
             if item >= {count} {{\n    return;\n}}\n\
             let line = item / {pieces};\n\
             let start = (item % {pieces}) * {piece};\n\
             let end = min(start + {piece}, {length});\n\
             let outer = line / {inner};\n\
             let inner = line % {inner};\n\
             let at = {base} + outer * {outer_stride} + inner * {inner_stride};\n\
             var acc: {ty} = {begin};\n\
             for (var r = {first}; r < end; r += {by}) {{\n    \
             acc = step(acc, lifted(at + r * {line_stride}));\n\
             }}\n",
            count = param(word::COUNT),
            pieces = param(PIECES),
            piece = param(PIECE),
            length = param(LENGTH),
            inner = param(INNER),
            base = param(word::BASE + 1),
            outer_stride = param(stride),
            line_stride = param(stride + 1),
            inner_stride = param(stride + 2),
            begin = fold.start,
        );
        if self.grouped {
            text.line(&format!("var<workgroup> tree: array<{ty}, {GROUP}>;"));
            body.push_str(&tree(
                "tree[local] = step(tree[local], tree[local + half]);",
            ));
            body.push_str(&format!(
                "if local == 0u {{\n    acc = tree[0];\n    store0({at}, {made});\n}}\n"
            ));
        } else {
            body.push_str(&format!("store0({at}, {made});\n"));
        }
        text.main(GROUP, &body);
        text.finish()
    }
}

/// Folds `tree` of a workgroup's accumulators `acc` to its first.
pub(crate) fn tree(join: &str) -> String {
    format!(
        "tree[local] = acc;\n\
         workgroupBarrier();\n\
         for (var half = {}u; half > 0u; half >>= 1u) {{\n    \
         if local < half {{\n        {join}\n    }}\n    \
         workgroupBarrier();\n\
         }}\n",
        GROUP / 2
    )
}

/// `step(a, b)`: the accumulator of `a` and then `b`.
pub(crate) fn step(text: &mut Text, fold: &Fold) {
    let ty = Reg::of(fold.acc).wgsl();
    text.line(&format!(
        "fn step(a: {ty}, b: {ty}) -> {ty} {{\n    return {};\n}}",
        fold.step
    ));
}

/// `lifted(i)`: the accumulator of the element at position i of binding 1.
pub(crate) fn lifted(text: &mut Text, fold: &Fold, from: End) {
    let ty = Reg::of(fold.acc).wgsl();
    let (value, lift) = match from {
        End::View(dtype) => (decode(dtype, "load1(i)"), fold.lift.as_str()),
        End::Partial => (decode(fold.acc, "load1(i)"), "a"),
    };
    text.line(&format!(
        "fn lifted(i: u32) -> {ty} {{\n    let a = {value};\n    return {lift};\n}}"
    ));
}

/// The lines of a reduction or scan, measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub(crate) name: &'static str,
    pub(crate) input: View32<'a>,
    /// Lines, and elements of each.
    pub(crate) count: usize,
    pub(crate) length: usize,
    pub(crate) inner: usize,
    /// Elements from one line to the next in memory lie closer than those of a line.
    pub(crate) across: bool,
}

impl<'a> Lines<'a> {
    /// The lines of `input`, of dims outer, line, inner.
    pub(crate) fn of(name: &'static str, input: &View<'a>) -> Result<Self, GpuError> {
        let [outer, length, inner] = *input.dims else {
            return Err(GpuError::unsupported(
                name,
                format!(
                    "dims {:?} where outer, line and inner are meant",
                    input.dims
                ),
            ));
        };
        let fits = [outer, length, inner, outer.saturating_mul(inner)]
            .iter()
            .all(|&size| size < u32::MAX as usize >> 1);
        if !fits {
            return Err(GpuError::unsupported(
                name,
                format!("dims {:?} exceed what 32-bit positions hold", input.dims),
            ));
        }
        let along = input.strides[1].unsigned_abs();
        Ok(Self {
            name,
            input: View32::of(name, input)?,
            count: outer * inner,
            length,
            inner,
            across: inner >= 32 && input.strides[2].unsigned_abs() < along,
        })
    }

    /// Enters where the lines of binding 1 lie, and how they are cut.
    pub(crate) fn enter(&self, launch: &mut Launch, pieces: usize, piece: usize) {
        // All of these were measured when the lines were.
        let word = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        launch.param(LENGTH, word(self.length));
        launch.param(PIECE, word(piece));
        launch.param(PIECES, word(pieces));
        launch.param(INNER, word(self.inner));
        for at in 0..3 {
            launch.param(word::STRIDES + word::RANK + at, self.input.stride(at));
        }
    }
}

/// How lines are cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) grouped: bool,
    pub(crate) pieces: usize,
    pub(crate) piece: usize,
}

impl Cut {
    /// How lines are best cut, when a partial result takes `bytes`.
    pub(crate) fn of(lines: &Lines<'_>, bytes: usize) -> Self {
        let grouped = !lines.across && lines.length > SHORT;
        let run = if grouped { GROUP_RUN } else { RUN };
        let room = (SCRATCH / bytes / lines.count.max(1)).max(1);
        let pieces = lines.length.div_ceil(run).min(room);
        let piece = lines.length.div_ceil(pieces);
        Self {
            grouped,
            // As many as there are after rounding the piece up.
            pieces: lines.length.div_ceil(piece),
            piece,
        }
    }
}

/// The launches of a reduction and the bytes of scratch they need; `None` when it is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let Op::Reduce { op, out, input } = *op else {
        return Ok(None);
    };
    let Some(fold) = functions::fold(op, input.dtype, out.dtype) else {
        return Ok(None);
    };
    let lines = Lines::of(op.name(), &input)?;
    let acc = Width::of(fold.acc);
    let cut = Cut::of(&lines, acc.bytes());
    let kernel = Reduce {
        op,
        input: input.dtype,
        out: out.dtype,
        from: End::View(input.dtype),
        to: End::View(out.dtype),
        grouped: cut.grouped,
    };
    if cut.pieces == 1 {
        let mut launch = folded(kernel, &lines, cut)?;
        launch.bind(Operand::argument(0, out.dtype, out.offset));
        launch.bind(Operand::argument(1, input.dtype, input.offset));
        to_view(&mut launch, op.name(), &out)?;
        return Ok(Some((vec![launch], 0)));
    }
    let mut first = folded(
        Reduce {
            to: End::Partial,
            ..kernel
        },
        &lines,
        cut,
    )?;
    first.bind(Operand::scratch(acc, 0));
    first.bind(Operand::argument(1, input.dtype, input.offset));
    let grouped = cut.pieces > SHORT;
    let second = Reduce {
        from: End::Partial,
        grouped,
        ..kernel
    };
    let mut second = folded_partials(second, &lines, cut)?;
    second.bind(Operand::argument(0, out.dtype, out.offset));
    second.bind(Operand::scratch(acc, 0));
    to_view(&mut second, op.name(), &out)?;
    let scratch = lines.count * cut.pieces * acc.bytes();
    Ok(Some((vec![first, second], scratch)))
}

/// The fold of every piece of every line, without bindings.
pub(crate) fn folded(kernel: Reduce, lines: &Lines<'_>, cut: Cut) -> Result<Launch, GpuError> {
    let items = lines.count * cut.pieces;
    let mut launch = Launch::new(
        Kernel::Reduce(kernel),
        groups(lines.name, items, cut.grouped)?,
    );
    launch.param(word::COUNT, u32::try_from(items).unwrap_or(u32::MAX));
    lines.enter(&mut launch, cut.pieces, cut.piece);
    Ok(launch)
}

/// The fold of the partial results of every line.
fn folded_partials(kernel: Reduce, lines: &Lines<'_>, cut: Cut) -> Result<Launch, GpuError> {
    let groups = groups(lines.name, lines.count, kernel.grouped)?;
    let mut launch = Launch::new(Kernel::Reduce(kernel), groups);
    partials(&mut launch, lines, cut);
    Ok(launch)
}

/// Enters where the partial results lie: those of a line one after the other.
pub(crate) fn partials(launch: &mut Launch, lines: &Lines<'_>, cut: Cut) {
    let word = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    launch.param(word::COUNT, word(lines.count));
    launch.param(LENGTH, word(cut.pieces));
    launch.param(PIECE, word(cut.pieces));
    launch.param(PIECES, 1);
    launch.param(INNER, word(lines.inner));
    let strides = [lines.inner * cut.pieces, 1, cut.pieces];
    for (at, stride) in strides.into_iter().enumerate() {
        launch.param(word::STRIDES + word::RANK + at, word(stride));
    }
}

/// Workgroups for so many pieces.
pub(crate) fn groups(name: &'static str, items: usize, grouped: bool) -> Result<u32, GpuError> {
    let threads = Threads::of(name, items)?;
    Ok(match grouped {
        true => threads.groups(1),
        false => threads.groups(GROUP),
    })
}

/// Enters where the results of lines go: a view of dims outer, inner.
pub(crate) fn to_view(
    launch: &mut Launch,
    name: &'static str,
    out: &View<'_>,
) -> Result<(), GpuError> {
    let view = View32::of(name, out)?;
    for at in 0..out.rank().min(2) {
        launch.param(word::STRIDES + at, view.stride(at));
    }
    Ok(())
}
