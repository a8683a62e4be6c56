//! Copies between ranges of device memory.
//!
//! Promises exactly the bytes asked for, at any alignment and also within one buffer. Knows nothing
//! of staging.

use crate::driver::Wgpu;
use crate::execute::run;
use crate::kernels;
use crate::stream::{Copy, Stream};
use gpu_seam::{Arg, GpuError};

/// Copies whole words between two buffers.
pub(crate) fn copy_words(driver: &Wgpu, stream: &Stream, from: &Arg<'_, Wgpu>, to: &Arg<'_, Wgpu>) {
    let copy = Copy {
        from: from.buffer.allocation().buffer(),
        from_at: from.offset as u64,
        to: to.buffer.allocation().buffer(),
        to_at: to.offset as u64,
        len: to.len as u64,
    };
    stream.lock().copy(&driver.device, &copy);
}

/// Copies bytes with a kernel, in pieces that one binding can hold.
pub(crate) fn copy_bytes(
    driver: &Wgpu,
    stream: &Stream,
    from: &Arg<'_, Wgpu>,
    to: &Arg<'_, Wgpu>,
) -> Result<(), GpuError> {
    // Half of a binding: a window begins a little before its argument.
    let most = driver.reach.limit / 2;
    let mut done = 0;
    while done < to.len {
        let len = (to.len - done).min(most);
        let pieces = [to, from].map(|arg| Arg {
            offset: arg.offset + done,
            len,
            ..*arg
        });
        let launch = kernels::copy_bytes(len)?;
        run(driver, stream, &[launch], &pieces, None)?;
        done += len;
    }
    Ok(())
}
