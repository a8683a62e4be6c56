//! Casts and copies.

use crate::error::Error;
use crate::tensor::Tensor;
use gpu_dispatch::Call;
use gpu_seam::DType;

impl Tensor {
    /// The elements as `dtype`; this tensor itself where they already are.
    ///
    /// Floats to integers truncate and saturate, NaN gives 0. Integers to integers wrap. Anything
    /// to bool is `!= 0`, so that NaN is true. To a narrower float: rounded to nearest even.
    /// Complex to real takes the real part.
    ///
    /// # Errors
    /// A dtype that the device does not serve.
    #[doc(alias = "cast")]
    #[doc(alias = "astype")]
    pub fn to_dtype(&self, dtype: DType) -> Result<Self, Error> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        self.copied("to_dtype", dtype)
    }

    /// The same elements, one after the other in row-major order; this tensor itself where they
    /// already are.
    ///
    /// # Errors
    /// The device's own.
    pub fn contiguous(&self) -> Result<Self, Error> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        self.copied("contiguous", self.dtype())
    }

    /// A copy in a storage of its own.
    ///
    /// # Errors
    /// The device's own.
    pub fn copy(&self) -> Result<Self, Error> {
        self.copied("copy", self.dtype())
    }

    pub(super) fn copied(&self, op: &'static str, dtype: DType) -> Result<Self, Error> {
        let call = Call::Copy {
            input: self.seam_view(),
            dtype,
        };
        Self::submit(op, &call, &[self])
    }
}
