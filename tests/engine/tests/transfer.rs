//! Uploads, downloads and writes through staging: bounded, overlapped, exact.

use gpu_dispatch::{Face, Instant};
use gpu_engine_tests::{add_scalar, engine, engine_with, fill, floats, line};
use gpu_held::{Call, Config};
use gpu_seam::{GpuError, SeamError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const KIB: usize = 1024;

fn pattern(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

#[test]
fn a_gibibyte_holds_no_more_than_the_ring() {
    const BYTES: usize = 1 << 30;
    let config = Config {
        memory_bytes: 3 << 30,
        ..Config::auto()
    };
    let (engine, control) = engine(config);
    let lane = engine.lane();
    let mut bytes = vec![1u8; BYTES];
    bytes[BYTES - 1] = 7;
    let storage = lane.upload(&bytes).unwrap();
    let peak = control.ledger().peak_staging_bytes;
    assert!(peak <= 4 * (4 << 20), "{peak} bytes of staging");
    let mut last = [0; 2];
    lane.read(&storage, BYTES - 2, &mut last).unwrap();
    assert_eq!(last, [1, 7]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn an_upload_overlaps_its_copies_and_returns_with_the_last_enqueued() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    // Four chunks fill the ring, and nothing has run.
    let storage = lane.upload(&pattern(16 * KIB)).unwrap();
    let calls = control.calls();
    assert_eq!(
        (calls.copy_in, calls.record),
        (4, 4),
        "an event right behind every chunk"
    );
    assert_eq!(control.ledger().items_run, 0);
    // A fifth has to wait for the first.
    std::thread::scope(|scope| {
        let other = lane.clone();
        let upload = scope.spawn(move || other.upload(&pattern(4 * KIB)).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        assert!(!upload.is_finished());
        control.release_to_record(0);
        upload.join().unwrap();
    });
    control.release_all();
    control.set_auto(true);
    let mut bytes = vec![0; 16 * KIB];
    lane.read(&storage, 0, &mut bytes).unwrap();
    assert_eq!(bytes, pattern(16 * KIB));
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g3_088_the_bytes_of_an_upload_are_the_ones_at_the_call() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let mut bytes = line(64 * KIB, 1.0);
    let a = lane.upload(&bytes).unwrap();
    bytes.fill(0);
    drop(bytes);
    let b = lane.upload(&line(64 * KIB, 2.0)).unwrap();
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&lane, &a).unwrap(), vec![1.0; 64 * KIB]);
    assert_eq!(floats(&lane, &b).unwrap(), vec![2.0; 64 * KIB]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_source_is_held_until_its_last_chunk_is_enqueued() {
    let (engine, control) = engine_with(Config::default(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    let mut source = fill(&lane, 16 * KIB, 1.0).unwrap();
    // Sixteen chunks, of which the ring takes four.
    let pending = lane.download(&source, 0, vec![0f32; 16 * KIB]).unwrap();
    assert_eq!(control.calls().copy_out, 4);
    // A write on the same lane would overtake the rest: it goes to a copy instead.
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let limit = Instant::now() + Duration::from_secs(10);
            while Instant::now() < limit && !done.load(Ordering::Relaxed) {
                control.release_all();
                std::thread::yield_now();
            }
        });
        lane.write(&mut source, 0, &line(16 * KIB, 9.0)).unwrap();
        assert_eq!(pending.wait().unwrap(), vec![1.0; 16 * KIB]);
        done.store(true, Ordering::Relaxed);
    });
    control.set_auto(true);
    assert_eq!(floats(&lane, &source).unwrap(), vec![9.0; 16 * KIB]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn every_wait_moves_every_download_forward() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    let a = fill(&lane, 16 * KIB, 1.0).unwrap();
    let b = fill(&lane, 16 * KIB, 2.0).unwrap();
    // The first holds the whole ring and is not waited for; the second must not starve.
    let first = lane.download(&a, 0, vec![0f32; 16 * KIB]).unwrap();
    let second = lane.download(&b, 0, vec![0f32; 16 * KIB]).unwrap();
    assert_eq!(second.wait().unwrap(), vec![2.0; 16 * KIB]);
    assert_eq!(first.wait().unwrap(), vec![1.0; 16 * KIB]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g3_104_g3_106_odd_lengths_and_ranges_are_exact_at_any_granularity() {
    for granularity in [1, 4, 16] {
        let config = Config {
            copy_granularity: granularity,
            ..Config::auto()
        };
        let (engine, control) = engine_with(config, |options| options.staging_chunk = Some(64));
        let lane = engine.lane();
        for len in [1, 2, 3, 5, 7, 25, 63, 64, 65, 100, 257, 1000] {
            let mut bytes = pattern(len);
            let mut storage = lane.upload(&bytes).unwrap();
            assert_eq!(storage.len(), len);
            for at in [0, 1, 3, len / 2, len - 1]
                .into_iter()
                .filter(|&at| at < len)
            {
                for count in [0, 1, 2, 5, 70, len] {
                    let count = count.min(len - at);
                    let mut part = vec![0; count];
                    lane.read(&storage, at, &mut part).unwrap();
                    assert_eq!(
                        part,
                        bytes[at..at + count],
                        "{granularity}: {at}+{count} of {len}"
                    );
                    let pending = lane.download(&storage, at, vec![0u8; count]).unwrap();
                    assert_eq!(pending.wait().unwrap(), bytes[at..at + count]);
                    let new = vec![u8::try_from(count % 256).unwrap() ^ 0x5a; count];
                    lane.write(&mut storage, at, &new).unwrap();
                    bytes[at..at + count].copy_from_slice(&new);
                }
            }
            let mut whole = vec![0; len];
            lane.read(&storage, 0, &mut whole).unwrap();
            assert_eq!(whole, bytes, "neighbours keep their values");
        }
        assert_eq!(control.violations(), Vec::<String>::new());
    }
}

#[test]
fn g3_109_nothing_is_transferred_without_a_call() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let before = control.calls();
    let mut empty = lane.upload(&[]).unwrap();
    assert!(empty.is_empty());
    lane.read(&empty, 0, &mut []).unwrap();
    lane.write(&mut empty, 0, &[]).unwrap();
    assert_eq!(
        lane.download(&empty, 0, Vec::<u8>::new())
            .unwrap()
            .wait()
            .unwrap(),
        []
    );
    assert!(empty.poll().unwrap());
    drop((empty.clone(), empty));
    assert_eq!(lane.allocate(0).unwrap().len(), 0);
    assert_eq!(control.calls(), before);
}

#[test]
fn a_chunk_that_fails_fails_the_upload_and_nothing_else() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    let keep = lane.upload(&line(4 * KIB, 5.0)).unwrap();
    control.refuse(
        Call::CopyIn,
        2,
        GpuError::Unavailable {
            detail: "a cable".into(),
        },
    );
    let error = lane.upload(&pattern(16 * KIB)).unwrap_err();
    assert_eq!(error.kind(), Some(SeamError::Transfer));
    let text = "upload: staged transfer failed: GPU backend unavailable: a cable";
    assert_eq!(error.to_string(), text);
    assert_eq!(floats(&lane, &keep).unwrap(), vec![5.0; 4 * KIB]);
    engine.synchronize().unwrap();
    assert_eq!(engine.memory_report().pending, 0);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_write_that_fails_halfway_fails_the_storage() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    let mut storage = lane.upload(&line(4 * KIB, 5.0)).unwrap();
    control.refuse(
        Call::CopyIn,
        2,
        GpuError::Unavailable {
            detail: "a cable".into(),
        },
    );
    let error = lane.write(&mut storage, 0, &pattern(16 * KIB)).unwrap_err();
    assert_eq!(
        storage.wait().unwrap_err(),
        error,
        "half-written bytes are never published"
    );
    assert_eq!(add_scalar(&lane, &storage, 1.0).unwrap_err(), error);
    assert_eq!(lane.read(&storage, 0, &mut [0; 4]).unwrap_err(), error);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_write_that_never_starts_leaves_the_storage_as_it_was() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let mut storage = lane.upload(&line(64, 5.0)).unwrap();
    control.refuse(
        Call::CopyIn,
        0,
        GpuError::Unavailable {
            detail: "a cable".into(),
        },
    );
    assert!(lane.write(&mut storage, 0, &line(64, 6.0)).is_err());
    assert_eq!(floats(&lane, &storage).unwrap(), vec![5.0; 64]);
}

#[test]
fn a_ring_that_cannot_grow_goes_on_with_what_it_has() {
    let (engine, control) = engine_with(Config::auto(), |options| {
        options.staging_chunk = Some(4 * KIB)
    });
    let lane = engine.lane();
    let warm = lane.upload(&line(1, 1.0)).unwrap();
    control.refuse_always(
        Call::AllocStaging,
        GpuError::OutOfMemory {
            requested: 1,
            available: 0,
        },
    );
    let a = lane.upload(&pattern(64 * KIB)).unwrap();
    control.allow(Call::AllocStaging);
    let mut bytes = vec![0; 64 * KIB];
    lane.read(&a, 0, &mut bytes).unwrap();
    assert_eq!(bytes, pattern(64 * KIB));
    drop(warm);
}

#[test]
fn across_engines_a_copy_says_its_route() {
    let (one, control) = engine(Config::auto());
    let (two, other) = engine(Config {
        ordinal: 1,
        copy_granularity: 4,
        ..Config::auto()
    });
    let (from, to) = (one.lane(), two.lane());
    let source = from.upload(&pattern(9_000_001)).unwrap().erase();
    let (from, to): (&dyn Face, &dyn Face) = (&from, &to);
    let (copy, report) = to.receive(from, &source).unwrap();
    assert!(report.staged);
    assert_eq!((report.bytes, report.chunks), (9_000_001, 3));
    assert_eq!(report.reason, "no peer route between these devices");
    let mut bytes = vec![0; 9_000_001];
    to.read(&copy, 0, &mut bytes).unwrap();
    assert_eq!(bytes, pattern(9_000_001));
    let (same, report) = from.receive(from, &source).unwrap();
    assert!(!report.staged && report.bytes == 0);
    assert_eq!(same.len(), source.len());
    assert_eq!(control.violations(), Vec::<String>::new());
    assert_eq!(other.violations(), Vec::<String>::new());
}

#[test]
fn host_visible_memory_is_read_and_written_directly() {
    let (engine, control) = engine(Config {
        host_visible: true,
        ..Config::default()
    });
    let lane = engine.lane();
    let mut storage = lane.upload(&line(16, 1.0)).unwrap();
    let sum = add_scalar(&lane, &storage, 1.0).unwrap();
    let pending = lane.download(&sum, 0, vec![0f32; 16]).unwrap();
    assert!(!pending.poll());
    control.release_all();
    assert_eq!(pending.wait().unwrap(), vec![2.0; 16]);
    control.set_auto(true);
    lane.write(&mut storage, 4, &line(1, 7.0)).unwrap();
    assert_eq!(floats(&lane, &storage).unwrap()[..3], [1.0, 7.0, 1.0]);
    let calls = control.calls();
    assert_eq!(
        (calls.alloc_staging, calls.copy_in, calls.copy_out),
        (0, 0, 0)
    );
    assert_eq!(control.violations(), Vec::<String>::new());
}

/// Found by the simulated device: seed 452, plan `host-read#1=out-of-memory`.
#[test]
fn a_chunk_whose_access_failed_is_used_again_only_once_the_access_has_ended() {
    for call in [Call::Read, Call::Write, Call::EndAccess] {
        let (engine, control) = engine_with(Config::auto(), |options| {
            options.staging_chunks = Some(1);
        });
        let lane = engine.lane();
        let a = lane.upload(&line(16, 1.0)).unwrap();
        assert_eq!(floats(&lane, &a).unwrap(), vec![1.0; 16]);
        control.refuse(call, 0, GpuError::transfer(true, "not now"));
        let refused = match call {
            Call::Read => floats(&lane, &a).map(drop),
            _ => lane.upload(&line(16, 2.0)).map(drop),
        };
        assert!(refused.is_err(), "{}", call.name());
        let b = lane.upload(&line(16, 3.0)).unwrap();
        assert_eq!(floats(&lane, &b).unwrap(), vec![3.0; 16]);
        assert_eq!(
            control.violations(),
            Vec::<String>::new(),
            "{}",
            call.name()
        );
    }
}
