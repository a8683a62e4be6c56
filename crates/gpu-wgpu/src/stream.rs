//! A stream: commands recorded in order into an open encoder, submitted when there is reason to.
//!
//! There is one queue, so streams are ordered among each other by submission. An encoder is kept
//! open, since a submission costs far more than a dispatch, and submitted when it holds
//! [`DISPATCHES`] dispatches or [`BYTES`] bytes of operands, when an event is recorded, and when the
//! host waits. Promises that a submission covers everything recorded before it. Knows nothing of
//! what kernels compute.

use crate::queue::{Queue, Submission};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Dispatches after which an encoder is submitted: wgpu-core keeps a record of each on the host.
pub(crate) const DISPATCHES: usize = 64;
/// Bytes of operands after which an encoder is submitted, so that the device starts on large work.
const BYTES: usize = 16 << 20;
/// Words of parameters that a kernel has.
pub(crate) const PARAMS: usize = 128;
/// Bytes from one kernel's parameters to the next: a multiple of the alignment of uniform offsets
/// that WebGPU guarantees, 256.
pub(crate) const PARAMS_STRIDE: usize = 512;
const _: () = assert!(PARAMS * 4 == PARAMS_STRIDE, "parameters fill their slot");

/// One ordered queue of device work.
pub struct Stream {
    recorder: Mutex<Recorder>,
}

/// What a stream has recorded and not submitted.
pub(crate) struct Recorder {
    open: Option<Open>,
    /// Where the parameters of the open encoder's kernels go when it is submitted.
    params: wgpu::Buffer,
    group: wgpu::BindGroup,
    words: Vec<u8>,
    bytes: usize,
    last: Option<Submission>,
}

/// An open encoder. The pass ends, by being dropped, before the encoder does.
struct Open {
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: wgpu::CommandEncoder,
}

/// One kernel to run.
pub(crate) struct Dispatch<'a> {
    pub(crate) pipeline: &'a wgpu::ComputePipeline,
    pub(crate) buffers: &'a wgpu::BindGroup,
    pub(crate) params: &'a [u32; PARAMS],
    /// Workgroups along x and y.
    pub(crate) groups: (u32, u32),
    /// Bytes that it touches, about.
    pub(crate) bytes: usize,
}

/// A range of a buffer to copy.
pub(crate) struct Copy<'a> {
    pub(crate) from: &'a wgpu::Buffer,
    pub(crate) from_at: u64,
    pub(crate) to: &'a wgpu::Buffer,
    pub(crate) to_at: u64,
    pub(crate) len: u64,
}

impl Stream {
    /// A stream with nothing on it. `layout` is that of the parameters' group.
    pub(crate) fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout) -> Self {
        let params = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("parameters"),
            size: (DISPATCHES * PARAMS_STRIDE) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("parameters"),
            layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &params,
                    offset: 0,
                    size: wgpu::BufferSize::new(PARAMS_STRIDE as u64),
                }),
            }],
        });
        Self {
            recorder: Mutex::new(Recorder {
                open: None,
                params,
                group,
                words: Vec::with_capacity(DISPATCHES * PARAMS_STRIDE),
                bytes: 0,
                last: None,
            }),
        }
    }

    /// The recorder, for this thread alone.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorder> {
        // After a panic the device is marked unusable, so a half-recorded encoder goes nowhere.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    /// Records a dispatch.
    pub(crate) fn dispatch(&mut self, device: &wgpu::Device, queue: &Queue, what: &Dispatch<'_>) {
        let offset = self.words.len();
        for word in what.params {
            self.words.extend_from_slice(&word.to_le_bytes());
        }
        let open = self.open.get_or_insert_with(|| Open::new(device));
        let encoder = &mut open.encoder;
        let pass = open.pass.get_or_insert_with(|| {
            encoder
                .begin_compute_pass(&wgpu::ComputePassDescriptor::default())
                .forget_lifetime()
        });
        pass.set_pipeline(what.pipeline);
        pass.set_bind_group(0, what.buffers, &[]);
        // At most DISPATCHES slots of 512 bytes.
        pass.set_bind_group(1, &self.group, &[u32::try_from(offset).unwrap_or(0)]);
        pass.dispatch_workgroups(what.groups.0, what.groups.1, 1);
        self.bytes = self.bytes.saturating_add(what.bytes);
        if self.words.len() == DISPATCHES * PARAMS_STRIDE || self.bytes >= BYTES {
            self.submit(queue);
        }
    }

    /// Records a copy: offsets and length are multiples of 4, and the buffers are not the same.
    pub(crate) fn copy(&mut self, device: &wgpu::Device, what: &Copy<'_>) {
        let open = self.open.get_or_insert_with(|| Open::new(device));
        open.pass = None;
        open.encoder.copy_buffer_to_buffer(
            what.from,
            what.from_at,
            what.to,
            what.to_at,
            Some(what.len),
        );
    }

    /// Submits what is recorded; gives the submission that covers everything so far, if any did.
    pub(crate) fn submit(&mut self, queue: &Queue) -> Option<Submission> {
        if let Some(Open { pass, encoder }) = self.open.take() {
            drop(pass);
            if !self.words.is_empty() {
                // Ordered behind the submissions that read the old parameters: no copy of them is
                // needed for each submission in flight.
                queue.write(&self.params, &self.words);
                self.words.clear();
            }
            self.bytes = 0;
            self.last = Some(queue.submit(encoder.finish()));
        }
        self.last.clone()
    }
}

impl Open {
    fn new(device: &wgpu::Device) -> Self {
        Self {
            pass: None,
            encoder: device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()),
        }
    }
}
