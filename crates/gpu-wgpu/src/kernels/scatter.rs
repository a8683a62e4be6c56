//! Scatters: elements put where indices say, or added to what is there.
//!
//! Several sources may have one target. Additions of types that fit a word are atomic; so is the
//! replacement of a word and of a part of one. A replacement of a wider element must not mix two
//! sources: each source first claims its target in a table in scratch, the last one wins, and only
//! the winner writes. f64 and complex128 have no atomic addition: there one invocation goes through
//! all sources that can meet, those along the axis. Promises that a bad index writes nothing and is
//! noted. Knows nothing of buffers.

use super::element::{Width, decode, encode, raw_type};
use super::functions;
use super::launch::{Launch, Operand, TURNS, Threads};
use super::lookup;
use super::map::{self, mover};
use super::space::{Space, View32};
use super::text::{Seen, Text, indent, param, word};
use super::{GROUP, Kernel};
use gpu_seam::{BinaryOp, DType, GpuError, Op, ScatterMode, View};

/// What a kernel of a scatter does with a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Puts it into its word, atomically.
    Set,
    /// Adds it, atomically.
    Add,
    /// Enters it in the table of claims.
    Claim,
    /// Puts it where it won.
    Win,
    /// Adds it and all that follow along the axis.
    AddLine,
}

/// One scatter kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scatter {
    step: Step,
    /// The elements' dtype; the mover of their width where they are only moved.
    dtype: DType,
    index: DType,
    space: Space,
}

/// Where the parameters have the looked-up dimension's length, its stride in the output and in the
/// table, and, for [`Step::AddLine`], which sources along it and their strides.
const SIZE: usize = word::EXTRA;
const STRIDE: usize = word::EXTRA + 1;
const TABLE_STRIDE: usize = word::EXTRA + 2;
const FIRST: usize = word::EXTRA + 3;
const END: usize = word::EXTRA + 4;
const INDEX_STRIDE: usize = word::EXTRA + 5;
const SOURCE_STRIDE: usize = word::EXTRA + 6;
/// Sources along the axis that one kernel goes through: each takes a turn, and two more to note an
/// index that is bad.
const LINE: usize = TURNS / 4;

impl Scatter {
    /// The text of the kernel. Bindings: output, index, source, fault slot, table. Operand 3's
    /// strides are the table's; those of the output and the table have a 0 for the axis.
    pub(crate) fn source(&self) -> String {
        let width = Width::of(self.dtype);
        let out = match self.step {
            // Two words an element, each atomic.
            Step::Add if width == Width::W8 => Seen::Atomic(Width::W4),
            Step::Add => Seen::Atomic(width),
            Step::Set if width.is_narrow() => Seen::Atomic(width),
            _ => Seen::Plain(width),
        };
        let mut bindings = vec![
            out,
            Seen::Plain(Width::of(self.index)),
            Seen::Plain(width),
            Seen::Atomic(Width::W4),
        ];
        let claims = matches!(self.step, Step::Claim | Step::Win);
        bindings.extend(claims.then_some(Seen::Atomic(Width::W4)));
        let mut text = Text::new(&bindings);
        lookup::functions(&mut text, 1, self.index);
        lookup::note(&mut text, 3, word::BASE + 3);
        text.line(&self.put(width));
        let table = format!(
            "{} + index.x * {}",
            self.table_position(),
            param(TABLE_STRIDE)
        );
        let put = format!(
            "put({} + index.x * {}, load2(source));\n",
            self.space.position("i", 0),
            param(STRIDE)
        );
        let done = match self.step {
            Step::Claim => format!("atomicMax(&b4[{table}], i + 1u);\n"),
            Step::Win => format!(
                "if atomicLoad(&b4[{table}]) == i + 1u {{\n{}}}\n",
                indent(&put)
            ),
            _ => put,
        };
        let bad = match self.step {
            // The claims have noted it.
            Step::Win => String::new(),
            _ => " else {\n    note(index);\n}".to_owned(),
        };
        let one = format!(
            "let index = index_at(at);\nif good(index, {}) {{\n{}}}{bad}\n",
            param(SIZE),
            indent(&done)
        );
        let places = format!(
            "let i = group * {GROUP}u + local;\n\
             if i >= {count} {{\n    return;\n}}\n\
             {coordinates}",
            count = param(word::COUNT),
            coordinates = self.space.coordinates("i"),
        );
        let (at, source) = (self.space.position("i", 1), self.space.position("i", 2));
        let body = match self.step {
            Step::AddLine => format!(
                "{places}for (var along = {}; along < {}; along++) {{\n    \
                 let at = {at} + along * {};\n    let source = {source} + along * {};\n{}}}\n",
                param(FIRST),
                param(END),
                param(INDEX_STRIDE),
                param(SOURCE_STRIDE),
                indent(&one)
            ),
            _ => format!("{places}let at = {at};\nlet source = {source};\n{one}"),
        };
        text.main(GROUP, &body);
        text.finish()
    }

