//! The pending budget: bytes go with completion on the device, never with a handle.

use gpu_dispatch::{Admission, Error, Instant};
use gpu_engine_tests::{add_scalar, engine_with, fill, floats, line, rejecting};
use gpu_held::Config;
use gpu_seam::GpuError;
use std::sync::mpsc;
use std::time::Duration;

const KIB: usize = 1024;

#[test]
fn a_full_budget_rejects_with_the_bytes_it_needs() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(64 * KIB)
    });
    let lane = rejecting(&engine.lane());
    let a = fill(&lane, 8 * KIB, 1.0).unwrap();
    let b = fill(&lane, 8 * KIB, 1.0).unwrap();
    let refused = fill(&lane, KIB, 1.0).unwrap_err();
    let needs = GpuError::Backpressure { bytes: 4 * KIB };
    assert_eq!(refused.cause(), Some(&needs));
    // Dropping handles gives nothing back: the device still has the work.
    drop((a, b));
    assert_eq!(fill(&lane, KIB, 1.0).unwrap_err().cause(), Some(&needs));
    control.release_all();
    fill(&lane, KIB, 1.0).unwrap();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn small_work_is_bounded_by_the_floor() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(64 * KIB)
    });
    let lane = rejecting(&engine.lane());
    let mut admitted = 0;
    while fill(&lane, 1, 0.0).is_ok() {
        admitted += 1;
    }
    assert_eq!(admitted, 16, "64 KiB of budget, 4 KiB at least for each");
    control.release_all();
}

#[test]
fn what_exceeds_the_whole_budget_goes_alone() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(64 * KIB)
    });
    let lane = rejecting(&engine.lane());
    let small = fill(&lane, 1, 0.0).unwrap();
    assert!(fill(&lane, 64 * KIB, 1.0).is_err());
    control.release_all();
    let large = fill(&lane, 64 * KIB, 1.0).unwrap();
    assert!(fill(&lane, 1, 0.0).is_err());
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&lane, &large).unwrap().len(), 64 * KIB);
    drop(small);
}

#[test]
fn a_waiter_goes_on_when_the_device_does() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(8 * KIB)
    });
    let lane = engine.lane();
    let _a = fill(&lane, 2 * KIB, 1.0).unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let lane = engine.lane();
        scope.spawn(move || sender.send(fill(&lane, 2 * KIB, 2.0).is_ok()).unwrap());
        assert!(
            receiver.recv_timeout(Duration::from_millis(30)).is_err(),
            "it must wait"
        );
        control.release_all();
        // The waiter recorded its own event: releasing once more lets that complete, too.
        let limit = Instant::now() + Duration::from_secs(10);
        let admitted = loop {
            control.release_all();
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok(admitted) => break admitted,
                Err(_) => assert!(Instant::now() < limit, "the waiter was never served"),
            }
        };
        assert!(admitted);
    });
    control.release_all();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn waiters_are_served_in_the_order_they_came() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(8 * KIB)
    });
    let lane = engine.lane();
    let _a = fill(&lane, 2 * KIB, 1.0).unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        // Each needs the whole budget, so that they are admitted one by one.
        for number in 0..4 {
            let (lane, sender) = (engine.lane(), sender.clone());
            scope.spawn(move || {
                let result = fill(&lane, 2 * KIB, 0.0);
                sender.send((number, result.is_ok())).unwrap();
            });
            // The next comes only when this one stands in the queue.
            std::thread::sleep(Duration::from_millis(30));
        }
        let mut served = Vec::new();
        let limit = Instant::now() + Duration::from_secs(10);
        while served.len() < 4 {
            control.release_all();
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok((number, ok)) => {
                    assert!(ok);
                    served.push(number);
                }
                Err(_) => assert!(Instant::now() < limit, "served: {served:?}"),
            }
        }
        assert_eq!(served, [0, 1, 2, 3]);
    });
    control.release_all();
}

#[test]
fn a_deadline_ends_the_wait_and_takes_nothing() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(8 * KIB)
    });
    let lane = engine.lane();
    let _a = fill(&lane, 2 * KIB, 1.0).unwrap();
    let deadline = Instant::now() + Duration::from_millis(20);
    let hasty = lane.with_admission(Admission::WaitUntil(deadline));
    assert_eq!(
        fill(&hasty, 2 * KIB, 1.0).unwrap_err(),
        Error::Deadline { op: "fill" }
    );
    control.release_all();
    fill(&lane, 2 * KIB, 1.0).unwrap();
    control.release_all();
}

#[test]
fn one_event_for_each_quarter_of_the_budget() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.pending_budget = Some(1024 * KIB)
    });
    let lane = engine.lane();
    let mut a = fill(&lane, 1, 1.0).unwrap();
    let before = control.calls();
    for _ in 0..1024 {
        a = add_scalar(&lane, &a, 1.0).unwrap();
    }
    // 1,024 times 4 KiB are four budgets: sixteen quarters.
    let records = control.calls().record - before.record;
    assert!((15..=17).contains(&records), "{records}");
    assert_eq!(floats(&lane, &a).unwrap(), [1025.0]);
}

#[test]
fn a_refused_operation_gives_its_bytes_back() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.pending_budget = Some(8 * KIB)
    });
    let lane = rejecting(&engine.lane());
    for _ in 0..10 {
        control.refuse(
            gpu_held::Call::Execute,
            0,
            GpuError::unsupported("fill", "on purpose"),
        );
        assert!(fill(&lane, 2 * KIB, 1.0).is_err());
    }
    assert_eq!(engine.memory_report().pending, 0);
    for _ in 0..10 {
        control.refuse(
            gpu_held::Call::CopyIn,
            0,
            GpuError::unsupported("copy", "on purpose"),
        );
        assert!(lane.upload(&line(16, 1.0)).is_err());
    }
    assert_eq!(engine.memory_report().pending, 0);
    fill(&lane, 2 * KIB, 1.0).unwrap();
    control.release_all();
}
