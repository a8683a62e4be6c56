//! The suite on the host vendor.

use gpu_conformance::Config;
use gpu_host::Host;
use std::process::ExitCode;

fn main() -> ExitCode {
    gpu_conformance::run(Config::new("host", || Ok(Host::new())).discover())
}
