//! From an operation to its launches, and what is served.
//!
//! Promises that the support table, `plan` and `execute` agree: all three ask here. Knows nothing
//! of buffers.

use crate::features::Features;
use crate::kernels::{self, Launch};
use gpu_seam::{DType, DTypeSet, Family, GpuError, Op, SupportTable};

/// What an operation becomes.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The kernels to run, in order.
    pub(crate) launches: Vec<Launch>,
    /// Bytes of scratch that they need.
    pub(crate) scratch: usize,
}

/// The types whose arithmetic needs no optional feature.
const ALWAYS: DTypeSet = DTypeSet::of(&[
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::U32,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::Complex64,
]);

/// The types that have an order.
const ORDERED: DTypeSet = DTypeSet::of(&[
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::U32,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
]);

/// Which element types each family serves on a device of those features.
pub(crate) fn table(features: Features) -> SupportTable {
    Family::ALL
        .into_iter()
        .fold(SupportTable::default(), |table, family| {
            table.with(family, served(family, features))
        })
}

fn served(family: Family, features: Features) -> DTypeSet {
    let all = match family {
        Family::ArgReduce => ORDERED,
        Family::Random => DTypeSet::of(&[
            DType::F16,
            DType::BF16,
            DType::F32,
            DType::F64,
            DType::Complex64,
            DType::Complex128,
        ]),
        Family::Fill
        | Family::Copy
        | Family::Unary
        | Family::Binary
        | Family::Compare
        | Family::Select
        | Family::Reduce
        | Family::Scan
        | Family::Gather
        | Family::Scatter
        | Family::Gemm => DTypeSet::ALL,
        _ => DTypeSet::EMPTY,
    };
    // These move elements, and cast them on their bits.
    let moves = matches!(
        family,
        Family::Fill | Family::Copy | Family::Select | Family::Gather
    );
    if features.f64 || moves {
        return all;
    }
    let kept: Vec<_> = all.iter().filter(|dtype| ALWAYS.contains(*dtype)).collect();
    DTypeSet::of(&kept)
}

/// The launches of `op`.
///
/// # Errors
/// `Unsupported`, naming the operation and the dtype or form that is not served.
pub(crate) fn lower(op: &Op<'_>, features: Features) -> Result<Plan, GpuError> {
    let dtypes = served(op.family(), features);
    if !dtypes.contains(op.dtype()) || !sums_are_served(op, features) {
        return Err(refused(op, dtypes));
    }
    match kernels::lower(op, features.tiles)? {
        Some((launches, scratch)) => Ok(Plan { launches, scratch }),
        None => Err(refused(op, dtypes)),
    }
}

/// Sums of integers may be asked for as f64, which is arithmetic of f64.
fn sums_are_served(op: &Op<'_>, features: Features) -> bool {
    match op {
        Op::Reduce { out, .. } | Op::Scan { out, .. } => features.f64 || out.dtype != DType::F64,
        _ => true,
    }
}

#[cold]
fn refused(op: &Op<'_>, dtypes: DTypeSet) -> GpuError {
    let mut seen = Vec::new();
    let _ = op.map_views(|view| {
        seen.push(view.dtype.name());
        view
    });
    let why = match dtypes.contains(op.dtype()) {
        true => "has no such form".to_owned(),
        false => format!("serves {dtypes}"),
    };
    GpuError::unsupported(
        op.name(),
        format!(
            "{} with arguments of {}; this adapter {why}",
            op.dtype(),
            seen.join(", ")
        ),
    )
}
