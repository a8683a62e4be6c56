//! `Tensor` and `Device` over whichever device there is.

mod device;
mod dtype;
pub mod einsum;
mod error;
mod ops;
mod shape;
mod tensor;

pub use device::Device;
pub use dtype::{Element, ElementBytes, Number, NumberRefused, dtype_from_name};
pub use einsum::einsum;
pub use error::{Described, Error, ErrorKind};
pub use gpu_dispatch::TransferReport;
pub use gpu_seam::{DType, DeviceInfo};
pub use ops::{Landing, Operand, Pending, Rejected};
pub use shape::{Axes, Axis, Extent, Extents, Layout, Shape, Slice};
pub use tensor::Tensor;
