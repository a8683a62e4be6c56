//! What a call must satisfy: views inside their storages, sizes that exist, dtypes that an
//! operation is defined for, axes that are there.
//!
//! Promises that what passes can be walked with plain arithmetic: no later sum or product of its
//! sizes, strides and offsets overflows. Knows nothing of steps, and nothing of which of the defined
//! combinations a device serves.

use crate::call::{Call, Factor};
use crate::error::Error;
use gpu_seam::{BinaryOp, CompareOp, DType, MAX_RANK, Operand, ReduceOp, ScanOp, UnaryOp, View};
use smallvec::SmallVec;
use std::fmt;

/// Checks every view of `call` against the byte length of its storage.
pub(super) fn inputs(call: &Call<'_>, lengths: &[usize]) -> Result<(), Error> {
    let name = call.name();
    match *call {
        Call::Fill { .. } | Call::Random { .. } => views(name, &[], lengths),
        Call::Copy { input, .. }
        | Call::Unary { input, .. }
        | Call::Reduce { input, .. }
        | Call::ArgReduce { input, .. }
        | Call::Scan { input, .. } => views(name, &[input], lengths),
        Call::Binary { lhs, rhs, .. } | Call::Compare { lhs, rhs, .. } => match (lhs, rhs) {
            (Operand::View(lhs), Operand::View(rhs)) => views(name, &[lhs, rhs], lengths),
            (Operand::View(one), Operand::Scalar(_)) | (Operand::Scalar(_), Operand::View(one)) => {
                views(name, &[one], lengths)
            }
            (Operand::Scalar(_), Operand::Scalar(_)) => Err(Error::invalid(
                name,
                "both operands are scalars; at least one must be a view",
            )),
        },
        Call::Select {
            condition,
            on_true,
            on_false,
        } => {
            let mut all: SmallVec<[View<'_>; 3]> = SmallVec::new();
            all.push(condition);
            for operand in [on_true, on_false] {
                if let Operand::View(view) = operand {
                    all.push(view);
                }
            }
            views(name, &all, lengths)
        }
        Call::Gather { input, index, .. } | Call::IndexSelect { input, index, .. } => {
            views(name, &[input, index], lengths)
        }
        Call::Scatter {
            base, index, src, ..
        } => views(name, &[base, index, src], lengths),
        Call::Matmul {
            lhs: Factor { view: lhs, .. },
            rhs: Factor { view: rhs, .. },
            bias,
            ..
        } => match bias {
            Some((bias, _)) => views(name, &[lhs, rhs, bias], lengths),
            None => views(name, &[lhs, rhs], lengths),
        },
        Call::Concat { inputs, .. } => views(name, inputs, lengths),
    }
}

/// Checks views against the byte lengths of their storages.
fn views(name: &'static str, views: &[View<'_>], lengths: &[usize]) -> Result<(), Error> {
    if views.len() != lengths.len() {
        return Err(Error::invalid(
            name,
            format!("takes {} inputs, was given {}", views.len(), lengths.len()),
        ));
    }
    for (at, (each, &bytes)) in views.iter().zip(lengths).enumerate() {
        view(name, at, each, bytes)?;
    }
    Ok(())
}

/// Checks one view against the byte length of its storage.
fn view(name: &'static str, at: usize, view: &View<'_>, bytes: usize) -> Result<(), Error> {
    let dims = view.dims;
    let fault = if dims.len() > MAX_RANK {
        format!("has rank {}; the highest is {MAX_RANK}", dims.len())
    } else if dims.len() != view.strides.len() {
        format!(
            "has dims {} and strides {}, which differ in number",
            shape(dims),
            Strides(view.strides)
        )
    } else if view
        .elements()
        .is_none_or(|elements| isize::try_from(elements).is_err())
    {
        format!("has dims {}: too many elements to count", shape(dims))
    } else {
        let end = view.extent().map(|(_, end)| end);
        match end.and_then(|end| end.checked_mul(view.dtype.size())) {
            Some(end) if end <= bytes => return Ok(()),
            _ => format!(
                "has dims {}, strides {} and offset {} of {}, which leave its {bytes} bytes",
                shape(dims),
                Strides(view.strides),
                view.offset,
                view.dtype
            ),
        }
    };
    Err(Error::invalid(name, format!("input {at} {fault}")))
}

