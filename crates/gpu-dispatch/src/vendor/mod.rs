//! The one place that calls a vendor: every unsafe call, every catch of a vendor's panic.
//!
//! Promises that no panic of a vendor unwinds into the engine (it becomes `Broken`), and gathers the
//! reasons why the unsafe calls are sound. Knows nothing of lanes, pools or publication.
//!
//! # Safety
//!
//! The unsafe calls below rest on these rules of the crate, cited by number:
//!
//! 1. **Ranges.** An [`Arg`] is made from a live block by `Block::arg`, which checks that the range
//!    lies inside it; a block lies inside its segment's buffer. Canonical steps were validated
//!    against these lengths.
//! 2. **Lifetime.** A block goes back to a pool only with the frontier of everything submitted that
//!    touches it, is reused on the same stream or behind a device-side wait or a seen completion,
//!    and its segment is freed only when that frontier has been seen to complete. A submission is
//!    published, and so counted in frontiers, before any handle it used may be dropped.
//! 3. **Staging.** A staging slot is written, read or freed only when the copies that name it have
//!    been seen to complete.
//! 4. **Plans.** `execute` is called only with an operation that `plan` of the same driver accepted
//!    within the same submission, with scratch at least as long as planned.
//! 5. **Direct access.** Bytes are read or written directly only when every submission that touches
//!    the range (reads: that writes it) has been seen to complete.

#![expect(unsafe_code, reason = "the crate's only unsafe calls; see # Safety")]

mod fork;

pub(crate) use fork::{generation, watch};

use gpu_seam::{Arg, Buffer, Direction, Execute, GpuError, MemoryInfo, Op, Scratch};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An open driver, called with panics caught.
pub(crate) struct Vendor<B: Execute> {
    driver: ManuallyDrop<B>,
}

impl<B: Execute> Vendor<B> {
    pub(crate) const fn new(driver: B) -> Self {
        Self {
            driver: ManuallyDrop::new(driver),
        }
    }

    /// The driver, for what is safe and cannot fail.
    pub(crate) fn driver(&self) -> &B {
        &self.driver
    }

    /// Runs one vendor call; a panic becomes `Broken` in the panic's own words.
    fn guarded<T>(
        &self,
        name: &'static str,
        call: impl FnOnce(&B) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        // The driver is not used again after a panic: `Broken` closes the engine.
        catch_unwind(AssertUnwindSafe(|| call(&self.driver)))
            .unwrap_or_else(|panic| Err(panicked(name, &*panic)))
    }

