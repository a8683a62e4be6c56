//! What the held vendor promises to the tests that use it.

#![expect(
    unsafe_code,
    reason = "enqueues through the driver traits, as gpu-dispatch does"
)]
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each call keeps or breaks the contract on purpose, on a vendor whose memory is safe either way"
)]

mod inline;

use gpu_held::{Call, Config, Controller, Held, Stream};
use gpu_seam::{
    Arg, BinaryOp, Buffer, DType, Direction, Driver, Execute, GpuError, Op, Operand, Scalar, View,
};
use inline::Inline;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

type Vendor = Held<Inline>;

fn open(config: Config) -> (Vendor, Controller<Inline>) {
    Held::new(Inline::new(), config).unwrap()
}

fn whole(buffer: &Buffer<Vendor>) -> Arg<'_, Vendor> {
    Arg {
        buffer,
        offset: 0,
        len: buffer.len(),
    }
}

fn fill(held: &Vendor, stream: &Stream, out: &Buffer<Vendor>, value: f32) -> Result<(), GpuError> {
    let dims = [out.len() / 4];
    let value = Scalar::from_bits(DType::F32, u128::from(value.to_bits()));
    let op = Op::Fill {
        out: View::new(DType::F32, 0, &dims, &[1]),
        value,
    };
    held.plan(&op)?;
    unsafe { held.execute(stream, &op, &[whole(out)], None) }
}

fn add(
    held: &Vendor,
    stream: &Stream,
    [out, lhs, rhs]: [&Buffer<Vendor>; 3],
) -> Result<(), GpuError> {
    let dims = [out.len() / 4];
    let view = View::new(DType::F32, 0, &dims, &[1]);
    let op = Op::Binary {
        op: BinaryOp::Add,
        out: view,
        lhs: Operand::View(view),
        rhs: Operand::View(view),
    };
    unsafe { held.execute(stream, &op, &[whole(out), whole(lhs), whole(rhs)], None) }
}

fn broken() -> GpuError {
    GpuError::Broken {
        detail: String::from("planned"),
    }
}

#[test]
fn nothing_runs_before_it_is_released() {
    let (held, control) = open(Config::default());
    let stream = held.create_stream().unwrap();
    let buffer = held.allocate(16).unwrap();
    let mut event = held.create_event().unwrap();
    fill(&held, &stream, &buffer, 2.0).unwrap();
    held.record(&stream, &mut event).unwrap();
    assert_eq!(control.queued(0), ["fill", "record"]);
    assert_eq!(held.poll(&event), Ok(false));
    assert_eq!(control.step(0), Some("fill"));
    assert_eq!(held.poll(&event), Ok(false));
    assert_eq!(control.step(0), Some("record"));
    assert_eq!(held.poll(&event), Ok(true));
    assert_eq!(control.step(0), None);
    unsafe { held.free(buffer) }.unwrap();
    held.destroy_event(event).unwrap();
    held.destroy_stream(stream).unwrap();
    let ledger = control.ledger();
    assert_eq!(
        (
            ledger.allocations,
            ledger.bytes,
            ledger.streams,
            ledger.events
        ),
        (0, 0, 0, 0)
    );
    assert_eq!((ledger.peak_bytes, ledger.items_run), (16, 2));
    assert_eq!(control.violations(), [""; 0]);
}

#[test]
fn a_wait_holds_back_until_its_record_ran() {
    let (held, control) = open(Config::default());
    let (one, two) = (held.create_stream().unwrap(), held.create_stream().unwrap());
    let [a, b] = [held.allocate(16).unwrap(), held.allocate(16).unwrap()];
    let mut event = held.create_event().unwrap();
    fill(&held, &one, &a, 1.0).unwrap();
    held.record(&one, &mut event).unwrap();
    held.wait(&two, &event).unwrap();
    // A second record forgets the first, but the wait between the two keeps it.
    fill(&held, &one, &b, 1.0).unwrap();
    held.record(&one, &mut event).unwrap();
    fill(&held, &two, &b, 2.0).unwrap();
    held.destroy_event(event).unwrap();
    assert_eq!(control.release(1), 0);
    assert_eq!(control.release_to_record(0), 2);
    assert_eq!(control.release(1), 2);
    assert_eq!(control.queued(0), ["fill", "record"]);
    assert_eq!(control.release_all(), 2);
    assert_eq!(control.violations(), [""; 0]);
}

#[test]
fn auto_runs_what_the_event_needs_and_nothing_more() {
    let (held, control) = open(Config::auto());
    let streams = [(); 3].map(|()| held.create_stream().unwrap());
    let buffers = [(); 3].map(|()| held.allocate(16).unwrap());
    let mut event = held.create_event().unwrap();
    for (stream, buffer) in streams.iter().zip(&buffers) {
        fill(&held, stream, buffer, 1.0).unwrap();
    }
    held.record(&streams[0], &mut event).unwrap();
    held.wait(&streams[1], &event).unwrap();
    fill(&held, &streams[0], &buffers[0], 2.0).unwrap();
    let mut last = held.create_event().unwrap();
    held.record(&streams[1], &mut last).unwrap();
    assert_eq!(held.poll(&last), Ok(true));
    assert_eq!(control.queued(0), ["fill"]);
    assert_eq!(control.queued(1), [""; 0]);
    assert_eq!(control.queued(2), ["fill"]);
    held.synchronize(&streams[2]).unwrap();
    assert_eq!(control.pending(), 1);
}

