//! A lane's own store of ready storages: a freed storage and its block kept as one.
//!
//! Promises that taking from a bin and giving back to it costs one lock and no heap allocation in
//! steady state, and that a bin holds only what was touched by its own lane alone, so that reuse
//! there is ordered by the stream. Bounded; what does not fit goes to the pool.

use crate::memory::{SMALL, size_class};
use crate::record::Record;
use crate::sync::{Arc, Mutex, lock};
use gpu_seam::Execute;

/// The most storages of one size class.
const DEPTH: usize = 64;
/// The most bytes of one lane's bins.
const BYTES: usize = 16 * SMALL;

/// The bins of one lane, by size class.
pub(crate) struct Bins<B: Execute> {
    inner: Mutex<Inner<B>>,
}

struct Inner<B: Execute> {
    bytes: usize,
    classes: [Vec<Arc<Record<B>>>; crate::memory::CLASSES],
}

impl<B: Execute> Bins<B> {
    pub(crate) fn new() -> Self {
        Self {
            inner: Mutex::new(Inner {
                bytes: 0,
                classes: std::array::from_fn(|_| Vec::new()),
            }),
        }
    }

    /// A storage whose block holds `bytes`.
    pub(crate) fn take(&self, bytes: usize) -> Option<Arc<Record<B>>> {
        let (class, len) = size_class(bytes)?;
        let mut inner = lock(&self.inner);
        let record = inner.classes[class].pop()?;
        inner.bytes -= len;
        Some(record)
    }

    /// Keeps a storage whose block has exactly the length of its class; gives it back when it does
    /// not fit.
    pub(crate) fn keep(&self, record: Arc<Record<B>>, len: usize) -> Result<(), Arc<Record<B>>> {
        match size_class(len) {
            Some((class, exact)) if exact == len => {
                let mut inner = lock(&self.inner);
                if inner.classes[class].len() >= DEPTH || inner.bytes + len > BYTES {
                    return Err(record);
                }
                inner.bytes += len;
                inner.classes[class].push(record);
                Ok(())
            }
            _ => Err(record),
        }
    }

    /// Everything in the bins.
    pub(crate) fn drain(&self) -> Vec<Arc<Record<B>>> {
        let mut inner = lock(&self.inner);
        inner.bytes = 0;
        inner.classes.iter_mut().flat_map(std::mem::take).collect()
    }
}
