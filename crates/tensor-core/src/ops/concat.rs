//! Joining tensors along an old or a new axis.

use super::binary::named;
use crate::error::Error;
use crate::shape::{Axis, Layout};
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::View;
use smallvec::SmallVec;
use std::borrow::Borrow;

impl Tensor {
    /// The tensors one after the other along `axis`. Their dtypes are equal, and so are their
    /// dims, but for `axis`.
    ///
    /// # Errors
    /// No tensors, scalars, an axis that is not there, dims or dtypes that differ, tensors of
    /// different devices.
    #[doc(alias = "concat")]
    #[doc(alias = "concatenate")]
    pub fn cat<T: Borrow<Self>>(tensors: &[T], axis: impl Into<Axis>) -> Result<Self, Error> {
        const OP: &str = "cat";
        let tensors: SmallVec<[&Self; 4]> = tensors.iter().map(Borrow::borrow).collect();
        let layouts = tensors.iter().map(|tensor| tensor.layout());
        joined(OP, &tensors, layouts, axis.into())
    }

    /// The tensors as the positions of a new dimension at `axis` of the result. Their dtypes and
    /// dims are equal.
    ///
    /// # Errors
    /// No tensors, an axis that the result would not have, dims or dtypes that differ, tensors of
    /// different devices.
    pub fn stack<T: Borrow<Self>>(tensors: &[T], axis: impl Into<Axis>) -> Result<Self, Error> {
        const OP: &str = "stack";
        let axis = axis.into();
        let tensors: SmallVec<[&Self; 4]> = tensors.iter().map(Borrow::borrow).collect();
        // Dims that differ would be told as those of the stretched views: say it of the tensors.
        let first = tensors.first().map_or(&[][..], |first| first.dims());
        if let Some(at) = tensors.iter().position(|tensor| tensor.dims() != first) {
            let detail = format!("tensor {at} has another shape than the first");
            let error = Error::invalid(OP, detail);
            return named(Err(error), &[tensors[0], tensors[at]]);
        }
        let layouts: Result<SmallVec<[Layout; 4]>, Error> = tensors
            .iter()
            .map(|tensor| tensor.layout().unsqueezed(OP, axis.0))
            .collect();
        let layouts = named(layouts, &tensors)?;
        joined(OP, &tensors, layouts.iter(), axis)
    }
}

fn joined<'a>(
    op: &'static str,
    tensors: &[&'a Tensor],
    layouts: impl Iterator<Item = &'a Layout> + Clone,
    axis: Axis,
) -> Result<Tensor, Error> {
    let Some(first) = layouts.clone().next() else {
        return Err(Error::invalid(op, "there are no tensors to join"));
    };
    let axis = named(first.axis(op, axis.0), tensors)?;
    let inputs: SmallVec<[View<'_>; 4]> = layouts
        .zip(tensors)
        .map(|(layout, tensor)| layout.view(tensor.dtype()))
        .collect();
    let call = Call::Concat {
        inputs: &inputs,
        axis,
    };
    Tensor::submit(op, &call, tensors)
}
