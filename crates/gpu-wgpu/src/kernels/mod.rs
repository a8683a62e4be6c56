//! Kernels: their texts in WGSL, and the launches that an operation becomes.
//!
//! One family a file: what its text is, and what its operation becomes. Promises that the text
//! depends on nothing but the [`Kernel`], and the launches on nothing but the operation. Knows
//! nothing of wgpu.

mod arg;
mod bytes;
mod direct;
mod each;
mod element;
mod functions;
mod gather;
mod gemm;
mod launch;
mod library;
mod lookup;
mod map;
mod math;
mod random;
mod reduce;
mod scan;
mod scatter;
mod space;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use bytes::lower as copy_bytes;
pub(crate) use launch::{Launch, Place};
pub(crate) use text::word;

use gpu_seam::{GpuError, Op};

/// Invocations of a workgroup.
pub(crate) const GROUP: u32 = crate::adapter::GROUP;

/// A kernel: what its text depends on, and so the name of its pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    Map(map::Map),
    Reduce(reduce::Reduce),
    Arg(arg::Arg),
    Scan(scan::Scan),
    Gather(gather::Gather),
    Scatter(scatter::Scatter),
    Gemm(gemm::Gemm),
    Direct(direct::Direct),
    Random(random::Random),
    /// The copy of bytes.
    Bytes,
}

impl Kernel {
    /// The text in WGSL.
    pub(crate) fn source(&self) -> String {
        match self {
            Self::Map(map) => map.source(),
            Self::Reduce(reduce) => reduce.source(),
            Self::Arg(arg) => arg.source(),
            Self::Scan(scan) => scan.source(),
            Self::Gather(gather) => gather.source(),
            Self::Scatter(scatter) => scatter.source(),
            Self::Gemm(gemm) => gemm.source(),
            Self::Direct(direct) => direct.source(),
            Self::Random(random) => random.source(),
            Self::Bytes => bytes::source(),
        }
    }
}

/// The launches of `op` and the bytes of scratch they need; `None` when it has a form, or a pair of
/// dtypes, that there is no kernel for. `tiles` is [`Features::tiles`](crate::features::Features).
///
/// # Errors
/// `Unsupported` for what is too large.
pub(crate) fn lower(op: &Op<'_>, tiles: bool) -> Result<Option<(Vec<Launch>, usize)>, GpuError> {
    let one = |launch: Option<Launch>| launch.map(|launch| (vec![launch], 0));
    match op {
        Op::Reduce { .. } => reduce::lower(op),
        Op::ArgReduce { .. } => arg::lower(op),
        Op::Scan { .. } => scan::lower(op),
        Op::Gather { .. } => gather::lower(op).map(one),
        Op::Scatter { .. } => scatter::lower(op),
        Op::Gemm(product) => gemm::lower(op.name(), product, tiles),
        Op::Random { .. } => random::lower(op).map(one),
        _ => map::lower(op).map(one),
    }
}
