//! Ours: `Tensor` on the host device, as a user calls it.

use crate::case::{Case, Workload, fingerprint};
use crate::peer::{Closure, Peer, Prepared};
use tensor_core::{Device, Error, Tensor};

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
            Workload::Network(_) => Ok(None),
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

fn read(result: Result<Tensor, Error>) -> f64 {
    let values = result.and_then(|tensor| tensor.to_vec::<f32>());
    values.map_or(f64::NAN, |values| {
        fingerprint(values.into_iter().map(f64::from))
    })
}
