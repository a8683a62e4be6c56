//! Matrix products by the rules of NumPy's and PyTorch's `matmul`.

use super::binary::named;
use crate::dtype::Number;
use crate::error::Error;
use crate::shape::Layout;
use crate::tensor::Tensor;
use gpu_dispatch::{Call, Dims, Factor};
use gpu_seam::{DType, Scalar};

impl Tensor {
    /// The matrix product over the last two dimensions; the others are batches, broadcast by
    /// NumPy's rule.
    ///
    /// A vector on the left is a row and one on the right a column, and that dimension is not in
    /// the result: vector by vector is a scalar. f16 and bf16 accumulate in f32, integers wrap.
    ///
    /// # Errors
    /// A scalar, shapes that do not fit, dtypes that differ, tensors of different devices.
    #[doc(alias = "dot")]
    #[doc(alias = "bmm")]
    pub fn matmul(&self, rhs: &Self) -> Result<Self, Error> {
        product("matmul", self, rhs, Scalar::one(self.dtype()), None)
    }

    /// `beta * self + alpha * (lhs · rhs)`, with this tensor broadcast to the product's shape:
    /// PyTorch's `addmm` and `baddbmm`, in one call and with the vector rules of
    /// [`matmul`](Self::matmul). With `beta` zero this tensor is not read: NaN does not pass.
    ///
    /// # Errors
    /// As for `matmul`, a tensor that does not broadcast to the product, or a factor that does not
    /// go into the dtype.
    pub fn addmm(
        &self,
        lhs: &Self,
        rhs: &Self,
        beta: impl Into<Number>,
        alpha: impl Into<Number>,
    ) -> Result<Self, Error> {
        const OP: &str = "addmm";
        let factor = |number: Number, dtype: DType| {
            let scalar = number.to_scalar(dtype);
            scalar.map_err(|refused| Error::invalid(OP, refused.to_string()))
        };
        let (beta, alpha) = (beta.into(), alpha.into());
        let factors =
            factor(alpha, lhs.dtype()).and_then(|alpha| Ok((alpha, factor(beta, self.dtype())?)));
        let (alpha, beta) = named(factors, &[self, lhs, rhs])?;
        product(OP, lhs, rhs, alpha, Some((self, beta)))
    }
}

fn product(
    op: &'static str,
    lhs: &Tensor,
    rhs: &Tensor,
    alpha: Scalar,
    bias: Option<(&Tensor, Scalar)>,
) -> Result<Tensor, Error> {
    let all: [&Tensor; 3] = [lhs, rhs, bias.map_or(lhs, |(bias, _)| bias)];
    let inputs = if bias.is_some() { &all[..] } else { &all[..2] };
    let rows = |tensor: &Tensor| matrices(op, tensor, 0);
    let columns = |tensor: &Tensor| matrices(op, tensor, 1);
    let factors = rows(lhs).and_then(|lhs| Ok((lhs, columns(rhs)?)));
    let ((left, row), (right, column)) = named(factors, inputs)?;
    let bias_layout = match bias {
        None => None,
        Some((bias, _)) => {
            let rank = left.rank().max(right.rank()) - usize::from(row) - usize::from(column);
            Some(named(bias_matrices(op, bias, rank, row, column), inputs)?)
        }
    };
    let call = Call::Matmul {
        lhs: Factor::plain(left.view(lhs.dtype())),
        rhs: Factor::plain(right.view(rhs.dtype())),
        alpha,
        bias: match (&bias_layout, bias) {
            (Some(layout), Some((bias, beta))) => Some((layout.view(bias.dtype()), beta)),
            _ => None,
        },
    };
    let result = Tensor::submit(op, &call, inputs)?;
    if !row && !column {
        return Ok(result);
    }
    // The dimensions that only made matrices of vectors have size 1: without them it is a view.
    let rank = result.rank();
    let gone = |axis: usize| (row && axis + 2 == rank) || (column && axis + 1 == rank);
    let dims: Dims = (0..rank)
        .filter(|&axis| !gone(axis))
        .map(|axis| result.dims()[axis])
        .collect();
    Ok(result.with_layout(Layout::of_result(dims)))
}

/// The layout with rank 2 at least, and whether a vector was made a matrix for it by a dimension
/// at `axis`.
fn matrices(op: &'static str, tensor: &Tensor, axis: isize) -> Result<(Layout, bool), Error> {
    match tensor.rank() {
        0 => Err(Error::invalid(
            op,
            "a scalar is no matrix: multiply by it with mul",
        )),
        1 => Ok((tensor.layout().unsqueezed(op, axis)?, true)),
        _ => Ok((tensor.layout().clone(), false)),
    }
}

/// The layout of a bias for a product of `rank` dimensions, given those that vectors lack.
fn bias_matrices(
    op: &'static str,
    bias: &Tensor,
    rank: usize,
    row: bool,
    column: bool,
) -> Result<Layout, Error> {
    if bias.rank() > rank {
        let detail = format!(
            "a bias of rank {} does not broadcast to a product of rank {rank}",
            bias.rank()
        );
        return Err(Error::invalid(op, detail));
    }
    let mut layout = bias.layout().clone();
    if bias.rank() == 0 {
        return Ok(layout);
    }
    if column {
        layout = layout.unsqueezed(op, -1)?;
    }
    if row {
        layout = layout.unsqueezed(op, -2)?;
    }
    Ok(layout)
}
