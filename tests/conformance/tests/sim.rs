//! The suite on the simulated device: as late as can be, and at the paces of several seeds, with no
//! rule of the device broken on the way.

use gpu_conformance::Config;
use gpu_sim::device::{Config as Machinery, FaultPlan, Machine, Pace};
use gpu_sim::face::{Sim, Traits};
use std::process::ExitCode;

/// Each seed and the pace: as late as can be first, then whatever the seed draws.
const RUNS: [(u64, Option<Pace>); 4] = [(0, Some(Pace::LAZY)), (1, None), (2, None), (3, None)];

fn main() -> ExitCode {
    for (at, (seed, pace)) in RUNS.into_iter().enumerate() {
        let open = move || {
            let config = Machinery {
                pace,
                ..Machinery::default()
            };
            let machine = Machine::new(seed, config, FaultPlan::default());
            Sim::open_on(&machine, 0, &Traits::default())
        };
        let unbroken = |sim: &Sim| match sim.machine().violations() {
            violations if violations.is_empty() => Ok(()),
            violations => Err(violations
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")),
        };
        let config = Config::new(format!("sim, seed {seed}"), open).after(unbroken);
        // Opening is the same whatever the seed.
        let config = if at == 0 { config.discover() } else { config };
        let ended = gpu_conformance::run(config);
        if ended != ExitCode::SUCCESS || std::env::args().any(|argument| argument == "--list") {
            return ended;
        }
    }
    ExitCode::SUCCESS
}
