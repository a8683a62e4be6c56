//! The checks: plain functions, generic over the vendor, one file a subject.

pub(crate) mod copies;
pub(crate) mod discover;
pub(crate) mod elementwise;
pub(crate) mod events;
pub(crate) mod executing;
pub(crate) mod gemm;
pub(crate) mod gemm_edges;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod numerics;
pub(crate) mod planning;
pub(crate) mod random;
pub(crate) mod staging;
pub(crate) mod threads;
