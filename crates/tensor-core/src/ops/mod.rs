//! The operations, one family a file. Each is a few lines that say what gpu-dispatch is asked for;
//! what is composed of several calls says so.

mod binary;
mod cast;
mod compare;
mod concat;
mod create;
mod index;
mod matmul;
mod operand;
mod operators;
mod reduce;
mod scan;
mod select;
mod transfer;
mod unary;
mod view;

pub use operand::Operand;
pub use transfer::{Landing, Pending, Rejected};
