//! Admission: how many bytes may be submitted and not yet seen to complete.
//!
//! Promises that a grant never exceeds the limit unless it is alone, that waiters are served in the
//! order they came, and that a waiter holds nothing. Bytes are returned by whoever sees completion
//! on the device (or takes a grant back unused), never by a handle. Knows nothing of lanes: what
//! makes bytes come back is the `drive` that a waiter brings.

use crate::sync::{AtomicUsize, Backoff, Instant, Mutex, Ordering, lock};
use gpu_seam::GpuError;
use std::collections::VecDeque;

/// The least that a submission is charged, in bytes: work that moves few bytes still takes a place
/// in a vendor's queue, and must be bounded too.
pub(crate) const FLOOR: usize = 4096;

/// What a submission does when the budget is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Admission {
    /// Waits for its turn.
    #[default]
    Wait,
    /// Waits for its turn until then, and answers [`Error::Deadline`](crate::Error::Deadline).
    WaitUntil(Instant),
    /// Answers [`GpuError::Backpressure`] with the bytes it needs.
    Reject,
}

/// Why no grant was given.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The policy was to reject.
    Full(GpuError),
    /// The deadline passed.
    Deadline,
    /// Driving the device forward failed: nothing will come back.
    Failed(GpuError),
}

/// The pending budget of one engine.
pub(crate) struct Budget {
    limit: usize,
    in_flight: AtomicUsize,
    /// Not to be had any more: see `reserve`.
    reserved: AtomicUsize,
    /// How many wait; nobody passes them while it is not zero.
    waiting: AtomicUsize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    order: VecDeque<u64>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(FLOOR),
            in_flight: AtomicUsize::new(0),
            reserved: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            queue: Mutex::new(Queue::default()),
        }
    }

    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }

    /// What a submission that touches `bytes` is charged.
    pub(crate) fn charge(bytes: usize) -> usize {
        bytes.max(FLOOR)
    }

    /// Admits `bytes`, by `policy`. A waiter calls `drive` until it is served: `drive` looks for
    /// completed work once, and fails when none can complete any more.
    pub(crate) fn admit(
        &self,
        bytes: usize,
        policy: Admission,
        mut drive: impl FnMut() -> Result<(), GpuError>,
    ) -> Result<(), Refusal> {
        if self.waiting.load(Ordering::Acquire) == 0 && self.take(bytes) {
            return Ok(());
        }
        let deadline = match policy {
            Admission::Reject => {
                // Completion that nobody has looked for is not a reason to refuse.
                drive().map_err(Refusal::Failed)?;
                if self.waiting.load(Ordering::Acquire) == 0 && self.take(bytes) {
                    return Ok(());
                }
                return Err(Refusal::Full(GpuError::Backpressure { bytes }));
            }
            Admission::WaitUntil(deadline) => Some(deadline),
            Admission::Wait => None,
        };
        let place = Place::take(self);
        let mut backoff = Backoff::new();
        loop {
            if place.is_first() && self.take(bytes) {
                return Ok(());
            }
            drive().map_err(Refusal::Failed)?;
            if place.is_first() && self.take(bytes) {
                return Ok(());
            }
            if !backoff.pause(deadline) {
                return Err(Refusal::Deadline);
            }
        }
    }

    /// Takes `bytes` now, if they fit, or if they exceed the whole budget and nothing is pending.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let limit = self
            .limit
            .saturating_sub(self.reserved.load(Ordering::Acquire));
        let fits = |pending: usize| match pending.checked_add(bytes) {
            Some(sum) => sum <= limit || pending == 0,
            None => false,
        };
        self.in_flight
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |pending| {
                fits(pending).then(|| pending + bytes)
            })
            .is_ok()
    }

    /// Charges `bytes` whatever is pending: for the engine's own small work, which may not queue
    /// behind what waits for it.
    pub(crate) fn charge_now(&self, bytes: usize) {
        self.in_flight.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Takes `bytes` out of the budget for good: staging memory.
    pub(crate) fn reserve(&self, bytes: usize) {
        self.reserved.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Gives `bytes` back: their work has been seen to complete, or was never submitted.
    pub(crate) fn give_back(&self, bytes: usize) {
        let before = self.in_flight.fetch_sub(bytes, Ordering::AcqRel);
        debug_assert!(before >= bytes, "more bytes returned than admitted");
    }
}

/// A place in the queue of waiters, left when dropped.
struct Place<'a> {
    budget: &'a Budget,
    number: u64,
}

impl<'a> Place<'a> {
    fn take(budget: &'a Budget) -> Self {
        budget.waiting.fetch_add(1, Ordering::AcqRel);
        let mut queue = lock(&budget.queue);
        let number = queue.next;
        queue.next += 1;
        queue.order.push_back(number);
        Self { budget, number }
    }

    fn is_first(&self) -> bool {
        lock(&self.budget.queue).order.front() == Some(&self.number)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.budget.queue)
            .order
            .retain(|&number| number != self.number);
        self.budget.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, Budget, FLOOR, Refusal};
    use crate::sync::now;
    use gpu_seam::GpuError;
    use std::cell::Cell;

    #[test]
    fn what_exceeds_the_whole_budget_is_admitted_alone() {
        let budget = Budget::new(2 * FLOOR);
        assert!(budget.take(9 * FLOOR));
        assert!(!budget.take(1));
        budget.give_back(9 * FLOOR);
        assert!(budget.take(FLOOR));
        assert!(!budget.take(9 * FLOOR));
    }

    #[test]
    fn rejection_names_the_bytes_and_takes_nothing() {
        let budget = Budget::new(FLOOR);
        assert!(budget.take(FLOOR));
        let refusal = budget.admit(7, Admission::Reject, || Ok(()));
        assert!(matches!(
            refusal,
            Err(Refusal::Full(GpuError::Backpressure { bytes: 7 }))
        ));
        assert_eq!(budget.in_flight(), FLOOR);
    }

    #[test]
    fn a_waiter_drives_until_bytes_come_back() {
        let budget = Budget::new(FLOOR);
        assert!(budget.take(FLOOR));
        let rounds = Cell::new(0);
        let admitted = budget.admit(FLOOR, Admission::Wait, || {
            rounds.set(rounds.get() + 1);
            if rounds.get() == 3 {
                budget.give_back(FLOOR);
            }
            Ok(())
        });
        assert!(admitted.is_ok());
        assert_eq!(rounds.get(), 3);
    }

    #[test]
    fn a_deadline_leaves_the_queue_as_it_was() {
        let budget = Budget::new(FLOOR);
        assert!(budget.take(FLOOR));
        let refusal = budget.admit(1, Admission::WaitUntil(now()), || Ok(()));
        assert!(matches!(refusal, Err(Refusal::Deadline)));
        budget.give_back(FLOOR);
        assert!(budget.admit(1, Admission::Reject, || Ok(())).is_ok());
    }
}
