//! The canonical operations: everything that a vendor is ever asked to compute.
//!
//! Promises vendors that what reaches them is already checked and reduced to few forms
//! (broadcasting is strides, adjacent dimensions are merged, nothing is empty, sizes are within the
//! device's [`Capabilities`](crate::Capabilities)); promises gpu-dispatch that an [`Op`] can be
//! planned with no buffer at hand. Knows nothing of buffers, streams or vendors.
//!
//! The numerics of every operation and dtype are the table in `docs/semantics.md`.

use crate::dtype::{DType, Scalar};
use crate::layout::View;
use alloc::vec::Vec;

mod kinds;

pub use kinds::{
    ArgOp, BinaryOp, CompareOp, Distribution, Family, ReduceOp, ScanOp, ScatterMode, UnaryOp,
};

/// One canonical operation. The byte ranges go beside it, as arguments: the output first, then the
/// inputs that are views, in the order of the fields, then the fault slot of an indexing operation.
///
/// What holds for every operation that reaches a vendor:
/// - every view's rank is at most `strided_rank`, its extent lies inside its argument, and the
///   argument spans at most `max_operand_bytes`;
/// - no view is empty: every dimension is at least 1;
/// - no two elements of an output view are the same element (no stride of 0 where a dim exceeds 1);
/// - an output overlaps no input, but for [`Unary`](Self::Unary), [`Binary`](Self::Binary),
///   [`Select`](Self::Select) and [`Copy`](Self::Copy), where an input of the output's element size
///   may be the very same argument and layout (in place).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Op<'a> {
    /// `out = value`; `value` has the output's dtype.
    Fill {
        /// Any layout.
        out: View<'a>,
        /// What every element becomes.
        value: Scalar,
    },
    /// `out = input`, cast when the dtypes differ.
    Copy {
        /// Any layout.
        out: View<'a>,
        /// Same dims as `out`.
        input: View<'a>,
    },
    /// `out = op(input)`, element by element.
    Unary {
        /// What to compute.
        op: UnaryOp,
        /// The input's dtype, but for `Abs` of complex (its real type) and `IsNan` (bool).
        out: View<'a>,
        /// Same dims as `out`.
        input: View<'a>,
    },
    /// `out = op(lhs, rhs)`, element by element; all of one dtype.
    Binary {
        /// What to compute.
        op: BinaryOp,
        /// Any layout.
        out: View<'a>,
        /// Same dims as `out`, or a scalar.
        lhs: Operand<'a>,
        /// Same dims as `out`, or a scalar; at least one of the two is a view.
        rhs: Operand<'a>,
    },
    /// `out = op(lhs, rhs)` as bool, element by element.
    Compare {
        /// What to compare.
        op: CompareOp,
        /// Of dtype bool.
        out: View<'a>,
        /// Same dims as `out`, or a scalar; of the dtype of `rhs`.
        lhs: Operand<'a>,
        /// Same dims as `out`, or a scalar; at least one of the two is a view.
        rhs: Operand<'a>,
    },
    /// `out = if condition { on_true } else { on_false }`, element by element.
    Select {
        /// Any layout.
        out: View<'a>,
        /// Of dtype bool; same dims as `out`.
        condition: View<'a>,
        /// Same dims as `out`, or a scalar; of the dtype of `out`.
        on_true: Operand<'a>,
        /// Same dims as `out`, or a scalar; of the dtype of `out`.
        on_false: Operand<'a>,
    },
    /// `out[o, i] = op over r of input[o, r, i]`.
    ///
    /// Output dtypes: `Sum` and `Prod` give the input's float or complex dtype, or f32 from f16 and
    /// bf16; from bool and integers i64 or f64. `Min` and `Max` give the input's dtype, `Any` and
    /// `All` bool. f16 and bf16 accumulate in f32, integers in i64 or f64, whichever the output is.
    Reduce {
        /// What to compute.
        op: ReduceOp,
        /// dims `[outer, inner]`.
        out: View<'a>,
        /// dims `[outer, reduced, inner]`.
        input: View<'a>,
    },
    /// `out[o, i] = position along r of the first extreme of input[o, r, i]`, as i64.
    ArgReduce {
        /// Which extreme.
        op: ArgOp,
        /// Of dtype i64; dims `[outer, inner]`.
        out: View<'a>,
        /// dims `[outer, reduced, inner]`.
        input: View<'a>,
    },
    /// `out[o, r, i] = op over r' <= r of input[o, r', i]`. Dtypes as for `Reduce`.
    Scan {
        /// What to compute.
        op: ScanOp,
        /// dims `[outer, scanned, inner]`.
        out: View<'a>,
        /// Same dims as `out`.
        input: View<'a>,
    },
    /// `out[p] = input[p with p[axis] replaced by index[p]]`.
    ///
    /// An index outside `0..input.dims[axis]` makes no access, leaves its output element as zero,
    /// and is noted in the fault slot.
    Gather {
        /// Any layout.
        out: View<'a>,
        /// Same rank as `out`, and the same dims but for `axis`.
        input: View<'a>,
        /// Of dtype i64, i32, u32 or u8; same dims as `out`.
        index: View<'a>,
        /// The dimension that is looked up.
        axis: usize,
    },
    /// `out[p with p[axis] replaced by index[p]] = src[p]`, or `+=`.
    ///
    /// The output is updated in place. An index outside `0..out.dims[axis]` makes no access and is
    /// noted in the fault slot. Of equal targets, `Set` keeps one whole element and `Add` adds all.
    Scatter {
        /// Whether to replace or to add.
        mode: ScatterMode,
        /// Same rank as `src`, and the same dims but for `axis`.
        out: View<'a>,
        /// Of dtype i64, i32, u32 or u8; same dims as `src`.
        index: View<'a>,
        /// Of the dtype of `out`.
        src: View<'a>,
        /// The dimension that is looked up.
        axis: usize,
    },
    /// Batched matrix product.
    Gemm(Gemm),
    /// `out[i] =` the number that [`Distribution`] draws from Philox4x32-10 at counter
    /// `first + i`, key `seed`.
    Random {
        /// What to draw.
        distribution: Distribution,
        /// Rank 1, contiguous; a float or complex dtype.
        out: View<'a>,
        /// The Philox key: low word first.
        seed: u64,
        /// The counter of element 0, in the low two words of the Philox counter.
        first: u64,
    },
}

