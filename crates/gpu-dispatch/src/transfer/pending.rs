//! Downloads that go on while the caller does something else.
//!
//! Promises that state and host memory of a pending download belong to the engine, so that dropping
//! or forgetting the handle is harmless; that every wait and poll moves all of them forward; and
//! that the host memory comes back with the outcome, whichever it is. Knows nothing of element
//! types beyond the memory it is given.

use super::Download;
use crate::engine::Shared;
use crate::error::{Error, Rejected};
use crate::publication::{Outcome, Source};
use crate::record::Record;
use crate::storage::Storage;
use crate::sync::{Arc, AtomicUsize, Mutex, Ordering, lock};
use crate::verdict::{self, Verdicts};
use gpu_seam::Execute;
use std::any::Any;
use std::task::Waker;

/// Host memory that a download fills: element-typed, so that bytes land where they are used.
pub trait HostMemory: Any + Send {
    /// Its bytes. The same memory on every call.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Itself, to be cast back to its type.
    fn into_any(self: Box<Self>) -> Box<dyn Any + Send>;
}

/// Host memory of whatever type.
pub type HostBox = Box<dyn HostMemory>;

impl<T: bytemuck::Pod + Send> HostMemory for Vec<T> {
    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any + Send> {
        self
    }
}

/// The downloads that are under way.
pub(crate) struct Transfers<B: Execute> {
    count: AtomicUsize,
    list: Mutex<Vec<Arc<Transfer<B>>>>,
}

impl<B: Execute> Default for Transfers<B> {
    fn default() -> Self {
        Self {
            count: AtomicUsize::new(0),
            list: Mutex::new(Vec::new()),
        }
    }
}

/// One pending download.
pub(crate) struct Transfer<B: Execute> {
    engine: Arc<Shared<B>>,
    state: Mutex<State<B>>,
}

enum State<B: Execute> {
    Active(Box<Active<B>>),
    /// Taken out by a thread that moves it forward.
    Moving,
    Done(Outcome<HostBox>),
    Taken,
}

struct Active<B: Execute> {
    download: Download<B>,
    /// The verdicts that its bytes depend on are those of the source when it was started.
    verdicts: Verdicts,
    memory: HostBox,
    /// Whether all bytes have arrived.
    arrived: bool,
}

impl<B: Execute> Transfers<B> {
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn add(&self, transfer: Arc<Transfer<B>>) {
        let mut list = lock(&self.list);
        list.push(transfer);
        self.count.store(list.len(), Ordering::Release);
    }

    fn sweep(&self) {
        let mut list = lock(&self.list);
        list.retain(|transfer| !transfer.is_over());
        self.count.store(list.len(), Ordering::Release);
    }

    /// Ends whatever is still under way with `error`.
    pub(crate) fn fail_all(&self, error: impl Fn() -> Error) {
        let list = lock(&self.list).clone();
        for transfer in list {
            let active = transfer.take_active();
            if let Some(active) = active {
                transfer.finish(*active, Err(error()));
            }
        }
        self.sweep();
    }
}

impl<B: Execute> Transfer<B> {
    fn is_over(&self) -> bool {
        matches!(*lock(&self.state), State::Done(_) | State::Taken)
    }

    fn take_active(&self) -> Option<Box<Active<B>>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Moving) {
            State::Active(active) => Some(active),
            other => {
                *state = other;
                None
            }
        }
    }

    fn finish(&self, active: Active<B>, outcome: Result<(), Error>) {
        let Active {
            download, memory, ..
        } = active;
        // Before the outcome can be seen: its chunks are back in the ring.
        drop(download);
        *lock(&self.state) = State::Done(match outcome {
            Ok(()) => Ok(memory),
            Err(cause) => Err(Rejected {
                value: memory,
                cause,
            }),
        });
    }

    /// Moves one step, unless another thread does.
    fn advance(&self, shared: &Shared<B>) {
        let Some(mut active) = self.take_active() else {
            return;
        };
        match active.step(shared) {
            Ok(false) => *lock(&self.state) = State::Active(active),
            Ok(true) => self.finish(*active, Ok(())),
            Err(error) => self.finish(*active, Err(error)),
        }
    }
}

