//! From one engine to another: through the host, chunk by chunk.
//!
//! Promises that the copy is bounded in host memory and that its report says which route was taken
//! and why. Works over erased faces, so that the two engines may be of different vendors. Knows
//! nothing of peer routes: a vendor with one brings the capability and the route together.

use crate::error::Error;
use crate::face::Face;
use crate::storage::DynStorage;

/// How a transfer went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferReport {
    /// Whether bytes went through host memory.
    pub staged: bool,
    /// Bytes that were moved.
    pub bytes: usize,
    /// In how many pieces.
    pub chunks: usize,
    /// Why this route.
    pub reason: &'static str,
}

/// Bytes of one piece on its way through the host.
const PIECE: usize = 4 << 20;

/// Copies all of `storage` from the engine of `from` to that of `to`, on the lane of `to`.
pub(crate) fn across(
    from: &dyn Face,
    to: &dyn Face,
    storage: &DynStorage,
) -> Result<(DynStorage, TransferReport), Error> {
    if from.domain() == to.domain() {
        let report = TransferReport {
            staged: false,
            bytes: 0,
            chunks: 0,
            reason: "the same engine",
        };
        return Ok((storage.clone(), report));
    }
    let len = storage.len();
    let mut bounce = vec![0; len.min(PIECE)];
    let mut target = to.allocate(len)?;
    let mut chunks = 0;
    for at in (0..len).step_by(PIECE) {
        let piece = &mut bounce[..(len - at).min(PIECE)];
        from.read(storage, at, piece)?;
        to.write(&mut target, at, piece)?;
        chunks += 1;
    }
    let reason = "no peer route between these devices";
    Ok((
        target,
        TransferReport {
            staged: true,
            bytes: len,
            chunks,
            reason,
        },
    ))
}
