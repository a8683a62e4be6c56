//! The traits that a vendor implements: [`Driver`] moves bytes, [`Execute`] computes,
//! [`Discover`] finds devices.
//!
//! # Safety
//!
//! This file *declares* unsafe traits and contains no unsafe block. The traits are unsafe to
//! implement because gpu-dispatch's memory safety rests on what they promise: an event that answers
//! early frees memory under a copy.
//!
//! # For callers (gpu-dispatch)
//!
//! - Validation is yours and happens nowhere else. A vendor may assume that ranges lie inside their
//!   buffers and that an [`Op`] is canonical.
//! - **The one lifetime rule**: what an enqueued call touches (buffers, staging, the memory they
//!   name) must live, and must not be written by the host, until an event recorded *later on that
//!   stream* has completed, or the stream was synchronised later.
//! - Calls that take a stream may come from several threads at once, also with the same stream; the
//!   order of two such calls is then the vendor's choice.
//!
//! # For vendor authors
//!
//! - Everything enqueued on one stream runs in the order of the calls. Streams are independent of
//!   each other but for [`wait`](Driver::wait).
//! - A call that returns `Err` has enqueued nothing, or has left the device in a state where every
//!   later call answers an error too. Never keep an error for a later, unrelated call.
//! - Must not panic; a panic is caught above and makes the engine `Broken`.
//! - Must not keep a borrowed slice (dims, strides, args) after the call: a vendor that queues
//!   copies them, with [`OwnedOp`](crate::OwnedOp).
//! - Never assert what gpu-dispatch has validated as if a user had got it wrong: a defensive check
//!   here reports a bug of the layer above.
//!
//! A line under *Behavior* begins with the name of the conformance check that tests it.

#![expect(
    unsafe_code,
    reason = "declares the unsafe driver traits; contains no unsafe block"
)]

use crate::buffer::{Backend, Buffer};
use crate::device::{DeviceInfo, MemoryInfo};
use crate::error::GpuError;
use crate::identity::AllocationDomainId;
use crate::op::Op;
use alloc::vec::Vec;
use core::fmt;

/// An open device: memory, streams, events, staging and copies.
///
/// # Safety
///
/// An implementor promises, in every state that safe calls and contract-keeping unsafe calls can
/// reach:
/// - [`allocate`](Self::allocate) returns memory that nothing else uses, of the length it says,
///   and never one identity twice;
/// - [`poll`](Self::poll) answers `true` and [`synchronize`](Self::synchronize) returns `Ok` only
///   when everything they cover has finished touching memory;
/// - after [`wait`](Self::wait), later work on the stream starts only once the event has completed;
/// - an enqueued call touches the ranges it was given and nothing else.
pub unsafe trait Driver: Backend<Allocation: Sync> + Sync + Sized {
    /// An ordered queue of device work.
    type Stream: Send + Sync + 'static;
    /// A point in a stream that can be asked about.
    type Event: Send + Sync + 'static;
    /// Host memory that the device copies to or from.
    type Staging: Send + 'static;

    /// What this device is and can do. Constant for the life of the driver.
    fn device(&self) -> &DeviceInfo;

    /// The domain of everything this driver allocates. Constant, and no other driver's.
    fn domain(&self) -> AllocationDomainId;

    /// Device memory now.
    ///
    /// # Behavior
    /// - `memory_available_within_total`: `available <= total`.
    ///
    /// # Errors
    /// The driver's own failure.
    fn memory(&self) -> Result<MemoryInfo, GpuError>;

    /// Allocates `bytes` (at least 1, at most `max_allocation_bytes`) of device memory. Its
    /// contents are unspecified.
    ///
    /// # Behavior
    /// - `allocate_exact_length`: the buffer's length is `bytes`.
    /// - `allocate_identity_is_unique`: its identity has this driver's domain and ordinal, and an
    ///   allocation id that no earlier buffer had.
    /// - `allocate_disjoint`: writing it changes no other live buffer.
    /// - `allocate_aligned`: its start is aligned to `offset_alignment`, and to 16 bytes at least.
    /// - `allocate_out_of_memory_recovers`: after `OutOfMemory`, smaller allocations and all live
    ///   buffers still work.
    ///
    /// # Errors
    /// `OutOfMemory` when the device has no such memory now.
    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError>;

