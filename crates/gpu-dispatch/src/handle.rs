//! `Lane<B>`: the typed handle that work is submitted through.
//!
//! Promises that a lane lives while a handle or unfinished work does, and that its stream is
//! destroyed afterwards. Knows nothing of how work is lowered or moved.

use crate::budget::Admission;
use crate::call::Call;
use crate::engine::Engine;
use crate::error::{Error, Rejected};
use crate::face::{Face, Output};
use crate::lane::Track;
use crate::memory::MemoryReport;
use crate::publication::{Pending, Typed, typed_rejection};
use crate::record::Record;
use crate::storage::{DynStorage, Storage};
use crate::sync::{Arc, Instant, Ordering};
use crate::transfer::{HostBox, HostMemory, Ready};
use gpu_seam::{AllocationDomainId, DeviceInfo, Execute, GpuError};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt;

/// An engine and one of its lanes. A handle: clones are the same lane.
pub struct Lane<B: Execute> {
    // Before `engine`: whoever is last to go finds no lane in use.
    track: Arc<Track<B>>,
    engine: Engine<B>,
    admission: Admission,
}

impl<B: Execute> Lane<B> {
    pub(crate) fn new(engine: Engine<B>, track: Arc<Track<B>>) -> Self {
        track.handles.fetch_add(1, Ordering::Relaxed);
        let admission = engine.shared.admission;
        Self {
            engine,
            track,
            admission,
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &Engine<B> {
        &self.engine
    }

    /// The lane's number, never reused within its engine; the default lane's is 0.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.track.id
    }

    /// The same lane with another admission policy.
    #[must_use]
    pub fn with_admission(&self, admission: Admission) -> Self {
        let mut lane = self.clone();
        lane.admission = admission;
        lane
    }

    /// As [`Face::submit`].
    ///
    /// # Errors
    /// As there.
    pub fn submit(
        &self,
        call: &Call<'_>,
        inputs: &[&Storage<B>],
    ) -> Result<Output<Storage<B>>, Error> {
        let records: SmallVec<[&Record<B>; 4]> =
            inputs.iter().map(|storage| &**storage.record()).collect();
        self.engine
            .shared
            .submit(&self.track, call, &records, self.admission)
    }

    /// As [`Face::allocate`].
    ///
    /// # Errors
    /// As there.
    pub fn allocate(&self, bytes: usize) -> Result<Storage<B>, Error> {
        const OP: &str = "allocate";
        self.engine.shared.check(OP)?;
        self.engine
            .shared
            .allocate(&self.track, bytes, OP, self.admission)
    }

    /// As [`Face::upload`].
    ///
    /// # Errors
    /// As there.
    pub fn upload(&self, bytes: &[u8]) -> Result<Storage<B>, Error> {
        self.engine
            .shared
            .upload(&self.track, bytes, self.admission)
    }

    /// As [`Face::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&self, storage: &mut Storage<B>, at: usize, bytes: &[u8]) -> Result<(), Error> {
        self.engine
            .shared
            .write(&self.track, storage, at, bytes, self.admission)
    }

    /// As [`Face::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, storage: &Storage<B>, at: usize, into: &mut [u8]) -> Result<(), Error> {
        self.engine.shared.read(storage, at, into, None)
    }

    /// As [`read`](Self::read), but at most until `deadline`.
    ///
    /// # Errors
    /// [`Error::Deadline`], or as there.
    pub fn read_until(
        &self,
        storage: &Storage<B>,
        at: usize,
        into: &mut [u8],
        deadline: Instant,
    ) -> Result<(), Error> {
        self.engine.shared.read(storage, at, into, Some(deadline))
    }

    /// As [`Face::download`], with the memory's own type.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// When `into` gives back another type from [`HostMemory::into_any`] than its own.
    pub fn download<M: HostMemory>(
        &self,
        storage: &Storage<B>,
        at: usize,
        into: M,
    ) -> Result<Pending<M>, Rejected<M>> {
        match self
            .engine
            .shared
            .start_download(storage, at, Box::new(into))
        {
            Ok(transfer) => Ok(Pending::new(Arc::new(Typed { inner: transfer }))),
            Err(rejected) => match typed_rejection(rejected) {
                Ok(rejected) => Err(rejected),
                Err(cause) => panic!("the host memory changed its type: {cause}"),
            },
        }
    }

    /// As [`Face::ready`].
    ///
    /// # Errors
    /// As there.
    pub fn ready(&self, storage: &Storage<B>) -> Result<Pending<()>, Error> {
        if !Arc::ptr_eq(&storage.record().engine, &self.engine.shared) {
            return Err(Error::gpu("ready", GpuError::ForeignDomain));
        }
        Ok(Pending::new(Arc::new(Ready {
            storage: storage.clone(),
        })))
    }

    /// Waits for everything submitted on this lane so far.
    ///
    /// # Errors
    /// `Broken` with the original failure.
    pub fn synchronize(&self) -> Result<(), Error> {
        const OP: &str = "synchronize";
        let shared = &self.engine.shared;
        shared.check_fork(OP)?;
        let point = (Arc::clone(&self.track), self.track.published_seq());
        shared.wait_points(OP, &[point], None).map(drop)
    }

    fn typed(&self, op: &'static str, storage: &DynStorage) -> Result<Storage<B>, Error> {
        storage
            .typed::<B>()
            .ok_or(Error::gpu(op, GpuError::ForeignDomain))
    }
}

