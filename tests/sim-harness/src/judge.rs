//! Whether an error is one that the plan calls for.
//!
//! Promises that an error is accepted only with its reason: a planned fault that came to pass during
//! the call, or that broke the engine or the value before; a full budget that was to refuse; a bad
//! index; a close; memory that the case makes scarce. Knows nothing of values.

use gpu_dispatch::{Engine, Error};
use gpu_seam::GpuError;
use gpu_sim::device::{Fault, Machine, Status};
use gpu_sim::face::Sim;

use crate::case::Case;

/// What may explain an error beside faults.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Excuse<'a> {
    /// The faults that had come to pass before the call.
    pub(crate) since: usize,
    /// Why the values concerned have failed, if they have.
    pub(crate) known: &'a [Error],
    /// The bad indices that an operand depends on.
    pub(crate) bad: &'a [i64],
    /// Whether the program closed the engine.
    pub(crate) closed: bool,
}

/// Nothing when `error` is explained, else what is wrong with it.
pub(crate) fn explain(
    case: &Case,
    machine: &Machine,
    engines: &[Engine<Sim>],
    error: &Error,
    excuse: Excuse<'_>,
) -> Result<(), String> {
    let words = error.to_string();
    let unexplained = |why: &str| Err(format!("{why}: {words}"));
    if excuse.known.iter().any(|known| same(known, error)) {
        return Ok(());
    }
    let fired = machine.fired();
    match error {
        Error::Index { index, .. } => match excuse.bad.contains(index) {
            true => Ok(()),
            false => unexplained("an index error without a bad index"),
        },
        Error::Gpu {
            cause: GpuError::Closed,
            ..
        } if excuse.closed => Ok(()),
        Error::Gpu {
            cause: GpuError::Backpressure { .. },
            ..
        } if case.rejects => Ok(()),
        Error::OutOfMemory { .. }
        | Error::Gpu {
            cause: GpuError::OutOfMemory { .. },
            ..
        } => {
            let planned = case.plan.faults.iter().any(|fault| match fault {
                Fault::Limit { .. } | Fault::OutOfMemory { .. } => true,
                Fault::Call { status, .. } => *status == Status::OutOfMemory,
                _ => false,
            });
            match planned || case.config.devices[0] < 32 << 20 {
                true => Ok(()),
                false => unexplained("out of memory that is not scarce"),
            }
        }
        _ => {
            let named = |fault: &String| words.contains(&format!("planned fault {fault}"));
            let Some(at) = fired.iter().rposition(|it| named(&it.fault)) else {
                return unexplained("an error without a planned fault");
            };
            let text = format!("planned fault {}", fired[at].fault);
            let mut failures = engines.iter().filter_map(Engine::failure);
            let broke = failures.any(|failure| failure.cause.to_string().contains(&text));
            match broke || fired[at].sticky || at >= excuse.since {
                true => Ok(()),
                false => unexplained("an error of an earlier call"),
            }
        }
    }
}

/// Whether two errors have one cause: the operation that met it is another's.
fn same(known: &Error, error: &Error) -> bool {
    let cause = |error: &Error| match error.cause() {
        Some(GpuError::Broken { detail }) => detail.clone(),
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    };
    cause(known) == cause(error) || cause(error).contains(&cause(known))
}
