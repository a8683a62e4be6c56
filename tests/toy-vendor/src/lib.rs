//! The least vendor: memory in byte vectors, streams as queues that run when somebody asks.
//!
//! Serves what the core checks need, and a little more, for f32; everything else is `Unsupported`.
//! [`Toy::new`] plants one of the faults that `tests/faults.rs` lists.
//!
//! # Safety
//!
//! All memory is owned vectors under one lock; a job has run before it is said to be complete.

#![expect(unsafe_code, reason = "implements the unsafe driver traits")]

mod ops;

use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, Buffer, DType, DTypeSet, DeviceInfo,
    DeviceKind, Direction, Driver, Execute, Family, GpuError, MemoryInfo, Op, OwnedOp, Scratch,
    StorageIdentity, SupportTable,
};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// Device memory in bytes.
const TOTAL: usize = 64 << 20;

/// An open toy device.
pub struct Toy {
    info: DeviceInfo,
    domain: AllocationDomainId,
    fault: String,
    state: Mutex<State>,
}

type Job = Box<dyn FnOnce(&mut State) + Send>;

/// A range of bytes of some memory.
#[derive(Clone, Copy)]
struct Place {
    id: u64,
    offset: usize,
    len: usize,
}

#[derive(Default)]
struct State {
    last_id: u64,
    used: usize,
    exhausted: bool,
    memory: HashMap<u64, Vec<u8>>,
    /// Jobs done, and jobs to do.
    streams: HashMap<u64, (u64, VecDeque<Job>)>,
}

impl State {
    /// Memory under a number that was never given before (a stream takes none).
    fn add(&mut self, bytes: usize) -> u64 {
        self.last_id += 1;
        self.memory.insert(self.last_id, vec![0x77; bytes]);
        self.last_id
    }

    fn bytes(&mut self, place: Place) -> &mut [u8] {
        let memory = self.memory.get_mut(&place.id).expect("memory that is alive");
        &mut memory[place.offset..place.offset + place.len]
    }

    fn end(&mut self, stream: u64) -> u64 {
        let (done, jobs) = self.streams.entry(stream).or_default();
        *done + jobs.len() as u64
    }

    /// Runs a stream until `until` of its jobs are done.
    fn run(&mut self, stream: u64, until: u64) {
        while let Some((done, jobs)) = self.streams.get_mut(&stream).filter(|x| x.0 < until) {
            *done += 1;
            let job = jobs.pop_front();
            job.into_iter().for_each(|job| job(self));
        }
    }

    fn copy(&mut self, from: Place, to: Place) {
        let bytes = self.bytes(from).to_vec();
        self.bytes(to).copy_from_slice(&bytes);
    }
}

impl Toy {
    /// A device, with one planted fault or, named "", without.
    pub fn new(fault: &str) -> Self {
        let f32s = DTypeSet::of(&[DType::F32]);
        let mut table = SupportTable::default()
            .with(Family::Fill, f32s)
            .with(Family::Binary, f32s)
            .with(Family::Reduce, f32s)
            .with(Family::Gather, DTypeSet::of(&[DType::F32, DType::I64]))
            .with(Family::Gemm, f32s);
        match fault {
            "table_claims_more" => table = table.with(Family::Scan, f32s),
            "table_claims_less" => table = table.with(Family::Binary, DTypeSet::EMPTY),
            _ => {}
        }
        let mut info = DeviceInfo::new("toy", 0, "toy", DeviceKind::Simulated);
        info.memory_bytes = TOTAL;
        info.capabilities.support = table;
        let domain = AllocationDomainId::fresh();
        Self { info, domain, fault: fault.to_owned(), state: Mutex::default() }
    }

    fn faulty(&self, name: &str) -> bool {
        self.fault == name
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no job panics")
    }

    fn enqueue(&self, stream: &u64, job: impl FnOnce(&mut State) + Send + 'static) {
        self.state().streams.entry(*stream).or_default().1.push_back(Box::new(job));
    }

