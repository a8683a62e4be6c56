//! Reductions over one, several or all axes.

use crate::error::Error;
use crate::shape::{Axes, Layout};
use crate::tensor::Tensor;
use gpu_dispatch::{Call, Dims};
use gpu_seam::{ArgOp, BinaryOp, DType, ReduceOp};

use super::Operand;
use super::binary::binary;

macro_rules! reduce {
    ($($(#[$doc:meta])* $name:ident, $keep:ident => $run:expr;)+) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// `axes` is an axis, a list of them, or `..` for all; an empty list reduces nothing.
            /// The result is without those dimensions.
            ///
            /// # Errors
            /// An axis that is not there or named twice, or a dtype that does not have the
            /// operation.
            pub fn $name(&self, axes: impl Into<Axes>) -> Result<Self, Error> {
                let reduction = Reduction::new(stringify!($name), self, axes.into())?;
                ($run)(&reduction)
            }

            #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name),
                "), but the reduced dimensions stay, with size 1.")]
            ///
            /// # Errors
            /// As there.
            pub fn $keep(&self, axes: impl Into<Axes>) -> Result<Self, Error> {
                let reduction = Reduction::new(stringify!($keep), self, axes.into())?;
                reduction.kept(($run)(&reduction)?)
            }
        )+}
    };
}

reduce! {
    /// The sum; of nothing, 0. bool and integers are counted and summed as i64; f16 and bf16 are
    /// accumulated in f32.
    sum, sum_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::Sum, summed(r.of.dtype()));
    /// The product; of nothing, 1. Types as for [`sum`](Self::sum).
    prod, prod_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::Prod, summed(r.of.dtype()));
    /// The mean; of nothing, NaN. Of bool and integers it is f64; f16 and bf16 are summed and
    /// divided in f32.
    mean, mean_keepdim => Reduction::mean;
    /// The smallest; NaN if any is. Of nothing, an error. Not for complex.
    min, min_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::Min, r.of.dtype());
    /// The largest; NaN if any is. Of nothing, an error. Not for complex.
    max, max_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::Max, r.of.dtype());
    /// Whether any element is not zero (NaN is not), as bool; of nothing, false.
    any, any_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::Any, DType::Bool);
    /// Whether all elements are not zero (NaN is not), as bool; of nothing, true.
    all, all_keepdim => |r: &Reduction<'_>| r.run(ReduceOp::All, DType::Bool);
    /// The position of the smallest, as i64: the first NaN if there is one, else the first of
    /// equals. Over several axes, the position in row-major order of those. Of nothing, an error.
    /// Not for complex.
    argmin, argmin_keepdim => |r: &Reduction<'_>| r.position(ArgOp::ArgMin);
    /// The position of the largest; otherwise as [`argmin`](Self::argmin).
    argmax, argmax_keepdim => |r: &Reduction<'_>| r.position(ArgOp::ArgMax);
}

/// The dtype of a sum.
pub(super) const fn summed(dtype: DType) -> DType {
    if dtype.is_float() || dtype.is_complex() {
        dtype
    } else {
        DType::I64
    }
}

/// What is reduced over which dimensions.
struct Reduction<'a> {
    op: &'static str,
    of: &'a Tensor,
    axes: Dims,
}

impl<'a> Reduction<'a> {
    fn new(op: &'static str, of: &'a Tensor, axes: Axes) -> Result<Self, Error> {
        match of.layout().axes(op, axes.0.as_deref()) {
            Ok(axes) => Ok(Self { op, of, axes }),
            Err(error) => Err(error.with_operands([of.describe()])),
        }
    }

    fn run(&self, op: ReduceOp, dtype: DType) -> Result<Tensor, Error> {
        let call = Call::Reduce {
            op,
            input: self.of.seam_view(),
            axes: &self.axes,
            dtype,
        };
        Tensor::submit(self.op, &call, &[self.of])
    }

    fn position(&self, op: ArgOp) -> Result<Tensor, Error> {
        let call = Call::ArgReduce {
            op,
            input: self.of.seam_view(),
            axes: &self.axes,
        };
        Tensor::submit(self.op, &call, &[self.of])
    }

    /// Three calls at most: a sum, a division, and a cast where the sum was wider.
    fn mean(&self) -> Result<Tensor, Error> {
        let (sum, mean) = match self.of.dtype() {
            DType::F16 => (DType::F32, DType::F16),
            DType::BF16 => (DType::F32, DType::BF16),
            dtype if dtype.is_float() || dtype.is_complex() => (dtype, dtype),
            _ => (DType::F64, DType::F64),
        };
        let total = self.run(ReduceOp::Sum, sum)?;
        // 0 / 0 is the NaN that the mean of nothing is.
        let count = self.count();
        let result = binary(
            self.op,
            BinaryOp::Div,
            (&total).into(),
            Operand::from(count),
        )?;
        result.to_dtype(mean).map_err(|error| error.named(self.op))
    }

    /// How many elements each result is of.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count beyond 2^53 is rounded, as any divisor of a mean is"
    )]
    fn count(&self) -> f64 {
        let dims = self.of.dims();
        self.axes.iter().map(|&axis| dims[axis] as f64).product()
    }

    /// The result with the reduced dimensions back, as size 1.
    fn kept(&self, result: Tensor) -> Result<Tensor, Error> {
        let dims = self.of.dims().iter().enumerate();
        let dims = dims.map(|(axis, &dim)| if self.axes.contains(&axis) { 1 } else { dim });
        let layout = Layout::contiguous(self.op, dims.collect())?;
        Ok(result.with_layout(layout))
    }
}
