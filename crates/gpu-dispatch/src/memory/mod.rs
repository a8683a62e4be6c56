//! Device memory of an engine: a caching pool with stream-ordered reuse, and what can be told of it.

mod arena;
mod pool;
mod report;

pub(crate) use arena::{Frontier, Owner};
pub(crate) use pool::{ALIGN, Block, CLASSES, Pool, SMALL, size_class};
pub use report::MemoryReport;
pub(crate) use report::Usage;
