//! ndarray, with its threads for matrix products; its element-wise operations have one thread.

use crate::case::{Case, Workload, fingerprint};
use crate::peer::{Closure, Peer, Prepared};
use ndarray::{Array1, Array2, ArrayD, arr0};

/// ndarray.
pub struct Ndarray;

impl Peer for Ndarray {
    fn name(&self) -> &'static str {
        "ndarray"
    }

    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String> {
        let Workload::Case(case) = workload else {
            return Ok(None);
        };
        match *case {
            case @ (Case::Transpose | Case::Matmul) => matrix(case),
            case => vector(case),
        }
    }
}

fn vector(case: Case) -> Result<Option<Box<dyn Prepared>>, String> {
    let (a, b) = (
        Array1::from_vec(case.operand(0)),
        Array1::from_vec(case.operand(1)),
    );
    let run = move || -> ArrayD<f32> {
        match case {
            Case::Exp => a.exp().into_dyn(),
            Case::Sum => arr0(a.sum()).into_dyn(),
            _ => (&a + &b).into_dyn(),
        }
    };
    Closure::boxed(run, |result| read(&result))
}

fn matrix(case: Case) -> Result<Option<Box<dyn Prepared>>, String> {
    let side = case.dims()[0];
    let operand = |n| {
        Array2::from_shape_vec((side, side), case.operand(n))
            .map_err(|error| format!("ndarray: {error}"))
    };
    let (a, b) = (operand(0)?, operand(1)?);
    let run = move || -> ArrayD<f32> {
        match case {
            Case::Matmul => a.dot(&b).into_dyn(),
            _ => a.t().as_standard_layout().into_owned().into_dyn(),
        }
    };
    Closure::boxed(run, |result| read(&result))
}

fn read(result: &ArrayD<f32>) -> f64 {
    fingerprint(result.iter().map(|value| f64::from(*value)))
}