    /// The position of element i's target in the table, but for the axis.
    fn table_position(&self) -> String {
        let mut text = param(word::BASE + 4);
        for at in 0..self.space.rank() {
            let stride = param(word::STRIDES + 3 * word::RANK + at);
            text.push_str(&format!(" + c{at} * {stride}"));
        }
        text
    }

    /// `put(i, raw)`: what is done to the target at position i.
    fn put(&self, width: Width) -> String {
        let raw = raw_type(width);
        let body = match (self.step, self.dtype) {
            (Step::Set, _) if width.is_narrow() => exchange(width, "raw"),
            (Step::Set | Step::Claim | Step::Win, _) => "    store0(i, raw);\n".to_owned(),
            (Step::AddLine, _) => {
                return format!(
                    "{}fn put(i: u32, raw: {raw}) {{\n    store0(i, sum(load0(i), raw));\n}}",
                    self.sum(self.dtype)
                );
            }
            (Step::Add, DType::Bool) => {
                "    atomicOr(&b0[i >> 2u], raw << ((i & 3u) << 3u));\n".to_owned()
            }
            (Step::Add, DType::U32 | DType::I32) => "    atomicAdd(&b0[i], raw);\n".to_owned(),
            // Every addition sees whether it carried, whatever others do in between.
            (Step::Add, DType::I64) => "    \
                 let before = atomicAdd(&b0[2u * i], raw.x);\n    \
                 let carry = select(0u, 1u, before + raw.x < before);\n    \
                 atomicAdd(&b0[2u * i + 1u], raw.y + carry);\n"
                .to_owned(),
            (Step::Add, DType::Complex64) => {
                return format!(
                    "{}fn add_part(i: u32, raw: u32) {{\n{}}}\n\
                     fn put(i: u32, raw: {raw}) {{\n    \
                     add_part(2u * i, raw.x);\n    add_part(2u * i + 1u, raw.y);\n}}",
                    self.sum(DType::F32),
                    exchange(Width::W4, "sum(part, raw)")
                );
            }
            (Step::Add, _) => {
                return format!(
                    "{}fn put(i: u32, raw: {raw}) {{\n{}}}",
                    self.sum(self.dtype),
                    exchange(width, "sum(part, raw)")
                );
            }
        };
        format!("fn put(i: u32, raw: {raw}) {{\n{body}}}")
    }

    /// `sum(x, y)` of raw elements.
    fn sum(&self, dtype: DType) -> String {
        let raw = raw_type(Width::of(dtype));
        format!(
            "fn sum(x: {raw}, y: {raw}) -> {raw} {{\n    let a = {};\n    let b = {};\n    \
             return {};\n}}\n",
            decode(dtype, "x"),
            decode(dtype, "y"),
            encode(
                dtype,
                &format!(
                    "({})",
                    functions::binary(BinaryOp::Add, dtype).unwrap_or_default()
                )
            )
        )
    }
}

/// Replaces element i of binding 0 by `made` of what it is (`part`) and of `raw`, atomically: of
/// those that try at once, one succeeds.
fn exchange(width: Width, made: &str) -> String {
    let (word, shift, ones) = match width {
        Width::W1 => ("i >> 2u", "(i & 3u) << 3u", "0xffu"),
        Width::W2 => ("i >> 1u", "(i & 1u) << 4u", "0xffffu"),
        _ => ("i", "0u", "0xffffffffu"),
    };
    format!(
        "    let shift = {shift};\n    \
         let mask = {ones} << shift;\n    \
         var word = atomicLoad(&b0[{word}]);\n    \
         loop {{\n        \
         let part = (word & mask) >> shift;\n        \
         let made = (word & ~mask) | ({made} << shift);\n        \
         let result = atomicCompareExchangeWeak(&b0[{word}], word, made);\n        \
         if result.exchanged {{\n            break;\n        }}\n        \
         word = result.old_value;\n    \
         }}\n"
    )
}

