//! A lane's fault ring: the slots where indexing operations note a bad index.
//!
//! A submission takes a slot and an open [`Verdict`] for each of its indexing operations before it
//! executes the first; a host wait that needs a verdict has the ring read behind the operations that
//! were published by then. Promises that a slot is reused only after it was read and holds zeros,
//! that one read at a time is under way, and that whoever waits for slots holds none. Knows nothing
//! of what an operation looked up.

use crate::budget::{Admission, Budget};
use crate::canonical::MAX_LOOKUPS;
use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::memory::ALIGN;
use crate::mutant;
use crate::storage::Storage;
use crate::sync::{Arc, Backoff, lock};
use crate::transfer::Download;
use crate::verdict::Verdict;
use gpu_seam::{DType, Execute, FAULT_SLOT_BYTES, GpuError, Op, Scalar, View};
use smallvec::SmallVec;

/// Slots of one lane. A full ring makes the submitter wait for a read.
const SLOTS: usize = 64;
const _: () = assert!(
    MAX_LOOKUPS <= SLOTS,
    "a submission takes all its slots at once"
);
/// Bytes from one slot to the next: a slot is an argument, and arguments are aligned.
const STRIDE: usize = ALIGN;
/// Bytes of one ring.
const BYTES: usize = SLOTS * STRIDE;
const _: () = assert!(STRIDE >= FAULT_SLOT_BYTES, "a slot must hold its words");

/// The ring of one lane; empty until its first indexing operation.
pub(crate) struct FaultRing<B: Execute> {
    storage: Option<Storage<B>>,
    slots: [Option<Ticket>; SLOTS],
    reading: Reader<B>,
}

/// The one read of a ring.
enum Reader<B: Execute> {
    Idle,
    /// Enqueued, and nobody looks at it.
    Waiting(Reading<B>),
    /// A thread moves it forward, without the lock.
    Moving,
}

/// A slot in use.
#[derive(Clone)]
struct Ticket {
    verdict: Arc<Verdict>,
    /// Whether the operation has been published: a read enqueued from now on is behind it.
    published: bool,
}

/// A read that is under way.
struct Reading<B: Execute> {
    download: Download<B>,
    bytes: Box<[u8; BYTES]>,
    /// The tickets that were published when the read was enqueued, by slot.
    covers: Vec<(usize, Arc<Verdict>)>,
}

impl<B: Execute> FaultRing<B> {
    pub(crate) fn new() -> Self {
        Self {
            storage: None,
            slots: std::array::from_fn(|_| None),
            reading: Reader::Idle,
        }
    }

    /// All the slots of a submission, or none.
    fn take_slots(&mut self, op: &'static str, sizes: &[usize]) -> Option<SmallVec<[Taken<B>; 1]>> {
        let ring = self.storage.clone()?;
        let free = self.slots.iter().filter(|slot| slot.is_none()).count();
        if free < sizes.len() {
            return None;
        }
        let empty = self.slots.iter_mut().enumerate();
        let empty = empty.filter(|(_, slot)| slot.is_none());
        let taken = empty.zip(sizes).map(|((slot, place), &size)| {
            let verdict = Arc::new(Verdict::new(op, size));
            *place = Some(Ticket {
                verdict: Arc::clone(&verdict),
                published: false,
            });
            Taken {
                ring: ring.clone(),
                offset: slot * STRIDE,
                verdict,
                slot,
            }
        });
        Some(taken.collect())
    }

    /// Whether an operation's verdict is still to be read.
    pub(crate) fn is_awaited(&self) -> bool {
        self.slots.iter().any(Option::is_some)
    }

    /// Lets the ring's memory go, to be dropped without the lock.
    pub(crate) fn take(&mut self) -> impl Sized + use<B> {
        let reading = std::mem::replace(&mut self.reading, Reader::Idle);
        (self.storage.take(), reading)
    }
}

/// A slot and its verdict, from before the execute until the publication.
pub(crate) struct Taken<B: Execute> {
    pub(crate) ring: Storage<B>,
    /// Byte offset of the slot in the ring.
    pub(crate) offset: usize,
    pub(crate) verdict: Arc<Verdict>,
    slot: usize,
}

