//! What a plan runs: a list of primitive instructions over slots.
//!
//! Promises that every reshape in it is one of views (nothing is copied behind its back, as long as
//! the operands are row-major), that every slot but an operand's is read once, and that the peak it
//! states is what running it in order needs. Knows nothing of indices: they are axes by now.

use super::network::Sizes;
use smallvec::SmallVec;

/// The place of an array: operands first, then one for each instruction.
pub(super) type Slot = usize;

/// Some axes of an array.
pub(super) type Axes = SmallVec<[usize; 8]>;

/// Pairs of axes, of each of which a diagonal is taken, one after the other.
pub(super) type Diagonals = SmallVec<[(usize, usize); 1]>;

#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// How many operands: the first slots.
    pub(super) operands: usize,
    /// Where the result is.
    pub(super) result: Slot,
}

/// One instruction. Its output is a row-major array of its own, but for a view.
#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub(super) kind: Kind,
    pub(super) inputs: SmallVec<[Input; 2]>,
    pub(super) output: Slot,
    /// What the output is reshaped to.
    pub(super) dims: Sizes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first axis pair becomes one axis, the last, over the elements at which the two are equal;
    /// then the next; then the input's permutation and reshape. No elements move.
    View(Diagonals),
    /// A row-major copy of the input.
    Copy,
    /// `[outer, summed, inner]` to `[outer, inner]`.
    Sum,
    /// The broadcast product of two inputs of one rank.
    Multiply,
    /// `[m, k]` and `[k, n]` to `[m, n]`, or the same with a batch before them.
    Matmul,
    /// Zeros of the output's dims; no input.
    Zeros,
}

/// An array as an instruction reads it: its axes permuted, then reshaped.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) slot: Slot,
    pub(super) axes: Axes,
    pub(super) dims: Sizes,
}

impl Program {
    /// The slots that `instruction` is the last to read: every input that is no operand.
    pub(super) fn dead_after(&self, instruction: &Instruction) -> impl Iterator<Item = Slot> {
        let operands = self.operands;
        instruction
            .inputs
            .iter()
            .map(|input| input.slot)
            .filter(move |slot| *slot >= operands)
    }

    /// The most bytes that the arrays made here take at any one time. `scratch` says what an
    /// instruction needs, beside its output, while it runs.
    pub(super) fn peak(
        &self,
        element_size: usize,
        scratch: impl Fn(&Instruction) -> Option<usize>,
    ) -> Option<usize> {
        // What each slot owns; the output of a view owns what its input did.
        let mut owned = vec![0usize; self.operands + self.instructions.len()];
        let mut live = 0usize;
        let mut peak = 0usize;
        for instruction in &self.instructions {
            match instruction.kind {
                Kind::View(_) => {
                    let from: usize = self.dead_after(instruction).map(|slot| owned[slot]).sum();
                    owned[instruction.output] = from;
                }
                _ => {
                    let bytes = elements(&instruction.dims)?.checked_mul(element_size)?;
                    owned[instruction.output] = bytes;
                    live = live.checked_add(bytes)?;
                    peak = peak.max(live.checked_add(scratch(instruction)?)?);
                    live -= self
                        .dead_after(instruction)
                        .map(|slot| owned[slot])
                        .sum::<usize>();
                }
            }
        }
        Some(peak)
    }
}

/// The product of `dims`.
pub(super) fn elements(dims: &[usize]) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter()
        .try_fold(1usize, |product, dim| product.checked_mul(*dim))
}
