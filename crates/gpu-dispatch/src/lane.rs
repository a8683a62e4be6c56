//! A lane's track: one stream with a count, and the events that tell how far it has come.
//!
//! Promises that a submission's `(seq, bytes)` is published as one pair after its enqueue returned,
//! that an event covers only what was published before its record call, that events retire by the
//! count they cover and not in the order of recording, and that no lock is held across a vendor
//! call. Knows nothing of storages or pools.

use crate::bins::Bins;
use crate::budget::Budget;
use crate::faults::FaultRing;
use crate::mutant;
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use crate::vendor::Vendor;
use gpu_seam::{Execute, GpuError};
use std::collections::VecDeque;

/// How much of a lane's work a count covers: submissions, and the bytes they were charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extent {
    /// The number of the last submission, from 1.
    pub(crate) seq: u64,
    /// Bytes charged for all submissions so far. Wraps; only differences are used.
    pub(crate) bytes: u64,
}

/// One stream of an engine.
pub(crate) struct Track<B: Execute> {
    /// Never reused within the engine; the default lane is 0.
    pub(crate) id: u64,
    /// `None` only while the lane is being destroyed.
    stream: Option<B::Stream>,
    published: Mutex<Published>,
    /// `published.seq`, for readers that need no pair.
    published_seq: AtomicU64,
    completed: AtomicU64,
    /// The bytes that the newest event covers.
    marked_bytes: AtomicU64,
    book: Mutex<Book<B>>,
    /// Handles that users hold; at zero the lane is on its way out.
    pub(crate) handles: AtomicUsize,
    /// Set when the last handle is gone: storages go back to the engine, not to the bins.
    pub(crate) retired: AtomicBool,
    /// Blocks freed here, ready for reuse here.
    pub(crate) bins: Bins<B>,
    /// Where indexing operations note bad indices.
    pub(crate) faults: Mutex<FaultRing<B>>,
}

/// What has been enqueued, as one value.
#[derive(Clone, Copy)]
struct Published {
    extent: Extent,
    /// Names of the last submissions, by `seq % NAMES`: what a late failure can be traced to.
    names: [&'static str; NAMES],
}

/// How many of a lane's last operations a failure report names.
const NAMES: usize = 8;

/// Where the name of submission `seq` is kept.
const fn slot(seq: u64) -> usize {
    // Less than NAMES, whatever the width of usize.
    (seq % NAMES as u64).to_le_bytes()[0] as usize
}

/// The recorded events that have not been seen to complete, by the count they cover.
struct Book<B: Execute> {
    markers: VecDeque<Marker<B>>,
    /// What has been seen to complete.
    done: Extent,
    /// Events to record again.
    spare: Vec<B::Event>,
    /// Completed events that somebody still looks at; spare once nobody does.
    lent: Vec<Arc<B::Event>>,
}

/// An event and what it covers.
struct Marker<B: Execute> {
    covers: Extent,
    event: Arc<B::Event>,
}

impl<B: Execute> Track<B> {
    pub(crate) fn new(id: u64, stream: B::Stream) -> Self {
        Self {
            id,
            stream: Some(stream),
            published: Mutex::new(Published {
                extent: Extent::default(),
                names: [""; NAMES],
            }),
            published_seq: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            marked_bytes: AtomicU64::new(0),
            book: Mutex::new(Book {
                markers: VecDeque::new(),
                done: Extent::default(),
                spare: Vec::new(),
                lent: Vec::new(),
            }),
            handles: AtomicUsize::new(0),
            retired: AtomicBool::new(false),
            bins: Bins::new(),
            faults: Mutex::new(FaultRing::new()),
        }
    }

    /// The stream. Only a lane that is being destroyed has none, and nobody else has that lane.
    pub(crate) fn stream(&self) -> Result<&B::Stream, GpuError> {
        self.stream.as_ref().ok_or(GpuError::Closed)
    }

    /// Publishes a submission whose enqueue has returned; gives what
    /// the lane now covers.
    pub(crate) fn publish(&self, op: &'static str, bytes: usize) -> Extent {
        let mut published = lock(&self.published);
        let extent = &mut published.extent;
        extent.seq += 1;
        extent.bytes = extent.bytes.wrapping_add(bytes as u64);
        let extent = *extent;
        published.names[slot(extent.seq)] = op;
        self.published_seq.store(extent.seq, Ordering::Release);
        extent
    }

    /// The names of the last operations that had not been seen to complete, oldest first.
    pub(crate) fn unfinished_ops(&self) -> Vec<&'static str> {
        let published = *lock(&self.published);
        let last = published.extent.seq;
        let first = self.completed_seq().max(last.saturating_sub(NAMES as u64)) + 1;
        (first..=last)
            .map(|seq| published.names[slot(seq)])
            .collect()
    }

    /// The number of the last published submission.
    pub(crate) fn published_seq(&self) -> u64 {
        self.published_seq.load(Ordering::Acquire)
    }

