//! The steps of CI. Each is a function that runs commands; the table says which and in what order.

use super::Done;
use super::sanitizers::{asan, miri, tsan};
use crate::command::Cmd;
use crate::workspace;
use crate::{arrows, matrix, tidy};
use std::path::Path;

type Outcome = Result<Done, String>;

/// One step of CI.
pub(super) struct Step {
    pub(super) name: &'static str,
    /// Whether it runs when no step is asked for by name.
    pub(super) by_default: bool,
    pub(super) what: &'static str,
    pub(super) run: fn() -> Outcome,
}

const fn step(name: &'static str, what: &'static str, run: fn() -> Outcome) -> Step {
    Step {
        name,
        by_default: true,
        what,
        run,
    }
}

/// A step that needs the open network, a published baseline, or parts of nightly that have not been
/// had where this was written: for the hosted workflow, and for whoever asks for it by name.
const fn on_request(name: &'static str, what: &'static str, run: fn() -> Outcome) -> Step {
    Step {
        name,
        by_default: false,
        what,
        run,
    }
}

/// The steps, cheapest first, so that a failure shows early.
pub(super) const STEPS: &[Step] = &[
    step("fmt", "every file is formatted", fmt),
    step(
        "tidy",
        "the rules of the tree, and the direction of dependencies",
        rules,
    ),
    step(
        "clippy",
        "each package linted alone, so that no other lends it features",
        clippy,
    ),
    step("test", "the README's test command", test),
    step("vendors", "every job of the matrix", vendors),
    step("sim", "5000 random programs on the simulated device", sim),
    step(
        "schedules",
        "the engine's concurrent parts, under seeded schedules",
        schedules,
    ),
    step(
        "golden",
        "the golden values are what NumPy and our rules say",
        golden,
    ),
    step("quickstart", "the first example", quickstart),
    step("contract", "our own networks, checked", contract),
    step(
        "networks",
        "the networks in $EINSUM_DATA, checked",
        networks,
    ),
    step(
        "wgpu",
        "the examples on wgpu: our own networks and those in $EINSUM_DATA, in f32, checked",
        wgpu,
    ),
    step("apple", "the wgpu vendor type-checks for Metal", apple),
    step("doc", "documentation without warnings", doc),
    step(
        "features",
        "every set of features is free of warnings",
        features,
    ),
    step("deny", "bans, licences and sources of dependencies", deny),
    on_request(
        "mutants",
        "deliberate bugs are found on the simulated device",
        mutants,
    ),
    on_request("miri", "undefined behaviour, by an interpreter", miri),
    on_request("asan", "memory errors, by AddressSanitizer", asan),
    on_request(
        "tsan",
        "data races, by ThreadSanitizer over an instrumented std",
        tsan,
    ),
    on_request(
        "advisories",
        "known vulnerabilities of dependencies",
        advisories,
    ),
    on_request(
        "semver",
        "the public interface against the main branch",
        semver,
    ),
];

fn fmt() -> Outcome {
    Cmd::cargo("fmt --all --check").run()?;
    for manifest in workspace::outside_in_ci() {
        Cmd::cargo("fmt --all --check --manifest-path")
            .args(&[manifest])
            .run()?;
    }
    Ok(Done::Passed)
}

fn rules() -> Outcome {
    tidy::run()?;
    arrows::run()?;
    Ok(Done::Passed)
}

fn clippy() -> Outcome {
    for package in workspace::packages()? {
        Cmd::cargo("clippy -p")
            .args(&[
                package.name.as_str(),
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ])
            .run()?;
    }
    for manifest in workspace::outside_in_ci() {
        Cmd::cargo("clippy --workspace --all-targets --manifest-path")
            .args(&[manifest, "--", "-D", "warnings"])
            .run()?;
    }
    Ok(Done::Passed)
}

fn test() -> Outcome {
    Cmd::cargo("xtask test").run()?;
    Ok(Done::Passed)
}

fn vendors() -> Outcome {
    for command in matrix::commands() {
        Cmd::from_line(&command).run()?;
    }
    Ok(Done::Passed)
}

/// A build of its own: shuttle's locks, atomics and threads take the standard library's place.
fn schedules() -> Outcome {
    Cmd::cargo("test -p gpu-engine-tests --test schedules --target-dir target/schedules")
        .env("RUSTFLAGS", "--cfg gpu_seam_shuttle")
        .run()?;
    Ok(Done::Passed)
}

fn sim() -> Outcome {
    Cmd::cargo("xtask sim --seeds 5000").run()?;
    Ok(Done::Passed)
}