    fn place(arg: Arg<'_, Self>) -> Place {
        Place { id: *arg.buffer.allocation(), offset: arg.offset, len: arg.len }
    }
}

impl Backend for Toy {
    type Allocation = u64;
}

// SAFETY: see the module's doc. (The planted faults break the promises, and no memory of ours.)
unsafe impl Driver for Toy {
    type Stream = u64;
    /// The stream and how many of its jobs must be done.
    type Event = Option<(u64, u64)>;
    /// The memory that it is, and whether it was written.
    type Staging = (u64, bool);

    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn domain(&self) -> AllocationDomainId {
        self.domain
    }

    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        let available = TOTAL - self.state().used;
        let lie = if self.faulty("available_above_total") { TOTAL } else { 0 };
        Ok(MemoryInfo { available: available + lie, total: TOTAL })
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let mut state = self.state();
        let available = TOTAL - state.used;
        if bytes > available || (state.exhausted && self.faulty("out_of_memory_for_ever")) {
            state.exhausted = true;
            return Err(GpuError::OutOfMemory { requested: bytes, available });
        }
        state.used += bytes;
        let overlapped = state.memory.iter().find(|x| x.1.len() >= bytes).map(|x| *x.0);
        let overlapped = overlapped.filter(|_| self.faulty("overlapping_allocations"));
        let id = overlapped.unwrap_or_else(|| state.add(bytes));
        let named = if self.faulty("reused_identity") { id % 8 } else { id };
        let allocation = AllocationId::from_backend_id(named);
        let identity = StorageIdentity { domain: self.domain, allocation, device: 0 };
        let bytes = if self.faulty("wrong_length") { bytes.next_multiple_of(16) } else { bytes };
        Ok(Buffer::new(identity, bytes, id))
    }

    unsafe fn free(&self, buffer: Buffer<Self>) -> Result<(), GpuError> {
        let mut state = self.state();
        if let Some(memory) = state.memory.remove(&buffer.into_allocation()) {
            state.used -= if self.faulty("free_keeps_memory") { 0 } else { memory.len() };
        }
        Ok(())
    }

    fn create_stream(&self) -> Result<u64, GpuError> {
        Ok(self.state().add(0))
    }

    fn destroy_stream(&self, stream: u64) -> Result<(), GpuError> {
        if self.faulty("destroy_stream_drops_work") {
            self.state().streams.remove(&stream);
        }
        Ok(())
    }

    fn synchronize(&self, stream: &u64) -> Result<(), GpuError> {
        let mut state = self.state();
        let end = state.end(*stream);
        state.run(*stream, end - u64::from(end > 0 && self.faulty("synchronize_stops_early")));
        Ok(())
    }

    fn create_event(&self) -> Result<Option<(u64, u64)>, GpuError> {
        Ok(None)
    }

    fn destroy_event(&self, _: Option<(u64, u64)>) -> Result<(), GpuError> {
        Ok(())
    }

    fn record(&self, stream: &u64, event: &mut Option<(u64, u64)>) -> Result<(), GpuError> {
        let end = self.state().end(*stream);
        if event.is_none() || !self.faulty("record_keeps_the_first") {
            *event = Some((*stream, end));
        }
        Ok(())
    }

    fn wait(&self, stream: &u64, event: &Option<(u64, u64)>) -> Result<(), GpuError> {
        if let (Some((other, until)), false) = (*event, self.faulty("wait_does_nothing")) {
            self.enqueue(stream, move |state| state.run(other, until));
        }
        Ok(())
    }

    fn poll(&self, event: &Option<(u64, u64)>) -> Result<bool, GpuError> {
        let mut state = self.state();
        let Some((stream, until)) = *event else {
            return Ok(!self.faulty("unrecorded_is_pending"));
        };
        let until = if self.faulty("event_completes_early") { 0 } else { until };
        let taken_back = self.faulty("poll_takes_back") && state.end(stream) > until;
        let done = state.streams.get(&stream).map_or(0, |x| x.0);
        state.run(stream, until.min(done + 1)); // as late as may be: one job a call
        Ok(done >= until && !taken_back)
    }

    fn alloc_staging(&self, bytes: usize, _: Direction) -> Result<(u64, bool), GpuError> {
        Ok((self.state().add(bytes), false))
    }

    unsafe fn free_staging(&self, staging: (u64, bool)) -> Result<(), GpuError> {
        self.state().memory.remove(&staging.0);
        Ok(())
    }

    fn begin_access(&self, _: &mut (u64, bool), block: bool) -> Result<bool, GpuError> {
        Ok(!(block && self.faulty("blocking_access_refused")))
    }

    fn write(&self, staging: &mut (u64, bool), at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        if staging.1 && self.faulty("staging_written_once") {
            return Ok(());
        }
        staging.1 = true;
        let offset = if self.faulty("write_ignores_its_place") { 0 } else { at };
        let place = Place { id: staging.0, offset, len: bytes.len() };
        self.state().bytes(place).copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, staging: &mut (u64, bool), at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        let place = Place { id: staging.0, offset: at, len: bytes.len() };
        bytes.copy_from_slice(self.state().bytes(place));
        Ok(())
    }

    fn end_access(&self, _: &mut (u64, bool)) -> Result<(), GpuError> {
        Ok(())
    }

    unsafe fn copy_in(
        &self, stream: &u64, staging: &(u64, bool), at: usize, to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let (id, mut to) = (staging.0, Self::place(to));
        if self.faulty("copy_in_off_by_one") && to.offset > 0 {
            to.offset -= 1;
        }
        self.enqueue(stream, move |state| state.copy(Place { id, offset: at, len: to.len }, to));
        Ok(())
    }

    unsafe fn copy_out(
        &self, stream: &u64, from: Arg<'_, Self>, staging: &(u64, bool), at: usize,
    ) -> Result<(), GpuError> {
        let (id, from) = (staging.0, Self::place(from));
        let offset = if self.faulty("copy_out_ignores_its_place") { 0 } else { at };
        self.enqueue(stream, move |state| state.copy(from, Place { id, offset, len: from.len }));
        Ok(())
    }

    unsafe fn copy_device(
        &self, stream: &u64, from: Arg<'_, Self>, to: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        let (mut from, mut to) = (Self::place(from), Self::place(to));
        let lost = if self.faulty("copy_device_in_words") { to.len % 4 } else { 0 };
        (from.len, to.len) = (from.len - lost, to.len - lost);
        if from.id == to.id && self.faulty("copy_device_needs_two_buffers") {
            return Ok(());
        }
        self.enqueue(stream, move |state| state.copy(from, to));
        Ok(())
    }
}

// SAFETY: jobs write the output and the fault slot, and read the arguments.
unsafe impl Execute for Toy {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        let more = self.faulty("plan_accepts_more") && op.family() == Family::Scan;
        if ops::serves(op) || more {
            return Ok(Scratch::default());
        }
        let detail = format!("the toy has no {} of {}", op.name(), op.dtype());
        Err(GpuError::unsupported(op.name(), detail))
    }

    unsafe fn execute(
        &self, stream: &u64, op: &Op<'_>, args: &[Arg<'_, Self>], _: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        if self.faulty("execute_serves_less") && op.name() == "rem" {
            return Err(GpuError::unsupported("rem", "planned, and not executed"));
        }
        let args: Vec<_> = args.iter().map(|arg| Self::place(*arg)).collect();
        let (op, fault) = (OwnedOp::new(op), self.fault.clone());
        self.enqueue(stream, move |state| ops::run(state, &op.as_op(), &args, &fault));
        Ok(())
    }
}
