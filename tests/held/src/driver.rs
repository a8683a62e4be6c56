//! The held vendor's side of the seam: checks, counts and queues.
//!
//! # Safety
//!
//! `poll` and `synchronize` answer from marks that are set when their item ran or was thrown away,
//! so what they cover has then ended; memory is the inner vendor's, under ids that are never reused;
//! every range is checked against its block before it is queued.

#![expect(unsafe_code, reason = "implements the unsafe driver traits")]

use crate::calls::Call;
use crate::config::Config;
use crate::control::Controller;
use crate::run::{FRESH, POISON, Shared};
use crate::state::{Block, Event, Item, Mark, Memory, Place, Range, Stage, Staging, State, Stream};
use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, Buffer, DeviceInfo, DeviceKind, Direction,
    Driver, Execute, GpuError, MemoryInfo, Op, OwnedOp, Scratch, StorageIdentity,
};
use std::sync::{Arc, Condvar, Mutex, OnceLock};

/// A vendor that queues everything; `D` is the inline vendor that computes what is released.
pub struct Held<D: Execute>(pub(crate) Arc<Shared<D>>);

impl<D: Execute> Held<D> {
    /// A held device over `inner`, and its controller.
    ///
    /// # Errors
    /// When `inner` gives no stream, or its memory is not host-visible.
    pub fn new(inner: D, config: Config) -> Result<(Self, Controller<D>), GpuError> {
        if !inner.device().capabilities.host_visible {
            let detail = "the inner vendor's memory must be host-visible";
            return Err(GpuError::unsupported("held", detail));
        }
        let mut info = DeviceInfo::new(
            "held",
            config.ordinal,
            "held test device",
            DeviceKind::Simulated,
        );
        info.memory_bytes = config.memory_bytes;
        info.capabilities = inner.device().capabilities.clone();
        let capabilities = &mut info.capabilities;
        capabilities.host_visible = config.host_visible;
        capabilities.strided_rank = config.strided_rank.min(capabilities.strided_rank);
        capabilities.max_operand_bytes = config.max_operand_bytes;
        capabilities.max_allocation_bytes = config.max_allocation_bytes;
        capabilities.offset_alignment = config.offset_alignment;
        capabilities.copy_granularity = config.copy_granularity;
        let stream = inner.create_stream()?;
        let state = Mutex::new(State::new(config));
        let domain = AllocationDomainId::fresh();
        let changed = Condvar::new();
        let shared = Arc::new(Shared {
            inner,
            stream,
            info,
            domain,
            state,
            changed,
        });
        Ok((Self(Arc::clone(&shared)), Controller(shared)))
    }

    /// One more controller of this device.
    #[must_use]
    pub fn controller(&self) -> Controller<D> {
        Controller(Arc::clone(&self.0))
    }
}

impl<D: Execute> Backend for Held<D> {
    type Allocation = Block;
}

// SAFETY: allocations are the inner vendor's, under ids never reused; marks are set only when what
// they cover ran or was thrown away; a wait item holds its stream back until its mark is set; items
// touch the ranges that were checked when they were enqueued.
unsafe impl<D: Execute> Driver for Held<D> {
    type Stream = Stream;
    type Event = Event;
    type Staging = Staging;