impl<B: Execute> Shared<B> {
    /// Takes the slots of one submission on `track`, all at once: one for each operation that looks
    /// up a dimension, whose `sizes` are given.
    pub(crate) fn take_fault_slots(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        op: &'static str,
        sizes: &[usize],
        policy: Admission,
    ) -> Result<SmallVec<[Taken<B>; 1]>, Error> {
        let deadline = match policy {
            Admission::WaitUntil(deadline) => Some(deadline),
            Admission::Wait | Admission::Reject => None,
        };
        let mut backoff = Backoff::new();
        let mut tried = false;
        while !sizes.is_empty() {
            self.ensure_ring(track, policy)?;
            if let Some(taken) = lock(&track.faults).take_slots(op, sizes) {
                return Ok(taken);
            }
            if tried && policy == Admission::Reject {
                let bytes = BYTES;
                return Err(Error::gpu(op, GpuError::Backpressure { bytes }));
            }
            if tried && !backoff.pause(deadline) {
                return Err(Error::Deadline { op });
            }
            self.collect_track(track)?;
            tried = true;
        }
        Ok(SmallVec::new())
    }

    /// The operation has been published: a read may cover it.
    pub(crate) fn publish_fault_slot(&self, track: &Track<B>, taken: &Taken<B>) {
        if let Some(ticket) = &mut lock(&track.faults).slots[taken.slot] {
            ticket.published = true;
        }
    }

    /// The operation was not enqueued: its slot still holds zeros.
    pub(crate) fn return_fault_slot(&self, track: &Track<B>, taken: &Taken<B>) {
        taken.verdict.decide(None);
        lock(&track.faults).slots[taken.slot] = None;
    }

    /// Moves the reading of every lane's open verdicts forward, without blocking.
    pub(crate) fn collect_verdicts(&self) -> Result<(), Error> {
        self.all_tracks()
            .iter()
            .try_for_each(|track| self.collect_track(track))
    }

    /// Moves the reads that are under way forward: they hold staging chunks that others wait for.
    pub(crate) fn move_readings(&self) {
        let reading: SmallVec<[Arc<Track<B>>; 2]> = lock(&self.tracks)
            .iter()
            .filter(|track| matches!(lock(&track.faults).reading, Reader::Waiting(_)))
            .cloned()
            .collect();
        for track in reading
            .into_iter()
            .filter(|_| !mutant::on("readings-unmoved"))
        {
            // A read that fails is begun anew, and then fails whoever needs its verdicts.
            let _ = self.collect_track(&track);
        }
    }

    fn collect_track(&self, track: &Arc<Track<B>>) -> Result<(), Error> {
        let Some(mut reading) = self.begin_reading(track) else {
            return Ok(());
        };
        let stepped = self
            .poll_tracks()
            .map_err(|cause| Error::gpu("index check", cause))
            .and_then(|()| reading.download.step(self, &mut reading.bytes[..]));
        let (then, outcome) = match stepped {
            Ok(false) => (Reader::Waiting(reading), Ok(())),
            Ok(true) => (Reader::Idle, self.decide(track, reading)),
            Err(error) => (Reader::Idle, Err(error)),
        };
        lock(&track.faults).reading = then;
        outcome
    }

    /// The read, taken out so that no lock is held while it moves; a new one if there is none and
    /// something is to be read. None while another thread moves it: two reads could disagree on a
    /// slot that was cleared, or taken again, between them.
    fn begin_reading(&self, track: &Arc<Track<B>>) -> Option<Reading<B>> {
        let mut faults = lock(&track.faults);
        match std::mem::replace(&mut faults.reading, Reader::Moving) {
            Reader::Waiting(reading) => return Some(reading),
            Reader::Moving => return None,
            Reader::Idle => {}
        }
        let begun = self.new_reading(track, &faults);
        if begun.is_none() {
            faults.reading = Reader::Idle;
        }
        begun
    }

