//! `cargo xtask test`: everything, or what one vendor must pass.

use crate::cli::TestOptions;
use crate::command::Cmd;
use crate::tally::Tally;
use crate::vendor::Vendor;
use crate::{arrows, tidy, workspace};

/// What makes a missing device a failure, in every test program that asks for one.
const REQUIRE: &str = "GPU_CONFORMANCE_REQUIRE_DEVICE";

/// Runs the tests that `options` ask for and reports their sum.
pub(crate) fn run(options: TestOptions) -> Result<(), String> {
    let mut run = Run {
        options,
        tally: Tally::default(),
        failures: Vec::new(),
    };
    match options.vendor {
        Some(vendor) => run.vendor(vendor)?,
        None => run.everything()?,
    }
    run.report()
}

struct Run {
    options: TestOptions,
    tally: Tally,
    failures: Vec<String>,
}

impl Run {
    fn everything(&mut self) -> Result<(), String> {
        if !self.options.list {
            self.note(tidy::run())?;
            self.note(arrows::run())?;
        }
        self.cargo_test(Cmd::cargo("test --workspace"))?;
        for manifest in workspace::outside_in_ci() {
            let outside = Cmd::cargo("test --workspace --manifest-path").args(&[manifest]);
            self.cargo_test(outside)?;
        }
        Ok(())
    }

    fn vendor(&mut self, vendor: Vendor) -> Result<(), String> {
        self.cargo_test(Cmd::cargo("test -p").args(&[vendor.package()]))?;
        let (suite, instance) = vendor.suite();
        if suite != vendor.package() {
            self.cargo_test(Cmd::cargo("test -p").args(&[suite, "--test", instance]))?;
        }
        if let Some(feature) = vendor.feature() {
            let golden = Cmd::cargo("test -p gpu-golden --features")
                .args(&[&format!("tensor-core/{feature}")])
                .env("GOLDEN_DEVICE", feature);
            self.cargo_test(golden)?;
        }
        Ok(())
    }

    /// Runs `command`, whose test programs are told whether a missing device is a failure.
    fn cargo_test(&mut self, mut command: Cmd) -> Result<(), String> {
        if self.options.require_device {
            command = command.env(REQUIRE, "1");
        }
        if self.options.keep_going {
            command = command.args(&["--no-fail-fast"]);
        }
        if self.options.list {
            command = command.args(&["--", "--list"]);
        }
        let result = command.run_tests(&mut self.tally);
        self.note(result)
    }

    /// Ends the run at a failure, or keeps it for the report when asked to keep going.
    fn note(&mut self, result: Result<(), String>) -> Result<(), String> {
        match result {
            Err(failure) if self.options.keep_going => {
                eprintln!("xtask: {failure}");
                self.failures.push(failure);
                Ok(())
            }
            other => other,
        }
    }

    fn report(&self) -> Result<(), String> {
        let (count, what) = if self.options.list {
            (
                self.tally.listed(),
                "no test was listed: is the selection right?",
            )
        } else {
            (self.tally.ran(), "no test ran: is the selection right?")
        };
        if self.options.list {
            println!("{count} tests listed");
        } else {
            println!("{}", self.tally);
        }
        match self.failures.as_slice() {
            [] if count == 0 => Err(what.to_owned()),
            [] => Ok(()),
            failures => Err(format!("unmet:\n  {}", failures.join("\n  "))),
        }
    }
}
