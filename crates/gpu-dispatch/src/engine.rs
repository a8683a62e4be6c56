//! `Engine<B>`: one device, opened: driver, domain, lanes, pool, pending budget, state.
//!
//! This file is opening and closing; what an engine does while open is in `dispatch`, `transfer`
//! and `progress`. Promises that close drains and is idempotent, that dropping the last handle waits
//! at most a short grace, and that a forked child's engines answer `Broken` and take no lock.

use crate::Lane;
use crate::budget::{Admission, Budget};
use crate::error::Error;
use crate::lane::Track;
use crate::memory::{MemoryReport, Pool, Usage};
use crate::mutant;
use crate::status::{Failure, Status};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Instant, Mutex, Ordering, lock, now};
use crate::transfer::{Ring, Transfers};
use crate::vendor::{self, Vendor};
use crate::waiter::Waiter;
use gpu_seam::{AllocationDomainId, Capabilities, DeviceInfo, Direction, Execute, GpuError};
use std::fmt;
use std::time::Duration;

/// How long dropping the last handle waits for the device.
const GRACE: Duration = Duration::from_millis(250);

/// What an engine is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Options {
    /// Bytes that may be submitted and not yet seen to complete. Default: half of device memory.
    pub pending_budget: Option<usize>,
    /// What a submission does when the budget is full.
    pub admission: Admission,
    /// Bytes of one staging chunk. Default: 4 MiB, less under a small budget.
    pub staging_chunk: Option<usize>,
    /// How many chunks a direction's staging ring has. Default: 4.
    pub staging_chunks: Option<usize>,
}

/// What all handles of one engine share.
pub(crate) struct Shared<B: Execute> {
    pub(crate) vendor: Vendor<B>,
    pub(crate) status: Status,
    pub(crate) budget: Budget,
    pub(crate) admission: Admission,
    pub(crate) pool: Pool<B>,
    pub(crate) usage: Usage,
    pub(crate) uploads: Ring<B>,
    pub(crate) downloads: Ring<B>,
    pub(crate) transfers: Transfers<B>,
    pub(crate) waiter: Waiter,
    /// Every lane that is not yet destroyed.
    pub(crate) tracks: Mutex<Vec<Arc<Track<B>>>>,
    next_track: AtomicU64,
    next_grant: AtomicU64,
    handles: AtomicUsize,
    /// The forks that separated this process from the first when the engine was opened.
    pub(crate) generation: u32,
}

/// An open device. A handle: clones are the same engine; the last one to go closes it.
pub struct Engine<B: Execute> {
    // Before `shared`: whoever is last to go finds no lane in use.
    default: Arc<Track<B>>,
    pub(crate) shared: Arc<Shared<B>>,
}

impl<B: Execute> Engine<B> {
    /// Opens an engine over `driver`, with the default options.
    ///
    /// # Errors
    /// The driver's refusal to create a stream.
    pub fn new(driver: B) -> Result<Self, Error> {
        Self::with_options(driver, Options::default())
    }

