//! The whole suite on the toy. `TOY_FAULT=name` plants a fault.

use gpu_conformance::Config;
use toy_vendor::Toy;

fn main() -> std::process::ExitCode {
    let fault = std::env::var("TOY_FAULT").unwrap_or_default();
    gpu_conformance::run(Config::new("toy", move || Ok(Toy::new(&fault))))
}
