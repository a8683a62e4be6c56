//! The driver: a wgpu device as the seam's traits want it.
//!
//! Promises what [`Driver`] asks, on any adapter that wgpu finds. Validates nothing that
//! gpu-dispatch has validated. What computes is in [`execute`](crate::execute).
//!
//! # Safety
//!
//! wgpu itself keeps every buffer alive that submitted commands name and checks every range, so the
//! promises of the traits rest on order and completion alone:
//!
//! - one queue, to which streams submit in the order of their calls, and wgpu's barriers between
//!   commands on one buffer, order everything that is recorded on one stream;
//! - an event is a number of a submission, and counts as complete only when wgpu's own callback or
//!   wait has said so;
//! - an event is recorded by submitting what it covers, so every later submission of any stream is
//!   behind it on the queue: that is why `wait` has nothing to do.

#![expect(
    unsafe_code,
    reason = "implements the unsafe driver trait; see # Safety"
)]

use crate::adapter;
use crate::bindings::{Bindings, Reach};
use crate::copies::{copy_bytes, copy_words};
use crate::features::Features;
use crate::health::{Health, ready};
use crate::memory::{Allocation, Ledger};
use crate::pipelines::Pipelines;
use crate::queue::{Queue, Submission};
use crate::staging::Staging;
use crate::stream::{Copy, Stream};
use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, Buffer, DeviceInfo, Direction, Discover,
    Driver, GpuError, MemoryInfo, StorageIdentity,
};
use std::sync::Arc;

/// Buffers are multiples of this, in bytes: the largest element, and the padding that whole words
/// at the end of a packed argument reach into.
const GRAIN: usize = 16;

/// An open wgpu device.
pub struct Wgpu {
    pub(crate) info: DeviceInfo,
    pub(crate) features: Features,
    domain: AllocationDomainId,
    pub(crate) health: Arc<Health>,
    pub(crate) reach: Reach,
    ledger: Ledger,
    pub(crate) bindings: Bindings,
    pub(crate) pipelines: Pipelines,
    pub(crate) queue: Queue,
    pub(crate) device: wgpu::Device,
}

/// A point in a stream: the submission that covers it, if anything was recorded before it.
#[derive(Debug, Default)]
pub struct Event {
    covers: Option<Submission>,
}

impl Wgpu {
    /// Opens `adapter` as what `info` says it is, with all that it offers.
    fn connect(adapter: &wgpu::Adapter, info: DeviceInfo) -> Result<Self, GpuError> {
        let limits = adapter.limits();
        let features = Features::of(adapter);
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("gpu-wgpu"),
            required_features: features.required(),
            required_limits: limits.clone(),
            // The engine's pool cuts large buffers itself.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        });
        let (device, queue) = ready(request).map_err(|error| GpuError::Unavailable {
            detail: format!("wgpu found {} but could not open it: {error}", info.name),
        })?;
        let health = Arc::new(Health::default());
        health.watch(&device);
        let reach = Reach {
            limit: adapter::operand_limit(&limits),
            alignment: info.capabilities.offset_alignment,
        };
        let bindings = Bindings::new(&device);
        health.check()?;
        Ok(Self {
            features,
            domain: AllocationDomainId::fresh(),
            health,
            reach,
            ledger: Ledger::new(info.memory_bytes),
            bindings,
            pipelines: Pipelines::default(),
            queue: Queue::new(device.clone(), queue),
            device,
            info,
        })
    }
}

impl Backend for Wgpu {
    type Allocation = Allocation;
}

