//! One kernel to run, before its buffers are known.
//!
//! Promises that a launch is a plain value computed from an operation alone, so that planning and
//! executing cannot disagree. Knows nothing of wgpu.

use super::element::Width;
use super::text::word;
use super::{Kernel, space};
use crate::bindings::MOST;
use crate::stream::PARAMS;
use gpu_seam::{DType, GpuError, Scalar};

/// What a binding of a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) place: Place,
    /// How wide the kernel sees its elements.
    pub(crate) width: Width,
    /// The position of the view's first element, in such elements.
    pub(crate) offset: usize,
}

/// Which memory a binding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The operation's n-th argument.
    Argument(usize),
    /// The operation's scratch.
    Scratch,
}

impl Operand {
    /// Argument `at`, seen as elements of `dtype` from element `offset` on.
    pub(crate) const fn argument(at: usize, dtype: DType, offset: usize) -> Self {
        Self {
            place: Place::Argument(at),
            width: Width::of(dtype),
            offset,
        }
    }

    /// The scratch, seen as elements of `width` from element `offset` on.
    pub(crate) const fn scratch(width: Width, offset: usize) -> Self {
        Self {
            place: Place::Scratch,
            width,
            offset,
        }
    }
}

/// A number of invocations, or of workgroups, that a grid can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Threads(u32);

impl Threads {
    /// `count`, unless it is too many.
    pub(crate) fn of(name: &'static str, count: usize) -> Result<Self, GpuError> {
        match u32::try_from(count) {
            Ok(count) if u64::from(count) <= space::MOST => Ok(Self(count)),
            _ => Err(GpuError::unsupported(
                name,
                format!("{count} invocations exceed what 32 bits number"),
            )),
        }
    }

    /// Workgroups of `size` that hold them.
    pub(crate) const fn groups(self, size: u32) -> u32 {
        self.0.div_ceil(size)
    }
}

/// The most workgroups along one dimension: what WebGPU guarantees.
const ALONG: u32 = 65_535;

/// Turns that the loops of one invocation take at most, all together. Mesa's lavapipe ends every
/// loop of an invocation, without a word, once they have taken 65,535.
pub(crate) const TURNS: usize = 60_000;

/// One kernel to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    pub(crate) params: [u32; PARAMS],
    operands: [Option<Operand>; MOST],
    groups: u32,
}

impl Launch {
    /// A launch of `groups` workgroups with no bindings yet.
    pub(crate) const fn new(kernel: Kernel, groups: u32) -> Self {
        Self {
            kernel,
            params: [0; PARAMS],
            operands: [None; MOST],
            groups,
        }
    }

    /// Adds the next binding.
    pub(crate) fn bind(&mut self, operand: Operand) {
        if let Some(free) = self.operands.iter_mut().find(|bound| bound.is_none()) {
            *free = Some(operand);
        }
    }

    /// Makes `operand` the only binding.
    pub(crate) const fn rebind(&mut self, operand: Operand) {
        self.operands = [None; MOST];
        self.operands[0] = Some(operand);
    }

    /// Enters a word of the parameters.
    pub(crate) const fn param(&mut self, at: usize, value: u32) {
        self.params[at] = value;
    }

    /// Enters the raw words of a scalar.
    pub(crate) fn raw(&mut self, at: usize, scalar: &Scalar) {
        for (word, bytes) in self.params[at..]
            .iter_mut()
            .zip(scalar.to_le_bytes().chunks_exact(4))
        {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }

    /// The bindings, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Operand> + Clone {
        self.operands.iter().flatten()
    }

    /// Says where binding `at`'s window puts its view's first element.
    pub(crate) const fn place(&mut self, at: usize, position: u32) {
        self.params[word::BASE + at] = position;
    }

    /// Workgroups along x and y: as even as it goes, so that few are in excess.
    pub(crate) const fn grid(&self) -> (u32, u32) {
        let rows = self.groups.div_ceil(ALONG);
        match rows {
            0 => (0, 0),
            rows => (self.groups.div_ceil(rows), rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Launch, Threads};
    use crate::kernels::Kernel;

    #[test]
    fn a_grid_holds_its_groups_and_few_more() {
        for groups in [1, 65_535, 65_536, 70_000, 1 << 24, 16_777_215] {
            let (x, y) = Launch::new(Kernel::Bytes, groups).grid();
            assert!(x <= 65_535 && y <= 65_535);
            let excess = u64::from(x) * u64::from(y) - u64::from(groups);
            assert!(excess < u64::from(y), "{groups}: {x} {y}");
        }
    }

    #[test]
    fn too_many_invocations_are_refused() {
        assert!(Threads::of("fill", 4_000_000_000).is_ok());
        assert!(Threads::of("fill", 4_294_967_295).is_err());
    }
}
