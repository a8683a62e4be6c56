//! `Tensor` and `Device` over whichever device there is: what a tensor crate depends on.
//!
//! Plain types, with no vendor in them. A device is chosen at run time, by name; its vendor is a Cargo
//! feature (`host` is on by default), or comes from outside through [`Device::from_engine`].
//!
//! ```
//! # fn main() -> Result<(), tensor_core::Error> {
//! use tensor_core::{DType, Device, Tensor};
//! let device = Device::open("host")?;
//! let a = Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], &device)?;
//! let b = Tensor::ones([3], DType::F32, &device)?;
//! let scaled = ((&a + &b)? * 0.5)?;
//! assert_eq!(scaled.matmul(&a.t()?)?.dims(), [2, 2]);
//! assert_eq!(a.flip(0)?.sum(1)?.to_vec::<f32>()?, [15.0, 6.0]);
//! # Ok(())
//! # }
//! ```

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
