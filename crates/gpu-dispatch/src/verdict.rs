//! Whether an indexing operation met a bad index: known only when the device has run it.
//!
//! A verdict is shared by the operation's output and by everything computed from it, so that all of
//! them fail with one cause. Knows nothing of fault slots or lanes.

use crate::error::Error;
use crate::sync::{Arc, AtomicU8, AtomicU64, Ordering};
use smallvec::SmallVec;

/// The verdicts that an output depends on and that are still open.
pub(crate) type Verdicts = SmallVec<[Arc<Verdict>; 1]>;

/// The outcome of one indexing operation, decided once.
#[derive(Debug)]
pub(crate) struct Verdict {
    op: &'static str,
    size: usize,
    state: AtomicU8,
    index: AtomicU64,
}

const OPEN: u8 = 0;
const GOOD: u8 = 1;
const BAD: u8 = 2;

impl Verdict {
    /// An open verdict on `op`, which looks up a dimension of `size`.
    pub(crate) fn new(op: &'static str, size: usize) -> Self {
        Self {
            op,
            size,
            state: AtomicU8::new(OPEN),
            index: AtomicU64::new(0),
        }
    }

    /// Decides, once: `None` is good, else the bad index.
    pub(crate) fn decide(&self, bad: Option<i64>) {
        let state = match bad {
            Some(index) => {
                self.index.store(index.cast_unsigned(), Ordering::Relaxed);
                BAD
            }
            None => GOOD,
        };
        self.state.store(state, Ordering::Release);
    }

    /// What is known now.
    fn look(&self) -> Known {
        match self.state.load(Ordering::Acquire) {
            OPEN => Known::Open,
            BAD => Known::Bad(Error::Index {
                op: self.op,
                index: self.index.load(Ordering::Relaxed).cast_signed(),
                size: self.size,
            }),
            _ => Known::Good,
        }
    }
}

/// What is known of a verdict.
enum Known {
    Open,
    Good,
    Bad(Error),
}

/// Keeps the verdicts that are still open; the failure of a bad one.
///
/// Each is looked at once: asked twice, whether it failed and whether it is open, it could be
/// decided in between and be taken for good.
pub(crate) fn settle(verdicts: &mut Verdicts) -> Result<(), Error> {
    let mut outcome = Ok(());
    verdicts.retain(|verdict| match verdict.look() {
        Known::Open => true,
        Known::Good => false,
        Known::Bad(failure) => {
            outcome = Err(failure);
            false
        }
    });
    outcome
}
