//! Streams, events, and what orders what.

use crate::{block, broken, download, fill, increment, lazy, pinned};
use gpu_sim::device::{Config, Machine, Pace, Rule, What};

#[test]
fn nothing_runs_before_the_host_needs_it_and_then_only_what_it_needs() {
    let machine = lazy(1);
    let (a, b) = (block(&machine, 16), block(&machine, 16));
    let (one, two) = (
        machine.create_stream(0).unwrap(),
        machine.create_stream(0).unwrap(),
    );
    let event = machine.create_event(0).unwrap();
    machine.launch(one, fill(a, 3)).unwrap();
    machine.record(one, event).unwrap();
    machine.launch(one, fill(a, 4)).unwrap();
    machine.launch(two, fill(b, 5)).unwrap();
    assert_eq!(machine.counts().kernels, 0);
    while !machine.query(event).unwrap() {}
    assert_eq!(machine.counts().kernels, 1);
    assert_eq!(download(&machine, one, a), [4; 16]);
    assert_eq!(machine.counts().kernels, 2);
    assert!(broken(&machine).is_empty());
}

#[test]
fn a_wait_orders_two_streams_and_a_missing_one_is_found_whatever_the_schedule() {
    for (waits, seed) in (0..20).flat_map(|seed| [(true, seed), (false, seed)]) {
        let machine = Machine::new(seed, Config::default(), "none".parse().unwrap());
        let (a, b) = (block(&machine, 16), block(&machine, 16));
        let (one, two) = (
            machine.create_stream(0).unwrap(),
            machine.create_stream(0).unwrap(),
        );
        let event = machine.create_event(0).unwrap();
        machine.launch(one, fill(a, 3)).unwrap();
        machine.record(one, event).unwrap();
        if waits {
            machine.wait(two, event).unwrap();
        }
        machine.launch(two, increment(a, b)).unwrap();
        let bytes = download(&machine, two, b);
        if waits {
            assert_eq!((bytes, broken(&machine)), (vec![4; 16], vec![]));
        } else {
            assert!(broken(&machine).contains(&Rule::Order), "seed {seed}");
        }
    }
}

#[test]
fn a_wait_of_the_host_orders_what_is_enqueued_later() {
    let machine = lazy(1);
    let (a, b) = (block(&machine, 16), block(&machine, 16));
    let (one, two) = (
        machine.create_stream(0).unwrap(),
        machine.create_stream(0).unwrap(),
    );
    let event = machine.create_event(0).unwrap();
    machine.launch(one, fill(a, 3)).unwrap();
    machine.record(one, event).unwrap();
    machine.synchronize_event(event).unwrap();
    machine.launch(two, increment(a, b)).unwrap();
    assert_eq!(download(&machine, two, b), [4; 16]);
    assert!(broken(&machine).is_empty());
}

#[test]
fn g4_124_a_recorded_again_event_covers_its_last_record_and_old_waits_keep_theirs() {
    let machine = lazy(1);
    let (a, b) = (block(&machine, 16), block(&machine, 16));
    let [one, two, three] = [(); 3].map(|()| machine.create_stream(0).unwrap());
    let event = machine.create_event(0).unwrap();
    assert!(machine.query(event).unwrap(), "never recorded is complete");
    machine.launch(one, fill(a, 3)).unwrap();
    machine.record(one, event).unwrap();
    machine.wait(three, event).unwrap();
    machine.launch(two, fill(b, 5)).unwrap();
    machine.record(two, event).unwrap();
    // The wait on `three` stands for the first record; the event now stands for the second.
    machine.synchronize_event(event).unwrap();
    assert_eq!(machine.counts().kernels, 1);
    let c = block(&machine, 16);
    machine.launch(three, increment(a, c)).unwrap();
    assert_eq!(download(&machine, three, c), [4; 16]);
    assert!(broken(&machine).is_empty());
    machine.launch(two, fill(a, 9)).unwrap();
    assert_eq!(
        broken(&machine),
        [] as [Rule; 0],
        "the host waited for `three`"
    );
}

#[test]
fn destroyed_streams_and_events_finish_their_work_and_are_not_named_again() {
    let machine = lazy(1);
    let a = block(&machine, 16);
    let (one, two) = (
        machine.create_stream(0).unwrap(),
        machine.create_stream(0).unwrap(),
    );
    let event = machine.create_event(0).unwrap();
    machine.launch(one, fill(a, 3)).unwrap();
    machine.record(one, event).unwrap();
    machine.wait(two, event).unwrap();
    machine.destroy_event(event).unwrap();
    machine.destroy_stream(one).unwrap();
    assert_eq!(download(&machine, two, a), [3; 16]);
    assert!(broken(&machine).is_empty());
    machine.query(event).unwrap_err();
    machine.launch(one, fill(a, 3)).unwrap_err();
    assert_eq!(broken(&machine), [Rule::Handle, Rule::Handle]);
}

