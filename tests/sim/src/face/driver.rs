//! [`Sim`]: the driver traits, each method one call of the device.
//!
//! # Safety
//!
//! The implementor's promises are the device's: allocations are disjoint and its addresses of one
//! opening get ids that never come again; a query answers yes, and a synchronisation returns, only
//! when what they cover has run or was thrown away; a wait holds its stream back; items touch the
//! spans that they were given, or fail. All of it is checked and nothing here touches memory.

#![expect(unsafe_code, reason = "implements the unsafe driver traits")]

use super::cause::{Asked, cause};
use super::kernel::{HOST, kernel};
use super::traits::Traits;
use crate::device::{Address, Config, EventId, Failure, FaultPlan, Machine, Span, StreamId};
use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, Buffer, DeviceInfo, Direction, Discover,
    Driver, Execute, GpuError, MemoryInfo, Op, Scratch, StorageIdentity,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// One opening of one simulated device.
pub struct Sim {
    machine: Machine,
    device: usize,
    info: DeviceInfo,
    domain: AllocationDomainId,
    scratch: usize,
    next_allocation: AtomicU64,
}

/// The handle to one allocation.
#[derive(Debug)]
pub struct Block(Address);

/// A stream of the device.
#[derive(Debug)]
pub struct Stream(StreamId);

/// An event of the device.
#[derive(Debug)]
pub struct Event(EventId);

/// Pinned memory, and whether the host has access to it now.
#[derive(Debug)]
pub struct Staging {
    start: Address,
    bytes: usize,
    direction: Direction,
    accessible: bool,
}

impl Sim {
    /// Opens device `ordinal` of `machine`, which may be open already.
    ///
    /// # Errors
    /// `Unavailable` when the machine has no such device or the device cannot be used.
    pub fn open_on(machine: &Machine, ordinal: usize, traits: &Traits) -> Result<Self, GpuError> {
        let count = machine.devices();
        if ordinal >= count {
            let detail = format!("simulated device {ordinal} was asked for; there are {count}");
            return Err(GpuError::Unavailable { detail });
        }
        let memory = machine
            .memory(ordinal)
            .map_err(|failure| GpuError::Unavailable {
                detail: failure.to_string(),
            })?;
        Ok(Self {
            machine: machine.clone(),
            device: ordinal,
            info: traits.describe(&HOST, ordinal, memory.total),
            domain: AllocationDomainId::fresh(),
            scratch: traits.scratch,
            next_allocation: AtomicU64::new(1),
        })
    }

    /// The machine that it is a device of.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    fn memory_cause(&self, bytes: usize, failure: &Failure) -> GpuError {
        // A device that cannot even say what it has left has nothing to give.
        let memory = self.machine.memory(self.device);
        let available = memory.map_or(0, |memory| memory.available);
        cause(Asked::Memory { bytes, available }, failure)
    }
}

impl Backend for Sim {
    type Allocation = Block;
}

/// The first byte of an argument.
const fn start(arg: &Arg<'_, Sim>) -> Address {
    arg.buffer.allocation().0.plus(arg.offset)
}

/// The cause of a failed call of this name.
fn called(name: &'static str) -> impl Fn(Failure) -> GpuError {
    move |failure| cause(Asked::Call(name), &failure)
}

fn staged(failure: Failure) -> GpuError {
    cause(Asked::Staged, &failure)
}

fn direct(failure: Failure) -> GpuError {
    cause(Asked::Direct, &failure)
}

impl Staging {
    /// Where byte `at` is, if the host may touch `len` bytes from there on this way.
    fn place(&self, at: usize, len: usize, direction: Direction) -> Result<Address, GpuError> {
        let inside = at.checked_add(len).is_some_and(|end| end <= self.bytes);
        if self.direction == direction && self.accessible && inside {
            return Ok(self.start.plus(at));
        }
        let detail = format!("a bug above the simulated device: {len} bytes at {at} of {self:?}");
        Err(GpuError::Broken { detail })
    }

    /// Where byte `at` is, for a copy of the device.
    fn copied(&self, at: usize, direction: Direction) -> Result<Address, GpuError> {
        if self.direction == direction && !self.accessible {
            return Ok(self.start.plus(at));
        }
        let detail = format!("a bug above the simulated device: a copy names {self:?}");
        Err(GpuError::Broken { detail })
    }
}

