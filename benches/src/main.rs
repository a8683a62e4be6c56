//! Ours beside candle-core, ndarray, faer, NumPy and JAX, interleaved in one run.
//!
//! `gpu-seam-benches PYTHON [NETWORK.json...]` measures and prints a Markdown table; `cargo xtask
//! bench` prepares the Python environment and calls it. All peers take turns within each round, so
//! that what else the machine does falls on all alike, and every peer's result is compared with the
//! others' before it is timed.

mod case;
mod measure;
mod peer;
mod peers;
mod python;
mod report;

use case::{Case, Workload};
use peer::Peer;
use python::Interpreter;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(python) = arguments.next() else {
        eprintln!("usage: gpu-seam-benches PYTHON [NETWORK.json...]");
        return ExitCode::FAILURE;
    };
    match run(&python, arguments.map(PathBuf::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("gpu-seam-benches: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(python: &str, networks: impl Iterator<Item = PathBuf>) -> Result<(), String> {
    let interpreter = Interpreter::start(python)?;
    let mut peers: Vec<Box<dyn Peer>> = vec![
        Box::new(peers::ours::Ours::open()?),
        Box::new(peers::candle::Candle),
        Box::new(peers::nd::Ndarray),
        Box::new(peers::faer::Faer),
        Box::new(interpreter.peer("NumPy", "numpy")),
        Box::new(interpreter.peer("NumPy, out=", "numpy_out")),
        Box::new(interpreter.peer("NumPy + opt_einsum", "opt_einsum")),
        Box::new(interpreter.peer("JAX", "jax")),
    ];
    let cases = Case::ALL.into_iter().map(Workload::Case);
    let mut tables = report::Tables::new(interpreter.about()?);
    for workload in cases.chain(networks.map(Workload::Network)) {
        let row = measure::row(&workload, &mut peers)?;
        eprintln!("{row}");
        tables.add(&workload, row);
    }
    print!("{tables}");
    Ok(())
}
