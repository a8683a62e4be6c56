//! How a check ends, and the words for it.

use gpu_seam::GpuError;
use std::fmt;

/// What a check function answers.
pub type Outcome = Result<(), Stop>;

/// Why a check did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The vendor declares that it does not serve this, and its `plan` said the same.
    Unsupported(String),
    /// The vendor broke a promise.
    Failed(String),
}

impl Stop {
    /// A failure in these words.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }

    /// The same, with what was being done put in front of a failure.
    #[must_use]
    pub fn within(self, what: impl fmt::Display) -> Self {
        match self {
            Self::Failed(text) => Self::Failed(format!("{what}: {text}")),
            Self::Unsupported(text) => Self::Unsupported(text),
        }
    }
}

impl From<GpuError> for Stop {
    /// A call that may not fail did.
    fn from(cause: GpuError) -> Self {
        Self::Failed(format!("a driver call answered: {cause}"))
    }
}

/// What a report says about one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The promise was kept.
    Passed,
    /// The promise was broken, or a core check is not served, or an expected failure passed.
    Failed(String),
    /// Declared as not served, with the reason; the refusal itself was tested.
    Unsupported(String),
    /// Failed, as the vendor's list of expected failures says, with the reason.
    ExpectedFailure(String),
    /// There is no device.
    Skipped(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(text) => write!(f, "failed: {text}"),
            Self::Unsupported(text) => write!(f, "unsupported: {text}"),
            Self::ExpectedFailure(text) => write!(f, "expected failure: {text}"),
            Self::Skipped(text) => write!(f, "skipped: {text}"),
        }
    }
}

/// Fails the check in these words unless `kept`.
pub(crate) fn ensure(kept: bool, text: impl FnOnce() -> String) -> Outcome {
    if kept {
        Ok(())
    } else {
        Err(Stop::Failed(text()))
    }
}

/// Fails the check unless both are equal.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(what: &str, got: T, want: T) -> Outcome {
    ensure(got == want, || {
        format!("{what}: {got:?} where {want:?} is right")
    })
}

/// Fails the check at the first byte that differs.
pub(crate) fn same_bytes(what: &str, got: &[u8], want: &[u8]) -> Outcome {
    if got.len() != want.len() {
        return Err(Stop::Failed(format!(
            "{what}: {} bytes where {} are right",
            got.len(),
            want.len()
        )));
    }
    match got.iter().zip(want).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(at) => Err(Stop::Failed(format!(
            "{what}: byte {at} of {} is {:#04x} where {:#04x} is right",
            want.len(),
            got[at],
            want[at]
        ))),
    }
}