    pub(crate) fn memory(&self) -> Result<MemoryInfo, GpuError> {
        self.guarded("memory", B::memory)
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Buffer<B>, GpuError> {
        self.guarded("allocate", |driver| driver.allocate(bytes))
    }

    /// Frees a buffer that nothing submitted touches any more.
    pub(crate) fn free(&self, buffer: Buffer<B>) -> Result<(), GpuError> {
        self.guarded("free", |driver| {
            // SAFETY: rule 2: the buffer came from this driver and everything that touches it has
            // been seen to complete.
            unsafe { driver.free(buffer) }
        })
    }

    pub(crate) fn create_stream(&self) -> Result<B::Stream, GpuError> {
        self.guarded("create_stream", B::create_stream)
    }

    pub(crate) fn destroy_stream(&self, stream: B::Stream) -> Result<(), GpuError> {
        self.guarded("destroy_stream", |driver| driver.destroy_stream(stream))
    }

    pub(crate) fn synchronize(&self, stream: &B::Stream) -> Result<(), GpuError> {
        self.guarded("synchronize", |driver| driver.synchronize(stream))
    }

    pub(crate) fn create_event(&self) -> Result<B::Event, GpuError> {
        self.guarded("create_event", B::create_event)
    }

    pub(crate) fn destroy_event(&self, event: B::Event) -> Result<(), GpuError> {
        self.guarded("destroy_event", |driver| driver.destroy_event(event))
    }

    pub(crate) fn record(&self, stream: &B::Stream, event: &mut B::Event) -> Result<(), GpuError> {
        self.guarded("record", |driver| driver.record(stream, event))
    }

    pub(crate) fn wait(&self, stream: &B::Stream, event: &B::Event) -> Result<(), GpuError> {
        self.guarded("wait", |driver| driver.wait(stream, event))
    }

    pub(crate) fn poll(&self, event: &B::Event) -> Result<bool, GpuError> {
        self.guarded("poll", |driver| driver.poll(event))
    }

    pub(crate) fn alloc_staging(
        &self,
        bytes: usize,
        direction: Direction,
    ) -> Result<B::Staging, GpuError> {
        self.guarded("alloc_staging", |driver| {
            driver.alloc_staging(bytes, direction)
        })
    }

    pub(crate) fn free_staging(&self, staging: B::Staging) -> Result<(), GpuError> {
        self.guarded("free_staging", |driver| {
            // SAFETY: rule 3: no copy that names this staging is still to complete.
            unsafe { driver.free_staging(staging) }
        })
    }

    pub(crate) fn begin_access(
        &self,
        staging: &mut B::Staging,
        block: bool,
    ) -> Result<bool, GpuError> {
        self.guarded("begin_access", |driver| driver.begin_access(staging, block))
    }

    pub(crate) fn write(
        &self,
        staging: &mut B::Staging,
        at: usize,
        bytes: &[u8],
    ) -> Result<(), GpuError> {
        self.guarded("write", |driver| driver.write(staging, at, bytes))
    }

    pub(crate) fn read(
        &self,
        staging: &mut B::Staging,
        at: usize,
        bytes: &mut [u8],
    ) -> Result<(), GpuError> {
        self.guarded("read", |driver| driver.read(staging, at, bytes))
    }

    pub(crate) fn end_access(&self, staging: &mut B::Staging) -> Result<(), GpuError> {
        self.guarded("end_access", |driver| driver.end_access(staging))
    }

    pub(crate) fn copy_in(
        &self,
        stream: &B::Stream,
        staging: &B::Staging,
        at: usize,
        to: Arg<'_, B>,
    ) -> Result<(), GpuError> {
        self.guarded("copy_in", |driver| {
            // SAFETY: rules 1, 2 and 3.
            unsafe { driver.copy_in(stream, staging, at, to) }
        })
    }

    pub(crate) fn copy_out(
        &self,
        stream: &B::Stream,
        from: Arg<'_, B>,
        staging: &B::Staging,
        at: usize,
    ) -> Result<(), GpuError> {
        self.guarded("copy_out", |driver| {
            // SAFETY: rules 1, 2 and 3.
            unsafe { driver.copy_out(stream, from, staging, at) }
        })
    }

    pub(crate) fn copy_device(
        &self,
        stream: &B::Stream,
        from: Arg<'_, B>,
        to: Arg<'_, B>,
    ) -> Result<(), GpuError> {
        self.guarded("copy_device", |driver| {
            // SAFETY: rules 1 and 2; the two ranges belong to different live blocks, which never
            // overlap.
            unsafe { driver.copy_device(stream, from, to) }
        })
    }

    pub(crate) fn write_direct(&self, to: Arg<'_, B>, bytes: &[u8]) -> Result<(), GpuError> {
        self.guarded("write_direct", |driver| {
            // SAFETY: rules 1 and 5; the caller cut `to` to the length of `bytes`.
            unsafe { driver.write_direct(to, bytes) }
        })
    }

    pub(crate) fn read_direct(&self, from: Arg<'_, B>, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.guarded("read_direct", |driver| {
            // SAFETY: rules 1 and 5; the caller cut `from` to the length of `bytes`.
            unsafe { driver.read_direct(from, bytes) }
        })
    }

    pub(crate) fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        self.guarded("plan", |driver| driver.plan(op))
    }

    pub(crate) fn execute(
        &self,
        stream: &B::Stream,
        op: &Op<'_>,
        args: &[Arg<'_, B>],
        scratch: Option<Arg<'_, B>>,
    ) -> Result<(), GpuError> {
        self.guarded("execute", |driver| {
            // SAFETY: rules 1, 2 and 4.
            unsafe { driver.execute(stream, op, args, scratch) }
        })
    }

    /// Closes the driver itself, or leaks it when `quiet` cannot be promised: a driver whose work
    /// may still run, or which has panicked, is not touched again.
    pub(crate) fn shut(&mut self, quiet: bool) {
        if quiet {
            // SAFETY: called once, from the engine's own drop; the field is not used afterwards.
            let driver = unsafe { ManuallyDrop::take(&mut self.driver) };
            // A panic in a vendor's drop must not abort an unwinding thread.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(driver)));
        }
    }
}

/// `Broken`, in the words of a panic.
fn panicked(name: &'static str, panic: &(dyn Any + Send)) -> GpuError {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without words");
    GpuError::Broken {
        detail: format!("the vendor panicked in {name}: {words}"),
    }
}
