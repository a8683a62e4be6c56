//! Where the workspace is, which files it has, and what Cargo says about it.

use crate::command::Cmd;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A manifest that stands outside the workspace.
pub(crate) struct Outside {
    /// Relative to the root.
    pub(crate) manifest: &'static str,
    /// Whether CI formats, lints and tests it.
    pub(crate) in_ci: bool,
}

/// Every manifest outside the workspace.
pub(crate) const OUTSIDE: &[Outside] = &[
    Outside {
        manifest: "benches/Cargo.toml",
        in_ci: false,
    },
    Outside {
        manifest: "tests/toy-vendor/Cargo.toml",
        in_ci: true,
    },
];

/// The manifests outside the workspace that CI formats, lints and tests.
pub(crate) fn outside_in_ci() -> impl Iterator<Item = &'static str> {
    OUTSIDE
        .iter()
        .filter(|outside| outside.in_ci)
        .map(|outside| outside.manifest)
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets it for `cargo run` and `cargo test`; the one of the build serves a copied binary.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest
        .parent()
        .map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// A text file of the tree.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    /// Its contents.
    pub(crate) text: String,
}

/// Every text file of the tree, by path; build outputs and hidden folders but `.ci`, `.cargo` and
/// `.github` are left out.
pub(crate) fn files() -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    collect(&root(), "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry
            .file_type()
            .map_err(|error| format!("{path}: {error}"))?;
        if kind.is_dir() && is_source_folder(&name) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() && is_text(&path) {
            let text =
                fs::read_to_string(entry.path()).map_err(|error| format!("{path}: {error}"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

fn is_source_folder(name: &str) -> bool {
    match name {
        "target" | "xtask-out" | "__pycache__" => false,
        ".ci" | ".cargo" | ".github" => true,
        other => !other.starts_with('.'),
    }
}

fn is_text(path: &str) -> bool {
    let endings = ["rs", "toml", "md", "yml", "yaml", "sh", "py", "txt"];
    path == ".ci/run"
        || Path::new(path)
            .extension()
            .is_some_and(|ending| endings.iter().any(|text| ending == *text))
}

/// A package of the workspace, or one that stands outside it.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its folder, relative to the root.
    pub(crate) folder: String,
    /// The root files of its targets, relative to the workspace root.
    pub(crate) targets: Vec<String>,
    /// What it depends on.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// The package's name.
    pub(crate) name: String,
    /// For what it is needed.
    pub(crate) kind: Kind,
    /// Whether a feature must turn it on.
    pub(crate) optional: bool,
}

/// For what a dependency is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By the library or program itself.
    Normal,
    /// By its tests, benches and examples.
    Dev,
    /// By its build script.
    Build,
}

/// The packages of the workspace.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    packages_of("Cargo.toml")
}

/// The packages of the workspace and of every manifest outside it.
pub(crate) fn all_packages() -> Result<Vec<Package>, String> {
    let mut packages = packages()?;
    for outside in OUTSIDE {
        packages.extend(packages_of(outside.manifest)?);
    }
    Ok(packages)
}

fn packages_of(manifest: &str) -> Result<Vec<Package>, String> {
    let command = Cmd::cargo("metadata --format-version 1 --no-deps --offline --manifest-path");
    let output = command.args(&[manifest]).output()?;
    let metadata: Value =
        serde_json::from_str(&output).map_err(|error| format!("cargo metadata: {error}"))?;
    let list = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata names no packages")?;
    list.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package, String> {
    let manifest = relative(text(value, "manifest_path")?)?;
    let targets = value["targets"]
        .as_array()
        .ok_or("a package without targets")?;
    let dependencies = value["dependencies"]
        .as_array()
        .ok_or("a package without dependencies")?;
    Ok(Package {
        name: text(value, "name")?.to_owned(),
        folder: manifest
            .trim_end_matches("Cargo.toml")
            .trim_end_matches('/')
            .to_owned(),
        targets: targets
            .iter()
            .map(|target| relative(text(target, "src_path")?))
            .collect::<Result<_, _>>()?,
        dependencies: dependencies
            .iter()
            .map(dependency)
            .collect::<Result<_, _>>()?,
    })
}

fn dependency(value: &Value) -> Result<Dependency, String> {
    Ok(Dependency {
        name: text(value, "name")?.to_owned(),
        kind: match value["kind"].as_str() {
            Some("dev") => Kind::Dev,
            Some("build") => Kind::Build,
            _ => Kind::Normal,
        },
        optional: value["optional"].as_bool().unwrap_or(false),
    })
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str, String> {
    value[field]
        .as_str()
        .ok_or_else(|| format!("cargo metadata has no text `{field}`"))
}

fn relative(path: &str) -> Result<String, String> {
    let root = root();
    let root = fs::canonicalize(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    Path::new(path)
        .strip_prefix(&root)
        .map(|inside| inside.to_string_lossy().replace('\\', "/"))
        .map_err(|_| format!("{path} is outside the workspace"))
}

/// The folder of tensor networks: `$EINSUM_DATA`, or where they usually lie beside the repository.
pub(crate) fn einsum_data() -> PathBuf {
    std::env::var_os("EINSUM_DATA")
        .map_or_else(|| root().join("../shared/data/einsum"), PathBuf::from)
}

/// The network files of a folder, by name; none when there is no such folder.
pub(crate) fn networks(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut networks: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    networks.sort();
    networks
}
