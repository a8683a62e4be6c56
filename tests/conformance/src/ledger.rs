//! A vendor that forwards to another and counts what is alive: how leaks are seen.
//!
//! # Safety
//!
//! Every call is forwarded with the arguments it was given, so that the inner vendor's promises are
//! this one's, and the caller's are passed on.

#![expect(
    unsafe_code,
    reason = "implements the unsafe driver traits by forwarding"
)]

use gpu_seam::{
    AllocationDomainId, Arg, Backend, Buffer, DeviceInfo, Direction, Discover, Driver, Execute,
    GpuError, MemoryInfo, Op, Scratch, StorageIdentity,
};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts what a vendor handed out and got back.
pub struct Ledger<D: Execute> {
    inner: Arc<D>,
    live: Mutex<Live>,
}

/// What is alive now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// Buffers that were not freed.
    pub allocations: usize,
    /// Stagings that were not freed.
    pub stagings: usize,
    /// Streams that were not destroyed.
    pub streams: usize,
    /// Events that were not destroyed.
    pub events: usize,
    /// Identities ever given, to see one twice.
    seen: HashSet<StorageIdentity>,
    /// Identities given twice.
    pub repeated: usize,
}

impl<D: Execute> Ledger<D> {
    /// Counts what goes through this wrapper; several may share one vendor.
    pub fn new(inner: Arc<D>) -> Self {
        Self {
            inner,
            live: Mutex::new(Live::default()),
        }
    }

    /// The vendor behind it.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// What leaked, or was given twice; `None` when all is as it should be.
    pub fn complaint(&self) -> Option<String> {
        let live = self.live();
        let clean = Live {
            seen: live.seen.clone(),
            ..Live::default()
        };
        (*live != clean).then(|| {
            format!(
                "left alive: {} allocations, {} stagings, {} streams, {} events; {} identities were \
                 given twice",
                live.allocations, live.stagings, live.streams, live.events, live.repeated
            )
        })
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same range of the inner vendor's buffer.
fn inner<'a, D: Execute>(arg: Arg<'a, Ledger<D>>) -> Arg<'a, D> {
    Arg {
        buffer: arg.buffer.allocation(),
        offset: arg.offset,
        len: arg.len,
    }
}

impl<D: Execute> Backend for Ledger<D> {
    type Allocation = Buffer<D>;
}

// SAFETY: forwards; see the module's doc.
unsafe impl<D: Execute> Driver for Ledger<D> {
    type Stream = D::Stream;
    type Event = D::Event;
    type Staging = D::Staging;

    fn device(&self) -> &DeviceInfo {
        self.inner.device()
    }

    fn domain(&self) -> AllocationDomainId {
        self.inner.domain()
    }

    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        self.inner.memory()
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let buffer = self.inner.allocate(bytes)?;
        let identity = buffer.identity();
        let mut live = self.live();
        live.allocations += 1;
        if !live.seen.insert(identity) {
            live.repeated += 1;
        }
        Ok(Buffer::new(identity, buffer.len(), buffer))
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        self.live().allocations -= 1;
        // SAFETY: the caller's promises about the buffer are the inner vendor's.
        unsafe { self.inner.free(buffer.into_allocation()) }
    }

    fn create_stream(&self) -> Result<D::Stream, GpuError> {
        let stream = self.inner.create_stream()?;
        self.live().streams += 1;
        Ok(stream)
    }

    fn destroy_stream(&self, stream: D::Stream) -> Result<(), GpuError> {
        self.live().streams -= 1;
        self.inner.destroy_stream(stream)
    }

    fn synchronize(&self, stream: &D::Stream) -> Result<(), GpuError> {
        self.inner.synchronize(stream)
    }

    fn create_event(&self) -> Result<D::Event, GpuError> {
        let event = self.inner.create_event()?;
        self.live().events += 1;
        Ok(event)
    }

    fn destroy_event(&self, event: D::Event) -> Result<(), GpuError> {
        self.live().events -= 1;
        self.inner.destroy_event(event)
    }

    fn record(&self, stream: &D::Stream, event: &mut D::Event) -> Result<(), GpuError> {
        self.inner.record(stream, event)
    }

    fn wait(&self, stream: &D::Stream, event: &D::Event) -> Result<(), GpuError> {
        self.inner.wait(stream, event)
    }

    fn poll(&self, event: &D::Event) -> Result<bool, GpuError> {
        self.inner.poll(event)
    }

    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<D::Staging, GpuError> {
        let staging = self.inner.alloc_staging(bytes, direction)?;
        self.live().stagings += 1;
        Ok(staging)
    }

    unsafe fn free_staging(&self, staging: D::Staging) -> Result<(), GpuError> {
        self.live().stagings -= 1;
        // SAFETY: the caller's promise, passed on.
        unsafe { self.inner.free_staging(staging) }
    }

    fn begin_access(&self, staging: &mut D::Staging, block: bool) -> Result<bool, GpuError> {
        self.inner.begin_access(staging, block)
    }

    fn write(&self, staging: &mut D::Staging, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        self.inner.write(staging, at, bytes)
    }

    fn read(&self, staging: &mut D::Staging, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.inner.read(staging, at, bytes)
    }

    fn end_access(&self, staging: &mut D::Staging) -> Result<(), GpuError> {
        self.inner.end_access(staging)
    }

    unsafe fn copy_in(
        &self,
        stream: &D::Stream,
        staging: &D::Staging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.copy_in(stream, staging, at, inner(to)) }
    }

    unsafe fn copy_out(
        &self,
        stream: &D::Stream,
        from: Arg<'_, Self>,
        staging: &D::Staging,
        at: usize,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.copy_out(stream, inner(from), staging, at) }
    }

    unsafe fn copy_device(
        &self,
        stream: &D::Stream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.copy_device(stream, inner(from), inner(to)) }
    }

    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.write_direct(inner(to), bytes) }
    }

    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.read_direct(inner(from), bytes) }
    }
}

// SAFETY: forwards; see the module's doc.
unsafe impl<D: Execute> Execute for Ledger<D> {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        self.inner.plan(op)
    }

    unsafe fn execute(
        &self,
        stream: &D::Stream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        let args: Vec<_> = args.iter().map(|arg| inner(*arg)).collect();
        // SAFETY: the caller's promises, passed on.
        unsafe { self.inner.execute(stream, op, &args, scratch.map(inner)) }
    }
}

impl<D: Execute + Discover> Discover for Ledger<D> {
    fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
        D::devices()
    }

    fn open(ordinal: usize) -> Result<Self, GpuError> {
        D::open(ordinal).map(|inner| Self::new(Arc::new(inner)))
    }
}
