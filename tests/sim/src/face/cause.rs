//! The one place where a status of the device becomes a cause of the seam.
//!
//! Promises that the status and its words travel along, and that exactly the sticky ones are
//! `Broken`: after any other failure the device goes on. Knows nothing of who asked.

use crate::device::{Failure, Status};
use gpu_seam::GpuError;

/// What kind of call failed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    /// Memory of this many bytes, of which so many were to be had.
    Memory { bytes: usize, available: usize },
    /// A copy to or from staging memory, or an access to it.
    Staged,
    /// A copy inside the device, or a direct access.
    Direct,
    /// Anything else, by its name.
    Call(&'static str),
}

/// The cause of `failure`, met by a call of that kind.
pub(super) fn cause(asked: Asked, failure: &Failure) -> GpuError {
    let detail = failure.to_string();
    if failure.status.is_sticky() {
        return GpuError::Broken { detail };
    }
    match (failure.status, asked) {
        (Status::OutOfMemory, Asked::Memory { bytes, available }) => GpuError::OutOfMemory {
            requested: bytes,
            available,
        },
        (Status::NotSupported, Asked::Call(op)) => GpuError::unsupported(op, detail),
        (_, Asked::Staged) => GpuError::transfer(true, detail),
        (_, Asked::Direct) => GpuError::transfer(false, detail),
        _ => GpuError::Unavailable { detail },
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, cause};
    use crate::device::{Failure, Status};
    use gpu_seam::{GpuError, SeamError};

    #[test]
    fn every_status_has_a_cause_that_keeps_its_words_and_sticky_ones_are_broken() {
        let memory = Asked::Memory {
            bytes: 7,
            available: 3,
        };
        for &status in Status::ALL {
            for asked in [memory, Asked::Staged, Asked::Direct, Asked::Call("launch")] {
                let found = cause(asked, &Failure::new(status, "why"));
                let broken = found.kind() == SeamError::Broken;
                assert_eq!(broken, status.is_sticky(), "{status} {asked:?}");
                let words = found.to_string();
                let memory = matches!(found, GpuError::OutOfMemory { requested: 7, .. });
                assert!(
                    memory || words.contains(status.name()) && words.contains("why"),
                    "{status} {asked:?}: {words}"
                );
            }
        }
    }
}
