//! The steps of CI. Each is a function that runs commands; the table says which and in what order.

use super::Done;
use crate::command::Cmd;
use crate::workspace;
use crate::{arrows, tidy};

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

/// A step that needs the open network or a published baseline: for the hosted workflow.
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
    step("doc", "documentation without warnings", doc),
    step(
        "features",
        "every set of features is free of warnings",
        features,
    ),
    step("deny", "bans, licences and sources of dependencies", deny),
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
        Cmd::cargo("fmt --check --manifest-path")
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
        Cmd::cargo("clippy --all-targets --manifest-path")
            .args(&[manifest, "--", "-D", "warnings"])
            .run()?;
    }
    Ok(Done::Passed)
}

fn test() -> Outcome {
    Cmd::cargo("xtask test").run()?;
    Ok(Done::Passed)
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
