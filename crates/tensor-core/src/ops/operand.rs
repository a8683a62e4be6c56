//! A tensor or a number: what the second operand of an operation may be.

use crate::dtype::{Element, Number};
use crate::error::Error;
use crate::tensor::Tensor;
use gpu_seam::{DType, Operand as Seam};

/// A tensor, or a number that takes the tensor's dtype.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// Elements of a tensor, broadcast.
    Tensor(&'a Tensor),
    /// One value for every element.
    Number(Number),
}

impl<'a> Operand<'a> {
    /// The tensor, if it is one.
    pub(super) const fn tensor(&self) -> Option<&'a Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Number(_) => None,
        }
    }

    /// The operand of a call whose other operand is of `dtype`.
    pub(super) fn seam(&self, op: &'static str, dtype: DType) -> Result<Seam<'a>, Error> {
        match self {
            Self::Tensor(tensor) => Ok(Seam::View(tensor.seam_view())),
            Self::Number(number) => match number.to_scalar(dtype) {
                Ok(scalar) => Ok(Seam::Scalar(scalar)),
                Err(refused) => Err(Error::invalid(op, refused.to_string())),
            },
        }
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<T: Element> From<T> for Operand<'_> {
    fn from(number: T) -> Self {
        Self::Number(number.into())
    }
}

impl From<Number> for Operand<'_> {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}
