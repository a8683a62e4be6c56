//! Many threads, many engines, handles that go in every order.

use gpu_dispatch::{Error, Face, Instant};
use gpu_engine_tests::{add, add_scalar, engine, engine_with, fill, floats, line, select};
use gpu_held::Config;
use std::time::Duration;

#[test]
fn eight_threads_on_one_engine() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.pending_budget = Some(256 << 10)
    });
    let shared = fill(&engine.lane(), 256, 1.0).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            let (engine, shared) = (&engine, &shared);
            scope.spawn(move || {
                // Half of them on the default lane, half on lanes of their own.
                let lane = if thread % 2 == 0 {
                    engine.lane()
                } else {
                    engine.new_lane().unwrap()
                };
                let own = f32::from(thread);
                for round in 0..20u8 {
                    let a = lane.upload(&line(256, own)).unwrap();
                    let mut sum = add(&lane, &a, shared).unwrap();
                    for _ in 0..round {
                        sum = add_scalar(&lane, &sum, 1.0).unwrap();
                    }
                    let pending = lane.download(&sum, 0, vec![0f32; 256]).unwrap();
                    if round % 3 == 0 {
                        drop(pending);
                    } else {
                        let expected = vec![own + 1.0 + f32::from(round); 256];
                        assert_eq!(pending.wait().unwrap(), expected);
                    }
                    if round % 5 == 0 {
                        engine.trim();
                    }
                }
            });
        }
    });
    engine.synchronize().unwrap();
    let report = engine.memory_report();
    assert_eq!((report.in_use, report.pending), (1024, 0));
    assert_eq!(control.violations(), Vec::<String>::new());
}

/// Each call is cut into 16 lookups, and together they want twice the fault slots of the lane: none
/// holds a part of what it needs while it waits, and no bad index is lost or blamed on another call.
#[test]
fn lookups_of_many_threads_share_one_lane() {
    let (engine, control) = engine(Config {
        max_operand_bytes: 64,
        ..Config::auto()
    });
    let table = engine.lane().upload(&line(16, 3.0)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8i32 {
            let (lane, table) = (engine.lane(), &table);
            scope.spawn(move || {
                for round in 0..12 {
                    let bad = (thread + round) % 3 == 0;
                    let mut index = [round; 256];
                    if bad {
                        index[200] = 100 + thread;
                    }
                    let picked = select(&lane, table, &index).unwrap();
                    match floats(&lane, &picked) {
                        Ok(values) => assert_eq!((values, bad), (vec![3.0; 256], false)),
                        Err(Error::Index { index, .. }) => {
                            assert_eq!((index, bad), (i64::from(100 + thread), true));
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    engine.synchronize().unwrap();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn engines_are_created_and_dropped_concurrently() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let (engine, control) = engine(Config::auto());
                    let lane = engine.lane();
                    let a = fill(&lane, 64, 2.0).unwrap();
                    assert_eq!(floats(&lane, &a).unwrap(), vec![2.0; 64]);
                    drop(engine);
                    drop(a);
                    drop(lane);
                    let ledger = control.ledger();
                    assert_eq!((ledger.allocations, ledger.streams), (0, 0), "{ledger:?}");
                    assert_eq!(control.violations(), Vec::<String>::new());
                }
            });
        }
    });
}

/// What a program holds at its end.
type Things = Vec<Box<dyn std::any::Any>>;

#[test]
fn handles_may_go_in_every_order() {
    const COUNT: usize = 5;
    let mut order: Vec<usize> = (0..COUNT).collect();
    let mut orders = Vec::new();
    permutations(&mut order, 0, &mut orders);
    assert_eq!(orders.len(), 120);
    for order in orders {
        let (engine, control) = engine(Config::auto());
        let lane = engine.new_lane().unwrap();
        let a = fill(&lane, 64, 2.0).unwrap();
        let face = a.clone().erase();
        let pending = lane.download(&a, 0, vec![0f32; 64]).unwrap();
        let things: Things = vec![
            Box::new(engine),
            Box::new(lane),
            Box::new(a),
            Box::new(face),
            Box::new(pending),
        ];
        let mut things: Vec<_> = things.into_iter().map(Some).collect();
        for &at in &order {
            drop(things[at].take());
        }
        let ledger = control.ledger();
        assert_eq!(
            (ledger.allocations, ledger.streams, ledger.events),
            (0, 0, 0),
            "{order:?}"
        );
        assert_eq!(control.violations(), Vec::<String>::new(), "{order:?}");
    }
}

fn permutations(order: &mut Vec<usize>, from: usize, all: &mut Vec<Vec<usize>>) {
    if from == order.len() {
        all.push(order.clone());
        return;
    }
    for at in from..order.len() {
        order.swap(from, at);
        permutations(order, from + 1, all);
        order.swap(from, at);
    }
}

#[test]
fn an_engine_closed_while_others_submit_ends_every_thread() {
    let (engine, control) = engine(Config::auto());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let lane = engine.lane();
            scope.spawn(move || {
                let limit = Instant::now() + Duration::from_secs(10);
                // Every refusal is typed; whatever was admitted is drained.
                while let Ok(a) = fill(&lane, 64, 2.0) {
                    if let Ok(values) = floats(&lane, &a) {
                        assert_eq!(values, vec![2.0; 64]);
                    }
                    assert!(Instant::now() < limit, "the engine never closed");
                }
            });
        }
        std::thread::sleep(Duration::from_millis(20));
        engine.close().unwrap();
    });
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_face_is_the_same_engine() {
    let (engine, _control) = engine(Config::auto());
    let lane = engine.lane();
    let face: &dyn Face = &lane;
    let other = face.with_lane().unwrap();
    assert_eq!(face.domain(), other.domain());
    let a = face.upload(&line(4, 1.0)).unwrap();
    let mut bytes = [0; 16];
    other.read(&a, 0, &mut bytes).unwrap();
    assert_eq!(bytes.to_vec(), line(4, 1.0));
    assert!(
        other
            .as_any()
            .is::<gpu_dispatch::Lane<gpu_engine_tests::Vendor>>()
    );
}
