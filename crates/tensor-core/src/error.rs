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
    /// Told by the engine, of the call that it names so, or of what that call waited for.
    Engine {
        own: &'static str,
        cause: gpu_dispatch::Error,
    },
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
        Self::call(op, op, cause)
    }

    /// What the engine answered to the call that it names `own`.
    pub(crate) fn call(op: &'static str, own: &'static str, cause: gpu_dispatch::Error) -> Self {
        Self::new(op, Cause::Engine { own, cause })
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
            Cause::Engine { cause, .. } => match cause.kind() {
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
            Cause::Engine { cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// The cause in the vocabulary that all vendors share, where there is one.
    #[must_use]
    pub const fn gpu_error(&self) -> Option<&GpuError> {
        match &self.0.cause {
            Cause::Engine { cause, .. } => cause.cause(),
            Cause::Gpu(cause) => Some(cause),
            Cause::Invalid(_) => None,
        }
    }
}

/// How many tensors an error describes.
const MOST_OPERANDS: usize = 8;

/// The engine's names for what is no operation on elements.
const PLUMBING: [&str; 10] = [
    "allocate",
    "upload",
    "download",
    "poll",
    "wait",
    "ready",
    "synchronize",
    "close",
    "new_lane",
    "open",
];

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
            Cause::Engine { own, cause } => {
                // The engine's text begins with its name for the operation. That is said above in the
                // user's words, unless it is another operation: one that this one waited for.
                let text = cause.to_string();
                let name = cause.op();
                let prefix = format!("{name}: ");
                let known = name == *own || name == *op || PLUMBING.contains(&name);
                f.write_str(match text.strip_prefix(&prefix) {
                    Some(detail) if known => detail,
                    _ => &text,
                })
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
            Cause::Engine { cause, .. } => debug.field("cause", cause),
            Cause::Gpu(cause) => debug.field("cause", cause),
        };
        debug.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            Cause::Invalid(_) => None,
            Cause::Engine { cause, .. } => Some(cause),
            Cause::Gpu(cause) => Some(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Described, Error, ErrorKind, MOST_OPERANDS};
    use gpu_seam::{DType, GpuError};
    use rstest::rstest;
    use std::error::Error as _;

    fn described(dims: &[usize]) -> Described {
        Described {
            dims: dims.iter().copied().collect(),
            dtype: DType::F32,
            device: "host:0".to_owned(),
        }
    }

    fn gpu(op: &'static str, cause: GpuError) -> gpu_dispatch::Error {
        gpu_dispatch::Error::Gpu { op, cause }
    }

    #[test]
    fn the_operation_is_said_once_in_the_users_words() {
        let operands = [described(&[2, 3]), described(&[])];
        let unsupported = GpuError::unsupported("min", "no f32 here");
        let error = Error::call("minimum", "min", gpu("min", unsupported)).with_operands(operands);
        insta::assert_snapshot!(
            error,
            @"minimum of f32[2, 3] on host:0, f32[] on host:0: min is not served: no f32 here"
        );
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let invalid = gpu_dispatch::Error::Invalid {
            op: "concat",
            detail: "dims differ".to_owned(),
        };
        insta::assert_snapshot!(Error::call("cat", "concat", invalid), @"cat: dims differ");
        let closed = gpu("upload", GpuError::Closed);
        insta::assert_snapshot!(
            Error::engine("from_slice", closed),
            @"from_slice: the GPU runtime has been closed"
        );
    }

    #[test]
    fn an_operation_that_failed_earlier_is_named() {
        let index = gpu_dispatch::Error::Index {
            op: "gather",
            index: 3,
            size: 2,
        };
        let error = Error::call("add", "add", index.clone()).with_operands([described(&[2])]);
        insta::assert_snapshot!(
            error,
            @"add of f32[2] on host:0: gather: index 3 is out of range for a dimension of size 2"
        );
        assert_eq!((error.op(), error.kind()), ("add", ErrorKind::Index));
        assert_eq!(error.engine_error(), Some(&index));
    }

    #[rstest]
    #[case(GpuError::Closed, ErrorKind::Closed)]
    #[case(GpuError::ForeignDomain, ErrorKind::ForeignDomain)]
    #[case(GpuError::Backpressure { bytes: 7 }, ErrorKind::Backpressure)]
    #[case(GpuError::transfer(true, "x"), ErrorKind::Transfer)]
    #[case(GpuError::unsupported("x", "x"), ErrorKind::Unsupported)]
    #[case(GpuError::Broken { detail: "x".to_owned() }, ErrorKind::Broken)]
    #[case(GpuError::Unavailable { detail: "x".to_owned() }, ErrorKind::Unavailable)]
    #[case(GpuError::OutOfMemory { requested: 2, available: 1 }, ErrorKind::OutOfMemory)]
    fn the_kind_is_that_of_the_cause(#[case] cause: GpuError, #[case] kind: ErrorKind) {
        let direct = Error::gpu("open", cause.clone());
        let by_engine = Error::engine("add", gpu("add", cause.clone()));
        for error in [direct, by_engine] {
            assert_eq!(error.kind(), kind);
            assert_eq!(error.gpu_error(), Some(&cause));
            // The chain of sources ends with the vendor's cause.
            let mut last: &dyn std::error::Error = &error;
            while let Some(source) = last.source() {
                last = source;
            }
            assert!(last.to_string().contains(&cause.to_string()));
        }
        assert_eq!(Error::invalid("add", "x").kind(), ErrorKind::Invalid);
        assert!(Error::invalid("add", "x").source().is_none());
    }

    #[test]
    fn a_text_is_bounded_whatever_was_involved() {
        let many = (0..1000).map(|_| described(&[1; 64]));
        let error = Error::invalid("cat", "x").with_operands(many);
        assert_eq!(error.operands().len(), MOST_OPERANDS);
        assert!(error.to_string().len() < 1000);
    }
}
