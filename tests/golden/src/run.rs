//! From a case to calls of tensor-core. The one place that knows what a case's words mean.

use crate::book::{Book, Case, Input};
use gpu_seam::DType;
use half::{bf16, f16};
use num_complex::Complex;
use serde_json::Value;
use std::collections::HashMap;
use tensor_core::{Axes, Device, Element, Error, Number, Slice, Tensor, dtype_from_name};

/// The book's arrays on a device. An array that could not be brought there keeps its error.
pub(crate) struct Inputs<'a> {
    device: &'a Device,
    arrays: HashMap<&'a str, Result<Tensor, String>>,
}

/// Runs `$body` with `$T` standing for the Rust type of `$dtype`.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::Bool => {
                type $T = bool;
                $body
            }
            DType::U8 => {
                type $T = u8;
                $body
            }
            DType::I8 => {
                type $T = i8;
                $body
            }
            DType::U32 => {
                type $T = u32;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::F16 => {
                type $T = f16;
                $body
            }
            DType::BF16 => {
                type $T = bf16;
                $body
            }
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::Complex64 => {
                type $T = Complex<f32>;
                $body
            }
            DType::Complex128 => {
                type $T = Complex<f64>;
                $body
            }
            other => panic!("the golden book knows no {other}"),
        }
    };
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(book: &'a Book, device: &'a Device) -> Self {
        let arrays = book.arrays.iter().map(|(name, array)| {
            let dtype = dtype(&array.dtype);
            let bytes = array.bytes();
            let tensor = with_type!(dtype, T => {
                let values: Vec<T> = bytes.chunks_exact(dtype.size()).map(element).collect();
                Tensor::from_vec(values, &array.shape, device)
            });
            (name.as_str(), tensor.map_err(|error| error.to_string()))
        });
        Self {
            device,
            arrays: arrays.collect(),
        }
    }

    fn tensor(&self, input: &Input) -> Result<Tensor, Error> {
        let (name, steps) = match input {
            Input::Whole(name) => (name.as_str(), &[][..]),
            Input::Viewed(parts) => (text(&parts[0]), &parts[1..]),
        };
        let mut tensor = match &self.arrays[name] {
            Ok(tensor) => tensor.clone(),
            Err(error) => panic!("{name} could not be brought to the device: {error}"),
        };
        for step in steps {
            tensor = viewed(&tensor, list(step))?;
        }
        Ok(tensor)
    }
}

/// The element that little-endian bytes hold.
fn element<T: Element>(bytes: &[u8]) -> T {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let scalar = gpu_seam::Scalar::from_bits(T::DTYPE, u128::from_le_bytes(wide));
    match T::from_scalar(scalar) {
        Some(element) => element,
        None => panic!("{scalar:?} is of its own dtype"),
    }
}

/// The little-endian bytes of a tensor's elements.
pub(crate) fn bytes(tensor: &Tensor) -> Result<Vec<u8>, Error> {
    with_type!(tensor.dtype(), T => {
        let values = tensor.to_vec::<T>()?;
        let scalars = values.into_iter().map(|value| value.scalar().to_le_bytes());
        Ok(scalars.flat_map(|bytes| bytes.into_iter().take(T::DTYPE.size())).collect())
    })
}

fn viewed(tensor: &Tensor, step: &[Value]) -> Result<Tensor, Error> {
    let args = &step[1..];
    match text(&step[0]) {
        "permute" => tensor.permute(axes(&args[0])),
        "transpose" => tensor.transpose(whole(&args[0]), whole(&args[1])),
        "slice" => {
            let slice = Slice::new(
                maybe(&args[1]),
                maybe(&args[2]),
                maybe(&args[3]).unwrap_or(1),
            );
            tensor.slice(whole(&args[0]), slice)
        }
        "narrow" => tensor.narrow(whole(&args[0]), size(&args[1]), size(&args[2])),
        "broadcast_to" => tensor.broadcast_to(sizes(&args[0])),
        "flip" => tensor.flip(axes(&args[0])),
        "unsqueeze" => tensor.unsqueeze(whole(&args[0])),
        "squeeze" => tensor.squeeze(whole(&args[0])),
        "diagonal" => tensor.diagonal(whole(&args[0]), whole(&args[1]), whole(&args[2])),
        "reshape" => tensor.reshape(list(&args[0]).iter().map(whole).collect::<Vec<isize>>()),
        other => panic!("the golden book has no view called {other}"),
    }
}

pub(crate) fn run(case: &Case, inputs: &Inputs<'_>) -> Result<Tensor, Error> {
    let tensors: Result<Vec<Tensor>, Error> = case
        .inputs
        .iter()
        .map(|input| inputs.tensor(input))
        .collect();
    let tensors = tensors?;
    match (case.op.as_str(), tensors.as_slice()) {
        (op, []) => create(op, case, inputs.device),
        ("cat", parts) => Tensor::cat(parts, whole(&case.args["axis"])),
        ("stack", parts) => Tensor::stack(parts, whole(&case.args["axis"])),
        (op, [x]) => unary(op, x, case),
        (op, [a, b]) => binary(op, a, b, case),
        ("where_cond", [condition, a, b]) => condition.where_cond(a, b),
        ("scatter", [base, index, src]) => base.scatter(whole(&case.args["axis"]), index, src),
        ("scatter_add", [base, index, src]) => {
            base.scatter_add(whole(&case.args["axis"]), index, src)
        }
        ("addmm", [bias, a, b]) => bias.addmm(
            a,
            b,
            number(&case.args["beta"]),
            number(&case.args["alpha"]),
        ),
        (other, _) => panic!("the golden book has no {other} of so many inputs"),
    }
}

