//! `Tensor` and `Device` over whichever device there is.

mod dtype;
mod error;
mod shape;

pub use dtype::{Element, ElementBytes, Number, NumberRefused, dtype_from_name};
pub use error::{Described, Error, ErrorKind};
pub use gpu_seam::DType;
pub use shape::{Axes, Axis, Extent, Extents, Layout, Shape, Slice};
