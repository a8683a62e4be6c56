//! The thread that wakes futures: one an engine, started by the first waker, gone when idle.
//!
//! Promises that every registered waker is called once its result is there (or the engine closed),
//! and that a waker that panics harms nobody else. Knows nothing of what is waited for.

use crate::sync::{Arc, AtomicBool, Backoff, Mutex, Ordering, lock, spawn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// A result that is waited for.
pub(crate) type Probe = Box<dyn Fn() -> bool + Send>;

/// The wakers of one engine.
#[derive(Default)]
pub(crate) struct Waiter {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    running: AtomicBool,
    waiting: Mutex<Vec<(Probe, Waker)>>,
}

impl Waiter {
    /// Has `waker` called once `probe` answers `true`.
    pub(crate) fn add(&self, probe: Probe, waker: Waker) {
        lock(&self.inner.waiting).push((probe, waker));
        if self.inner.running.swap(true, Ordering::AcqRel) {
            return;
        }
        let inner = Arc::clone(&self.inner);
        if !spawn("gpu-dispatch waiter", move || inner.run()) {
            // Without a thread the executor has to poll: waking at once makes it do so.
            self.inner.running.store(false, Ordering::Release);
            self.wake_all();
        }
    }

    /// Wakes everybody: the engine is closed, and polling tells them so.
    pub(crate) fn wake_all(&self) {
        for (_, waker) in std::mem::take(&mut *lock(&self.inner.waiting)) {
            wake(waker);
        }
    }
}

impl Inner {
    fn run(&self) {
        let mut backoff = Backoff::new();
        loop {
            // Probes call vendors: no lock is held meanwhile.
            let round = std::mem::take(&mut *lock(&self.waiting));
            let mut woken = false;
            let mut still = Vec::new();
            for (probe, waker) in round {
                if catch_unwind(AssertUnwindSafe(&probe)).unwrap_or(true) {
                    woken = true;
                    wake(waker);
                } else {
                    still.push((probe, waker));
                }
            }
            {
                let mut waiting = lock(&self.waiting);
                waiting.append(&mut still);
                if waiting.is_empty() {
                    // Under the lock: a waker added later finds `running` false and starts anew.
                    self.running.store(false, Ordering::Release);
                    return;
                }
            }
            if woken {
                backoff = Backoff::new();
            }
            backoff.pause(None);
        }
    }
}

/// Wakes; a panic of the waker stays its own.
fn wake(waker: Waker) {
    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
        tracing::warn!("a waker panicked");
    }
}
