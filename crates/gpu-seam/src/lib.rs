#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod buffer;
mod device;
mod driver;
mod dtype;
mod error;
mod identity;
mod layout;
mod op;

pub use buffer::{Backend, Buffer};
pub use device::{Capabilities, DeviceInfo, DeviceKind, MemoryInfo, Subnormals, SupportTable};
pub use driver::{Arg, Direction, Discover, Driver, Execute, FAULT_SLOT_BYTES, Scratch};
pub use dtype::{DType, DTypeSet, Scalar};
pub use error::{GpuError, SeamError};
pub use identity::{AllocationDomainId, AllocationId, StorageIdentity};
pub use layout::{MAX_RANK, View};
pub use op::{
    ArgOp, BinaryOp, CompareOp, Distribution, Family, Gemm, Matrix, Op, Operand, OwnedOp, ReduceOp,
    ScanOp, ScatterMode, UnaryOp,
};