    /// The number up to which submissions have been seen to complete.
    pub(crate) fn completed_seq(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Whether submission `seq` has been seen to complete.
    pub(crate) fn is_complete(&self, seq: u64) -> bool {
        self.completed_seq() >= seq
    }

    /// Whether everything published has been seen to complete.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_complete(self.published_seq())
    }

    /// Bytes charged up to `bytes` that no event covers yet.
    pub(crate) fn unmarked(&self, bytes: u64) -> u64 {
        let ahead = bytes.wrapping_sub(self.marked_bytes.load(Ordering::Relaxed));
        // A newer event may already cover more.
        if ahead > u64::MAX / 2 { 0 } else { ahead }
    }

    /// An event that covers submission `seq`, recorded now unless one is there; `None` when `seq`
    /// has been seen to complete.
    pub(crate) fn mark(
        &self,
        vendor: &Vendor<B>,
        seq: u64,
    ) -> Result<Option<Arc<B::Event>>, GpuError> {
        if self.is_complete(seq) {
            return Ok(None);
        }
        let spare = {
            let mut book = lock(&self.book);
            let at = book.markers.partition_point(|marker| {
                marker.covers.seq + u64::from(mutant::on("event-one-early")) < seq
            });
            if let Some(marker) = book.markers.get(at) {
                return Ok(Some(Arc::clone(&marker.event)));
            }
            book.spare.pop()
        };
        // Read before the record call: what is published later may be behind the event.
        let covers = lock(&self.published).extent;
        debug_assert!(
            covers.seq >= seq,
            "a submission is waited for only once published"
        );
        let mut event = match spare {
            Some(event) => event,
            None => vendor.create_event()?,
        };
        if let Err(cause) = vendor.record(self.stream()?, &mut event) {
            lock(&self.book).spare.push(event);
            return Err(cause);
        }
        let event = Arc::new(event);
        let mut book = lock(&self.book);
        if covers.seq > book.done.seq {
            let marker = Marker {
                covers,
                event: Arc::clone(&event),
            };
            let at = book
                .markers
                .partition_point(|other| other.covers.seq < covers.seq);
            book.markers.insert(at, marker);
        }
        if self.unmarked(covers.bytes) > 0 {
            self.marked_bytes.store(covers.bytes, Ordering::Relaxed);
        }
        Ok(Some(event))
    }

    /// Looks at the recorded events once, without recording any; returns the completed bytes to
    /// `budget`.
    pub(crate) fn poll(&self, vendor: &Vendor<B>, budget: &Budget) -> Result<(), GpuError> {
        loop {
            let (covers, event) = {
                let book = lock(&self.book);
                match book.markers.front() {
                    Some(marker) => (marker.covers, Arc::clone(&marker.event)),
                    None => return Ok(()),
                }
            };
            if !vendor.poll(&event)? && !mutant::on("pending-is-complete") {
                return Ok(());
            }
            drop(event);
            self.complete(covers, budget);
        }
    }

    /// Takes note that everything in `covers` has completed.
    fn complete(&self, covers: Extent, budget: &Budget) {
        let mut book = lock(&self.book);
        while book
            .markers
            .front()
            .is_some_and(|marker| marker.covers.seq <= covers.seq)
        {
            if let Some(marker) = book.markers.pop_front() {
                book.lent.push(marker.event);
            }
        }
        book.reclaim();
        if mutant::on("bytes-never-return") && covers.seq > book.done.seq {
            book.done.bytes = covers.bytes;
        }
        if covers.seq > book.done.seq {
            let bytes = covers.bytes.wrapping_sub(book.done.bytes);
            book.done = covers;
            self.completed.store(covers.seq, Ordering::Release);
            drop(book);
            budget.give_back(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
    }

    /// Waits in the vendor for everything published so far.
    pub(crate) fn synchronize(&self, vendor: &Vendor<B>, budget: &Budget) -> Result<(), GpuError> {
        let covers = lock(&self.published).extent;
        if self.is_complete(covers.seq) {
            return Ok(());
        }
        vendor.synchronize(self.stream()?)?;
        self.complete(covers, budget);
        Ok(())
    }

    /// Gives the stream and every event up, to be destroyed.
    pub(crate) fn dismantle(&mut self) -> (Option<B::Stream>, Vec<B::Event>) {
        let mut book = lock(&self.book);
        let markers = std::mem::take(&mut book.markers);
        book.lent
            .extend(markers.into_iter().map(|marker| marker.event));
        book.reclaim();
        let events = std::mem::take(&mut book.spare);
        drop(book);
        (self.stream.take(), events)
    }
}

impl<B: Execute> Book<B> {
    /// Makes spare what nobody looks at any more.
    fn reclaim(&mut self) {
        for event in std::mem::take(&mut self.lent) {
            match Arc::try_unwrap(event) {
                Ok(event) => self.spare.push(event),
                Err(shared) => self.lent.push(shared),
            }
        }
    }
}
