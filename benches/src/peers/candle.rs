//! candle-core on its CPU device.

use crate::case::{Case, Workload, fingerprint};
use crate::peer::{Closure, Peer, Prepared};
use candle_core::{Device, Result as Candled, Tensor};

/// candle-core.
pub struct Candle;

impl Peer for Candle {
    fn name(&self) -> &'static str {
        "candle-core"
    }

    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String> {
        let Workload::Case(case) = workload else {
            return Ok(None);
        };
        let case = *case;
        let operand = |n| {
            Tensor::from_vec(case.operand(n), case.dims(), &Device::Cpu)
                .map_err(|error| format!("candle-core: {error}"))
        };
        let (a, b) = (operand(0)?, operand(1)?);
        let run = move || -> Candled<Tensor> {
            match case {
                Case::Add | Case::SmallAdd => a.add(&b),
                Case::Exp => a.exp(),
                Case::Sum => a.sum_all(),
                Case::Transpose => a.t()?.contiguous(),
                Case::Matmul => a.matmul(&b),
            }
        };
        Closure::boxed(run, read)
    }
}

fn read(result: Candled<Tensor>) -> f64 {
    let values = result.and_then(|tensor| tensor.flatten_all()?.to_vec1::<f32>());
    values.map_or(f64::NAN, |values| {
        fingerprint(values.into_iter().map(f64::from))
    })
}
