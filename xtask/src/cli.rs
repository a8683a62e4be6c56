//! What the user typed, parsed once into a [`Task`].

use crate::vendor::Vendor;

/// What `cargo xtask help` prints.
pub(crate) const HELP: &str = "\
cargo xtask <task>

  test [--vendor V] [--require-device] [--keep-going] [--list]
                      all tests, or those of one vendor; --list names them and runs none
  matrix [--json]     the CI jobs: job, vendor, features, rung, runner, require_device, command
  ci [--step NAME]... [--keep-going] [--list]
                      every check that this machine can run, minutes per step, NOT RUN with reasons
  sim --seeds N | --seed N [--plan P] | --mutants
                      random programs over the engine on the simulated device; one with its history;
                      deliberate bugs, each with the check that finds it
  doctor              vendors, devices, drivers, tools; what is missing and how to get it
  tidy                the rules of the tree: headers, sizes, unsafe, manifests, documents
  arrows              the direction of dependencies between the crates
  bench [--write]     ours beside other libraries; --write puts the figures into docs/benchmarks.md
  help                this text
";

/// The names of all tasks; documents may mention no other.
pub(crate) const TASKS: [&str; 9] = [
    "test", "matrix", "ci", "sim", "doctor", "tidy", "arrows", "bench", "help",
];

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Print [`HELP`].
    Help,
    /// Run tests.
    Test(TestOptions),
    /// Print the CI jobs.
    Matrix {
        /// As a JSON array instead of a table.
        json: bool,
    },
    /// Run every check.
    Ci(CiOptions),
    /// Say what is on this machine.
    Doctor,
    /// Drive the engine on the simulated device.
    Sim(SimOptions),
    /// Check the rules of the tree.
    Tidy,
    /// Check the direction of dependencies.
    Arrows,
    /// Measure ours beside other libraries.
    Bench {
        /// Put the figures into the document.
        write: bool,
    },
}

/// What `test` was asked for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestOptions {
    /// Only this vendor's tests.
    pub(crate) vendor: Option<Vendor>,
    /// A missing device is a failure.
    pub(crate) require_device: bool,
    /// Go on after a failure.
    pub(crate) keep_going: bool,
    /// Name the tests and run none.
    pub(crate) list: bool,
}

/// What `ci` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CiOptions {
    /// Only these steps, in their usual order; empty: all that run by default.
    pub(crate) steps: Vec<String>,
    /// Go on after a failure.
    pub(crate) keep_going: bool,
    /// Name the steps and run none.
    pub(crate) list: bool,
}

/// What `sim` was asked for. Numbers and plans are the harness's to understand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SimOptions {
    /// How many seeds.
    pub(crate) seeds: Option<String>,
    /// One seed, with its history.
    pub(crate) seed: Option<String>,
    /// What goes wrong then, instead of what the seed draws.
    pub(crate) plan: Option<String>,
    /// The deliberate bugs.
    pub(crate) mutants: bool,
}

/// Parses the arguments after `cargo xtask`.
pub(crate) fn parse(arguments: &[String]) -> Result<Task, String> {
    let Some((task, rest)) = arguments.split_first() else {
        return Err(format!("no task was given\n\n{HELP}"));
    };
    match task.as_str() {
        "help" | "--help" | "-h" => Ok(Task::Help),
        "test" => parse_test(rest).map(Task::Test),
        "matrix" => parse_flag(rest, "--json").map(|json| Task::Matrix { json }),
        "ci" => parse_ci(rest).map(Task::Ci),
        "sim" => parse_sim(rest).map(Task::Sim),
        "doctor" => parse_none(rest).map(|()| Task::Doctor),
        "tidy" => parse_none(rest).map(|()| Task::Tidy),
        "bench" => parse_flag(rest, "--write").map(|write| Task::Bench { write }),
        "arrows" => parse_none(rest).map(|()| Task::Arrows),
        other => Err(format!("there is no task `{other}`\n\n{HELP}")),
    }
}

fn parse_test(rest: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions::default();
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--vendor" => {
                let name = rest.next().ok_or("--vendor needs a name after it")?;
                options.vendor = Some(name.parse()?);
            }
            "--require-device" => options.require_device = true,
            "--keep-going" => options.keep_going = true,
            "--list" => options.list = true,
            other => return Err(unknown(other)),
        }
    }
    if options.require_device && options.vendor.is_none() {
        return Err("--require-device needs --vendor: whose device?".to_owned());
    }
    Ok(options)
}

fn parse_ci(rest: &[String]) -> Result<CiOptions, String> {
    let mut options = CiOptions::default();
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--step" => {
                let name = rest.next().ok_or("--step needs a name after it")?;
                options.steps.push(name.clone());
            }
            "--keep-going" => options.keep_going = true,
            "--list" => options.list = true,
            other => return Err(unknown(other)),
        }
    }
    Ok(options)
}

fn parse_sim(rest: &[String]) -> Result<SimOptions, String> {
    let mut options = SimOptions::default();
    let mut rest = rest.iter();
    while let Some(argument) = rest.next() {
        let place = match argument.as_str() {
            "--seeds" => &mut options.seeds,
            "--seed" => &mut options.seed,
            "--plan" => &mut options.plan,
            "--mutants" => {
                options.mutants = true;
                continue;
            }
            other => return Err(unknown(other)),
        };
        let value = rest.next();
        *place = Some(
            value
                .ok_or_else(|| format!("{argument} needs a value after it"))?
                .clone(),
        );
    }
    Ok(options)
}

fn parse_flag(rest: &[String], flag: &str) -> Result<bool, String> {
    match rest {
        [] => Ok(false),
        [only] if only == flag => Ok(true),
        [first, ..] => Err(unknown(first)),
    }
}

fn parse_none(rest: &[String]) -> Result<(), String> {
    rest.first().map_or(Ok(()), |first| Err(unknown(first)))
}

fn unknown(argument: &str) -> String {
    format!("`{argument}` is not understood here\n\n{HELP}")
}

#[cfg(test)]
mod tests {
    use super::{HELP, TASKS, Task, TestOptions, parse};
    use crate::vendor::Vendor;

    fn parsed(line: &str) -> Result<Task, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments)
    }

    #[test]
    fn a_vendor_run_keeps_its_options() {
        let expected = TestOptions {
            vendor: Some(Vendor::Held),
            require_device: true,
            ..TestOptions::default()
        };
        assert_eq!(
            parsed("test --vendor held --require-device"),
            Ok(Task::Test(expected))
        );
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        for (line, named) in [
            ("", "no task"),
            ("tset", "tset"),
            ("test --vendor", "--vendor"),
            ("test --vendor toaster", "toaster"),
            ("test --require-device", "--vendor"),
            ("matrix --yaml", "--yaml"),
            ("tidy now", "now"),
        ] {
            let refusal = parsed(line).expect_err(line);
            assert!(refusal.contains(named), "{line}: {refusal}");
        }
    }

    #[test]
    fn every_task_is_in_the_help_and_is_parsed() {
        for task in TASKS {
            assert!(HELP.contains(&format!("\n  {task} ")), "{task}");
            assert!(parsed(task).is_ok(), "{task}");
        }
    }
}