// SAFETY: as stated under Safety above: the device keeps each promise, and checks what it is given.
unsafe impl Driver for Sim {
    type Stream = Stream;
    type Event = Event;
    type Staging = Staging;

    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn domain(&self) -> AllocationDomainId {
        self.domain
    }

    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        let memory = self.machine.memory(self.device);
        memory.map_err(called("memory")).map(|memory| MemoryInfo {
            available: memory.available,
            total: memory.total,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let allocated = self.machine.allocate(self.device, bytes);
        let address = allocated.map_err(|failure| self.memory_cause(bytes, &failure))?;
        let id = self.next_allocation.fetch_add(1, Ordering::Relaxed);
        let identity = StorageIdentity {
            domain: self.domain,
            allocation: AllocationId::from_backend_id(id),
            device: self.device,
        };
        Ok(Buffer::new(identity, bytes, Block(address)))
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        let Block(address) = buffer.into_allocation();
        let freed = self.machine.free(self.device, address);
        freed.map_err(called("free"))
    }

    fn create_stream(&self) -> Result<Stream, GpuError> {
        let created = self.machine.create_stream(self.device);
        created.map(Stream).map_err(called("create_stream"))
    }

    fn destroy_stream(&self, stream: Stream) -> Result<(), GpuError> {
        let destroyed = self.machine.destroy_stream(stream.0);
        destroyed.map_err(called("destroy_stream"))
    }

    fn synchronize(&self, stream: &Stream) -> Result<(), GpuError> {
        let done = self.machine.synchronize(stream.0);
        done.map_err(called("synchronize"))
    }

    fn create_event(&self) -> Result<Event, GpuError> {
        let created = self.machine.create_event(self.device);
        created.map(Event).map_err(called("create_event"))
    }

    fn destroy_event(&self, event: Event) -> Result<(), GpuError> {
        let destroyed = self.machine.destroy_event(event.0);
        destroyed.map_err(called("destroy_event"))
    }

    fn record(&self, stream: &Stream, event: &mut Event) -> Result<(), GpuError> {
        let recorded = self.machine.record(stream.0, event.0);
        recorded.map_err(called("record"))
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<(), GpuError> {
        let waited = self.machine.wait(stream.0, event.0);
        waited.map_err(called("wait"))
    }

    fn poll(&self, event: &Event) -> Result<bool, GpuError> {
        self.machine.query(event.0).map_err(called("poll"))
    }

    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<Staging, GpuError> {
        let asked = Asked::Memory {
            bytes,
            available: 0,
        };
        let allocated = self.machine.allocate_pinned(self.device, bytes);
        let start = allocated.map_err(|failure| cause(asked, &failure))?;
        Ok(Staging {
            start,
            bytes,
            direction,
            accessible: false,
        })
    }

    unsafe fn free_staging(&self, staging: Staging) -> Result<(), GpuError> {
        let freed = self.machine.free_pinned(self.device, staging.start);
        freed.map_err(called("free_staging"))
    }

    fn begin_access(&self, staging: &mut Staging, _block: bool) -> Result<bool, GpuError> {
        staging.accessible = true;
        Ok(true)
    }

    fn write(&self, staging: &mut Staging, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        let to = staging.place(at, bytes.len(), Direction::Upload)?;
        self.machine.host_write(to, bytes).map_err(staged)
    }

    fn read(&self, staging: &mut Staging, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        let from = staging.place(at, bytes.len(), Direction::Download)?;
        self.machine.host_read(from, bytes).map_err(staged)
    }

    fn end_access(&self, staging: &mut Staging) -> Result<(), GpuError> {
        staging.accessible = false;
        Ok(())
    }

    unsafe fn copy_in(
        &self,
        stream: &Stream,
        staging: &Staging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let from = staging.copied(at, Direction::Upload)?;
        let copied = self.machine.copy(stream.0, from, start(&to), to.len);
        copied.map_err(staged)
    }

    unsafe fn copy_out(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        staging: &Staging,
        at: usize,
    ) -> Result<(), GpuError> {
        let to = staging.copied(at, Direction::Download)?;
        let copied = self.machine.copy(stream.0, start(&from), to, from.len);
        copied.map_err(staged)
    }

    unsafe fn copy_device(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let copied = self
            .machine
            .copy(stream.0, start(&from), start(&to), from.len);
        copied.map_err(direct)
    }

    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        if !self.info.capabilities.host_visible {
            let detail = "this device's memory is not host-visible";
            return Err(GpuError::unsupported("write_direct", detail));
        }
        self.machine.host_write(start(&to), bytes).map_err(direct)
    }

    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        if !self.info.capabilities.host_visible {
            let detail = "this device's memory is not host-visible";
            return Err(GpuError::unsupported("read_direct", detail));
        }
        self.machine.host_read(start(&from), bytes).map_err(direct)
    }
}

// SAFETY: a kernel declares what it touches from the operation's own views, and the device lets it
// touch nothing else.
unsafe impl Execute for Sim {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        let capabilities = &self.info.capabilities;
        let mut refused = None;
        let visited = op.map_views(|view| {
            let end = view.extent().map(|(_, end)| end);
            let bytes = end.and_then(|end| end.checked_mul(view.dtype.size()));
            if view.rank() > capabilities.strided_rank {
                refused = Some(format!("rank {}", view.rank()));
            } else if bytes.is_none_or(|bytes| bytes > capabilities.max_operand_bytes) {
                refused = Some(format!("an argument of {bytes:?} bytes"));
            }
            view
        });
        match refused {
            Some(detail) => Err(GpuError::unsupported(op.name(), detail)),
            None => HOST.plan(&visited).map(|_| Scratch {
                bytes: self.scratch,
            }),
        }
    }

    unsafe fn execute(
        &self,
        stream: &Stream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        let starts: Vec<Address> = args.iter().map(start).collect();
        let scratch = scratch.map(|arg| Span::new(start(&arg), arg.len));
        let launched =
            kernel(op, &starts, scratch).and_then(|kernel| self.machine.launch(stream.0, kernel));
        launched.map_err(called(op.name()))
    }
}

impl Discover for Sim {
    /// The two devices of any machine that nobody has configured.
    fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
        let memory = Config::default().devices[0];
        let traits = Traits::default();
        let describe = |ordinal| traits.describe(&HOST, ordinal, memory);
        Ok((0..2).map(describe).collect())
    }

    /// Opens a device of a machine of its own: seed 0, no faults.
    fn open(ordinal: usize) -> Result<Self, GpuError> {
        let memory = Config::default().devices[0];
        let config = Config {
            devices: vec![memory; 2],
            ..Config::default()
        };
        let machine = Machine::new(0, config, FaultPlan::default());
        Self::open_on(&machine, ordinal, &Traits::default())
    }
}
