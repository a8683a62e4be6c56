//! Manifests: one lint table, one list of versions.

use super::Problem;
use crate::workspace::{File, Package};

/// Members take their lints and the versions of their dependencies from the workspace.
pub(super) fn check(files: &[File], members: &[Package]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        let path = format!("{}/Cargo.toml", member.folder);
        if let Some(file) = files.iter().find(|file| file.path == path) {
            problems.extend(lints(&path, &file.text));
            problems.extend(versions(&path, &file.text));
        }
    }
    problems
}

fn lints(path: &str, text: &str) -> Vec<Problem> {
    let taken =
        entries(text).any(|entry| entry.table == "lints" && entry.text == "workspace = true");
    if taken {
        return Vec::new();
    }
    let what = "takes no lints from the workspace: add `[lints]` with `workspace = true`";
    vec![Problem::new(path, 0, what)]
}

fn versions(path: &str, text: &str) -> Vec<Problem> {
    let what = "states its own version: write `name.workspace = true`, and the version under \
                [workspace.dependencies]";
    entries(text)
        .filter(|entry| {
            let last = entry.table.rsplit('.').next().unwrap_or("");
            let ours = entry.text.contains("path = ") && !entry.text.contains("version");
            last.ends_with("dependencies") && !entry.text.contains("workspace = true") && !ours
                || entry.table.contains("dependencies.") && entry.text.starts_with("version")
        })
        .map(|entry| Problem::new(path, entry.line, what))
        .collect()
}

/// A line of a manifest that sets something.
struct Entry<'a> {
    table: &'a str,
    line: usize,
    text: &'a str,
}

fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut table = "";
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            table = name;
            return None;
        }
        let is_entry = !line.starts_with('#') && line.contains('=');
        is_entry.then_some(Entry {
            table,
            line: at + 1,
            text: line,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{lints, versions};

    #[test]
    fn lints_come_from_the_workspace() {
        assert!(lints("Cargo.toml", "[lints]\nworkspace = true\n").is_empty());
        for bad in [
            "",
            "[lints]\n# workspace = true\n",
            "[package]\nworkspace = true\n",
        ] {
            assert_eq!(lints("Cargo.toml", bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn a_version_in_a_member_is_found() {
        let good = "[package]\nversion.workspace = true\n[dependencies]\n# a = \"1\"\n\
                    a.workspace = true\nb = { workspace = true, optional = true }\n\
                    c = { path = \"../c\", default-features = false }\n";
        assert!(versions("Cargo.toml", good).is_empty());
        for bad in [
            "[dependencies]\na = \"1\"\n",
            "[dev-dependencies]\na = { version = \"1\" }\n",
            "[target.'cfg(unix)'.dependencies]\na = { version = \"1\", path = \"../a\" }\n",
            "[dependencies.a]\nversion = \"1\"\n",
        ] {
            assert_eq!(versions("Cargo.toml", bad).len(), 1, "{bad}");
        }
    }
}
