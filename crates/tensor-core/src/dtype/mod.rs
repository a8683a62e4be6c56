//! Which Rust type stands for which [`DType`](gpu_seam::DType), how a bare number takes a tensor's dtype, and the
//! names that dtypes go by. Knows nothing of tensors or devices.

mod element;
mod names;
mod number;

pub use element::{Element, ElementBytes};
pub use names::dtype_from_name;
pub use number::{Number, NumberRefused};
