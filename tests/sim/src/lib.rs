//! A simulated device that runs as late and as badly as the rules allow, from one seed.
//!
//! [`device`] is the device itself: memory, streams, events, copies, kernels and faults, behind a
//! plain interface that knows nothing of this workspace, so that other faces can be put on it.
//! [`face`] is the one in plain Rust: the seam's driver traits. Knows nothing of what is built on
//! the seam.

pub mod device;
pub mod face;
