//! No Rust file is outside every module tree, where nothing would ever compile it.

use super::Problem;
use super::lexer::{code_only, words};
use crate::workspace::{File, Package};
use std::collections::{BTreeMap, BTreeSet};

/// Every Rust file is reached from the root file of some target.
pub(super) fn check(files: &[File], packages: &[Package]) -> Vec<Problem> {
    let texts: BTreeMap<&str, &str> = files
        .iter()
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let mut reached = BTreeSet::new();
    for root in packages.iter().flat_map(|package| &package.targets) {
        reach(root, true, &texts, &mut reached);
    }
    let what = "is in no module tree, so nothing compiles it: declare it with `mod`, or delete it";
    texts
        .keys()
        .filter(|path| path.ends_with(".rs") && !reached.contains(**path))
        .map(|path| Problem::new(path, 0, what))
        .collect()
}

fn reach(path: &str, is_root: bool, texts: &BTreeMap<&str, &str>, reached: &mut BTreeSet<String>) {
    let Some(text) = texts.get(path) else { return };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let owns_folder = is_root || name == "mod.rs";
    let stem = name.trim_end_matches(".rs");
    let base = if owns_folder {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    for module in modules(text) {
        if let Some(given) = &module.path {
            reach(&joined(folder, given), true, texts, reached);
            continue;
        }
        let inside = std::iter::once(base.as_str())
            .chain(module.outer.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("/");
        reach(
            &format!("{inside}/{}.rs", module.name),
            false,
            texts,
            reached,
        );
        reach(
            &format!("{inside}/{}/mod.rs", module.name),
            false,
            texts,
            reached,
        );
    }
    for included in included(text) {
        reach(&joined(folder, included), true, texts, reached);
    }
}

/// A module whose contents stand in a file of their own.
#[derive(Debug, PartialEq, Eq)]
struct Module {
    name: String,
    /// The inline modules around the declaration.
    outer: Vec<String>,
    /// What a `#[path]` before it says.
    path: Option<String>,
}

fn modules(text: &str) -> Vec<Module> {
    let code = code_only(text);
    let mut modules = Vec::new();
    let mut open: Vec<Option<String>> = Vec::new();
    let mut seen = 0;
    let mut previous = "";
    for (at, word) in words(&code) {
        for brace in code[seen..at].chars() {
            match brace {
                '{' => open.push(None),
                '}' => drop(open.pop()),
                _ => {}
            }
        }
        seen = at;
        if previous == "mod" {
            let rest = code[at + word.len()..].trim_start();
            if rest.starts_with(';') {
                let outer = open.iter().flatten().cloned().collect();
                modules.push(Module {
                    name: word.to_owned(),
                    outer,
                    path: given_path(text, at),
                });
            } else if rest.starts_with('{') {
                open.push(Some(word.to_owned()));
                seen = code.len() - rest.len() + 1;
            }
        }
        previous = word;
    }
    modules
}

/// The path of a `#[path = ".."]` among the attributes of the item that ends at `at`.
fn given_path(text: &str, at: usize) -> Option<String> {
    let item = text[..at]
        .rfind([';', '}'])
        .map_or(&text[..at], |end| &text[end..at]);
    let value = item.split_once("#[path = \"")?.1;
    value.split_once('"').map(|(path, _)| path.to_owned())
}

/// The Rust files that `include!` names.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split("include!(\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(path, _)| path)
        .filter(|path| path.ends_with(".rs"))
}

/// `path` seen from `folder`, with `..` taken out.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::{check, joined};
    use crate::workspace::{File, Package};

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_no_root_reaches_is_an_orphan() {
        let files = [
            file(
                "a/src/lib.rs",
                "mod b;\nmod c { fn x() { y() } mod d; }\nmod g; // mod lost;\n",
            ),
            file("a/src/b.rs", "mod e;\n#[path = \"odd/f.rs\"]\nmod f;\n"),
            file("a/src/b/e.rs", "include!(\"../h.rs\");\n"),
            file("a/src/odd/f.rs", ""),
            file("a/src/c/d.rs", ""),
            file("a/src/g/mod.rs", "mod i;\n"),
            file("a/src/g/i.rs", ""),
            file("a/src/h.rs", ""),
            file("a/src/lost.rs", ""),
            file("a/README.md", ""),
        ];
        let package = Package {
            name: "a".to_owned(),
            folder: "a".to_owned(),
            targets: vec!["a/src/lib.rs".to_owned()],
            dependencies: Vec::new(),
        };
        let found: Vec<String> = check(&files, &[package])
            .into_iter()
            .map(|problem| problem.path)
            .collect();
        assert_eq!(found, ["a/src/lost.rs"]);
    }

    #[test]
    fn paths_are_joined_as_a_compiler_does() {
        assert_eq!(joined("a/b", "../c/./d.rs"), "a/c/d.rs");
    }
}
