//! Whether a device can still be used, and the one place where wgpu's failures become [`GpuError`].
//!
//! Promises that no panic of wgpu leaves this crate, that the first failure's own words are kept,
//! and that after it every call answers them. Knows nothing of what was called.

use gpu_seam::GpuError;
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// The state of one device: fine, or unusable since the failure whose words it keeps.
#[derive(Debug, Default)]
pub(crate) struct Health {
    broken: OnceLock<String>,
}

impl Health {
    /// `Broken` with the first failure's words, if there was one.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        match self.broken.get() {
            None => Ok(()),
            Some(detail) => Err(GpuError::Broken {
                detail: detail.clone(),
            }),
        }
    }

    /// Marks the device unusable, unless it is already; gives `Broken` with the first words.
    pub(crate) fn fail(&self, detail: String) -> GpuError {
        GpuError::Broken {
            detail: self.broken.get_or_init(|| detail).clone(),
        }
    }

    /// Runs `call` on a usable device. A panic, and any failure that wgpu reported in the
    /// meantime, is `Broken`.
    pub(crate) fn guard<T>(
        &self,
        name: &'static str,
        call: impl FnOnce() -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        self.check()?;
        let value = self.quiet(name, call)?;
        self.check()?;
        Ok(value)
    }

    /// Runs `call` whatever the state: for what gives something back.
    pub(crate) fn quiet<T>(
        &self,
        name: &'static str,
        call: impl FnOnce() -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        // Whatever a panic left half done is not used again: the device is marked unusable.
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => result,
            Err(panic) => {
                Err(self.fail(format!("wgpu panicked in {name}: {}", panic_text(&*panic))))
            }
        }
    }

    /// Has `device` report here what no error scope catches, and its loss.
    pub(crate) fn watch(self: &Arc<Self>, device: &wgpu::Device) {
        let health = Arc::clone(self);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            health.fail(failure_text(&error));
        }));
        let health = Arc::clone(self);
        device.set_device_lost_callback(move |reason, message| {
            health.fail(format!("the device was lost ({reason:?}): {message}"));
        });
    }

    /// Runs `call` and looks at the errors that `device` reported in it.
    ///
    /// # Errors
    /// `OutOfMemory` for `requested` of `available` bytes; anything else breaks the device.
    pub(crate) fn scoped<T>(
        &self,
        device: &wgpu::Device,
        requested: usize,
        available: usize,
        call: impl FnOnce() -> T,
    ) -> Result<T, GpuError> {
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let value = call();
        let (memory, internal) = (ready(memory.pop()), ready(internal.pop()));
        let validation = ready(validation.pop());
        if let Some(error) = internal.or(validation) {
            return Err(self.fail(failure_text(&error)));
        }
        match memory {
            None => Ok(value),
            Some(_) => Err(GpuError::OutOfMemory {
                requested,
                available,
            }),
        }
    }
}

/// What an error of wgpu says; a validation error says whose mistake it is.
fn failure_text(error: &wgpu::Error) -> String {
    match error {
        wgpu::Error::OutOfMemory { source } => {
            format!("wgpu ran out of memory where nothing can be retried: {source}")
        }
        wgpu::Error::Validation { description, .. } => {
            format!("wgpu refused a call of gpu-wgpu, which is a bug of gpu-wgpu: {description}")
        }
        wgpu::Error::Internal { description, .. } => {
            format!("wgpu failed internally: {description}")
        }
    }
}

/// The words of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// The value of a future that wgpu's native backends have ready, or have ready soon.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Health;
    use gpu_seam::{GpuError, SeamError};

    #[test]
    fn the_first_failure_is_kept_and_every_later_call_says_it() {
        let health = Health::default();
        assert_eq!(health.guard("a", || Ok(1)), Ok(1));
        let panicked = health.guard::<()>("submit", || panic!("an assert"));
        let broken = GpuError::Broken {
            detail: "wgpu panicked in submit: an assert".into(),
        };
        assert_eq!(panicked, Err(broken.clone()));
        health.fail("something later".into());
        assert_eq!(health.guard("b", || Ok(1)), Err(broken.clone()));
        assert_eq!(health.quiet("free", || Ok(1)), Ok(1));
        assert_eq!(broken.kind(), SeamError::Broken);
    }

    #[test]
    fn a_failure_reported_during_a_call_is_that_calls() {
        let health = Health::default();
        let result = health.guard("execute", || {
            health.fail("lost".into());
            Ok(())
        });
        assert_eq!(result.map_err(|error| error.kind()), Err(SeamError::Broken));
    }
}
