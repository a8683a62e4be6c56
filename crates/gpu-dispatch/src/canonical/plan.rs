//! The plan that a call's families fill: output, temporaries and steps.
//!
//! Promises that every step pushed here keeps the device's limits. Knows nothing of what an
//! operation computes.

use super::draft::{Draft, Loop, Loops, VIEWS, lay_out};
use super::{Lowered, Slot, Step, StepArg, rank, tile, tile_gemm, validate};
use crate::error::Error;
use gpu_seam::{Capabilities, DType, Gemm, GpuError, Op, Scalar, View};
use smallvec::SmallVec;

/// The most steps that one call becomes: a bound on what a hostile shape can make the host do.
const MAX_STEPS: usize = 1 << 16;

/// The most gathers and scatters that one call becomes: each holds a fault slot of its lane until
/// the call is published.
pub(crate) const MAX_LOOKUPS: usize = 32;

/// The slots of a call's own views: output first.
pub(super) const CALL_SLOTS: [Slot; VIEWS] =
    [Slot::Output, Slot::Input(0), Slot::Input(1), Slot::Input(2)];

/// A plan under construction.
pub(super) struct Plan<'a> {
    /// The call's name, for errors.
    pub(super) name: &'static str,
    pub(super) capabilities: &'a Capabilities,
    inputs: &'a [usize],
    lowered: &'a mut Lowered,
    lookups: usize,
}

impl<'a> Plan<'a> {
    /// A plan of a call named `name`, to be filled into an empty `lowered`.
    pub(super) const fn new(
        name: &'static str,
        inputs: &'a [usize],
        capabilities: &'a Capabilities,
        lowered: &'a mut Lowered,
    ) -> Self {
        Self {
            name,
            capabilities,
            inputs,
            lowered,
            lookups: 0,
        }
    }

    /// Says what the output is. Returns its number of elements.
    pub(super) fn output(&mut self, dims: &[usize], dtype: DType) -> Result<usize, Error> {
        let (elements, bytes) = validate::size(self.name, dims, dtype)?;
        self.lowered.dims.extend_from_slice(dims);
        self.lowered.dtype = dtype;
        self.lowered.bytes = bytes;
        Ok(elements)
    }

    /// An [`Error::Invalid`] of this call.
    pub(super) fn invalid(&self, detail: impl Into<String>) -> Error {
        Error::invalid(self.name, detail)
    }

    /// The error of a valid call that no split fits to the device.
    pub(super) fn unsupported(&self, detail: impl Into<String>) -> Error {
        Error::gpu(self.name, GpuError::unsupported(self.name, detail))
    }

    /// A new temporary for `elements` of `dtype`.
    pub(super) fn temporary(&mut self, elements: usize, dtype: DType) -> Result<Slot, Error> {
        let bytes = elements
            .checked_mul(dtype.size())
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or_else(|| {
                self.invalid(format!(
                    "needs a temporary of {elements} elements of {dtype}, beyond the address space"
                ))
            })?;
        self.lowered.temporaries.push(bytes);
        Ok(Slot::Temporary(self.lowered.temporaries.len() - 1))
    }

    /// The most dimensions of a view. Every device takes 3.
    pub(super) fn rank(&self) -> usize {
        self.capabilities.strided_rank.max(3)
    }

    /// Bytes of a storage.
    pub(super) fn bytes(&self, slot: Slot) -> usize {
        match slot {
            Slot::Output => self.lowered.bytes,
            Slot::Input(at) => self.inputs[at],
            Slot::Temporary(at) => self.lowered.temporaries[at],
        }
    }

    /// The whole of a storage as an argument.
    pub(super) fn whole(&self, slot: Slot) -> StepArg {
        StepArg {
            slot,
            offset: 0,
            len: self.bytes(slot),
        }
    }

    /// Adds the steps of a draft whose loops are merged.
    pub(super) fn emit(&mut self, draft: &Draft) -> Result<(), Error> {
        if draft.loops.len() > self.rank() {
            return rank::fit(self, draft);
        }
        let mut args: SmallVec<[StepArg; VIEWS]> = SmallVec::new();
        for &slot in &draft.slots[..draft.views()] {
            args.push(self.whole(slot));
        }
        let limit = self.capabilities.max_operand_bytes;
        if args.iter().any(|arg| arg.len > limit) {
            return tile::fit(self, draft);
        }
        self.push(draft.step(args))
    }

