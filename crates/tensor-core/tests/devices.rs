//! Devices: shared engines, engines of one's own, lanes, and what is not there.
//!
//! A binary of its own: whether an engine is the shared one depends on who else holds it, so these
//! run one after the other.

use gpu_dispatch::Engine;
use gpu_held::{Config, Held};
use gpu_host::Host;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tensor_core::{DType, Device, ErrorKind, Tensor};

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_shared_engine_is_one_while_any_handle_lives() {
    let _turn = alone();
    let first = Device::host().unwrap();
    let domain = format!("{first:?}");
    assert_eq!(first, Device::open("host:0").unwrap());
    let lane = first.with_lane().unwrap();
    assert_eq!(lane, first);
    drop(first);
    // A lane is a handle, and so is a tensor.
    assert_eq!(format!("{:?}", Device::host().unwrap()), domain);
    let tensor = Tensor::zeros([2], DType::F32, &lane).unwrap();
    drop(lane);
    assert_eq!(format!("{:?}", Device::host().unwrap()), domain);
    drop(tensor);
    assert_ne!(format!("{:?}", Device::host().unwrap()), domain);
}

#[test]
fn an_engine_of_its_own_is_another_domain() {
    let _turn = alone();
    let (shared, own) = (Device::host().unwrap(), Device::open_new("host").unwrap());
    assert_ne!(shared, own);
    assert_eq!(own.name(), "host:0");
    own.close().unwrap();
    let refused = Tensor::zeros([2], DType::F32, &own).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    insta::assert_snapshot!(refused, @"zeros of f32[2] on host:0: the GPU runtime has been closed");
    assert!(Tensor::zeros([2], DType::F32, &shared).is_ok());
}

#[test]
fn a_closed_shared_engine_makes_way_for_a_new_one() {
    let _turn = alone();
    let first = Device::host().unwrap();
    first.close().unwrap();
    let second = Device::host().unwrap();
    assert_ne!(first, second);
    assert!(Tensor::zeros([2], DType::F32, &second).is_ok());
    assert_eq!(second, Device::host().unwrap());
}

#[test]
fn threads_that_open_at_once_share_one_engine() {
    let _turn = alone();
    let keep = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Device::host().unwrap()))
            .collect();
        let opened = openers.into_iter().map(|opener| opener.join().unwrap());
        opened.collect::<Vec<Device>>()
    });
    assert!(keep.iter().all(|device| *device == keep[0]));
}

#[test]
fn what_is_there_can_be_opened() {
    let _turn = alone();
    let available = Device::available();
    assert!(!available.is_empty());
    for info in available {
        let device = Device::open(&format!("{}:{}", info.vendor, info.ordinal)).unwrap();
        assert_eq!(device.info().name, info.name);
    }
    let probed = Device::probe();
    assert!(
        probed
            .iter()
            .any(|(vendor, found)| *vendor == "host" && found.is_ok())
    );
}

#[test]
fn what_is_not_there_says_so() {
    let _turn = alone();
    let refused = |name: &str| Device::open(name).unwrap_err();
    assert_eq!(refused("host:7").kind(), ErrorKind::Unavailable);
    assert_eq!(refused("nonesuch").kind(), ErrorKind::Unavailable);
    assert_eq!(refused("host:-1").kind(), ErrorKind::Invalid);
    assert_eq!(Device::open_new("host:7").unwrap_err().op(), "open_new");
    insta::assert_snapshot!(
        refused("nonesuch"),
        @r#"open: GPU backend unavailable: "nonesuch" names no vendor; vendors of this build: host"#
    );
    insta::assert_snapshot!(
        refused("host:x"),
        @r#"open: "host:x" is no device: write a vendor, or a vendor:ordinal"#
    );
    insta::assert_snapshot!(
        refused("host:7"),
        @"open: GPU backend unavailable: host device 7 was asked for; there is 1, with ordinal 0"
    );
    let long = refused(&"x".repeat(1 << 20)).to_string();
    assert!(long.len() < 200, "{long}");
}

#[test]
fn an_engine_from_outside_is_a_device() {
    let _turn = alone();
    let (driver, controller) = Held::new(Host::new(), Config::auto()).unwrap();
    let engine = Engine::new(driver).unwrap();
    let device = Device::from_engine(&engine);
    assert!(device.engine::<Held<Host>>().is_some());
    assert!(device.engine::<Host>().is_none());
    assert_eq!(device.name(), "held:0");
    let sum = Tensor::ones([1000], DType::F32, &device)
        .unwrap()
        .sum(..)
        .unwrap();
    assert_eq!(sum.to_scalar::<f32>().unwrap(), 1000.0);
    // The engine lives on while the tensor does.
    drop((device, engine));
    assert_eq!(sum.add(1.0).unwrap().to_scalar::<f32>().unwrap(), 1001.0);
    drop(sum);
    assert_eq!(controller.violations(), [""; 0]);
}

#[test]
fn an_operation_runs_on_the_lane_of_its_first_operand() {
    let _turn = alone();
    let (driver, controller) = Held::new(Host::new(), Config::default()).unwrap();
    let device = Device::from_engine(&Engine::new(driver).unwrap());
    controller.set_auto(true);
    let lane = device.with_lane().unwrap();
    let here = Tensor::ones([4], DType::F32, &device).unwrap();
    here.wait().unwrap();
    controller.set_auto(false);
    let there = here.to_device(&lane).unwrap();
    let made = there.add(&here).unwrap();
    assert_eq!(
        made.device().lane::<Held<Host>>().unwrap().id(),
        lane.lane::<Held<Host>>().unwrap().id()
    );
    assert!(!made.is_ready().unwrap(), "held back on the lane");
    controller.set_auto(true);
    assert_eq!(made.to_vec::<f32>().unwrap(), [2.0; 4]);
}

#[test]
fn statistics_follow_the_tensors() {
    let _turn = alone();
    let device = Device::open_new("host").unwrap();
    let x = Tensor::zeros([1000], DType::F64, &device).unwrap();
    assert!(device.memory_report().in_use >= 8000);
    let view = x.narrow(0, 0, 10).unwrap();
    drop(x);
    assert!(
        device.memory_report().in_use >= 8000,
        "a view holds its storage"
    );
    drop(view);
    assert_eq!(device.memory_report().in_use, 0);
    device.synchronize().unwrap();
    device.trim();
    assert_eq!(device.memory_report().reserved, 0);
}
