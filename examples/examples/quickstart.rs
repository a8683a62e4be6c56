//! Upload, contract, map, reduce, download, and say what ran where. Takes seconds.
//!
//! `quickstart [--device D]`, where D is a vendor of this build: `host`, or with its feature `wgpu`.

#![expect(clippy::print_stdout, reason = "an example shows its results")]

use tensor_core::{DType, Device, Tensor, einsum};

fn main() -> Result<(), tensor_core::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let device = match arguments.as_slice() {
        [] => Device::host()?,
        [option, name] if option == "--device" => Device::open(name)?,
        _ => {
            println!("quickstart [--device D]");
            std::process::exit(2);
        }
    };
    let info = device.info();
    println!(
        "device    {} ({}, {:?})",
        device.name(),
        info.name,
        info.kind
    );

    // Upload.
    let a = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], &device)?;
    let b = Tensor::randn([3, 512], DType::F32, 7, &device)?;
    let c = Tensor::rand([512, 4], DType::F32, 8, &device)?;

    // Contract: a · b · c, in the order that costs least.
    let product = einsum("ij,jk,kl->il", &[&a, &b, &c])?;
    println!("contract  ij,jk,kl->il gives {product}");

    // Map and reduce.
    let squashed = product.tanh()?;
    let mean = squashed.mean(..)?;
    let largest = product.argmax(1)?;

    // Download.
    println!("map       tanh gives {:?}", squashed.to_vec::<f32>()?);
    println!(
        "reduce    mean {:.6}, argmax of each row {:?}",
        mean.to_scalar::<f32>()?,
        largest.to_vec::<i64>()?
    );

    // The same by hand, in f64 on this processor: what is above is what it should be.
    let (a, b, c) = (a.to_vec::<f32>()?, b.to_vec::<f32>()?, c.to_vec::<f32>()?);
    let by_hand = |i: usize, l: usize| -> f64 {
        let mut sum = 0.0;
        for (j, row) in b.chunks(512).enumerate() {
            for (k, x) in row.iter().enumerate() {
                sum += f64::from(a[3 * i + j]) * f64::from(*x) * f64::from(c[4 * k + l]);
            }
        }
        sum
    };
    let values = product.to_vec::<f32>()?;
    let worst = (0..8)
        .map(|at| (f64::from(values[at]) - by_hand(at / 4, at % 4)).abs())
        .fold(0.0, f64::max);
    println!("check     largest difference from plain f64 loops: {worst:.1e}");

    let memory = device.memory_report();
    println!(
        "memory    {} bytes at the peak, {} reserved, {} device allocations, {} grants from the pool",
        memory.peak_in_use, memory.reserved, memory.device_allocations, memory.pool_hits
    );
    if worst > 1e-2 {
        println!("          which is too much");
        std::process::exit(1);
    }
    Ok(())
}