    /// Gives memory back to the device.
    ///
    /// # Behavior
    /// - `free_returns_memory`: an equal allocation succeeds afterwards, however often repeated.
    ///
    /// # Errors
    /// The driver's refusal. The buffer is then lost: it is never freed again.
    ///
    /// # Safety
    /// `buffer` came from [`allocate`](Self::allocate) of this driver, and everything enqueued that
    /// touches it has completed.
    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError>;

    /// Creates a stream with nothing on it.
    ///
    /// # Errors
    /// The driver's own failure.
    fn create_stream(&self) -> Result<Self::Stream, GpuError>;

    /// Destroys a stream. Work still on it runs to its end; never blocks for long.
    ///
    /// # Errors
    /// The driver's own failure; the stream is lost.
    fn destroy_stream(&self, stream: Self::Stream) -> Result<(), GpuError>;

    /// Waits, on the host, for everything enqueued on `stream` before this call.
    ///
    /// # Behavior
    /// - `synchronize_empty_stream`: returns at once when nothing is pending.
    /// - `synchronize_completes_events`: events recorded on the stream before are then complete.
    ///
    /// # Errors
    /// The failure of work on the stream, in its own words; nothing then touches memory any more.
    fn synchronize(&self, stream: &Self::Stream) -> Result<(), GpuError>;

    /// Creates an event that has not been recorded.
    ///
    /// # Errors
    /// The driver's own failure.
    fn create_event(&self) -> Result<Self::Event, GpuError>;

    /// Destroys an event, in whatever state. Waits that were enqueued on it still hold.
    ///
    /// # Errors
    /// The driver's own failure; the event is lost.
    fn destroy_event(&self, event: Self::Event) -> Result<(), GpuError>;

    /// Records `event` behind everything enqueued on `stream` before this call. What it covers
    /// then runs without any further call.
    ///
    /// # Behavior
    /// - `record_covers_earlier_work`: once complete, the work enqueued before is visible.
    /// - `record_again_moves_the_event`: a second record forgets the first; waits that were
    ///   enqueued between the two keep the first.
    ///
    /// # Errors
    /// The driver's own failure; the event is then not recorded.
    fn record(&self, stream: &Self::Stream, event: &mut Self::Event) -> Result<(), GpuError>;

    /// Makes later work on `stream` start only once `event` has completed. Does not block the host.
    ///
    /// # Behavior
    /// - `wait_orders_two_streams`: work behind the wait sees what was recorded on another stream.
    /// - `wait_on_own_stream`: waiting for an event of the same stream changes nothing.
    /// - `wait_unrecorded_is_free`: waiting for an event never recorded changes nothing.
    ///
    /// # Errors
    /// The driver's own failure; nothing was enqueued.
    fn wait(&self, stream: &Self::Stream, event: &Self::Event) -> Result<(), GpuError>;

    /// Whether what `event` covers has completed. Never blocks.
    ///
    /// # Behavior
    /// - `poll_unrecorded_is_complete`: an event never recorded is complete.
    /// - `poll_stays_complete`: once `true`, it stays so until recorded again.
    ///
    /// # Errors
    /// The failure of the covered work, in its own words; it then touches memory no more.
    fn poll(&self, event: &Self::Event) -> Result<bool, GpuError>;

    /// Allocates `bytes` (at least 1, a multiple of `copy_granularity`) of staging memory for one
    /// direction.
    ///
    /// # Behavior
    /// - `staging_round_trip`: bytes written to an upload staging, copied to the device, copied to
    ///   a download staging and read are the same bytes.
    ///
    /// # Errors
    /// `OutOfMemory`, or the driver's own failure.
    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<Self::Staging, GpuError>;

    /// Gives staging memory back.
    ///
    /// # Errors
    /// The driver's refusal; the staging is lost.
    ///
    /// # Safety
    /// Everything enqueued that touches it has completed.
    unsafe fn free_staging(&self, staging: Self::Staging) -> Result<(), GpuError>;

