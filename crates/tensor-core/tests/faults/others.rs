//! Cases of the other groups that need no more than a tensor on the host.

use crate::{counted, host, line, value, values};
use half::f16;
use tensor_core::{DType, Device, ErrorKind, Tensor};

#[test]
fn g3_106_parts_are_read_from_where_they_are() {
    let bytes: Vec<u8> = (0..100).collect();
    let x = line(&bytes);
    let part = |start, len| values::<u8>(&x.narrow(0, start, len).unwrap());
    assert_eq!(part(3, 5), [3, 4, 5, 6, 7]);
    assert_eq!(part(96, 4), [96, 97, 98, 99]);
    assert_eq!(part(0, 0), [0; 0]);
    assert_eq!(part(99, 1), [99]);
    assert_eq!(part(100, 0), [0; 0]);
    let halves = x.to_dtype(DType::F16).unwrap();
    for start in [1, 3] {
        let part = halves.narrow(0, start, 2).unwrap();
        let first = f32::from(u8::try_from(start).unwrap());
        assert_eq!(
            values::<f16>(&part),
            [first, first + 1.0].map(f16::from_f32)
        );
        let one = halves.narrow(0, start, 1).unwrap();
        assert_eq!(value::<f16>(&one), f16::from_f32(first));
        let pending = part.to_vec_pending::<f16>().unwrap().wait().unwrap();
        assert_eq!(pending, values::<f16>(&part));
    }
}

#[test]
fn g3_109_nothing_is_a_tensor_like_any_other() {
    let x = line::<f32>(&[]);
    assert_eq!(values::<f32>(&x), [0.0; 0]);
    assert_eq!(values::<f32>(&x.clone().slice(0, ..).unwrap()), [0.0; 0]);
    assert_eq!(x.to_vec_pending::<f32>().unwrap().wait().unwrap(), [0.0; 0]);
    x.ready().unwrap().wait().unwrap();
    let elsewhere = Device::open_new("host").unwrap();
    assert_eq!(values::<f32>(&x.to_device(&elsewhere).unwrap()), [0.0; 0]);
    let nothing = Tensor::full([3, 0, 2], 7i64, &host()).unwrap();
    assert_eq!(nothing.reshape([0, 5]).unwrap().dims(), [0, 5]);
    assert_eq!(nothing.copy().unwrap().dims(), [3, 0, 2]);
    assert_eq!(x.storage().len(), 0);
}

#[test]
fn g4_131_tensors_of_two_devices_are_refused_by_name() {
    let here = counted(&[2]);
    let elsewhere = Device::open_new("host").unwrap();
    let there = Tensor::from_slice(&[1i64, 2], [2], &elsewhere).unwrap();
    for (op, refused) in [
        ("add", here.add(&there)),
        ("eq", there.eq(&here)),
        ("matmul", here.matmul(&there)),
        ("cat", Tensor::cat(&[&here, &there], 0)),
        ("where_cond", here.is_nan().unwrap().where_cond(&there, 0)),
        ("index_select", here.index_select(0, &there)),
        ("scatter", here.scatter(0, &here, &there)),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.op(), error.kind()), (op, ErrorKind::ForeignDomain));
        // Both are the host; the domains tell them apart.
        let devices: Vec<&str> = error.operands().iter().map(|one| &*one.device).collect();
        assert!(devices.windows(2).any(|two| two[0] != two[1]), "{error}");
        assert!(error.to_string().contains(devices[1]), "{error}");
    }
    let moved = there.to_device(here.device()).unwrap();
    assert_eq!(values::<i64>(&here.add(&moved).unwrap()), [1, 3]);
}
