//! Looking up and updating by index.
//!
//! An index is of u8, i32, u32 or i64 and counts from 0: a negative one is out of range, as is one
//! beyond the dimension. That is found on the device: the result fails with the operation, the index
//! and the size, and so does whatever was computed from it; the device stays usable.

use super::binary::named;
use crate::error::Error;
use crate::shape::Axis;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::ScatterMode;

impl Tensor {
    /// `out[.., j, ..] = self[.., index[j], ..]` along `axis`; the index has one dimension.
    ///
    /// # Errors
    /// An axis that is not there, an index of another rank or of no integer dtype, tensors of
    /// different devices. An index out of range fails the result.
    #[doc(alias = "take")]
    pub fn index_select(&self, axis: impl Into<Axis>, index: &Self) -> Result<Self, Error> {
        const OP: &str = "index_select";
        let axis = named(self.layout().axis(OP, axis.into().0), &[self, index])?;
        let call = Call::IndexSelect {
            input: self.seam_view(),
            index: index.seam_view(),
            axis,
        };
        Self::submit(OP, &call, &[self, index])
    }

    /// `out[p] = self[p with p[axis] replaced by index[p]]`: NumPy's `take_along_axis`. The index
    /// has this tensor's rank, and its dims do not exceed this tensor's but for `axis`.
    ///
    /// # Errors
    /// An axis that is not there, an index of other dims or of no integer dtype, tensors of
    /// different devices. An index out of range fails the result.
    #[doc(alias = "take_along_axis")]
    pub fn gather(&self, axis: impl Into<Axis>, index: &Self) -> Result<Self, Error> {
        const OP: &str = "gather";
        let axis = named(self.layout().axis(OP, axis.into().0), &[self, index])?;
        let call = Call::Gather {
            input: self.seam_view(),
            index: index.seam_view(),
            axis,
        };
        Self::submit(OP, &call, &[self, index])
    }

    /// A copy of this tensor with `out[p with p[axis] replaced by index[p]] = src[p]`: NumPy's
    /// `put_along_axis`. Of several writers of one element, one wins, whole.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather), and a `src` of other dims than the index or of another
    /// dtype than this tensor.
    #[doc(alias = "put_along_axis")]
    pub fn scatter(&self, axis: impl Into<Axis>, index: &Self, src: &Self) -> Result<Self, Error> {
        scatter("scatter", ScatterMode::Set, self, axis.into(), index, src)
    }

    /// As [`scatter`](Self::scatter), but elements are added to what was there, all of them.
    ///
    /// # Errors
    /// As there.
    pub fn scatter_add(
        &self,
        axis: impl Into<Axis>,
        index: &Self,
        src: &Self,
    ) -> Result<Self, Error> {
        scatter(
            "scatter_add",
            ScatterMode::Add,
            self,
            axis.into(),
            index,
            src,
        )
    }
}

fn scatter(
    op: &'static str,
    mode: ScatterMode,
    base: &Tensor,
    axis: Axis,
    index: &Tensor,
    src: &Tensor,
) -> Result<Tensor, Error> {
    let inputs = [base, index, src];
    let axis = named(base.layout().axis(op, axis.0), &inputs)?;
    let call = Call::Scatter {
        mode,
        base: base.seam_view(),
        index: index.seam_view(),
        src: src.seam_view(),
        axis,
    };
    Tensor::submit(op, &call, &inputs)
}
