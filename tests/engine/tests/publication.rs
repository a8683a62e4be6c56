//! Pending, then ready or failed, once: results, downloads and futures on work that waits.

use gpu_dispatch::{Error, Instant};
use gpu_engine_tests::{add_scalar, engine, engine_with, fill, floats, line, to_floats};
use gpu_held::{Call, Config};
use gpu_seam::{GpuError, SeamError};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(20)
}

fn broken(detail: &str) -> GpuError {
    GpuError::Broken {
        detail: detail.to_owned(),
    }
}

#[test]
fn an_upload_is_pending_until_the_device_has_it() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(16, 1.0)).unwrap();
    assert!(!storage.poll().unwrap());
    assert_eq!(
        storage.wait_until(soon()),
        Err(Error::Deadline { op: "wait" })
    );
    control.release_all();
    assert!(storage.poll().unwrap());
    storage.wait().unwrap();
    control.set_auto(true);
    assert_eq!(floats(&lane, &storage).unwrap(), vec![1.0; 16]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_consumer_is_enqueued_while_its_producer_is_pending() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let one = lane.upload(&line(16, 1.0)).unwrap();
    let two = add_scalar(&lane, &one, 1.0).unwrap();
    let three = add_scalar(&lane, &two, 1.0).unwrap();
    assert!(!three.poll().unwrap());
    // What is in between may go: the work itself keeps what it needs.
    drop((one, two));
    control.release_all();
    assert!(three.poll().unwrap());
    control.set_auto(true);
    assert_eq!(floats(&lane, &three).unwrap(), vec![3.0; 16]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn g3_091_dropping_a_pending_download_is_harmless() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 0, vec![0f32; 1024]).unwrap();
    drop(pending);
    drop(storage);
    let other = lane.upload(&line(1024, 9.0)).unwrap();
    control.release_all();
    control.set_auto(true);
    assert_eq!(floats(&lane, &other).unwrap(), vec![9.0; 1024]);
    engine.close().unwrap();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_pending_download_shows_bytes_only_when_ready() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 4, vec![0f32; 1023]).unwrap();
    assert!(!pending.poll());
    let pending = pending.wait_until(soon()).unwrap_err();
    control.release_all();
    assert_eq!(pending.wait().unwrap(), vec![5.0; 1023]);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn forgotten_handles_leak_and_are_never_unsound() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    std::mem::forget(lane.download(&storage, 0, vec![0u8; 4096]).unwrap());
    std::mem::forget(storage.clone());
    std::mem::forget(lane.ready(&storage).unwrap());
    std::mem::forget(lane.clone());
    drop(storage);
    let other = fill(&lane, 1024, 2.0).unwrap();
    assert_eq!(floats(&lane, &other).unwrap(), vec![2.0; 1024]);
    engine.close().unwrap();
    assert!(
        engine.memory_report().in_use >= 4096,
        "the forgotten storage is counted"
    );
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn a_failure_gives_the_host_memory_back_with_the_original_cause() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 0, vec![7u8; 4096]).unwrap();
    control.fail_now(GpuError::Unavailable {
        detail: "fell off the bus".into(),
    });
    let rejected = pending.wait().unwrap_err();
    assert_eq!(rejected.value.len(), 4096);
    assert_eq!(
        rejected.cause.kind(),
        Some(SeamError::Unavailable),
        "{}",
        rejected.cause
    );
    // The storage was pending: it fails with the same cause; what comes later is told `Broken`.
    assert_eq!(
        storage.wait().unwrap_err().kind(),
        Some(SeamError::Unavailable)
    );
    let later = fill(&lane, 4, 0.0).unwrap_err();
    let words = "GPU backend unavailable: fell off the bus";
    assert_eq!(later.cause(), Some(&broken(words)), "{later}");
    assert_eq!(
        fill(&lane, 4, 0.0).unwrap_err().cause(),
        Some(&broken(words)),
        "every time"
    );
}

#[test]
fn a_refused_download_hands_its_memory_back() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(4, 5.0)).unwrap();
    let rejected = lane.download(&storage, 8, vec![1u8; 9]).unwrap_err();
    assert_eq!(rejected.value, vec![1; 9]);
    let text = rejected.cause.to_string();
    assert_eq!(
        text,
        "download: bytes 8 + 9 lie outside a storage of 16 bytes"
    );
    control.set_auto(true);
}

