//! Staging memory: buffers that the host maps, one direction each.
//!
//! Promises that a pending map always resolves: to access, or to an error when the device is lost.
//! A buffer is mapped whole and read or written piece by piece. Knows nothing of who copies.

use crate::health::Health;
use crate::queue::Queue;
use gpu_seam::{Direction, GpuError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Mapped ranges start at multiples of this, in bytes.
const MAP_ALIGNMENT: usize = 8;

/// Host memory that the device copies to or from.
pub struct Staging {
    buffer: wgpu::Buffer,
    direction: Direction,
    bytes: usize,
    access: Access,
}

/// How far the host's access is.
enum Access {
    None,
    /// A map was asked for.
    Pending(Arc<AtomicU8>),
    Open,
}

/// What became of a pending map.
const PENDING: u8 = 0;
const MAPPED: u8 = 1;
const FAILED: u8 = 2;

impl Staging {
    /// Staging of `bytes`, a multiple of 4. Upload staging begins accessible: it costs nothing.
    pub(crate) fn new(device: &wgpu::Device, bytes: usize, direction: Direction) -> Self {
        let upload = direction == Direction::Upload;
        let usage = if upload {
            wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC
        } else {
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST
        };
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size: bytes as u64,
            usage,
            mapped_at_creation: upload,
        });
        let access = if upload { Access::Open } else { Access::None };
        Self {
            buffer,
            direction,
            bytes,
            access,
        }
    }

    /// The buffer.
    pub(crate) const fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Asks for access, and says whether it is there; waits for it if `block`.
    pub(crate) fn begin(
        &mut self,
        queue: &Queue,
        health: &Health,
        block: bool,
    ) -> Result<bool, GpuError> {
        if matches!(self.access, Access::None) {
            let state = Arc::new(AtomicU8::new(PENDING));
            let set = Arc::clone(&state);
            let mode = match self.direction {
                Direction::Upload => wgpu::MapMode::Write,
                Direction::Download => wgpu::MapMode::Read,
            };
            self.buffer.map_async(mode, .., move |result| {
                let became = if result.is_ok() { MAPPED } else { FAILED };
                set.store(became, Ordering::Release);
            });
            self.access = Access::Pending(state);
        }
        loop {
            let Access::Pending(state) = &self.access else {
                return Ok(true);
            };
            match state.load(Ordering::Acquire) {
                MAPPED => self.access = Access::Open,
                FAILED => {
                    self.access = Access::None;
                    self.buffer.unmap();
                    health.check()?;
                    return Err(GpuError::transfer(
                        true,
                        "wgpu could not map staging memory",
                    ));
                }
                _ => {
                    // Nothing enqueued names this staging any more, so the map is there with the
                    // next poll or two; another thread may be about to run its callback.
                    queue.poll(health)?;
                    if state.load(Ordering::Acquire) == PENDING {
                        if !block {
                            return Ok(false);
                        }
                        std::thread::yield_now();
                    }
                }
            }
        }
    }

    /// Writes `bytes` at byte `at`.
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), GpuError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, end) = self.window(at, bytes.len())?;
        let mut view = self
            .buffer
            .get_mapped_range_mut(start as u64..end as u64)
            .map_err(|error| GpuError::transfer(true, error.to_string()))?;
        view.slice(at - start..at - start + bytes.len())
            .copy_from_slice(bytes);
        Ok(())
    }

    /// Reads into `bytes` from byte `at`.
    pub(crate) fn read(&mut self, at: usize, bytes: &mut [u8]) -> Result<(), GpuError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, end) = self.window(at, bytes.len())?;
        let view = self
            .buffer
            .get_mapped_range(start as u64..end as u64)
            .map_err(|error| GpuError::transfer(true, error.to_string()))?;
        bytes.copy_from_slice(&view[at - start..at - start + bytes.len()]);
        Ok(())
    }

    /// Ends the access, or the wait for it.
    pub(crate) fn end(&mut self) {
        if !matches!(self.access, Access::None) {
            self.access = Access::None;
            self.buffer.unmap();
        }
    }

    /// The range to map for `len` bytes at `at`: wgpu wants its start and length aligned.
    fn window(&self, at: usize, len: usize) -> Result<(usize, usize), GpuError> {
        let end = at.checked_add(len).filter(|&end| end <= self.bytes);
        match (end, &self.access) {
            (Some(end), Access::Open) => {
                let start = at - at % MAP_ALIGNMENT;
                // The whole is a multiple of 4 bytes, so this does not pass its end.
                Ok((start, end.next_multiple_of(4)))
            }
            _ => Err(GpuError::transfer(
                true,
                format!(
                    "bytes {at} + {len} of a staging of {} bytes are not accessible: a bug of the \
                     layer above",
                    self.bytes
                ),
            )),
        }
    }
}