/// An input that is either a view of an argument, or one value for every element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand<'a> {
    /// Elements of the next argument.
    View(View<'a>),
    /// One value; takes no argument.
    Scalar(Scalar),
}

impl Operand<'_> {
    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::View(view) => view.dtype,
            Self::Scalar(scalar) => scalar.dtype(),
        }
    }
}

/// `out[b] = alpha * lhs[b] · rhs[b] + beta * out[b]` for every `b < batch`.
///
/// `lhs[b]` is `m × k`, `rhs[b]` is `k × n`, `out[b]` is `m × n`. All of one dtype; f16 and bf16
/// accumulate in f32, integers wrap. `k` may be 0. With `beta` zero, what `out` held is not read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gemm {
    /// The element type of all three matrices and both scalars.
    pub dtype: DType,
    /// How many products.
    pub batch: usize,
    /// Rows of the output.
    pub m: usize,
    /// Columns of the output.
    pub n: usize,
    /// The summed length.
    pub k: usize,
    /// Factor of the product.
    pub alpha: Scalar,
    /// Factor of what the output held.
    pub beta: Scalar,
    /// The output; neither transposed nor conjugated, and its batches do not overlap.
    pub out: Matrix,
    /// The left factor.
    pub lhs: Matrix,
    /// The right factor.
    pub rhs: Matrix,
}

/// A batch of matrices in one argument, row-major with a leading dimension.
///
/// Element `(i, j)` of matrix `b` is at element `offset + b * batch_stride + i * ld + j`, or at
/// `… + j * ld + i` when `transposed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Position of element (0, 0) of matrix 0, in elements from the start of the argument.
    pub offset: usize,
    /// Elements from one stored row to the next; at least the length of a stored row.
    pub ld: usize,
    /// Elements from one matrix to the next; 0 repeats one matrix (inputs only).
    pub batch_stride: isize,
    /// Whether columns are stored as rows.
    pub transposed: bool,
    /// Whether elements are conjugated as they are read.
    pub conjugated: bool,
}

impl<'a> Op<'a> {
    /// The family it belongs to.
    #[must_use]
    pub const fn family(&self) -> Family {
        match self {
            Self::Fill { .. } => Family::Fill,
            Self::Copy { .. } => Family::Copy,
            Self::Unary { .. } => Family::Unary,
            Self::Binary { .. } => Family::Binary,
            Self::Compare { .. } => Family::Compare,
            Self::Select { .. } => Family::Select,
            Self::Reduce { .. } => Family::Reduce,
            Self::ArgReduce { .. } => Family::ArgReduce,
            Self::Scan { .. } => Family::Scan,
            Self::Gather { .. } => Family::Gather,
            Self::Scatter { .. } => Family::Scatter,
            Self::Gemm(_) => Family::Gemm,
            Self::Random { .. } => Family::Random,
        }
    }

