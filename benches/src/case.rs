//! What is measured, and on which numbers: the same in Rust and in Python.

use std::fmt;
use std::path::PathBuf;

/// One thing that every peer is asked to do.
pub enum Workload {
    /// An operation on f32 arrays.
    Case(Case),
    /// A tensor network in the einsum-benchmark format, in its own dtype, along its `opt_flops` path.
    Network(PathBuf),
}

/// An operation on f32 arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// The sum of two arrays of [`LARGE`].
    Add,
    /// The exponential of an array of [`LARGE`].
    Exp,
    /// The sum of all elements of an array of [`LARGE`].
    Sum,
    /// A square matrix of [`SIDE`], transposed in memory.
    Transpose,
    /// The product of two square matrices of [`MATRIX`].
    Matmul,
    /// The sum of two arrays of [`SMALL`]: what a call costs.
    SmallAdd,
}

/// Elements of a large array.
pub const LARGE: usize = 1 << 24;
/// Elements of a small array.
pub const SMALL: usize = 16;
/// Side of the transposed matrix.
pub const SIDE: usize = 4096;
/// Side of the multiplied matrices.
pub const MATRIX: usize = 1024;

impl Case {
    /// Every case, in the order of the report.
    pub const ALL: [Self; 6] = [
        Self::Add,
        Self::Exp,
        Self::Sum,
        Self::Transpose,
        Self::Matmul,
        Self::SmallAdd,
    ];

    /// Its name, in reports and to the Python side.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add 16M",
            Self::Exp => "exp 16M",
            Self::Sum => "sum 16M",
            Self::Transpose => "transpose 4096²",
            Self::Matmul => "matmul 1024³",
            Self::SmallAdd => "add 16 elements",
        }
    }

    /// The dims of each of its operands.
    pub fn dims(self) -> &'static [usize] {
        match self {
            Self::Add | Self::Exp | Self::Sum => &[LARGE],
            Self::Transpose => &[SIDE, SIDE],
            Self::Matmul => &[MATRIX, MATRIX],
            Self::SmallAdd => &[SMALL],
        }
    }

    /// The elements of its n-th operand.
    pub fn operand(self, n: usize) -> Vec<f32> {
        let count = self.dims().iter().product();
        (0..count).map(|at| value(at, n) as f32).collect()
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case(case) => f.write_str(case.name()),
            Self::Network(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                f.write_str(name.trim_end_matches(".json"))
            }
        }
    }
}

/// Element `at` of operand `n`, in [-0.5, 0.5): a multiplicative hash, so that both languages agree.
pub fn value(at: usize, n: usize) -> f64 {
    let hashed = ((at as u64 + 1) * 2_654_435_761 + n as u64 * 40_503) % (1 << 32);
    hashed as f64 / (1_u64 << 32) as f64 - 0.5
}

/// One number that says whether two results are the same: a sum weighted by position.
pub fn fingerprint(result: impl IntoIterator<Item = f64>) -> f64 {
    result
        .into_iter()
        .enumerate()
        .map(|(at, value)| value * (at % 7 + 1) as f64)
        .sum()
}
