//! The program `contract` from outside: the check fails when it must, and errors name the values.
//!
//! Cargo builds the examples before it runs all tests of the package; run alone with `--test`, build
//! them first (`cargo build -p examples --examples`).

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn contract(arguments: &[&str]) -> Output {
    let this = std::env::current_exe().expect("a test has a path");
    let program = this
        .ancestors()
        .nth(2)
        .expect("a test lies two folders deep")
        .join("examples")
        .join(format!("contract{}", std::env::consts::EXE_SUFFIX));
    Command::new(&program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

fn networks() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("networks");
    let entries = std::fs::read_dir(folder).expect("our own networks");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 3);
    files
}

fn text(path: &Path) -> &str {
    path.to_str().expect("our names are UTF-8")
}

/// A file that contains `json`.
fn file(json: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), json).expect("written");
    file
}

/// Fails with an error that contains every one of `parts`, and neither a panic nor an abort.
fn refused(arguments: &[&str], parts: &[&str]) {
    let output = contract(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| code == 1 || code == 2),
        "{code:?}: {said}"
    );
    assert!(!said.contains("panicked"), "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in: {said}");
    }
}

#[test]
fn one_altered_element_makes_the_check_fail() {
    for path in networks() {
        for dtype in ["float32", "float64", "complex64", "complex128"] {
            for choice in ["opt_flops", "auto"] {
                let usual = [
                    text(&path),
                    "--dtype",
                    dtype,
                    "--path",
                    choice,
                    "--check",
                    "--json",
                ];
                let output = contract(&usual);
                assert!(output.status.success(), "{usual:?}");
                assert_eq!(verdict(&output), Some(true), "{usual:?}");
                for operand in ["0", "5"] {
                    let altered = [&usual[..], &["--alter", operand]].concat();
                    let output = contract(&altered);
                    assert_eq!(output.status.code(), Some(1), "{altered:?}");
                    assert_eq!(verdict(&output), Some(false), "{altered:?}");
                }
            }
        }
    }
}

fn verdict(output: &Output) -> Option<bool> {
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    report["check"]["agrees"].as_bool()
}

#[test]
fn a_file_that_differs_does_not_hide_behind_one_that_agrees() {
    let all = networks();
    let bad = file("{}");
    let output = contract(&[text(bad.path()), text(&all[0]), "--check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("check agrees"));
}

#[test]
fn errors_of_the_command_line_name_the_values() {
    let all = networks();
    let good = text(&all[0]);
    refused(
        &["no/such/file.json"],
        &["no/such/file.json", "No such file"],
    );
    refused(&[good, "--device", "toaster"], &["toaster", "host"]);
    refused(
        &[good, "--device", "host:7"],
        &["host device 7", "there is 1"],
    );
    refused(&[good, "--dtype", "float31"], &["float31", "float32"]);
    refused(&[good, "--path", "shortest"], &["shortest", "opt_size"]);
    refused(&[good, "--seed", "x"], &["'x'", "--seed"]);
    refused(&[good, "--check", "--alter", "99"], &["operand 99 of 6"]);
    refused(&[good, "--alter", "0"], &["--check"]);
    refused(&[], &["<FILES>"]);
    let without = r#"{"format_string": "ab,bc->ac", "shapes": [[2, 3], [3, 4]],
        "paths": {"opt_size": {"path": [[0, 1]]}}}"#;
    refused(
        &[text(file(without).path())],
        &["no path opt_flops", "opt_size"],
    );
    let dtype = r#"{"format_string": "a->a", "shapes": [[2]], "dtype": "int7"}"#;
    refused(
        &[text(file(dtype).path()), "--path", "auto"],
        &["int7", "float64"],
    );
}

#[test]
fn an_intermediate_beyond_memory_is_an_error() {
    // Three vectors without a common index, multiplied before anything is summed.
    for size in [1u64 << 17, 1 << 21, 1 << 25] {
        let json = format!(
            r#"{{"format_string": "a,b,c,a,b,c->", "shapes": [[{size}], [{size}], [{size}],
            [{size}], [{size}], [{size}]], "paths": {{"opt_flops": {{"path":
            [[0, 1, 2], [0, 1, 2, 3]]}}}}}}"#
        );
        refused(&[text(file(&json).path())], &["einsum", &size.to_string()]);
    }
}
