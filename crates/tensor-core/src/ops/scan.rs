//! Running reductions along one axis.

use super::reduce::summed;
use crate::error::Error;
use crate::shape::Axis;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::{DType, ScanOp};

macro_rules! scan {
    ($($(#[$doc:meta])* $name:ident => $op:ident, $dtype:expr;)+) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// An axis that is not there, or a dtype that does not have the operation.
            pub fn $name(&self, axis: impl Into<Axis>) -> Result<Self, Error> {
                scan(stringify!($name), ScanOp::$op, self, axis.into(), ($dtype)(self.dtype()))
            }
        )+}
    };
}

scan! {
    /// The running sum along `axis`. Of bool and integers it is i64; f16 and bf16 are accumulated
    /// in f32.
    cumsum => Sum, summed;
    /// The running product along `axis`. Types as for [`cumsum`](Self::cumsum).
    cumprod => Prod, summed;
    /// The running minimum along `axis`; NaN from the first NaN on. Not for complex.
    cummin => Min, |dtype: DType| dtype;
    /// The running maximum along `axis`; NaN from the first NaN on. Not for complex.
    cummax => Max, |dtype: DType| dtype;
}

fn scan(
    op: &'static str,
    kind: ScanOp,
    of: &Tensor,
    axis: Axis,
    dtype: DType,
) -> Result<Tensor, Error> {
    let axis = of.layout().axis(op, axis.0);
    let axis = axis.map_err(|error| error.with_operands([of.describe()]))?;
    let call = Call::Scan {
        op: kind,
        input: of.seam_view(),
        axis,
        dtype,
    };
    Tensor::submit(op, &call, &[of])
}
