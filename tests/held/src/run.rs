//! Running what was queued: one item at a time, by the inner vendor, under the device's one lock.
//!
//! # Safety
//!
//! Ranges are checked against their blocks when an item is enqueued, blocks that a queued item names
//! stay allocated until it ran (or the device is dropped), and operations are checked and planned
//! before they are queued. That, and running each to its end before the lock is let go, is the
//! inner vendor's contract.

#![expect(
    unsafe_code,
    reason = "calls the inner vendor's unsafe copies and operations; each block says why it may"
)]

use crate::calls::{Call, Verdict, judge};
use crate::state::{Item, Mark, Memory, Place, Range, State};
use gpu_seam::{AllocationDomainId, Arg, Buffer, DeviceInfo, Driver, Execute, GpuError, Op};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Fresh device memory holds this.
pub(crate) const FRESH: u8 = 0xA5;
/// Freed memory and the destinations of queued copies hold this.
pub(crate) const POISON: u8 = 0xDB;

/// A held device: shared by the driver and its controllers.
pub(crate) struct Shared<D: Driver> {
    pub(crate) inner: D,
    pub(crate) stream: D::Stream,
    pub(crate) info: DeviceInfo,
    pub(crate) domain: AllocationDomainId,
    pub(crate) state: Mutex<State<D>>,
    pub(crate) changed: Condvar,
}

pub(crate) type Guard<'a, D> = MutexGuard<'a, State<D>>;

/// What became of a stream's front item.
pub(crate) enum Step {
    Ran(&'static str),
    Blocked,
    Empty,
}

impl<D: Execute> Shared<D> {
    /// The state, whatever happened to an earlier holder: a planned panic happens outside the lock.
    pub(crate) fn lock(&self) -> Guard<'_, D> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a call: counts it, does what the test planned for it, and answers the device's failure.
    pub(crate) fn enter(&self, call: Call) -> Result<Guard<'_, D>, GpuError> {
        let state = self.enter_failed(call)?;
        match &state.failed {
            Some(cause) => Err(cause.clone()),
            None => Ok(state),
        }
    }