// SAFETY: the module's # Safety gives the reasons: `allocate` creates a new buffer with a number of
// its own; `poll` and `synchronize` answer by wgpu's word; `wait` is met by the order of
// submission; copies name exactly the ranges that they are given.
unsafe impl Driver for Wgpu {
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
        self.health.check()?;
        Ok(MemoryInfo {
            available: self.ledger.available(),
            total: self.ledger.total(),
        })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        self.health.guard("allocate", || {
            let out_of_memory = |available| GpuError::OutOfMemory {
                requested: bytes,
                available,
            };
            let size = bytes
                .checked_next_multiple_of(GRAIN)
                .ok_or_else(|| out_of_memory(self.ledger.available()))?;
            self.ledger.take(size).map_err(out_of_memory)?;
            let available = self.ledger.available();
            let made = self.health.scoped(&self.device, bytes, available, || {
                self.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("memory"),
                    size: size as u64,
                    usage: wgpu::BufferUsages::STORAGE
                        | wgpu::BufferUsages::COPY_SRC
                        | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            });
            let buffer = made.inspect_err(|_| self.ledger.give(size))?;
            let id = self.ledger.next_id();
            let identity = StorageIdentity {
                domain: self.domain,
                allocation: AllocationId::from_backend_id(id),
                device: self.info.ordinal,
            };
            Ok(Buffer::new(identity, bytes, Allocation::new(buffer, id)))
        })
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        self.health.quiet("free", || {
            let allocation = buffer.into_allocation();
            self.bindings.forget(allocation.id());
            let buffer = allocation.into_buffer();
            let size = usize::try_from(buffer.size()).unwrap_or(usize::MAX);
            drop(buffer);
            // wgpu lets go of what finished work named when it is polled.
            if self.health.check().is_ok() {
                self.queue.poll(&self.health)?;
            }
            self.ledger.give(size);
            Ok(())
        })
    }

    fn create_stream(&self) -> Result<Stream, GpuError> {
        self.health.guard("create_stream", || {
            Ok(Stream::new(&self.device, self.bindings.params()))
        })
    }

    fn destroy_stream(&self, stream: Stream) -> Result<(), GpuError> {
        self.health.quiet("destroy_stream", || {
            if self.health.check().is_ok() {
                stream.lock().submit(&self.queue);
            }
            drop(stream);
            Ok(())
        })
    }

    fn synchronize(&self, stream: &Stream) -> Result<(), GpuError> {
        self.health.guard("synchronize", || {
            let covers = stream.lock().submit(&self.queue);
            covers.map_or(Ok(()), |covers| self.queue.wait(&covers, &self.health))
        })
    }

    fn create_event(&self) -> Result<Event, GpuError> {
        Ok(Event::default())
    }

    fn destroy_event(&self, _: Event) -> Result<(), GpuError> {
        Ok(())
    }

    fn record(&self, stream: &Stream, event: &mut Event) -> Result<(), GpuError> {
        event.covers = self
            .health
            .guard("record", || Ok(stream.lock().submit(&self.queue)))?;
        Ok(())
    }

    fn wait(&self, _: &Stream, _: &Event) -> Result<(), GpuError> {
        // What the event covers was submitted when it was recorded; what this stream records from
        // now on is submitted later, to the same queue.
        self.health.check()
    }

    fn poll(&self, event: &Event) -> Result<bool, GpuError> {
        let Some(covers) = &event.covers else {
            return Ok(true);
        };
        if self.queue.is_complete(covers.seq) {
            return Ok(true);
        }
        self.health.guard("poll", || {
            self.queue.poll(&self.health)?;
            Ok(self.queue.is_complete(covers.seq))
        })
    }

    fn alloc_staging(&self, bytes: usize, direction: Direction) -> Result<Staging, GpuError> {
        self.health.guard("alloc_staging", || {
            let available = self.ledger.available();
            self.health.scoped(&self.device, bytes, available, || {
                Staging::new(&self.device, bytes, direction)
            })
        })
    }

    unsafe fn free_staging(&self, staging: Staging) -> Result<(), GpuError> {
        self.health.quiet("free_staging", || {
            let mut staging = staging;
            staging.end();
            drop(staging);
            Ok(())
        })
    }

    fn begin_access(&self, staging: &mut Staging, block: bool) -> Result<bool, GpuError> {
        self.health.guard("begin_access", || {
            staging.begin(&self.queue, &self.health, block)
        })
    }

    fn write(&self, staging: &mut Staging, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        self.health.guard("write", || staging.write(at, bytes))
    }

    fn read(&self, staging: &mut Staging, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.health.guard("read", || staging.read(at, bytes))
    }

    fn end_access(&self, staging: &mut Staging) -> Result<(), GpuError> {
        self.health.guard("end_access", || {
            staging.end();
            Ok(())
        })
    }

    unsafe fn copy_in(
        &self,
        stream: &Stream,
        staging: &Staging,
        at: usize,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        self.health.guard("copy_in", || {
            let copy = Copy {
                from: staging.buffer(),
                from_at: at as u64,
                to: to.buffer.allocation().buffer(),
                to_at: to.offset as u64,
                len: to.len as u64,
            };
            stream.lock().copy(&self.device, &copy);
            Ok(())
        })
    }

    unsafe fn copy_out(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        staging: &Staging,
        at: usize,
    ) -> Result<(), GpuError> {
        self.health.guard("copy_out", || {
            let copy = Copy {
                from: from.buffer.allocation().buffer(),
                from_at: from.offset as u64,
                to: staging.buffer(),
                to_at: at as u64,
                len: from.len as u64,
            };
            stream.lock().copy(&self.device, &copy);
            Ok(())
        })
    }

    unsafe fn copy_device(
        &self,
        stream: &Stream,
        from: Arg<'_, Self>,
        to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        self.health.guard("copy_device", || {
            let aligned = (from.offset | to.offset | to.len).is_multiple_of(4);
            let one_buffer = from.buffer.allocation().id() == to.buffer.allocation().id();
            if aligned && !one_buffer {
                copy_words(self, stream, &from, &to);
                return Ok(());
            }
            // wgpu copies whole words, and nothing within one buffer.
            copy_bytes(self, stream, &from, &to)
        })
    }
}

impl Discover for Wgpu {
    fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
        let health = Health::default();
        let adapters = health.quiet("enumerate_adapters", adapter::adapters)?;
        Ok(adapters.into_iter().map(|adapter| adapter.info).collect())
    }

    fn open(ordinal: usize) -> Result<Self, GpuError> {
        let health = Health::default();
        health.quiet("request_device", || {
            let (adapter, info) = adapter::find(ordinal)?;
            Self::connect(&adapter, info)
        })
    }
}