    /// Opens an engine over `driver`.
    ///
    /// # Errors
    /// The driver's refusal to create a stream.
    pub fn with_options(driver: B, options: Options) -> Result<Self, Error> {
        vendor::watch();
        let vendor = Vendor::new(driver);
        let capabilities = &vendor.driver().device().capabilities;
        let memory = vendor.driver().device().memory_bytes;
        let limit = options.pending_budget.unwrap_or(memory / 2);
        let budget = Budget::new(limit);
        let granularity = capabilities.copy_granularity;
        let chunk = options
            .staging_chunk
            .unwrap_or((limit / 16).clamp(64 << 10, 4 << 20));
        let chunk = chunk
            .clamp(1, capabilities.max_allocation_bytes)
            .next_multiple_of(granularity);
        let chunks = options.staging_chunks.unwrap_or(4).max(1);
        let pool = Pool::new(capabilities.max_allocation_bytes);
        let stream = vendor
            .create_stream()
            .map_err(|cause| Error::gpu("open", cause))?;
        let default = Arc::new(Track::new(0, stream));
        default.handles.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::new(Shared {
            vendor,
            status: Status::default(),
            budget,
            admission: options.admission,
            pool,
            usage: Usage::default(),
            uploads: Ring::new(Direction::Upload, chunk, chunks),
            downloads: Ring::new(Direction::Download, chunk, chunks),
            transfers: Transfers::default(),
            waiter: Waiter::default(),
            tracks: Mutex::new(vec![Arc::clone(&default)]),
            next_track: AtomicU64::new(1),
            next_grant: AtomicU64::new(1),
            handles: AtomicUsize::new(1),
            generation: vendor::generation(),
        });
        Ok(Self { shared, default })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &DeviceInfo {
        self.shared.vendor.driver().device()
    }

    /// The allocation domain of everything it allocates.
    #[must_use]
    pub fn domain(&self) -> AllocationDomainId {
        self.shared.vendor.driver().domain()
    }

    /// The driver, for raw interop. What is done there directly is not ordered with the engine's
    /// own work.
    #[must_use]
    pub fn driver(&self) -> &B {
        self.shared.vendor.driver()
    }

    /// The device's one default lane.
    #[must_use]
    pub fn lane(&self) -> Lane<B> {
        Lane::new(self.clone(), Arc::clone(&self.default))
    }

    /// A new lane: its work is ordered with other lanes' only where they share storages.
    ///
    /// # Errors
    /// `Closed` or `Broken`, or the driver's refusal.
    pub fn new_lane(&self) -> Result<Lane<B>, Error> {
        const OP: &str = "new_lane";
        let shared = &self.shared;
        shared.check(OP)?;
        shared.reap();
        let stream = shared
            .vendor
            .create_stream()
            .map_err(|cause| shared.failed(OP, cause))?;
        let id = shared.next_track.fetch_add(1, Ordering::Relaxed);
        let track = Arc::new(Track::new(id, stream));
        lock(&shared.tracks).push(Arc::clone(&track));
        Ok(Lane::new(self.clone(), track))
    }

    /// Waits for everything submitted so far, on every lane.
    ///
    /// # Errors
    /// `Broken` with the original failure.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.shared.drain(None).map(drop)
    }

    /// Gives cached memory back to the device; the bytes given back. Waits for nothing: what is
    /// still in use by the device stays.
    pub fn trim(&self) -> usize {
        self.shared.trim()
    }

    /// Where device memory is.
    #[must_use]
    pub fn memory_report(&self) -> MemoryReport {
        self.shared.memory_report()
    }

    /// Starts [`MemoryReport::peak_in_use`] anew.
    pub fn reset_peak(&self) {
        self.shared.usage.reset_peak();
    }

    /// What broke the engine, if anything did.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.shared.status.failure()
    }

    /// Whether it takes work.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Takes no new work, waits for what is pending, and frees what nobody holds. Closing again
    /// does nothing.
    ///
    /// # Errors
    /// `Broken` with the original failure: what could not be proven complete is quarantined.
    pub fn close(&self) -> Result<(), Error> {
        self.shared.close(None)
    }

    /// As [`close`](Self::close), but waits at most until `deadline`: what is then still pending
    /// fails with `Closed`, and its memory is quarantined.
    ///
    /// # Errors
    /// [`Error::Deadline`] when something was still pending; `Broken` with the original failure.
    pub fn close_within(&self, deadline: Instant) -> Result<(), Error> {
        self.shared.close(Some(deadline))
    }
}

impl<B: Execute> Clone for Engine<B> {
    fn clone(&self) -> Self {
        self.shared.handles.fetch_add(1, Ordering::Relaxed);
        Self {
            shared: Arc::clone(&self.shared),
            default: Arc::clone(&self.default),
        }
    }
}

impl<B: Execute> Drop for Engine<B> {
    fn drop(&mut self) {
        if self.shared.handles.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if self.shared.is_forked() {
            // The parent owns the device. This clone keeps what is shared from being dropped here.
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        // Whoever cares about the outcome calls `close`; here it is logged.
        if let Err(error) = self.shared.close(Some(now() + GRACE)) {
            tracing::warn!(%error, "an engine was dropped with work that could not be finished");
        }
    }
}

impl<B: Execute> fmt::Debug for Engine<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.device();
        f.debug_struct("Engine")
            .field("vendor", &device.vendor)
            .field("ordinal", &device.ordinal)
            .field("domain", &self.domain())
            .finish_non_exhaustive()
    }
}