/// The launches of a scatter and the bytes of scratch they need; `None` when it is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let Op::Scatter {
        mode,
        out,
        index,
        src,
        axis,
    } = *op
    else {
        return Ok(None);
    };
    if out.dtype != src.dtype || !lookup::is_index(index.dtype) {
        return Ok(None);
    }
    let form = Form {
        name: op.name(),
        out,
        index,
        src,
        axis,
    };
    let wide = out.dtype.size() > 4;
    let wider_float = matches!(out.dtype, DType::F64 | DType::Complex128);
    let launches = match mode {
        ScatterMode::Set if wide => {
            let elements = View32::count(form.name, &out)? as usize;
            let claims = map::zeros(form.name, elements)?;
            let launches = vec![claims, form.launch(Step::Claim)?, form.launch(Step::Win)?];
            return Ok(Some((launches, 4 * elements)));
        }
        ScatterMode::Set => vec![form.launch(Step::Set)?],
        ScatterMode::Add if wider_float => form.lines()?,
        ScatterMode::Add => vec![form.launch(Step::Add)?],
        _ => return Ok(None),
    };
    Ok(Some((launches, 0)))
}

/// A scatter's views.
struct Form<'a> {
    name: &'static str,
    out: View<'a>,
    index: View<'a>,
    src: View<'a>,
    axis: usize,
}

impl Form<'_> {
    /// Additions along the axis, a stretch of it after the other.
    fn lines(&self) -> Result<Vec<Launch>, GpuError> {
        let launch = self.launch(Step::AddLine)?;
        let along = self.src.dims[self.axis];
        let word = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let launches = (0..along).step_by(LINE).map(|first| {
            let mut launch = launch.clone();
            launch.param(FIRST, word(first));
            launch.param(END, word(along.min(first + LINE)));
            launch
        });
        Ok(launches.collect())
    }

    fn launch(&self, step: Step) -> Result<Launch, GpuError> {
        let (name, axis, rank) = (self.name, self.axis, self.src.rank());
        let [out, index, src] =
            [&self.out, &self.index, &self.src].map(|view| View32::of(name, view));
        let (out, index, src) = (out?, index?, src?);
        let count = View32::count(name, &self.src)?;
        let size = u32::try_from(self.out.dims[axis]).map_err(|_| {
            GpuError::unsupported(
                name,
                format!("a dimension of {} elements", self.out.dims[axis]),
            )
        })?;
        let line = step == Step::AddLine;
        let count = if line { count / src.dim(axis) } else { count };
        let dtype = match step {
            Step::Add | Step::AddLine => self.out.dtype,
            _ => mover(self.out.dtype),
        };
        let space = Space::ranked(rank);
        let kernel = Kernel::Scatter(Scatter {
            step,
            dtype,
            index: self.index.dtype,
            space,
        });
        let groups = Threads::of(name, count as usize)?.groups(GROUP);
        let mut launch = Launch::new(kernel, groups);
        launch.param(word::COUNT, count);
        launch.param(SIZE, size);
        launch.param(STRIDE, out.stride(axis));
        launch.param(INDEX_STRIDE, index.stride(axis));
        launch.param(SOURCE_STRIDE, src.stride(axis));
        // Where the output is words, its positions still count elements.
        launch.bind(Operand::argument(0, dtype, self.out.offset));
        launch.bind(Operand::argument(1, self.index.dtype, self.index.offset));
        launch.bind(Operand::argument(2, dtype, self.src.offset));
        launch.bind(Operand::argument(3, DType::U32, 0));
        space.dims(&mut launch, &src);
        if line {
            space.one_along(&mut launch, axis, rank);
        }
        for (bound, view) in [out, index, src].iter().enumerate() {
            space.strides(&mut launch, bound, view);
        }
        space.clear_stride(&mut launch, 0, axis, rank);
        if matches!(step, Step::Claim | Step::Win) {
            launch.bind(Operand::scratch(Width::W4, 0));
            // The table has the output's dims, row-major.
            let mut stride = 1u32;
            for at in (0..rank).rev() {
                if at == axis {
                    launch.param(TABLE_STRIDE, stride);
                } else {
                    let word = word::STRIDES + 3 * word::RANK + space.rank() - rank + at;
                    launch.param(word, stride);
                }
                stride = stride.wrapping_mul(out.dim(at));
            }
        }
        Ok(launch)
    }
}