    fn device(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn domain(&self) -> AllocationDomainId {
        self.0.domain
    }

    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        let state = self.0.enter(Call::Memory)?;
        let total = state.config.memory_bytes;
        let used = state.ledger.bytes + state.ledger.lost_bytes;
        Ok(MemoryInfo {
            available: total.saturating_sub(used),
            total,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let mut state = self.0.enter(Call::Allocate)?;
        if bytes == 0 || bytes > state.config.max_allocation_bytes {
            return Err(state.violation("allocate", format!("{bytes} bytes")));
        }
        let used = state.ledger.bytes + state.ledger.lost_bytes;
        let available = state.config.memory_bytes.saturating_sub(used);
        if bytes > available {
            return Err(GpuError::OutOfMemory {
                requested: bytes,
                available,
            });
        }
        let buffer = self.0.inner.allocate(bytes)?;
        let id = state.next_id;
        state.next_id += 1;
        state.blocks.insert(
            id,
            Memory {
                buffer,
                freed: false,
            },
        );
        state.ledger.allocations += 1;
        state.ledger.bytes += bytes;
        state.ledger.peak_bytes = state.ledger.peak_bytes.max(state.ledger.bytes);
        let whole = Range {
            place: Place::Block(id),
            offset: 0,
            len: bytes,
        };
        self.0.fill(&mut state, &whole, FRESH)?;
        let identity = StorageIdentity {
            domain: self.domain(),
            allocation: AllocationId::from_backend_id(id),
            device: self.0.info.ordinal,
        };
        Ok(Buffer::new(identity, bytes, Block(id)))
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        let bytes = buffer.len();
        let id = buffer.into_allocation().0;
        let entered = self.0.enter(Call::Free);
        let mut state = match entered {
            Ok(state) => state,
            Err(cause) => {
                let mut state = self.0.lock();
                state.ledger.allocations -= 1;
                state.ledger.bytes -= bytes;
                state.ledger.lost_bytes += bytes;
                return Err(cause);
            }
        };
        let whole = Range {
            place: Place::Block(id),
            offset: 0,
            len: bytes,
        };
        if state.blocks.get(&id).is_none_or(|memory| memory.freed) {
            return Err(state.violation("free", format!("block {id} is not alive")));
        }
        state.ledger.allocations -= 1;
        state.ledger.bytes -= bytes;
        if let Some(item) = state.queued(&whole, false) {
            let cause = state.violation("free", format!("a queued {item} touches block {id}"));
            // Kept until the device goes, so that the item harms nobody but its own result.
            self.0.fill(&mut state, &whole, POISON)?;
            if let Some(memory) = state.blocks.get_mut(&id) {
                memory.freed = true;
            }
            return Err(cause);
        }
        self.0.fill(&mut state, &whole, POISON)?;
        match state.blocks.remove(&id) {
            Some(memory) => self.0.release(memory.buffer),
            None => Ok(()),
        }
    }

    fn create_stream(&self) -> Result<Stream, GpuError> {
        let mut state = self.0.enter(Call::CreateStream)?;
        let number = state.next_stream;
        state.next_stream += 1;
        state.queues.entry(number).or_default();
        state.ledger.streams += 1;
        Ok(Stream(number))
    }

    fn destroy_stream(&self, stream: Stream) -> Result<(), GpuError> {
        let Stream(_) = stream;
        let entered = self.0.enter(Call::DestroyStream).map(drop);
        self.0.lock().ledger.streams -= 1;
        entered
    }

    fn synchronize(&self, stream: &Stream) -> Result<(), GpuError> {
        let state = self.0.enter(Call::Synchronize)?;
        let goal = state.queues.get(&stream.0).map_or(0, |queue| queue.end());
        let done = |state: &mut State<D>| {
            if state.config.auto {
                self.0.run_to(state, stream.0, goal);
            }
            if let Some(cause) = &state.failed {
                return Some(Err(cause.clone()));
            }
            let ran = state.queues.get(&stream.0).map_or(goal, |queue| queue.ran);
            (ran >= goal).then_some(Ok(()))
        };
        self.0.block(state, "synchronize", done).1
    }

    fn create_event(&self) -> Result<Event, GpuError> {
        self.0.enter(Call::CreateEvent)?.ledger.events += 1;
        Ok(Event(None))
    }

    fn destroy_event(&self, event: Event) -> Result<(), GpuError> {
        drop(event);
        let entered = self.0.enter(Call::DestroyEvent).map(drop);
        self.0.lock().ledger.events -= 1;
        entered
    }

    fn record(&self, stream: &Stream, event: &mut Event) -> Result<(), GpuError> {
        let state = self.0.enter(Call::Record)?;
        let seq = state.queues.get(&stream.0).map_or(0, |queue| queue.end());
        let mark = Arc::new(Mark {
            stream: stream.0,
            seq,
            outcome: OnceLock::new(),
        });
        event.0 = Some(Arc::clone(&mark));
        self.enqueue(state, stream, Item::Record(mark));
        Ok(())
    }

    fn wait(&self, stream: &Stream, event: &Event) -> Result<(), GpuError> {
        let state = self.0.enter(Call::Wait)?;
        if let Some(mark) = &event.0 {
            self.enqueue(state, stream, Item::Wait(Arc::clone(mark)));
        }
        Ok(())
    }

    fn poll(&self, event: &Event) -> Result<bool, GpuError> {
        let mut state = self.0.enter_failed(Call::Poll)?;
        let Some(mark) = &event.0 else {
            return Ok(true);
        };
        self.0.run_for(&mut state, mark);
        mark.outcome
            .get()
            .cloned()
            .transpose()
            .map(|done| done.is_some())
    }

    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<Staging, GpuError> {
        let mut state = self.0.enter(Call::AllocStaging)?;
        if bytes == 0 || !bytes.is_multiple_of(state.config.copy_granularity) {
            return Err(state.violation("alloc_staging", format!("{bytes} bytes")));
        }
        let id = state.next_id;
        state.next_id += 1;
        let stage = Stage {
            bytes: vec![FRESH; bytes],
            direction,
            accessible: false,
            refusals: 0,
        };
        state.stagings.insert(id, stage);
        let ledger = &mut state.ledger;
        ledger.stagings += 1;
        ledger.staging_bytes += bytes;
        ledger.peak_staging_bytes = ledger.peak_staging_bytes.max(ledger.staging_bytes);
        Ok(Staging(id))
    }

    unsafe fn free_staging(&self, staging: Staging) -> Result<(), GpuError> {
        let entered = self.0.enter(Call::FreeStaging).map(drop);
        let mut state = self.0.lock();
        let len = state
            .stagings
            .get(&staging.0)
            .map_or(0, |stage| stage.bytes.len());
        let whole = Range {
            place: Place::Staging(staging.0),
            offset: 0,
            len,
        };
        state.ledger.stagings -= 1;
        state.ledger.staging_bytes -= len;
        if let Some(item) = state.queued(&whole, false) {
            return Err(state.violation("free_staging", format!("a queued {item} names it")));
        }
        state.stagings.remove(&staging.0);
        entered
    }

    fn begin_access(&self, staging: &mut Staging, block: bool) -> Result<bool, GpuError> {
        let mut state = self.0.enter(Call::BeginAccess)?;
        let len = state
            .stagings
            .get(&staging.0)
            .map_or(0, |stage| stage.bytes.len());
        let whole = Range {
            place: Place::Staging(staging.0),
            offset: 0,
            len,
        };
        if let Some(item) = state.queued(&whole, false) {
            return Err(state.violation("begin_access", format!("a queued {item} names it")));
        }
        let Some(stage) = state
            .stagings
            .get_mut(&staging.0)
            .filter(|stage| !stage.accessible)
        else {
            return Err(state.violation("begin_access", String::from("not alive, or begun twice")));
        };
        if stage.refusals > 0 && !block {
            stage.refusals -= 1;
            return Ok(false);
        }
        stage.refusals = 0;
        stage.accessible = true;
        Ok(true)
    }

    fn write(&self, staging: &mut Staging, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::Write)?;
        let part = (at, bytes.len());
        Self::access(&mut state, "write", staging, part, Direction::Upload)?.copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, staging: &mut Staging, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::Read)?;
        let part = (at, bytes.len());
        bytes.copy_from_slice(Self::access(
            &mut state,
            "read",
            staging,
            part,
            Direction::Download,
        )?);
        Ok(())
    }

