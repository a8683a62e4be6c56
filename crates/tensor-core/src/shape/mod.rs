//! Shapes, axes and views: everything about where elements are, and nothing about what they are.
//!
//! Promises that a view is made without copying and that whatever cannot be made is an error that
//! says what was asked and found. Knows nothing of dtypes, devices or storages.

mod args;
mod layout;
mod reshape;
mod views;

pub use args::{Axes, Axis, Extent, Extents, Shape, Slice};
pub use layout::Layout;
