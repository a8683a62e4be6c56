//! Executing operations: from launches to recorded dispatches.
//!
//! Promises that an operation runs as it was planned: both come from one lowering. Knows nothing of
//! what a kernel computes.
//!
//! # Safety
//!
//! Implements [`Execute`]: kernels write the output, the scratch and the fault slot alone, which is
//! what each of them promises, given that the operation is canonical.

#![expect(
    unsafe_code,
    reason = "implements the unsafe execution trait; see # Safety"
)]

use crate::bindings::{MOST, Window, Windows};
use crate::driver::Wgpu;
use crate::kernels::{Kernel, Launch, Place, word};
use crate::lower::lower;
use crate::stream::{Dispatch, Stream};
use gpu_seam::{Arg, Execute, GpuError, Op, Scratch};

// SAFETY: see # Safety above; `run` binds only the arguments and the scratch.
unsafe impl Execute for Wgpu {
    fn plan(&self, op: &Op<'_>) -> Result<Scratch, GpuError> {
        let plan = lower(op, self.features)?;
        Ok(Scratch {
            bytes: plan.scratch,
        })
    }

    unsafe fn execute(
        &self,
        stream: &Self::Stream,
        op: &Op<'_>,
        args: &[Arg<'_, Self>],
        scratch: Option<Arg<'_, Self>>,
    ) -> Result<(), GpuError> {
        self.health.guard(op.name(), || {
            let plan = lower(op, self.features)?;
            run(self, stream, &plan.launches, args, scratch)
        })
    }
}

/// Records `launches` on `stream`, one behind the other.
pub(crate) fn run(
    driver: &Wgpu,
    stream: &Stream,
    launches: &[Launch],
    args: &[Arg<'_, Wgpu>],
    scratch: Option<Arg<'_, Wgpu>>,
) -> Result<(), GpuError> {
    for launch in launches {
        record(driver, stream, launch, args, scratch)?;
    }
    Ok(())
}

fn record(
    driver: &Wgpu,
    stream: &Stream,
    launch: &Launch,
    args: &[Arg<'_, Wgpu>],
    scratch: Option<Arg<'_, Wgpu>>,
) -> Result<(), GpuError> {
    let mut launch = launch.clone();
    let mut windows = Windows::default();
    let mut bound: [Option<Arg<'_, Wgpu>>; MOST] = [None; MOST];
    let operands = launch.operands().copied();
    let mut count = 0;
    for operand in operands.collect::<Vec<_>>() {
        let arg = match operand.place {
            Place::Argument(at) => args.get(at).copied(),
            Place::Scratch => scratch,
        };
        let arg = arg.ok_or_else(|| {
            driver.health.fail(
                "an operation came with too few arguments, which is a bug of the layer above"
                    .into(),
            )
        })?;
        let window = Window::of(&arg, driver.reach);
        let inside = arg.offset as u64 - window.start;
        let position = inside / operand.width.bytes() as u64 + operand.offset as u64;
        // A binding holds fewer than 2^32 bytes.
        launch.place(count, u32::try_from(position).unwrap_or(u32::MAX));
        if launch.kernel == Kernel::Bytes {
            launch.param(
                word::EXTRA + count,
                u32::try_from(inside).unwrap_or(u32::MAX),
            );
        }
        windows[count] = window;
        bound[count] = Some(arg);
        count += 1;
    }
    let buffers: Vec<_> = bound.iter().flatten().copied().collect();
    let pipeline = driver
        .pipelines
        .get(&driver.device, &driver.bindings, &launch.kernel, count);
    let group = driver.bindings.group(&driver.device, &windows, &buffers);
    stream.lock().dispatch(
        &driver.device,
        &driver.queue,
        &Dispatch {
            pipeline: &pipeline,
            buffers: &group,
            params: &launch.params,
            groups: launch.grid(),
            bytes: buffers.iter().map(|arg| arg.len).sum(),
        },
    );
    Ok(())
}
