//! Documents name what is there: crates, folders, files and tasks.

use super::Problem;
use crate::cli::TASKS;
use crate::workspace::{self, File, Package};

const MAP: &str = "ARCHITECTURE.md";

/// The map names every package by its folder, and nothing that is not there.
pub(super) fn map(files: &[File], packages: &[Package]) -> Vec<Problem> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else {
        return vec![Problem::new(
            MAP,
            0,
            "is not there: write the map of the crates",
        )];
    };
    let mut problems = Vec::new();
    for package in packages {
        if !map.text.contains(&format!("`{}`", package.folder)) {
            let what = format!("does not name `{}`: add it to the code map", package.folder);
            problems.push(Problem::new(MAP, 0, what));
        }
    }
    for (line, quoted) in quotations(&map.text) {
        let is_crate = quoted.starts_with("gpu-") && !quoted.contains('/');
        let known = if is_crate {
            packages.iter().any(|package| package.name == quoted)
        } else if looks_like_a_path(quoted) {
            workspace::root().join(quoted).exists()
        } else {
            true
        };
        if !known {
            let what = format!("names `{quoted}`, which is not there: mend the map");
            problems.push(Problem::new(MAP, line, what));
        }
    }
    problems
}

/// Relative links lead somewhere.
pub(super) fn links(path: &str, text: &str) -> Vec<Problem> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or("");
            let outside =
                target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !outside && !workspace::root().join(folder).join(target).exists() {
                let what = format!("links to {target}, which is not there: mend the link");
                problems.push(Problem::new(path, at + 1, what));
            }
        }
    }
    problems
}

/// Every task that a document or workflow mentions exists.
pub(super) fn tasks(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for rest in line.split("cargo xtask ").skip(1) {
            let word = rest
                .split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or("");
            if !word.is_empty() && !TASKS.contains(&word) {
                let what = format!("mentions `cargo xtask {word}`, which is no task: mend it");
                problems.push(Problem::new(path, at + 1, what));
            }
        }
    }
    problems
}

/// What stands in single backquotes, with its line; fenced blocks are left out.
fn quotations(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().flat_map(move |(at, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        let skipped = fence || fenced;
        let count = if skipped { 0 } else { usize::MAX };
        line.split('`')
            .skip(1)
            .step_by(2)
            .take(count)
            .map(move |quoted| (at + 1, quoted))
    })
}

fn looks_like_a_path(quoted: &str) -> bool {
    let folders = [
        "crates/",
        "tests/",
        "docs/",
        "xtask/",
        "benches/",
        "examples/",
        ".ci/",
        ".github/",
    ];
    folders.iter().any(|folder| quoted.starts_with(folder))
        && !quoted.contains(['*', '<', ' ', '{'])
}

#[cfg(test)]
mod tests {
    use super::{links, map, quotations, tasks};
    use crate::workspace::{File, Package};

    fn architecture(text: &str) -> File {
        File {
            path: "ARCHITECTURE.md".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_map_and_the_packages_agree_both_ways() {
        let package = Package {
            name: "gpu-seam".to_owned(),
            folder: "crates/gpu-seam".to_owned(),
            targets: Vec::new(),
            dependencies: Vec::new(),
        };
        let check = |text: &str| map(&[architecture(text)], std::slice::from_ref(&package)).len();
        assert_eq!(
            check("`crates/gpu-seam`: `gpu-seam`, `docs` and `Buffer<B>`\n"),
            0
        );
        assert_eq!(check("the seam\n"), 1, "a package that is not named");
        assert_eq!(
            check("`crates/gpu-seam` `gpu-toaster`\n"),
            1,
            "a crate that is not there"
        );
        assert_eq!(
            check("`crates/gpu-seam` `crates/no-such`\n"),
            1,
            "a path that is not there"
        );
        assert_eq!(map(&[], &[]).len(), 1, "no map");
    }

    #[test]
    fn fenced_blocks_are_no_quotations() {
        let text = "`a` b `c`\n```\n`d`\n```\n`e`\n";
        let found: Vec<_> = quotations(text).collect();
        assert_eq!(found, [(1, "a"), (1, "c"), (5, "e")]);
    }

    #[test]
    fn dead_links_and_unknown_tasks_are_found() {
        assert!(
            links(
                "docs/a.md",
                "[x](../Cargo.toml#y) [z](https://a.example/b)\n"
            )
            .is_empty()
        );
        assert_eq!(links("docs/a.md", "fine\n[x](no-such.md)\n")[0].line, 2);
        assert!(tasks("a.md", "`cargo xtask test --list`, cargo xtask <task>\n").is_empty());
        assert_eq!(tasks("a.md", "`cargo xtask tset`\n").len(), 1);
    }
}
