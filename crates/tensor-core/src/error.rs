//! The one error type of this crate: the operation, the tensors involved, and the cause.
//!
//! Promises that a caller can branch ([`Error::kind`]) and that one line of text holds the
//! operation, the shape, dtype and device of each tensor involved, what was asked and what was
//! found. [`source`](std::error::Error::source) leads to the engine's error and from there to the
//! vendor's. Knows nothing of how anything is computed.

use gpu_dispatch::Dims;
use gpu_seam::{DType, GpuError, SeamError};
use std::fmt;

/// Why a call of this crate failed.
///
/// One pointer wide, so that results stay small.
pub struct Error(Box<Inner>);

struct Inner {
    op: &'static str,
    operands: Vec<Described>,
    cause: Cause,
}

enum Cause {
    /// Found by this crate, before anything was submitted.
    Invalid(String),
    /// Told by the engine.
    Engine(gpu_dispatch::Error),
    /// Told where there is no engine yet.
    Gpu(GpuError),
}

/// The class of an [`Error`], for callers that only branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call itself is wrong: shapes, dtypes, axes, ranges, names. Nothing was submitted.
    Invalid,
    /// An index was out of range.
    Index,
    /// A deadline passed first.
    Deadline,
    /// No such device, or the build does not have its vendor.
    Unavailable,
    /// The device does not serve the operation.
    Unsupported,
    /// The tensors are on different devices.
    ForeignDomain,
    /// The work does not fit the pending budget now.
    Backpressure,
    /// The device has been closed.
    Closed,
    /// A transfer failed.
    Transfer,
    /// An earlier failure left the device unusable.
    Broken,
    /// Memory is exhausted.
    OutOfMemory,
    /// A class that this version has no word for.
    Other,
}

/// What an error keeps of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Elements along each dimension.
    pub dims: Dims,
    /// The element type.
    pub dtype: DType,
    /// The device, as [`Device`](crate::Device) displays it.
    pub device: String,
}

impl Error {
    /// A call that is wrong in itself.
    pub(crate) fn invalid(op: &'static str, detail: impl Into<String>) -> Self {
        Self::new(op, Cause::Invalid(detail.into()))
    }

    /// What the engine answered.
    pub(crate) fn engine(op: &'static str, cause: gpu_dispatch::Error) -> Self {
        Self::new(op, Cause::Engine(cause))
    }

    /// What was answered where there is no engine yet.
    pub(crate) fn gpu(op: &'static str, cause: GpuError) -> Self {
        Self::new(op, Cause::Gpu(cause))
    }

    fn new(op: &'static str, cause: Cause) -> Self {
        Self(Box::new(Inner {
            op,
            operands: Vec::new(),
            cause,
        }))
    }

    /// The same error with the tensors that were involved.
    #[must_use]
    pub(crate) fn with_operands(mut self, operands: impl IntoIterator<Item = Described>) -> Self {
        // A concat of a million tensors must not make an error of a million shapes.
        self.0
            .operands
            .extend(operands.into_iter().take(MOST_OPERANDS));
        self
    }

    /// The same error under the name of the operation that the user called.
    #[must_use]
    pub(crate) fn named(mut self, op: &'static str) -> Self {
        self.0.op = op;
        self
    }

    /// The operation that failed.
    #[must_use]
    pub const fn op(&self) -> &'static str {
        self.0.op
    }

    /// The tensors involved, in the order of the call; at most eight of them.
    #[must_use]
    pub fn operands(&self) -> &[Described] {
        &self.0.operands
    }

    /// The class, to branch on.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Invalid(_) => ErrorKind::Invalid,
            Cause::Gpu(cause) => of_seam(cause.kind()),
            Cause::Engine(cause) => match cause.kind() {
                Some(kind) => of_seam(kind),
                None => match cause {
                    gpu_dispatch::Error::Invalid { .. } => ErrorKind::Invalid,
                    gpu_dispatch::Error::Index { .. } => ErrorKind::Index,
                    gpu_dispatch::Error::Deadline { .. } => ErrorKind::Deadline,
                    _ => ErrorKind::Other,
                },
            },
        }
    }

    /// What the engine answered, where it was asked.
    #[must_use]
    pub const fn engine_error(&self) -> Option<&gpu_dispatch::Error> {
        match &self.0.cause {
            Cause::Engine(cause) => Some(cause),
            _ => None,
        }
    }

    /// The cause in the vocabulary that all vendors share, where there is one.
    #[must_use]
    pub const fn gpu_error(&self) -> Option<&GpuError> {
        match &self.0.cause {
            Cause::Engine(cause) => cause.cause(),
            Cause::Gpu(cause) => Some(cause),
            Cause::Invalid(_) => None,
        }
    }
}

/// How many tensors an error describes.
const MOST_OPERANDS: usize = 8;

const fn of_seam(kind: SeamError) -> ErrorKind {
    match kind {
        SeamError::Unavailable => ErrorKind::Unavailable,
        SeamError::Unsupported => ErrorKind::Unsupported,
        SeamError::ForeignDomain => ErrorKind::ForeignDomain,
        SeamError::Backpressure => ErrorKind::Backpressure,
        SeamError::Closed => ErrorKind::Closed,
        SeamError::Transfer => ErrorKind::Transfer,
        SeamError::Broken => ErrorKind::Broken,
        SeamError::OutOfMemory => ErrorKind::OutOfMemory,
        _ => ErrorKind::Other,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            op,
            operands,
            cause,
        } = &*self.0;
        f.write_str(op)?;
        for (at, operand) in operands.iter().enumerate() {
            write!(f, "{}{operand}", if at == 0 { " of " } else { ", " })?;
        }
        f.write_str(": ")?;
        match cause {
            Cause::Invalid(detail) => f.write_str(detail),
            Cause::Gpu(cause) => cause.fmt(f),
            // The engine's text begins with its own name for the operation: not twice.
            Cause::Engine(gpu_dispatch::Error::Invalid { detail, .. }) => f.write_str(detail),
            Cause::Engine(gpu_dispatch::Error::Gpu { cause, .. }) => cause.fmt(f),
            Cause::Engine(cause) => {
                let text = cause.to_string();
                let prefix = format!("{}: ", cause.op());
                f.write_str(text.strip_prefix(&prefix).unwrap_or(&text))
            }
        }
    }
}

impl fmt::Display for Described {
    /// `f32[2, 3] on host:0`, with a long list of dims cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} on {}", self.dtype, Shown(&self.dims), self.device)
    }
}

/// A list of dims or axes in a message, cut after 16.
pub(crate) struct Shown<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (at, item) in self.0.iter().take(16).enumerate() {
            write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
        }
        if self.0.len() > 16 {
            write!(f, ", … {} in all", self.0.len())?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            op,
            operands,
            cause,
        } = &*self.0;
        let mut debug = f.debug_struct("Error");
        debug
            .field("op", op)
            .field("kind", &self.kind())
            .field("operands", operands);
        match cause {
            Cause::Invalid(detail) => debug.field("detail", detail),
            Cause::Engine(cause) => debug.field("cause", cause),
            Cause::Gpu(cause) => debug.field("cause", cause),
        };
        debug.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            Cause::Invalid(_) => None,
            Cause::Engine(cause) => Some(cause),
            Cause::Gpu(cause) => Some(cause),
        }
    }
}
