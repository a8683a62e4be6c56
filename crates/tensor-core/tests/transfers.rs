//! To the host and back, pending and awaited, and to other devices: on a device that holds its work
//! back, where pending means pending.

#![expect(clippy::unwrap_used, reason = "tests")]

use gpu_dispatch::Engine;
use gpu_held::{Config, Controller, Held};
use gpu_host::Host;
use half::{bf16, f16};
use num_complex::Complex;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tensor_core::{DType, Device, Element, ErrorKind, Tensor};

fn held() -> (Device, Controller<Host>) {
    let (driver, controller) = Held::new(Host::new(), Config::default()).unwrap();
    let device = Device::from_engine(&Engine::new(driver).unwrap());
    (device, controller)
}

/// A tensor that is pending, and what it will be.
fn pending(device: &Device, controller: &Controller<Host>) -> Tensor {
    controller.set_auto(true);
    let x = Tensor::arange(0i64, 100, device).unwrap();
    x.wait().unwrap();
    controller.set_auto(false);
    x.add(1).unwrap()
}

#[test]
fn every_dtype_goes_there_and_back() {
    fn round_trip<T: Element>(device: &Device, values: &[T]) {
        let x = Tensor::from_slice(values, [values.len()], device).unwrap();
        assert_eq!(x.dtype(), T::DTYPE);
        assert_eq!(x.to_vec::<T>().unwrap(), values);
        assert_eq!(x.to_vec_pending::<T>().unwrap().wait().unwrap(), values);
        let memory = Vec::from_iter(values.iter().rev().copied());
        let filled = x.to_vec_pending_into(memory).unwrap().wait().unwrap();
        assert_eq!(filled, values);
        let last = x.flip(0).unwrap().narrow(0, 0, 1).unwrap();
        assert_eq!(last.to_scalar::<T>().unwrap(), values[values.len() - 1]);
    }
    let (device, controller) = held();
    controller.set_auto(true);
    for device in [&device, &Device::host().unwrap()] {
        round_trip(device, &[true, false, true]);
        round_trip(device, &[0u8, 1, 255]);
        round_trip(device, &[-128i8, 127]);
        round_trip(device, &[0u32, u32::MAX]);
        round_trip(device, &[i32::MIN, i32::MAX]);
        round_trip(device, &[i64::MIN, i64::MAX, 7]);
        round_trip(device, &[f16::MIN, f16::MAX, f16::EPSILON]);
        round_trip(device, &[bf16::MIN, bf16::MAX]);
        round_trip(device, &[1.5f32, -0.0, f32::MIN_POSITIVE]);
        round_trip(device, &[1.5f64, f64::INFINITY]);
        round_trip(device, &[Complex::new(1.0f32, -2.0)]);
        round_trip(
            device,
            &[Complex::new(1.0f64, -2.0), Complex::new(0.0, 3.0)],
        );
    }
}

#[test]
fn what_is_pending_can_be_polled_and_used() {
    let (device, controller) = held();
    let x = pending(&device, &controller);
    assert!(!x.is_ready().unwrap());
    let ready = x.ready().unwrap();
    let download = x.to_vec_pending::<i64>().unwrap();
    let doubled = x.mul(2).unwrap();
    assert!(!ready.poll() && !download.poll());
    let soon = Instant::now() + Duration::from_millis(5);
    let download = download.wait_until(soon).unwrap_err();
    controller.set_auto(true);
    ready.wait().unwrap();
    assert!(download.wait().unwrap().into_iter().eq(1..101));
    assert!(
        doubled
            .to_vec::<i64>()
            .unwrap()
            .into_iter()
            .eq((1..101).map(|i| 2 * i))
    );
    drop((x, doubled, device));
    assert_eq!(controller.violations(), [""; 0]);
}

#[test]
fn a_pending_download_is_a_future() {
    let (device, controller) = held();
    let x = pending(&device, &controller);
    let mut download = pin!(x.to_vec_pending::<i64>().unwrap());
    let mut context = Context::from_waker(Waker::noop());
    assert!(download.as_mut().poll(&mut context).is_pending());
    controller.set_auto(true);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Poll::Ready(landed) = download.as_mut().poll(&mut context) {
            assert_eq!(landed.unwrap().len(), 100);
            break;
        }
        assert!(Instant::now() < deadline, "never ready");
        std::thread::yield_now();
    }
}

#[test]
fn a_forgotten_or_dropped_download_is_harmless() {
    let (device, controller) = held();
    let x = pending(&device, &controller);
    drop(x.to_vec_pending::<i64>().unwrap());
    std::mem::forget(x.to_vec_pending::<i64>().unwrap());
    controller.set_auto(true);
    assert!(x.to_vec::<i64>().unwrap().into_iter().eq(1..101));
}

#[test]
fn a_failure_hands_the_memory_back() {
    let (device, controller) = held();
    let x = pending(&device, &controller);
    let download = x.to_vec_pending_into(vec![7i64; 100]).unwrap();
    controller.fail_item(
        0,
        gpu_seam::GpuError::Broken {
            detail: "the test says so".to_owned(),
        },
    );
    controller.set_auto(true);
    let rejected = download.wait().unwrap_err();
    assert_eq!(rejected.value.len(), 100);
    assert_eq!(rejected.cause.kind(), ErrorKind::Broken);
    let text = rejected.to_string();
    assert!(
        text.contains("the test says so") && text.contains("i64[100]"),
        "{text}"
    );
    assert_eq!(x.add(1).unwrap_err().kind(), ErrorKind::Broken);
}

#[test]
fn a_transfer_takes_the_elements_and_nothing_else() {
    let (device, controller) = held();
    controller.set_auto(true);
    let host = Device::host().unwrap();
    let x = Tensor::arange(0i64, 1000, &host)
        .unwrap()
        .reshape([10, 100])
        .unwrap();
    let views = [
        x.clone(),
        x.t().unwrap(),
        x.narrow(0, 3, 2).unwrap(),
        x.flip(..).unwrap(),
        x.narrow(1, 0, 0).unwrap(),
        x.narrow(0, 1, 1).unwrap().broadcast_to([4, 100]).unwrap(),
    ];
    for view in views {
        let (there, report) = view.to_device_reported(&device).unwrap();
        assert_eq!(there.device(), &device);
        assert_eq!(
            there.to_vec::<i64>().unwrap(),
            view.to_vec::<i64>().unwrap()
        );
        assert!(
            report.staged && report.bytes == 8 * view.elements(),
            "{report:?}"
        );
        let back = there.to_device(&host).unwrap();
        assert_eq!(back.dims(), view.dims());
        assert_eq!(back.to_vec::<i64>().unwrap(), view.to_vec::<i64>().unwrap());
    }
    let lane = host.with_lane().unwrap();
    let (same, report) = x.t().unwrap().to_device_reported(&lane).unwrap();
    assert_eq!((report.bytes, report.staged), (0, false));
    assert_eq!(
        (same.dims(), same.is_contiguous()),
        ([100, 10].as_slice(), false)
    );
    let elsewhere = x.to_device(&device).unwrap();
    assert_eq!(
        elsewhere.add(&x).unwrap_err().kind(),
        ErrorKind::ForeignDomain
    );
    let floats = x.to_dtype(DType::F32).unwrap().to_device(&device).unwrap();
    assert_eq!(
        floats.sum(..).unwrap().to_scalar::<f32>().unwrap(),
        499_500.0
    );
}
