//! What a check works with: one driver, one stream, and calls that keep the seam's contract.
//!
//! Promises that whatever is enqueued here lives until it has completed, so that a check that goes
//! wrong is red and not undefined. A check that fails may leak; one that passes may not.
//!
//! # Safety
//!
//! Every transfer and operation is waited for before the memory it names is given back; ranges are
//! cut from the buffers' own lengths, and checked where a caller gives them.

#![expect(
    unsafe_code,
    reason = "enqueues copies and operations, frees memory; each block says why it may"
)]

use crate::outcome::Stop;
use gpu_seam::{Arg, Buffer, Capabilities, Direction, Execute, GpuError, Op};
use std::thread;
use std::time::{Duration, Instant};

/// A driver under test, with a stream of its own.
pub struct Cx<V: Execute> {
    driver: V,
    stream: V::Stream,
    patience: Duration,
}

/// A range of a buffer of `V`.
pub(crate) type Range<'a, V> = Arg<'a, V>;

impl<V: Execute> Cx<V> {
    /// A context on `driver`. Waits give up after `patience`.
    ///
    /// # Errors
    /// The driver's own, when it gives no stream.
    pub fn new(driver: V, patience: Duration) -> Result<Self, GpuError> {
        let stream = driver.create_stream()?;
        Ok(Self {
            driver,
            stream,
            patience,
        })
    }

    /// The driver.
    pub const fn driver(&self) -> &V {
        &self.driver
    }

    /// The context's own stream.
    pub const fn stream(&self) -> &V::Stream {
        &self.stream
    }

