//! New tensors: from host memory, of one value, counting, random.

use crate::device::Device;
use crate::dtype::{Element, ElementBytes, Number};
use crate::error::{Described, Error, Shown};
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::{DType, Distribution, Scalar};

impl Tensor {
    /// A copy of `values` with dims `shape`, in row-major order. Returns once the last byte is on
    /// its way; the slice is not looked at afterwards.
    ///
    /// # Errors
    /// A shape of another number of elements, out of memory, a failed transfer.
    pub fn from_slice<T: Element>(
        values: &[T],
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Self, Error> {
        upload("from_slice", values, shape.into(), device)
    }

    /// As [`from_slice`](Self::from_slice), for a vector that is no longer needed.
    ///
    /// # Errors
    /// As there.
    #[expect(clippy::needless_pass_by_value, reason = "the counterpart of to_vec")]
    pub fn from_vec<T: Element>(
        values: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Self, Error> {
        upload("from_vec", &values, shape.into(), device)
    }

    /// One value, as a tensor without dimensions.
    ///
    /// # Errors
    /// Out of memory.
    pub fn scalar<T: Element>(value: T, device: &Device) -> Result<Self, Error> {
        filled("scalar", &Shape::from([]), value.scalar(), device)
    }

    /// All elements `value`.
    ///
    /// # Errors
    /// A shape that cannot be addressed, out of memory.
    pub fn full<T: Element>(
        shape: impl Into<Shape>,
        value: T,
        device: &Device,
    ) -> Result<Self, Error> {
        filled("full", &shape.into(), value.scalar(), device)
    }

    /// All elements zero.
    ///
    /// # Errors
    /// As for [`full`](Self::full).
    pub fn zeros(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Self, Error> {
        filled("zeros", &shape.into(), Scalar::zero(dtype), device)
    }

    /// All elements one.
    ///
    /// # Errors
    /// As for [`full`](Self::full).
    pub fn ones(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Self, Error> {
        filled("ones", &shape.into(), Scalar::one(dtype), device)
    }

    /// `start, start + 1, …`, up to and without `stop`.
    ///
    /// # Errors
    /// As for [`arange_step`](Self::arange_step).
    pub fn arange<T: Element>(start: T, stop: T, device: &Device) -> Result<Self, Error> {
        arange("arange", start, stop, Number::Int(1), device)
    }

    /// `start, start + step, …`, up to and without `stop`; empty when `step` leads away from it.
    ///
    /// Floats are `start + i * step` in f64, rounded once; their number is
    /// `ceil((stop - start) / step)`.
    ///
    /// # Errors
    /// bool and complex, a step of zero or NaN, infinite bounds, out of memory.
    pub fn arange_step<T: Element>(
        start: T,
        stop: T,
        step: T,
        device: &Device,
    ) -> Result<Self, Error> {
        arange("arange_step", start, stop, step.into(), device)
    }

    /// Numbers drawn uniformly from `[0, 1)`; for complex, both parts. Equal seeds give equal
    /// numbers on every device.
    ///
    /// # Errors
    /// A dtype that is not float or complex, a shape that cannot be addressed, out of memory.
    #[doc(alias = "uniform")]
    pub fn rand(
        shape: impl Into<Shape>,
        dtype: DType,
        seed: u64,
        device: &Device,
    ) -> Result<Self, Error> {
        random(
            "rand",
            Distribution::Uniform,
            &shape.into(),
            dtype,
            seed,
            device,
        )
    }

    /// Numbers drawn from the normal distribution of mean 0 and variance 1; for complex, both
    /// parts. Equal seeds give equal numbers on every device.
    ///
    /// # Errors
    /// As for [`rand`](Self::rand).
    #[doc(alias = "normal")]
    pub fn randn(
        shape: impl Into<Shape>,
        dtype: DType,
        seed: u64,
        device: &Device,
    ) -> Result<Self, Error> {
        random(
            "randn",
            Distribution::Normal,
            &shape.into(),
            dtype,
            seed,
            device,
        )
    }
}

fn upload<T: Element>(
    op: &'static str,
    values: &[T],
    shape: Shape,
    device: &Device,
) -> Result<Tensor, Error> {
    let layout = Layout::contiguous(op, shape.0)?;
    if layout.elements() != values.len() {
        let detail = format!(
            "{} values do not fill shape {} of {}",
            values.len(),
            Shown(layout.dims()),
            layout.elements()
        );
        return Err(Error::invalid(op, detail));
    }
    match device.face().upload(T::as_bytes(values)) {
        Ok(storage) => Ok(Tensor::from_parts(
            device.clone(),
            storage,
            T::DTYPE,
            layout,
        )),
        Err(cause) => {
            let error = Error::engine(op, cause);
            Err(error.with_operands([asked(layout.dims(), T::DTYPE, device)]))
        }
    }
}

fn filled(
    op: &'static str,
    shape: &Shape,
    value: Scalar,
    device: &Device,
) -> Result<Tensor, Error> {
    let call = Call::Fill {
        dims: &shape.0,
        value,
    };
    made(op, &call, shape, value.dtype(), device)
}

fn random(
    op: &'static str,
    distribution: Distribution,
    shape: &Shape,
    dtype: DType,
    seed: u64,
    device: &Device,
) -> Result<Tensor, Error> {
    let call = Call::Random {
        distribution,
        dims: &shape.0,
        dtype,
        seed,
        first: 0,
    };
    made(op, &call, shape, dtype, device)
}

/// The result of a call without inputs.
fn made(
    op: &'static str,
    call: &Call<'_>,
    shape: &Shape,
    dtype: DType,
    device: &Device,
) -> Result<Tensor, Error> {
    match device.face().submit(call, &[]) {
        Ok(output) => Ok(Tensor::of_output(device, output)),
        Err(cause) => {
            let error = Error::call(op, call.name(), cause);
            Err(error.with_operands([asked(&shape.0, dtype, device)]))
        }
    }
}

/// What an error says of the tensor that was asked for.
fn asked(dims: &[usize], dtype: DType, device: &Device) -> Described {
    Described {
        dims: dims.iter().copied().collect(),
        dtype,
        device: device.name().to_owned(),
    }
}

/// Counted on the host and uploaded: there is no device operation for it.
fn arange<T: Element>(
    op: &'static str,
    start: T,
    stop: T,
    step: Number,
    device: &Device,
) -> Result<Tensor, Error> {
    let invalid = |detail: String| Error::invalid(op, detail);
    let (start, stop): (Number, Number) = (start.into(), stop.into());
    let len = match (start, stop, step) {
        (Number::Int(start), Number::Int(stop), Number::Int(step)) => {
            if step == 0 {
                return Err(invalid("the step is zero".to_owned()));
            }
            // All three are at most 64 bits wide, so nothing overflows.
            let span = if step > 0 { stop - start } else { start - stop };
            usize::try_from((span.max(0) + step.abs() - 1) / step.abs()).ok()
        }
        (Number::Float(start), Number::Float(stop), step) => {
            let step = as_f64(step);
            let len = ((stop - start) / step).ceil();
            if !start.is_finite() || !stop.is_finite() || step == 0.0 || len.is_nan() {
                let detail = format!("nothing counts from {start:?} to {stop:?} by {step:?}");
                return Err(invalid(detail));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates: what is too long is refused below"
            )]
            Some(len.max(0.0) as usize)
        }
        _ => return Err(invalid(format!("{} cannot be counted", T::DTYPE))),
    };
    // What the device could never hold is not asked of the host either.
    let most = device.info().memory_bytes / T::DTYPE.size();
    let memory = len
        .filter(|&len| len <= most)
        .and_then(<T::Bytes as ElementBytes>::zeros);
    let Some(mut values) = memory.map(T::from_memory) else {
        let detail = format!("from {start} to {stop} by {step} there are too many elements");
        return Err(invalid(detail));
    };
    for (at, value) in values.iter_mut().enumerate() {
        *value = counted(at, start, step)
            .ok_or_else(|| invalid(format!("element {at} is outside the range of {}", T::DTYPE)))?;
    }
    let shape = Shape::from([values.len()]);
    upload(op, &values, shape, device)
}

/// `start + at * step`, rounded once.
fn counted<T: Element>(at: usize, start: Number, step: Number) -> Option<T> {
    let number = match (start, step) {
        (Number::Int(start), Number::Int(step)) => Number::Int(start + at as i128 * step),
        #[expect(clippy::cast_precision_loss, reason = "positions are below 2^53")]
        (Number::Float(start), step) => Number::Float((at as f64).mul_add(as_f64(step), start)),
        _ => return None,
    };
    T::from_scalar(number.to_scalar(T::DTYPE).ok()?)
}

#[expect(clippy::cast_precision_loss, reason = "the only integer step is 1")]
const fn as_f64(number: Number) -> f64 {
    match number {
        Number::Int(value) => value as f64,
        Number::Float(value) => value,
        _ => f64::NAN,
    }
}
