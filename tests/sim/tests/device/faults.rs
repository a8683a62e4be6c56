//! Planned faults come to pass as named, and once.

use crate::{block, broken, download, fill, increment, pinned, with_plan};
use gpu_sim::device::{Rule, Span, Status};

#[test]
fn the_nth_call_of_a_function_answers_the_status_and_does_nothing() {
    let machine = with_plan(
        1,
        "launch#2=not-permitted,free#1=unknown,create-event#1=invalid-value",
    );
    let a = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    let refused = machine.launch(stream, fill(a, 2)).unwrap_err();
    assert_eq!(refused.status, Status::NotPermitted);
    assert!(refused.to_string().contains("launch#2=not-permitted"));
    assert_eq!(download(&machine, stream, a), [1; 8]);
    machine.launch(stream, fill(a, 3)).unwrap();
    machine.create_event(0).unwrap_err();
    machine.create_event(0).unwrap();
    machine.synchronize(stream).unwrap();
    machine.free(0, a.start).unwrap_err();
    assert_eq!(
        machine.census().allocations,
        1,
        "a refused free frees nothing"
    );
    machine.free(0, a.start).unwrap();
    let fired: Vec<String> = machine.fired().into_iter().map(|it| it.fault).collect();
    let planned = [
        "launch#2=not-permitted",
        "create-event#1=invalid-value",
        "free#1=unknown",
    ];
    assert_eq!(fired, planned);
    assert!(broken(&machine).is_empty());
}

#[test]
fn a_kernel_fault_is_seen_late_stays_and_leaves_poison() {
    let machine = with_plan(1, "kernel#2=launch-failed");
    let (a, b) = (block(&machine, 8), block(&machine, 8));
    let stream = machine.create_stream(0).unwrap();
    let event = machine.create_event(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    machine.launch(stream, increment(a, b)).unwrap();
    machine.record(stream, event).unwrap();
    machine.launch(stream, fill(a, 2)).unwrap();
    assert!(machine.fired().is_empty());
    let fault = machine.query(event).unwrap_err();
    assert_eq!(fault.status, Status::LaunchFailed);
    assert_eq!(
        machine.counts().kernels,
        2,
        "what is behind the fault never runs"
    );
    for refused in [
        machine.synchronize(stream),
        machine.launch(stream, fill(a, 3)),
        machine.free(0, a.start),
        machine.query(event).map(drop),
    ] {
        assert_eq!(refused.unwrap_err(), fault);
    }
    machine.reset(0);
    assert_eq!(machine.census().bytes, 0);
    let stream = machine.create_stream(0).unwrap();
    let a = block(&machine, 8);
    machine.launch(stream, fill(a, 5)).unwrap();
    assert_eq!(download(&machine, stream, a), [5; 8]);
    assert!(broken(&machine).is_empty());
}

#[test]
fn a_copy_fails_half_way() {
    let machine = with_plan(1, "half#1");
    let to = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    let from = pinned(&machine, &[9; 8]);
    machine.copy(stream, from, to.start, 8).unwrap();
    let fault = machine.synchronize(stream).unwrap_err();
    assert_eq!(fault.status, Status::EccUncorrectable);
    let mut bytes = [0; 8];
    machine.host_read(to.start, &mut bytes[..4]).unwrap();
    assert!(broken(&machine).is_empty());
    machine.host_read(to.start, &mut bytes).unwrap();
    assert_eq!(bytes[..4], [9; 4]);
    assert_eq!(bytes[4..], [gpu_sim::device::POISON; 4]);
    assert_eq!(broken(&machine), [Rule::Unwritten]);
}

#[test]
fn a_held_event_completes_when_released_or_after_its_looks() {
    for released in [true, false] {
        let machine = with_plan(1, "hold#2:30");
        let stream = machine.create_stream(0).unwrap();
        let (one, two) = (
            machine.create_event(0).unwrap(),
            machine.create_event(0).unwrap(),
        );
        machine.launch(stream, fill(block(&machine, 8), 1)).unwrap();
        machine.record(stream, one).unwrap();
        machine.record(stream, two).unwrap();
        machine.launch(stream, fill(block(&machine, 8), 1)).unwrap();
        assert!(machine.query(one).unwrap());
        for _ in 0..30 {
            assert!(!machine.query(two).unwrap());
            if released {
                machine.release_held();
                break;
            }
        }
        assert!(machine.query(two).unwrap());
        machine.synchronize(stream).unwrap();
    }
}

#[test]
fn a_host_wait_for_a_held_event_ends_at_the_step_limit() {
    let machine = with_plan(1, "hold#1:18446744073709551615");
    let stream = machine.create_stream(0).unwrap();
    let event = machine.create_event(0).unwrap();
    machine.record(stream, event).unwrap();
    machine.synchronize(stream).unwrap();
    let history = machine.history();
    assert!(
        history
            .iter()
            .any(|it| it.to_string().contains("step limit"))
    );
}

#[test]
fn allocations_fail_at_random_by_the_seed() {
    let fails = |seed| {
        let machine = with_plan(seed, "oom~4");
        (0..64)
            .filter(|_| {
                machine
                    .allocate(0, 8)
                    .is_err_and(|it| it.status == Status::OutOfMemory)
            })
            .count()
    };
    assert!((4..40).contains(&fails(1)), "{}", fails(1));
    assert_eq!(fails(2), fails(2));
}

#[test]
fn a_lost_device_stays_lost() {
    let machine = with_plan(1, "lost@4");
    let a = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    let lost = machine.synchronize(stream).unwrap_err();
    assert_eq!(lost.status, Status::DeviceLost);
    assert_eq!(machine.counts().kernels, 0);
    machine.reset(0);
    assert_eq!(machine.allocate(0, 8).unwrap_err(), lost);
}

#[test]
fn a_violation_tells_the_history_of_its_stream() {
    let machine = with_plan(1, "none");
    let a = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    machine
        .copy(stream, a.start, a.start.plus(4), 8)
        .unwrap_err();
    let [violation] = &machine.violations()[..] else {
        panic!("one violation")
    };
    let text = violation.to_string();
    assert!(
        text.contains("bounds") && text.contains("enqueued #1 fill"),
        "{text}"
    );
    let span = Span::new(a.start, 8).to_string();
    assert!(
        text.contains(&a.start.plus(4).to_string()) && span.ends_with("+8"),
        "{text}"
    );
}