    /// Its name for messages: that of what it computes (`add`, `argmax`), else that of its family.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unary { op, .. } => op.name(),
            Self::Binary { op, .. } => op.name(),
            Self::Compare { op, .. } => op.name(),
            Self::Reduce { op, .. } => op.name(),
            Self::ArgReduce { op, .. } => op.name(),
            Self::Scan { op, .. } => op.name(),
            Self::Scatter { mode, .. } => mode.name(),
            Self::Random { distribution, .. } => distribution.name(),
            other => other.family().name(),
        }
    }

    /// The dtype that [`SupportTable`](crate::SupportTable) is asked about.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        match self {
            Self::Fill { out, .. } | Self::Random { out, .. } | Self::Select { out, .. } => {
                out.dtype
            }
            Self::Copy { input, .. }
            | Self::Unary { input, .. }
            | Self::Reduce { input, .. }
            | Self::ArgReduce { input, .. }
            | Self::Scan { input, .. }
            | Self::Gather { input, .. } => input.dtype,
            Self::Binary { lhs, .. } | Self::Compare { lhs, .. } => lhs.dtype(),
            Self::Scatter { src, .. } => src.dtype,
            Self::Gemm(gemm) => gemm.dtype,
        }
    }

    /// The same operation with every view replaced by what `change` makes of it, in the order of
    /// the arguments. [`Gemm`](Self::Gemm) has no views and comes back as it is.
    #[must_use]
    pub fn map_views<'b>(&self, mut change: impl FnMut(View<'a>) -> View<'b>) -> Op<'b> {
        fn operand<'a, 'b>(
            operand: Operand<'a>,
            change: &mut impl FnMut(View<'a>) -> View<'b>,
        ) -> Operand<'b> {
            match operand {
                Operand::View(view) => Operand::View(change(view)),
                Operand::Scalar(scalar) => Operand::Scalar(scalar),
            }
        }
        // Struct fields are evaluated in the order written, which is that of the arguments.
        let change = &mut change;
        match *self {
            Self::Fill { out, value } => Op::Fill {
                out: change(out),
                value,
            },
            Self::Copy { out, input } => Op::Copy {
                out: change(out),
                input: change(input),
            },
            Self::Unary { op, out, input } => Op::Unary {
                op,
                out: change(out),
                input: change(input),
            },
            Self::Binary { op, out, lhs, rhs } => Op::Binary {
                op,
                out: change(out),
                lhs: operand(lhs, change),
                rhs: operand(rhs, change),
            },
            Self::Compare { op, out, lhs, rhs } => Op::Compare {
                op,
                out: change(out),
                lhs: operand(lhs, change),
                rhs: operand(rhs, change),
            },
            Self::Select {
                out,
                condition,
                on_true,
                on_false,
            } => Op::Select {
                out: change(out),
                condition: change(condition),
                on_true: operand(on_true, change),
                on_false: operand(on_false, change),
            },
            Self::Reduce { op, out, input } => Op::Reduce {
                op,
                out: change(out),
                input: change(input),
            },
            Self::ArgReduce { op, out, input } => Op::ArgReduce {
                op,
                out: change(out),
                input: change(input),
            },
            Self::Scan { op, out, input } => Op::Scan {
                op,
                out: change(out),
                input: change(input),
            },
            Self::Gather {
                out,
                input,
                index,
                axis,
            } => Op::Gather {
                out: change(out),
                input: change(input),
                index: change(index),
                axis,
            },
            Self::Scatter {
                mode,
                out,
                index,
                src,
                axis,
            } => Op::Scatter {
                mode,
                out: change(out),
                index: change(index),
                src: change(src),
                axis,
            },
            Self::Gemm(gemm) => Op::Gemm(gemm),
            Self::Random {
                distribution,
                out,
                seed,
                first,
            } => Op::Random {
                distribution,
                out: change(out),
                seed,
                first,
            },
        }
    }
}

/// An [`Op`] that owns its dims and strides: what a vendor that queues work keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedOp {
    shape: Op<'static>,
    layouts: Vec<(Vec<usize>, Vec<isize>)>,
}

impl OwnedOp {
    /// A copy of `op` that borrows nothing.
    #[must_use]
    pub fn new(op: &Op<'_>) -> Self {
        let mut layouts = Vec::new();
        let shape = op.map_views(|view| {
            layouts.push((view.dims.to_vec(), view.strides.to_vec()));
            View {
                dtype: view.dtype,
                offset: view.offset,
                dims: &[],
                strides: &[],
            }
        });
        Self { shape, layouts }
    }

    /// The operation, borrowing from this copy.
    #[must_use]
    pub fn as_op(&self) -> Op<'_> {
        let mut layouts = self.layouts.iter();
        self.shape.map_views(|view| match layouts.next() {
            Some((dims, strides)) => View {
                dims,
                strides,
                ..view
            },
            None => view,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{BinaryOp, Family, Op, Operand, OwnedOp};
    use crate::dtype::{DType, Scalar};
    use crate::layout::View;

    #[test]
    fn owned_op_gives_back_the_same_op() {
        let dims = [2, 3];
        let view = |offset, strides| View::new(DType::F32, offset, &dims, strides);
        let op = Op::Binary {
            op: BinaryOp::Add,
            out: view(0, &[3, 1]),
            lhs: Operand::View(view(1, &[1, 2])),
            rhs: Operand::Scalar(Scalar::one(DType::F32)),
        };
        let owned = OwnedOp::new(&op);
        assert_eq!(owned.as_op(), op);
        assert_eq!(
            (op.name(), op.family(), op.dtype()),
            ("add", Family::Binary, DType::F32)
        );
    }
}
