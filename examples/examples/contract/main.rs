//! Contracts the tensor networks of files on a device, and checks the results when asked to.
//!
//! `contract FILE… [--device D] [--dtype T] [--path opt_flops|opt_size|auto] [--seed N] [--check]
//! [--alter OPERAND] [--json]`. Operands are filled from the seed. A bad file is reported and does not hide the
//! others; the exit status is 0 only when every file was contracted and, with `--check`, agreed.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports"
)]

mod report;
mod work;

use clap::{Parser, ValueEnum};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use tensor_core::Device;

/// Contract tensor networks (einsum-benchmark JSON files) on a device.
#[derive(Debug, Parser)]
struct Arguments {
    /// The networks.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The device: a vendor's name, alone or with an ordinal (`host`, `wgpu:0`).
    #[arg(long, default_value = "host")]
    device: String,
    /// The element type, by its NumPy or short name. Default: the file's, else float64.
    #[arg(long)]
    dtype: Option<String>,
    /// The path: one of the file's, or one of our own finding.
    #[arg(long, value_enum, default_value_t = Choice::OptFlops)]
    path: Choice,
    /// The seed of the operands.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Compare with a plain evaluation in double precision, along another path where there is one.
    #[arg(long)]
    check: bool,
    /// Negate the first element of this operand on the device alone: the check must then fail.
    #[arg(long, value_name = "OPERAND", requires = "check")]
    alter: Option<usize>,
    /// Print one JSON object a line instead of text.
    #[arg(long)]
    json: bool,
}

/// Which path is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The file's path of the fewest operations.
    #[value(name = "opt_flops")]
    OptFlops,
    /// The file's path of the smallest intermediates.
    #[value(name = "opt_size")]
    OptSize,
    /// A path that this program finds; the file's are ignored.
    #[value(name = "auto")]
    Auto,
}

impl Choice {
    const fn name(self) -> &'static str {
        match self {
            Self::OptFlops => "opt_flops",
            Self::OptSize => "opt_size",
            Self::Auto => "auto",
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let device = match Device::open(&arguments.device) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("contract: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = false;
    for file in &arguments.files {
        match work::contract(file, &arguments, &device) {
            Ok(report) => {
                failed |= !report.agrees();
                print(&report, arguments.json);
            }
            Err(error) => {
                failed = true;
                if arguments.json {
                    println!("{}", report::failure(file, &error));
                }
                eprintln!("contract: {}: {error}", file.display());
            }
        }
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn print(report: &Report, json: bool) {
    if json {
        println!("{}", report.json());
    } else {
        println!("{report}");
    }
}
