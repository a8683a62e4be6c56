//! The device's one queue: submissions in one order, and how far it has come.
//!
//! Promises that a submission counts as complete only when wgpu has said so, and that the count
//! never goes back. Waiting holds none of this crate's locks, so that other threads go on
//! submitting. Knows nothing of what is submitted.

use crate::health::Health;
use gpu_seam::GpuError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A submission: its number here, from 1, and its index in wgpu.
#[derive(Debug, Clone)]
pub(crate) struct Submission {
    pub(crate) seq: u64,
    index: wgpu::SubmissionIndex,
}

/// The queue and its progress.
pub(crate) struct Queue {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// The number of the last submission; held while submitting, so that numbers are in order.
    last: Mutex<u64>,
    /// Every submission up to this one is complete.
    completed: Arc<AtomicU64>,
}

impl Queue {
    pub(crate) fn new(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self {
            device,
            queue,
            last: Mutex::new(0),
            completed: Arc::default(),
        }
    }

    /// Writes `bytes` to the start of `to`, before what is submitted next.
    pub(crate) fn write(&self, to: &wgpu::Buffer, bytes: &[u8]) {
        self.queue.write_buffer(to, 0, bytes);
    }

    /// Submits `commands`; they then run without any further call.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer) -> Submission {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let index = self.queue.submit([commands]);
        *last += 1;
        let seq = *last;
        let completed = Arc::clone(&self.completed);
        // Covers everything submitted so far: it may come late, never early.
        self.queue.on_submitted_work_done(move || {
            completed.fetch_max(seq, Ordering::Release);
        });
        Submission { seq, index }
    }

    /// Whether the submission of that number is complete, as far as has been seen.
    pub(crate) fn is_complete(&self, seq: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= seq
    }

    /// Looks how far the device has come and runs what waits for it. Never blocks.
    pub(crate) fn poll(&self, health: &Health) -> Result<(), GpuError> {
        match self.device.poll(wgpu::PollType::Poll) {
            Ok(_) => health.check(),
            Err(error) => Err(health.fail(format!("wgpu could not poll the device: {error}"))),
        }
    }

    /// Waits until `submission` is complete.
    pub(crate) fn wait(&self, submission: &Submission, health: &Health) -> Result<(), GpuError> {
        if self.is_complete(submission.seq) {
            return Ok(());
        }
        // Without a timeout: with one, two waiting threads can trip an assert of wgpu-core 30.0.2
        // that the fence is where an empty queue says it is.
        let waited = self.device.poll(wgpu::PollType::Wait {
            submission_index: Some(submission.index.clone()),
            timeout: None,
        });
        match waited {
            Ok(_) => {
                // Another thread may have taken the callback that says so and not run it yet.
                self.completed.fetch_max(submission.seq, Ordering::Release);
                health.check()
            }
            Err(error) => {
                health.check()?;
                Err(health.fail(format!("wgpu could not wait for the device: {error}")))
            }
        }
    }
}
