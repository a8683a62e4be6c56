//! Ours: `Tensor` on the host device, as a user calls it.

use crate::case::{Case, Workload, fingerprint, value};
use crate::peer::{Closure, Peer, Prepared};
use serde_json::Value;
use std::path::Path;
use tensor_core::einsum::{self, Plan, Route};
use tensor_core::{DType, Device, Error, Tensor};

/// tensor-core on the host vendor.
pub struct Ours {
    device: Device,
}

impl Ours {
    /// On the process's host device.
    pub fn open() -> Result<Self, String> {
        let device = Device::host().map_err(|error| format!("ours: {error}"))?;
        Ok(Self { device })
    }
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String> {
        match workload {
            Workload::Case(case) => operation(*case, &self.device),
            Workload::Network(path) => network(path, &self.device),
        }
    }
}

fn operation(case: Case, device: &Device) -> Result<Option<Box<dyn Prepared>>, String> {
    let operand = |n| {
        Tensor::from_slice(&case.operand(n), case.dims(), device)
            .map_err(|error| format!("ours: {error}"))
    };
    let (a, b) = (operand(0)?, operand(1)?);
    let run = move || -> Result<Tensor, Error> {
        match case {
            Case::Add | Case::SmallAdd => a.add(&b),
            Case::Exp => a.exp(),
            Case::Sum => a.sum(..),
            Case::Transpose => a.t()?.contiguous(),
            Case::Matmul => a.matmul(&b),
        }
    };
    Closure::boxed(run, read)
}

/// Planned once, as a user of a network would; the peers, too, are timed without their planning.
fn network(path: &Path, device: &Device) -> Result<Option<Box<dyn Prepared>>, String> {
    let file = described(path)?;
    let mut operands = Vec::new();
    for (n, shape) in file.shapes.iter().enumerate() {
        let values: Vec<f64> = (0..shape.iter().product()).map(|at| value(at, n)).collect();
        let operand = Tensor::from_slice(&values, shape.as_slice(), device);
        operands.push(operand.map_err(|error| format!("ours: {error}"))?);
    }
    let route = einsum::Path::new(file.path);
    let plan = Plan::new(&file.spec, &file.shapes, DType::F64, Route::Given(&route))
        .map_err(|error| format!("ours: {error}"))?;
    let run = move || {
        let operands: Vec<&Tensor> = operands.iter().collect();
        plan.run(&operands)
    };
    Closure::boxed(run, |result: Result<Tensor, Error>| {
        let values = result.and_then(|tensor| tensor.to_vec::<f64>());
        values.map_or(f64::NAN, fingerprint)
    })
}

/// What a network file says, as far as it is measured.
struct File {
    spec: String,
    shapes: Vec<Vec<usize>>,
    path: Vec<Vec<usize>>,
}

/// Reads a file that is known to be sound; the peers' files are float64, all of them.
fn described(path: &Path) -> Result<File, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let file: Value = serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
    if file["dtype"] != "float64" {
        return Err(format!(
            "{shown}: dtype {}, where float64 is measured",
            file["dtype"]
        ));
    }
    let spec = file["format_string"]
        .as_str()
        .ok_or_else(|| format!("{shown}: no spec"))?;
    Ok(File {
        spec: spec.to_owned(),
        shapes: lists(&file["shapes"]).ok_or_else(|| format!("{shown}: no shapes"))?,
        path: lists(&file["paths"]["opt_flops"]["path"])
            .ok_or_else(|| format!("{shown}: no opt_flops path"))?,
    })
}

fn lists(value: &Value) -> Option<Vec<Vec<usize>>> {
    let list = |inner: &Value| {
        let numbers = inner.as_array()?.iter();
        numbers
            .map(|number| usize::try_from(number.as_u64()?).ok())
            .collect()
    };
    value.as_array()?.iter().map(list).collect()
}

fn read(result: Result<Tensor, Error>) -> f64 {
    let values = result.and_then(|tensor| tensor.to_vec::<f32>());
    values.map_or(f64::NAN, |values| {
        fingerprint(values.into_iter().map(f64::from))
    })
}
