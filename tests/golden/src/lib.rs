//! Golden values: what every operation of tensor-core must give on every device.
//!
//! `golden.json` is written by `script/generate.py`, by NumPy and, where `docs/semantics.md` differs
//! from it, by the rules written out there. [`check`] runs every case on a device of whatever vendor.
//! Knows nothing of any vendor: what a device may differ in, it says in its capabilities.

mod book;
mod compare;
mod run;

use book::{Book, Case, Expected};
use gpu_seam::Subnormals;
use run::Inputs;
use tensor_core::{Device, Error, ErrorKind, Tensor};

/// How the cases went on one device.
#[derive(Debug, Default)]
pub struct Report {
    /// Cases that gave what they must.
    pub passed: usize,
    /// Cases that did not: name and what was found.
    pub failed: Vec<(String, String)>,
    /// Cases that the device says it does not serve: name and its words.
    pub unsupported: Vec<(String, String)>,
    /// Cases whose inputs hold subnormal numbers, on a device that says it flushes them.
    pub flushed: Vec<String>,
}

impl Report {
    /// How many cases there were.
    #[must_use]
    pub const fn cases(&self) -> usize {
        self.passed + self.failed.len() + self.unsupported.len() + self.flushed.len()
    }
}

/// Runs every golden case on `device`.
///
/// # Panics
/// When `golden.json` itself is broken.
#[must_use]
pub fn check(device: &Device) -> Report {
    check_book(GOLDEN, device)
}

const GOLDEN: &str = include_str!("../golden.json");

/// Runs the cases of a book in the form of `golden.json`: what the tests plant faults in.
///
/// # Panics
/// When the book is broken.
#[must_use]
pub fn check_book(text: &str, device: &Device) -> Report {
    let book: Book = match serde_json::from_str(text) {
        Ok(book) => book,
        Err(error) => panic!("the golden book is broken: {error}"),
    };
    let flushes = device.info().capabilities.subnormals == Subnormals::Flushed;
    let inputs = Inputs::new(&book, device);
    let mut report = Report::default();
    for case in &book.cases {
        if flushes && case.subnormal {
            report.flushed.push(case.id.clone());
            continue;
        }
        match judge(case, run::run(case, &inputs), flushes) {
            Ok(()) => report.passed += 1,
            Err(Unmet::Failed(found)) => report.failed.push((case.id.clone(), found)),
            Err(Unmet::Unsupported(words)) => report.unsupported.push((case.id.clone(), words)),
        }
    }
    report
}

enum Unmet {
    Failed(String),
    Unsupported(String),
}

fn judge(case: &Case, result: Result<Tensor, Error>, flushes: bool) -> Result<(), Unmet> {
    // An index out of range is told when the result is waited for, at the latest.
    let found = result.and_then(|tensor| run::bytes(&tensor).map(|bytes| (tensor, bytes)));
    match (case.expected(), found) {
        (Expected::Array(array), Ok((tensor, bytes))) => {
            if tensor.dtype().name() != array.dtype || tensor.dims() != array.shape {
                return Err(Unmet::Failed(format!(
                    "gave {tensor}, not {}{:?}",
                    array.dtype, array.shape
                )));
            }
            compare::compare(case, tensor.dtype(), &array.bytes(), &bytes, flushes)
                .map_err(Unmet::Failed)
        }
        (Expected::Array(_), Err(error)) if error.kind() == ErrorKind::Unsupported => {
            Err(Unmet::Unsupported(error.to_string()))
        }
        (Expected::Array(_), Err(error)) => Err(Unmet::Failed(format!("failed: {error}"))),
        (Expected::Error(kind), Err(error)) if format!("{:?}", error.kind()) == kind => Ok(()),
        (Expected::Error(kind), Err(error)) => Err(Unmet::Failed(format!(
            "failed, but not with {kind}: {error}"
        ))),
        (Expected::Error(kind), Ok((tensor, _))) => Err(Unmet::Failed(format!(
            "gave {tensor}, not an error of {kind}"
        ))),
    }
}
