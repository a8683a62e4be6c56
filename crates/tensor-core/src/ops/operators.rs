//! `+ - * / %` and unary `-`, giving a `Result`: `(&a + &b)?`, `(2.0 * &a)?`.
//!
//! Numbers are of one type a kind, so that a literal needs no suffix; for others, the methods take
//! any.

use super::Operand;
use super::binary::binary;
use crate::dtype::Number;
use crate::error::Error;
use crate::tensor::Tensor;
use gpu_seam::BinaryOp;
use num_complex::Complex;
use std::borrow::Borrow;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

macro_rules! operators {
    ($($trait:ident $method:ident;)+) => {$(
        operators!(@tensors $trait $method: &Tensor, &Tensor);
        operators!(@tensors $trait $method: &Tensor, Tensor);
        operators!(@tensors $trait $method: Tensor, &Tensor);
        operators!(@tensors $trait $method: Tensor, Tensor);
        operators!(@numbers $trait $method: i64, f64, Complex<f64>, Number);
    )+};
    (@tensors $trait:ident $method:ident: $lhs:ty, $rhs:ty) => {
        impl $trait<$rhs> for $lhs {
            type Output = Result<Tensor, Error>;

            fn $method(self, rhs: $rhs) -> Self::Output {
                binary(stringify!($method), BinaryOp::$trait, tensor(&self), tensor(&rhs))
            }
        }
    };
    (@numbers $trait:ident $method:ident: $($number:ty),+) => {$(
        operators!(@number $trait $method: &Tensor, $number);
        operators!(@number $trait $method: Tensor, $number);
    )+};
    (@number $trait:ident $method:ident: $tensor:ty, $number:ty) => {
        impl $trait<$number> for $tensor {
            type Output = Result<Tensor, Error>;

            fn $method(self, rhs: $number) -> Self::Output {
                let rhs = Operand::Number(Number::from(rhs));
                binary(stringify!($method), BinaryOp::$trait, tensor(&self), rhs)
            }
        }

        impl $trait<$tensor> for $number {
            type Output = Result<Tensor, Error>;

            fn $method(self, rhs: $tensor) -> Self::Output {
                let lhs = Operand::Number(Number::from(self));
                binary(stringify!($method), BinaryOp::$trait, lhs, tensor(&rhs))
            }
        }
    };
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
    Rem rem;
}

/// An operand that may be given by value or by reference.
fn tensor(operand: &impl Borrow<Tensor>) -> Operand<'_> {
    Operand::Tensor(operand.borrow())
}

impl Neg for &Tensor {
    type Output = Result<Tensor, Error>;

    fn neg(self) -> Self::Output {
        Tensor::neg(self)
    }
}

impl Neg for Tensor {
    type Output = Result<Self, Error>;

    fn neg(self) -> Self::Output {
        Self::neg(&self)
    }
}
