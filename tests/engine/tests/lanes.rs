//! Order: on one lane free, between lanes by a device-side wait, never by a host wait.

use gpu_engine_tests::{add, add_scalar, engine, fill, floats, line};
use gpu_held::Config;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn one_vendor_call_an_operation_on_one_lane() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let mut sum = fill(&lane, 16, 1.0).unwrap();
    let before = control.calls();
    for _ in 0..100 {
        sum = add(&lane, &sum, &sum).unwrap();
    }
    let after = control.calls();
    assert_eq!(after.execute - before.execute, 100);
    assert_eq!(after.record, before.record);
    assert_eq!(after.wait, before.wait);
    assert_eq!(after.poll, before.poll);
    assert_eq!(after.allocate, before.allocate);
    assert_eq!(after.synchronize, before.synchronize);
    control.release_all();
}

#[test]
fn another_lane_waits_on_the_device_with_one_event_for_all_it_covers() {
    let (engine, control) = engine(Config::default());
    let (one, two) = (engine.lane(), engine.new_lane().unwrap());
    let a = fill(&one, 16, 1.0).unwrap();
    let b = fill(&one, 16, 2.0).unwrap();
    let before = control.calls();
    let sum = add(&two, &a, &b).unwrap();
    let again = add(&two, &b, &a).unwrap();
    let after = control.calls();
    assert_eq!(
        after.record - before.record,
        1,
        "one event covers both producers"
    );
    assert!(after.wait - before.wait >= 1);
    assert_eq!(
        after.synchronize, before.synchronize,
        "the host waits for nothing"
    );
    // The consumer may not run before the producer.
    assert_eq!(control.release(1), 0, "{:?}", control.queued(1));
    control.release(0);
    control.release(1);
    control.set_auto(true);
    assert_eq!(floats(&two, &sum).unwrap(), vec![3.0; 16]);
    assert_eq!(floats(&one, &again).unwrap(), vec![3.0; 16]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g5_151_a_block_read_on_another_lane_is_not_reused_before_that() {
    let (engine, control) = engine(Config::default());
    let (one, two) = (engine.lane(), engine.new_lane().unwrap());
    let a = one.upload(&line(4096, 3.0)).unwrap();
    let slow = add_scalar(&two, &a, 1.0).unwrap();
    drop(a);
    let b = one.upload(&line(4096, 9.0)).unwrap();
    // As unkind as the recorded waits permit: everything of the first lane first.
    control.release(0);
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&two, &slow).unwrap(), vec![4.0; 4096]);
    assert_eq!(floats(&one, &b).unwrap(), vec![9.0; 4096]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_write_comes_after_readers_on_other_lanes() {
    let (engine, control) = engine(Config::default());
    let (one, two) = (engine.lane(), engine.new_lane().unwrap());
    let mut a = one.upload(&line(4096, 3.0)).unwrap();
    let reader = add_scalar(&two, &a, 1.0).unwrap();
    one.write(&mut a, 0, &line(4096, 9.0)).unwrap();
    control.release(0);
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&two, &reader).unwrap(), vec![4.0; 4096]);
    assert_eq!(floats(&one, &a).unwrap(), vec![9.0; 4096]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_write_on_another_lane_is_seen_at_home() {
    let (engine, control) = engine(Config::default());
    let (one, two) = (engine.lane(), engine.new_lane().unwrap());
    let mut a = one.upload(&line(4096, 3.0)).unwrap();
    two.write(&mut a, 4 * 2048, &line(2048, 9.0)).unwrap();
    let sum = add_scalar(&one, &a, 1.0).unwrap();
    assert_eq!(control.release(1), 0, "the write waits for the upload");
    control.release_all();
    control.set_auto(true);
    let sum = floats(&one, &sum).unwrap();
    assert_eq!(
        (sum[0], sum[2047], sum[2048], sum[4095]),
        (4.0, 4.0, 10.0, 10.0)
    );
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn copy_on_write_leaves_other_handles_as_they_were() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let mut a = lane.upload(&line(64, 3.0)).unwrap();
    let lease = a.clone();
    lane.write(&mut a, 8, &line(1, 9.0)).unwrap();
    assert_eq!(floats(&lane, &lease).unwrap(), vec![3.0; 64]);
    let written = floats(&lane, &a).unwrap();
    assert_eq!((written[1], written[2], written[3]), (3.0, 9.0, 3.0));
    let before = control.calls();
    lane.write(&mut a, 0, &line(1, 8.0)).unwrap();
    assert_eq!(
        control.calls().copy_device,
        before.copy_device,
        "the only handle writes in place"
    );
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn what_is_still_inside_execute_is_covered_by_no_event() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let a = lane.upload(&line(16, 1.0)).unwrap();
    control.pause(gpu_held::Call::Execute, 0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let (lane, a, sender) = (lane.clone(), a.clone(), sender);
        scope.spawn(move || sender.send(add_scalar(&lane, &a, 1.0)).unwrap());
        assert!(control.await_paused(1));
        // Nothing of the engine is locked meanwhile: another submission goes through, completes,
        // and says nothing of the one inside the vendor.
        let b = fill(&engine.lane(), 16, 5.0).unwrap();
        assert!(!b.poll().unwrap());
        control.release_all();
        assert!(b.poll().unwrap());
        assert!(receiver.try_recv().is_err());
        engine.trim();
        control.resume();
    });
    let sum = receiver
        .recv_timeout(Duration::from_secs(10))
        .unwrap()
        .unwrap();
    assert!(!sum.poll().unwrap());
    control.release_all();
    assert!(sum.poll().unwrap());
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g4_127_lanes_come_and_go_and_leave_nothing() {
    let (engine, control) = engine(Config::auto());
    for _ in 0..200 {
        let lane = engine.new_lane().unwrap();
        let a = fill(&lane, 1 << 18, 1.0).unwrap();
        a.wait().unwrap();
    }
    engine.trim();
    let lane = engine.new_lane().unwrap();
    let ledger = control.ledger();
    assert!(ledger.streams <= 4, "{ledger:?}");
    assert!(ledger.bytes <= 4 << 20, "{ledger:?}");
    drop(lane);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_lane_that_is_gone_leaves_its_results() {
    let (engine, control) = engine(Config::default());
    let lane = engine.new_lane().unwrap();
    let a = fill(&lane, 16, 1.0).unwrap();
    drop(lane);
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&engine.lane(), &a).unwrap(), vec![1.0; 16]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_storage_of_another_engine_is_foreign() {
    let (one, control) = engine(Config::auto());
    let (two, _other) = engine(Config::auto());
    let mut a = fill(&one.lane(), 16, 1.0).unwrap();
    let lane = two.lane();
    let foreign = |error: gpu_dispatch::Error| {
        assert_eq!(
            error.cause(),
            Some(&gpu_seam::GpuError::ForeignDomain),
            "{error}"
        );
    };
    let before = control.calls();
    foreign(add(&lane, &a, &a).unwrap_err());
    foreign(lane.read(&a, 0, &mut [0; 4]).unwrap_err());
    foreign(lane.write(&mut a, 0, &[0; 4]).unwrap_err());
    foreign(lane.ready(&a).unwrap_err());
    foreign(lane.download(&a, 0, vec![0u8; 4]).unwrap_err().cause);
    assert_eq!(control.calls(), before, "refused before any call");
}