impl<B: Execute> Shared<B> {
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.vendor.driver().device().capabilities
    }

    pub(crate) fn next_grant(&self) -> u64 {
        self.next_grant.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.status.is_open() && !self.is_forked()
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.generation != vendor::generation()
    }

    /// Why work is refused now; `Ok` when open.
    pub(crate) fn check(&self, op: &'static str) -> Result<(), Error> {
        self.check_fork(op)?;
        match self.status.refusal() {
            None => Ok(()),
            Some(cause) => Err(Error::gpu(op, cause)),
        }
    }

    /// A forked child may not even wait.
    pub(crate) fn check_fork(&self, op: &'static str) -> Result<(), Error> {
        if self.is_forked() {
            let detail = "the process was forked after the engine was opened: \
                          open a new engine in the child";
            return Err(Error::gpu(
                op,
                GpuError::Broken {
                    detail: detail.to_owned(),
                },
            ));
        }
        Ok(())
    }

    /// Every lane there is.
    pub(crate) fn all_tracks(&self) -> Vec<Arc<Track<B>>> {
        lock(&self.tracks).clone()
    }

    fn close(&self, deadline: Option<Instant>) -> Result<(), Error> {
        const OP: &str = "close";
        self.check_fork(OP)?;
        if self.status.is_closed() {
            return Ok(());
        }
        self.status.drain();
        let drained = if self.status.wait_outside(deadline) {
            self.drain(deadline)
        } else {
            Ok(false)
        };
        self.status.close();
        // What pending work enqueued while it was drained: reads of results, and of fault slots.
        let settled = drained.and_then(|drained| {
            let outside = drained && self.status.wait_outside(deadline);
            Ok(outside && (mutant::on("close-too-soon") || self.settle(OP, deadline)?))
        });
        let outcome = match settled {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Deadline { op: OP }),
            Err(error) => Err(error),
        };
        self.transfers.fail_all(|| match self.status.failure() {
            Some(failure) => Error::gpu("download", failure.cause),
            None => Error::gpu("download", GpuError::Closed),
        });
        self.waiter.wake_all();
        for track in self.all_tracks() {
            self.flush(&track);
        }
        self.trim();
        outcome
    }

    /// Empties a lane's bins into the pool, and lets its fault ring go.
    pub(crate) fn flush(&self, track: &Track<B>) {
        let ring = {
            let mut faults = lock(&track.faults);
            // Kept while a verdict is to be read, unless nobody will read it any more.
            let keep = faults.is_awaited() && self.is_open();
            (!keep).then(|| faults.take())
        };
        drop(ring);
        for record in track.bins.drain() {
            if self.status.may_complete() || track.is_idle() {
                record.unbin();
            } else {
                self.quarantine(record.capacity(), track);
            }
        }
    }

    /// Counts memory that is lost on purpose.
    pub(crate) fn quarantine(&self, bytes: usize, track: &Track<B>) {
        self.usage.quarantined.fetch_add(bytes, Ordering::Relaxed);
        tracing::warn!(
            bytes,
            lane = track.id,
            "memory is quarantined: its work may still run"
        );
    }

    /// A storage came back after the engine was closed, or while it is being closed.
    pub(crate) fn storage_gone(&self) {
        self.promote();
        self.pool.trim(&self.vendor, &self.usage);
    }

    /// Destroys lanes that nobody has a handle to, that are idle, and that no storage calls home.
    pub(crate) fn reap(&self) {
        self.uploads.settle();
        self.downloads.settle();
        let mut gone = Vec::new();
        lock(&self.tracks).retain(|track| {
            // Two: this list's, and the one being looked at; none is made once handles are zero.
            let unused = track.retired.load(Ordering::Acquire) && Arc::strong_count(track) == 1;
            if unused && track.is_idle() {
                gone.push(Arc::clone(track));
            }
            !(unused && track.is_idle())
        });
        for track in gone {
            match Arc::try_unwrap(track) {
                Ok(track) => self.destroy(track),
                Err(track) => lock(&self.tracks).push(track),
            }
        }
    }

    fn destroy(&self, mut track: Track<B>) {
        let id = track.id;
        // Everything of this lane has completed: what it freed is free for anyone.
        self.pool.promote(|lane, _| lane == id);
        let (stream, events) = track.dismantle();
        let destroyed = events
            .into_iter()
            .map(|event| self.vendor.destroy_event(event))
            .chain(stream.map(|stream| self.vendor.destroy_stream(stream)));
        for outcome in destroyed {
            if let Err(cause) = outcome {
                tracing::warn!(lane = id, %cause, "the device refused to destroy a lane's parts");
            }
        }
    }
}

impl<B: Execute> Drop for Shared<B> {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        let tracks = std::mem::take(&mut *lock(&self.tracks));
        let quiet = tracks.iter().all(|track| track.is_idle());
        if quiet {
            // First: a chunk remembers the lane that used it last.
            self.uploads.destroy(&self.vendor);
            self.downloads.destroy(&self.vendor);
            for track in tracks {
                match Arc::try_unwrap(track) {
                    Ok(track) => self.destroy(track),
                    Err(track) => tracing::warn!(lane = track.id, "a lane is leaked: still in use"),
                }
            }
            self.trim();
        }
        self.vendor.shut(quiet);
    }
}
