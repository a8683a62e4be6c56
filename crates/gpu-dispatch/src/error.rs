//! Why a call failed: the operation, what was asked, and the cause.
//!
//! Promises that a caller can branch ([`Error::kind`], [`Error::cause`]) and that every text says
//! what to do or what was found. Knows nothing of tensors: shapes appear as texts that the
//! canonicaliser wrote.

use crate::memory::MemoryReport;
use gpu_seam::{GpuError, SeamError};

/// What every fallible call of this crate answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call itself is wrong (shapes, dtypes, axes, ranges). Nothing was submitted.
    #[error("{op}: {detail}")]
    Invalid {
        /// The operation.
        op: &'static str,
        /// What was asked and what was found, with the offending values.
        detail: String,
    },
    /// An index of a gather or scatter lay outside its dimension. The output of that operation,
    /// and of whatever consumed it, is failed; the device stays usable.
    #[error("{op}: index {index} is out of range for a dimension of size {size}")]
    Index {
        /// The operation that was given the index.
        op: &'static str,
        /// The index.
        index: i64,
        /// The size of the dimension.
        size: usize,
    },
    /// The device could not do it.
    #[error("{op}: {cause}")]
    Gpu {
        /// The operation.
        op: &'static str,
        /// Why.
        cause: GpuError,
    },
    /// Device memory is exhausted, after everything reclaimable was reclaimed.
    #[error("{op}: {cause}; {report}")]
    OutOfMemory {
        /// The operation.
        op: &'static str,
        /// How much was asked for and how much there was.
        cause: GpuError,
        /// Where the memory is.
        report: Box<MemoryReport>,
    },
    /// The deadline passed first. Nothing was cancelled.
    #[error("{op}: the deadline passed before the work was done")]
    Deadline {
        /// What was waited for.
        op: &'static str,
    },
}

impl Error {
    /// An [`Invalid`](Self::Invalid).
    pub(crate) fn invalid(op: &'static str, detail: impl Into<String>) -> Self {
        Self::Invalid {
            op,
            detail: detail.into(),
        }
    }

    /// A [`Gpu`](Self::Gpu).
    pub(crate) const fn gpu(op: &'static str, cause: GpuError) -> Self {
        Self::Gpu { op, cause }
    }

    /// The operation that failed.
    #[must_use]
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Invalid { op, .. }
            | Self::Index { op, .. }
            | Self::Gpu { op, .. }
            | Self::OutOfMemory { op, .. }
            | Self::Deadline { op } => op,
        }
    }

    /// The cause in the shared vocabulary, where there is one.
    #[must_use]
    pub const fn cause(&self) -> Option<&GpuError> {
        match self {
            Self::Gpu { cause, .. } | Self::OutOfMemory { cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// The class of [`cause`](Self::cause).
    #[must_use]
    pub const fn kind(&self) -> Option<SeamError> {
        match self.cause() {
            Some(cause) => Some(cause.kind()),
            None => None,
        }
    }
}

/// A refusal that hands back what was given.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Rejected<T> {
    /// What was given, unchanged.
    pub value: T,
    /// Why it was refused.
    pub cause: Error,
}
