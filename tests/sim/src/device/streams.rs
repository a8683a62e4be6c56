//! Streams, events, and what can be enqueued.
//!
//! Every call here returns at once, but for the two that synchronise. Knows nothing of when items
//! run: that is `run`.

use super::config::PeerRoute;
use super::history::Rule;
use super::machine::Machine;
use super::memory::{Address, Home, Part, Span};
use super::plan::Fault;
use super::queue::{EventId, Kernel, Outcome, StreamId, Work};
use super::run::digest;
use super::state::State;
use super::status::{Failure, Function, Status};

impl Machine {
    /// A stream of a device, with nothing on it.
    ///
    /// # Errors
    /// The device's or the plan's.
    pub fn create_stream(&self, device: usize) -> Result<StreamId, Failure> {
        let mut state = self.lock();
        state.begin(Function::CreateStream, Some(device), None)?;
        Ok(state.add_stream(device))
    }

    /// Ends a stream; what is enqueued on it still runs.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's. The stream is then still there.
    pub fn destroy_stream(&self, stream: StreamId) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::DestroyStream, Some(device), Some(stream.0))?;
        state.streams[stream.0].alive = false;
        Ok(())
    }

    /// Waits for everything that was enqueued on a stream.
    ///
    /// # Errors
    /// `InvalidHandle`; the failure of work on the device; the plan's.
    pub fn synchronize(&self, stream: StreamId) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::Synchronize, Some(device), Some(stream.0))?;
        let goal = state.streams[stream.0].enqueued;
        state.await_item(stream.0, goal);
        state.check(Some(device))?;
        let clock = state.streams[stream.0].clock.clone();
        state.host.join(&clock);
        let state = &mut *state;
        for mark in &mut state.marks {
            if state.host.get(mark.stream) >= mark.seq {
                mark.late = 0;
            }
        }
        Ok(())
    }

    /// An event of a device that has not been recorded.
    ///
    /// # Errors
    /// The device's or the plan's.
    pub fn create_event(&self, device: usize) -> Result<EventId, Failure> {
        let mut state = self.lock();
        state.begin(Function::CreateEvent, Some(device), None)?;
        Ok(state.add_event(device))
    }

    /// Ends an event, in whatever state. Waits for it still hold.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's. The event is then still there.
    pub fn destroy_event(&self, event: EventId) -> Result<(), Failure> {
        let mut state = self.lock();
        state.event(event)?;
        let device = state.events[event.0].device;
        state.begin(Function::DestroyEvent, Some(device), None)?;
        state.events[event.0].alive = false;
        Ok(())
    }

    /// Records an event behind everything enqueued on a stream so far, and forgets its last record.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's.
    pub fn record(&self, stream: StreamId, event: EventId) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.event(event)?;
        state.begin(Function::Record, Some(device), Some(stream.0))?;
        let mark = state.mark(stream);
        state.enqueue(stream, "record", &[], Work::Record(mark));
        state.events[event.0].mark = Some(mark);
        Ok(())
    }

    /// Makes later work on a stream start only once the event's last record is complete.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's.
    pub fn wait(&self, stream: StreamId, event: EventId) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        let mark = state.event(event)?;
        state.begin(Function::Wait, Some(device), Some(stream.0))?;
        if let Some(mark) = mark {
            state.enqueue(stream, "wait", &[], Work::Wait(mark));
        }
        Ok(())
    }

    /// Whether an event's last record is complete; it is, where there is none.
    ///
    /// # Errors
    /// `InvalidHandle`; the failure of the covered work; the device's or the plan's.
    pub fn query(&self, event: EventId) -> Result<bool, Failure> {
        let mut state = self.lock();
        let mark = state.event(event)?;
        let device = state.events[event.0].device;
        let stream = mark.map(|mark| state.marks[mark].stream);
        state.begin(Function::Query, Some(device), stream)?;
        let Some(mark) = mark else {
            return Ok(true);
        };
        if state.marks[mark].outcome.is_pending() {
            if state.marks[mark].patience > 0 {
                state.marks[mark].patience -= 1;
                state.look();
                return Ok(false);
            }
            let (stream, seq) = (state.marks[mark].stream, state.marks[mark].seq);
            state.force(stream, seq);
        }
        match state.marks[mark].outcome.clone() {
            Outcome::Failed(failure) => Err(failure),
            Outcome::Pending => {
                state.look();
                Ok(false)
            }
            Outcome::Done if state.marks[mark].late > 0 => {
                state.marks[mark].late -= 1;
                state.look();
                Ok(false)
            }
            Outcome::Done => {
                let clock = state.marks[mark].clock.clone();
                state.host.join(&clock);
                Ok(true)
            }
        }
    }

    /// Waits for an event's last record.
    ///
    /// # Errors
    /// `InvalidHandle`; the failure of the covered work; the device's or the plan's.
    pub fn synchronize_event(&self, event: EventId) -> Result<(), Failure> {
        let mut state = self.lock();
        let mark = state.event(event)?;
        let device = state.events[event.0].device;
        state.begin(Function::SynchronizeEvent, Some(device), None)?;
        let Some(mark) = mark else {
            return Ok(());
        };
        let (stream, seq) = (state.marks[mark].stream, state.marks[mark].seq);
        state.await_item(stream, seq);
        if let Outcome::Failed(failure) = &state.marks[mark].outcome {
            return Err(failure.clone());
        }
        let clock = state.marks[mark].clock.clone();
        state.marks[mark].late = 0;
        state.host.join(&clock);
        Ok(())
    }

    /// Enqueues a copy between two places, pinned or on devices.
    ///
    /// # Errors
    /// `InvalidValue` for places that are not there or not in reach; `InvalidHandle`; the device's
    /// or the plan's. Nothing is then enqueued.
    pub fn copy(
        &self,
        stream: StreamId,
        from: Address,
        to: Address,
        len: usize,
    ) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::Copy, Some(device), Some(stream.0))?;
        let source = state.part(stream, Span::new(from, len))?;
        let target = state.part(stream, Span::new(to, len))?;
        if source.allocation == target.allocation
            && source.offset < target.offset + len
            && target.offset < source.offset + len
        {
            let text = format!("a copy of {len} bytes from {from} to {to}");
            state.violate(Some(stream.0), Rule::Overlap, text);
        }
        let crosses = match (state.home(source), state.home(target)) {
            (Some(Home::Device(a)), Some(Home::Device(b))) => a != b,
            _ => false,
        };
        let digest = (!state.is_pending(source, true))
            .then(|| state.memory.get(source.allocation))
            .flatten()
            .filter(|it| it.home == Home::Pinned)
            .map(|it| digest(it.bytes(source.offset, source.len)));
        if !state.is_pending(target, false)
            && let Some(allocation) = state.memory.get_mut(target.allocation)
        {
            allocation.spoil(target.offset, target.len);
        }
        let work = Work::Copy {
            from: source,
            to: target,
            digest,
            corrupt: crosses && state.config.route == PeerRoute::Corrupts,
        };
        state.enqueue(stream, "copy", &[(source, false), (target, true)], work);
        Ok(())
    }

    /// Enqueues a fill with one byte.
    ///
    /// # Errors
    /// As for [`copy`](Self::copy).
    pub fn fill(&self, stream: StreamId, to: Span, byte: u8) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::Fill, Some(device), Some(stream.0))?;
        let part = state.part(stream, to)?;
        state.enqueue(
            stream,
            "fill",
            &[(part, true)],
            Work::Fill { to: part, byte },
        );
        Ok(())
    }

    /// Enqueues a kernel. One that names memory which is not there fails when it runs.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's. Nothing is then enqueued.
    pub fn launch(&self, stream: StreamId, kernel: Kernel) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::Launch, Some(device), Some(stream.0))?;
        let Kernel {
            name,
            accesses,
            body,
        } = kernel;
        let mut places = Vec::with_capacity(accesses.len());
        let mut parts = Vec::with_capacity(accesses.len());
        for access in accesses {
            let place = state.part(stream, access.span).map_err(|it| it.detail);
            if let Ok(part) = place {
                parts.push((part, access.writes));
            }
            places.push((access, place));
        }
        state.enqueue(stream, name, &parts, Work::Kernel { body, places });
        Ok(())
    }

    /// Enqueues a completion notice: its cookie is among [`take_notices`](Self::take_notices) some
    /// time after everything before it has run.
    ///
    /// # Errors
    /// `InvalidHandle`; the device's or the plan's.
    pub fn notify(&self, stream: StreamId, cookie: u64) -> Result<(), Failure> {
        let mut state = self.lock();
        let device = state.stream(stream)?;
        state.begin(Function::Notify, Some(device), Some(stream.0))?;
        state.enqueue(stream, "notice", &[], Work::Notice(cookie));
        Ok(())
    }

    /// The notices that have arrived since the last look. The plan may make them late, mix them
    /// up, or bring each twice.
    #[must_use]
    pub fn take_notices(&self) -> Vec<u64> {
        let mut state = self.lock();
        state.idle();
        let planned = |state: &State, fault| state.plan.faults.contains(&fault);
        let (mixed, twice) = (
            planned(&state, Fault::Shuffle),
            planned(&state, Fault::Twice),
        );
        let mut arrived = Vec::new();
        let mut still = Vec::new();
        for (late, cookie) in std::mem::take(&mut state.notices) {
            // Nothing overtakes a late one, unless notices are mixed up.
            if late > 0 || (!mixed && !still.is_empty()) {
                still.push((late.saturating_sub(1), cookie));
            } else {
                arrived.push(cookie);
            }
        }
        if !still.is_empty() {
            state.look();
        }
        state.notices = still;
        if mixed {
            for at in (1..arrived.len()).rev() {
                let other = state.rng.below(at + 1);
                arrived.swap(at, other);
            }
        }
        if twice {
            let again: Vec<u64> = arrived.clone();
            let at = state.rng.below(arrived.len() + 1);
            arrived.splice(at..at, again);
        }
        arrived
    }
}

impl State {
    /// Runs what an item needs, waiting out held events; ends early when its device fails.
    fn await_item(&mut self, stream: usize, seq: u64) {
        while !self.force(stream, seq) {
            self.look();
        }
    }

    /// The place of what a stream is to touch.
    fn part(&mut self, stream: StreamId, span: Span) -> Result<Part, Failure> {
        let device = self.streams[stream.0].device;
        match self.memory.resolve(span) {
            Ok(part) => match self.home(part) {
                Some(Home::Device(other))
                    if other != device && !self.devices[device].peers.contains(&other) =>
                {
                    let text = format!(
                        "{span} is memory of device {other}, which device {device} may not reach"
                    );
                    self.violate(Some(stream.0), Rule::Peer, text.clone());
                    Err(Failure::new(Status::InvalidValue, text))
                }
                _ => Ok(part),
            },
            Err(text) => {
                self.violate(Some(stream.0), Rule::Bounds, text.clone());
                Err(Failure::new(Status::InvalidValue, text))
            }
        }
    }
}
