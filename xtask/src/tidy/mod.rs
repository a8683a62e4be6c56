//! The rules of the tree, each a plain function from texts to problems.
//!
//! Runs as `cargo xtask tidy` and under `cargo test`. Every problem names a place and what to do.
//! Each rule's own tests show a text that breaks it.

pub(crate) mod behaviours;
mod documents;
mod lexer;
mod manifests;
mod neutral;
mod orphans;
mod rust;
mod unsafe_files;

use crate::workspace;
use std::fmt;

/// Checks every rule, and prints what is wrong.
pub(crate) fn run() -> Result<(), String> {
    let problems = check()?;
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        println!("tidy: clean");
        Ok(())
    } else {
        Err(format!("tidy: {} problems", problems.len()))
    }
}

/// A place where the tree breaks a rule, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    /// Counted from 1; 0 where the file as a whole is meant.
    line: usize,
    what: String,
}

impl Problem {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

fn check() -> Result<Vec<Problem>, String> {
    let files = workspace::files()?;
    let packages = workspace::all_packages()?;
    let members = workspace::packages()?;
    let mut problems = Vec::new();
    for file in &files {
        problems.extend(trailing_space(&file.path, &file.text));
        problems.extend(neutral::vendor_words(&file.path, &file.text));
        if file.path.ends_with(".rs") {
            problems.extend(rust::header(&file.path, &file.text));
            problems.extend(rust::size(&file.path, &file.text));
            problems.extend(rust::switched_off(&file.path, &file.text));
            problems.extend(unsafe_files::check(&file.path, &file.text));
        }
        if file.path.ends_with(".md") || file.path.ends_with(".yml") {
            problems.extend(documents::tasks(&file.path, &file.text));
        }
        if file.path.ends_with(".md") {
            problems.extend(documents::links(&file.path, &file.text));
        }
    }
    problems.extend(unsafe_files::missing(&files));
    problems.extend(manifests::check(&files, &members));
    problems.extend(orphans::check(&files, &packages));
    problems.extend(documents::map(&files, &packages));
    problems.extend(behaviours::check(&files));
    problems.sort();
    Ok(problems)
}

fn trailing_space(path: &str, text: &str) -> Vec<Problem> {
    let mut problems: Vec<Problem> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.ends_with([' ', '\t']))
        .map(|(at, _)| Problem::new(path, at + 1, "ends with a space: remove it"))
        .collect();
    if !text.is_empty() && !text.ends_with('\n') {
        problems.push(Problem::new(
            path,
            0,
            "does not end with a newline: add one",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{check, trailing_space};

    #[test]
    fn the_tree_is_tidy() {
        let problems = check().expect("the tree can be read");
        let report: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(report.is_empty(), "\n{}\n", report.join("\n"));
    }

    #[test]
    fn a_trailing_space_and_a_missing_newline_are_found() {
        let lines: Vec<usize> = trailing_space("a.md", "good\nbad \nbad\t")
            .iter()
            .map(|found| found.line)
            .collect();
        assert_eq!(lines, [2, 3, 0]);
        assert!(trailing_space("a.md", "good\n").is_empty());
    }
}
