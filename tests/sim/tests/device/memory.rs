//! Memory: bounds, lifetimes, unwritten bytes, budgets and peers.

use crate::{block, broken, download, fill, increment, lazy, pinned};
use gpu_sim::device::{
    Access, Config, FaultPlan, Kernel, Machine, Pace, PeerRoute, Rule, Span, Status,
};

#[test]
fn freeing_twice_or_what_was_never_allocated_is_found() {
    let machine = lazy(1);
    let a = block(&machine, 64);
    machine.free(0, a.start).unwrap();
    assert_eq!(
        machine.free(0, a.start).unwrap_err().status,
        Status::InvalidValue
    );
    assert!(machine.free(0, a.start.plus(8)).is_err());
    assert!(machine.free_pinned(0, a.start).is_err());
    let rules = [Rule::DoubleFree, Rule::Bounds, Rule::DoubleFree];
    assert_eq!(broken(&machine), rules);
}

#[test]
fn memory_is_freed_only_once_the_host_knows_that_its_work_is_over() {
    // The work has run (it is eager), and the host has not looked: still an offence.
    let eager = Pace {
        idle: 256,
        patience: 0,
        along: 0,
    };
    for (pace, known) in [(eager, false), (Pace::LAZY, false), (Pace::LAZY, true)] {
        let config = Config {
            pace: Some(pace),
            ..Config::default()
        };
        let machine = Machine::new(1, config, FaultPlan::default());
        let a = block(&machine, 64);
        let stream = machine.create_stream(0).unwrap();
        machine.launch(stream, fill(a, 1)).unwrap();
        if known {
            machine.synchronize(stream).unwrap();
        }
        machine.free(0, a.start).unwrap();
        let expected = if known {
            vec![]
        } else {
            vec![Rule::FreedInUse]
        };
        assert_eq!(broken(&machine), expected);
    }
}

#[test]
fn work_that_runs_after_its_memory_was_freed_touches_nothing_that_lives() {
    let machine = lazy(1);
    let a = block(&machine, 64);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    machine.free(0, a.start).unwrap();
    // Whoever gets the addresses next keeps its bytes.
    let blocks: Vec<Span> = (0..32).map(|_| block(&machine, 64)).collect();
    assert!(blocks.contains(&a), "addresses come again");
    machine.synchronize(stream).unwrap();
    assert_eq!(broken(&machine), [Rule::FreedInUse, Rule::Bounds]);
    let event = machine.create_event(0).unwrap();
    machine.record(stream, event).unwrap();
    machine.synchronize_event(event).unwrap();
    for block in blocks {
        let bytes = download(&machine, stream, block);
        assert_eq!(bytes, [gpu_sim::device::FRESH; 64]);
    }
}

#[test]
fn accesses_beyond_an_allocation_are_refused_or_fault() {
    let machine = lazy(1);
    let a = block(&machine, 64);
    let stream = machine.create_stream(0).unwrap();
    let from = pinned(&machine, &[1; 65]);
    let refused = machine.copy(stream, from, a.start, 65).unwrap_err();
    assert_eq!(refused.status, Status::InvalidValue);
    assert_eq!(broken(&machine), [Rule::Bounds]);
    machine.synchronize(stream).unwrap();
    machine
        .launch(stream, fill(Span::new(a.start, 65), 1))
        .unwrap();
    let fault = machine.synchronize(stream).unwrap_err();
    assert_eq!(fault.status, Status::IllegalAddress);
    assert_eq!(machine.create_event(0).unwrap_err(), fault, "sticky");
    machine.reset(0);
    machine.create_event(0).unwrap();
}

#[test]
fn a_kernel_touches_what_it_declared() {
    let machine = lazy(1);
    let (a, b) = (block(&machine, 8), block(&machine, 8));
    let stream = machine.create_stream(0).unwrap();
    let kernel = Kernel {
        name: "liar",
        accesses: vec![Access::read(a)],
        body: Box::new(move |launch| launch.write(b, &[1])),
    };
    machine.launch(stream, kernel).unwrap();
    assert!(machine.synchronize(stream).is_err());
    assert_eq!(broken(&machine), [Rule::Declared]);
}

