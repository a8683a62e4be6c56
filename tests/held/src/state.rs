//! What a held device holds: blocks, stagings, streams with their queues, and the ledger.
//!
//! Plain data behind one lock. The handles given out are ids, so that dropping one does nothing.

use crate::calls::{Calls, Rule};
use crate::config::Config;
use gpu_seam::{Backend, Buffer, Direction, GpuError, OwnedOp};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

/// The handle to one allocation.
#[derive(Debug)]
pub struct Block(pub(crate) u64);

/// A stream: its number counts up from 0 in order of creation.
#[derive(Debug)]
pub struct Stream(pub(crate) usize);

impl Stream {
    /// The number by which the [`Controller`](crate::Controller) names it.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.0
    }
}

/// An event: what its last record covers.
#[derive(Debug, Default)]
pub struct Event(pub(crate) Option<Arc<Mark>>);

/// The handle to staging memory.
#[derive(Debug)]
pub struct Staging(pub(crate) u64);

/// One record of an event: where it stands, and how what it covers ended.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) stream: usize,
    pub(crate) seq: u64,
    pub(crate) outcome: OnceLock<Result<(), GpuError>>,
}

/// What is alive, what was lost, and the peaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Ledger {
    /// Allocations that were not freed.
    pub allocations: usize,
    /// Their bytes.
    pub bytes: usize,
    /// The most bytes so far.
    pub peak_bytes: usize,
    /// Stagings that were not freed.
    pub stagings: usize,
    /// Their bytes.
    pub staging_bytes: usize,
    /// The most staging bytes so far.
    pub peak_staging_bytes: usize,
    /// Streams that were not destroyed.
    pub streams: usize,
    /// Events that were not destroyed.
    pub events: usize,
    /// Bytes of allocations whose free was refused: they stay used.
    pub lost_bytes: usize,
    /// Items that ran.
    pub items_run: u64,
}

/// A block of device memory; `freed` while a queued item still names it.
pub(crate) struct Memory<D: Backend> {
    pub(crate) buffer: Buffer<D>,
    pub(crate) freed: bool,
}

/// A staging's bytes and where the host stands with it.
pub(crate) struct Stage {
    pub(crate) bytes: Vec<u8>,
    pub(crate) direction: Direction,
    pub(crate) accessible: bool,
    pub(crate) refusals: u32,
}

/// What a range is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Block(u64),
    Staging(u64),
}

/// Bytes that an item touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) place: Place,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Range {
    pub(crate) const fn overlaps(&self, other: &Self) -> bool {
        let same = match (self.place, other.place) {
            (Place::Block(a), Place::Block(b)) | (Place::Staging(a), Place::Staging(b)) => a == b,
            _ => false,
        };
        same && self.offset < other.offset + other.len && other.offset < self.offset + self.len
    }
}

/// Something enqueued.
#[derive(Debug)]
pub(crate) enum Item {
    Copy {
        name: &'static str,
        from: Range,
        to: Range,
    },
    Execute {
        op: Box<OwnedOp>,
        args: Vec<Range>,
        scratch: Option<Range>,
    },
    Record(Arc<Mark>),
    Wait(Arc<Mark>),
}

impl Item {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Copy { name, .. } => name,
            Self::Execute { op, .. } => op.as_op().name(),
            Self::Record(_) => "record",
            Self::Wait(_) => "wait",
        }
    }

    /// Every range it touches, and whether it writes it.
    pub(crate) fn touches(&self) -> Vec<(Range, bool)> {
        match self {
            Self::Copy { from, to, .. } => vec![(*from, false), (*to, true)],
            Self::Execute { op, args, scratch } => {
                let slot = crate::check::has_fault_slot(&op.as_op()).then(|| args.len() - 1);
                let args = args.iter().enumerate();
                args.map(|(at, range)| (*range, at == 0 || Some(at) == slot))
                    .chain(scratch.map(|range| (range, true)))
                    .collect()
            }
            Self::Record(_) | Self::Wait(_) => Vec::new(),
        }
    }
}

/// A stream's queue. The item at its front has number `ran`.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) items: VecDeque<Item>,
    pub(crate) ran: u64,
}

impl Queue {
    /// The number that the next enqueued item gets.
    pub(crate) fn end(&self) -> u64 {
        self.ran + self.items.len() as u64
    }
}

/// Everything behind the lock.
pub(crate) struct State<D: Backend> {
    pub(crate) config: Config,
    pub(crate) blocks: BTreeMap<u64, Memory<D>>,
    pub(crate) stagings: BTreeMap<u64, Stage>,
    pub(crate) queues: BTreeMap<usize, Queue>,
    pub(crate) next_id: u64,
    pub(crate) next_stream: usize,
    pub(crate) ledger: Ledger,
    pub(crate) calls: Calls,
    pub(crate) rules: Vec<Rule>,
    /// Threads inside a paused call.
    pub(crate) paused: usize,
    /// How often the test resumed the paused calls.
    pub(crate) resumes: usize,
    /// Copies and operations that still run before one fails, and its cause.
    pub(crate) fail_after: Option<(u64, GpuError)>,
    pub(crate) failed: Option<GpuError>,
    pub(crate) violations: Vec<String>,
}

impl<D: Backend> State<D> {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            blocks: BTreeMap::new(),
            stagings: BTreeMap::new(),
            queues: BTreeMap::new(),
            next_id: 1,
            next_stream: 0,
            ledger: Ledger::default(),
            calls: Calls::default(),
            rules: Vec::new(),
            paused: 0,
            resumes: 0,
            fail_after: None,
            failed: None,
            violations: Vec::new(),
        }
    }

    /// Records a broken rule, and gives it as the error of the call that broke it.
    pub(crate) fn violation(&mut self, call: &'static str, text: String) -> GpuError {
        let text = format!("{call}: {text}");
        self.violations.push(text.clone());
        GpuError::unsupported(call, format!("the held vendor found a broken rule: {text}"))
    }

    /// The name of a queued item that touches (or, if `writes`, writes) part of `range`.
    pub(crate) fn queued(&self, range: &Range, writes: bool) -> Option<&'static str> {
        let items = self.queues.values().flat_map(|queue| &queue.items);
        let mut hit = items.filter(|item| {
            let touches = item.touches();
            touches
                .iter()
                .any(|(other, write)| other.overlaps(range) && (*write || !writes))
        });
        hit.next().map(Item::name)
    }

    /// Fails the device: whatever is queued ends with `cause`, and so does whatever comes later.
    pub(crate) fn fail(&mut self, cause: &GpuError) {
        self.failed.get_or_insert_with(|| cause.clone());
        for queue in self.queues.values_mut() {
            queue.ran = queue.end();
            for item in queue.items.drain(..) {
                if let Item::Record(mark) = item {
                    // Unset: a mark is set only when its item leaves the queue.
                    let _ = mark.outcome.set(Err(cause.clone()));
                }
            }
        }
    }
}
