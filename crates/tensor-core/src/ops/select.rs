//! Choosing between elements, and limiting them.

use super::Operand;
use super::binary::{binary, named, tensors};
use crate::error::Error;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::BinaryOp;

impl Tensor {
    /// `on_true` where this tensor (of bool) is true, else `on_false`: NumPy's and PyTorch's
    /// `where`. All three are broadcast; one branch at least is a tensor, and a number takes its
    /// dtype.
    ///
    /// # Errors
    /// A condition that is not bool, shapes that do not broadcast, dtypes that differ, two numbers,
    /// tensors of different devices.
    #[doc(alias = "where")]
    #[doc(alias = "select")]
    pub fn where_cond<'a>(
        &'a self,
        on_true: impl Into<Operand<'a>>,
        on_false: impl Into<Operand<'a>>,
    ) -> Result<Self, Error> {
        const OP: &str = "where_cond";
        let (on_true, on_false) = (on_true.into(), on_false.into());
        let inputs = tensors([&self.into(), &on_true, &on_false]);
        let branches = match inputs.get(1) {
            None => Err(Error::invalid(
                OP,
                "two numbers have no dtype: give one branch as a tensor",
            )),
            Some(branch) => on_true
                .seam(OP, branch.dtype())
                .and_then(|on_true| Ok((on_true, on_false.seam(OP, branch.dtype())?))),
        };
        let (on_true, on_false) = named(branches, &inputs)?;
        let call = Call::Select {
            condition: self.seam_view(),
            on_true,
            on_false,
        };
        Self::submit(OP, &call, &inputs)
    }

    /// `minimum(maximum(x, low), high)`: elements outside `low..=high` become the bound. NaN stays
    /// NaN, in an element or in a bound; where `low > high` the result is `high`.
    ///
    /// # Errors
    /// As for [`maximum`](Self::maximum).
    pub fn clamp<'a>(
        &'a self,
        low: impl Into<Operand<'a>>,
        high: impl Into<Operand<'a>>,
    ) -> Result<Self, Error> {
        const OP: &str = "clamp";
        let raised = binary(OP, BinaryOp::Max, self.into(), low.into())?;
        binary(OP, BinaryOp::Min, (&raised).into(), high.into())
    }
}
