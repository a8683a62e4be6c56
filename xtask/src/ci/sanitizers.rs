//! The steps that need a nightly toolchain: Miri, AddressSanitizer, ThreadSanitizer.
//!
//! Each says NOT RUN, and why, where the toolchain or one of its parts is missing. Targets of their
//! own, since every flag of theirs is another build of everything.

use super::Done;
use crate::command::Cmd;

type Outcome = Result<Done, String>;

/// The target that is named, so that flags reach our code and not build scripts.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The packages whose concurrency and memory the sanitizers watch.
const WATCHED: &str = "-p gpu-dispatch -p gpu-engine-tests -p gpu-held -p gpu-host";

/// Miri, on what it can interpret in minutes.
pub(super) fn miri() -> Outcome {
    if let Some(missing) = without_nightly("cargo miri --version", "miri rust-src") {
        return Ok(missing);
    }
    nightly("cargo miri test --target-dir target/miri -p gpu-seam -p gpu-held").run()?;
    Ok(Done::Passed)
}

/// AddressSanitizer, which also finds leaks.
pub(super) fn asan() -> Outcome {
    if let Some(missing) = without_nightly("cargo --version", "rustc") {
        return Ok(missing);
    }
    let flags = "-Zsanitizer=address -Cforce-frame-pointers";
    nightly("cargo test --target-dir target/asan --lib --tests")
        .args(&["--target", TARGET])
        .words(WATCHED)
        .env("RUSTFLAGS", flags)
        .run()?;
    Ok(Done::Passed)
}

/// ThreadSanitizer. Without a std that is instrumented too, it reports races in correct code.
pub(super) fn tsan() -> Outcome {
    if let Some(missing) = without_nightly("cargo --version", "rust-src") {
        return Ok(missing);
    }
    nightly("cargo test -Zbuild-std --target-dir target/tsan --lib --tests")
        .args(&["--target", TARGET])
        .words(WATCHED)
        .env("RUSTFLAGS", "-Zsanitizer=thread")
        .run()?;
    Ok(Done::Passed)
}

fn nightly(line: &str) -> Cmd {
    Cmd::new("rustup").words("run nightly").words(line)
}

/// What to answer where nightly cannot run `line`, or lacks one of the `components`.
fn without_nightly(line: &str, components: &str) -> Option<Done> {
    let get = format!("`rustup component add {components} --toolchain nightly`");
    if let Err(failure) = nightly(line).output() {
        let why = failure.lines().next().unwrap_or_default();
        return Some(Done::NotRun(format!("{why}; {get}")));
    }
    let installed = Cmd::new("rustup")
        .words("component list --installed --toolchain nightly")
        .output()
        .unwrap_or_default();
    let missing = components
        .split(' ')
        .find(|component| !installed.contains(component));
    missing.map(|component| {
        Done::NotRun(format!(
            "nightly has no {component} here, and it could not be had: {get}"
        ))
    })
}