    /// Makes staging memory accessible to the host; `Ok(false)` when that needs more time and
    /// `block` is false: ask again. Called only once an event recorded after the last copy that
    /// names `staging` has completed.
    ///
    /// # Behavior
    /// - `staging_access_blocks_when_asked`: with `block` it answers `true`.
    /// - `staging_is_reusable`: access, end, copy and access again work any number of times.
    ///
    /// # Errors
    /// The driver's own failure; the host then has no access.
    fn begin_access(&self, staging: &mut Self::Staging, block: bool) -> Result<bool, GpuError>;

    /// Writes `bytes` at byte `at` of an accessible upload staging.
    ///
    /// # Errors
    /// The driver's own failure.
    fn write(&self, staging: &mut Self::Staging, at: usize, bytes: &[u8]) -> Result<(), GpuError>;

    /// Reads into `bytes` from byte `at` of an accessible download staging.
    ///
    /// # Errors
    /// The driver's own failure.
    fn read(
        &self,
        staging: &mut Self::Staging,
        at: usize,
        bytes: &mut [u8],
    ) -> Result<(), GpuError>;

    /// Ends the host's access, so that copies may name `staging` again.
    ///
    /// # Errors
    /// The driver's own failure.
    fn end_access(&self, staging: &mut Self::Staging) -> Result<(), GpuError>;

    /// Enqueues a copy from byte `at` of an upload staging to the range `to`. Lengths are those of
    /// `to`; all offsets and lengths are multiples of `copy_granularity`.
    ///
    /// # Behavior
    /// - `copy_in_touches_only_its_range`: bytes of the buffer outside `to` keep their value.
    ///
    /// # Errors
    /// The driver's own failure; nothing was enqueued.
    ///
    /// # Safety
    /// `at + to.len` is inside the staging, `to` inside its buffer; the host has no access to the
    /// staging; the lifetime rule of this module holds for both.
    unsafe fn copy_in(
        &self,
        stream: &Self::Stream,
        staging: &Self::Staging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError>;

    /// Enqueues a copy from the range `from` to byte `at` of a download staging. Lengths are those
    /// of `from`; all offsets and lengths are multiples of `copy_granularity`.
    ///
    /// # Behavior
    /// - `copy_out_touches_only_its_range`: bytes of the staging outside keep their value.
    ///
    /// # Errors
    /// The driver's own failure; nothing was enqueued.
    ///
    /// # Safety
    /// As for [`copy_in`](Self::copy_in).
    unsafe fn copy_out(
        &self,
        stream: &Self::Stream,
        from: Arg<'_, Self>,
        staging: &Self::Staging,
        at: usize,
    ) -> Result<(), GpuError>;

    /// Enqueues a copy of `from.len` bytes between ranges of equal length that do not overlap; any
    /// byte offsets.
    ///
    /// # Behavior
    /// - `copy_device_any_alignment`: odd offsets and lengths copy exactly.
    /// - `copy_device_within_one_buffer`: ranges of one buffer that do not overlap are served.
    ///
    /// # Errors
    /// The driver's own failure; nothing was enqueued.
    ///
    /// # Safety
    /// Both ranges lie inside their buffers and do not overlap; the lifetime rule holds for both.
    unsafe fn copy_device(
        &self,
        stream: &Self::Stream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError>;

    /// Writes `bytes` to the start of the range `to` from the host, at once. Called only where
    /// `host_visible` is declared.
    ///
    /// # Behavior
    /// - `direct_round_trip`: what was written is what [`read_direct`](Self::read_direct) reads and
    ///   what device work enqueued later sees; elsewhere it answers `Unsupported`.
    ///
    /// # Errors
    /// `Unsupported` where memory is not host-visible (the default).
    ///
    /// # Safety
    /// `bytes` is as long as `to`, `to` is inside its buffer, and nothing enqueued that touches the
    /// range is still to complete.
    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        let _ = (to, bytes);
        Err(GpuError::unsupported(
            "write_direct",
            "this device's memory is not host-visible",
        ))
    }

    /// Reads the start of the range `from` into `bytes`, at once. Called only where `host_visible`
    /// is declared.
    ///
    /// # Errors
    /// `Unsupported` where memory is not host-visible (the default).
    ///
    /// # Safety
    /// `bytes` is as long as `from`, `from` is inside its buffer, and nothing enqueued that writes
    /// the range is still to complete.
    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        let _ = (from, bytes);
        Err(GpuError::unsupported(
            "read_direct",
            "this device's memory is not host-visible",
        ))
    }
}

