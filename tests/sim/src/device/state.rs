//! The machine's state: entering a call, planned faults, enqueueing, and the end of a device.
//!
//! Everything here happens under the machine's one lock. Knows nothing of the order in which items
//! run: that is `run`.

use super::clock::Clock;
use super::config::{Config, Pace};
use super::history::{History, Rule, What};
use super::memory::{Home, Memory, Part, Touch};
use super::plan::{Fault, FaultPlan};
use super::queue::{Device, Event, EventId, Item, Mark, Outcome, Stream, StreamId, Work};
use super::rng::Rng;
use super::status::{Failure, Function, Status};
use std::collections::VecDeque;

pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) pace: Pace,
    pub(crate) plan: FaultPlan,
    /// When items run.
    pub(crate) rng: Rng,
    /// Where memory lies, and which allocations fail.
    pub(crate) memory_rng: Rng,
    pub(crate) memory: Memory,
    pub(crate) devices: Vec<Device>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) events: Vec<Event>,
    pub(crate) marks: Vec<Mark>,
    /// What the host knows to have happened.
    pub(crate) host: Clock,
    pub(crate) history: History,
    /// How many calls there were.
    pub(crate) call: u64,
    counts: Vec<u64>,
    pub(crate) kernels: u64,
    pub(crate) copies: u64,
    pub(crate) items: u64,
    records: u64,
    /// Fruitless looks since an item last ran.
    pub(crate) looks: u64,
    /// Notices on their way: how many looks they are late, and the cookie.
    pub(crate) notices: Vec<(u32, u64)>,
}

impl State {
    pub(crate) fn new(seed: u64, config: Config, plan: FaultPlan) -> Self {
        let mut rng = Rng::new(seed);
        let memory_rng = rng.split();
        let drawn = Pace::draw(&mut rng);
        let devices = config.devices.iter().map(|&memory_bytes| Device {
            memory_bytes,
            fault: None,
            lost: false,
            peers: Vec::new(),
        });
        Self {
            pace: config.pace.unwrap_or(drawn),
            devices: devices.collect(),
            config,
            plan,
            rng,
            memory_rng,
            memory: Memory::new(),
            streams: Vec::new(),
            events: Vec::new(),
            marks: Vec::new(),
            host: Clock::default(),
            history: History::default(),
            call: 0,
            counts: vec![0; Function::ALL.len()],
            kernels: 0,
            copies: 0,
            items: 0,
            records: 0,
            looks: 0,
            notices: Vec::new(),
        }
    }

    /// Begins a call: counts it, lets idle work run, and answers the device's failure or the
    /// plan's. A call of the host alone names no device.
    pub(crate) fn begin(
        &mut self,
        function: Function,
        device: Option<usize>,
        stream: Option<usize>,
    ) -> Result<(), Failure> {
        self.call += 1;
        self.counts[function as usize] += 1;
        self.history
            .add(self.call, stream, What::Called(function.name()));
        self.lose();
        self.check(device)?;
        let nth = self.counts[function as usize];
        let planned = self
            .plan
            .faults
            .iter()
            .copied()
            .find_map(|fault| match fault {
                Fault::Call {
                    function: planned,
                    nth: at,
                    status,
                } if planned == function && at == nth => Some((fault, status)),
                _ => None,
            });
        if let Some((fault, status)) = planned {
            let sticky = status.is_sticky();
            self.fire(stream, fault, sticky);
            let failure = Failure::new(status, format!("planned fault {fault}"));
            if let Some(device) = device.filter(|_| sticky) {
                self.break_device(device, &failure);
            }
            return Err(failure);
        }
        self.idle();
        self.check(device)
    }

    fn lose(&mut self) {
        let call = self.call;
        let lost = self
            .plan
            .faults
            .iter()
            .copied()
            .find(|fault| matches!(fault, Fault::Lost { call: at } if *at == call));
        if let Some(fault) = lost {
            self.fire(None, fault, true);
            let failure = Failure::new(Status::DeviceLost, format!("planned fault {fault}"));
            for device in 0..self.devices.len() {
                self.break_device(device, &failure);
                self.devices[device].lost = true;
            }
        }
    }

