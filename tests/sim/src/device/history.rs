//! What happened, in order, and which rules were broken.
//!
//! Promises the same history for the same seed, plan and calls: no time, no host address, no hash
//! order. Each rule names the section of the vendors' guides that states it. Knows nothing of how
//! a rule is checked.

use std::fmt;

/// A rule of the machine that its user must keep.
///
/// "Programming Guide" is NVIDIA's *CUDA C++ Programming Guide*, "Driver API" its *CUDA Driver API*
/// reference, "HIP" AMD's *HIP documentation*, each by the title of the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// An access lies inside one live allocation. Driver API, "Memory Management" (`cuMemAlloc`,
    /// `cuMemFree`); HIP, "Memory management".
    Bounds,
    /// Memory is freed once. Driver API, "Memory Management" (`cuMemFree`: the pointer was returned
    /// by an allocation and not freed before).
    DoubleFree,
    /// Memory is freed only when all work that touches it is known to have completed. Programming
    /// Guide, "Asynchronous Concurrent Execution" (a call returns before the device is done) and
    /// "Explicit Synchronization"; HIP, "Asynchronous concurrent execution".
    FreedInUse,
    /// What is computed with, or seen by the host, was written before. Driver API, "Memory
    /// Management" (`cuMemAlloc`: the memory is not cleared).
    Unwritten,
    /// Two accesses of which one writes are ordered: by one stream, by an event that the other
    /// stream waits for, or by the host having waited. Programming Guide, "Streams" (commands of
    /// different streams may run out of order or concurrently), "Events" and "Explicit
    /// Synchronization"; HIP, "Synchronization, event management and synchronous calls".
    Order,
    /// Pinned memory is not touched by the host while a copy that names it may still run. Driver
    /// API, "API synchronization behavior", "Memcpy" (pinned transfers are asynchronous);
    /// Programming Guide, "Page-Locked Host Memory"; HIP, "Host memory".
    HostTouch,
    /// The ranges of a copy do not overlap. Programming Guide, "Memcpy": as for C's `memcpy`.
    Overlap,
    /// A stream or event that is named is alive. Driver API, "Stream Management" and "Event
    /// Management"; HIP, "Stream management" and "Event management".
    Handle,
    /// Memory of another device is reached only where peer access from this device to that one was
    /// enabled. Programming Guide, "Peer-to-Peer Memory Access"; HIP, "Multi-device management",
    /// "Peer-to-peer memory access".
    Peer,
    /// A kernel touches what its launch declared: a rule of this machine, which orders work by it.
    Declared,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bounds => "bounds",
            Self::DoubleFree => "double-free",
            Self::FreedInUse => "freed-in-use",
            Self::Unwritten => "unwritten",
            Self::Order => "order",
            Self::HostTouch => "host-touch",
            Self::Overlap => "overlap",
            Self::Handle => "handle",
            Self::Peer => "peer",
            Self::Declared => "declared",
        })
    }
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// How, with the places and the work.
    pub text: String,
    /// The number of the call during which it was seen.
    pub call: u64,
    /// The stream whose work broke it, if one did.
    pub stream: Option<usize>,
    /// The last entries of that stream, oldest first, as they stood then.
    pub history: Vec<Entry>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (call {}): {}", self.rule, self.call, self.text)?;
        for entry in &self.history {
            write!(f, "\n    {entry}")?;
        }
        Ok(())
    }
}

/// A planned fault that came to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fired {
    /// The fault as the plan spells it.
    pub fault: String,
    /// The number of the call during which it did.
    pub call: u64,
    /// Whether it leaves a device unusable.
    pub sticky: bool,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the call during which it did.
    pub call: u64,
    /// The stream that it concerns, if one.
    pub stream: Option<usize>,
    /// What.
    pub what: What,
}

/// What an [`Entry`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A call began.
    Called(&'static str),
    /// An item was enqueued.
    Enqueued {
        /// Its number on its stream, from 1.
        seq: u64,
        /// Its name.
        name: &'static str,
    },
    /// An item ran.
    Ran {
        /// Its number on its stream.
        seq: u64,
        /// Its name.
        name: &'static str,
    },
    /// Anything else, in words.
    Note(String),
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6} ", self.call)?;
        match self.stream {
            Some(stream) => write!(f, "stream {stream}: ")?,
            None => write!(f, "machine: ")?,
        }
        match &self.what {
            What::Called(name) => write!(f, "call {name}"),
            What::Enqueued { seq, name } => write!(f, "enqueued #{seq} {name}"),
            What::Ran { seq, name } => write!(f, "ran #{seq} {name}"),
            What::Note(text) => f.write_str(text),
        }
    }
}

/// Everything that happened.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<Entry>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) fired: Vec<Fired>,
}

/// How many entries a violation keeps of its stream.
const KEPT: usize = 12;

impl History {
    pub(crate) fn add(&mut self, call: u64, stream: Option<usize>, what: What) {
        self.entries.push(Entry { call, stream, what });
    }

    pub(crate) fn violate(&mut self, call: u64, stream: Option<usize>, rule: Rule, text: String) {
        let last = self.entries.iter().rev();
        let mut history: Vec<Entry> = last
            .filter(|entry| entry.stream == stream)
            .take(KEPT)
            .cloned()
            .collect();
        history.reverse();
        self.add(
            call,
            stream,
            What::Note(format!("VIOLATION {rule}: {text}")),
        );
        self.violations.push(Violation {
            rule,
            text,
            call,
            stream,
            history,
        });
    }

    pub(crate) fn fire(&mut self, call: u64, stream: Option<usize>, fault: String, sticky: bool) {
        self.add(call, stream, What::Note(format!("FAULT {fault}")));
        self.fired.push(Fired {
            fault,
            call,
            sticky,
        });
    }

    /// A number that two histories share only when they are equal (but for a chance of 2^-64).
    ///
    /// FNV-1a over the printed entries (Fowler, Noll and Vo; constants of the 64-bit variant).
    pub(crate) fn digest(&self) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325u64;
        for entry in &self.entries {
            for byte in entry.to_string().bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
        hash
    }
}
