//! The engine's small concurrent parts under a scheduler that decides who runs next.
//!
//! Runs only with `RUSTFLAGS="--cfg gpu_seam_shuttle"`, which puts shuttle's locks, atomics and
//! threads in the place of the standard library's inside gpu-dispatch. Each test runs under many
//! random schedules; a failing one prints the schedule, to be replayed.

#![cfg(gpu_seam_shuttle)]

use gpu_dispatch::Error;
use gpu_engine_tests::{add_scalar, engine_with, fill, floats, line, select};
use gpu_held::Config;
use shuttle::{check_random, thread};
use std::sync::Arc;

const SCHEDULES: usize = 1000;

/// A handle goes on one thread while another reads, and memory is reused at once: what is read is
/// never what was written later.
#[test]
fn reuse_never_overtakes_a_reader() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |_| {});
            let shared = fill(&engine.lane(), 64, 1.0).unwrap();
            let threads: Vec<_> = (0..2u8)
                .map(|number| {
                    let (engine, shared) = (engine.clone(), shared.clone());
                    thread::spawn(move || {
                        let lane = if number == 0 {
                            engine.lane()
                        } else {
                            engine.new_lane().unwrap()
                        };
                        let sum = add_scalar(&lane, &shared, f32::from(number)).unwrap();
                        drop(shared);
                        let other = fill(&lane, 64, 9.0).unwrap();
                        let expected = 1.0 + f32::from(number);
                        assert_eq!(floats(&lane, &sum).unwrap(), vec![expected; 64]);
                        assert_eq!(floats(&lane, &other).unwrap(), vec![9.0; 64]);
                    })
                })
                .collect();
            drop(shared);
            for thread in threads {
                thread.join().unwrap();
            }
            engine.close().unwrap();
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}

/// Two threads on one lane: counts are published after the enqueue, and no completion is taken for
/// one that comes later.
#[test]
fn one_lane_counts_for_two_threads() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |_| {});
            let engine = Arc::new(engine);
            let threads: Vec<_> = (0..2u8)
                .map(|number| {
                    let engine = Arc::clone(&engine);
                    thread::spawn(move || {
                        let lane = engine.lane();
                        let mut sum = fill(&lane, 4, f32::from(number)).unwrap();
                        for _ in 0..3 {
                            sum = add_scalar(&lane, &sum, 1.0).unwrap();
                        }
                        assert_eq!(
                            floats(&lane, &sum).unwrap(),
                            vec![3.0 + f32::from(number); 4]
                        );
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            engine.synchronize().unwrap();
            assert_eq!(engine.memory_report().pending, 0);
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}

/// More work than the budget holds, from three threads: all is admitted, all bytes come back.
#[test]
fn a_full_budget_serves_every_waiter() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |options| {
                options.pending_budget = Some(8192)
            });
            let threads: Vec<_> = (0..3u8)
                .map(|number| {
                    let lane = engine.lane();
                    thread::spawn(move || {
                        for _ in 0..2 {
                            let a = fill(&lane, 1024, f32::from(number)).unwrap();
                            drop(a);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            engine.synchronize().unwrap();
            let report = engine.memory_report();
            assert_eq!((report.pending, report.in_use), (0, 0));
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}

/// Closing while another thread submits: it is drained or refused, and nothing is left behind.
#[test]
fn a_close_meets_a_submission() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |_| {});
            let lane = engine.lane();
            let submitter = thread::spawn(move || {
                if let Ok(a) = fill(&lane, 64, 1.0) {
                    let _ = floats(&lane, &a);
                }
            });
            engine.close().unwrap();
            submitter.join().unwrap();
            drop(engine);
            let ledger = control.ledger();
            assert_eq!((ledger.allocations, ledger.streams), (0, 0), "{ledger:?}");
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}

/// Closing while another thread transfers: each transfer is whole or refused, and nothing is left.
#[test]
fn a_close_meets_transfers() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |options| {
                options.staging_chunk = Some(256);
                options.staging_chunks = Some(2);
            });
            let lane = engine.lane();
            let transferrer = thread::spawn(move || {
                if let Ok(a) = lane.upload(&line(160, 2.0))
                    && let Ok(pending) = lane.download(&a, 0, vec![0f32; 160])
                    && let Ok(values) = pending.wait()
                {
                    assert_eq!(values, vec![2.0; 160]);
                }
            });
            engine.close().unwrap();
            transferrer.join().unwrap();
            drop(engine);
            let ledger = control.ledger();
            assert_eq!((ledger.allocations, ledger.streams), (0, 0), "{ledger:?}");
            assert_eq!(ledger.stagings, 0, "{ledger:?}");
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}

/// Two threads look up on one lane, one with a bad index: each gets its own answer.
#[test]
fn one_fault_ring_serves_two_threads() {
    check_random(
        || {
            let (engine, control) = engine_with(Config::auto(), |_| {});
            let table = engine.lane().upload(&line(4, 3.0)).unwrap();
            let threads: Vec<_> = [1, 9]
                .into_iter()
                .map(|index| {
                    let (lane, table) = (engine.lane(), table.clone());
                    thread::spawn(move || {
                        for _ in 0..2 {
                            let picked = select(&lane, &table, &[index]).unwrap();
                            match floats(&lane, &picked) {
                                Ok(values) => assert_eq!((values, index), (vec![3.0], 1)),
                                Err(Error::Index { index: bad, .. }) => {
                                    assert_eq!((bad, index), (9, 9));
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            engine.close().unwrap();
            assert_eq!(control.violations(), Vec::<String>::new());
        },
        SCHEDULES,
    );
}
