//! A storage: a range of device memory, as handles that are counted.
//!
//! Promises that the record behind a storage is retired exactly once, by its last handle, whichever
//! of the typed and erased handles that is. Knows nothing of how memory is reused: see `record`.

use crate::error::Error;
use crate::record::Record;
use crate::sync::{Arc, AtomicUsize, Instant, Ordering, fence};
use gpu_seam::{Execute, StorageIdentity};
use std::any::Any;
use std::fmt;

/// What a counted handle needs of what stands behind it.
pub(crate) trait Retire: Send + Sync + 'static {
    /// How many handles there are.
    fn handles(&self) -> &AtomicUsize;
    /// Called once, by the last handle.
    fn retire(self: Arc<Self>);
}

/// A counted reference. The count is apart from the `Arc`'s own, so that the last handle can put
/// the record back without freeing it.
struct Handle<R: Retire + ?Sized>(Option<Arc<R>>);

impl<R: Retire + ?Sized> Clone for Handle<R> {
    fn clone(&self) -> Self {
        if let Some(record) = &self.0 {
            record.handles().fetch_add(1, Ordering::Relaxed);
        }
        Self(self.0.clone())
    }
}

impl<R: Retire + ?Sized> Drop for Handle<R> {
    fn drop(&mut self) {
        if let Some(record) = self.0.take()
            && record.handles().fetch_sub(1, Ordering::Release) == 1
        {
            // What other handles did happens before the reuse.
            fence(Ordering::Acquire);
            record.retire();
        }
    }
}

/// A range of an engine's device memory: pending, then ready or failed.
///
/// A handle: clones name the same bytes, and the memory is reused once the last is gone and the
/// device is done with it. Dropping never waits. Forgetting it leaks it.
pub struct Storage<B: Execute>(Handle<Record<B>>);

impl<B: Execute> Clone for Storage<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Execute> Storage<B> {
    /// The first handle of a record whose count is 1.
    pub(crate) fn first(record: Arc<Record<B>>) -> Self {
        Self(Handle(Some(record)))
    }

    pub(crate) fn record(&self) -> &Arc<Record<B>> {
        match &self.0.0 {
            Some(record) => record,
            None => unreachable!("a handle is emptied only by its drop"),
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.record().bytes()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of this grant: never reused within the process's engine.
    #[must_use]
    pub fn grant_id(&self) -> u64 {
        self.record().grant_id()
    }

    /// The vendor allocation it lies in and its first byte there; `None` when it has no bytes.
    #[must_use]
    pub fn place(&self) -> Option<(StorageIdentity, usize)> {
        self.record().place()
    }

    /// Whether its bytes may be seen now. Does not block.
    ///
    /// # Errors
    /// Why they never may be: the original cause.
    pub fn poll(&self) -> Result<bool, Error> {
        self.record().engine.poll_storage(self.record())
    }

    /// Waits until its bytes may be seen.
    ///
    /// # Errors
    /// Why they never may be: the original cause.
    pub fn wait(&self) -> Result<(), Error> {
        self.record().engine.wait_storage(self.record(), None)
    }

    /// Waits until its bytes may be seen, or until `deadline`.
    ///
    /// # Errors
    /// [`Error::Deadline`], or why they never may be.
    pub fn wait_until(&self, deadline: Instant) -> Result<(), Error> {
        self.record()
            .engine
            .wait_storage(self.record(), Some(deadline))
    }

    /// The same storage with its vendor erased.
    #[must_use]
    pub fn erase(self) -> DynStorage {
        let mut handle = self.0;
        let record = handle.0.take();
        DynStorage(Handle(record.map(|record| record as Arc<dyn AnyRecord>)))
    }
}

impl<B: Execute> fmt::Debug for Storage<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("grant", &self.grant_id())
            .field("bytes", &self.len())
            .field("lane", &self.record().home.id)
            .finish_non_exhaustive()
    }
}

/// What an erased storage can do.
trait AnyRecord: Retire {
    fn len(&self) -> usize;
    fn poll(&self) -> Result<bool, Error>;
    fn wait(&self, deadline: Option<Instant>) -> Result<(), Error>;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<B: Execute> AnyRecord for Record<B> {
    fn len(&self) -> usize {
        self.bytes()
    }

    fn poll(&self) -> Result<bool, Error> {
        self.engine.poll_storage(self)
    }

    fn wait(&self, deadline: Option<Instant>) -> Result<(), Error> {
        self.engine.wait_storage(self, deadline)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// A [`Storage`] whose vendor is not in the type.
#[derive(Clone)]
pub struct DynStorage(Handle<dyn AnyRecord>);

impl DynStorage {
    fn any(&self) -> &dyn AnyRecord {
        match &self.0.0 {
            Some(record) => &**record,
            None => unreachable!("a handle is emptied only by its drop"),
        }
    }

    /// What stands behind it, if it is of vendor `B`.
    pub(crate) fn record<B: Execute>(&self) -> Option<&Record<B>> {
        self.any().as_any().downcast_ref()
    }

    /// The typed storage, if it is of vendor `B`; a new handle.
    #[must_use]
    pub fn typed<B: Execute>(&self) -> Option<Storage<B>> {
        self.record::<B>()?;
        let mut handle = self.0.clone();
        let record = handle.0.take()?.into_any().downcast::<Record<B>>().ok()?;
        Some(Storage(Handle(Some(record))))
    }

    /// Gives this handle up, leaving an empty one that only a new value may follow.
    pub(crate) fn release(&mut self) {
        drop(std::mem::replace(&mut self.0, Handle(None)));
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.any().len()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`Storage::poll`].
    ///
    /// # Errors
    /// As there.
    pub fn poll(&self) -> Result<bool, Error> {
        self.any().poll()
    }

    /// As [`Storage::wait`].
    ///
    /// # Errors
    /// As there.
    pub fn wait(&self) -> Result<(), Error> {
        self.any().wait(None)
    }

    /// As [`Storage::wait_until`].
    ///
    /// # Errors
    /// As there.
    pub fn wait_until(&self, deadline: Instant) -> Result<(), Error> {
        self.any().wait(Some(deadline))
    }
}

impl fmt::Debug for DynStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynStorage")
            .field("bytes", &self.len())
            .finish_non_exhaustive()
    }
}