    fn end_access(&self, staging: &mut Staging) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::EndAccess)?;
        match state
            .stagings
            .get_mut(&staging.0)
            .filter(|stage| stage.accessible)
        {
            Some(stage) => stage.accessible = false,
            None => return Err(state.violation("end_access", String::from("never begun"))),
        }
        Ok(())
    }

    unsafe fn copy_in(
        &self,
        stream: &Stream,
        staging: &Staging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::CopyIn)?;
        let to_range = self.granular(&mut state, "copy_in", to)?;
        let part = (at, to.len);
        let from = Self::staged(&mut state, "copy_in", staging, part, Direction::Upload)?;
        let refusals = state.config.access_refusals;
        if let Some(stage) = state.stagings.get_mut(&staging.0) {
            stage.refusals = refusals;
        }
        self.copy(state, stream, "copy_in", (from, to_range))
    }

    unsafe fn copy_out(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        staging: &Staging,
        at: usize,
    ) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::CopyOut)?;
        let from_range = self.granular(&mut state, "copy_out", from)?;
        let part = (at, from.len);
        let to = Self::staged(&mut state, "copy_out", staging, part, Direction::Download)?;
        let refusals = state.config.access_refusals;
        if let Some(stage) = state.stagings.get_mut(&staging.0) {
            stage.refusals = refusals;
        }
        self.copy(state, stream, "copy_out", (from_range, to))
    }

    unsafe fn copy_device(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::CopyDevice)?;
        if from.len != to.len {
            let text = format!("{} bytes to {}", from.len, to.len);
            return Err(state.violation("copy_device", text));
        }
        let from = Self::range(&mut state, "copy_device", from)?;
        let to = Self::range(&mut state, "copy_device", to)?;
        self.copy(state, stream, "copy_device", (from, to))
    }

    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::WriteDirect)?;
        let range = Self::direct(&mut state, "write_direct", to, bytes.len(), false)?;
        self.0.poke(&mut state, &range, bytes)
    }

    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::ReadDirect)?;
        let range = Self::direct(&mut state, "read_direct", from, bytes.len(), true)?;
        self.0.peek(&state, &range, bytes)
    }
}