#[test]
fn synchronize_blocks_until_another_thread_releases() {
    let (held, control) = open(Config::default());
    let stream = held.create_stream().unwrap();
    let buffer = held.allocate(16).unwrap();
    fill(&held, &stream, &buffer, 1.0).unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| held.synchronize(&stream));
        assert!(control.await_calls(Call::Synchronize, 1));
        assert!(!waiter.is_finished());
        control.release(0);
        waiter.join().unwrap().unwrap();
    });
}

#[test]
fn the_watchdog_ends_a_wait_in_vain() {
    let config = Config {
        watchdog: Duration::from_millis(20),
        ..Config::default()
    };
    let (held, control) = open(config);
    let stream = held.create_stream().unwrap();
    let buffer = held.allocate(16).unwrap();
    fill(&held, &stream, &buffer, 1.0).unwrap();
    assert!(
        held.synchronize(&stream)
            .unwrap_err()
            .to_string()
            .contains("nothing released it")
    );
    assert!(!control.await_queued(0, 2));
    assert_eq!(control.violations().len(), 2);
}

#[test]
fn a_failed_item_fails_what_is_behind_it_and_all_that_comes() {
    let (held, control) = open(Config::default());
    let stream = held.create_stream().unwrap();
    let buffer = held.allocate(16).unwrap();
    let [mut early, mut late] = [held.create_event().unwrap(), held.create_event().unwrap()];
    fill(&held, &stream, &buffer, 1.0).unwrap();
    held.record(&stream, &mut early).unwrap();
    fill(&held, &stream, &buffer, 2.0).unwrap();
    held.record(&stream, &mut late).unwrap();
    control.fail_item(1, broken());
    control.release(0);
    assert_eq!(held.poll(&early), Ok(true));
    assert_eq!(held.poll(&late), Err(broken()));
    assert_eq!(held.synchronize(&stream), Err(broken()));
    assert_eq!(fill(&held, &stream, &buffer, 3.0), Err(broken()));
    assert_eq!(held.allocate(1).unwrap_err(), broken());
    assert_eq!(unsafe { held.free(buffer) }, Err(broken()));
    assert_eq!(control.ledger().lost_bytes, 16);
}

#[test]
fn planned_calls_are_refused_panic_or_pause() {
    let (held, control) = open(Config::default());
    control.refuse(Call::Allocate, 1, GpuError::Closed);
    let buffer = held.allocate(8).unwrap();
    assert_eq!(held.allocate(8).unwrap_err(), GpuError::Closed);
    control.panic_in(Call::Memory, 0);
    assert!(catch_unwind(AssertUnwindSafe(|| held.memory())).is_err());
    assert_eq!(held.memory().unwrap().available, (256 << 20) - 8);
    control.refuse_always(Call::Free, GpuError::Closed);
    assert_eq!(unsafe { held.free(buffer) }, Err(GpuError::Closed));
    control.allow(Call::Free);
    control.pause(Call::CreateStream, 0);
    thread::scope(|scope| {
        let inside = scope.spawn(|| held.create_stream());
        assert!(control.await_paused(1));
        // The paused call holds no lock.
        held.memory().unwrap();
        control.resume();
        inside.join().unwrap().unwrap();
    });
    let calls = control.calls();
    assert_eq!((calls.allocate, calls.free, calls.memory), (2, 1, 3));
    assert_eq!(control.violations(), [""; 0]);
}

#[test]
fn memory_has_a_limit() {
    let (held, _control) = open(Config {
        memory_bytes: 100,
        ..Config::default()
    });
    let first = held.allocate(60).unwrap();
    let cause = held.allocate(60).unwrap_err();
    assert_eq!(
        cause,
        GpuError::OutOfMemory {
            requested: 60,
            available: 40
        }
    );
    unsafe { held.free(first) }.unwrap();
    held.allocate(60).unwrap();
}

