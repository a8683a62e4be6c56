//! The clock, the locks, the atomics and the threads of this crate, named once.
//!
//! Everything concurrent here imports from this module, so that a model checker or a seeded
//! schedule can take the standard library's place. Knows nothing of what is protected.

#[cfg(not(gpu_seam_shuttle))]
mod primitives {
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use std::sync::{Mutex, MutexGuard};
    pub(crate) use std::thread::{sleep, yield_now};

    /// Starts a named thread; `false` when the system has none to give.
    pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> bool {
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .is_ok()
    }
}

#[cfg(gpu_seam_shuttle)]
mod primitives {
    pub(crate) use shuttle::sync::atomic::{
        AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
    pub(crate) use shuttle::thread::yield_now;

    /// Lets another thread of the schedule run: a schedule has no time of its own.
    pub(crate) fn sleep(_: std::time::Duration) {
        shuttle::thread::yield_now();
    }

    /// Starts no thread: whoever waits drives the work itself.
    pub(crate) fn spawn(_: &str, _: impl FnOnce() + Send + 'static) -> bool {
        false
    }
}

pub(crate) use primitives::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering, fence, sleep, spawn,
    yield_now,
};
pub(crate) use std::sync::Arc;
pub use std::time::Instant;

use std::time::Duration;

/// Locks, whatever a panicking thread left behind: every critical section of this crate leaves its
/// data whole before it calls anything that may panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The time now.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits in growing steps: busy first, then giving the processor away, then asleep.
pub(crate) struct Backoff {
    round: u32,
}

impl Backoff {
    /// Polls before the first sleep: short device work is over before a sleep would return.
    const SPINS: u32 = 64;
    /// The longest sleep. Completion is noticed at most this late.
    const LONGEST: Duration = Duration::from_micros(500);

    pub(crate) const fn new() -> Self {
        Self { round: 0 }
    }

    /// Whether the busy rounds are over.
    pub(crate) const fn is_spent(&self) -> bool {
        self.round >= Self::SPINS
    }

    /// Pauses once. `false`, without a pause, when `deadline` has passed.
    pub(crate) fn pause(&mut self, deadline: Option<Instant>) -> bool {
        let left = match deadline {
            Some(deadline) => match deadline.checked_duration_since(now()) {
                Some(left) if !left.is_zero() => left,
                _ => return false,
            },
            None => Self::LONGEST,
        };
        self.round = self.round.saturating_add(1);
        if self.round < Self::SPINS / 2 {
            std::hint::spin_loop();
        } else if self.round < Self::SPINS {
            yield_now();
        } else {
            let step =
                Duration::from_micros(10 * u64::from((self.round - Self::SPINS).min(50) + 1));
            sleep(step.min(Self::LONGEST).min(left));
        }
        true
    }
}
