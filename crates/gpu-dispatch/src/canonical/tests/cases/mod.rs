//! Small cases made of public fault reports on shapes, strides and views, by their numbers in
//! `tests/faults.toml`.

mod products;
mod views;

use super::{Tensor, free, lower};
use crate::call::Call;
use crate::error::Error;
use gpu_seam::DType;

const F32: DType = DType::F32;

fn refused(call: &Call<'_>, inputs: &[&Tensor]) -> String {
    let lengths: Vec<usize> = inputs.iter().map(|input| input.bytes()).collect();
    match lower(call, &lengths, &free()) {
        Err(error @ Error::Invalid { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn ones(dims: &[usize]) -> Tensor {
    Tensor::new(F32, dims, vec![1; dims.iter().product()])
}
