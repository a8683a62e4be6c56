//! The copy of bytes at any alignment, also within one buffer, where wgpu copies nothing.
//!
//! An invocation makes one word of the target from the two words of the source that its bytes are
//! in. Promises that bytes of the target's first and last word outside the range keep their value.

use super::element::Width;
use super::launch::{Launch, Operand, Threads};
use super::text::{Seen, Text, param, word};
use super::{GROUP, Kernel};
use gpu_seam::{DType, GpuError};

/// The text of the kernel. Positions are bytes.
pub(crate) fn source() -> String {
    let mut text = Text::new(&[Seen::Plain(Width::W4), Seen::Plain(Width::W4)]);
    let (to, from) = (param(word::EXTRA), param(word::EXTRA + 1));
    let count = param(word::COUNT);
    text.main(
        GROUP,
        &format!(
            "let at = {to} / 4u + group * {GROUP}u + local;\n\
             let first = max(at * 4u, {to});\n\
             let end = min(at * 4u + 4u, {to} + {count});\n\
             if first >= end {{\n    return;\n}}\n\
             // The source's bytes, moved to where they go in the word.\n\
             let source = {from} + (first - {to});\n\
             let shift = (source & 3u) * 8u;\n\
             var bytes = b1[source / 4u] >> shift;\n\
             if shift != 0u && (source & 3u) + (end - first) > 4u {{\n    \
             bytes |= b1[source / 4u + 1u] << (32u - shift);\n\
             }}\n\
             let up = (first & 3u) * 8u;\n\
             let length = (end - first) * 8u;\n\
             if length == 32u {{\n    b0[at] = bytes;\n    return;\n}}\n\
             let mask = ((1u << length) - 1u) << up;\n\
             b0[at] = (b0[at] & ~mask) | ((bytes << up) & mask);\n"
        ),
    );
    text.finish()
}

/// A copy of `len` bytes to argument 0 from argument 1; where they begin is entered once their
/// windows are known.
pub(crate) fn lower(len: usize) -> Result<Launch, GpuError> {
    const NAME: &str = "copy";
    let threads = Threads::of(NAME, len.div_ceil(4) + 1)?;
    let mut launch = Launch::new(Kernel::Bytes, threads.groups(GROUP));
    launch.param(
        word::COUNT,
        u32::try_from(len)
            .map_err(|_| GpuError::unsupported(NAME, format!("{len} bytes in one piece")))?,
    );
    launch.bind(Operand::argument(0, DType::U32, 0));
    launch.bind(Operand::argument(1, DType::U32, 0));
    Ok(launch)
}