    /// As [`enter`](Self::enter), for a call that may still succeed on a failed device.
    pub(crate) fn enter_failed(&self, call: Call) -> Result<Guard<'_, D>, GpuError> {
        let mut state = self.lock();
        state.calls.count(call);
        self.changed.notify_all();
        match judge(&mut state.rules, call) {
            None => Ok(state),
            Some(Verdict::Refuse(cause)) => Err(cause),
            Some(Verdict::Panic) => {
                drop(state);
                panic!("the test planned a panic in {}", call.name());
            }
            Some(Verdict::Pause) => {
                state.paused += 1;
                let before = state.resumes;
                let done = |state: &mut State<D>| (state.resumes != before).then_some(Ok(()));
                let (mut state, outcome) = self.block(state, call.name(), done);
                state.paused -= 1;
                outcome.map(|()| state)
            }
        }
    }

    /// Waits until `done` answers, or the watchdog bites.
    pub(crate) fn block<'a>(
        &'a self,
        mut state: Guard<'a, D>,
        what: &'static str,
        mut done: impl FnMut(&mut State<D>) -> Option<Result<(), GpuError>>,
    ) -> (Guard<'a, D>, Result<(), GpuError>) {
        let limit = state.config.watchdog;
        let start = Instant::now();
        self.changed.notify_all();
        loop {
            if let Some(outcome) = done(&mut state) {
                return (state, outcome);
            }
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                let text = format!("nothing released it within {limit:?}");
                let cause = state.violation(what, text);
                return (state, Err(cause));
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Runs the front item of `stream`, if there is one and no wait is before it.
    pub(crate) fn step(&self, state: &mut State<D>, stream: usize) -> Step {
        let Some(queue) = state.queues.get_mut(&stream) else {
            return Step::Empty;
        };
        let (name, work) = match queue.items.front() {
            None => return Step::Empty,
            Some(Item::Wait(mark)) if mark.outcome.get().is_none() => return Step::Blocked,
            Some(item) => (
                item.name(),
                matches!(item, Item::Copy { .. } | Item::Execute { .. }),
            ),
        };
        match &mut state.fail_after {
            Some((0, cause)) if work => {
                let cause = cause.clone();
                state.fail(&cause);
                self.changed.notify_all();
                return Step::Ran(name);
            }
            Some((left, _)) if work => *left -= 1,
            _ => {}
        }
        let item = queue.items.pop_front();
        queue.ran += 1;
        let outcome = item.as_ref().map_or(Ok(()), |item| self.run(state, item));
        state.ledger.items_run += 1;
        if let Err(cause) = outcome {
            state.fail(&cause);
        }
        self.changed.notify_all();
        Step::Ran(name)
    }

    /// Runs `stream` up to (not including) item `seq`, and what that needs of other streams.
    pub(crate) fn run_to(&self, state: &mut State<D>, stream: usize, seq: u64) {
        let mut goals = vec![(stream, seq)];
        while let Some(&(stream, seq)) = goals.last() {
            let Some(queue) = state.queues.get(&stream).filter(|queue| queue.ran < seq) else {
                goals.pop();
                continue;
            };
            match queue.items.front() {
                // A mark stands before every wait for it, so that this ends.
                Some(Item::Wait(mark)) if mark.outcome.get().is_none() => {
                    goals.push((mark.stream, mark.seq + 1));
                }
                _ => {
                    if let Step::Empty = self.step(state, stream) {
                        goals.pop();
                    }
                }
            }
        }
    }

    /// In auto mode, runs what `mark` needs.
    pub(crate) fn run_for(&self, state: &mut State<D>, mark: &Mark) {
        if state.config.auto {
            self.run_to(state, mark.stream, mark.seq + 1);
        }
    }

    fn run(&self, state: &mut State<D>, item: &Item) -> Result<(), GpuError> {
        for (range, _) in item.touches() {
            let Place::Block(id) = range.place else {
                continue;
            };
            if state.blocks.get(&id).is_none_or(|memory| memory.freed) {
                let text = format!("it ran after block {id} was freed");
                // Noted; the item runs on what is left of the block.
                let _ = state.violation(item.name(), text);
            }
        }
        match item {
            Item::Record(mark) => {
                // Unset: a mark is set only when its one item leaves the queue.
                let _ = mark.outcome.set(Ok(()));
                Ok(())
            }
            Item::Wait(_) => Ok(()),
            Item::Copy { from, to, .. } => {
                let mut bytes = vec![0; from.len];
                self.peek(state, from, &mut bytes)?;
                self.poke(state, to, &bytes)
            }
            Item::Execute { op, args, scratch } => {
                self.execute(state, &op.as_op(), args, scratch.as_ref())
            }
        }
    }

    fn execute(
        &self,
        state: &mut State<D>,
        op: &Op<'_>,
        ranges: &[Range],
        scratch: Option<&Range>,
    ) -> Result<(), GpuError> {
        if let (true, Some(slot)) = (crate::check::has_fault_slot(op), ranges.last()) {
            let mut bytes = [0; gpu_seam::FAULT_SLOT_BYTES];
            self.peek(state, slot, &mut bytes)?;
            if bytes != [0; gpu_seam::FAULT_SLOT_BYTES] {
                // Noted; the operation runs all the same.
                let _ = state.violation(op.name(), format!("its fault slot held {bytes:x?}"));
            }
        }
        if let Some(range) = scratch {
            self.fill(state, range, FRESH)?;
        }
        let mut args = Vec::with_capacity(ranges.len());
        for range in ranges {
            args.push(arg(&state.blocks, range)?);
        }
        let scratch = scratch.map(|range| arg(&state.blocks, range)).transpose()?;
        // SAFETY: the operation was checked and planned when it was enqueued, its ranges lie in
        // blocks that stay allocated, and it has ended before they can be freed (the next line).
        let ran = unsafe { self.inner.execute(&self.stream, op, &args, scratch) };
        ran.and_then(|()| self.inner.synchronize(&self.stream))
    }

    /// Reads bytes of a block or a staging.
    pub(crate) fn peek(
        &self,
        state: &State<D>,
        range: &Range,
        bytes: &mut [u8],
    ) -> Result<(), GpuError> {
        match range.place {
            Place::Staging(id) => {
                if let Some(stage) = state.stagings.get(&id) {
                    bytes.copy_from_slice(&stage.bytes[range.offset..range.offset + range.len]);
                }
                Ok(())
            }
            Place::Block(_) => {
                let from = arg(&state.blocks, range)?;
                // SAFETY: `bytes` is as long as the range at every caller, the range is inside its
                // block, and the inner device has nothing enqueued: each operation was waited for.
                unsafe { self.inner.read_direct(from, bytes) }
            }
        }
    }

    /// Writes bytes of a block or a staging.
    pub(crate) fn poke(
        &self,
        state: &mut State<D>,
        range: &Range,
        bytes: &[u8],
    ) -> Result<(), GpuError> {
        match range.place {
            Place::Staging(id) => {
                if let Some(stage) = state.stagings.get_mut(&id) {
                    stage.bytes[range.offset..range.offset + range.len].copy_from_slice(bytes);
                }
                Ok(())
            }
            Place::Block(_) => self.poke_block(arg(&state.blocks, range)?, bytes),
        }
    }

    fn poke_block(&self, to: Arg<'_, D>, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: `bytes` is as long as the range at every caller, the range is inside its block,
        // and the inner device has nothing enqueued: each operation was waited for.
        unsafe { self.inner.write_direct(to, bytes) }
    }

    /// Fills a range with one byte.
    pub(crate) fn fill(
        &self,
        state: &mut State<D>,
        range: &Range,
        byte: u8,
    ) -> Result<(), GpuError> {
        let chunk = vec![byte; range.len.min(1 << 16)];
        for at in (0..range.len).step_by(chunk.len().max(1)) {
            let len = chunk.len().min(range.len - at);
            let part = Range {
                offset: range.offset + at,
                len,
                ..*range
            };
            self.poke(state, &part, &chunk[..len])?;
        }
        Ok(())
    }

    /// Gives a block back to the inner vendor.
    pub(crate) fn release(&self, buffer: Buffer<D>) -> Result<(), GpuError> {
        // SAFETY: it came from the inner vendor's `allocate`, no queued item names it (the callers
        // see to that), and the inner device has nothing enqueued.
        unsafe { self.inner.free(buffer) }
    }
}

impl<D: Driver> Drop for Shared<D> {
    /// Gives the inner vendor its memory back, leaked blocks included: no handle can reach them now.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, Memory { buffer, .. }) in std::mem::take(&mut state.blocks) {
            // SAFETY: it came from the inner vendor's `allocate`; what is still queued never runs.
            let freed = unsafe { self.inner.free(buffer) };
            // There is nobody left to tell.
            drop(freed);
        }
    }
}

/// A range of a block as the inner vendor's argument.
fn arg<'a, D: Driver>(
    blocks: &'a BTreeMap<u64, Memory<D>>,
    range: &Range,
) -> Result<Arg<'a, D>, GpuError> {
    let Place::Block(id) = range.place else {
        return Err(GpuError::unsupported("arg", "a staging is no argument"));
    };
    match blocks.get(&id) {
        Some(memory) => Ok(Arg {
            buffer: &memory.buffer,
            offset: range.offset,
            len: range.len,
        }),
        None => Err(GpuError::unsupported(
            "arg",
            "a queued item names a block that is gone",
        )),
    }
}
