//! Every behaviour line of the seam has a conformance check of its name, and the reverse is the
//! suite's own business.

use super::Problem;
use super::lexer::{code_only, words};
use crate::workspace::File;
use std::collections::BTreeSet;

const SEAM: &str = "crates/gpu-seam/src/";
const SUITE: &str = "tests/conformance/src/";

/// Each name at the head of a behaviour line is the name of a function of the suite.
pub(super) fn check(files: &[File]) -> Vec<Problem> {
    let mut checks = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with(SUITE)) {
        let code = code_only(&file.text);
        let mut previous = "";
        for (_, word) in words(&code) {
            if previous == "fn" {
                checks.insert(word.to_owned());
            }
            previous = word;
        }
    }
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with(SEAM)) {
        for (line, name) in behaviours(&file.text) {
            if !checks.contains(name) {
                let what =
                    format!("no check in {SUITE} is named `{name}`: write it, or mend the name");
                problems.push(Problem::new(&file.path, line, what));
            }
        }
    }
    problems
}

/// The names at the heads of behaviour lines, with their lines.
pub(crate) fn behaviours(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim_start();
        let documented = line.strip_prefix("///").map(str::trim);
        match documented {
            None => inside = false,
            Some("# Behavior") => inside = true,
            Some(heading) if heading.starts_with('#') => inside = false,
            Some(_) => {}
        }
        let name = documented?.strip_prefix("- `")?.split_once("`:")?.0;
        inside.then_some((at + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::{behaviours, check};
    use crate::workspace::File;

    const SEAM: &str = "/// Frees.\n///\n/// # Behavior\n/// - `free_returns`: an equal\n///   one.\n\
                        ///\n/// # Errors\n/// - `not_this`: one.\nfn free();\n";

    #[test]
    fn behaviour_lines_are_read_from_their_section_alone() {
        assert_eq!(behaviours(SEAM).collect::<Vec<_>>(), [(4, "free_returns")]);
    }

    #[test]
    fn a_behaviour_without_a_check_is_found() {
        let seam = File {
            path: "crates/gpu-seam/src/driver.rs".to_owned(),
            text: SEAM.to_owned(),
        };
        let suite = |text: &str| File {
            path: "tests/conformance/src/memory.rs".to_owned(),
            text: text.to_owned(),
        };
        let good = [seam.clone(), suite("pub fn free_returns<B>() {}")];
        assert!(check(&good).is_empty());
        let bad = [seam, suite("// fn free_returns\nfn free_return() {}")];
        assert_eq!(check(&bad)[0].line, 4);
    }
}