    /// Adds the steps of a matrix product over whole storages.
    pub(super) fn gemm(&mut self, gemm: &Gemm, slots: [Slot; 3]) -> Result<(), Error> {
        let args: SmallVec<[StepArg; VIEWS]> = slots.iter().map(|&slot| self.whole(slot)).collect();
        let limit = self.capabilities.max_operand_bytes;
        if args.iter().any(|arg| arg.len > limit) {
            return tile_gemm::fit(self, gemm, slots);
        }
        self.push(Step {
            shape: Op::Gemm(*gemm),
            layouts: SmallVec::new(),
            args,
        })
    }

    /// Fills the whole output.
    pub(super) fn fill(&mut self, value: Scalar) -> Result<(), Error> {
        let elements = self.lowered.bytes / value.dtype().size();
        let op = Op::Fill {
            out: blank(value.dtype()),
            value,
        };
        self.emit(&Draft::new(op, line(elements), &[Slot::Output]))
    }

    /// Adds a copy between two views of the same loops (unmerged): output first.
    pub(super) fn copy(&mut self, parts: (Part, Part), loops: Loops) -> Result<(), Error> {
        self.emit(&Draft::copy(parts, loops))
    }

    /// Copies `input`, whose strides are those of view 1 in `loops`, into a new contiguous
    /// temporary over these loops, and gives view 1 the temporary's strides.
    pub(super) fn copied(&mut self, input: Part, loops: &mut Loops) -> Result<Part, Error> {
        let mut nest = loops.clone();
        for each in &mut nest {
            each.strides = [0, each.strides[1], 0, 0];
        }
        let elements = lay_out(&mut nest, 0);
        for (each, laid) in loops.iter_mut().zip(&nest) {
            each.strides[1] = laid.strides[0];
        }
        let out = Part {
            slot: self.temporary(elements, input.dtype)?,
            offset: 0,
            dtype: input.dtype,
        };
        self.copy((out, input), nest)?;
        Ok(out)
    }

    /// Adds a finished step.
    pub(super) fn push(&mut self, step: Step) -> Result<(), Error> {
        self.bounded(self.lowered.steps.len() + 1)?;
        if matches!(step.shape, Op::Gather { .. } | Op::Scatter { .. }) {
            self.lookups += 1;
            if self.lookups > MAX_LOOKUPS {
                return Err(self.unsupported(format!(
                    "takes more than {MAX_LOOKUPS} lookups of {} bytes an argument",
                    self.capabilities.max_operand_bytes
                )));
            }
        }
        self.lowered.steps.push(step);
        Ok(())
    }

    /// Refuses what takes more than [`MAX_STEPS`] steps.
    pub(super) fn bounded(&self, steps: usize) -> Result<(), Error> {
        if steps <= MAX_STEPS {
            return Ok(());
        }
        Err(self.unsupported(format!(
            "takes at least {steps} steps on this device (views of rank {}, {} bytes an argument); \
             the most is {MAX_STEPS}",
            self.rank(),
            self.capabilities.max_operand_bytes
        )))
    }
}

/// Where a view begins, and of what type it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) slot: Slot,
    pub(super) offset: usize,
    pub(super) dtype: DType,
}

impl Part {
    /// That of the call's view number `at`.
    pub(super) const fn input(at: usize, view: &View<'_>) -> Self {
        Self {
            slot: Slot::Input(at),
            offset: view.offset,
            dtype: view.dtype,
        }
    }

    /// That of the whole output.
    pub(super) const fn output(dtype: DType) -> Self {
        Self {
            slot: Slot::Output,
            offset: 0,
            dtype,
        }
    }
}

/// One loop over contiguous elements, for every view.
pub(super) fn line(elements: usize) -> Loops {
    let mut loops = Loops::new();
    loops.push(Loop {
        len: elements,
        strides: [1; VIEWS],
    });
    loops
}

/// A view of which only the dtype counts.
pub(super) const fn blank(dtype: DType) -> View<'static> {
    View::new(dtype, 0, &[], &[])
}

/// A view without its layout.
pub(super) const fn at_offset(view: &View<'_>) -> View<'static> {
    View::new(view.dtype, view.offset, &[], &[])
}
