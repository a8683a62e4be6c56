//! The suite on the held vendor in auto mode: everything as late as the seam allows, and no rule of
//! the seam broken on the way.

use gpu_conformance::Config;
use gpu_held::Held;
use gpu_host::Host;
use std::process::ExitCode;

fn main() -> ExitCode {
    let open = || {
        let config = gpu_held::Config::auto();
        Held::new(Host::new(), config).map(|(held, _)| held)
    };
    let unbroken = |held: &Held<Host>| match held.controller().violations() {
        violations if violations.is_empty() => Ok(()),
        violations => Err(violations.join("; ")),
    };
    gpu_conformance::run(Config::new("held", open).after(unbroken))
}
