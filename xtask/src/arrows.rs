//! `cargo xtask arrows`: dependencies point one way.
//!
//! Reads what the manifests declare, so that a feature which is off hides nothing.

use crate::command::Cmd;
use crate::vendor::Vendor;
use crate::workspace::{self, Dependency, Kind, Package};

/// Checks the direction of every dependency, and prints what is wrong.
pub(crate) fn run() -> Result<(), String> {
    let mut problems = check(&workspace::all_packages()?);
    problems.extend(tree(&Cmd::cargo("tree -p gpu-seam -e all").output()?));
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        println!("arrows: one way down");
        Ok(())
    } else {
        Err(format!("arrows: {} problems", problems.len()))
    }
}

/// What a package of the workspace may depend on inside the workspace.
struct Rule {
    package: &'static str,
    /// For itself.
    normal: &'static [&'static str],
    /// Only where a feature turns it on.
    optional: &'static [&'static str],
    /// For its tests, beside the others.
    dev: &'static [&'static str],
    why: &'static str,
}

const VENDOR_WHY: &str = "a vendor implements the seam and never sees what is built on it";

/// The arrows. A package that is not here may not exist.
const RULES: &[Rule] = &[
    Rule {
        package: "gpu-seam",
        normal: &[],
        optional: &[],
        dev: &[],
        why: "the seam depends on nothing, so that it pairs with any binding",
    },
    Rule {
        package: "gpu-dispatch",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &[],
        why: "dispatch sees no vendor, not even in its tests: those are in gpu-engine-tests",
    },
    Rule {
        package: "gpu-host",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &["gpu-conformance"],
        why: VENDOR_WHY,
    },
    Rule {
        package: "gpu-wgpu",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &["gpu-conformance"],
        why: VENDOR_WHY,
    },
    Rule {
        package: "gpu-held",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &["gpu-conformance"],
        why: VENDOR_WHY,
    },
    Rule {
        package: "gpu-sim",
        normal: &["gpu-host", "gpu-seam"],
        optional: &[],
        dev: &["gpu-conformance"],
        why: "the simulated device computes as the host does, and never sees what is built on the seam",
    },
    Rule {
        package: "gpu-sim-harness",
        normal: &["gpu-dispatch", "gpu-seam", "gpu-sim"],
        optional: &[],
        dev: &[],
        why: "the harness drives the engine on the simulated device, from outside both",
    },
    Rule {
        package: "gpu-golden",
        normal: &["gpu-seam", "tensor-core"],
        optional: &[],
        dev: &[
            "gpu-dispatch",
            "gpu-held",
            "gpu-host",
            "gpu-sim",
            "tensor-core",
        ],
        why: "golden values are checked through tensor-core, on whichever device there is",
    },
    Rule {
        package: "gpu-conformance",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &["gpu-host", "gpu-held", "gpu-sim"],
        why: "the suite tests any vendor through the seam alone; its instances name theirs",
    },
    Rule {
        package: "gpu-engine-tests",
        normal: &["gpu-dispatch", "gpu-held", "gpu-host", "gpu-seam"],
        optional: &[],
        dev: &[],
        why: "the engine is tested on the held vendor, from outside, so that dispatch sees none",
    },
    Rule {
        package: "tensor-core",
        normal: &["gpu-dispatch", "gpu-seam"],
        optional: &["gpu-host", "gpu-wgpu"],
        dev: &["gpu-held"],
        why: "vendors are features of tensor-core, and wiring is all that they are there",
    },
    Rule {
        package: "examples",
        normal: &["tensor-core"],
        optional: &[],
        dev: &[],
        why: "examples are written as a downstream crate would write them",
    },
    Rule {
        package: "toy-vendor",
        normal: &["gpu-seam"],
        optional: &[],
        dev: &["gpu-conformance"],
        why: VENDOR_WHY,
    },
    Rule {
        package: "toy-downstream",
        normal: &[],
        optional: &[],
        dev: &["gpu-dispatch", "tensor-core", "toy-vendor"],
        why: "it stands for the user of a vendor, and only tests",
    },
    Rule {
        package: "gpu-seam-benches",
        normal: &["tensor-core"],
        optional: &[],
        dev: &[],
        why: "ours is measured as a downstream crate would use it",
    },
    Rule {
        package: "xtask",
        normal: &[],
        optional: &["tensor-core"],
        dev: &[],
        why: "xtask builds in seconds; what asks for devices is a program of its own",
    },
];