#[test]
fn computing_with_unwritten_bytes_is_found_and_copying_them_is_not() {
    let machine = lazy(1);
    let (a, b) = (block(&machine, 8), block(&machine, 8));
    let stream = machine.create_stream(0).unwrap();
    machine.copy(stream, a.start, b.start, 8).unwrap();
    machine
        .launch(stream, fill(Span::new(b.start, 4), 1))
        .unwrap();
    let half = Span::new(b.start, 4);
    let c = block(&machine, 4);
    machine.launch(stream, increment(half, c)).unwrap();
    assert_eq!(download(&machine, stream, c), [2; 4]);
    assert!(broken(&machine).is_empty());
    let d = block(&machine, 5);
    machine
        .launch(stream, increment(Span::new(b.start, 5), d))
        .unwrap();
    machine.synchronize(stream).unwrap();
    assert_eq!(broken(&machine), [Rule::Unwritten]);
}

#[test]
fn overlapping_copies_are_found() {
    let machine = lazy(1);
    let a = block(&machine, 16);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 1)).unwrap();
    machine.copy(stream, a.start, a.start.plus(8), 8).unwrap();
    assert!(broken(&machine).is_empty());
    machine.copy(stream, a.start, a.start.plus(7), 8).unwrap();
    assert_eq!(broken(&machine), [Rule::Overlap]);
}

#[test]
fn the_budget_is_exact_and_a_planned_limit_is_below_it() {
    for (plan, limit) in [("none", 1000), ("limit=300", 300), ("limit=5000", 1000)] {
        let config = Config {
            devices: vec![1000],
            ..Config::default()
        };
        let machine = Machine::new(1, config, plan.parse().unwrap());
        let a = machine.allocate(0, limit).unwrap();
        let refused = machine.allocate(0, 1).unwrap_err();
        assert_eq!(refused.status, Status::OutOfMemory);
        assert_eq!(machine.memory(0).unwrap().available, 0);
        machine.free(0, a).unwrap();
        assert_eq!(machine.memory(0).unwrap().available, limit);
        assert_eq!(machine.memory(0).unwrap().total, 1000);
        assert!(machine.allocate(0, 0).is_err());
    }
}

#[test]
fn leaks_are_counted() {
    let machine = lazy(1);
    let a = block(&machine, 64);
    let _kept = block(&machine, 32);
    pinned(&machine, &[0; 8]);
    machine.create_stream(0).unwrap();
    machine.free(0, a.start).unwrap();
    let census = machine.census();
    assert_eq!((census.allocations, census.bytes), (1, 32));
    assert_eq!((census.pinned, census.pinned_bytes), (1, 8));
    assert_eq!((census.streams, census.events), (1, 0));
}

fn two_devices(route: PeerRoute) -> Machine {
    let config = Config {
        devices: vec![4096, 4096],
        route,
        pace: Some(Pace::LAZY),
        ..Config::default()
    };
    Machine::new(1, config, FaultPlan::default())
}

#[test]
fn g4_131_peer_memory_needs_access_enabled_from_the_right_side() {
    let machine = two_devices(PeerRoute::None);
    assert!(!machine.can_access_peer(0, 1));
    assert_eq!(
        machine.enable_peer(0, 1).unwrap_err().status,
        Status::NotSupported
    );
    let machine = two_devices(PeerRoute::Works);
    let a = block(&machine, 8);
    let b = Span::new(machine.allocate(1, 8).unwrap(), 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 4)).unwrap();
    machine.enable_peer(1, 0).unwrap();
    machine.copy(stream, a.start, b.start, 8).unwrap_err();
    assert_eq!(broken(&machine), [Rule::Peer]);
    machine.enable_peer(0, 1).unwrap();
    machine.copy(stream, a.start, b.start, 8).unwrap();
    machine.synchronize(stream).unwrap();
    let there = machine.create_stream(1).unwrap();
    assert_eq!(download(&machine, there, b), [4; 8]);
}

#[test]
fn g4_130_a_bad_route_reports_success_and_delivers_wrong_bytes() {
    let machine = two_devices(PeerRoute::Corrupts);
    let a = block(&machine, 8);
    let b = Span::new(machine.allocate(1, 8).unwrap(), 8);
    let stream = machine.create_stream(0).unwrap();
    machine.launch(stream, fill(a, 4)).unwrap();
    machine.enable_peer(0, 1).unwrap();
    machine.copy(stream, a.start, b.start, 8).unwrap();
    machine.synchronize(stream).unwrap();
    let there = machine.create_stream(1).unwrap();
    assert_ne!(download(&machine, there, b), [4; 8]);
    assert!(broken(&machine).is_empty());
}
