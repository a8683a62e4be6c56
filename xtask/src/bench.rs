//! `cargo xtask bench`: ours beside other libraries, from the manifest in `benches/`.
//!
//! Prepares a Python environment with pinned versions and a release build, and hands over. Knows
//! nothing of what is measured.

use crate::command::Cmd;
use crate::workspace;
use std::fs;

const VENV: &str = "target/bench-venv";
const PYTHON: &str = "target/bench-venv/bin/python";
const TARGET: &str = "target/benches";
const PROGRAM: &str = "target/benches/release/gpu-seam-benches";
const DOCUMENT: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- figures: written by `cargo xtask bench --write` -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Measures and prints; with `write`, puts the figures into the document too.
pub(crate) fn run(write: bool) -> Result<(), String> {
    Cmd::new("python3").args(&["-m", "venv", VENV]).run()?;
    Cmd::new(PYTHON)
        .words("-m pip install --quiet -r benches/requirements.txt")
        .run()?;
    Cmd::cargo("build --release --manifest-path benches/Cargo.toml --target-dir")
        .args(&[TARGET])
        .run()?;
    let data = workspace::einsum_data();
    let networks = workspace::networks(&data);
    if networks.is_empty() {
        println!(
            "NOT RUN: no networks in {}: set EINSUM_DATA",
            data.display()
        );
    }
    let networks: Vec<String> = networks
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let networks: Vec<&str> = networks.iter().map(String::as_str).collect();
    // Settings that some machines need for old builds of OpenBLAS; they slow the one measured here.
    let command = Cmd::new(PROGRAM)
        .args(&[PYTHON])
        .args(&networks)
        .env_remove("OPENBLAS_CORETYPE")
        .env_remove("OPENBLAS_L2_SIZE");
    let figures = command.capture()?;
    println!("\n{figures}");
    if write {
        write_figures(&figures)
    } else {
        Ok(())
    }
}

fn write_figures(figures: &str) -> Result<(), String> {
    let path = workspace::root().join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    let date = Cmd::new("date").words("-u +%Y-%m-%d").output()?;
    let commit = Cmd::new("git").words("rev-parse --short HEAD").output()?;
    let figures = format!(
        "Measured {} at commit {}. {figures}",
        date.trim(),
        commit.trim()
    );
    let replaced = replaced(&text, &figures)?;
    fs::write(&path, replaced).map_err(|error| format!("{DOCUMENT}: {error}"))
}

/// `text` with `figures` between its two marks.
fn replaced(text: &str, figures: &str) -> Result<String, String> {
    let begin = text.find(BEGIN).map(|at| at + BEGIN.len());
    let end = text.find(END);
    match (begin, end) {
        (Some(begin), Some(end)) if begin <= end => Ok(format!(
            "{}\n{}\n\n{}",
            &text[..begin],
            figures.trim(),
            &text[end..]
        )),
        _ => Err(format!(
            "{DOCUMENT} has lost its marks {} and {}",
            BEGIN.trim(),
            END.trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, replaced};

    #[test]
    fn figures_replace_figures_and_nothing_else() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = replaced(&text, "new\n").expect("the marks are there");
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(replaced(&new, "new\n").as_ref(), Ok(&new));
        assert!(replaced("no marks", "new").is_err());
    }
}
