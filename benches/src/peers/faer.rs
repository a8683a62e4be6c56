//! faer, column-major: a matrix of ours is read as its transpose, which costs nothing.

use crate::case::{Case, Workload, fingerprint};
use crate::peer::{Closure, Peer, Prepared};
use faer::{Mat, MatRef, unzip, zip};

/// faer.
pub struct Faer;

impl Peer for Faer {
    fn name(&self) -> &'static str {
        "faer"
    }

    fn prepare(&mut self, workload: &Workload) -> Result<Option<Box<dyn Prepared>>, String> {
        let Workload::Case(case) = workload else {
            return Ok(None);
        };
        let case = *case;
        let (rows, columns) = match case.dims() {
            [rows, columns] => (*rows, *columns),
            dims => (dims[0], 1),
        };
        // Our row-major (rows, columns) are the bytes of a column-major (columns, rows).
        let operand = |n| {
            let values = case.operand(n);
            MatRef::from_column_major_slice(&values, columns, rows).to_owned()
        };
        let (a, b) = if columns == 1 {
            let column = |n| MatRef::from_column_major_slice(&case.operand(n), rows, 1).to_owned();
            (column(0), column(1))
        } else {
            (operand(0), operand(1))
        };
        let run = move || -> Mat<f32> {
            match case {
                Case::Add | Case::SmallAdd => &a + &b,
                Case::Exp => zip!(&a).map(|unzip!(value)| value.exp()),
                Case::Sum => Mat::full(1, 1, a.sum()),
                Case::Transpose => a.transpose().to_owned(),
                // With both read as transposes, the product of ours is theirs in reverse.
                Case::Matmul => &b * &a,
            }
        };
        Closure::boxed(run, |result| read(&result))
    }
}

/// Column by column, which is our row by row.
fn read(result: &Mat<f32>) -> f64 {
    let columns = (0..result.ncols()).flat_map(|column| result.col(column).iter());
    fingerprint(columns.map(|value| f64::from(*value)))
}