    /// A read of what has been published so far, not yet enqueued.
    fn new_reading(&self, track: &Arc<Track<B>>, faults: &FaultRing<B>) -> Option<Reading<B>> {
        let covers: Vec<_> = faults
            .slots
            .iter()
            .enumerate()
            .filter_map(|(slot, ticket)| Some((slot, ticket.as_ref()?)))
            .filter(|(_, ticket)| ticket.published)
            .map(|(slot, ticket)| (slot, Arc::clone(&ticket.verdict)))
            .collect();
        if covers.is_empty() {
            return None;
        }
        let ring = faults.storage.clone()?;
        // Behind everything published on this lane, the covered operations among it.
        ring.record().set_written(track, track.published_seq());
        let download = Download::new(&ring, 0, BYTES);
        Some(Reading {
            download,
            bytes: Box::new([0; BYTES]),
            covers,
        })
    }

    /// Decides what a finished read covers, and makes bad slots zero again.
    fn decide(&self, track: &Arc<Track<B>>, reading: Reading<B>) -> Result<(), Error> {
        for (slot, verdict) in reading.covers {
            let at = slot * STRIDE;
            let word = |n: usize| {
                let at = at + 4 * n;
                let mut word = [0; 4];
                word.copy_from_slice(&reading.bytes[at..at + 4]);
                u32::from_le_bytes(word)
            };
            let bad = word(0) != 0;
            let index = (u64::from(word(1)) | u64::from(word(2)) << 32).cast_signed();
            verdict.decide(
                bad.then_some(index)
                    .filter(|_| !mutant::on("bad-index-good")),
            );
            if bad && !mutant::on("slot-left-dirty") {
                self.clear_slot(track, at)?;
            }
            let mut faults = lock(&track.faults);
            let same = |ticket: &Ticket| Arc::ptr_eq(&ticket.verdict, &verdict);
            if faults.slots[slot].as_ref().is_some_and(same) {
                faults.slots[slot] = None;
            }
        }
        Ok(())
    }

    /// Zeroes one slot on the lane itself, behind everything that wrote it.
    fn clear_slot(&self, track: &Arc<Track<B>>, at: usize) -> Result<(), Error> {
        let ring = lock(&track.faults).storage.clone();
        ring.map_or(Ok(()), |ring| self.zero(track, &ring, at, FAULT_SLOT_BYTES))
    }

    fn ensure_ring(
        self: &Arc<Self>,
        track: &Arc<Track<B>>,
        policy: Admission,
    ) -> Result<(), Error> {
        const OP: &str = "index check";
        if lock(&track.faults).storage.is_some() {
            return Ok(());
        }
        let ring = self.allocate(track, BYTES, OP, policy)?;
        if BYTES <= self.capabilities().max_operand_bytes {
            self.zero(track, &ring, 0, BYTES)?;
        } else {
            (0..SLOTS)
                .try_for_each(|slot| self.zero(track, &ring, slot * STRIDE, FAULT_SLOT_BYTES))?;
        }
        // Another thread may have been faster; its ring stays, and this one goes back.
        lock(&track.faults).storage.get_or_insert(ring);
        Ok(())
    }

    /// Enqueues zeros over a range of whole words of a ring.
    fn zero(
        &self,
        track: &Arc<Track<B>>,
        ring: &Storage<B>,
        at: usize,
        len: usize,
    ) -> Result<(), Error> {
        const OP: &str = "index check";
        let failed = |cause: GpuError| self.failed(OP, cause);
        let dims = [len / 4];
        let out = View::new(DType::U32, 0, &dims, &[1]);
        let op = Op::Fill {
            out,
            value: Scalar::zero(DType::U32),
        };
        self.vendor.plan(&op).map_err(failed)?;
        let arg = ring.record().arg(at, len).map_err(failed)?;
        // The charge of a submission, beside the queue: whoever waits for a verdict must not wait
        // for the budget.
        let charge = Budget::charge(0);
        self.budget.charge_now(charge);
        let executed = self.status.enter_pending().and_then(|inside| {
            let stream = track.stream()?;
            self.vendor.execute(stream, &op, &[arg], None)?;
            Ok(inside)
        });
        match executed {
            Ok(_inside) => {
                let extent = track.publish(OP, charge);
                ring.record().set_written(track, extent.seq);
                Ok(())
            }
            Err(cause) => {
                self.budget.give_back(charge);
                Err(self.failed(OP, cause))
            }
        }
    }
}
