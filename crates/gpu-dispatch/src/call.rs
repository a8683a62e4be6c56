//! What a caller may ask for, before it is canonical.
//!
//! A [`Call`] says what to compute on which views; the storages go beside it, one for each
//! view, in the order of the fields. Any rank up to [`MAX_RANK`](gpu_seam::MAX_RANK), any strides,
//! broadcasting by NumPy's rule, empty dimensions: the canonical form is dispatch's business.
//! Every call gives one fresh, contiguous, row-major output. Knows nothing of engines or buffers.

use gpu_seam::{
    ArgOp, BinaryOp, CompareOp, DType, Distribution, Operand, ReduceOp, Scalar, ScanOp,
    ScatterMode, UnaryOp, View,
};
use smallvec::SmallVec;

/// Dimensions, inline up to rank 6.
pub type Dims = SmallVec<[usize; 6]>;

/// Strides in elements, inline up to rank 6.
pub type Strides = SmallVec<[isize; 6]>;

/// What to compute. See each variant for the dims and dtype of its output.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Call<'a> {
    /// Every element `value`. Output: `dims`, the value's dtype.
    Fill {
        /// Dims of the output.
        dims: &'a [usize],
        /// What every element becomes.
        value: Scalar,
    },
    /// Numbers drawn from Philox4x32-10, element `i` from counter `first + i`. Output: `dims`,
    /// `dtype`.
    Random {
        /// What is drawn.
        distribution: Distribution,
        /// Dims of the output.
        dims: &'a [usize],
        /// A float or complex dtype.
        dtype: DType,
        /// The Philox key.
        seed: u64,
        /// The counter of element 0.
        first: u64,
    },
    /// A copy, cast when the dtypes differ. Output: the input's dims, `dtype`.
    Copy {
        /// What to copy.
        input: View<'a>,
        /// The output's dtype.
        dtype: DType,
    },
    /// A function of each element. Output: the input's dims.
    Unary {
        /// What to compute.
        op: UnaryOp,
        /// Of what.
        input: View<'a>,
    },
    /// A function of two elements. Output: the broadcast dims, the common dtype.
    Binary {
        /// What to compute.
        op: BinaryOp,
        /// A view or a scalar.
        lhs: Operand<'a>,
        /// A view or a scalar; at least one of the two is a view.
        rhs: Operand<'a>,
    },
    /// A comparison of two elements. Output: the broadcast dims, bool.
    Compare {
        /// What to compare.
        op: CompareOp,
        /// A view or a scalar.
        lhs: Operand<'a>,
        /// A view or a scalar; at least one of the two is a view.
        rhs: Operand<'a>,
    },
    /// A choice of two elements. Output: the broadcast dims of all three, the branches' dtype.
    Select {
        /// Of dtype bool.
        condition: View<'a>,
        /// A view or a scalar.
        on_true: Operand<'a>,
        /// A view or a scalar, of the same dtype.
        on_false: Operand<'a>,
    },
    /// A reduction over `axes`. Output: the dims that are left, `dtype`.
    Reduce {
        /// What to compute.
        op: ReduceOp,
        /// Of what.
        input: View<'a>,
        /// The reduced dimensions, each once, in any order. None: every line has one element.
        axes: &'a [usize],
        /// The output's dtype: see [`Op::Reduce`](gpu_seam::Op::Reduce) for those that exist.
        dtype: DType,
    },
    /// The position of an extreme over `axes`, counted in row-major order of the reduced
    /// dimensions as they stand in the input. Output: the dims that are left, i64.
    ArgReduce {
        /// Which extreme.
        op: ArgOp,
        /// Of what.
        input: View<'a>,
        /// The reduced dimensions, each once, in any order.
        axes: &'a [usize],
    },
    /// A running reduction along `axis`. Output: the input's dims, `dtype`.
    Scan {
        /// What to compute.
        op: ScanOp,
        /// Of what.
        input: View<'a>,
        /// Along which dimension.
        axis: usize,
        /// The output's dtype: as for `Reduce`.
        dtype: DType,
    },
    /// `out[p] = input[p with p[axis] replaced by index[p]]`. Output: the index's dims, the
    /// input's dtype. The index's dims do not exceed the input's, but for `axis`.
    Gather {
        /// What is looked up in.
        input: View<'a>,
        /// Of an integer dtype; the input's rank.
        index: View<'a>,
        /// The dimension that is looked up.
        axis: usize,
    },
    /// `out[.., j, ..] = input[.., index[j], ..]` at `axis`. Output: the input's dims with `axis`
    /// as long as the index, the input's dtype.
    IndexSelect {
        /// What is looked up in.
        input: View<'a>,
        /// Of an integer dtype; rank 1.
        index: View<'a>,
        /// The dimension that is looked up.
        axis: usize,
    },
    /// A copy of `base` with `out[p with p[axis] replaced by index[p]] = src[p]`, or `+=`. Output:
    /// the base's dims and dtype. The index's dims do not exceed the base's, but for `axis`.
    Scatter {
        /// Whether to replace or to add.
        mode: ScatterMode,
        /// What is updated.
        base: View<'a>,
        /// Of an integer dtype; the base's rank.
        index: View<'a>,
        /// The index's dims, the base's dtype.
        src: View<'a>,
        /// The dimension that is looked up.
        axis: usize,
    },
    /// `alpha * lhs · rhs + beta * bias` over the last two dimensions, the others broadcast.
    /// Output: the broadcast batch dims, then `m` and `n`.
    Matmul {
        /// The left factor, rank 2 or more: `[.., m, k]`.
        lhs: Factor<'a>,
        /// The right factor, rank 2 or more: `[.., k, n]`.
        rhs: Factor<'a>,
        /// Factor of the product, of the factors' dtype.
        alpha: Scalar,
        /// What is added, broadcast to the output, and its factor.
        bias: Option<(View<'a>, Scalar)>,
    },
    /// The inputs one after the other along `axis`. Output: the common dims, their sum at `axis`.
    Concat {
        /// At least one; equal dtypes, equal dims but for `axis`.
        inputs: &'a [View<'a>],
        /// Along which dimension.
        axis: usize,
    },
}

/// A factor of a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor<'a> {
    /// The matrices.
    pub view: View<'a>,
    /// Whether elements are conjugated as they are read.
    pub conjugated: bool,
}

impl<'a> Factor<'a> {
    /// The view as it is.
    #[must_use]
    pub const fn plain(view: View<'a>) -> Self {
        Self {
            view,
            conjugated: false,
        }
    }
}

impl Call<'_> {
    /// The name that errors and traces carry: that of what it computes.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fill { .. } => "fill",
            Self::Random { distribution, .. } => distribution.name(),
            Self::Copy { .. } => "copy",
            Self::Unary { op, .. } => op.name(),
            Self::Binary { op, .. } => op.name(),
            Self::Compare { op, .. } => op.name(),
            Self::Select { .. } => "select",
            Self::Reduce { op, .. } => op.name(),
            Self::ArgReduce { op, .. } => op.name(),
            Self::Scan { op, .. } => op.name(),
            Self::Gather { .. } => "gather",
            Self::IndexSelect { .. } => "index_select",
            Self::Scatter { mode, .. } => mode.name(),
            Self::Matmul { .. } => "matmul",
            Self::Concat { .. } => "concat",
        }
    }
}
