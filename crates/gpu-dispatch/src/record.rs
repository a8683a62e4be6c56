//! What stands behind the handles of one storage: its block, who wrote and read it last, its state.
//!
//! Promises that a record goes back for reuse exactly once, when its last handle is gone, with the
//! frontier of everything that touches it. The record and its block are recycled as one, so that a
//! grant in steady state allocates nothing. Knows nothing of dtypes or shapes.

use crate::engine::Shared;
use crate::error::Error;
use crate::lane::Track;
use crate::memory::{Block, Frontier, Owner};
use crate::mutant;
use crate::storage::{Retire, Storage};
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use crate::vendor;
use crate::verdict::{self, Verdicts};
use gpu_seam::{Arg, Execute, GpuError, StorageIdentity};
use smallvec::SmallVec;

/// What stands behind the handles of one storage.
pub(crate) struct Record<B: Execute> {
    /// `None` when it has no bytes.
    block: Option<Block<B>>,
    /// The lane it was granted to, and is reused on.
    pub(crate) home: Arc<Track<B>>,
    // After `block` and `home`: whoever is last to go finds neither in use.
    pub(crate) engine: Arc<Shared<B>>,
    handles: AtomicUsize,
    bytes: AtomicUsize,
    /// Never reused: the identity of this grant.
    grant: AtomicU64,
    /// The last submission on the home lane that wrote it; 0 for none.
    written: AtomicU64,
    /// Whether `marks` holds anything: the hot path looks no further when it does not.
    marked: AtomicBool,
    marks: Mutex<Marks<B>>,
}

/// What is out of the ordinary about a storage.
struct Marks<B: Execute> {
    /// Its last writer, when that was another lane.
    writer: Option<(Arc<Track<B>>, u64)>,
    /// Its last reader on each other lane.
    readers: SmallVec<[(Arc<Track<B>>, u64); 2]>,
    /// Indexing operations that it depends on.
    verdicts: Verdicts,
    /// Why its bytes must never be seen.
    failure: Option<Error>,
}

impl<B: Execute> Record<B> {
    pub(crate) fn new(
        engine: Arc<Shared<B>>,
        home: Arc<Track<B>>,
        block: Option<Block<B>>,
    ) -> Self {
        Self {
            engine,
            home,
            block,
            handles: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            grant: AtomicU64::new(0),
            written: AtomicU64::new(0),
            marked: AtomicBool::new(false),
            marks: Mutex::new(Marks {
                writer: None,
                readers: SmallVec::new(),
                verdicts: SmallVec::new(),
                failure: None,
            }),
        }
    }

    /// Makes a fresh or recycled record the storage of a new grant; gives its first handle.
    pub(crate) fn grant(self: Arc<Self>, bytes: usize) -> Storage<B> {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.grant
            .store(self.engine.next_grant(), Ordering::Relaxed);
        self.written.store(0, Ordering::Relaxed);
        self.handles.store(1, Ordering::Release);
        self.engine.usage.grant(bytes);
        Storage::first(self)
    }

    /// The number of this grant.
    pub(crate) fn grant_id(&self) -> u64 {
        self.grant.load(Ordering::Relaxed)
    }

    /// The vendor allocation it lies in and its first byte there; `None` when it has no bytes.
    pub(crate) fn place(&self) -> Option<(StorageIdentity, usize)> {
        self.block.as_ref().map(Block::place)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// A range of its block as an argument. The range was validated; one outside answers a bug
    /// report, never a wild access.
    pub(crate) fn arg(&self, offset: usize, len: usize) -> Result<Arg<'_, B>, GpuError> {
        self.block
            .as_ref()
            .and_then(|block| block.arg(offset, len))
            .ok_or_else(|| GpuError::Broken {
                detail: format!(
                    "a bug in gpu-dispatch: bytes {offset}+{len} of a storage of {} bytes",
                    self.bytes()
                ),
            })
    }

    /// Bytes from the start of the storage to the end of its block.
    pub(crate) fn capacity(&self) -> usize {
        self.block.as_ref().map_or(0, Block::len)
    }

    /// Notes that submission `seq` of `track` wrote it; nothing else touches it at that point
    /// without being ordered before.
    pub(crate) fn set_written(&self, track: &Arc<Track<B>>, seq: u64) {
        if Arc::ptr_eq(track, &self.home) {
            self.written.fetch_max(seq, Ordering::AcqRel);
            if self.marked.load(Ordering::Acquire) {
                lock(&self.marks).writer = None;
            }
        } else {
            let mut marks = lock(&self.marks);
            marks.writer = Some((Arc::clone(track), seq)).filter(|_| !mutant::on("writer-unnoted"));
            self.marked.store(true, Ordering::Release);
        }
    }

    /// Notes that submission `seq` of `track` reads it. Readers on the home lane need no note.
    pub(crate) fn add_reader(&self, track: &Arc<Track<B>>, seq: u64) {
        if Arc::ptr_eq(track, &self.home) || mutant::on("reader-unnoted") {
            return;
        }
        let mut marks = lock(&self.marks);
        match marks
            .readers
            .iter_mut()
            .find(|(reader, _)| Arc::ptr_eq(reader, track))
        {
            Some((_, last)) => *last = seq.max(*last),
            None => {
                marks
                    .readers
                    .retain(|(reader, seq)| !reader.is_complete(*seq));
                marks.readers.push((Arc::clone(track), seq));
            }
        }
        self.marked.store(true, Ordering::Release);
    }

    /// Makes it depend on `verdicts`.
    pub(crate) fn add_verdicts(&self, verdicts: Verdicts) {
        if !verdicts.is_empty() {
            lock(&self.marks).verdicts.extend(verdicts);
            self.marked.store(true, Ordering::Release);
        }
    }

