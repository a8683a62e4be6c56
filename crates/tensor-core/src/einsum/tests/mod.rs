//! Plans against a plain einsum that loops over every index, on a machine that refuses hidden copies
//! and counts its bytes.

mod broken;
mod found;
mod naive;
mod planned;
mod random;

use super::{EinsumError, Path, Plan, Route};
use gpu_seam::DType;
use naive::{Array, Naive};

/// Runs `plan` on arrays of these values and checks the peak it states.
fn run(plan: &Plan, operands: &[(Vec<usize>, Vec<f64>)]) -> (Vec<usize>, Vec<f64>) {
    let machine = Naive::default();
    let arrays: Vec<Array> = operands
        .iter()
        .map(|(dims, values)| Array::operand(dims, values.clone()))
        .collect();
    let arrays: Vec<&Array> = arrays.iter().collect();
    let result = super::run::run(&plan.program, &machine, &arrays, |_| ())
        .unwrap_or_else(|error| {
            panic!(
                "{} {:?}: {error}\n{:#?}",
                plan.spec(),
                plan.shapes().collect::<Vec<_>>(),
                plan.program
            )
        })
        .unwrap();
    let stated = plan.peak_bytes() - plan.operand_bytes();
    assert_eq!(machine.peak_bytes(), stated, "the peak of {}", plan.spec());
    (result.dims().to_vec(), result.values())
}

/// The plan of a spec in f64.
fn plan(spec: &str, shapes: &[&[usize]], route: Route<'_>) -> Result<Plan, EinsumError> {
    Plan::new(spec, shapes, DType::F64, route)
}

/// Splitmix64 (Steele, Lea and Flood 2014): the same specs on every machine.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.word() % u64::try_from(limit).unwrap()).unwrap()
    }

    /// Small integers, so that every order of summation gives the same bits.
    fn value(&mut self) -> f64 {
        f64::from(u8::try_from(self.below(7)).unwrap()) - 3.0
    }
}

fn path(steps: &[&[usize]]) -> Path {
    Path::new(steps.iter().map(|step| step.to_vec()).collect())
}
