//! The checks that every vendor passes, and the harness that names each.
//!
//! One list of plain generic functions over any `D: Driver + Execute`: [`checks`] (and
//! [`discover_checks`] for a vendor that can be asked for its devices). Each behaviour line of
//! gpu-seam's driver traits has a check of exactly its name. A test program of a vendor is three
//! lines, in this workspace or outside it:
//!
//! ```no_run
//! # use gpu_conformance::Config;
//! # fn demo<MyVendor: gpu_seam::Execute + gpu_seam::Discover + Send>() -> std::process::ExitCode {
//! gpu_conformance::run(Config::new("mine", || MyVendor::open(0)).discover())
//! # }
//! ```
//!
//! Three words are kept apart in every report: *unsupported* (the support table says no, and `plan`
//! was seen to say the same), *expected failure* (data in [`Config::expect_failures`], red when it
//! passes) and *skipped* (no device; `--require-device` makes it a failure). Core checks may not be
//! unsupported, and a run in which nothing ran is red.
//!
//! Every check runs behind a [`Ledger`], which counts what it leaves alive, and computes against
//! references that are written here: the suite leans on no vendor. Knows nothing of engines.

mod checks;
mod claim;
mod compare;
mod config;
mod cx;
mod data;
mod harness;
mod launch;
mod layout;
mod ledger;
mod list;
mod outcome;
mod reference;
mod report;
mod transfer;
mod value;

pub use config::{Config, ExpectedFailure};
pub use cx::Cx;
pub use harness::run;
pub use ledger::{Ledger, Live};
pub use list::{Check, checks, discover_checks};
pub use outcome::{Outcome, Stop, Verdict};
pub use report::{Counts, Report, report, report_on};
