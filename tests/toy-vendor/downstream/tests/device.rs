//! A vendor that `tensor-core` does not know serves tensors, through `Device::from_engine`.

use gpu_dispatch::Engine;
use tensor_core::{Device, Error, Tensor, einsum};
use toy_vendor::Toy;

#[test]
fn an_unknown_vendor_serves_tensors() -> Result<(), Error> {
    let engine = Engine::new(Toy::new("")).expect("the toy opens");
    let device = Device::from_engine(&engine);
    assert_eq!(device.name(), "toy:0");
    let a = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], &device)?;
    let b = Tensor::from_vec(vec![1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0], [3, 2], &device)?;
    let product = einsum("ij,jk->ki", &[&a, &b])?;
    assert_eq!(product.to_vec::<f32>()?, [4.0, 10.0, 5.0, 11.0]);
    let sums = product.add(&product)?.sum(0)?;
    assert_eq!(sums.to_vec::<f32>()?, [18.0, 42.0]);
    // Another lane waits for the first by an event.
    let beside = device.with_lane()?;
    let moved = Tensor::full([2], 1.0f32, &beside)?.add(&sums)?;
    assert_eq!(moved.to_vec::<f32>()?, [19.0, 43.0]);
    // What the vendor does not serve says so, and the device stays usable.
    let refused = a.exp().expect_err("the toy has no exp").to_string();
    assert!(refused.contains("exp"), "{refused}");
    assert_eq!(a.sum(..)?.to_scalar::<f32>()?, 21.0);
    Ok(())
}