    /// Makes it failed for good.
    pub(crate) fn fail(&self, failure: Error) {
        lock(&self.marks).failure.get_or_insert(failure);
        self.marked.store(true, Ordering::Release);
    }

    /// Its failure, if known; its open verdicts are added to `open`.
    pub(crate) fn inspect(&self, open: &mut Verdicts) -> Result<(), Error> {
        if !self.marked.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut marks = lock(&self.marks);
        if mutant::on("failure-forgotten") {
            return Ok(());
        }
        if let Some(failure) = &marks.failure {
            return Err(failure.clone());
        }
        if let Err(failure) = verdict::settle(&mut marks.verdicts) {
            marks.failure = Some(failure.clone());
            return Err(failure);
        }
        open.extend(marks.verdicts.iter().cloned());
        Ok(())
    }

    /// The submission that wrote it last, `None` when that has been seen to complete.
    pub(crate) fn pending_writer(&self) -> Option<(Arc<Track<B>>, u64)> {
        if self.marked.load(Ordering::Acquire)
            && let Some((track, seq)) = &lock(&self.marks).writer
        {
            return (!track.is_complete(*seq)).then(|| (Arc::clone(track), *seq));
        }
        let seq = self.written.load(Ordering::Acquire);
        (!self.home.is_complete(seq)).then(|| (Arc::clone(&self.home), seq))
    }

    /// Whether work on `track` sees its bytes without a wait: written on that lane itself.
    pub(crate) fn is_ordered_on(&self, track: &Arc<Track<B>>) -> bool {
        Arc::ptr_eq(track, &self.home) && !self.marked.load(Ordering::Acquire)
    }

    /// Everything that must have completed before bytes may be overwritten by anyone: the last
    /// writer, the readers on other lanes, and all that the home lane was given.
    pub(crate) fn frontier(&self) -> SmallVec<[(Arc<Track<B>>, u64); 2]> {
        let mut all = SmallVec::new();
        let seq = self.home.published_seq();
        if !self.home.is_complete(seq) {
            all.push((Arc::clone(&self.home), seq));
        }
        if self.marked.load(Ordering::Acquire) {
            let marks = lock(&self.marks);
            let others = marks.writer.iter().chain(&marks.readers);
            all.extend(
                others
                    .filter(|(track, seq)| !track.is_complete(*seq))
                    .cloned(),
            );
        }
        all
    }

    /// Whether this handle is the only one: a writer may then write in place.
    pub(crate) fn is_unique(&self) -> bool {
        self.handles.load(Ordering::Acquire) == 1 || mutant::on("copy-on-write-skipped")
    }

    /// Clears what a grant left behind; gives the points on other lanes that are still to complete.
    fn clear(&self) -> Frontier {
        if !self.marked.swap(false, Ordering::AcqRel) {
            return Frontier::new();
        }
        let mut marks = lock(&self.marks);
        let others = marks.writer.iter().chain(&marks.readers);
        let open = others
            .filter(|(track, seq)| !track.is_complete(*seq))
            .map(|(track, seq)| (track.id, *seq))
            .collect();
        marks.writer = None;
        marks.readers.clear();
        marks.verdicts.clear();
        marks.failure = None;
        open
    }
}

impl<B: Execute> Retire for Record<B> {
    fn handles(&self) -> &AtomicUsize {
        &self.handles
    }

    /// The last handle is gone.
    fn retire(self: Arc<Self>) {
        let engine = &self.engine;
        if engine.generation != vendor::generation() {
            // A forked child: no lock may be taken, nothing may be given back.
            std::mem::forget(self);
            return;
        }
        let bytes = self.bytes();
        engine.usage.release(bytes);
        let mut foreign = self.clear();
        if mutant::on("foreign-readers-forgotten") {
            foreign.clear();
        }
        let Some(block) = &self.block else { return };
        let seq = self.home.published_seq();
        let idle = foreign.is_empty() && self.home.is_complete(seq);
        let open = engine.is_open();
        if !open || !foreign.is_empty() {
            if idle {
                engine.pool.release(block, Owner::Anyone);
            } else if engine.status.may_complete() {
                // A close that drains the engine sees it complete, too.
                let mut frontier = foreign;
                frontier.push((self.home.id, seq));
                engine.pool.release(block, Owner::Nobody(frontier));
            } else {
                engine.quarantine(block.len(), &self.home);
            }
            if !open {
                let engine = Arc::clone(engine);
                // Its hold on the segment ends before the segment is looked at.
                drop(self);
                engine.storage_gone();
            }
            return;
        }
        // In this order: the last to go finds the lane in use by nobody.
        let engine = Arc::clone(engine);
        let (home, len) = (Arc::clone(&self.home), block.len());
        if home.retired.load(Ordering::Acquire) {
            engine.pool.release(block, Owner::Lane { id: home.id, seq });
            return;
        }
        match home.bins.keep(self, len) {
            // Closed meanwhile, after the bins were emptied: nobody would empty them again.
            Ok(()) if !engine.is_open() || home.retired.load(Ordering::Acquire) => {
                engine.flush(&home);
            }
            Ok(()) => {}
            Err(record) => {
                if let Some(block) = &record.block {
                    engine.pool.release(block, Owner::Lane { id: home.id, seq });
                }
            }
        }
    }
}

impl<B: Execute> Record<B> {
    /// Gives the block of a binned record back to the pool.
    pub(crate) fn unbin(&self) {
        if let Some(block) = &self.block {
            let seq = self.home.published_seq();
            let owner = if self.home.is_complete(seq) {
                Owner::Anyone
            } else {
                Owner::Lane {
                    id: self.home.id,
                    seq,
                }
            };
            self.engine.pool.release(block, owner);
        }
    }
}