#[test]
fn bytes_travel_through_staging_and_destinations_are_poisoned() {
    let (held, control) = open(Config {
        copy_granularity: 4,
        access_refusals: 1,
        ..Config::default()
    });
    let stream = held.create_stream().unwrap();
    let buffer = held.allocate(8).unwrap();
    let mut up = held.alloc_staging(8, Direction::Upload).unwrap();
    let mut down = held.alloc_staging(8, Direction::Download).unwrap();
    assert!(held.begin_access(&mut up, false).unwrap());
    held.write(&mut up, 0, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    held.end_access(&mut up).unwrap();
    let part = Arg {
        buffer: &buffer,
        offset: 4,
        len: 4,
    };
    unsafe { held.copy_in(&stream, &up, 0, part) }.unwrap();
    unsafe { held.copy_out(&stream, whole(&buffer), &down, 0) }.unwrap();
    control.release(0);
    let mut bytes = [0; 8];
    assert!(!held.begin_access(&mut down, false).unwrap());
    assert!(held.begin_access(&mut down, false).unwrap());
    held.read(&mut down, 0, &mut bytes).unwrap();
    held.end_access(&mut down).unwrap();
    assert_eq!(bytes, [0xA5, 0xA5, 0xA5, 0xA5, 1, 2, 3, 4]);
    // Queued and not run: whoever reads the destination now sees poison.
    unsafe { held.copy_in(&stream, &up, 0, part) }.unwrap();
    let mut visible = [0; 8];
    assert_eq!(control.ledger().staging_bytes, 16);
    control.peek(&buffer, &mut visible).unwrap();
    assert_eq!(visible, [0xA5, 0xA5, 0xA5, 0xA5, 0xDB, 0xDB, 0xDB, 0xDB]);
    control.release(0);
    assert_eq!(control.violations(), [""; 0]);
    unsafe { held.free_staging(up) }.unwrap();
    unsafe { held.free_staging(down) }.unwrap();
    assert_eq!(
        (
            control.ledger().stagings,
            control.ledger().peak_staging_bytes
        ),
        (0, 16)
    );
}

/// Each breaks one rule, and is told on by the named function.
#[test]
fn broken_rules_are_recorded() {
    type Break = fn(&Vendor, &Controller<Inline>, &Stream);
    let table: [(&str, Break); 10] = [
        ("free: a queued fill touches", |held, _, stream| {
            let buffer = held.allocate(8).unwrap();
            fill(held, stream, &buffer, 1.0).unwrap();
            assert!(unsafe { held.free(buffer) }.is_err());
        }),
        ("fill: it ran after", |held, control, stream| {
            let buffer = held.allocate(8).unwrap();
            fill(held, stream, &buffer, 1.0).unwrap();
            assert!(unsafe { held.free(buffer) }.is_err());
            control.release(0);
        }),
        ("allocate: 0 bytes", |held, _, _| {
            assert!(held.allocate(0).is_err())
        }),
        ("copy_device: Range", |held, _, stream| {
            let buffer = held.allocate(8).unwrap();
            let from = Arg {
                buffer: &buffer,
                offset: 0,
                len: 5,
            };
            let to = Arg {
                buffer: &buffer,
                offset: 3,
                len: 5,
            };
            assert!(unsafe { held.copy_device(stream, from, to) }.is_err());
        }),
        ("copy_device: Arg", |held, _, stream| {
            let buffer = held.allocate(8).unwrap();
            let out = Arg {
                buffer: &buffer,
                offset: 4,
                len: 5,
            };
            let to = Arg {
                buffer: &buffer,
                offset: 0,
                len: 5,
            };
            assert!(unsafe { held.copy_device(stream, out, to) }.is_err());
        }),
        (
            "write: 4 bytes at 0: the host has no access",
            |held, _, _| {
                let mut staging = held.alloc_staging(8, Direction::Upload).unwrap();
                assert!(held.write(&mut staging, 0, &[0; 4]).is_err());
            },
        ),
        (
            "begin_access: a queued copy_in names it",
            |held, _, stream| {
                let buffer = held.allocate(8).unwrap();
                let mut staging = held.alloc_staging(8, Direction::Upload).unwrap();
                unsafe { held.copy_in(stream, &staging, 0, whole(&buffer)) }.unwrap();
                assert!(held.begin_access(&mut staging, false).is_err());
            },
        ),
        ("copy_out: the staging is for Upload", |held, _, stream| {
            let buffer = held.allocate(8).unwrap();
            let staging = held.alloc_staging(8, Direction::Upload).unwrap();
            assert!(unsafe { held.copy_out(stream, whole(&buffer), &staging, 0) }.is_err());
        }),
        ("execute: add: argument 1 of 4 bytes", |held, _, stream| {
            let [long, short] = [held.allocate(8).unwrap(), held.allocate(4).unwrap()];
            assert!(add(held, stream, [&long, &short, &long]).is_err());
        }),
        (
            "execute: gather: 3 arguments for 3 views and 1 fault slots",
            |held, _, stream| {
                let buffers = [(); 3].map(|()| held.allocate(8).unwrap());
                let view = View::new(DType::U8, 0, &[8], &[1]);
                let op = Op::Gather {
                    out: view,
                    input: view,
                    index: view,
                    axis: 0,
                };
                let args = buffers.each_ref().map(whole);
                assert!(unsafe { held.execute(stream, &op, &args, None) }.is_err());
            },
        ),
    ];
    for (expected, breaks) in table {
        let (held, control) = open(Config::default());
        let stream = held.create_stream().unwrap();
        breaks(&held, &control, &stream);
        let violations = control.violations();
        assert!(
            violations.iter().any(|text| text.starts_with(expected)),
            "{expected}: {violations:?}"
        );
    }
}
