//! `cargo xtask ci`: every check that this machine can run, minutes per step.
//!
//! A step that cannot run here prints NOT RUN with the reason and is never counted as passed.

mod sanitizers;
mod steps;

use crate::cli::CiOptions;
use std::fmt;
use std::time::{Duration, Instant};
use steps::{STEPS, Step};

/// Runs the steps that `options` ask for and reports each.
pub(crate) fn run(options: &CiOptions) -> Result<(), String> {
    let chosen = choose(&options.steps)?;
    if options.list {
        for step in chosen {
            println!("{:<11} {}", step.name, step.what);
        }
        return Ok(());
    }
    let mut report = Report::default();
    for step in chosen {
        println!("\n==> {}: {}", step.name, step.what);
        let start = Instant::now();
        let ended = match (step.run)() {
            Ok(Done::Passed) => Ended::Passed,
            Ok(Done::NotRun(reason)) => Ended::NotRun(reason),
            Err(failure) => Ended::Failed(failure),
        };
        report.lines.push(Line {
            name: step.name,
            ended,
            took: start.elapsed(),
        });
        if let Some(line) = report.lines.last() {
            println!("{line}");
        }
        if report.failed() > 0 && !options.keep_going {
            break;
        }
    }
    println!("\n{report}");
    match report.failed() {
        0 if report.count(|ended| matches!(ended, Ended::Passed)) == 0 => {
            Err("no step ran".to_owned())
        }
        0 => Ok(()),
        failed => Err(format!("ci: {failed} steps failed")),
    }
}

/// How a step ended that did not fail.
enum Done {
    /// It ran, and all that it asks held.
    Passed,
    /// It could not run here, and why.
    NotRun(String),
}

/// The steps to run: those named, or the usual ones.
fn choose(named: &[String]) -> Result<Vec<&'static Step>, String> {
    if let Some(unknown) = named
        .iter()
        .find(|name| !STEPS.iter().any(|step| step.name == **name))
    {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!(
            "there is no step `{unknown}`; there are {}",
            names.join(", ")
        ));
    }
    let chosen = |step: &&Step| {
        if named.is_empty() {
            step.by_default
        } else {
            named.iter().any(|name| name == step.name)
        }
    };
    Ok(STEPS.iter().filter(chosen).collect())
}

enum Ended {
    Passed,
    NotRun(String),
    Failed(String),
}

struct Line {
    name: &'static str,
    ended: Ended,
    took: Duration,
}

#[derive(Default)]
struct Report {
    lines: Vec<Line>,
}

impl Report {
    fn count(&self, which: fn(&Ended) -> bool) -> usize {
        self.lines.iter().filter(|line| which(&line.ended)).count()
    }

    fn failed(&self) -> usize {
        self.count(|ended| matches!(ended, Ended::Failed(_)))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.took.as_secs_f64() / 60.0;
        write!(f, "{:<11} {minutes:5.1} min  ", self.name)?;
        match &self.ended {
            Ended::Passed => f.write_str("passed"),
            Ended::NotRun(reason) => write!(f, "NOT RUN: {reason}"),
            Ended::Failed(failure) => write!(f, "FAILED: {failure}"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        let total: Duration = self.lines.iter().map(|line| line.took).sum();
        write!(
            f,
            "steps in {:.1} min: {} passed, {} failed, {} not run",
            total.as_secs_f64() / 60.0,
            self.count(|ended| matches!(ended, Ended::Passed)),
            self.failed(),
            self.count(|ended| matches!(ended, Ended::NotRun(_))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Line, Report, STEPS, choose};
    use std::time::Duration;

    #[test]
    fn a_step_is_chosen_by_name_and_an_unknown_one_is_refused() {
        let names = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
            choose(&named).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["doc", "fmt"]), Ok(vec!["fmt", "doc"]));
        assert!(
            names(&["fmt", "fnt"])
                .expect_err("fnt is no step")
                .contains("fnt")
        );
        let by_default = names(&[]).expect("the usual steps");
        assert!(by_default.contains(&"test") && by_default.len() < STEPS.len());
    }

    #[test]
    fn what_was_not_run_is_never_counted_as_passed() {
        let line = |ended| Line {
            name: "a",
            ended,
            took: Duration::from_secs(30),
        };
        let report = Report {
            lines: vec![
                line(Ended::Passed),
                line(Ended::NotRun("no tool".to_owned())),
                line(Ended::Failed("broken".to_owned())),
            ],
        };
        let text = report.to_string();
        assert!(text.contains("0.5 min  NOT RUN: no tool"), "{text}");
        assert!(
            text.ends_with("steps in 1.5 min: 1 passed, 1 failed, 1 not run"),
            "{text}"
        );
    }
}