/// The elements and bytes of an output of `dims`.
pub(super) fn size(
    name: &'static str,
    dims: &[usize],
    dtype: DType,
) -> Result<(usize, usize), Error> {
    if dims.len() > MAX_RANK {
        return Err(Error::invalid(
            name,
            format!(
                "the output has rank {}; the highest is {MAX_RANK}",
                dims.len()
            ),
        ));
    }
    let elements = View::new(dtype, 0, dims, &[]).elements();
    elements
        .and_then(|elements| Some((elements, elements.checked_mul(dtype.size())?)))
        .filter(|&(_, bytes)| isize::try_from(bytes).is_ok())
        .ok_or_else(|| {
            Error::invalid(
                name,
                format!("an output of dims {} of {dtype} is too large", shape(dims)),
            )
        })
}

/// Checks that two dtypes are one: there is no implicit promotion.
pub(super) fn same(
    name: &'static str,
    (what, dtype): (&str, DType),
    (other, with): (&str, DType),
) -> Result<(), Error> {
    if dtype == with {
        return Ok(());
    }
    Err(Error::invalid(
        name,
        format!("{what} is {dtype} and {other} is {with}; cast one of them"),
    ))
}

/// Checks that `dtype` is among those that the operation is defined for.
pub(super) fn defined(
    name: &'static str,
    dtype: DType,
    defined: bool,
    on: &str,
) -> Result<(), Error> {
    if defined {
        return Ok(());
    }
    Err(Error::invalid(
        name,
        format!("is not defined for {dtype}, only for {on}"),
    ))
}

/// Checks that `axis` is a dimension of `dims`.
pub(super) fn axis(name: &'static str, axis: usize, dims: &[usize]) -> Result<(), Error> {
    if axis < dims.len() {
        return Ok(());
    }
    Err(Error::invalid(
        name,
        format!("axis {axis} is out of range for dims {}", shape(dims)),
    ))
}

/// Checks that `axes` are dimensions of `dims`, each once. Returns which dimensions they are.
pub(super) fn axes(
    name: &'static str,
    axes: &[usize],
    dims: &[usize],
) -> Result<[bool; MAX_RANK], Error> {
    let mut chosen = [false; MAX_RANK];
    for &each in axes {
        axis(name, each, dims)?;
        if std::mem::replace(&mut chosen[each], true) {
            return Err(Error::invalid(
                name,
                format!("axis {each} is named twice in {}", shape(axes)),
            ));
        }
    }
    Ok(chosen)
}

/// Checks that `index` may look something up.
pub(super) fn index(name: &'static str, index: DType) -> Result<(), Error> {
    match index {
        DType::I64 | DType::I32 | DType::U32 | DType::U8 => Ok(()),
        _ => Err(Error::invalid(
            name,
            format!("the index is {index}; it must be i64, i32, u32 or u8"),
        )),
    }
}

/// The dtype that a function of one element gives.
pub(super) fn unary(op: UnaryOp, dtype: DType) -> Result<DType, Error> {
    let name = op.name();
    match op {
        UnaryOp::Neg => defined(name, dtype, dtype != DType::Bool, NUMBERS)?,
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Sqrt | UnaryOp::Tanh | UnaryOp::Recip => {
            defined(name, dtype, dtype.is_float() || dtype.is_complex(), FIELDS)?;
        }
        UnaryOp::Not => {
            let bits = dtype == DType::Bool || dtype.is_integer();
            defined(name, dtype, bits, "bool and integers")?;
        }
        _ => {}
    }
    Ok(match op {
        UnaryOp::Abs => dtype.real(),
        UnaryOp::IsNan => DType::Bool,
        _ => dtype,
    })
}

