//! Comparisons of two elements, giving bool.

use super::Operand;
use super::binary::{named, tensors};
use crate::error::Error;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::CompareOp;

macro_rules! compare {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)+) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// `rhs` is a tensor of the same dtype, broadcast by NumPy's rule, or a number. `-0.0`
            /// equals `0.0`.
            ///
            /// # Errors
            /// Shapes that do not broadcast, dtypes that differ or do not have the operation, a
            /// number that does not go into the dtype, tensors of different devices.
            pub fn $name<'a>(&'a self, rhs: impl Into<Operand<'a>>) -> Result<Self, Error> {
                compare(stringify!($name), CompareOp::$op, self, rhs.into())
            }
        )+}
    };
}

compare! {
    /// `a == b`; false where either is NaN.
    eq => Eq;
    /// `a != b`; true where either is NaN.
    ne => Ne;
    /// `a < b`; false where either is NaN. Not for complex.
    lt => Lt;
    /// `a <= b`; false where either is NaN. Not for complex.
    le => Le;
    /// `a > b`; false where either is NaN. Not for complex.
    gt => Gt;
    /// `a >= b`; false where either is NaN. Not for complex.
    ge => Ge;
}

fn compare(
    op: &'static str,
    kind: CompareOp,
    lhs: &Tensor,
    rhs: Operand<'_>,
) -> Result<Tensor, Error> {
    let left = Operand::from(lhs);
    let inputs = tensors([&left, &rhs]);
    let operands = left
        .seam(op, lhs.dtype())
        .and_then(|left| Ok((left, rhs.seam(op, lhs.dtype())?)));
    let (lhs, rhs) = named(operands, &inputs)?;
    Tensor::submit(op, &Call::Compare { op: kind, lhs, rhs }, &inputs)
}