// SAFETY: the inner vendor computes, on arguments that were checked against the operation.
unsafe impl<D: Execute> Execute for Held<D> {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        let config = self.0.enter_failed(Call::Plan)?.config.clone();
        let mut refused = None;
        let visited = op.map_views(|view| {
            let bytes = view
                .extent()
                .map(|(_, end)| end.saturating_mul(view.dtype.size()));
            if view.rank() > config.strided_rank {
                refused = Some(format!(
                    "rank {} (at most {})",
                    view.rank(),
                    config.strided_rank
                ));
            } else if bytes.is_none_or(|bytes| bytes > config.max_operand_bytes) {
                refused = Some(format!(
                    "{bytes:?} bytes (at most {})",
                    config.max_operand_bytes
                ));
            }
            view
        });
        match refused {
            Some(detail) => Err(GpuError::unsupported(op.name(), detail)),
            None => self.0.inner.plan(&visited),
        }
    }

    unsafe fn execute(
        &self,
        stream: &Stream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        let mut state = self.0.enter(Call::Execute)?;
        let planned = match self.0.inner.plan(op) {
            Ok(scratch) => scratch.bytes,
            Err(cause) => return Err(state.violation("execute", format!("not planned: {cause}"))),
        };
        if scratch.map_or(0, |arg| arg.len) < planned {
            return Err(
                state.violation("execute", format!("less scratch than the {planned} bytes"))
            );
        }
        let mut ranges = Vec::with_capacity(args.len());
        for arg in args {
            ranges.push(Self::range(&mut state, "execute", *arg)?);
        }
        let scratch = match scratch {
            Some(arg) => Some(Self::range(&mut state, "execute", arg)?),
            None => None,
        };
        if let Some(text) = crate::check::broken(op, &ranges, &state.config) {
            return Err(state.violation("execute", format!("{}: {text}", op.name())));
        }
        if scratch.is_some_and(|scratch| ranges.iter().any(|range| range.overlaps(&scratch))) {
            return Err(
                state.violation("execute", String::from("the scratch overlaps an argument"))
            );
        }
        let item = Item::Execute {
            op: Box::new(OwnedOp::new(op)),
            args: ranges,
            scratch,
        };
        self.enqueue(state, stream, item);
        Ok(())
    }
}
