//! `cargo xtask doctor`: what is on this machine, what is missing, and how to get it.
//!
//! A vendor that is merely absent is no fault: the run ends well and says what was looked for. A
//! vendor that should build here and does not is one.

use crate::command::Cmd;
use crate::vendor::Vendor;
use crate::workspace;
use serde_json::Value;

/// Looks at vendors, tools and data, and reports each.
pub(crate) fn run() -> Result<(), String> {
    println!("vendors");
    let mut unmet = Vec::new();
    for vendor in Vendor::ALL {
        if let Err(fault) = look_at(vendor) {
            println!("  {vendor:<16} FAULT: {fault}");
            unmet.push(vendor.to_string());
        }
    }
    println!("\ntools");
    for tool in TOOLS {
        tool.report();
    }
    println!("\ndata");
    report_data();
    if unmet.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "doctor: these vendors should work here and do not: {}",
            unmet.join(", ")
        ))
    }
}

fn look_at(vendor: Vendor) -> Result<(), String> {
    let Some(feature) = vendor.feature() else {
        println!(
            "  {:<16} made for tests; {} says what it is",
            vendor.to_string(),
            vendor.package()
        );
        return Ok(());
    };
    let probe = Cmd::cargo("run --quiet -p xtask --bin probe --no-default-features --features")
        .args(&[&format!("probe,tensor-core/{feature}")]);
    println!("$ {probe}");
    for line in described(vendor, &probe.output()?)? {
        println!("  {line}");
    }
    Ok(())
}

/// What the probe printed about `vendor`, a line for each device.
fn described(vendor: Vendor, printed: &str) -> Result<Vec<String>, String> {
    let report: Value = serde_json::from_str(printed)
        .map_err(|error| format!("the probe printed {printed:?}: {error}"))?;
    let name = vendor.to_string();
    let entry = report
        .as_array()
        .and_then(|entries| {
            entries
                .iter()
                .find(|entry| entry["vendor"] == name.as_str())
        })
        .ok_or_else(|| format!("the probe was built with {name} and does not name it"))?;
    if let Some(reason) = entry["absent"].as_str() {
        return Ok(vec![format!("{name:<16} absent: {reason}")]);
    }
    let devices = entry["devices"].as_array().map_or(&[][..], Vec::as_slice);
    if devices.is_empty() {
        return Ok(vec![format!(
            "{name:<16} absent: its runtime lists no device"
        )]);
    }
    Ok(devices
        .iter()
        .map(|device| described_device(&name, device))
        .collect())
}

fn described_device(vendor: &str, device: &Value) -> String {
    let text = |field: &str| device[field].as_str().unwrap_or("?").to_owned();
    let driver = match text("driver") {
        driver if driver.is_empty() => "no driver needed".to_owned(),
        driver => format!("driver {driver}"),
    };
    format!(
        "{:<16} {} ({}), {:.1} GiB, {driver}",
        format!("{vendor}:{}", device["ordinal"]),
        text("name"),
        text("kind"),
        device["memory_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 30),
    )
}

/// A program that some task needs.
struct Tool {
    name: &'static str,
    /// Prints its version.
    command: &'static str,
    needed_for: &'static str,
    get: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "rustc",
        command: "rustc --version",
        needed_for: "everything",
        get: "rustup reads rust-toolchain.toml and installs it",
    },
    Tool {
        name: "cargo-hack",
        command: "cargo hack --version",
        needed_for: "ci, step features",
        get: "cargo install cargo-hack --locked",
    },
    Tool {
        name: "cargo-deny",
        command: "cargo deny --version",
        needed_for: "ci, steps deny and advisories",
        get: "cargo install cargo-deny --locked",
    },
    Tool {
        name: "nightly",
        command: "rustup run nightly rustc --version",
        needed_for: "ci, steps miri, tsan and asan",
        get: "rustup toolchain install nightly --profile minimal",
    },
    Tool {
        name: "miri",
        command: "rustup run nightly cargo miri --version",
        needed_for: "ci, step miri",
        get: "rustup component add miri rust-src --toolchain nightly",
    },
    Tool {
        name: "python3",
        command: "python3 --version",
        needed_for: "bench and the scripts that write golden values",
        get: "apt-get install python3 python3-venv",
    },
];

impl Tool {
    fn report(&self) {
        let mut words = self.command.split(' ');
        let program = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        match Cmd::new(program).args(&rest).output() {
            Ok(version) => println!("  {:<16} {}", self.name, version.trim()),
            Err(_) => {
                println!(
                    "  {:<16} missing, for {}: {}",
                    self.name, self.needed_for, self.get
                );
            }
        }
    }
}

fn report_data() {
    let folder = workspace::einsum_data();
    let networks = workspace::networks(&folder).len();
    let shown = folder.display();
    if networks == 0 {
        println!(
            "  {:<16} none in {shown}: set EINSUM_DATA to a folder of them",
            "networks"
        );
    } else {
        println!("  {:<16} {networks} in {shown}", "networks");
    }
}

#[cfg(test)]
mod tests {
    use super::described;
    use crate::vendor::Vendor;

    #[test]
    fn a_device_an_absent_vendor_and_a_broken_probe_are_told_apart() {
        let device = r#"[{"vendor":"host","devices":[{"ordinal":0,"name":"a","kind":"host",
            "driver":"","memory_bytes":2147483648}]}]"#;
        assert_eq!(
            described(Vendor::Host, device),
            Ok(vec![
                "host:0           a (host), 2.0 GiB, no driver needed".to_owned()
            ])
        );
        let absent = r#"[{"vendor":"host","absent":"libx.so was not found"}]"#;
        let lines = described(Vendor::Host, absent).expect("absent is no fault");
        assert!(
            lines[0].contains("absent: libx.so was not found"),
            "{lines:?}"
        );
        let none = r#"[{"vendor":"host","devices":[]}]"#;
        assert!(described(Vendor::Host, none).expect("no fault")[0].contains("absent"));
        for broken in ["", "[]", "{}"] {
            assert!(described(Vendor::Host, broken).is_err(), "{broken}");
        }
    }
}
