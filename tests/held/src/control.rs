//! The test's hand on a held device: release, fail, refuse, panic, pause, and what was seen.

use crate::calls::{Call, Calls, Rule, Verdict};
use crate::driver::Held;
use crate::run::{Shared, Step};
use crate::state::{Event, Item, Ledger, Place, Range, State};
use gpu_seam::{Buffer, Execute, GpuError};
use std::fmt;
use std::sync::Arc;

/// Controls one [`Held`](crate::Held) device, from any thread. Streams go by their number: 0 is the
/// first that was created.
pub struct Controller<D: Execute>(pub(crate) Arc<Shared<D>>);

impl<D: Execute> Clone for Controller<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Execute> fmt::Debug for Controller<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        let queues: Vec<_> = state
            .queues
            .iter()
            .map(|(at, queue)| (at, queue.items.len()))
            .collect();
        f.debug_struct("Controller")
            .field("queued", &queues)
            .field("ledger", &state.ledger)
            .field("failed", &state.failed)
            .finish_non_exhaustive()
    }
}

/// Releasing.
impl<D: Execute> Controller<D> {
    /// Switches auto mode. Switched on, host waits that block now go on.
    pub fn set_auto(&self, auto: bool) {
        self.0.lock().config.auto = auto;
        self.0.changed.notify_all();
    }

    /// Runs the front item of a stream and says which it was; `None` when there is none, or a wait
    /// holds it back.
    pub fn step(&self, stream: usize) -> Option<&'static str> {
        match self.0.step(&mut self.0.lock(), stream) {
            Step::Ran(name) => Some(name),
            Step::Blocked | Step::Empty => None,
        }
    }

    /// Runs a stream up to and including its next event record, as far as waits let it; says how
    /// many items ran.
    pub fn release_to_record(&self, stream: usize) -> usize {
        let mut ran = 0;
        while let Some(name) = self.step(stream) {
            ran += 1;
            if name == "record" {
                break;
            }
        }
        ran
    }

    /// Runs what is queued on a stream, as far as waits let it; says how many items ran.
    pub fn release(&self, stream: usize) -> usize {
        let mut state = self.0.lock();
        let mut ran = 0;
        while let Step::Ran(_) = self.0.step(&mut state, stream) {
            ran += 1;
        }
        ran
    }

    /// Runs exactly what `event` needs, through the waits of other streams.
    pub fn release_event(&self, event: &Event) {
        if let Some(mark) = &event.0 {
            self.0.run_to(&mut self.0.lock(), mark.stream, mark.seq + 1);
        }
    }

    /// Runs everything that is queued on all streams; says how many items ran.
    pub fn release_all(&self) -> usize {
        let mut state = self.0.lock();
        let streams: Vec<_> = state.queues.keys().copied().collect();
        let mut ran = 0;
        loop {
            let before = ran;
            for stream in &streams {
                while let Step::Ran(_) = self.0.step(&mut state, *stream) {
                    ran += 1;
                }
            }
            // A wait's mark stands before it, so that some stream always goes on until all are empty.
            if ran == before {
                return ran;
            }
        }
    }
}

/// Failing, refusing, panicking, pausing.
impl<D: Execute> Controller<D> {
    /// Fails the device now, as if the item at the front of any stream had failed: everything queued
    /// and everything later answers `cause`. Events that had completed stay complete.
    pub fn fail_now(&self, cause: GpuError) {
        self.0.lock().fail(&cause);
        self.0.changed.notify_all();
    }

    /// Lets `skip` more copies and operations run, and fails the device instead of running the next.
    pub fn fail_item(&self, skip: u64, cause: GpuError) {
        self.0.lock().fail_after = Some((skip, cause));
    }

    /// Lets `skip` calls of a function pass; the next answers `cause` and enqueues nothing.
    pub fn refuse(&self, call: Call, skip: u64, cause: GpuError) {
        self.rule(call, skip, false, Verdict::Refuse(cause));
    }

    /// Every call of a function answers `cause` from now on, until [`allow`](Self::allow).
    pub fn refuse_always(&self, call: Call, cause: GpuError) {
        self.rule(call, 0, true, Verdict::Refuse(cause));
    }

    /// Forgets whatever was planned for a function.
    pub fn allow(&self, call: Call) {
        self.0.lock().rules.retain(|rule| rule.call != call);
    }

    /// Lets `skip` calls of a function pass; the next panics.
    pub fn panic_in(&self, call: Call, skip: u64) {
        self.rule(call, skip, false, Verdict::Panic);
    }

    /// Lets `skip` calls of a function pass; the next stays inside the vendor until
    /// [`resume`](Self::resume).
    pub fn pause(&self, call: Call, skip: u64) {
        self.rule(call, skip, false, Verdict::Pause);
    }

    /// Lets every paused call go on.
    pub fn resume(&self) {
        self.0.lock().resumes += 1;
        self.0.changed.notify_all();
    }

    fn rule(&self, call: Call, skip: u64, always: bool, verdict: Verdict) {
        self.0.lock().rules.push(Rule {
            call,
            skip,
            always,
            verdict,
        });
    }
}

/// Seeing, and waiting to see. What is waited for in vain is a violation, and answers `false`.
impl<D: Execute> Controller<D> {
    /// How often each function was called.
    #[must_use]
    pub fn calls(&self) -> Calls {
        self.0.lock().calls
    }

    /// What is alive, what was lost, and the peaks.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.0.lock().ledger
    }

    /// Every broken rule of the seam so far. Empty at the end of every test.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.0.lock().violations.clone()
    }

    /// The names of what is queued on a stream, front first: an operation's own name, or `copy_in`,
    /// `copy_out`, `copy_device`, `record`, `wait`.
    #[must_use]
    pub fn queued(&self, stream: usize) -> Vec<&'static str> {
        let state = self.0.lock();
        let items = state
            .queues
            .get(&stream)
            .into_iter()
            .flat_map(|queue| &queue.items);
        items.map(Item::name).collect()
    }

    /// How many items are queued on all streams.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.0
            .lock()
            .queues
            .values()
            .map(|queue| queue.items.len())
            .sum()
    }

    /// Waits until a function was called `count` times in all.
    pub fn await_calls(&self, call: Call, count: u64) -> bool {
        self.until("await_calls", |state| state.calls.get(call) >= count)
    }

    /// Waits until `count` items or more are queued on a stream.
    pub fn await_queued(&self, stream: usize, count: usize) -> bool {
        self.until("await_queued", |state| {
            state
                .queues
                .get(&stream)
                .is_some_and(|queue| queue.items.len() >= count)
        })
    }

    /// Waits until `count` threads are inside a paused call.
    pub fn await_paused(&self, count: usize) -> bool {
        self.until("await_paused", |state| state.paused >= count)
    }

    /// Copies what a buffer's device memory holds now, from its start; no call is counted.
    ///
    /// # Errors
    /// When the buffer is not alive.
    pub fn peek(&self, buffer: &Buffer<Held<D>>, bytes: &mut [u8]) -> Result<(), GpuError> {
        let len = bytes.len().min(buffer.len());
        let range = Range {
            place: Place::Block(buffer.allocation().0),
            offset: 0,
            len,
        };
        self.0.peek(&self.0.lock(), &range, &mut bytes[..len])
    }

    fn until(&self, what: &'static str, seen: impl Fn(&State<D>) -> bool) -> bool {
        let done = |state: &mut State<D>| seen(state).then_some(Ok(()));
        self.0.block(self.0.lock(), what, done).1.is_ok()
    }
}
