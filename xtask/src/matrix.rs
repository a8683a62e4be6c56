//! `cargo xtask matrix`: the CI jobs as data, one for each vendor and rung.
//!
//! The GitHub workflow reads the JSON form; a test runs each command in list mode.

use crate::vendor::Vendor;
use serde_json::{Value, json};

/// One CI job.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Job {
    /// Its name, unique.
    job: String,
    /// The vendor that it tests.
    vendor: Vendor,
    /// The features of `tensor-core` that it needs.
    features: Vec<&'static str>,
    /// What its passing proves.
    rung: String,
    /// The runner's label.
    runner: &'static str,
    /// What it installs first, by the names of Debian; may be empty.
    packages: &'static str,
    /// Whether a missing device fails it.
    require_device: bool,
    /// The one command that it runs.
    command: String,
}

/// Prints the jobs, as JSON or as a table.
pub(crate) fn print(as_json: bool) -> Result<(), String> {
    if as_json {
        println!("{}", to_json(&jobs()));
        return Ok(());
    }
    for job in jobs() {
        println!(
            "{:<12} {:<7} {:<10} {:<15} {:<13} {}",
            job.job,
            job.vendor.to_string(),
            if job.features.is_empty() {
                "-".to_owned()
            } else {
                job.features.join(",")
            },
            job.rung,
            job.runner,
            job.command
        );
    }
    Ok(())
}

/// The command of every job.
pub(crate) fn commands() -> Vec<String> {
    jobs().into_iter().map(|job| job.command).collect()
}

/// Every job, in the order of the vendors.
fn jobs() -> Vec<Job> {
    Vendor::ALL
        .into_iter()
        .map(|vendor| Job {
            job: format!("test-{vendor}"),
            vendor,
            features: vendor.feature().into_iter().collect(),
            rung: vendor.rung().to_string(),
            runner: "ubuntu-24.04",
            packages: vendor.packages(),
            require_device: true,
            command: format!("cargo xtask test --vendor {vendor} --require-device"),
        })
        .collect()
}

fn to_json(jobs: &[Job]) -> Value {
    jobs.iter()
        .map(|job| {
            json!({
                "job": job.job,
                "vendor": job.vendor.to_string(),
                "features": job.features,
                "rung": job.rung,
                "runner": job.runner,
                "packages": job.packages,
                "require_device": job.require_device,
                "command": job.command,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{commands, jobs, to_json};
    use crate::command::Cmd;
    use crate::tidy::behaviours;
    use crate::{cli, workspace};
    use std::collections::BTreeSet;

    #[test]
    fn every_job_has_every_field_and_a_name_of_its_own() {
        let json = to_json(&jobs());
        let array = json.as_array().expect("an array");
        let mut names = BTreeSet::new();
        for job in array {
            let fields: BTreeSet<&str> = job
                .as_object()
                .expect("objects")
                .keys()
                .map(String::as_str)
                .collect();
            let expected = [
                "job",
                "vendor",
                "features",
                "rung",
                "runner",
                "packages",
                "require_device",
                "command",
            ];
            assert_eq!(fields, BTreeSet::from(expected));
            assert!(
                names.insert(job["job"].as_str().expect("a name").to_owned()),
                "{job}"
            );
        }
        assert!(!names.is_empty());
    }

    #[test]
    fn every_command_is_a_task_that_parses() {
        for job in jobs() {
            let words: Vec<String> = job.command.split(' ').map(str::to_owned).collect();
            assert_eq!(words[..2], ["cargo", "xtask"], "{}", job.command);
            let task = cli::parse(&words[2..]).expect("a task");
            let cli::Task::Test(options) = task else {
                panic!("{task:?} is not a test run")
            };
            assert_eq!(options.vendor, Some(job.vendor));
            assert_eq!(options.require_device, job.require_device);
        }
    }

    #[test]
    fn every_command_lists_the_tests_it_would_run() {
        let seam = workspace::root().join("crates/gpu-seam/src/driver.rs");
        let seam = std::fs::read_to_string(seam).expect("the seam's driver traits");
        let behaviours: Vec<&str> = behaviours::behaviours(&seam)
            .map(|(_, name)| name)
            .collect();
        assert!(behaviours.len() > 20, "{behaviours:?}");
        let mut missing: BTreeSet<&str> = behaviours.iter().copied().collect();
        for command in commands() {
            let listed = Cmd::from_line(&command)
                .args(&["--list"])
                .output()
                .expect(&command);
            let checks: BTreeSet<&str> = listed
                .lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(str::trim)
                .collect();
            // A vendor that cannot be asked for its devices lacks the checks of `Discover` alone.
            assert!(checks.len() >= 150, "{command} lists only {}", checks.len());
            missing.retain(|name| !checks.contains(name));
        }
        assert!(missing.is_empty(), "no job runs the checks of {missing:?}");
    }
}
