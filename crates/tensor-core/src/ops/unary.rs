//! Functions of one element.

use crate::error::Error;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::UnaryOp;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)+) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// A dtype that does not have the operation.
            pub fn $name(&self) -> Result<Self, Error> {
                let call = Call::Unary { op: UnaryOp::$op, input: self.seam_view() };
                Self::submit(stringify!($name), &call, &[self])
            }
        )+}
    };
}

unary! {
    /// `-x`. Integers wrap, `-MIN` is `MIN`; not for bool.
    neg => Neg;
    /// `|x|`. Integers wrap, `|MIN|` is `MIN`; of complex, the modulus in its real type.
    abs => Abs;
    /// `e^x`. Floats and complex.
    exp => Exp;
    /// The natural logarithm, of complex its principal branch. Floats and complex.
    log => Log;
    /// The square root, of complex its principal branch. Floats and complex.
    sqrt => Sqrt;
    /// The hyperbolic tangent. Floats and complex.
    tanh => Tanh;
    /// `1 / x`. Floats and complex.
    recip => Recip;
    /// The complex conjugate; the elements themselves where they are real.
    conj => Conj;
    /// Whether `x` is NaN (either part, for complex), as bool; decided on its bits.
    is_nan => IsNan;
    /// `!x` of bool, as NumPy's `logical_not`; the bitwise complement of integers.
    not => Not;
}