impl<B: Execute> Clone for Lane<B> {
    fn clone(&self) -> Self {
        self.track.handles.fetch_add(1, Ordering::Relaxed);
        Self {
            engine: self.engine.clone(),
            track: Arc::clone(&self.track),
            admission: self.admission,
        }
    }
}

impl<B: Execute> Drop for Lane<B> {
    fn drop(&mut self) {
        // The default lane keeps a handle of its engine's own, so it never comes to this.
        if self.track.handles.fetch_sub(1, Ordering::AcqRel) == 1 && !self.engine.shared.is_forked()
        {
            self.track.retired.store(true, Ordering::Release);
            self.engine.shared.flush(&self.track);
        }
    }
}

impl<B: Execute> fmt::Debug for Lane<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("engine", &self.engine)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

impl<B: Execute> Face for Lane<B> {
    fn device(&self) -> &DeviceInfo {
        self.engine.device()
    }

    fn domain(&self) -> AllocationDomainId {
        self.engine.domain()
    }

    fn submit(&self, call: &Call<'_>, inputs: &[&DynStorage]) -> Result<Output<DynStorage>, Error> {
        let records: Option<SmallVec<[&Record<B>; 4]>> =
            inputs.iter().map(|storage| storage.record()).collect();
        let Some(records) = records else {
            return Err(Error::gpu(call.name(), GpuError::ForeignDomain));
        };
        let Output {
            storage,
            dims,
            dtype,
        } = self
            .engine
            .shared
            .submit(&self.track, call, &records, self.admission)?;
        Ok(Output {
            storage: storage.erase(),
            dims,
            dtype,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<DynStorage, Error> {
        self.allocate(bytes).map(Storage::erase)
    }

    fn upload(&self, bytes: &[u8]) -> Result<DynStorage, Error> {
        self.upload(bytes).map(Storage::erase)
    }

    fn write(&self, storage: &mut DynStorage, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let mut typed = self.typed("upload", storage)?;
        // Two handles would look like two users of one storage.
        storage.release();
        let written = self.write(&mut typed, at, bytes);
        *storage = typed.erase();
        written
    }

    fn read(&self, storage: &DynStorage, at: usize, into: &mut [u8]) -> Result<(), Error> {
        self.read(&self.typed("download", storage)?, at, into)
    }

    fn download(
        &self,
        storage: &DynStorage,
        at: usize,
        into: HostBox,
    ) -> Result<Pending<HostBox>, Rejected<HostBox>> {
        let typed = match self.typed("download", storage) {
            Ok(typed) => typed,
            Err(cause) => return Err(Rejected { value: into, cause }),
        };
        let transfer = self.engine.shared.start_download(&typed, at, into)?;
        Ok(Pending::new(transfer))
    }

    fn ready(&self, storage: &DynStorage) -> Result<Pending<()>, Error> {
        self.ready(&self.typed("ready", storage)?)
    }

    fn with_lane(&self) -> Result<Arc<dyn Face>, Error> {
        Ok(Arc::new(
            self.engine.new_lane()?.with_admission(self.admission),
        ))
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.engine.synchronize()
    }

    fn close(&self) -> Result<(), Error> {
        self.engine.close()
    }

    fn close_within(&self, deadline: Instant) -> Result<(), Error> {
        self.engine.close_within(deadline)
    }

    fn trim(&self) -> usize {
        self.engine.trim()
    }

    fn memory_report(&self) -> MemoryReport {
        self.engine.memory_report()
    }

    fn reset_peak(&self) {
        self.engine.reset_peak();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
