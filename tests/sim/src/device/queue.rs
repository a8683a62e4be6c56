//! What streams hold: items in order, marks that events stand for, and the work of each item.
//!
//! Plain data. Knows nothing of when anything runs.

use super::clock::Clock;
use super::launch::Launch;
use super::memory::{Part, Span};
use super::status::Failure;
use std::collections::VecDeque;

/// A stream: its number counts up from 0 over the machine and never comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub usize);

/// An event: its number counts up from 0 over the machine and never comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub usize);

/// What a kernel says it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The bytes.
    pub span: Span,
    /// Whether it writes them.
    pub writes: bool,
}

impl Access {
    /// Bytes that are read.
    #[must_use]
    pub const fn read(span: Span) -> Self {
        Self {
            span,
            writes: false,
        }
    }

    /// Bytes that are written, or read and written.
    #[must_use]
    pub const fn write(span: Span) -> Self {
        Self { span, writes: true }
    }
}

/// What a kernel does once it runs.
pub type Body = Box<dyn FnOnce(&mut Launch<'_>) -> Result<(), Failure> + Send>;

/// A kernel to be launched.
pub struct Kernel {
    /// For histories and messages.
    pub name: &'static str,
    /// Everything it touches.
    pub accesses: Vec<Access>,
    /// What it does.
    pub body: Body,
}

/// The work of an item.
pub(crate) enum Work {
    Copy {
        from: Part,
        to: Part,
        /// What the source held when the copy was enqueued, where that may not change.
        digest: Option<u64>,
        /// Whether the bytes arrive wrong.
        corrupt: bool,
    },
    Fill {
        to: Part,
        byte: u8,
    },
    Kernel {
        body: Body,
        /// Each access with its place, or why it has none.
        places: Vec<(Access, Result<Part, String>)>,
    },
    /// The mark of this number.
    Record(usize),
    /// The mark of this number.
    Wait(usize),
    /// A completion notice with this cookie.
    Notice(u64),
}

/// Something enqueued.
pub(crate) struct Item {
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
    pub(crate) work: Work,
}

/// A stream's state.
pub(crate) struct Stream {
    pub(crate) device: usize,
    pub(crate) alive: bool,
    pub(crate) items: VecDeque<Item>,
    /// The number of the last item that was enqueued.
    pub(crate) enqueued: u64,
    /// The number of the last item that ran.
    pub(crate) ran: u64,
    /// What has happened before whatever is enqueued next.
    pub(crate) clock: Clock,
}

/// One record of an event.
pub(crate) struct Mark {
    pub(crate) stream: usize,
    pub(crate) seq: u64,
    /// What has happened once it is complete.
    pub(crate) clock: Clock,
    pub(crate) outcome: Outcome,
    /// How many fruitless looks hold it back although everything before it has run.
    pub(crate) held: u64,
    /// How many looks are answered "not yet" before what it covers is forced to run.
    pub(crate) patience: u32,
    /// How many looks are answered "not yet" although it is complete.
    pub(crate) late: u32,
}

/// How a mark ended.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Pending,
    Done,
    Failed(Failure),
}

impl Outcome {
    pub(crate) const fn is_pending(&self) -> bool {
        matches!(self, Self::Pending)
    }
}

/// An event's state.
pub(crate) struct Event {
    pub(crate) device: usize,
    pub(crate) alive: bool,
    /// Its last record.
    pub(crate) mark: Option<usize>,
}

/// The state of one device.
pub(crate) struct Device {
    pub(crate) memory_bytes: usize,
    /// The sticky failure, until the device is reset.
    pub(crate) fault: Option<Failure>,
    /// For good.
    pub(crate) lost: bool,
    /// The devices whose memory this one may reach.
    pub(crate) peers: Vec<usize>,
}
