//! `cargo xtask`: the one door to the tests, the checks of the tree, the CI and the benchmarks.
//!
//! Prints every command before it runs it, so that a reader can copy it, and ends non-zero on
//! anything unmet. Knows nothing of how a vendor works; [`vendor`] is the only list of vendors.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program reports to its user"
)]

mod arrows;
mod bench;
mod ci;
mod cli;
mod command;
mod doctor;
mod matrix;
mod sim;
mod tally;
mod test;
mod tidy;
mod vendor;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match cli::parse(&arguments).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: cli::Task) -> Result<(), String> {
    match task {
        cli::Task::Help => {
            print!("{}", cli::HELP);
            Ok(())
        }
        cli::Task::Test(options) => test::run(options),
        cli::Task::Matrix { json } => matrix::print(json),
        cli::Task::Ci(options) => ci::run(&options),
        cli::Task::Doctor => doctor::run(),
        cli::Task::Bench { write } => bench::run(write),
        cli::Task::Sim(options) => sim::run(&options),
        cli::Task::Tidy => tidy::run(),
        cli::Task::Arrows => arrows::run(),
    }
}