impl<B: Execute> Active<B> {
    fn step(&mut self, shared: &Shared<B>) -> Result<bool, Error> {
        if !self.arrived {
            self.arrived = self.download.step(shared, self.memory.bytes_mut())?;
            if !self.arrived {
                return Ok(false);
            }
        }
        verdict::settle(&mut self.verdicts)?;
        if self.verdicts.is_empty() {
            return Ok(true);
        }
        shared.collect_verdicts()?;
        Ok(false)
    }
}

impl<B: Execute> Shared<B> {
    /// Moves every pending download forward, and every read of verdicts.
    pub(crate) fn pump(&self) {
        self.move_readings();
        if self.transfers.is_empty() {
            return;
        }
        let list = lock(&self.transfers.list).clone();
        for transfer in &list {
            transfer.advance(self);
        }
        if list.iter().any(|transfer| transfer.is_over()) {
            self.transfers.sweep();
        }
    }

    /// Starts a download of `memory`'s length from byte `at` of `storage`.
    pub(crate) fn start_download(
        self: &Arc<Self>,
        storage: &Storage<B>,
        at: usize,
        mut memory: HostBox,
    ) -> Result<Arc<Transfer<B>>, Rejected<HostBox>> {
        let len = memory.bytes_mut().len();
        let mut verdicts = Verdicts::new();
        let checked = self
            .check_download(storage, at, len)
            .and_then(|()| storage.record().inspect(&mut verdicts));
        if let Err(cause) = checked {
            return Err(Rejected {
                value: memory,
                cause,
            });
        }
        let download = Download::new(storage, at, len);
        let active = Active {
            download,
            verdicts,
            memory,
            arrived: false,
        };
        let transfer = Arc::new(Transfer {
            engine: Arc::clone(self),
            state: Mutex::new(State::Active(Box::new(active))),
        });
        // So that copies are enqueued now, in the order of the calls.
        transfer.advance(self);
        if !transfer.is_over() {
            self.transfers.add(Arc::clone(&transfer));
        }
        Ok(transfer)
    }
}

impl<B: Execute> Source<HostBox> for Transfer<B> {
    fn poll(&self) -> bool {
        if self.is_over() {
            return true;
        }
        // A failed device ends the transfer through its own step.
        if !self.engine.is_forked() {
            let _ = self.engine.poll_tracks();
            self.engine.pump();
        }
        self.is_over()
    }

    fn take(&self) -> Option<Outcome<HostBox>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Done(outcome) => Some(outcome),
            other => {
                *state = other;
                None
            }
        }
    }

    fn wake_when_ready(self: Arc<Self>, waker: Waker) {
        let engine = Arc::clone(&self.engine);
        engine.waiter.add(Box::new(move || self.poll()), waker);
    }
}

/// Readiness of a storage, as something to wait for.
pub(crate) struct Ready<B: Execute> {
    pub(crate) storage: Storage<B>,
}

impl<B: Execute> Source<()> for Ready<B> {
    fn poll(&self) -> bool {
        let record: &Record<B> = self.storage.record();
        !matches!(record.engine.poll_storage(record), Ok(false))
    }

    fn take(&self) -> Option<Outcome<()>> {
        match self.storage.poll() {
            Ok(true) => Some(Ok(())),
            Ok(false) => None,
            Err(cause) => Some(Err(Rejected { value: (), cause })),
        }
    }

    fn wake_when_ready(self: Arc<Self>, waker: Waker) {
        let engine = Arc::clone(&self.storage.record().engine);
        engine.waiter.add(Box::new(move || self.poll()), waker);
    }
}
