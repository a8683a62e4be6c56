//! Gathers: elements looked up along one dimension.
//!
//! Promises that a bad index reads nothing, gives zero, and is noted. Knows nothing of buffers.

use super::Kernel;
use super::each::{Each, measured};
use super::element::{Width, raw_type, raw_zero};
use super::launch::{Launch, Operand};
use super::lookup;
use super::map::mover;
use super::space::{Space, View32};
use super::text::{Seen, Text, indent, param, word};
use gpu_seam::{DType, GpuError, Op};

/// One gather kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Gather {
    /// The mover of the elements' width.
    moved: DType,
    index: DType,
    space: Space,
    each: Each,
}

/// Where the parameters have the looked-up dimension's length and its stride in the input.
const SIZE: usize = word::EXTRA;
const STRIDE: usize = word::EXTRA + 1;

impl Gather {
    /// The text of the kernel. Bindings: output, input, index, fault slot. The input's strides have
    /// a 0 for the looked-up dimension.
    pub(crate) fn source(&self) -> String {
        let width = Width::of(self.moved);
        let mut text = Text::new(&[
            self.each.seen(),
            Seen::Plain(width),
            Seen::Plain(Width::of(self.index)),
            Seen::Atomic(Width::W4),
        ]);
        lookup::functions(&mut text, 2, self.index);
        lookup::note(&mut text, 3, word::BASE + 3);
        text.line(&format!(
            "fn element(i: u32) -> {raw} {{\n{coordinates}    \
             let index = index_at({at});\n    \
             if !good(index, {size}) {{\n        note(index);\n        return {zero};\n    }}\n    \
             return load1({from} + index.x * {stride});\n}}",
            raw = raw_type(width),
            zero = raw_zero(width),
            coordinates = indent(&self.space.coordinates("i")),
            at = self.space.position("i", 2),
            from = self.space.position("i", 1),
            size = param(SIZE),
            stride = param(STRIDE),
        ));
        self.each.main(&mut text, self.space);
        text.finish()
    }
}

/// The launch of a gather; `None` when it is not served.
pub(crate) fn lower(op: &Op<'_>) -> Result<Option<Launch>, GpuError> {
    let Op::Gather {
        out,
        input,
        index,
        axis,
    } = *op
    else {
        return Ok(None);
    };
    if out.dtype != input.dtype || !lookup::is_index(index.dtype) {
        return Ok(None);
    }
    let name = op.name();
    let (count, made) = measured(name, &out)?;
    let (from, at) = (View32::of(name, &input)?, View32::of(name, &index)?);
    let size = u32::try_from(input.dims[axis]).map_err(|_| {
        GpuError::unsupported(
            name,
            format!("a dimension of {} elements", input.dims[axis]),
        )
    })?;
    let moved = mover(out.dtype);
    let space = Space::ranked(out.rank());
    let each = Each::of(&out);
    let kernel = Kernel::Gather(Gather {
        moved,
        index: index.dtype,
        space,
        each,
    });
    let mut launch = Launch::new(kernel, each.groups(name, &out, count)?);
    launch.param(word::COUNT, count);
    launch.param(SIZE, size);
    launch.param(STRIDE, from.stride(axis));
    launch.bind(Operand::argument(0, moved, out.offset));
    launch.bind(Operand::argument(1, moved, input.offset));
    launch.bind(Operand::argument(2, index.dtype, index.offset));
    launch.bind(Operand::argument(3, DType::U32, 0));
    space.dims(&mut launch, &made);
    space.strides(&mut launch, 0, &made);
    space.strides(&mut launch, 1, &from);
    space.strides(&mut launch, 2, &at);
    space.clear_stride(&mut launch, 1, axis, out.rank());
    Ok(Some(launch))
}
