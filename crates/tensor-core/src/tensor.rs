//! `Tensor`: a storage of a device, a dtype and a layout.
//!
//! Promises that a tensor is a small value (a clone is two counted handles and an inline layout),
//! that its elements never change, and that every failure names the operation and the tensors
//! involved. Knows nothing of what any operation computes: validation and canonical forms are
//! gpu-dispatch's business.

use crate::device::Device;
use crate::error::{Described, Error, ErrorKind};
use crate::shape::Layout;
use gpu_dispatch::{Call, DynStorage, Output};
use gpu_seam::{DType, View};
use smallvec::SmallVec;
use std::fmt;

/// An n-dimensional array on a device.
///
/// Operations return at once: a result is pending until the device has computed it, then ready or
/// failed, and can be used by further operations meanwhile. Only what brings bytes to the host
/// ([`to_vec`](Self::to_vec), [`wait`](Self::wait)…) waits. What went wrong on the device is told
/// there, and to everything that was computed from it.
///
/// Operations never change their operands. Views ([`permute`](Self::permute),
/// [`slice`](Self::slice)…) share the operand's storage and copy nothing.
///
/// There is no implicit promotion: operands have one dtype, or are cast with
/// [`to_dtype`](Self::to_dtype). `docs/semantics.md` in the repository is the table of what every
/// operation gives for every dtype.
#[derive(Clone)]
pub struct Tensor {
    device: Device,
    storage: DynStorage,
    dtype: DType,
    layout: Layout,
}

impl Tensor {
    pub(crate) const fn from_parts(
        device: Device,
        storage: DynStorage,
        dtype: DType,
        layout: Layout,
    ) -> Self {
        Self {
            device,
            storage,
            dtype,
            layout,
        }
    }

    /// Elements along each dimension; none for a scalar.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        self.layout.dims()
    }

    /// The same as [`dims`](Self::dims), by its other name.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.dims()
    }

    /// The size of one dimension.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn dim(&self, axis: impl Into<crate::Axis>) -> Result<usize, Error> {
        let axis = self.layout.axis("dim", axis.into().0);
        let axis = axis.map_err(|error| error.with_operands([self.describe()]))?;
        Ok(self.dims()[axis])
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device, with the lane that operations on this tensor go to.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// Where the elements are in the storage.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Steps along each dimension, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// Whether the elements lie one after the other in row-major order.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// The storage that the elements lie in; views of one tensor share it.
    #[must_use]
    pub const fn storage(&self) -> &DynStorage {
        &self.storage
    }

    /// The elements, as a call names them.
    pub(crate) fn seam_view(&self) -> View<'_> {
        self.layout.view(self.dtype)
    }

    /// Another layout of the same elements' storage.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self::from_parts(
            self.device.clone(),
            self.storage.clone(),
            self.dtype,
            layout,
        )
    }

    /// A view of this tensor, or an error that names it.
    pub(crate) fn viewed(&self, layout: Result<Layout, Error>) -> Result<Self, Error> {
        match layout {
            Ok(layout) => Ok(self.with_layout(layout)),
            Err(error) => Err(error.with_operands([self.describe()])),
        }
    }

    /// What an error says of this tensor.
    pub(crate) fn describe(&self) -> Described {
        Described {
            dims: self.dims().iter().copied().collect(),
            dtype: self.dtype,
            device: self.device.name().to_owned(),
        }
    }

    /// Runs `call` on the lane of the first of `inputs`, the tensors of its views in order. `op` is
    /// the user's name for it.
    pub(crate) fn submit(
        op: &'static str,
        call: &Call<'_>,
        inputs: &[&Self],
    ) -> Result<Self, Error> {
        let Some(first) = inputs.first() else {
            return Err(Error::invalid(op, "there is no operand"));
        };
        let storages: SmallVec<[&DynStorage; 4]> =
            inputs.iter().map(|tensor| &tensor.storage).collect();
        match first.device.face().submit(call, &storages) {
            Ok(output) => Ok(Self::of_output(&first.device, output)),
            Err(cause) => Err(failure(op, call.name(), cause, inputs)),
        }
    }

    /// The tensor that an engine gave.
    pub(crate) fn of_output(device: &Device, output: Output<DynStorage>) -> Self {
        let layout = Layout::of_result(output.dims);
        Self::from_parts(device.clone(), output.storage, output.dtype, layout)
    }
}

/// What the engine answered, with the tensors involved.
#[cold]
fn failure(
    op: &'static str,
    own: &'static str,
    cause: gpu_dispatch::Error,
    inputs: &[&Tensor],
) -> Error {
    let error = Error::call(op, own, cause);
    // Two engines of one device have one name: where that is the matter, their domains tell them
    // apart.
    let foreign = error.kind() == ErrorKind::ForeignDomain;
    error.with_operands(inputs.iter().map(|tensor| {
        let mut described = tensor.describe();
        if foreign {
            described.device = format!("{:?}", tensor.device);
        }
        described
    }))
}

impl fmt::Debug for Tensor {
    /// Shape, dtype and device; never elements, so that it never waits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({})", self.describe())
    }
}

impl fmt::Display for Tensor {
    /// The same as `Debug`, without the name of the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Tensor;

    #[test]
    fn a_tensor_goes_to_any_thread_and_is_small() {
        const fn any_thread<T: Send + Sync + 'static>() {}
        any_thread::<Tensor>();
        any_thread::<crate::Device>();
        any_thread::<crate::Error>();
        assert_eq!(size_of::<crate::Error>(), size_of::<usize>());
        assert!(size_of::<Tensor>() <= 192, "{}", size_of::<Tensor>());
    }
}
