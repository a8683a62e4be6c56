//! The files that may contain `unsafe`: this list is the audit list, and there is no other.
//!
//! A file on it says so itself: `#![expect(unsafe_code, reason = "..")]` below a `# Safety` header
//! in its module documentation; a test needs no header. Add a file with what it is unsafe about; a reviewer reads it.

use super::Problem;
use super::lexer::{code_only, line_of, words};
use super::rust::is_test;
use crate::workspace::File;

/// Each file and what it is unsafe about.
const FILES: &[(&str, &str)] = &[
    (
        "crates/gpu-dispatch/src/vendor/fork.rs",
        "asks the C library to tell of a fork",
    ),
    (
        "crates/gpu-dispatch/src/vendor/mod.rs",
        "the only calls of unsafe driver methods",
    ),
    (
        "crates/gpu-host/src/driver.rs",
        "implements the driver traits",
    ),
    (
        "crates/gpu-host/src/memory.rs",
        "calls the global allocator",
    ),
    (
        "crates/gpu-host/src/ops/raw/feed.rs",
        "moves elements through raw pointers",
    ),
    (
        "crates/gpu-host/src/ops/raw/lanes.rs",
        "writes outputs through raw pointers",
    ),
    (
        "crates/gpu-host/src/ops/raw/map.rs",
        "turns raw ranges into slices",
    ),
    (
        "crates/gpu-host/src/ops/raw/mod.rs",
        "turns raw ranges into typed elements",
    ),
    (
        "crates/gpu-host/src/ops/raw/product.rs",
        "calls the matrix library on raw matrices",
    ),
    (
        "crates/gpu-host/src/ops/raw/transfer.rs",
        "moves elements through raw pointers",
    ),
    (
        "crates/gpu-host/src/testing.rs",
        "tests alone: calls the driver traits as a caller would",
    ),
    (
        "crates/gpu-seam/src/driver.rs",
        "declares the unsafe driver traits; no unsafe block",
    ),
    ("tests/engine/tests/costs.rs", "a counting global allocator"),
    (
        "crates/gpu-wgpu/src/driver.rs",
        "implements the driver traits",
    ),
    (
        "crates/gpu-wgpu/src/execute.rs",
        "implements the execution trait",
    ),
    (
        "crates/gpu-wgpu/src/heaps.rs",
        "asks Vulkan for the sizes of its heaps",
    ),
    (
        "crates/gpu-wgpu/src/pipelines.rs",
        "compiles kernels without run-time checks",
    ),
    (
        "tests/conformance/src/cx.rs",
        "calls the driver traits for every check, and waits before it frees",
    ),
    (
        "tests/conformance/src/ledger.rs",
        "implements the driver traits by forwarding to the vendor it counts",
    ),
    (
        "tests/held/src/driver.rs",
        "implements the driver traits over an inner vendor",
    ),
    (
        "tests/held/src/run.rs",
        "runs queued work on the inner vendor",
    ),
    (
        "tests/held/tests/held/inline.rs",
        "a small inline vendor for the tests of the held one",
    ),
    (
        "tests/sim/src/face/driver.rs",
        "implements the driver traits over the simulated device",
    ),
    (
        "tests/sim/src/face/kernel.rs",
        "computes kernels on the host vendor",
    ),
    (
        "tests/held/tests/held/main.rs",
        "calls the driver traits as a caller would",
    ),
    (
        "tests/toy-vendor/src/lib.rs",
        "implements the driver traits over owned memory; no unsafe block",
    ),
];

/// `unsafe` occurs in listed files alone, and those declare it.
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    check_against(path, text, FILES.iter().any(|(listed, _)| *listed == path))
}

/// Every listed file exists.
pub(super) fn missing(files: &[File]) -> Vec<Problem> {
    FILES
        .iter()
        .filter(|(listed, _)| !files.iter().any(|file| file.path == *listed))
        .map(|(listed, _)| {
            Problem::new(
                file!(),
                0,
                format!("lists {listed}, which is not there: remove it"),
            )
        })
        .collect()
}

