//! The test harness: each check a named test, three words for what did not pass, one exit code.

use crate::config::Config;
use crate::outcome::Verdict;
use crate::report::{Counts, verdict};
use gpu_seam::{Execute, GpuError};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes a missing device a failure, like the argument `--require-device`.
const REQUIRE: &str = "GPU_CONFORMANCE_REQUIRE_DEVICE";

/// Runs the suite on a vendor as a test program: the arguments are those of `cargo test`, and
/// `--require-device`. Ends red when a check failed, or when checks were chosen and none ran.
///
/// Where there is no device, each check is reported as skipped with the reason, and the run ends
/// green only because nothing was required.
pub fn run<V: Execute + Send>(config: Config<V>) -> ExitCode {
    let flag = "--require-device";
    let required = std::env::args().any(|argument| argument == flag)
        || std::env::var_os(REQUIRE).is_some_and(|value| value != "0");
    let arguments = std::env::args().filter(|argument| argument != flag);
    let arguments = Arguments::from_iter(arguments);
    let config = if required {
        config.require_device()
    } else {
        config
    };
    run_with(config, &arguments)
}

fn run_with<V: Execute + Send>(mut config: Config<V>, arguments: &Arguments) -> ExitCode {
    let counts = Arc::new(Mutex::new(Counts::default()));
    let unknown = unknown_names(&config);
    let checks = std::mem::take(&mut config.checks);
    let vendor = config.vendor.clone();
    let config = Arc::new(config);
    if !arguments.list {
        note(&format!(
            "conformance of {vendor}: {} checks on {}",
            checks.len(),
            found(&config)
        ));
    }
    let mut trials: Vec<_> = checks
        .into_iter()
        .map(|check| {
            let (config, counts) = (Arc::clone(&config), Arc::clone(&counts));
            Trial::ignorable_test(check.name.clone(), move || {
                let verdict = verdict(&config, &check);
                counts
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .add(&verdict);
                match verdict {
                    Verdict::Passed => Ok(Completion::Completed),
                    Verdict::Failed(text) => Err(Failed::from(text)),
                    other => Ok(Completion::ignored_with(other)),
                }
            })
        })
        .collect();
    if !unknown.is_empty() {
        trials.push(Trial::test("expected_failures_name_checks", move || {
            Err(Failed::from(format!(
                "no such check: {}",
                unknown.join(", ")
            )))
        }));
    }
    let chosen = trials.len();
    let conclusion = libtest_mimic::run(arguments, trials);
    if arguments.list {
        return conclusion.exit_code();
    }
    let counts = *counts.lock().unwrap_or_else(PoisonError::into_inner);
    note(&format!("conformance of {vendor}: {counts}"));
    let chosen = chosen - usize::try_from(conclusion.num_filtered_out).unwrap_or(0);
    if chosen > 0 && counts.ran() == 0 && !conclusion.has_failed() {
        if counts.skipped > 0 && counts.unsupported == 0 {
            note("NOTHING RAN: there is no device (--require-device makes this a failure)");
        } else {
            note("NOTHING RAN, which is a failure");
            return ExitCode::FAILURE;
        }
    }
    conclusion.exit_code()
}

/// Expected failures that name no check.
fn unknown_names<V: Execute + Send>(config: &Config<V>) -> Vec<&'static str> {
    let known = |name: &str| config.names().any(|check| check == name);
    config
        .expected
        .iter()
        .map(|failure| failure.check)
        .filter(|name| !known(name))
        .collect()
}

fn found<V: Execute + Send>(config: &Config<V>) -> String {
    match config.device() {
        Ok(device) => {
            let info = device.device();
            let driver = if info.driver.is_empty() {
                "no driver"
            } else {
                &info.driver
            };
            format!("{} ({:?}, {driver})", info.name, info.kind)
        }
        Err(GpuError::Unavailable { detail }) => format!("no device: {detail}"),
        Err(cause) => format!("no device: {cause}"),
    }
}

/// A line beside the tests' own output.
fn note(text: &str) {
    // A closed standard error is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{text}");
}