fn unary(op: &str, x: &Tensor, case: &Case) -> Result<Tensor, Error> {
    let arg = |name: &str| &case.args[name];
    match op {
        "view" => Ok(x.clone()),
        "neg" => x.neg(),
        "abs" => x.abs(),
        "exp" => x.exp(),
        "log" => x.log(),
        "sqrt" => x.sqrt(),
        "tanh" => x.tanh(),
        "recip" => x.recip(),
        "conj" => x.conj(),
        "is_nan" => x.is_nan(),
        "not" => x.not(),
        "add_number" => x.add(number(arg("number"))),
        "clamp" => x.clamp(number(arg("low")), number(arg("high"))),
        "to_dtype" => x.to_dtype(dtype(text(arg("dtype")))),
        "cumsum" => x.cumsum(whole(arg("axis"))),
        "cumprod" => x.cumprod(whole(arg("axis"))),
        "cummin" => x.cummin(whole(arg("axis"))),
        "cummax" => x.cummax(whole(arg("axis"))),
        op => reduce(op, x, axes(arg("axes")), arg("keep") == &Value::Bool(true)),
    }
}

fn reduce(op: &str, x: &Tensor, axes: Axes, keep: bool) -> Result<Tensor, Error> {
    match (op, keep) {
        ("sum", false) => x.sum(axes),
        ("sum", true) => x.sum_keepdim(axes),
        ("prod", false) => x.prod(axes),
        ("prod", true) => x.prod_keepdim(axes),
        ("min", false) => x.min(axes),
        ("min", true) => x.min_keepdim(axes),
        ("max", false) => x.max(axes),
        ("max", true) => x.max_keepdim(axes),
        ("mean", false) => x.mean(axes),
        ("mean", true) => x.mean_keepdim(axes),
        ("any", false) => x.any(axes),
        ("any", true) => x.any_keepdim(axes),
        ("all", false) => x.all(axes),
        ("all", true) => x.all_keepdim(axes),
        ("argmin", false) => x.argmin(axes),
        ("argmin", true) => x.argmin_keepdim(axes),
        ("argmax", false) => x.argmax(axes),
        ("argmax", true) => x.argmax_keepdim(axes),
        (other, _) => panic!("the golden book has no operation called {other}"),
    }
}

fn binary(op: &str, a: &Tensor, b: &Tensor, case: &Case) -> Result<Tensor, Error> {
    match op {
        "add" => a.add(b),
        "sub" => a.sub(b),
        "mul" => a.mul(b),
        "div" => a.div(b),
        "rem" => a.rem(b),
        "minimum" => a.minimum(b),
        "maximum" => a.maximum(b),
        "eq" => a.eq(b),
        "ne" => a.ne(b),
        "lt" => a.lt(b),
        "le" => a.le(b),
        "gt" => a.gt(b),
        "ge" => a.ge(b),
        "matmul" => a.matmul(b),
        "index_select" => a.index_select(whole(&case.args["axis"]), b),
        "gather" => a.gather(whole(&case.args["axis"]), b),
        other => panic!("the golden book has no operation called {other}"),
    }
}

fn create(op: &str, case: &Case, device: &Device) -> Result<Tensor, Error> {
    let arg = |name: &str| &case.args[name];
    let of = dtype(text(arg("dtype")));
    let seed = || match text(arg("seed")).parse() {
        Ok(seed) => seed,
        Err(error) => panic!("{}: {error}", case.id),
    };
    match op {
        "zeros" => Tensor::zeros(sizes(arg("shape")), of, device),
        "ones" => Tensor::ones(sizes(arg("shape")), of, device),
        "rand" => Tensor::rand(sizes(arg("shape")), of, seed(), device),
        "randn" => Tensor::randn(sizes(arg("shape")), of, seed(), device),
        "arange" => with_type!(of, T => {
            let [start, stop, step] = ["start", "stop", "step"].map(|name| {
                match number(arg(name)).to_scalar(of).ok().and_then(T::from_scalar) {
                    Some(value) => value,
                    None => panic!("{}: {name} is not of {of}", case.id),
                }
            });
            Tensor::arange_step(start, stop, step, device)
        }),
        other => panic!("the golden book has no operation called {other}"),
    }
}

fn dtype(name: &str) -> DType {
    match dtype_from_name(name) {
        Ok(dtype) => dtype,
        Err(error) => panic!("the golden book: {error}"),
    }
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is no list"))
}

fn maybe(value: &Value) -> Option<isize> {
    value.as_i64().and_then(|value| isize::try_from(value).ok())
}

fn whole(value: &Value) -> isize {
    maybe(value).unwrap_or_else(|| panic!("{value} is no whole number"))
}

fn size(value: &Value) -> usize {
    usize::try_from(whole(value)).unwrap_or_else(|_| panic!("{value} is no size"))
}

fn sizes(value: &Value) -> Vec<usize> {
    list(value).iter().map(size).collect()
}

fn axes(value: &Value) -> Axes {
    match value {
        Value::Null => Axes::from(..),
        value => Axes::from(list(value).iter().map(whole).collect::<Vec<isize>>()),
    }
}

fn number(value: &Value) -> Number {
    match (value.as_bool(), value.as_i64(), value.as_f64()) {
        (Some(value), ..) => value.into(),
        (_, Some(value), _) => value.into(),
        (.., Some(value)) => value.into(),
        _ => panic!("{value} is no number"),
    }
}
