//! One file: read, plan, fill, run, check.

use crate::report::{Check, Report, device_name};
use crate::{Arguments, Choice};
use examples::evaluate::evaluate;
use examples::fill::{Kind, Operands, fill};
use examples::network::Network;
use half::{bf16, f16};
use indicatif::{ProgressBar, ProgressStyle};
use num_complex::Complex;
use std::io::IsTerminal;
use std::path::Path as FilePath;
use std::time::Instant;
use tensor_core::einsum::{Path, Plan, Route};
use tensor_core::{Device, Element, Tensor, dtype_from_name};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Contracts the network in `file`.
pub(crate) fn contract(file: &FilePath, arguments: &Arguments, device: &Device) -> Outcome<Report> {
    let network = Network::read(file)?;
    let kind = match arguments.dtype.as_deref().or(network.dtype.as_deref()) {
        Some(name) => Kind::from_name(name)?,
        None => Kind::F64,
    };
    let chosen = match arguments.path {
        Choice::Auto => None,
        other => Some(network.path(other.name()).ok_or_else(|| {
            let known: Vec<_> = network
                .paths
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            format!(
                "the file has no path {}, only: {}",
                other.name(),
                known.join(", ")
            )
        })?),
    };
    let given = chosen.map(|path| Path::new(path.steps.clone()));
    let route = given.as_ref().map_or(Route::Found, Route::Given);
    let dtype = dtype_from_name(kind.names()[0])?;
    let plan = Plan::new(&network.format_string, &network.shapes, dtype, route)
        .map_err(tensor_core::Error::from)?;
    let values = fill(&network, kind, arguments.seed);
    let tensors = match arguments.alter {
        None => upload(&values, &network, kind, device)?,
        Some(operand) => {
            let altered = values.altered(operand)?;
            upload(&altered, &network, kind, device)?
        }
    };
    let operands: Vec<&Tensor> = tensors.iter().collect();

    device.synchronize()?;
    device.reset_peak();
    let before = device.memory_report();
    let bar = progress(plan.instructions(), "contracting");
    let start = Instant::now();
    let result = plan.run_with(&operands, |done| bar.set_position(done as u64))?;
    result.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let after = device.memory_report();
    let result = download(&result, kind)?;
    let norm = match &result {
        Numbers::Real(all) => all.iter().map(|x| x * x).sum::<f64>(),
        Numbers::Complex(all) => all.iter().map(Complex::norm_sqr).sum(),
    };
    let check = if arguments.check {
        Some(check(
            &network,
            kind,
            arguments.path,
            &plan,
            &values,
            &result,
        )?)
    } else {
        None
    };
    Ok(Report {
        file: file.display().to_string(),
        name: network.name.clone(),
        device: device_name(device),
        dtype: kind.names()[0],
        path: arguments.path.name(),
        steps: plan.steps().len(),
        norm: norm.sqrt(),
        seconds,
        flops: flops(plan.flops()),
        planned_peak: plan.peak_bytes(),
        measured_peak: after.peak_in_use,
        reserved: after.reserved,
        pool_hits: after.pool_hits - before.pool_hits,
        device_allocations: after.device_allocations - before.device_allocations,
        check,
    })
}

/// A result in double precision.
enum Numbers {
    Real(Vec<f64>),
    Complex(Vec<Complex<f64>>),
}

/// The operands on the device, as `kind`; each value is one that the kind holds exactly.
fn upload(
    values: &Operands,
    network: &Network,
    kind: Kind,
    device: &Device,
) -> Result<Vec<Tensor>, tensor_core::Error> {
    fn all<S: Copy, T: Element>(
        values: &[Vec<S>],
        network: &Network,
        device: &Device,
        convert: impl Fn(S) -> T,
    ) -> Result<Vec<Tensor>, tensor_core::Error> {
        values
            .iter()
            .zip(&network.shapes)
            .map(|(values, shape)| {
                let values: Vec<T> = values.iter().map(|&value| convert(value)).collect();
                Tensor::from_vec(values, shape.as_slice(), device)
            })
            .collect()
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded to f32 when it was drawn"
    )]
    let narrow = |x: f64| x as f32;
    match (values, kind) {
        (Operands::Real(v), Kind::F16) => all(v, network, device, f16::from_f64),
        (Operands::Real(v), Kind::BF16) => all(v, network, device, bf16::from_f64),
        (Operands::Real(v), Kind::F32) => all(v, network, device, narrow),
        (Operands::Real(v), _) => all(v, network, device, |x| x),
        (Operands::Complex(v), Kind::Complex64) => all(v, network, device, |z| {
            Complex::new(narrow(z.re), narrow(z.im))
        }),
        (Operands::Complex(v), _) => all(v, network, device, |z| z),
    }
}