#[test]
fn g3_092_a_wait_after_an_earlier_failure_never_writes_later() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 0, vec![7u8; 4096]).unwrap();
    control.fail_item(0, broken("stored"));
    control.release_all();
    let rejected = pending.wait().unwrap_err();
    let seen = rejected.value.clone();
    control.release_all();
    assert_eq!(rejected.value, seen);
    assert_eq!(control.violations(), Vec::<String>::new());
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics, on purpose");
    }
}

#[test]
fn a_future_is_woken_by_completion_even_beside_a_waker_that_panics() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let mut bad = pin!(lane.ready(&storage).unwrap());
    let mut good = pin!(lane.download(&storage, 0, vec![0f32; 1024]).unwrap());
    let waker = Waker::from(Arc::new(Panics));
    assert!(
        bad.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    assert!(
        good.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    control.release_all();
    let limit = Instant::now() + Duration::from_secs(10);
    while count.0.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < limit, "nobody was woken");
        std::thread::yield_now();
    }
    match good.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => assert_eq!(to_floats(&line(1024, 5.0)), outcome.unwrap()),
        Poll::Pending => panic!("woken, but not ready"),
    }
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn closing_wakes_futures_and_fails_what_is_pending() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 0, vec![0f32; 1024]).unwrap();
    assert_eq!(
        engine.close_within(soon()),
        Err(Error::Deadline { op: "close" })
    );
    let rejected = pending.wait().unwrap_err();
    assert_eq!(rejected.cause.cause(), Some(&GpuError::Closed));
    assert_eq!(storage.wait().unwrap_err().cause(), Some(&GpuError::Closed));
    assert_eq!(
        fill(&lane, 1, 0.0).unwrap_err().cause(),
        Some(&GpuError::Closed)
    );
    drop(storage);
    assert!(engine.memory_report().quarantined > 0);
    engine.close().unwrap();
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn dropping_the_last_handle_waits_at_most_a_short_grace() {
    let (engine, control) = engine(Config::default());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    drop((lane, engine));
    // The device may still write: nothing was given back to it.
    assert_eq!(control.calls().free, 0);
    control.release_all();
    drop(storage);
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn dropping_the_last_handle_gives_everything_back() {
    let (engine, control) =
        engine_with(Config::auto(), |options| options.staging_chunk = Some(4096));
    let lane = engine.lane();
    let second = engine.new_lane().unwrap();
    let storage = lane.upload(&line(8192, 5.0)).unwrap();
    let sum = add_scalar(&second, &storage, 1.0).unwrap();
    assert_eq!(floats(&lane, &sum).unwrap(), vec![6.0; 8192]);
    drop((sum, lane, second));
    // A storage may outlive every engine handle; it is given back when it goes.
    drop(engine);
    drop(storage);
    let ledger = control.ledger();
    assert_eq!((ledger.allocations, ledger.stagings), (0, 0), "{ledger:?}");
    assert_eq!((ledger.streams, ledger.events), (0, 0), "{ledger:?}");
    assert_eq!(control.violations(), Vec::<String>::new());
}

#[test]
fn close_drains_is_idempotent_and_refuses_what_comes_later() {
    let (engine, control) = engine(Config::auto());
    let lane = engine.lane();
    let storage = lane.upload(&line(1024, 5.0)).unwrap();
    let pending = lane.download(&storage, 0, vec![0f32; 1024]).unwrap();
    engine.close().unwrap();
    engine.close().unwrap();
    assert_eq!(control.pending(), 0);
    assert_eq!(pending.wait().unwrap(), vec![5.0; 1024]);
    assert!(storage.poll().unwrap());
    let text = lane.upload(&[1]).unwrap_err().to_string();
    assert_eq!(text, "upload: the GPU runtime has been closed");
    assert!(engine.new_lane().is_err());
    drop(storage);
    assert_eq!(control.ledger().allocations, 0);
    assert!(control.calls().get(Call::Free) > 0);
}