/// Checks that a function of two elements is defined for `dtype`.
pub(super) fn binary(op: BinaryOp, dtype: DType) -> Result<(), Error> {
    let name = op.name();
    match op {
        BinaryOp::Sub | BinaryOp::Div => defined(name, dtype, dtype != DType::Bool, NUMBERS),
        BinaryOp::Rem => {
            let real = dtype != DType::Bool && !dtype.is_complex();
            defined(name, dtype, real, "integers and real floats")
        }
        BinaryOp::Min | BinaryOp::Max => ordered(name, dtype),
        _ => Ok(()),
    }
}

/// Checks that a comparison is defined for `dtype`.
pub(super) fn compare(op: CompareOp, dtype: DType) -> Result<(), Error> {
    match op {
        CompareOp::Eq | CompareOp::Ne => Ok(()),
        _ => ordered(op.name(), dtype),
    }
}

/// Checks that elements of `dtype` have an order.
pub(super) fn ordered(name: &'static str, dtype: DType) -> Result<(), Error> {
    let real = !dtype.is_complex();
    defined(name, dtype, real, "types that have an order")
}

/// Checks that a reduction of `dtype` may give `out`.
pub(super) fn reduce(op: ReduceOp, dtype: DType, out: DType) -> Result<(), Error> {
    let name = op.name();
    match op {
        ReduceOp::Sum | ReduceOp::Prod => accumulated(name, dtype, out),
        ReduceOp::Min | ReduceOp::Max => {
            ordered(name, dtype)?;
            gives(name, dtype, out, &[dtype])
        }
        _ => gives(name, dtype, out, &[DType::Bool]),
    }
}

/// Checks that a running reduction of `dtype` may give `out`.
pub(super) fn scan(op: ScanOp, dtype: DType, out: DType) -> Result<(), Error> {
    let name = op.name();
    match op {
        ScanOp::Sum | ScanOp::Prod => accumulated(name, dtype, out),
        _ => {
            ordered(name, dtype)?;
            gives(name, dtype, out, &[dtype])
        }
    }
}

/// Checks that a sum or product of `dtype` may give `out`.
fn accumulated(name: &'static str, dtype: DType, out: DType) -> Result<(), Error> {
    match dtype {
        DType::F16 | DType::BF16 => gives(name, dtype, out, &[dtype, DType::F32]),
        _ if dtype.is_float() || dtype.is_complex() => gives(name, dtype, out, &[dtype]),
        _ => gives(name, dtype, out, &[DType::I64, DType::F64]),
    }
}

/// Checks that `out` is among what the operation gives.
fn gives(name: &'static str, dtype: DType, out: DType, allowed: &[DType]) -> Result<(), Error> {
    if allowed.contains(&out) {
        return Ok(());
    }
    let allowed: Vec<&str> = allowed.iter().map(|each| each.name()).collect();
    Err(Error::invalid(
        name,
        format!(
            "of {dtype} cannot give {out}, only {}",
            allowed.join(" or ")
        ),
    ))
}

const NUMBERS: &str = "integers, floats and complex numbers";
/// Where the elementary functions are defined.
pub(super) const FIELDS: &str = "floats and complex numbers";

/// Dims as text: `(2, 3)`, `(3)`, `()`.
pub(super) const fn shape(dims: &[usize]) -> Shape<'_> {
    Shape(dims)
}

/// See [`shape`].
pub(super) struct Shape<'a>(&'a [usize]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0)
    }
}

/// Strides as text, in the same form.
struct Strides<'a>(&'a [isize]);

impl fmt::Display for Strides<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, self.0)
    }
}

fn list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    f.write_str("(")?;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(")")
}
