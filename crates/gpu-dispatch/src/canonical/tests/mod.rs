//! Lowering against plain evaluation: every test runs the steps on a naive interpreter over `i64`
//! elements, compares with a direct reading of the call, and checks on every step what vendors are
//! promised.

mod cases;
mod elements;
mod evaluate;
mod forms;
mod interpret;
mod limits;
mod promises;
mod quick;
mod refusals;
mod stress;

use super::{Lowered, lower};
use crate::call::Call;
use gpu_seam::{Capabilities, DType, View};

/// A view that owns its dims and strides, with the elements under it.
#[derive(Debug, Clone)]
struct Tensor {
    dtype: DType,
    offset: usize,
    dims: Vec<usize>,
    strides: Vec<isize>,
    elements: Vec<i64>,
}

impl Tensor {
    /// The contiguous tensor of `elements`.
    fn new(dtype: DType, dims: &[usize], elements: Vec<i64>) -> Self {
        let mut strides = vec![1; dims.len()];
        for at in (0..dims.len().saturating_sub(1)).rev() {
            strides[at] = strides[at + 1] * dims[at + 1].cast_signed();
        }
        Self {
            dtype,
            offset: 0,
            dims: dims.to_vec(),
            strides,
            elements,
        }
    }

    /// The contiguous tensor of 0, 1, 2 …
    fn range(dtype: DType, dims: &[usize]) -> Self {
        let elements = dims.iter().product::<usize>().cast_signed() as i64;
        Self::new(dtype, dims, (0..elements).collect())
    }

    /// Another view of the same elements.
    fn viewed(mut self, offset: usize, dims: &[usize], strides: &[isize]) -> Self {
        self.offset = offset;
        self.dims = dims.to_vec();
        self.strides = strides.to_vec();
        self
    }

    /// The same elements with the dimensions in another order.
    fn permuted(mut self, order: &[usize]) -> Self {
        self.dims = order.iter().map(|&at| self.dims[at]).collect();
        self.strides = order.iter().map(|&at| self.strides[at]).collect();
        self
    }

    fn view(&self) -> View<'_> {
        View::new(self.dtype, self.offset, &self.dims, &self.strides)
    }

    fn bytes(&self) -> usize {
        self.elements.len() * self.dtype.size()
    }
}

/// A device without limits.
fn free() -> Capabilities {
    Capabilities::default()
}

/// A device with limits: rank, bytes an operand, alignment.
fn limited(rank: usize, bytes: usize, alignment: usize) -> Capabilities {
    let mut capabilities = Capabilities::default();
    capabilities.strided_rank = rank;
    capabilities.max_operand_bytes = bytes;
    capabilities.offset_alignment = alignment;
    capabilities
}

/// Lowers `call`, checks every promise and compares with plain evaluation.
fn checked(call: &Call<'_>, inputs: &[&Tensor], capabilities: &Capabilities) -> Lowered {
    let lengths: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
    let lowered = match lower(call, &lengths, capabilities) {
        Ok(lowered) => lowered,
        Err(error) => panic!("{error}\n{call:?}\n{capabilities:?}"),
    };
    promises::check(&lowered, &lengths, capabilities);
    let expected = evaluate::call(call, inputs);
    assert_eq!(lowered.dims[..], expected.dims[..], "{call:?}");
    let found = interpret::run(&lowered, inputs);
    assert_eq!(
        found, expected.elements,
        "{call:?}\n{capabilities:?}\n{lowered:#?}"
    );
    lowered
}

/// The values that `call` gives on a device without limits, checked on some with limits too.
fn values(call: &Call<'_>, inputs: &[&Tensor]) -> Vec<i64> {
    for rank in [3, 4, 8] {
        checked(call, inputs, &limited(rank, usize::MAX, 256));
    }
    let lowered = checked(call, inputs, &free());
    interpret::run(&lowered, inputs)
}