fn check_against(path: &str, text: &str, listed: bool) -> Vec<Problem> {
    let code = code_only(text);
    let used = words(&code).find(|(_, word)| *word == "unsafe");
    let lifted = words(&code).find(|(_, word)| *word == "unsafe_code");
    if !listed {
        let what = "`unsafe` outside the files that may have it: move it to one of them, or add \
                    this file, with its reason, to xtask/src/tidy/unsafe_files.rs";
        let found = used.or(lifted);
        return found
            .map(|(at, _)| Problem::new(path, line_of(&code, at), what))
            .into_iter()
            .collect();
    }
    let mut problems = Vec::new();
    if used.is_none() {
        problems.push(Problem::new(
            path,
            0,
            "is listed in xtask/src/tidy/unsafe_files.rs and has no `unsafe`: remove it there",
        ));
    }
    let squeezed: String = code.split_whitespace().collect();
    if !inherits(path) && !squeezed.contains("#![expect(unsafe_code,reason=") {
        let what = "lift the lint for this file: `#![expect(unsafe_code, reason = \"..\")]`";
        problems.push(Problem::new(path, 0, what));
    }
    if is_test(path) {
        return problems;
    }
    let header = text.lines().take_while(|line| line.starts_with("//!"));
    if !header
        .into_iter()
        .any(|line| line.trim_end() == "//! # Safety")
    {
        let what = "say under `//! # Safety` in the module documentation what is relied on";
        problems.push(Problem::new(path, 0, what));
    }
    problems
}

/// Whether the lint is lifted by the module that a file belongs to, which is listed as well.
fn inherits(path: &str) -> bool {
    let parent = path
        .rsplit_once('/')
        .map_or(String::new(), |(folder, _)| format!("{folder}/mod.rs"));
    parent != path && FILES.iter().any(|(listed, _)| *listed == parent)
}

#[cfg(test)]
mod tests {
    use super::{FILES, check_against, missing};

    const GOOD: &str = "//! A.\n//!\n//! # Safety\n//!\n//! B.\n\n#![expect(\n    unsafe_code,\n    \
                        reason = \"c\"\n)]\nunsafe fn d() {}\n";

    #[test]
    fn a_listed_file_declares_its_unsafe_and_has_some() {
        assert!(check_against("a.rs", GOOD, true).is_empty());
        for (from, to) in [
            ("unsafe fn", "fn"),
            ("# Safety", "# Security"),
            ("expect(", "allow("),
            ("reason", "r"),
        ] {
            let bad = GOOD.replace(from, to);
            assert_eq!(check_against("a.rs", &bad, true).len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_child_of_a_listed_module_needs_no_lift_of_its_own() {
        let bare = GOOD.replace("expect(", "warn(");
        assert!(check_against("crates/gpu-dispatch/src/vendor/a.rs", &bare, true).is_empty());
        assert_eq!(
            check_against("crates/gpu-dispatch/src/a.rs", &bare, true).len(),
            1
        );
    }

    #[test]
    fn a_test_needs_no_header() {
        let bad = GOOD.replace("# Safety", "# Security");
        assert!(check_against("crates/a/tests/b.rs", &bad, true).is_empty());
    }

    #[test]
    fn unsafe_elsewhere_is_found_in_code_alone() {
        let found = check_against("a.rs", "//! A.\nfn b() { unsafe { c() } }\n", false);
        assert_eq!(found[0].line, 2);
        assert_eq!(
            check_against("a.rs", "#![allow(unsafe_code)]\n", false).len(),
            1
        );
        assert!(check_against("a.rs", "// unsafe\nlet a = \"unsafe\";\n", false).is_empty());
    }

    #[test]
    fn a_listed_file_that_is_gone_is_found() {
        assert_eq!(missing(&[]).len(), FILES.len());
    }
}