/// The result on the host, in double precision.
fn download(result: &Tensor, kind: Kind) -> Result<Numbers, tensor_core::Error> {
    fn real<T: Element + Copy>(
        result: &Tensor,
        convert: impl Fn(T) -> f64,
    ) -> Result<Numbers, tensor_core::Error> {
        let values = result.to_vec::<T>()?;
        Ok(Numbers::Real(values.into_iter().map(convert).collect()))
    }
    match kind {
        Kind::F16 => real(result, f16::to_f64),
        Kind::BF16 => real(result, bf16::to_f64),
        Kind::F32 => real(result, |x: f32| f64::from(x)),
        Kind::F64 => real(result, |x: f64| x),
        Kind::Complex64 => {
            let values = result.to_vec::<Complex<f32>>()?;
            let wide = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
            Ok(Numbers::Complex(values.into_iter().map(wide).collect()))
        }
        Kind::Complex128 => Ok(Numbers::Complex(result.to_vec()?)),
    }
}

/// Compares `result` with the plain evaluator's, along the file's other path where there is one.
fn check(
    network: &Network,
    kind: Kind,
    taken: Choice,
    plan: &Plan,
    values: &Operands,
    result: &Numbers,
) -> Outcome<Check> {
    let start = Instant::now();
    let other = network.paths.iter().find(|(name, _)| name != taken.name());
    let (against, walk) = match other {
        Some((name, path)) => (
            format!("the plain evaluator along {name}"),
            path.walk.clone(),
        ),
        None => {
            let steps = plan.path().steps();
            let walk = examples::follow(network.terms.len(), steps)?;
            ("the plain evaluator along the same path".to_owned(), walk)
        }
    };
    let bar = progress(2 * walk.len(), "checking");
    let half = walk.len() as u64;
    let magnitudes = evaluate(network, &walk, &values.magnitudes(), |n| {
        bar.set_position(n as u64)
    })?;
    let step = |n: usize| bar.set_position(half + n as u64);
    let differences: Vec<f64> = match (values, result) {
        (Operands::Real(values), Numbers::Real(result)) => {
            let plain = evaluate(network, &walk, values, step)?;
            result
                .iter()
                .zip(&plain)
                .map(|(x, y)| (x - y).abs())
                .collect()
        }
        (Operands::Complex(values), Numbers::Complex(result)) => {
            let plain = evaluate(network, &walk, values, step)?;
            result
                .iter()
                .zip(&plain)
                .map(|(x, y)| (x - y).norm())
                .collect()
        }
        _ => return Err("a result of another kind than its operands".into()),
    };
    bar.finish_and_clear();
    if differences.len() != magnitudes.len() {
        return Err("a result of another length than the plain evaluator's".into());
    }
    // Where even the absolute values sum to nothing, nothing is what the result must be.
    let relative = |(difference, magnitude): (&f64, &f64)| match *difference {
        0.0 => 0.0,
        difference => difference / magnitude,
    };
    let error = differences
        .iter()
        .zip(&magnitudes)
        .map(relative)
        .fold(0.0, worst);
    Ok(Check {
        against,
        error,
        bound: kind.bound(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The larger of two errors; NaN is larger than all.
fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

#[expect(clippy::cast_precision_loss, reason = "for reading")]
fn flops(count: u128) -> f64 {
    count as f64
}

/// A bar on a terminal, shown once the work has taken a moment; nothing elsewhere.
fn progress(steps: usize, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}
