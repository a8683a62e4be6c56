//! The wgpu vendor: Vulkan, Metal and DX12 through [wgpu], kernels in WGSL.
//!
//! Promises what the traits of gpu-seam ask, on every adapter that wgpu finds and that can compute,
//! software ones included: each is an ordinal. Serves every family of operations for every dtype,
//! but f64 and complex128 arithmetic only where the adapter has `SHADER_F64` and `SHADER_INT64`.
//! Serves tensor-core, through gpu-dispatch, and knows nothing of either.
//!
//! - *Kernels* are texts made from templates, one family a file in `kernels`. What a text depends
//!   on is its `Kernel`, the key of the pipelines that are kept. f16, bf16, i64 and the packed
//!   bool, u8 and i8 are computed in 32-bit words, so that they need no optional feature.
//! - *Submission*: a stream records into an open encoder, which is submitted when it is full, when
//!   an event is recorded or when the host waits (`stream`). There is one queue, so order across
//!   streams is order of submission; the number of a submission is the witness of completion.
//! - *Failure*: wgpu's errors, its panics and the loss of the device become
//!   [`GpuError`](gpu_seam::GpuError) in one file (`health`).
//! - *Memory*: wgpu has no pointers and no asynchronous free: a buffer is an id, and a kernel sees
//!   it through a binding of limited size (`bindings`).
//!
//! `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` narrow the choice of adapters, `WGPU_VALIDATION=1` turns
//! the driver's own validation layers on.
//!
//! [wgpu]: https://docs.rs/wgpu

mod adapter;
mod bindings;
mod copies;
mod driver;
mod execute;
mod features;
mod health;
#[cfg(any(windows, all(unix, not(target_vendor = "apple"))))]
mod heaps;
mod kernels;
mod lower;
mod memory;
mod pipelines;
mod queue;
mod staging;
mod stream;

pub use adapter::{AdapterDetails, adapters};
pub use driver::{Event, Wgpu};
pub use memory::Allocation;
pub use staging::Staging;
pub use stream::Stream;
