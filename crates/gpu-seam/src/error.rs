//! Why something could not be done: the cause vocabulary that every layer and every vendor shares.
//!
//! [`GpuError`] promises callers that they can branch on its variant and read its text; it promises
//! vendors that there is exactly one place to map their own codes into. It knows nothing of who was
//! asked (the layer's own error names the operation) and nothing of any vendor's status codes
//! (those travel inside `detail`).

use alloc::string::String;
use core::fmt;

/// The cause of a failure, in words that are the same on every vendor.
///
/// This is the *cause* vocabulary only. A layer's own error type adds what it was doing and hands
/// back what it was given; a vendor keeps its raw code in its own error and maps it here in one
/// place. Branch on the variant (or on [`kind`](Self::kind)), show the `Display`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// No device or runtime for the request. Nothing was changed; another device may do.
    Unavailable {
        /// What was probed and why it failed.
        detail: String,
    },
    /// This backend or this build does not serve the operation. Nothing was submitted.
    Unsupported {
        /// The operation that was asked for.
        op: &'static str,
        /// What exactly is not served (dtype, rank, size…), and what is.
        detail: String,
    },
    /// A buffer or device belongs to another backend or allocation domain.
    ForeignDomain,
    /// The work does not fit the pending budget now. It may fit later.
    Backpressure {
        /// What the admission needs, in bytes.
        bytes: usize,
    },
    /// The runtime or engine has been closed.
    Closed,
    /// A transfer failed.
    Transfer {
        /// Whether the failed route went through host memory.
        staged: bool,
        /// What failed.
        detail: String,
    },
    /// An earlier failure left the backend unusable.
    Broken {
        /// The *original* failure's own words.
        detail: String,
    },
    /// Device memory is exhausted. The caller may shrink its work and try again.
    OutOfMemory {
        /// Bytes that were asked for.
        requested: usize,
        /// Bytes that the device had to give.
        available: usize,
    },
}

/// The class of a [`GpuError`], for callers that only branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SeamError {
    /// See [`GpuError::Unavailable`].
    Unavailable,
    /// See [`GpuError::Unsupported`].
    Unsupported,
    /// See [`GpuError::ForeignDomain`].
    ForeignDomain,
    /// See [`GpuError::Backpressure`].
    Backpressure,
    /// See [`GpuError::Closed`].
    Closed,
    /// See [`GpuError::Transfer`].
    Transfer,
    /// See [`GpuError::Broken`].
    Broken,
    /// See [`GpuError::OutOfMemory`].
    OutOfMemory,
}

impl GpuError {
    /// An [`Unsupported`](Self::Unsupported) for `op`, saying in `detail` what is not served.
    pub fn unsupported(op: &'static str, detail: impl Into<String>) -> Self {
        Self::Unsupported {
            op,
            detail: detail.into(),
        }
    }

    /// A [`Transfer`](Self::Transfer) failure; `staged` when the route went through host memory.
    pub fn transfer(staged: bool, detail: impl Into<String>) -> Self {
        Self::Transfer {
            staged,
            detail: detail.into(),
        }
    }

    /// The class of this error.
    #[must_use]
    pub const fn kind(&self) -> SeamError {
        match self {
            Self::Unavailable { .. } => SeamError::Unavailable,
            Self::Unsupported { .. } => SeamError::Unsupported,
            Self::ForeignDomain => SeamError::ForeignDomain,
            Self::Backpressure { .. } => SeamError::Backpressure,
            Self::Closed => SeamError::Closed,
            Self::Transfer { .. } => SeamError::Transfer,
            Self::Broken { .. } => SeamError::Broken,
            Self::OutOfMemory { .. } => SeamError::OutOfMemory,
        }
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { detail } => write!(f, "GPU backend unavailable: {detail}"),
            Self::Unsupported { op, detail } => write!(f, "{op} is not served: {detail}"),
            Self::ForeignDomain => f.write_str("the operand belongs to another GPU domain"),
            Self::Backpressure { bytes } => {
                write!(f, "the GPU pending budget cannot admit {bytes} bytes")
            }
            Self::Closed => f.write_str("the GPU runtime has been closed"),
            Self::Transfer {
                staged: true,
                detail,
            } => {
                write!(f, "staged transfer failed: {detail}")
            }
            Self::Transfer {
                staged: false,
                detail,
            } => {
                write!(f, "direct transfer failed: {detail}")
            }
            Self::Broken { detail } => {
                write!(
                    f,
                    "the GPU backend is unusable after an earlier failure: {detail}"
                )
            }
            Self::OutOfMemory {
                requested,
                available,
            } => {
                write!(
                    f,
                    "GPU memory exhausted: {requested} bytes requested, {available} available"
                )
            }
        }
    }
}

impl core::error::Error for GpuError {}

#[cfg(test)]
mod tests {
    use super::{GpuError, SeamError};
    use alloc::string::{String, ToString};

    #[test]
    fn display_and_kind_are_the_contract() {
        let detail = String::from("why");
        let table = [
            (
                GpuError::Unavailable {
                    detail: detail.clone(),
                },
                SeamError::Unavailable,
                "GPU backend unavailable: why",
            ),
            (
                GpuError::unsupported("gemm", "why"),
                SeamError::Unsupported,
                "gemm is not served: why",
            ),
            (
                GpuError::ForeignDomain,
                SeamError::ForeignDomain,
                "the operand belongs to another GPU domain",
            ),
            (
                GpuError::Backpressure { bytes: 7 },
                SeamError::Backpressure,
                "the GPU pending budget cannot admit 7 bytes",
            ),
            (
                GpuError::Closed,
                SeamError::Closed,
                "the GPU runtime has been closed",
            ),
            (
                GpuError::transfer(true, "why"),
                SeamError::Transfer,
                "staged transfer failed: why",
            ),
            (
                GpuError::transfer(false, "why"),
                SeamError::Transfer,
                "direct transfer failed: why",
            ),
            (
                GpuError::Broken { detail },
                SeamError::Broken,
                "the GPU backend is unusable after an earlier failure: why",
            ),
            (
                GpuError::OutOfMemory {
                    requested: 8,
                    available: 4,
                },
                SeamError::OutOfMemory,
                "GPU memory exhausted: 8 bytes requested, 4 available",
            ),
        ];
        for (error, kind, text) in table {
            assert_eq!(error.kind(), kind);
            assert_eq!(error.to_string(), text);
        }
    }
}
