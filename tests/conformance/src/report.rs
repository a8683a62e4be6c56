//! Running checks and keeping their verdicts.

use crate::config::Config;
use crate::cx::Cx;
use crate::ledger::Ledger;
use crate::list::Check;
use crate::outcome::{Outcome, Stop, Verdict};
use gpu_seam::{Execute, GpuError};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{PoisonError, RwLock};

/// The verdicts of a run, in the order of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report(Vec<(String, Verdict)>);

/// How many checks ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Promises kept.
    pub passed: usize,
    /// Promises broken.
    pub failed: usize,
    /// Declared as not served.
    pub unsupported: usize,
    /// Known to fail.
    pub expected_failures: usize,
    /// No device.
    pub skipped: usize,
}

impl Counts {
    /// Counts one more.
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Unsupported(_) => self.unsupported += 1,
            Verdict::ExpectedFailure(_) => self.expected_failures += 1,
            Verdict::Skipped(_) => self.skipped += 1,
        }
    }

    /// Checks that ran on a device and came to a verdict of their own.
    #[must_use]
    pub const fn ran(&self) -> usize {
        self.passed + self.failed + self.expected_failures
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} unsupported, {} expected failures, {} skipped",
            self.passed, self.failed, self.unsupported, self.expected_failures, self.skipped
        )
    }
}

impl Report {
    /// The verdict of the check of this name.
    #[must_use]
    pub fn verdict(&self, check: &str) -> Option<&Verdict> {
        self.0
            .iter()
            .find(|(name, _)| name == check)
            .map(|(_, verdict)| verdict)
    }

    /// Every check with its verdict.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Verdict)> {
        self.0
            .iter()
            .map(|(name, verdict)| (name.as_str(), verdict))
    }

    /// The names of the checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Failed(_)))
            .map(|(name, _)| name)
    }

    /// How many ended how.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.0.iter().for_each(|(_, verdict)| counts.add(verdict));
        counts
    }
}

/// Runs every check of `config`, one after the other, and reports all verdicts.
pub fn report<V: Execute + Send>(config: &Config<V>) -> Report {
    report_on(config, |_| true)
}

/// As [`report`], of the checks whose names `wanted` accepts.
pub fn report_on<V: Execute + Send>(config: &Config<V>, wanted: impl Fn(&str) -> bool) -> Report {
    let checks = config.checks.iter().filter(|check| wanted(&check.name));
    Report(
        checks
            .map(|check| (check.name.clone(), verdict(config, check)))
            .collect(),
    )
}

/// Runs one check and judges its outcome by what is declared about it.
pub(crate) fn verdict<V: Execute + Send>(config: &Config<V>, check: &Check<Ledger<V>>) -> Verdict {
    // Checks that take all memory wait for the others, and the others for them.
    static ROOM: RwLock<()> = RwLock::new(());
    let _shared;
    let _alone;
    if check.alone {
        _alone = ROOM.write().unwrap_or_else(PoisonError::into_inner);
    } else {
        _shared = ROOM.read().unwrap_or_else(PoisonError::into_inner);
    }
    let device = match config.device() {
        Ok(device) => device,
        Err(GpuError::Unavailable { detail }) if !config.require_device => {
            return Verdict::Skipped(format!("no device: {detail}"));
        }
        Err(cause) => return Verdict::Failed(format!("no device could be opened: {cause}")),
    };
    let info = device.device();
    let expected = config.expected.iter().find(|known| {
        known.check == check.name
            && (info.name.contains(known.device) || info.driver.contains(known.device))
    });
    let outcome = outcome(config, check, &device);
    match (outcome, expected) {
        (Err(Stop::Failed(text)), Some(known)) => {
            Verdict::ExpectedFailure(format!("{} ({text})", known.reason))
        }
        (Ok(()) | Err(Stop::Unsupported(_)), Some(known)) => Verdict::Failed(format!(
            "expected to fail ({}), and it did not: take it off the list",
            known.reason
        )),
        (Err(Stop::Unsupported(text)), None) if check.core => {
            Verdict::Failed(format!("a core check may not be unsupported: {text}"))
        }
        (Err(Stop::Unsupported(text)), None) => Verdict::Unsupported(text),
        (Err(Stop::Failed(text)), None) => Verdict::Failed(text),
        (Ok(()), None) => Verdict::Passed,
    }
}

/// Runs one check on a device, then looks for leaks and at what `after` says.
fn outcome<V: Execute + Send>(
    config: &Config<V>,
    check: &Check<Ledger<V>>,
    device: &std::sync::Arc<V>,
) -> Outcome {
    let ledger = Ledger::new(std::sync::Arc::clone(device));
    let cx = Cx::new(ledger, config.patience)?;
    let outcome = catch_unwind(AssertUnwindSafe(|| check.run(&cx)))
        .unwrap_or_else(|panic| Err(Stop::Failed(format!("a panic: {}", words(&*panic)))));
    if let Err(Stop::Failed(text)) = outcome {
        return Err(Stop::Failed(text));
    }
    // A vendor may also panic over what the check left queued.
    let ledger = catch_unwind(AssertUnwindSafe(|| cx.close())).unwrap_or_else(|panic| {
        Err(GpuError::Broken {
            detail: words(&*panic),
        })
    })?;
    if let Some(complaint) = ledger.complaint() {
        return Err(Stop::Failed(complaint));
    }
    config.looked_at(device).map_err(Stop::Failed)?;
    outcome
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
