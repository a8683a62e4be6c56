//! [`Host`]: the driver traits, inline.
//!
//! Promises [`Driver`], [`Execute`] and [`Discover`] as the seam states them. Every call has
//! completed when it returns; streams and events are empty shells, and an event is always complete.
//! Knows nothing of how operations are computed: that is [`ops`](crate::ops).
//!
//! # Safety
//!
//! The implementor's promises hold because nothing is deferred: what an event covers has finished
//! before the event can be recorded. Memory is touched only inside the ranges that the caller's
//! contract makes valid; staging memory, which safe calls reach, is checked here.

#![expect(unsafe_code, reason = "implements the unsafe driver traits")]

use crate::memory::{ALIGNMENT, Block, Memory, machine_total};
use crate::ops;
use crate::ops::raw::{Args, MOST_ARGS, RawArg};
use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, Buffer, Capabilities, DeviceInfo, DeviceKind,
    Direction, Discover, Driver, Execute, GpuError, MemoryInfo, Op, Scratch, StorageIdentity,
    Subnormals,
};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The host's own processor as a device.
#[derive(Debug)]
pub struct Host {
    info: DeviceInfo,
    domain: AllocationDomainId,
    memory: Memory,
    next_allocation: AtomicU64,
}

/// A stream of the host: nothing, since all work is done at once.
#[derive(Debug)]
pub struct HostStream(());

/// An event of the host: nothing, since all work is done at once.
#[derive(Debug)]
pub struct HostEvent(());

/// Staging memory of the host.
#[derive(Debug)]
pub struct HostStaging {
    block: Block,
    direction: Direction,
    accessible: bool,
}

