//! The golden cases on the device that `GOLDEN_DEVICE` names (the host, unless it says otherwise), on
//! a device whose work is held back as long as may be, and the proof that a wrong value is noticed.

#![expect(clippy::print_stdout, reason = "says what was skipped")]

use gpu_dispatch::Engine;
use gpu_golden::{Report, check, check_book};
use gpu_held::{Config, Held};
use gpu_host::Host;
use gpu_sim::device::{Config as Machinery, FaultPlan, Machine, Pace};
use gpu_sim::face::{Sim, Traits};
use tensor_core::{Device, ErrorKind};

fn assert_clean(report: &Report) {
    let worst: Vec<String> = report
        .failed
        .iter()
        .take(40)
        .map(|(id, found)| format!("{id}: {found}"))
        .collect();
    assert!(
        report.failed.is_empty(),
        "{} of {} cases failed:\n{}",
        report.failed.len(),
        report.cases(),
        worst.join("\n")
    );
    assert!(report.passed > 2000, "only {} cases ran", report.passed);
}

/// Whether a missing device is a failure: what `--require-device` of xtask says to every test.
fn required() -> bool {
    std::env::var_os("GPU_CONFORMANCE_REQUIRE_DEVICE").is_some_and(|value| value != "0")
}

#[test]
fn the_named_device_gives_the_golden_values() {
    let name = std::env::var("GOLDEN_DEVICE").unwrap_or_else(|_| "host".to_owned());
    let device = match Device::open(&name) {
        Ok(device) => device,
        Err(error) if error.kind() == ErrorKind::Unavailable && !required() => {
            println!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let report = check(&device);
    assert_clean(&report);
    if name == "host" {
        // The numeric reference serves everything.
        assert_eq!(report.unsupported, []);
        assert_eq!(report.flushed, [""; 0]);
    }
}

#[test]
fn a_device_that_holds_its_work_back_gives_the_golden_values() {
    let (driver, controller) = Held::new(Host::new(), Config::auto()).unwrap();
    let device = Device::from_engine(&Engine::new(driver).unwrap());
    let report = check(&device);
    assert_clean(&report);
    assert_eq!(report.unsupported, []);
    drop(device);
    assert_eq!(controller.violations(), [""; 0]);
}

#[test]
fn a_simulated_device_gives_the_golden_values_and_no_rule_is_broken() {
    for (seed, pace) in [(1, Some(Pace::LAZY)), (2, None), (3, None)] {
        let config = Machinery {
            devices: vec![1 << 30],
            pace,
            ..Machinery::default()
        };
        let machine = Machine::new(seed, config, FaultPlan::default());
        let driver = Sim::open_on(&machine, 0, &Traits::default()).unwrap();
        let device = Device::from_engine(&Engine::new(driver).unwrap());
        let report = check(&device);
        assert_clean(&report);
        assert_eq!(report.unsupported, []);
        drop(device);
        assert_eq!(machine.violations(), [], "seed {seed}");
    }
}

/// A book with the one case `neg [1.5f32]`, with `expected` as what it must give.
fn book(expected: &str) -> String {
    format!(
        r#"{{"arrays": {{"x": {{"d": "f32", "s": [1], "x": "0000c03f"}}}},
            "cases": [{{"id": "the case", "op": "neg", "in": ["x"], {expected}}}]}}"#
    )
}

#[test]
fn a_wrong_value_is_noticed() {
    let device = Device::host().unwrap();
    let found = |expected: &str| {
        let mut report = check_book(&book(expected), &device);
        assert_eq!(report.cases(), 1);
        report.failed.pop().map(|(_, found)| found)
    };
    assert_eq!(
        found(r#""out": {"d": "f32", "s": [1], "x": "0000c0bf"}"#),
        None
    );
    let wrong = [
        // The sign, the last bit, the dtype, the shape, an error that is not one.
        (
            r#""out": {"d": "f32", "s": [1], "x": "0000c03f"}"#,
            "must be 1.5, is -1.5",
        ),
        (
            r#""out": {"d": "f32", "s": [1], "x": "0100c0bf"}"#,
            "element 0",
        ),
        (
            r#""out": {"d": "f64", "s": [1], "x": "000000000000f8bf"}"#,
            "not f64[1]",
        ),
        (
            r#""out": {"d": "f32", "s": [], "x": "0000c0bf"}"#,
            "not f32[]",
        ),
        (r#""err": "Invalid""#, "not an error"),
    ];
    for (expected, words) in wrong {
        let found = found(expected).unwrap_or_default();
        assert!(found.contains(words), "{expected}: {found:?}");
    }
    let within = r#""out": {"d": "f32", "s": [1], "x": "0100c0bf"}, "ulp": 1"#;
    assert_eq!(found(within), None);
}
