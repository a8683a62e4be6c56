//! The suite on the first adapter that wgpu finds: a GPU, or a software driver.

use gpu_conformance::Config;
use gpu_seam::Discover;
use gpu_wgpu::Wgpu;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Kernels are compiled once for a device, so the checks share one.
    gpu_conformance::run(Config::new("wgpu", || Wgpu::open(0)).discover().shared())
}