fn mutants() -> Outcome {
    Cmd::cargo("xtask sim --mutants").run()?;
    Ok(Done::Passed)
}

fn golden() -> Outcome {
    const VENV: &str = "target/golden-venv";
    const PYTHON: &str = "target/golden-venv/bin/python";
    if !cfg!(target_arch = "x86_64") {
        return Ok(Done::NotRun(
            "the script needs the long double of x86-64".to_owned(),
        ));
    }
    Cmd::new("python3").args(&["-m", "venv", VENV]).run()?;
    Cmd::new(PYTHON)
        .words("-m pip install --quiet -r tests/golden/requirements.txt")
        .run()?;
    Cmd::new(PYTHON)
        .words("tests/golden/script/generate.py --check")
        .run()?;
    Ok(Done::Passed)
}

fn quickstart() -> Outcome {
    Cmd::cargo("run --release --example quickstart").run()?;
    Ok(Done::Passed)
}

fn contract() -> Outcome {
    match contracted(&workspace::root().join("examples/networks"), "host") {
        Ok(true) => Ok(Done::Passed),
        Ok(false) => Err("examples/networks is empty: it should hold our own networks".to_owned()),
        Err(failure) => Err(failure),
    }
}

fn networks() -> Outcome {
    let folder = workspace::einsum_data();
    if contracted(&folder, "host")? {
        return Ok(Done::Passed);
    }
    let shown = folder.display();
    Ok(Done::NotRun(format!(
        "no networks in {shown}: set EINSUM_DATA to a folder of them"
    )))
}

fn wgpu() -> Outcome {
    Cmd::cargo("run --release -p examples --features wgpu --example quickstart -- --device wgpu")
        .run()?;
    let ours = contracted(&workspace::root().join("examples/networks"), "wgpu")?;
    contracted(&workspace::einsum_data(), "wgpu")?;
    if ours {
        Ok(Done::Passed)
    } else {
        Err("examples/networks is empty: it should hold our own networks".to_owned())
    }
}

fn apple() -> Outcome {
    const TARGET: &str = "aarch64-apple-darwin";
    let added = Cmd::new("rustup").args(&["target", "add", TARGET]).run();
    if let Err(failure) = added {
        return Ok(Done::NotRun(format!(
            "the standard library for {TARGET} could not be had: {failure}"
        )));
    }
    Cmd::cargo("check -p gpu-wgpu --target")
        .args(&[TARGET])
        .env("RUSTFLAGS", "-D warnings")
        .run()?;
    Ok(Done::Passed)
}

/// Contracts and checks the networks of a folder; false when there are none.
fn contracted(folder: &Path, device: &str) -> Result<bool, String> {
    let files: Vec<String> = workspace::networks(folder)
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if files.is_empty() {
        return Ok(false);
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (run, options): (_, &[&str]) = match device {
        "wgpu" => (
            "run --release -p examples --features wgpu --example contract --",
            &["--check", "--device", "wgpu", "--dtype", "f32"],
        ),
        _ => (
            "run --release --example contract --",
            &["--check", "--device", device],
        ),
    };
    Cmd::cargo(run).args(&files).args(options).run()?;
    Ok(true)
}

fn doc() -> Outcome {
    Cmd::cargo("doc --workspace --no-deps")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(Done::Passed)
}

fn features() -> Outcome {
    if let Some(missing) = without_tool("hack") {
        return Ok(missing);
    }
    Cmd::cargo("hack clippy --workspace --feature-powerset -- -D warnings").run()?;
    Ok(Done::Passed)
}

fn deny() -> Outcome {
    if let Some(missing) = without_tool("deny") {
        return Ok(missing);
    }
    Cmd::cargo("deny check bans licenses sources").run()?;
    Ok(Done::Passed)
}

fn advisories() -> Outcome {
    if let Some(missing) = without_tool("deny") {
        return Ok(missing);
    }
    Cmd::cargo("deny check advisories").run()?;
    Ok(Done::Passed)
}

fn semver() -> Outcome {
    if let Some(missing) = without_tool("semver-checks") {
        return Ok(missing);
    }
    Cmd::cargo("semver-checks --workspace --baseline-rev origin/main").run()?;
    Ok(Done::Passed)
}

/// What to answer when the Cargo tool is not installed.
fn without_tool(tool: &str) -> Option<Done> {
    let missing = Cmd::cargo(tool).args(&["--version"]).output().is_err();
    missing.then(|| {
        Done::NotRun(format!(
            "cargo-{tool} is not installed: `cargo install cargo-{tool} --locked`"
        ))
    })
}