impl Host {
    /// The host with all of the machine's memory (or what its control group allows).
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(machine_total())
    }

    /// The host with at most `bytes` of memory in use at a time, staging included. Whatever the
    /// limit, what the machine does not have available is refused.
    #[must_use]
    pub fn with_limit(bytes: usize) -> Self {
        Self {
            info: describe(bytes),
            domain: AllocationDomainId::fresh(),
            memory: Memory::with_limit(bytes),
            next_allocation: AtomicU64::new(1),
        }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Host {
    type Allocation = Block;
}

/// What the host says of itself, with `bytes` of memory.
fn describe(bytes: usize) -> DeviceInfo {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let name = format!("host ({}, {threads} threads)", std::env::consts::ARCH);
    let mut info = DeviceInfo::new("host", 0, name, DeviceKind::Host);
    info.memory_bytes = bytes;
    info.capabilities = capabilities(bytes);
    info
}

/// What the host can do.
fn capabilities(bytes: usize) -> Capabilities {
    let mut capabilities = Capabilities::default();
    capabilities.support = ops::support_table();
    capabilities.host_visible = true;
    capabilities.strided_rank = gpu_seam::MAX_RANK;
    capabilities.max_operand_bytes = isize::MAX.unsigned_abs();
    capabilities.max_allocation_bytes = bytes.min(isize::MAX.unsigned_abs() - ALIGNMENT);
    capabilities.offset_alignment = ALIGNMENT;
    capabilities.copy_granularity = 1;
    capabilities.subnormals = Subnormals::Kept;
    capabilities
}

/// The first byte of a range.
const fn start(arg: Arg<'_, Host>) -> NonNull<u8> {
    let block = arg.buffer.allocation().start().as_ptr();
    // The caller's contract puts the range inside the block, so this neither wraps nor is null.
    match NonNull::new(block.wrapping_add(arg.offset)) {
        Some(start) => start,
        None => NonNull::dangling(),
    }
}

/// An error that says that gpu-dispatch broke the staging protocol.
fn misuse(detail: String) -> GpuError {
    GpuError::transfer(true, format!("a bug above the host vendor: {detail}"))
}

impl HostStaging {
    /// The `len` bytes from `at`, if the host has access for `direction` and they lie inside.
    fn range(&self, at: usize, len: usize, direction: Direction) -> Result<*mut u8, GpuError> {
        if self.direction != direction || !self.accessible {
            return Err(misuse(format!(
                "staging for {:?} (accessible: {}) was used for {direction:?}",
                self.direction, self.accessible
            )));
        }
        if at.checked_add(len).is_none_or(|end| end > self.block.len()) {
            return Err(misuse(format!(
                "{len} bytes at {at} of a staging of {} bytes",
                self.block.len()
            )));
        }
        Ok(self.block.start().as_ptr().wrapping_add(at))
    }
}

// SAFETY: allocations are the global allocator's, each given once; every call completes before it
// returns, so events and synchronisation cover only finished work; copies touch the given ranges.
unsafe impl Driver for Host {
    type Stream = HostStream;
    type Event = HostEvent;
    type Staging = HostStaging;

    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn domain(&self) -> AllocationDomainId {
        self.domain
    }

    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        Ok(MemoryInfo {
            available: self.memory.available(),
            total: self.memory.limit(),
        })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let block = self.memory.allocate(bytes)?;
        let id = self.next_allocation.fetch_add(1, Ordering::Relaxed);
        let identity = StorageIdentity {
            domain: self.domain,
            allocation: AllocationId::from_backend_id(id),
            device: 0,
        };
        Ok(Buffer::new(identity, bytes, block))
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        if buffer.identity().domain != self.domain {
            return Err(GpuError::ForeignDomain);
        }
        // SAFETY: the domain is this driver's, so the block is this memory's; the caller promises
        // that nothing uses it.
        unsafe { self.memory.free(buffer.into_allocation()) };
        Ok(())
    }

    fn create_stream(&self) -> Result<HostStream, GpuError> {
        Ok(HostStream(()))
    }

    fn destroy_stream(&self, _stream: HostStream) -> Result<(), GpuError> {
        Ok(())
    }

    fn synchronize(&self, _stream: &HostStream) -> Result<(), GpuError> {
        Ok(())
    }

    fn create_event(&self) -> Result<HostEvent, GpuError> {
        Ok(HostEvent(()))
    }

    fn destroy_event(&self, _event: HostEvent) -> Result<(), GpuError> {
        Ok(())
    }

    fn record(&self, _stream: &HostStream, _event: &mut HostEvent) -> Result<(), GpuError> {
        Ok(())
    }

    fn wait(&self, _stream: &HostStream, _event: &HostEvent) -> Result<(), GpuError> {
        Ok(())
    }

    fn poll(&self, _event: &HostEvent) -> Result<bool, GpuError> {
        Ok(true)
    }

    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<HostStaging, GpuError> {
        let block = self.memory.allocate(bytes)?;
        // SAFETY: the block is `len` bytes long and nothing else uses it. Written once, so that
        // no read of it is ever of uninitialised memory.
        unsafe { block.start().as_ptr().write_bytes(0, block.len()) };
        Ok(HostStaging {
            block,
            direction,
            accessible: false,
        })
    }

    unsafe fn free_staging(&self, staging: HostStaging) -> Result<(), GpuError> {
        // SAFETY: it is this driver's by contract, and nothing uses it.
        unsafe { self.memory.free(staging.block) };
        Ok(())
    }

    fn begin_access(&self, staging: &mut HostStaging, _block: bool) -> Result<bool, GpuError> {
        staging.accessible = true;
        Ok(true)
    }

    fn write(&self, staging: &mut HostStaging, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        let to = staging.range(at, bytes.len(), Direction::Upload)?;
        // SAFETY: `range` checked that the destination is inside the block, which nothing else
        // names while it is borrowed mutably; a block and a slice never overlap.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    fn read(&self, staging: &mut HostStaging, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        let from = staging.range(at, bytes.len(), Direction::Download)?;
        // SAFETY: as in `write`, the other way round.
        unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn end_access(&self, staging: &mut HostStaging) -> Result<(), GpuError> {
        staging.accessible = false;
        Ok(())
    }

    unsafe fn copy_in(
        &self,
        _stream: &HostStream,
        staging: &HostStaging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let from = staging.block.start().as_ptr().wrapping_add(at);
        // SAFETY: the caller promises both ranges; a staging is a block of its own.
        unsafe { start(to).as_ptr().copy_from_nonoverlapping(from, to.len) };
        Ok(())
    }

    unsafe fn copy_out(
        &self,
        _stream: &HostStream,
        from: Arg<'_, Self>,
        staging: &HostStaging,
        at: usize,
    ) -> Result<(), GpuError> {
        let to = staging.block.start().as_ptr().wrapping_add(at);
        // SAFETY: as in `copy_in`.
        unsafe { to.copy_from_nonoverlapping(start(from).as_ptr(), from.len) };
        Ok(())
    }

    unsafe fn copy_device(
        &self,
        _stream: &HostStream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let source = start(from).as_ptr();
        // SAFETY: the caller promises that both ranges lie inside their buffers, are equally long
        // and do not overlap.
        unsafe { start(to).as_ptr().copy_from_nonoverlapping(source, to.len) };
        Ok(())
    }

    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the caller promises that the range is as long as `bytes` and that nothing uses it.
        unsafe {
            start(to)
                .as_ptr()
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        };
        Ok(())
    }

    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        // SAFETY: the caller promises that the range is as long as `bytes` and that nothing writes
        // it.
        unsafe {
            start(from)
                .as_ptr()
                .copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len());
        };
        Ok(())
    }
}

// SAFETY: operations reach memory through `Args` alone, which hands out the windows of the
// operation's own views; outputs, the scratch and the fault slot are all that is written.
unsafe impl Execute for Host {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        ops::plan(op)
    }

    unsafe fn execute(
        &self,
        _stream: &HostStream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        _scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        let mut list = [RawArg::EMPTY; MOST_ARGS];
        let count = args.len();
        if count != Args::expected(op) {
            return Err(GpuError::unsupported(
                op.name(),
                format!(
                    "a bug above the host vendor: {count} arguments instead of {}",
                    Args::expected(op)
                ),
            ));
        }
        for (slot, arg) in list.iter_mut().zip(args) {
            *slot = RawArg::new(start(*arg), arg.len);
        }
        // SAFETY: the caller promises that the arguments fit the operation, live until it has
        // completed (it has when `execute` returns), and are used by nothing that is not ordered
        // before or after it; their number was checked.
        let args = unsafe { Args::new(op, &list) };
        ops::execute(op, &args)
    }
}

impl Discover for Host {
    fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
        Ok(vec![describe(machine_total())])
    }

    fn open(ordinal: usize) -> Result<Self, GpuError> {
        if ordinal == 0 {
            Ok(Self::new())
        } else {
            Err(GpuError::Unavailable {
                detail: format!("host device {ordinal} was asked for; there is 1, with ordinal 0"),
            })
        }
    }
}