    /// What the device can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.driver.device().capabilities
    }

    /// Ends the context and gives the driver back.
    ///
    /// # Errors
    /// The driver's own, when the stream ends badly.
    pub fn close(self) -> Result<V, GpuError> {
        self.driver.synchronize(&self.stream)?;
        self.driver.destroy_stream(self.stream)?;
        Ok(self.driver)
    }

    /// The least number of bytes that arguments and staging copies can both begin at.
    pub(crate) fn granule(&self) -> usize {
        let capabilities = self.capabilities();
        capabilities
            .offset_alignment
            .max(capabilities.copy_granularity)
            .max(16)
    }

    /// `bytes` rounded up to what a staging copy can move.
    pub(crate) fn round_up(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.capabilities().copy_granularity)
    }

    /// Waits until everything enqueued on `stream` has completed, by an event.
    pub(crate) fn finish(&self, stream: &V::Stream) -> Result<(), Stop> {
        let mut event = self.driver.create_event()?;
        self.driver.record(stream, &mut event)?;
        self.await_event(&event)?;
        Ok(self.driver.destroy_event(event)?)
    }

    /// Polls `event` until it is complete.
    pub(crate) fn await_event(&self, event: &V::Event) -> Result<(), Stop> {
        self.until("an event to complete", || self.driver.poll(event))
    }

    fn until(
        &self,
        what: &str,
        mut done: impl FnMut() -> Result<bool, GpuError>,
    ) -> Result<(), Stop> {
        let start = Instant::now();
        while !done()? {
            if start.elapsed() > self.patience {
                let limit = self.patience;
                return Err(Stop::Failed(format!("waited {limit:?} in vain for {what}")));
            }
            thread::yield_now();
        }
        Ok(())
    }

    /// Gives a buffer back. Everything that touches it must have been waited for.
    pub(crate) fn free(&self, buffer: Buffer<V>) -> Result<(), Stop> {
        // SAFETY: it came from this driver, and every check waits before it frees; a check that
        // stops early does not come here.
        Ok(unsafe { self.driver.free(buffer) }?)
    }

    /// Gives a staging back. Everything that touches it must have been waited for.
    pub(crate) fn free_staging(&self, staging: V::Staging) -> Result<(), Stop> {
        // SAFETY: as in `free`.
        Ok(unsafe { self.driver.free_staging(staging) }?)
    }

    /// An upload staging that holds `bytes`, whose number is a multiple of the copy granularity.
    pub(crate) fn upload_staging(&self, bytes: &[u8]) -> Result<V::Staging, Stop> {
        let mut staging = self.driver.alloc_staging(bytes.len(), Direction::Upload)?;
        self.fill_staging(&mut staging, bytes)?;
        Ok(staging)
    }

    /// Writes an upload staging that no pending copy names.
    pub(crate) fn fill_staging(&self, staging: &mut V::Staging, bytes: &[u8]) -> Result<(), Stop> {
        self.open_staging(staging)?;
        self.driver.write(staging, 0, bytes)?;
        Ok(self.driver.end_access(staging)?)
    }

    /// Reads a download staging that no pending copy names.
    pub(crate) fn read_staging(
        &self,
        staging: &mut V::Staging,
        len: usize,
    ) -> Result<Vec<u8>, Stop> {
        self.open_staging(staging)?;
        let mut bytes = vec![0; len];
        self.driver.read(staging, 0, &mut bytes)?;
        self.driver.end_access(staging)?;
        Ok(bytes)
    }

    fn open_staging(&self, staging: &mut V::Staging) -> Result<(), Stop> {
        self.until("access to staging memory", || {
            self.driver.begin_access(staging, false)
        })
    }

    /// Enqueues a copy from byte `at` of an upload staging of `len` bytes.
    pub(crate) fn copy_in(
        &self,
        stream: &V::Stream,
        (staging, at, len): (&V::Staging, usize, usize),
        to: Range<'_, V>,
    ) -> Result<(), Stop> {
        self.inside(&to, at, len)?;
        // SAFETY: both ranges were checked just now; checks keep both until they have waited, and
        // end their access to stagings before they copy.
        Ok(unsafe { self.driver.copy_in(stream, staging, at, to) }?)
    }

    /// Enqueues a copy to byte `at` of a download staging of `len` bytes.
    pub(crate) fn copy_out(
        &self,
        stream: &V::Stream,
        from: Range<'_, V>,
        (staging, at, len): (&V::Staging, usize, usize),
    ) -> Result<(), Stop> {
        self.inside(&from, at, len)?;
        // SAFETY: as in `copy_in`.
        Ok(unsafe { self.driver.copy_out(stream, from, staging, at) }?)
    }

    /// Enqueues a copy between ranges of equal length.
    pub(crate) fn copy_device(
        &self,
        stream: &V::Stream,
        from: Range<'_, V>,
        to: Range<'_, V>,
    ) -> Result<(), Stop> {
        self.inside(&from, 0, from.len)?;
        self.inside(&to, 0, from.len)?;
        // SAFETY: both ranges were checked just now; the checks name no overlapping ones, and keep
        // both until they have waited.
        Ok(unsafe { self.driver.copy_device(stream, from, to) }?)
    }

    /// Enqueues an operation that `plan` accepted.
    pub(crate) fn execute(
        &self,
        stream: &V::Stream,
        op: &Op<'_>,
        args: &[Range<'_, V>],
        scratch: Option<Range<'_, V>>,
    ) -> Result<(), Stop> {
        for arg in args.iter().chain(&scratch) {
            self.inside(arg, 0, arg.len)?;
        }
        // SAFETY: the suite's operations are canonical and their arrays fit their views; `plan`
        // accepted this one; checks keep the buffers until they have waited.
        Ok(unsafe { self.driver.execute(stream, op, args, scratch) }?)
    }

    /// Writes a range from the host.
    pub(crate) fn write_direct(&self, to: Range<'_, V>, bytes: &[u8]) -> Result<(), GpuError> {
        debug_assert_eq!(to.len, bytes.len(), "a slip of the suite");
        // SAFETY: the lengths are equal, and checks wait before they access directly.
        unsafe { self.driver.write_direct(to, bytes) }
    }

    /// Reads a range from the host.
    pub(crate) fn read_direct(&self, from: Range<'_, V>, bytes: &mut [u8]) -> Result<(), GpuError> {
        debug_assert_eq!(from.len, bytes.len(), "a slip of the suite");
        // SAFETY: as in `write_direct`.
        unsafe { self.driver.read_direct(from, bytes) }
    }

    fn inside(&self, range: &Range<'_, V>, at: usize, len: usize) -> Result<(), Stop> {
        let end = range.offset.checked_add(range.len);
        let other = at.checked_add(range.len);
        let inside = end.is_some_and(|end| end <= range.buffer.len());
        if inside && other.is_some_and(|end| end <= len) {
            return Ok(());
        }
        // Also reached when a vendor's buffer is shorter than was asked for.
        Err(Stop::Failed(format!(
            "{range:?} (and byte {at} of {len}) is not inside its memory"
        )))
    }
}

/// A range of a buffer.
pub(crate) const fn range<V: Execute>(
    buffer: &Buffer<V>,
    offset: usize,
    len: usize,
) -> Range<'_, V> {
    Arg {
        buffer,
        offset,
        len,
    }
}

/// All of a buffer.
pub(crate) const fn whole<V: Execute>(buffer: &Buffer<V>) -> Range<'_, V> {
    Arg {
        buffer,
        offset: 0,
        len: buffer.len(),
    }
}
