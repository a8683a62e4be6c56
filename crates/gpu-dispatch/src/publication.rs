//! When a result may be seen: pending, then ready or failed, once.
//!
//! Promises that bytes reach the host only when ready, that a failure is the original cause, and
//! that whatever was given comes back with the outcome. A [`Pending`] can be polled, waited for,
//! waited for until a deadline, or awaited. Knows nothing of what produces the result: see
//! [`Source`].

use crate::error::{Error, Rejected};
use crate::sync::{Arc, Backoff, Instant};
use crate::transfer::{HostBox, HostMemory};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// How something pending ended: the value, or the value handed back with the cause.
pub type Outcome<T> = Result<T, Rejected<T>>;

/// What stands behind a [`Pending`].
pub(crate) trait Source<T>: Send + Sync {
    /// Moves forward without blocking; whether the outcome is there.
    fn poll(&self) -> bool;
    /// The outcome, once; `None` while it is not there, or when it was taken.
    fn take(&self) -> Option<Outcome<T>>;
    /// Has `waker` called once the outcome is there.
    fn wake_when_ready(self: Arc<Self>, waker: Waker);
}

/// A result that is not there yet.
///
/// Dropping or forgetting it loses the result and nothing else: what it needs belongs to the engine.
#[must_use = "a pending result is seen by polling, waiting or awaiting it"]
pub struct Pending<T> {
    source: Arc<dyn Source<T>>,
}

impl<T: 'static> Pending<T> {
    pub(crate) fn new(source: Arc<dyn Source<T>>) -> Self {
        Self { source }
    }

    /// Whether the outcome is there, so that [`wait`](Self::wait) would not block.
    #[must_use]
    pub fn poll(&self) -> bool {
        self.source.poll()
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// The original cause, with what was given.
    pub fn wait(self) -> Outcome<T> {
        match self.wait_at_most(None) {
            Ok(outcome) => outcome,
            // Without a deadline the loop ends only with the outcome.
            Err(pending) => pending.wait(),
        }
    }

    /// Waits for the outcome until `deadline`; then the pending result comes back as it is.
    ///
    /// # Errors
    /// The pending result itself, when the deadline passed first.
    pub fn wait_until(self, deadline: Instant) -> Result<Outcome<T>, Self> {
        self.wait_at_most(Some(deadline))
    }

    fn wait_at_most(self, deadline: Option<Instant>) -> Result<Outcome<T>, Self> {
        let mut backoff = Backoff::new();
        loop {
            if self.source.poll()
                && let Some(outcome) = self.source.take()
            {
                return Ok(outcome);
            }
            if !backoff.pause(deadline) {
                return Err(self);
            }
        }
    }
}

impl<T: 'static> Future for Pending<T> {
    type Output = Outcome<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.source.poll()
            && let Some(outcome) = self.source.take()
        {
            return Poll::Ready(outcome);
        }
        Arc::clone(&self.source).wake_when_ready(context.waker().clone());
        Poll::Pending
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

/// A source of erased host memory, as one of its own type again.
pub(crate) struct Typed {
    pub(crate) inner: Arc<dyn Source<HostBox>>,
}

impl<M: HostMemory> Source<M> for Typed {
    fn poll(&self) -> bool {
        self.inner.poll()
    }

    fn take(&self) -> Option<Outcome<M>> {
        match self.inner.take()? {
            Ok(memory) => Some(Ok(*memory.into_any().downcast().ok()?)),
            Err(Rejected { value, cause }) => Some(Err(Rejected {
                value: *value.into_any().downcast().ok()?,
                cause,
            })),
        }
    }

    fn wake_when_ready(self: Arc<Self>, waker: Waker) {
        Arc::clone(&self.inner).wake_when_ready(waker);
    }
}

/// A refusal with the memory's own type again.
pub(crate) fn typed_rejection<M: HostMemory>(
    rejected: Rejected<HostBox>,
) -> Result<Rejected<M>, Error> {
    let Rejected { value, cause } = rejected;
    match value.into_any().downcast() {
        Ok(value) => Ok(Rejected {
            value: *value,
            cause,
        }),
        Err(_) => Err(cause),
    }
}
