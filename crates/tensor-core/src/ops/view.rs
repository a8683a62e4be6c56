//! Views: they share the storage, and copy nothing unless they say so.

use crate::error::{Error, Shown};
use crate::shape::{Axes, Axis, Extents, Layout, Shape, Slice};
use crate::tensor::Tensor;
use gpu_dispatch::Dims;

impl Tensor {
    /// The same elements in row-major order with other dims, of which one may be -1: what remains.
    /// A view where strides exist for it, else a copy.
    ///
    /// # Errors
    /// Dims of another number of elements, or none that -1 could be.
    pub fn reshape(&self, dims: impl Into<Extents>) -> Result<Self, Error> {
        const OP: &str = "reshape";
        let dims = self.layout().fill_in(OP, &dims.into());
        let dims = dims.map_err(|error| error.with_operands([self.describe()]))?;
        match self.layout().reshaped(&dims) {
            Some(layout) => Ok(self.with_layout(layout)),
            None => {
                let copy = self.copied(OP, self.dtype())?;
                let layout = Layout::of_result(dims);
                Ok(copy.with_layout(layout))
            }
        }
    }

    /// As [`reshape`](Self::reshape), but never a copy.
    ///
    /// # Errors
    /// As there, and where no strides exist for it.
    pub fn view(&self, dims: impl Into<Extents>) -> Result<Self, Error> {
        const OP: &str = "view";
        let layout = self.layout().fill_in(OP, &dims.into()).and_then(|dims| {
            self.layout().reshaped(&dims).ok_or_else(|| {
                let (strides, to) = (Shown(self.strides()), Shown(&dims));
                let detail = format!("no strides give {to} from {strides}: reshape copies");
                Error::invalid(OP, detail)
            })
        });
        self.viewed(layout)
    }

    /// The dimensions from `first` to `last` as one. A view where strides exist for it, else a
    /// copy.
    ///
    /// # Errors
    /// An axis that is not there, or `first` behind `last`.
    pub fn flatten(&self, first: impl Into<Axis>, last: impl Into<Axis>) -> Result<Self, Error> {
        const OP: &str = "flatten";
        if self.rank() == 0 {
            return self.reshape([1]);
        }
        let (first, last) = (first.into().0, last.into().0);
        let layout = self.layout();
        let range = layout.axis(OP, first).and_then(|from| {
            let to = layout.axis(OP, last)?;
            if from > to {
                let detail = format!("axis {first} comes after axis {last}");
                return Err(Error::invalid(OP, detail));
            }
            Ok((from, to))
        });
        let (from, to) = range.map_err(|error| error.with_operands([self.describe()]))?;
        let dims = self.dims();
        // A product that overflows has a zero dimension beside it: then any size is as good, and the
        // reshape refuses what cannot be addressed.
        let merged = match dims[from..=to].contains(&0) {
            true => 0,
            false => dims[from..=to]
                .iter()
                .fold(1usize, |product, &dim| product.saturating_mul(dim)),
        };
        let flat: Dims = dims[..from]
            .iter()
            .copied()
            .chain([merged])
            .chain(dims[to + 1..].iter().copied())
            .collect();
        self.reshape(Shape::from(flat))
            .map_err(|error| error.named(OP))
    }

    /// The dimensions in another order.
    ///
    /// # Errors
    /// Axes that are not each of them once.
    pub fn permute(&self, axes: impl Into<Axes>) -> Result<Self, Error> {
        match axes.into().0 {
            Some(axes) => self.viewed(self.layout().permuted("permute", &axes)),
            None => Ok(self.clone()),
        }
    }

    /// Two dimensions exchanged.
    ///
    /// # Errors
    /// An axis that is not there.
    #[doc(alias = "swapaxes")]
    pub fn transpose(&self, a: impl Into<Axis>, b: impl Into<Axis>) -> Result<Self, Error> {
        self.viewed(
            self.layout()
                .transposed("transpose", a.into().0, b.into().0),
        )
    }

    /// The last two dimensions exchanged.
    ///
    /// # Errors
    /// A rank below 2.
    pub fn t(&self) -> Result<Self, Error> {
        self.viewed(self.layout().transposed("t", -2, -1))
    }

    /// `len` positions along `axis`, from `start` on.
    ///
    /// # Errors
    /// An axis that is not there, or positions outside it.
    pub fn narrow(&self, axis: impl Into<Axis>, start: usize, len: usize) -> Result<Self, Error> {
        let axis = axis.into().0;
        self.viewed(self.layout().narrowed("narrow", axis, start, len))
    }

    /// NumPy's `start:stop:step` along `axis`: what lies outside is cut off, a negative step goes
    /// backwards. Ranges of integers are slices too.
    ///
    /// # Errors
    /// An axis that is not there, or a step of zero.
    pub fn slice(&self, axis: impl Into<Axis>, slice: impl Into<Slice>) -> Result<Self, Error> {
        self.viewed(self.layout().sliced("slice", axis.into().0, slice.into()))
    }

    /// Stretched to `dims` by NumPy's rule: dimensions of size 1 repeat, new ones come in front.
    ///
    /// # Errors
    /// A dimension that is neither 1 nor what is asked, or fewer dims than there are.
    pub fn broadcast_to(&self, dims: impl Into<Shape>) -> Result<Self, Error> {
        self.viewed(self.layout().broadcast("broadcast_to", &dims.into().0))
    }

    /// As [`broadcast_to`](Self::broadcast_to); -1 keeps the size that a dimension has.
    ///
    /// # Errors
    /// As there, and a -1 where there is no dimension.
    pub fn expand(&self, dims: impl Into<Extents>) -> Result<Self, Error> {
        self.viewed(self.layout().expanded("expand", &dims.into()))
    }

    /// Without the dimensions `axes`, each of size 1; `..` drops all that are.
    ///
    /// # Errors
    /// An axis that is not there, or of another size: as NumPy, where PyTorch changes nothing.
    pub fn squeeze(&self, axes: impl Into<Axes>) -> Result<Self, Error> {
        self.viewed(self.layout().squeezed("squeeze", axes.into().0.as_deref()))
    }

    /// With a new dimension of size 1 at `axis` of the result.
    ///
    /// # Errors
    /// An axis that the result would not have.
    #[doc(alias = "expand_dims")]
    pub fn unsqueeze(&self, axis: impl Into<Axis>) -> Result<Self, Error> {
        self.viewed(self.layout().unsqueezed("unsqueeze", axis.into().0))
    }

    /// Backwards along `axes`.
    ///
    /// # Errors
    /// An axis that is not there, or named twice.
    pub fn flip(&self, axes: impl Into<Axes>) -> Result<Self, Error> {
        self.viewed(self.layout().flipped("flip", axes.into().0.as_deref()))
    }

    /// The diagonals of the planes of two axes, as a new last dimension: those that start `offset`
    /// to the right of the main ones, or to the left when it is negative. Empty when that is
    /// outside.
    ///
    /// # Errors
    /// An axis that is not there, or twice the same.
    pub fn diagonal(
        &self,
        offset: isize,
        first: impl Into<Axis>,
        second: impl Into<Axis>,
    ) -> Result<Self, Error> {
        let (first, second) = (first.into().0, second.into().0);
        self.viewed(self.layout().diagonal("diagonal", offset, first, second))
    }
}
