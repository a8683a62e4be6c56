//! Plans carried out on tensors: the one file of einsum that knows them.

use super::error::EinsumError;
use super::plan::{Plan, Route};
use super::run::{self, Machine};
use crate::device::Device;
use crate::error::{Error, Shown};
use crate::tensor::Tensor;
use gpu_seam::DType;

const OP: &str = "einsum";

/// The sum of products that `spec` names, over operands of one dtype on one device: NumPy's
/// `einsum`.
///
/// `einsum("ij,jk->ik", &[&a, &b])` is the matrix product; see [`Spec`](super::Spec) for what can be
/// written, and [`Plan`] to choose the path, to see the costs, or to run one contraction often. Each
/// intermediate has the operands' dtype, so that the order of summation and the rounding of f16 and
/// bf16 follow the path.
///
/// # Errors
/// A spec that does not parse or fit the operands, operands of different dtypes or devices or of
/// dtype bool, a dtype that the device does not serve, out of memory.
pub fn einsum(spec: &str, operands: &[&Tensor]) -> Result<Tensor, Error> {
    let described = |error: EinsumError| {
        Error::from(error).with_operands(operands.iter().map(|operand| operand.describe()))
    };
    let Some(first) = operands.first() else {
        return Err(Error::invalid(OP, "there is no operand"));
    };
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.dims()).collect();
    let plan = Plan::new(spec, &shapes, first.dtype(), Route::Found).map_err(described)?;
    plan.run(operands)
}

impl Plan {
    /// Contracts `operands`, which have the shapes and the dtype that the plan was made for.
    ///
    /// Returns once everything is submitted, as every operation does. An operand that is not
    /// row-major may be copied once more than the plan says. The result may be a view.
    ///
    /// # Errors
    /// Operands of other shapes, dtypes or number than planned, or of different devices; a dtype that
    /// the device does not serve; out of memory.
    pub fn run(&self, operands: &[&Tensor]) -> Result<Tensor, Error> {
        self.run_with(operands, |_| ())
    }

    /// As [`run`](Self::run), and calls `done(n)` each time the first `n` of
    /// [`instructions`](Self::instructions) have been submitted.
    ///
    /// # Errors
    /// As there.
    pub fn run_with(&self, operands: &[&Tensor], done: impl FnMut(usize)) -> Result<Tensor, Error> {
        self.check(operands).map_err(|error| {
            error.with_operands(operands.iter().map(|operand| operand.describe()))
        })?;
        let Some(first) = operands.first() else {
            return Err(Error::invalid(OP, "there is no operand"));
        };
        let tensors = Tensors {
            device: first.device(),
            dtype: self.dtype(),
        };
        run::run(&self.program, &tensors, operands, done)
            .map_err(|error| error.named(OP))?
            .ok_or_else(|| Error::invalid(OP, "the plan reads what it never made: a bug in it"))
    }

    fn check(&self, operands: &[&Tensor]) -> Result<(), Error> {
        let (planned, given) = (self.shapes().len(), operands.len());
        if planned != given {
            let detail = format!("planned for {planned} operands, given {given}");
            return Err(Error::invalid(OP, detail));
        }
        let Some(first) = operands.first() else {
            return Ok(());
        };
        for (at, (operand, shape)) in operands.iter().zip(self.shapes()).enumerate() {
            let wrong = if operand.dims() != shape {
                format!(
                    "shape {}, not the planned {}",
                    Shown(operand.dims()),
                    Shown(shape)
                )
            } else if operand.dtype() != self.dtype() {
                format!(
                    "dtype {}, not the planned {}",
                    operand.dtype(),
                    self.dtype()
                )
            } else if operand.device() != first.device() {
                format!(
                    "device {}, not operand 0's engine of {}",
                    operand.device(),
                    first.device()
                )
            } else {
                continue;
            };
            return Err(Error::invalid(OP, format!("operand {at} has {wrong}")));
        }
        Ok(())
    }
}

impl From<EinsumError> for Error {
    fn from(error: EinsumError) -> Self {
        Self::invalid(OP, error.to_string())
    }
}

/// Tensors of one dtype on one device.
struct Tensors<'a> {
    device: &'a Device,
    dtype: DType,
}

impl Machine for Tensors<'_> {
    type Array = Tensor;
    type Error = Error;

    fn diagonal(&self, of: &Tensor, first: usize, second: usize) -> Result<Tensor, Error> {
        of.diagonal(0, first, second)
    }

    fn permute(&self, of: &Tensor, axes: &[usize]) -> Result<Tensor, Error> {
        of.permute(axes)
    }

    fn reshape(&self, of: &Tensor, dims: &[usize]) -> Result<Tensor, Error> {
        if of.dims() == dims {
            return Ok(of.clone());
        }
        of.reshape(dims)
    }

    fn copy(&self, of: &Tensor) -> Result<Tensor, Error> {
        of.copy()
    }

    fn sum(&self, of: &Tensor) -> Result<Tensor, Error> {
        of.sum(1)?.to_dtype(self.dtype)
    }

    fn multiply(&self, left: &Tensor, right: &Tensor) -> Result<Tensor, Error> {
        left.mul(right)
    }

    fn matmul(&self, left: &Tensor, right: &Tensor) -> Result<Tensor, Error> {
        left.matmul(right)
    }

    fn zeros(&self, dims: &[usize]) -> Result<Tensor, Error> {
        Tensor::zeros(dims, self.dtype, self.device)
    }
}
