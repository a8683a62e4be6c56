//! Whether an engine is open, closed or broken, and what broke it.
//!
//! Promises that the first failure's words are kept, that the state only moves forward, and that a
//! close can know when nobody enqueues any more. Knows nothing of devices.

use crate::sync::{AtomicU8, AtomicUsize, Backoff, Instant, Mutex, Ordering, lock};
use gpu_seam::GpuError;

/// The failure that broke an engine, with what is known of where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The call that met it.
    pub op: &'static str,
    /// The lane it was met on, if on one.
    pub lane: Option<u64>,
    /// Operations of that lane that had not been seen to complete, oldest first.
    pub unfinished: Vec<&'static str>,
    /// The device's own cause.
    pub cause: GpuError,
}

/// The state of one engine.
#[derive(Default)]
pub(crate) struct Status {
    state: AtomicU8,
    /// How many are between [`enter`](Self::enter) and the publication of what they enqueued.
    inside: AtomicUsize,
    failure: Mutex<Option<Failure>>,
}

const OPEN: u8 = 0;
/// Closing: nothing new is taken, what is pending is drained.
const DRAINING: u8 = 1;
const CLOSED: u8 = 2;
const BROKEN: u8 = 3;

/// An enqueue and its publication: a close waits for its end.
pub(crate) struct Inside<'a>(&'a AtomicUsize);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Status {
    /// Begins the enqueue of new work, unless not open. Nothing may be waited for inside.
    pub(crate) fn enter(&self) -> Result<Inside<'_>, GpuError> {
        self.enter_up_to(OPEN)
    }

    /// Begins the enqueue of what pending work still needs, unless closed or broken.
    pub(crate) fn enter_pending(&self) -> Result<Inside<'_>, GpuError> {
        self.enter_up_to(DRAINING)
    }

    fn enter_up_to(&self, latest: u8) -> Result<Inside<'_>, GpuError> {
        // First in, then the look: either a close sees this one inside, or this one sees the close.
        // Both sides need one order of the two, hence SeqCst here and where the state moves.
        self.inside.fetch_add(1, Ordering::SeqCst);
        let inside = Inside(&self.inside);
        if self.state.load(Ordering::SeqCst) <= latest {
            return Ok(inside);
        }
        drop(inside);
        Err(self.refusal().unwrap_or(GpuError::Closed))
    }

    /// Waits until nobody is inside; whether that was before the deadline.
    pub(crate) fn wait_outside(&self, deadline: Option<Instant>) -> bool {
        let mut backoff = Backoff::new();
        while self.inside.load(Ordering::SeqCst) != 0 {
            if !backoff.pause(deadline) {
                return false;
            }
        }
        true
    }

    /// Whether pending work may still complete: open, or draining.
    pub(crate) fn may_complete(&self) -> bool {
        self.state.load(Ordering::Acquire) <= DRAINING
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) == OPEN
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.state.load(Ordering::Acquire) == BROKEN
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// What a new submission is told, unless open.
    pub(crate) fn refusal(&self) -> Option<GpuError> {
        match self.state.load(Ordering::Acquire) {
            OPEN => None,
            DRAINING | CLOSED => Some(GpuError::Closed),
            _ => Some(GpuError::Broken {
                detail: self.words(),
            }),
        }
    }

    /// Takes no new work from now on.
    pub(crate) fn drain(&self) {
        // Only from open: closing twice, or closing what is broken, changes nothing.
        let _ = self
            .state
            .compare_exchange(OPEN, DRAINING, Ordering::SeqCst, Ordering::Acquire);
    }

    /// Is closed from now on, unless broken.
    pub(crate) fn close(&self) {
        self.drain();
        let _ = self
            .state
            .compare_exchange(DRAINING, CLOSED, Ordering::SeqCst, Ordering::Acquire);
    }

    /// Is broken from now on. Only the first failure is kept.
    pub(crate) fn break_with(&self, failure: Failure) {
        lock(&self.failure).get_or_insert(failure);
        self.state.store(BROKEN, Ordering::Release);
    }

    /// The first failure.
    pub(crate) fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }

    /// The first failure's own words.
    fn words(&self) -> String {
        match &*lock(&self.failure) {
            Some(Failure {
                cause: GpuError::Broken { detail },
                ..
            }) => detail.clone(),
            Some(Failure { cause, .. }) => cause.to_string(),
            None => String::new(),
        }
    }
}