#[test]
fn streams_overtake_each_other_by_the_seed_and_never_themselves() {
    let order = |seed| {
        let machine = Machine::new(seed, Config::default(), "none".parse().unwrap());
        let streams = [(); 3].map(|()| machine.create_stream(0).unwrap());
        for _ in 0..4 {
            for stream in streams {
                machine.launch(stream, fill(block(&machine, 8), 1)).unwrap();
            }
        }
        for stream in streams {
            machine.synchronize(stream).unwrap();
        }
        let ran: Vec<(usize, u64)> = machine
            .history()
            .iter()
            .filter_map(|entry| match entry.what {
                What::Ran { seq, .. } => Some((entry.stream.unwrap(), seq)),
                _ => None,
            })
            .collect();
        assert_eq!(ran.len(), 12);
        for stream in 0..3 {
            let own: Vec<u64> = ran
                .iter()
                .filter(|it| it.0 == stream)
                .map(|it| it.1)
                .collect();
            assert_eq!(own, [1, 2, 3, 4]);
        }
        (ran, machine.digest())
    };
    let distinct: std::collections::BTreeSet<_> = (0..30).map(order).collect();
    assert!(distinct.len() > 15, "{}", distinct.len());
    assert_eq!(order(7), order(7), "same seed, same history");
}

#[test]
fn the_pace_answers_not_yet_and_never_for_good() {
    for seed in 0..40 {
        let pace = Pace {
            idle: 0,
            patience: 9,
            along: 0,
        };
        let config = Config {
            pace: Some(pace),
            ..Config::default()
        };
        let machine = Machine::new(seed, config, "late~4".parse().unwrap());
        let stream = machine.create_stream(0).unwrap();
        let event = machine.create_event(0).unwrap();
        machine.launch(stream, fill(block(&machine, 8), 1)).unwrap();
        machine.record(stream, event).unwrap();
        let looks = (1..).find(|_| machine.query(event).unwrap()).unwrap();
        assert!(looks <= 14, "{looks}");
        assert!(machine.query(event).unwrap(), "complete stays complete");
    }
}

#[test]
fn synchronize_makes_late_events_complete() {
    let machine = crate::with_plan(3, "late~50");
    let stream = machine.create_stream(0).unwrap();
    let event = machine.create_event(0).unwrap();
    machine.launch(stream, fill(block(&machine, 8), 1)).unwrap();
    machine.record(stream, event).unwrap();
    machine.synchronize(stream).unwrap();
    assert!(machine.query(event).unwrap());
}

#[test]
fn notices_come_in_order_unless_the_plan_says_otherwise() {
    let run = |plan: &str| {
        let machine = crate::with_plan(5, plan);
        let stream = machine.create_stream(0).unwrap();
        for cookie in 0..8 {
            machine.notify(stream, cookie).unwrap();
        }
        assert!(machine.take_notices().is_empty());
        machine.synchronize(stream).unwrap();
        let mut all = Vec::new();
        for _ in 0..20 {
            all.extend(machine.take_notices());
        }
        all
    };
    let in_order: Vec<u64> = (0..8).collect();
    assert_eq!(run("none"), in_order);
    assert_eq!(run("late~5"), in_order);
    let mixed = run("shuffle");
    assert_ne!(mixed, in_order);
    let mut sorted = mixed;
    sorted.sort_unstable();
    assert_eq!(sorted, in_order);
    let mut twice = run("twice");
    twice.sort_unstable();
    assert_eq!(twice, (0..16).map(|it| it / 2).collect::<Vec<_>>());
}

#[test]
fn g3_089_a_source_that_changes_in_flight_is_found() {
    let machine = lazy(1);
    let to = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    let from = pinned(&machine, &[1; 8]);
    machine.copy(stream, from, to.start, 8).unwrap();
    machine.host_write(from, &[2; 8]).unwrap();
    machine.synchronize(stream).unwrap();
    // Once as the host writes, once as the copy finds other bytes.
    assert_eq!(broken(&machine), [Rule::HostTouch, Rule::HostTouch]);
}

#[test]
fn a_destination_is_poison_until_its_copy_runs_and_reading_it_early_is_found() {
    let machine = lazy(1);
    let from = block(&machine, 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(from, 7)).unwrap();
    let to = pinned(&machine, &[1; 8]);
    machine.copy(stream, from.start, to, 8).unwrap();
    let mut bytes = [0; 8];
    machine.host_read(to, &mut bytes).unwrap();
    assert_eq!(bytes, [gpu_sim::device::POISON; 8]);
    assert_eq!(broken(&machine), [Rule::HostTouch, Rule::Unwritten]);
    machine.synchronize(stream).unwrap();
    machine.host_read(to, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 8]);
}
