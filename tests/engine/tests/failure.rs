//! Failure: once, in its own words, never as another call's error, never a hang.

use gpu_dispatch::{Error, Instant};
use gpu_engine_tests::{add, add_scalar, engine, fill, floats, line, select};
use gpu_held::{Call, Config};
use gpu_seam::{GpuError, SeamError};
use std::time::Duration;

fn unavailable(detail: &str) -> GpuError {
    GpuError::Unavailable {
        detail: detail.to_owned(),
    }
}

#[test]
fn an_operation_that_is_refused_is_its_own_failure_alone() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let a = fill(&lane, 16, 1.0).unwrap();
    control.refuse(Call::Execute, 0, unavailable("not today"));
    let error = add_scalar(&lane, &a, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "add: GPU backend unavailable: not today");
    let b = add_scalar(&lane, &a, 2.0).unwrap();
    assert_eq!(floats(&lane, &b).unwrap(), vec![3.0; 16]);
    assert!(engine.is_open());
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g6_157_a_late_fault_names_what_was_under_way() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let a = fill(&lane, 16, 1.0).unwrap();
    assert!(!a.poll().unwrap());
    control.release_all();
    assert!(a.poll().unwrap());
    let b = add(&lane, &a, &a).unwrap();
    let c = add_scalar(&lane, &b, 1.0).unwrap();
    control.fail_item(0, unavailable("an illegal address"));
    control.release_all();
    assert_eq!(
        c.wait().unwrap_err().cause(),
        Some(&unavailable("an illegal address"))
    );
    assert_eq!(
        b.wait().unwrap_err().cause(),
        Some(&unavailable("an illegal address"))
    );
    a.wait().unwrap();
    let failure = engine.failure().unwrap();
    assert_eq!(failure.lane, Some(0));
    assert_eq!(failure.unfinished, ["add", "add"]);
    assert_eq!(failure.cause, unavailable("an illegal address"));
    let broken = fill(&lane, 1, 0.0).unwrap_err();
    assert_eq!(broken.kind(), Some(SeamError::Broken));
    assert!(
        broken.to_string().ends_with("an illegal address"),
        "{broken}"
    );
    assert_eq!(
        engine.close().unwrap_err().cause(),
        Some(&unavailable("an illegal address"))
    );
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g6_158_after_a_fault_every_drop_is_quiet() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let many: Vec<_> = (0..3).map(|_| fill(&lane, 1 << 18, 1.0).unwrap()).collect();
    control.fail_now(unavailable("an illegal address"));
    drop(many);
    assert_eq!(fill(&lane, 1, 0.0).map(drop).unwrap_err().op(), "fill");
    drop((lane, engine));
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_vendor_that_panics_breaks_the_engine_and_nothing_else() {
    for call in [
        Call::Execute,
        Call::Record,
        Call::Poll,
        Call::Allocate,
        Call::CopyIn,
        Call::CopyOut,
    ] {
        let (engine, control) = engine(Config::auto());
        let lane = engine.lane();
        let a = lane.upload(&line(16, 1.0)).unwrap();
        a.wait().unwrap();
        control.panic_in(call, 0);
        let outcome = lane
            .upload(&line(1 << 21, 1.0))
            .and_then(|big| add(&lane, &big, &big))
            .and_then(|sum| floats(&lane, &sum));
        let error = outcome.unwrap_err();
        assert!(
            error.to_string().contains("panicked in"),
            "{call:?}: {error}"
        );
        let later = fill(&lane, 1, 0.0).unwrap_err();
        assert_eq!(later.kind(), Some(SeamError::Broken), "{call:?}: {later}");
        let limit = Instant::now() + Duration::from_secs(5);
        drop((a, lane, engine));
        assert!(Instant::now() < limit, "{call:?}: the drop hung");
    }
}

#[test]
fn g2_083_a_bad_index_fails_its_output_and_all_that_use_it() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let a = lane.upload(&line(3, 10.0)).unwrap();
    for bad in [3, -1, i32::MIN, i32::MAX] {
        let picked = select(&lane, &a, &[0, bad, 1]).unwrap();
        let used = add_scalar(&lane, &picked, 1.0).unwrap();
        let good = select(&lane, &a, &[2, 0]).unwrap();
        let error = floats(&lane, &used).unwrap_err();
        let expected = Error::Index {
            op: "index_select",
            index: bad.into(),
            size: 3,
        };
        assert_eq!(error, expected);
        assert_eq!(picked.wait().unwrap_err(), expected);
        // What is known to have failed is refused at once.
        assert_eq!(add_scalar(&lane, &used, 1.0).unwrap_err(), expected);
        assert_eq!(
            lane.download(&picked, 0, vec![0u8; 4]).unwrap_err().cause,
            expected
        );
        assert_eq!(
            floats(&lane, &good).unwrap(),
            [10.0, 10.0],
            "the device stays usable"
        );
    }
    assert!(engine.is_open());
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn an_index_is_judged_by_whoever_waits_first() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let a = lane.upload(&line(3, 10.0)).unwrap();
    let bad = select(&lane, &a, &[7]).unwrap();
    let pending = lane.download(&bad, 0, vec![0u8; 4]).unwrap();
    assert!(!pending.poll());
    control.set_auto(true);
    let rejected = pending.wait().unwrap_err();
    assert!(matches!(
        rejected.cause,
        Error::Index {
            index: 7,
            size: 3,
            ..
        }
    ));
    assert!(matches!(bad.poll(), Err(Error::Index { index: 7, .. })));
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_full_fault_ring_makes_the_submitter_wait_and_loses_nothing() {
    for config in [
        Config::auto(),
        Config {
            offset_alignment: 256,
            copy_granularity: 4,
            ..Config::auto()
        },
        Config {
            host_visible: true,
            ..Config::auto()
        },
    ] {
        let (engine, control) = engine(config);
        let lane = engine.lane();
        let a = lane.upload(&line(3, 10.0)).unwrap();
        let picked: Vec<_> = (0..300)
            .map(|n| select(&lane, &a, &[if n % 7 == 0 { n } else { 1 }]).unwrap())
            .collect();
        for (n, storage) in (0..).zip(&picked) {
            match floats(&lane, storage) {
                Ok(values) => {
                    assert!(n % 7 != 0 || n < 3, "{n}");
                    assert_eq!(values, [10.0]);
                }
                Err(Error::Index { index, size: 3, .. }) => {
                    assert!(n % 7 == 0 && n >= 3 && index == n, "{n}: {index}");
                }
                Err(other) => panic!("{n}: {other}"),
            }
        }
        assert_eq!(control.violations(), Vec::<String>::new());
    }
}

#[test]
fn a_bad_index_on_one_lane_reaches_its_users_on_another() {
    let (engine, control) = engine(Config::auto());
    let (one, two) = (engine.lane(), engine.new_lane().unwrap());
    let a = one.upload(&line(3, 10.0)).unwrap();
    let bad = select(&one, &a, &[9]).unwrap();
    let used = add_scalar(&two, &bad, 1.0).unwrap();
    drop(bad);
    assert!(matches!(used.wait(), Err(Error::Index { index: 9, .. })));
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn without_indexing_nothing_is_read_back_or_charged_for_it() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let a = lane.upload(&line(3, 10.0)).unwrap();
    let before = control.calls();
    let _ = floats(&lane, &a).unwrap();
    let after = control.calls();
    assert_eq!(after.copy_out - before.copy_out, 1);
    assert_eq!(after.execute, before.execute);
}
