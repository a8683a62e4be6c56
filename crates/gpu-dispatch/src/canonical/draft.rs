//! A loop nest that all views of one operation walk together, before it is a step.
//!
//! Promises that merging, narrowing and splitting a nest change what is computed in no way. Knows
//! nothing of devices and limits.

use super::plan::{Part, blank};
use super::{Layout, Slot, Step, StepArg};
use crate::call::{Dims, Strides};
use gpu_seam::{DType, Op};
use smallvec::SmallVec;

/// The most views that an operation has.
pub(super) const VIEWS: usize = 4;

/// One dimension: its length, and the step of each view along it, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) len: usize,
    pub(super) strides: [isize; VIEWS],
}

/// A nest of loops, outermost first.
pub(super) type Loops = SmallVec<[Loop; 6]>;

/// The dimension of a gather or scatter in which one view is as long as what is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lookup {
    /// Which view: the gather's input, the scatter's output.
    pub(super) view: usize,
    /// Which loop.
    pub(super) axis: usize,
    /// Its length in that view.
    pub(super) size: usize,
}

/// An operation over a nest. Views are numbered as the operation's arguments are.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    /// The operation; of its views only the dtypes count, of its axis nothing.
    pub(super) op: Op<'static>,
    pub(super) loops: Loops,
    /// Position of each view's first element, in elements from the start of its storage.
    pub(super) offsets: [usize; VIEWS],
    pub(super) slots: [Slot; VIEWS],
    pub(super) lookup: Option<Lookup>,
}

impl Loop {
    /// A loop that two views walk.
    pub(super) const fn pair(len: usize, out: isize, input: isize) -> Self {
        Self {
            len,
            strides: [out, input, 0, 0],
        }
    }

    /// How far view `view` gets from its first to its last element along this loop.
    pub(super) const fn reach(&self, view: usize) -> usize {
        (self.len - 1).saturating_mul(self.strides[view].unsigned_abs())
    }

    /// Whether this loop around `inner` is one longer loop, for every view.
    fn encloses(&self, inner: &Self) -> bool {
        let Ok(len) = isize::try_from(inner.len) else {
            return false;
        };
        self.strides
            .iter()
            .zip(&inner.strides)
            .all(|(&outer, &step)| step.checked_mul(len) == Some(outer))
    }
}

/// Drops loops of length 1 and makes one of adjacent loops where every view allows it.
pub(super) fn merge(loops: &mut Loops) {
    let mut kept = 0;
    for at in 0..loops.len() {
        let next = loops[at];
        if next.len == 1 {
            continue;
        }
        if kept > 0 && loops[kept - 1].encloses(&next) {
            let len = loops[kept - 1].len * next.len;
            loops[kept - 1] = Loop { len, ..next };
        } else {
            loops[kept] = next;
            kept += 1;
        }
    }
    loops.truncate(kept);
}

/// Makes the strides of view `view` those of a contiguous, row-major array over the loops. Returns
/// the number of its elements.
pub(super) fn lay_out(loops: &mut [Loop], view: usize) -> usize {
    let mut elements = 1usize;
    for each in loops.iter_mut().rev() {
        each.strides[view] = elements.cast_signed();
        elements *= each.len;
    }
    elements
}

/// Sorts the loops by how far view `view` steps, widest first; equals keep their order.
pub(super) fn sort_by_step(loops: &mut [Loop], view: usize) {
    loops.sort_by_key(|each| std::cmp::Reverse(each.strides[view].unsigned_abs()));
}

impl Draft {
    /// A draft whose offsets are 0 and that looks nothing up.
    pub(super) fn new(op: Op<'static>, loops: Loops, slots: &[Slot]) -> Self {
        let mut all = [Slot::Output; VIEWS];
        all[..slots.len()].copy_from_slice(slots);
        Self {
            op,
            loops,
            offsets: [0; VIEWS],
            slots: all,
            lookup: None,
        }
    }

    /// How many views there are.
    pub(super) const fn views(&self) -> usize {
        match &self.op {
            Op::Fill { .. } | Op::Random { .. } => 1,
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => 1 + views(&[lhs, rhs]),
            Op::Select {
                on_true, on_false, ..
            } => 2 + views(&[on_true, on_false]),
            Op::Gather { .. } | Op::Scatter { .. } => 3,
            _ => 2,
        }
    }

    /// A copy between two views: output first.
    pub(super) fn copy((out, input): (Part, Part), loops: Loops) -> Self {
        let op = Op::Copy {
            out: blank(out.dtype),
            input: blank(input.dtype),
        };
        let mut draft = Self::new(op, loops, &[out.slot, input.slot]);
        draft.offsets[0] = out.offset;
        draft.offsets[1] = input.offset;
        draft.merge();
        draft
    }

