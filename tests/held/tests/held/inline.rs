//! The least inner vendor: byte vectors behind locks, and three operations on contiguous f32.
//!
//! # Safety
//!
//! Everything happens inside the call, in safe code, so that an event covers nothing pending.

#![expect(unsafe_code, reason = "implements the unsafe driver traits")]

use gpu_seam::{
    AllocationDomainId, AllocationId, Arg, Backend, BinaryOp, Buffer, DeviceInfo, DeviceKind,
    Direction, Driver, Execute, GpuError, MemoryInfo, Op, Operand, Scratch, StorageIdentity,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Inline {
    info: DeviceInfo,
    domain: AllocationDomainId,
    next: AtomicU64,
}

impl Inline {
    pub(crate) fn new() -> Self {
        let mut info = DeviceInfo::new("inline", 0, "inline", DeviceKind::Host);
        info.capabilities.host_visible = true;
        Self {
            info,
            domain: AllocationDomainId::fresh(),
            next: AtomicU64::new(1),
        }
    }
}

type Bytes = Mutex<Vec<u8>>;

impl Backend for Inline {
    type Allocation = Bytes;
}

fn refused<T>(op: &'static str) -> Result<T, GpuError> {
    Err(GpuError::unsupported(op, "not by this inline vendor"))
}

fn load(arg: &Arg<'_, Inline>) -> Vec<f32> {
    let bytes = arg.buffer.allocation().lock().unwrap();
    let part = &bytes[arg.offset..arg.offset + arg.len];
    let lanes = part.chunks_exact(4);
    lanes
        .map(|lane| f32::from_le_bytes(lane.try_into().unwrap()))
        .collect()
}

fn store(arg: &Arg<'_, Inline>, values: &[f32]) {
    let mut bytes = arg.buffer.allocation().lock().unwrap();
    for (at, value) in values.iter().enumerate() {
        let at = arg.offset + 4 * at;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

// SAFETY: nothing is ever pending; memory is owned vectors.
unsafe impl Driver for Inline {
    type Stream = ();
    type Event = ();
    type Staging = ();

    fn device(&self) -> &DeviceInfo {
        &self.info
    }
    fn domain(&self) -> AllocationDomainId {
        self.domain
    }
    fn memory(&self) -> Result<MemoryInfo, GpuError> {
        refused("memory")
    }
    fn allocate(&self, bytes: usize) -> Result<Buffer<Self>, GpuError> {
        let identity = StorageIdentity {
            domain: self.domain,
            allocation: AllocationId::from_backend_id(self.next.fetch_add(1, Ordering::Relaxed)),
            device: 0,
        };
        Ok(Buffer::new(identity, bytes, Mutex::new(vec![0; bytes])))
    }
    unsafe fn free(&self, _: Buffer<Self>) -> Result<(), GpuError> {
        Ok(())
    }
    fn create_stream(&self) -> Result<(), GpuError> {
        Ok(())
    }
    fn destroy_stream(&self, (): ()) -> Result<(), GpuError> {
        Ok(())
    }
    fn synchronize(&self, (): &()) -> Result<(), GpuError> {
        Ok(())
    }
    fn create_event(&self) -> Result<(), GpuError> {
        refused("create_event")
    }
    fn destroy_event(&self, (): ()) -> Result<(), GpuError> {
        refused("destroy_event")
    }
    fn record(&self, (): &(), (): &mut ()) -> Result<(), GpuError> {
        refused("record")
    }
    fn wait(&self, (): &(), (): &()) -> Result<(), GpuError> {
        refused("wait")
    }
    fn poll(&self, (): &()) -> Result<bool, GpuError> {
        refused("poll")
    }
    fn alloc_staging(&self, _: usize, _: Direction) -> Result<(), GpuError> {
        refused("alloc_staging")
    }
    unsafe fn free_staging(&self, (): ()) -> Result<(), GpuError> {
        refused("free_staging")
    }
    fn begin_access(&self, (): &mut (), _: bool) -> Result<bool, GpuError> {
        refused("begin_access")
    }
    fn write(&self, (): &mut (), _: usize, _: &[u8]) -> Result<(), GpuError> {
        refused("write")
    }
    fn read(&self, (): &mut (), _: usize, _: &mut [u8]) -> Result<(), GpuError> {
        refused("read")
    }
    fn end_access(&self, (): &mut ()) -> Result<(), GpuError> {
        refused("end_access")
    }
    unsafe fn copy_in(&self, (): &(), (): &(), _: usize, _: Arg<'_, Self>) -> Result<(), GpuError> {
        refused("copy_in")
    }
    unsafe fn copy_out(
        &self,
        (): &(),
        _: Arg<'_, Self>,
        (): &(),
        _: usize,
    ) -> Result<(), GpuError> {
        refused("copy_out")
    }
    unsafe fn copy_device(
        &self,
        (): &(),
        _: Arg<'_, Self>,
        _: Arg<'_, Self>,
    ) -> Result<(), GpuError> {
        refused("copy_device")
    }
    unsafe fn write_direct(&self, to: Arg<'_, Self>, bytes: &[u8]) -> Result<(), GpuError> {
        let mut all = to.buffer.allocation().lock().unwrap();
        all[to.offset..to.offset + to.len].copy_from_slice(bytes);
        Ok(())
    }
    unsafe fn read_direct(&self, from: Arg<'_, Self>, bytes: &mut [u8]) -> Result<(), GpuError> {
        let all = from.buffer.allocation().lock().unwrap();
        bytes.copy_from_slice(&all[from.offset..from.offset + from.len]);
        Ok(())
    }
}

// SAFETY: writes the output argument alone.
unsafe impl Execute for Inline {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        match op {
            Op::Fill { .. }
            | Op::Binary {
                op: BinaryOp::Add, ..
            }
            | Op::Gather { .. } => Ok(Scratch::default()),
            other => refused(other.name()),
        }
    }

    unsafe fn execute(
        &self,
        (): &(),
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        _: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        match op {
            Op::Fill { out, value } => {
                let bits = u32::try_from(value.bits()).unwrap();
                store(&args[0], &vec![f32::from_bits(bits); out.dims[0]]);
            }
            Op::Binary {
                rhs: Operand::View(_),
                ..
            } => {
                let (a, b) = (load(&args[1]), load(&args[2]));
                store(
                    &args[0],
                    &a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>(),
                );
            }
            _ => {}
        }
        Ok(())
    }
}