    /// The sticky failure of a device.
    pub(crate) fn check(&self, device: Option<usize>) -> Result<(), Failure> {
        let device = device.and_then(|device| self.devices.get(device));
        match device.and_then(|device| device.fault.as_ref()) {
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn fire(&mut self, stream: Option<usize>, fault: Fault, sticky: bool) {
        self.history
            .fire(self.call, stream, fault.to_string(), sticky);
    }

    pub(crate) fn violate(&mut self, stream: Option<usize>, rule: Rule, text: String) {
        self.history.violate(self.call, stream, rule, text);
    }

    pub(crate) fn note(&mut self, stream: Option<usize>, text: String) {
        self.history.add(self.call, stream, What::Note(text));
    }

    /// Ends a device until it is reset: its work is thrown away and touches memory no more.
    pub(crate) fn break_device(&mut self, device: usize, failure: &Failure) {
        if self.devices[device].fault.is_some() {
            return;
        }
        self.devices[device].fault = Some(failure.clone());
        self.note(None, format!("device {device} failed: {failure}"));
        self.discard(device, failure);
    }

    /// Throws away whatever is enqueued on a device.
    pub(crate) fn discard(&mut self, device: usize, failure: &Failure) {
        for stream in &mut self.streams {
            if stream.device != device {
                continue;
            }
            for item in stream.items.drain(..) {
                if let Work::Record(mark) = item.work {
                    self.marks[mark].outcome = Outcome::Failed(failure.clone());
                }
            }
            stream.ran = stream.enqueued;
            self.host.join(&stream.clock);
        }
    }

    /// The device of a live stream.
    pub(crate) fn stream(&mut self, stream: StreamId) -> Result<usize, Failure> {
        match self.streams.get(stream.0) {
            Some(found) if found.alive => Ok(found.device),
            _ => {
                let text = format!("stream {} is not alive", stream.0);
                self.violate(None, Rule::Handle, text.clone());
                Err(Failure::new(Status::InvalidHandle, text))
            }
        }
    }

    /// The last record of a live event.
    pub(crate) fn event(&mut self, event: EventId) -> Result<Option<usize>, Failure> {
        match self.events.get(event.0) {
            Some(found) if found.alive => Ok(found.mark),
            _ => {
                let text = format!("event {} is not alive", event.0);
                self.violate(None, Rule::Handle, text.clone());
                Err(Failure::new(Status::InvalidHandle, text))
            }
        }
    }

    /// Enqueues work that touches these parts (`true`: writes); gives its number.
    pub(crate) fn enqueue(
        &mut self,
        stream: StreamId,
        name: &'static str,
        parts: &[(Part, bool)],
        work: Work,
    ) -> u64 {
        let id = stream.0;
        let queue = &mut self.streams[id];
        queue.enqueued += 1;
        let seq = queue.enqueued;
        queue.clock.join(&self.host);
        queue.clock.set(id, seq);
        if let Work::Wait(mark) = &work {
            queue.clock.join(&self.marks[*mark].clock);
        }
        if let Work::Record(mark) = &work {
            self.marks[*mark].clock = queue.clock.clone();
        }
        let clock = queue.clock.clone();
        for &(part, writes) in parts {
            let Some(allocation) = self.memory.get_mut(part.allocation) else {
                continue;
            };
            let range = (part.offset, part.len);
            let conflict = allocation.conflict(range, writes, &clock);
            let touch = Touch {
                offset: part.offset,
                len: part.len,
                writes,
                stream: id,
                seq,
                name,
            };
            allocation.touch(touch, &self.host);
            if let Some(other) = conflict {
                let text = format!(
                    "{name} (stream {id} #{seq}) {} bytes that {} (stream {} #{}) {}, and nothing \
                     orders the two",
                    if writes { "writes" } else { "reads" },
                    other.name,
                    other.stream,
                    other.seq,
                    if other.writes { "writes" } else { "reads" },
                );
                self.violate(Some(id), Rule::Order, text);
            }
        }
        self.history
            .add(self.call, Some(id), What::Enqueued { seq, name });
        self.streams[id].items.push_back(Item { seq, name, work });
        seq
    }

    /// A new mark, to be enqueued on `stream` next.
    pub(crate) fn mark(&mut self, stream: StreamId) -> usize {
        self.records += 1;
        let nth = self.records;
        let planned = self
            .plan
            .faults
            .iter()
            .copied()
            .find_map(|fault| match fault {
                Fault::Hold { nth: at, looks } if at == nth => Some((fault, looks)),
                _ => None,
            });
        let held = planned.map_or(0, |(fault, looks)| {
            self.fire(Some(stream.0), fault, false);
            looks
        });
        let lateness = self.lateness();
        let patience = self.rng.below(self.pace.patience as usize + 1);
        self.marks.push(Mark {
            stream: stream.0,
            seq: self.streams[stream.0].enqueued + 1,
            clock: Clock::default(),
            outcome: Outcome::Pending,
            held,
            patience: u32::try_from(patience).unwrap_or(0),
            late: lateness,
        });
        self.marks.len() - 1
    }

    /// How many looks late something is noticed.
    pub(crate) fn lateness(&mut self) -> u32 {
        let late = self.plan.faults.iter().find_map(|fault| match fault {
            Fault::Late { looks } => Some(*looks),
            _ => None,
        });
        let late = late.map_or(0, |looks| self.rng.below(looks as usize + 1));
        u32::try_from(late).unwrap_or(0)
    }

    /// Whether work that has not run touches (with `writes`: writes) a part.
    pub(crate) fn is_pending(&self, part: Part, writes: bool) -> bool {
        let touches = self.memory.get(part.allocation);
        let mut touches = touches.iter().flat_map(|allocation| &allocation.touches);
        touches.any(|touch| {
            touch.overlaps(part.offset, part.len)
                && (touch.writes || !writes)
                && self.streams[touch.stream].ran < touch.seq
        })
    }

    /// Where a part is.
    pub(crate) fn home(&self, part: Part) -> Option<Home> {
        self.memory
            .get(part.allocation)
            .map(|allocation| allocation.home)
    }

    /// What the plan leaves of a device's memory.
    pub(crate) fn limit(&self, device: usize) -> usize {
        let planned = self.plan.faults.iter().filter_map(|fault| match fault {
            Fault::Limit { bytes } => Some(*bytes),
            _ => None,
        });
        planned.fold(self.devices[device].memory_bytes, usize::min)
    }

    pub(crate) fn add_stream(&mut self, device: usize) -> StreamId {
        self.streams.push(Stream {
            device,
            alive: true,
            items: VecDeque::new(),
            enqueued: 0,
            ran: 0,
            clock: Clock::default(),
        });
        StreamId(self.streams.len() - 1)
    }

    pub(crate) fn add_event(&mut self, device: usize) -> EventId {
        self.events.push(Event {
            device,
            alive: true,
            mark: None,
        });
        EventId(self.events.len() - 1)
    }
}