    /// The element type of view `view`.
    pub(super) fn dtype(&self, view: usize) -> DType {
        let mut dtypes: SmallVec<[DType; VIEWS]> = SmallVec::new();
        let _ = self.op.map_views(|view| {
            dtypes.push(view.dtype);
            view
        });
        dtypes[view]
    }

    /// Merges loops; those around a looked-up one stay apart from it.
    pub(super) fn merge(&mut self) {
        match self.lookup {
            None => {
                merge(&mut self.loops);
                if self.loops.is_empty() {
                    self.loops.push(Loop {
                        len: 1,
                        strides: [1; VIEWS],
                    });
                }
            }
            Some(lookup) => {
                let mut after: Loops = self.loops[lookup.axis + 1..].into();
                let axis = self.loops[lookup.axis];
                self.loops.truncate(lookup.axis);
                merge(&mut self.loops);
                merge(&mut after);
                self.lookup = Some(Lookup {
                    axis: self.loops.len(),
                    ..lookup
                });
                self.loops.push(axis);
                self.loops.extend_from_slice(&after);
            }
        }
    }

    /// The length of view `view` along loop `at`; `None` when it has no such dimension.
    pub(super) fn len(&self, view: usize, at: usize) -> Option<usize> {
        match (&self.op, self.lookup) {
            (Op::Reduce { .. } | Op::ArgReduce { .. }, _) if view == 0 && at == 1 => None,
            (_, Some(lookup)) if lookup.view == view && lookup.axis == at => Some(lookup.size),
            _ => Some(self.loops[at].len),
        }
    }

    /// The half-open range of element positions that view `view` touches.
    pub(super) fn extent(&self, view: usize) -> (usize, usize) {
        let (mut below, mut above) = (0usize, 0usize);
        for (at, each) in self.loops.iter().enumerate() {
            if let Some(len) = self.len(view, at) {
                let reach = Loop { len, ..*each }.reach(view);
                if each.strides[view] < 0 {
                    below = below.saturating_add(reach);
                } else {
                    above = above.saturating_add(reach);
                }
            }
        }
        let offset = self.offsets[view];
        (
            offset.saturating_sub(below),
            offset.saturating_add(above).saturating_add(1),
        )
    }

    /// Keeps of loop `at` the iterations from `start` on, `len` of them.
    pub(super) fn narrow(&mut self, at: usize, start: usize, len: usize) {
        for view in 0..VIEWS {
            let looked_up = self
                .lookup
                .is_some_and(|lookup| lookup.view == view && lookup.axis == at);
            if !looked_up && self.len(view, at).is_some() {
                self.offsets[view] = shift(self.offsets[view], start, self.loops[at].strides[view]);
            }
        }
        self.loops[at].len = len;
        if let Op::Random { first, .. } = &mut self.op {
            // Counters wrap, as the vendor's own do.
            *first = first.wrapping_add(start as u64);
        }
    }

    /// The step, given its arguments in the order of the views.
    pub(super) fn step(&self, args: SmallVec<[StepArg; VIEWS]>) -> Step {
        let mut layouts: SmallVec<[Layout; VIEWS]> = SmallVec::new();
        let mut shape = self.op.map_views(|mut view| {
            let at = layouts.len();
            let mut layout = Layout {
                dims: Dims::new(),
                strides: Strides::new(),
            };
            for (number, each) in self.loops.iter().enumerate() {
                if let Some(len) = self.len(at, number) {
                    layout.dims.push(len);
                    layout.strides.push(each.strides[at]);
                }
            }
            layouts.push(layout);
            view.offset = self.offsets[at];
            view
        });
        if let (Op::Gather { axis, .. } | Op::Scatter { axis, .. }, Some(lookup)) =
            (&mut shape, self.lookup)
        {
            *axis = lookup.axis;
        }
        Step {
            shape,
            layouts,
            args,
        }
    }
}

/// The position `start` steps of `stride` after `offset`. Validated views never leave their storage.
pub(super) const fn shift(offset: usize, start: usize, stride: isize) -> usize {
    offset.wrapping_add_signed(start.cast_signed().wrapping_mul(stride))
}

/// How many of `operands` are views.
const fn views(operands: &[&gpu_seam::Operand<'_>; 2]) -> usize {
    matches!(operands[0], gpu_seam::Operand::View(_)) as usize
        + matches!(operands[1], gpu_seam::Operand::View(_)) as usize
}
