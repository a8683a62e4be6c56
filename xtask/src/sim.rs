//! `cargo xtask sim`: random programs over the engine on the simulated device, and the check that
//! deliberate bugs are found by them.
//!
//! Knows nothing of programs: the harness is a program of its own.

use crate::cli::SimOptions;
use crate::command::Cmd;

const HARNESS: &str = "run --quiet --profile test -p gpu-sim-harness --";
/// How many seeds a deliberate bug may survive.
const SEEDS: &str = "3000";

/// The deliberate bugs of `gpu-dispatch`, by the names in its code.
const MUTANTS: [&str; 24] = [
    "wait-skipped",
    "charge-kept",
    "readers-overtaken",
    "event-one-early",
    "pending-is-complete",
    "bytes-never-return",
    "bytes-return-early",
    "chunk-reused-early",
    "sent-chunk-idle",
    "dropped-chunk-idle",
    "read-before-arrival",
    "download-unordered",
    "failure-forgotten",
    "reader-unnoted",
    "writer-unnoted",
    "copy-on-write-skipped",
    "foreign-readers-forgotten",
    "freed-unseen",
    "slot-left-dirty",
    "bad-index-good",
    "verdict-unread",
    "broken-stays-open",
    "readings-unmoved",
    "close-too-soon",
];

/// Runs what was asked for.
pub(crate) fn run(options: &SimOptions) -> Result<(), String> {
    if options.mutants {
        return mutants();
    }
    let mut words: Vec<&str> = Vec::new();
    for (flag, value) in [
        ("--seeds", &options.seeds),
        ("--seed", &options.seed),
        ("--plan", &options.plan),
    ] {
        if let Some(value) = value {
            words.extend([flag, value]);
        }
    }
    Cmd::cargo(HARNESS).args(&words).run()
}

/// Shows for each bug the seed and the check that found it; a bug that lives is a failure.
fn mutants() -> Result<(), String> {
    let harness = || {
        Cmd::cargo(HARNESS)
            .args(&["--seeds", SEEDS])
            .env("RUSTFLAGS", "--cfg gpu_seam_mutants")
            .env("CARGO_TARGET_DIR", "target/mutants")
    };
    // Without a bug first: what fails then, the build included, would be taken for the end of each.
    harness().run()?;
    let mut alive = Vec::new();
    for name in MUTANTS {
        let harness = harness().env("GPU_SEAM_MUTANT", name);
        let (printed, passed) = harness.printed()?;
        match printed.lines().find(|line| line.starts_with("FAILED: ")) {
            Some(line) => println!("{name:<26} killed  {}", line.trim_start_matches("FAILED: ")),
            // A panic while something is dropped ends the process: a check of the engine's own.
            None if !passed && printed.is_empty() => println!("{name:<26} killed  by a panic"),
            None => {
                println!("{name:<26} LIVES");
                alive.push(name);
            }
        }
    }
    match alive.as_slice() {
        [] => Ok(()),
        alive => Err(format!("these bugs were not found: {}", alive.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::MUTANTS;
    use crate::workspace;

    #[test]
    fn every_bug_in_the_code_is_in_the_list_and_the_other_way_round() {
        let mut made: Vec<String> = Vec::new();
        for file in workspace::files().expect("the tree can be read") {
            if file.path.starts_with("crates/gpu-dispatch/src") {
                let parts = file.text.split("mutant::on(\"").skip(1);
                made.extend(parts.filter_map(|part| Some(part.split_once('"')?.0.to_owned())));
            }
        }
        made.sort_unstable();
        let mut listed = MUTANTS.map(str::to_owned).to_vec();
        listed.sort_unstable();
        assert_eq!(made, listed);
    }
}
