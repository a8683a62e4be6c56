//! Public bug reports as small cases, each under its number in `tests/faults.toml`'s numbering: the
//! whole kind of fault, not the one input that was reported.
//!
//! They run through `Tensor` on the host. What a case expects is stated in its report; where that is
//! a choice, it is `docs/semantics.md`'s.

#![expect(clippy::unwrap_used, reason = "tests")]

mod list;
mod numerics;
mod others;
mod products;
mod shapes;

use tensor_core::{DType, Device, Element, Tensor};

/// The process's host device.
fn host() -> Device {
    Device::host().unwrap()
}

/// A tensor on the host.
fn tensor<T: Element>(values: &[T], dims: &[usize]) -> Tensor {
    Tensor::from_slice(values, dims, &host()).unwrap()
}

/// A line of values on the host.
fn line<T: Element>(values: &[T]) -> Tensor {
    tensor(values, &[values.len()])
}

/// `0, 1, …` with these dims.
fn counted(dims: &[usize]) -> Tensor {
    let elements = i64::try_from(dims.iter().product::<usize>()).unwrap();
    let line = Tensor::arange(0i64, elements, &host()).unwrap();
    line.reshape(dims).unwrap()
}

/// As [`counted`], in f32.
fn counted_f32(dims: &[usize]) -> Tensor {
    counted(dims).to_dtype(DType::F32).unwrap()
}

/// The elements in row-major order.
fn values<T: Element>(tensor: &Tensor) -> Vec<T> {
    tensor.to_vec().unwrap()
}

/// The one element.
fn value<T: Element>(tensor: &Tensor) -> T {
    tensor.to_scalar().unwrap()
}

/// Asserts that the numbers are those, to a relative error.
fn assert_close(found: &[f32], expected: &[f32], relative: f32) {
    assert_eq!(found.len(), expected.len());
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let close = (found - expected).abs() <= relative * expected.abs();
        assert!(same || close, "element {at}: {found}, not {expected}");
    }
}
