//! A canonical operation as a kernel of the device, computed by the host vendor once it runs.
//!
//! Promises that the kernel declares what it touches, that it computes with what its inputs hold
//! when it runs, and that it writes the elements of its output and nothing between them. Knows
//! nothing of streams.
//!
//! # Safety
//!
//! The host vendor is given blocks that are allocated here, as long as the operation's extents, used
//! by nothing else, and freed here; it runs inline, so nothing is under way between two calls.

#![expect(unsafe_code, reason = "calls the host vendor's unsafe methods")]

use super::uses::{Use, has_fault_slot, uses};
use crate::device::{Access, Address, Failure, Kernel, Launch, Span, Status};
use gpu_host::Host;
use gpu_seam::{Arg, Buffer, Driver, Execute, FAULT_SLOT_BYTES, GpuError, Op, OwnedOp};
use std::sync::LazyLock;

/// Who computes. One for the process: asking the machine for its memory takes longer than a kernel.
pub(super) static HOST: LazyLock<Host> = LazyLock::new(Host::new);

/// What an argument of a kernel is.
struct Place {
    /// Where the argument begins.
    start: Address,
    used: Use,
    written: bool,
}

impl Place {
    fn span(&self, (at, len): (usize, usize)) -> Span {
        Span::new(self.start.plus(at), len)
    }

    fn extent(&self) -> (usize, usize) {
        (self.used.extent.0, self.used.extent.1 - self.used.extent.0)
    }
}

/// The kernel of `op` on arguments that begin at these addresses. Scratch is written, so that
/// nobody keeps anything there.
///
/// # Errors
/// `InvalidValue` for arguments that do not fit the operation.
pub(super) fn kernel(
    op: &Op<'_>,
    starts: &[Address],
    scratch: Option<Span>,
) -> Result<Kernel, Failure> {
    let slots = usize::from(has_fault_slot(op));
    let found = uses(op).filter(|uses| uses.len() + slots == starts.len());
    let Some(mut found) = found else {
        let text = format!("{} with {} arguments", op.name(), starts.len());
        return Err(Failure::new(Status::InvalidValue, text));
    };
    if slots == 1 {
        found.push(Use {
            extent: (0, FAULT_SLOT_BYTES),
            runs: vec![(0, FAULT_SLOT_BYTES)],
            computed: true,
        });
    }
    let last = found.len() - 1;
    let places: Vec<Place> = found
        .into_iter()
        .zip(starts)
        .enumerate()
        .map(|(at, (used, &start))| Place {
            start,
            used,
            written: at == 0 || slots == 1 && at == last,
        })
        .collect();
    let mut accesses: Vec<Access> = places
        .iter()
        .map(|place| Access {
            span: place.span(place.extent()),
            writes: place.written,
        })
        .collect();
    accesses.extend(scratch.map(Access::write));
    let owned = OwnedOp::new(op);
    Ok(Kernel {
        name: op.name(),
        accesses,
        body: Box::new(move |launch| {
            if let Some(span) = scratch {
                launch.write(span, &vec![crate::device::POISON; span.len])?;
            }
            run(&owned.as_op(), &places, launch)
        }),
    })
}

fn run(op: &Op<'_>, places: &[Place], launch: &mut Launch<'_>) -> Result<(), Failure> {
    let mut contents = Vec::with_capacity(places.len());
    for place in places {
        if place.used.computed {
            for &run in &place.used.runs {
                launch.compute_with(place.span(run))?;
            }
        }
        contents.push(launch.read(place.span(place.extent()))?);
    }
    if let (true, Some(slot)) = (has_fault_slot(op), contents.last())
        && slot.iter().any(|&byte| byte != 0)
    {
        let text = format!("the fault slot of {} held {slot:x?}", op.name());
        return Err(Failure::new(Status::LaunchFailed, text));
    }
    compute(op, places, &mut contents)
        .map_err(|cause| Failure::new(Status::LaunchFailed, cause.to_string()))?;
    for (place, bytes) in places.iter().zip(&contents) {
        for &(at, len) in place.used.runs.iter().filter(|_| place.written) {
            let skip = at - place.used.extent.0;
            launch.write(place.span((at, len)), &bytes[skip..skip + len])?;
        }
    }
    Ok(())
}

/// Runs `op` on the host vendor; `contents` are the bytes of each argument's extent.
fn compute(op: &Op<'_>, places: &[Place], contents: &mut [Vec<u8>]) -> Result<(), GpuError> {
    let host = &*HOST;
    let mut buffers: Vec<Buffer<Host>> = Vec::with_capacity(places.len());
    let outcome = places
        .iter()
        .try_for_each(|place| {
            buffers.push(host.allocate(place.used.extent.1.max(1))?);
            Ok(())
        })
        .and_then(|()| on_blocks(host, op, places, contents, &buffers));
    for buffer in buffers {
        // SAFETY: it came from this host above, and `on_blocks` has ended.
        unsafe { host.free(buffer) }?;
    }
    outcome
}

fn on_blocks(
    host: &Host,
    op: &Op<'_>,
    places: &[Place],
    contents: &mut [Vec<u8>],
    buffers: &[Buffer<Host>],
) -> Result<(), GpuError> {
    let part = |at: usize| {
        let (offset, len) = places[at].extent();
        let buffer = &buffers[at];
        Arg {
            buffer,
            offset,
            len,
        }
    };
    for (at, bytes) in contents.iter().enumerate() {
        // SAFETY: the bytes are as long as the extent, which lies inside the block; nothing runs.
        unsafe { host.write_direct(part(at), bytes) }?;
    }
    let stream = host.create_stream()?;
    let args: Vec<Arg<'_, Host>> = buffers
        .iter()
        .map(|buffer| Arg {
            buffer,
            offset: 0,
            len: buffer.len(),
        })
        .collect();
    let planned = host.plan(op)?.bytes;
    let scratch = match planned {
        0 => None,
        bytes => Some(host.allocate(bytes)?),
    };
    let scratch_arg = scratch.as_ref().map(|buffer| Arg {
        buffer,
        offset: 0,
        len: planned,
    });
    // SAFETY: just planned; each block is as long as its view's extent, and all are ours alone; the
    // fault slot holds zeros, as was checked; the scratch is as long as planned.
    let executed = unsafe { host.execute(&stream, op, &args, scratch_arg) };
    if let Some(buffer) = scratch {
        // SAFETY: it came from this host, which runs inline.
        unsafe { host.free(buffer) }?;
    }
    executed?;
    for (at, bytes) in contents.iter_mut().enumerate() {
        // SAFETY: as for the write above.
        unsafe { host.read_direct(part(at), bytes) }?;
    }
    Ok(())
}