fn check(packages: &[Package]) -> Vec<String> {
    let mut problems = Vec::new();
    for vendor in Vendor::ALL {
        if !packages
            .iter()
            .any(|package| package.name == vendor.package())
        {
            problems.push(format!(
                "the vendor {vendor} has no package {}",
                vendor.package()
            ));
        }
    }
    for package in packages {
        let Some(rule) = RULES.iter().find(|rule| rule.package == package.name) else {
            problems.push(format!(
                "{} has no rule: say in xtask/src/arrows.rs what it may depend on",
                package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let inside = packages.iter().any(|other| other.name == dependency.name);
            if package.name == "gpu-seam" || inside && !rule.allows(dependency) {
                problems.push(format!(
                    "{} may not depend on {} ({:?}{}): {}",
                    package.name,
                    dependency.name,
                    dependency.kind,
                    if dependency.optional {
                        ", optional"
                    } else {
                        ""
                    },
                    rule.why
                ));
            }
        }
    }
    problems
}

impl Rule {
    fn allows(&self, dependency: &Dependency) -> bool {
        let name = dependency.name.as_str();
        let normal = self.normal.contains(&name);
        match dependency.kind {
            Kind::Normal if dependency.optional => normal || self.optional.contains(&name),
            Kind::Normal | Kind::Build => normal,
            Kind::Dev => normal || self.optional.contains(&name) || self.dev.contains(&name),
        }
    }
}

/// The seam's own tree is one line.
fn tree(printed: &str) -> Option<String> {
    let lines = printed
        .lines()
        .filter(|line| !line.trim().is_empty())
        .count();
    (lines != 1).then(|| {
        format!("`cargo tree -p gpu-seam -e all` has {lines} lines, not one: remove the dependency")
    })
}

#[cfg(test)]
mod tests {
    use super::{check, tree};
    use crate::command::Cmd;
    use crate::workspace::{self, Dependency, Kind, Package};

    #[test]
    fn the_arrows_hold() {
        let problems = check(&workspace::all_packages().expect("cargo metadata answers"));
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
        let printed = Cmd::cargo("tree -p gpu-seam -e all")
            .output()
            .expect("cargo tree answers");
        assert_eq!(tree(&printed), None);
    }

    /// The workspace with one more dependency.
    fn with(package: &str, name: &str, kind: Kind, optional: bool) -> Vec<Package> {
        let mut packages = workspace::all_packages().expect("cargo metadata answers");
        let changed = packages
            .iter_mut()
            .find(|found| found.name == package)
            .expect("it exists");
        changed.dependencies.push(Dependency {
            name: name.to_owned(),
            kind,
            optional,
        });
        packages
    }

    #[test]
    fn an_arrow_that_points_the_wrong_way_is_found() {
        for (package, name, kind, optional) in [
            ("gpu-seam", "smallvec", Kind::Normal, false),
            ("gpu-seam", "rstest", Kind::Dev, false),
            ("gpu-dispatch", "gpu-host", Kind::Normal, false),
            ("gpu-dispatch", "gpu-host", Kind::Dev, false),
            ("gpu-dispatch", "tensor-core", Kind::Normal, false),
            ("gpu-host", "gpu-dispatch", Kind::Dev, false),
            ("gpu-held", "gpu-dispatch", Kind::Normal, true),
            ("gpu-conformance", "gpu-host", Kind::Normal, false),
            ("toy-vendor", "gpu-dispatch", Kind::Dev, false),
            ("tensor-core", "gpu-host", Kind::Normal, false),
            ("examples", "gpu-dispatch", Kind::Normal, false),
        ] {
            let problems = check(&with(package, name, kind, optional));
            assert_eq!(problems.len(), 1, "{package} -> {name}: {problems:?}");
        }
        assert!(check(&with("tensor-core", "gpu-host", Kind::Normal, true)).is_empty());
    }

    #[test]
    fn a_package_without_a_rule_and_a_vendor_without_a_package_are_found() {
        let mut packages = workspace::all_packages().expect("cargo metadata answers");
        let host = packages
            .iter_mut()
            .find(|found| found.name == "gpu-host")
            .expect("it exists");
        host.name = "gpu-toaster".to_owned();
        let problems = check(&packages);
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains("gpu-toaster has no rule"))
        );
        assert!(
            problems
                .iter()
                .any(|problem| problem.contains("no package gpu-host"))
        );
    }

    #[test]
    fn more_than_one_line_of_tree_is_found() {
        assert_eq!(tree("gpu-seam v0.1.0 (/a)\n"), None);
        assert!(tree("gpu-seam v0.1.0\n└── smallvec v1\n").is_some());
    }
}