/// A driver that computes canonical operations.
///
/// # Safety
///
/// An implementor promises that [`execute`](Self::execute) of an operation that
/// [`plan`](Self::plan) accepted writes only the output argument, the scratch and the fault slot,
/// and reads only the arguments and the scratch.
pub unsafe trait Execute: Driver {
    /// Whether this device serves `op`, and what scratch memory it needs. Pure: allocates nothing,
    /// touches no device, and gives the same answer for equal operations.
    ///
    /// # Behavior
    /// - `plan_agrees_with_support_table`: what the table denies is refused, what it claims is
    ///   planned.
    /// - `plan_agrees_with_execute`: what is planned executes.
    ///
    /// # Errors
    /// `Unsupported`, naming the op and the dtype or form that is not served.
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError>;

    /// Enqueues `op`. The arguments are in the order that [`Op`] states; view offsets count from
    /// the start of each argument's range. May be called from several threads at once.
    ///
    /// # Behavior
    /// - `execute_touches_only_the_output`: bytes around the output view, and the gaps between its
    ///   strides, keep their value; so do all inputs.
    /// - `execute_keeps_no_borrow`: dims, strides and arguments may change right after the call.
    /// - `execute_fault_is_noted_once`: the first bad index of a gather or scatter is noted in the
    ///   fault slot as four little-endian `u32`: 1, the index's low and high half (sign-extended to
    ///   64 bits), and 0. Without a bad index the slot keeps its zeros.
    ///
    /// # Errors
    /// The driver's own failure; nothing was enqueued, or the device is broken.
    ///
    /// # Safety
    /// `plan` accepted an equal operation; the arguments fit it; `scratch` is at least as long as
    /// planned and `None` only if that was 0; the operation is canonical; the lifetime rule holds
    /// for all arguments and the scratch. The fault slot is [`FAULT_SLOT_BYTES`] long and holds
    /// zeros when the operation runs.
    unsafe fn execute(
        &self,
        stream: &Self::Stream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError>;
}

/// A driver whose devices can be listed and opened by ordinal.
pub trait Discover: Driver {
    /// The devices that could be opened now, ordered by ordinal. Opens none of them.
    ///
    /// # Behavior
    /// - `discover_is_repeatable`: ordinals are `0..n` and the same on every call.
    ///
    /// # Errors
    /// `Unavailable` when there is no runtime, saying what was looked for and what helps.
    fn devices() -> Result<Vec<DeviceInfo>, GpuError>;

    /// Opens a device: a new domain each time.
    ///
    /// # Behavior
    /// - `open_is_a_new_domain`: two openings of one ordinal have different domains.
    /// - `open_out_of_range_is_unavailable`: an ordinal beyond the last names the count.
    ///
    /// # Errors
    /// `Unavailable` when there is no runtime or no such device.
    fn open(ordinal: usize) -> Result<Self, GpuError>;
}

/// Which way a staging memory is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Written by the host, read by the device.
    Upload,
    /// Written by the device, read by the host.
    Download,
}

/// What an operation needs beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scratch {
    /// Bytes of device memory, contents unspecified.
    pub bytes: usize,
}

/// The bytes of one fault slot: see `execute_fault_is_noted_once` at [`Execute::execute`].
pub const FAULT_SLOT_BYTES: usize = 16;

/// A range of bytes of a buffer: what an operation or a copy is given.
pub struct Arg<'a, B: Backend> {
    /// The buffer.
    pub buffer: &'a Buffer<B>,
    /// First byte of the range.
    pub offset: usize,
    /// Bytes of the range.
    pub len: usize,
}

impl<B: Backend> Clone for Arg<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Backend> Copy for Arg<'_, B> {}

impl<B: Backend> fmt::Debug for Arg<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arg")
            .field("buffer", &self.buffer)
            .field("offset", &self.offset)
            .field("len", &self.len)
            .finish()
    }
}
