//! Functions of two elements.

use super::Operand;
use crate::error::Error;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::BinaryOp;
use smallvec::SmallVec;

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)+) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// `rhs` is a tensor of the same dtype, broadcast by NumPy's rule, or a number.
            ///
            /// # Errors
            /// Shapes that do not broadcast, dtypes that differ or do not have the operation, a
            /// number that does not go into the dtype, tensors of different devices.
            pub fn $name<'a>(&'a self, rhs: impl Into<Operand<'a>>) -> Result<Self, Error> {
                binary(stringify!($name), BinaryOp::$op, self.into(), rhs.into())
            }
        )+}
    };
}

binary! {
    /// `a + b`. Integers wrap; of bool, or.
    add => Add;
    /// `a - b`. Integers wrap; not for bool.
    sub => Sub;
    /// `a * b`. Integers wrap; of bool, and.
    mul => Mul;
    /// `a / b`. Integers truncate toward zero, `x / 0` is 0 and `MIN / -1` is `MIN`; not for bool.
    div => Div;
    /// The remainder of `a / b`, with the sign of `a` (C's `fmod`, not Python's `%`); of integers,
    /// `x % 0` is 0. Real types, not bool.
    rem => Rem;
    /// The smaller of the two; NaN if either is. Not for complex.
    minimum => Min;
    /// The larger of the two; NaN if either is. Not for complex.
    maximum => Max;
}

/// `op(lhs, rhs)`, of which one at least is a tensor.
pub(super) fn binary(
    op: &'static str,
    kind: BinaryOp,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
) -> Result<Tensor, Error> {
    let inputs = tensors([&lhs, &rhs]);
    let Some(first) = inputs.first() else {
        return Err(Error::invalid(op, "one of the operands must be a tensor"));
    };
    let operands = lhs
        .seam(op, first.dtype())
        .and_then(|lhs| Ok((lhs, rhs.seam(op, first.dtype())?)));
    let (lhs, rhs) = named(operands, &inputs)?;
    Tensor::submit(op, &Call::Binary { op: kind, lhs, rhs }, &inputs)
}

/// The tensors among operands, in order.
pub(super) fn tensors<'a, const N: usize>(
    operands: [&Operand<'a>; N],
) -> SmallVec<[&'a Tensor; 3]> {
    operands.into_iter().filter_map(Operand::tensor).collect()
}

/// The result, or its error with the tensors involved.
pub(super) fn named<T>(result: Result<T, Error>, tensors: &[&Tensor]) -> Result<T, Error> {
    result.map_err(|error| error.with_operands(tensors.iter().map(|tensor| tensor.describe())))
}
