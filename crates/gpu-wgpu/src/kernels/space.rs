//! The order in which a kernel walks its elements, and where each lies.
//!
//! Positions are 32 bits wide: an argument is no larger than one binding, and one binding holds
//! fewer than 2^32 bytes, so no position of an element in it reaches 2^32, and arithmetic on them
//! that wraps comes out right, negative strides included. Promises to refuse what does not fit.
//! Knows nothing of what is computed.

use super::launch::Launch;
use super::text::{param, word};
use gpu_seam::{DType, GpuError, View};
use std::fmt::Write as _;

/// The most elements that one kernel walks: beyond it the numbers of invocations would wrap.
pub(crate) const MOST: u64 = u32::MAX as u64 - (1 << 20);

/// A view whose numbers have been seen to fit in 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View32<'a> {
    view: View<'a>,
}

impl<'a> View32<'a> {
    /// `view`, unless it is too large.
    pub(crate) fn of(name: &'static str, view: &View<'a>) -> Result<Self, GpuError> {
        let fits = view
            .extent()
            .is_some_and(|(_, end)| u32::try_from(end).is_ok())
            && view.rank() <= word::RANK;
        match fits {
            true => Ok(Self { view: *view }),
            false => Err(too_large(name, "a view", view)),
        }
    }

    /// How many elements it has, if a kernel can walk them.
    pub(crate) fn count(name: &'static str, view: &View<'_>) -> Result<u32, GpuError> {
        view.elements()
            .filter(|&count| count as u64 <= MOST)
            .and_then(|count| u32::try_from(count).ok())
            .ok_or_else(|| too_large(name, "one operation", view))
    }

    pub(crate) const fn dtype(&self) -> DType {
        self.view.dtype
    }

    pub(crate) const fn offset(&self) -> usize {
        self.view.offset
    }

    /// The length of dimension `at`; in an operation whose elements were counted it fits.
    pub(crate) fn dim(&self, at: usize) -> u32 {
        u32::try_from(self.view.dims[at]).unwrap_or(u32::MAX)
    }

    /// The stride of dimension `at`, modulo 2^32.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positions wrap: see the module's documentation"
    )]
    pub(crate) fn stride(&self, at: usize) -> u32 {
        self.view.strides[at] as u32
    }
}

fn too_large(name: &'static str, what: &str, view: &View<'_>) -> GpuError {
    GpuError::unsupported(
        name,
        format!(
            "{what} of dims {:?} from element {} exceeds what 32-bit positions and {} dimensions hold",
            view.dims,
            view.offset,
            word::RANK
        ),
    )
}

/// How a kernel finds element number i of each operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Every operand's elements lie one after the other.
    Linear,
    /// Every operand has that many strides.
    Strided(u8),
}

impl Space {
    /// The ranks that there are kernels for; a view of another rank has leading ones.
    const RANKS: [u8; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

    /// The space of views of equal dims.
    pub(crate) fn of<'v>(views: impl Iterator<Item = &'v View32<'v>> + Clone) -> Self {
        if views.clone().all(|view| view.view.is_contiguous()) {
            return Self::Linear;
        }
        Self::ranked(views.map(|view| view.view.rank()).max().unwrap_or(0))
    }

    /// The strided space for views of at most that rank.
    pub(crate) fn ranked(rank: usize) -> Self {
        let fits = |known: &&u8| usize::from(**known) >= rank;
        Self::Strided(Self::RANKS.iter().find(fits).copied().unwrap_or(16))
    }

    /// How many coordinates there are.
    pub(crate) const fn rank(self) -> usize {
        match self {
            Self::Linear => 0,
            Self::Strided(rank) => rank as usize,
        }
    }

    /// The lines that compute the coordinates `c0`, `c1`, … of element number `index`.
    pub(crate) fn coordinates(self, index: &str) -> String {
        let mut text = String::new();
        let mut left = index.to_owned();
        for at in (0..self.rank()).rev() {
            if at == 0 {
                let _ = writeln!(text, "let c0 = {left};");
                break;
            }
            let dim = param(word::DIMS + at);
            let _ = writeln!(text, "let c{at} = {left} % {dim};");
            let _ = writeln!(text, "let q{at} = {left} / {dim};");
            left = format!("q{at}");
        }
        text
    }

    /// The expression for the position of element number `index` of binding `bound`, whose
    /// coordinates have been computed.
    pub(crate) fn position(self, index: &str, bound: usize) -> String {
        let mut text = param(word::BASE + bound);
        match self {
            Self::Linear => {
                let _ = write!(text, " + {index}");
            }
            Self::Strided(_) => {
                for at in 0..self.rank() {
                    let stride = param(word::STRIDES + word::RANK * bound + at);
                    let _ = write!(text, " + c{at} * {stride}");
                }
            }
        }
        text
    }

    /// Enters the dims of `view` into the parameters, with leading ones.
    pub(crate) fn dims(self, launch: &mut Launch, view: &View32<'_>) {
        let rank = view.view.rank();
        for at in 0..self.rank() {
            let dim = (at + rank)
                .checked_sub(self.rank())
                .map_or(1, |at| view.dim(at));
            launch.param(word::DIMS + at, dim);
        }
    }

    /// Enters the strides of binding `bound`.
    pub(crate) fn strides(self, launch: &mut Launch, bound: usize, view: &View32<'_>) {
        let rank = view.view.rank();
        for at in 0..self.rank() {
            let stride = (at + rank)
                .checked_sub(self.rank())
                .map_or(0, |at| view.stride(at));
            launch.param(word::STRIDES + word::RANK * bound + at, stride);
        }
    }
}

impl Space {
    /// Makes the stride of dimension `axis` of a view of that rank 0 for binding `bound`.
    pub(crate) const fn clear_stride(
        self,
        launch: &mut Launch,
        bound: usize,
        axis: usize,
        rank: usize,
    ) {
        let at = self.rank() - rank + axis;
        launch.param(word::STRIDES + word::RANK * bound + at, 0);
    }

    /// Walks only the first element along dimension `axis` of a view of that rank.
    pub(crate) const fn one_along(self, launch: &mut Launch, axis: usize, rank: usize) {
        let at = self.rank() - rank + axis;
        launch.param(word::DIMS + at, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Space, View32};
    use gpu_seam::{DType, SeamError, View};

    #[test]
    fn ranks_are_rounded_up_and_contiguous_views_are_linear() {
        let dims = [2, 3, 4];
        let flat = View::new(DType::F32, 7, &dims, &[12, 4, 1]);
        let turned = View::new(DType::F32, 0, &dims, &[1, 2, 6]);
        let [flat, turned] = [flat, turned].map(|view| View32::of("copy", &view).unwrap());
        assert_eq!(Space::of([flat, flat].iter()), Space::Linear);
        assert_eq!(Space::of([flat, turned].iter()), Space::Strided(3));
        assert_eq!(Space::ranked(5), Space::Strided(6));
        assert_eq!(Space::ranked(0), Space::Strided(1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let view = View::new(DType::U8, 0, &[1 << 33], &[0]);
        assert!(View32::of("sum", &view).is_ok());
        let count = View32::count("sum", &view);
        assert_eq!(count.unwrap_err().kind(), SeamError::Unsupported);
        let far = View::new(DType::U8, 1 << 32, &[1], &[0]);
        assert!(View32::of("sum", &far).is_err());
    }
}
