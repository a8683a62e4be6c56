//! Why an einsum was refused: what was asked, where, and what was found.
//!
//! Promises that every text names the offending operand, index or step, and quotes no more than a
//! few characters of a long input. Knows nothing of tensors or devices.

use std::fmt;

/// A spec, a set of shapes or a path that does not describe a contraction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EinsumError {
    /// The text is not a spec. `position` counts characters from 0.
    #[error("the spec is broken at character {position}: {detail}")]
    Spec {
        /// Where, in characters from the start.
        position: usize,
        /// What is wrong there.
        detail: String,
    },
    /// The spec has another number of terms than there are operands.
    #[error("the spec has {terms} terms, but there are {operands} operands")]
    Operands {
        /// Terms in the spec.
        terms: usize,
        /// Operands given.
        operands: usize,
    },
    /// An operand has another number of dimensions than its term has indices.
    #[error(
        "operand {operand} has {rank} dimensions, but its term `{term}` takes {takes}",
        takes = Takes { indices: *indices, ellipsis: *ellipsis }
    )]
    Rank {
        /// Which operand, from 0.
        operand: usize,
        /// Its term, shortened when long.
        term: String,
        /// Indices in the term.
        indices: usize,
        /// Whether the term has an ellipsis.
        ellipsis: bool,
        /// Dimensions of the operand.
        rank: usize,
    },
    /// One index stands for dimensions of different sizes.
    #[error(
        "index {index} has size {size} in operand {operand}, but size {first_size} in operand \
         {first_operand}"
    )]
    Size {
        /// The index.
        index: Label,
        /// The operand that first gave it a size.
        first_operand: usize,
        /// That size.
        first_size: usize,
        /// The operand that disagrees.
        operand: usize,
        /// The size there.
        size: usize,
    },
    /// Operands have dimensions under an ellipsis, and the output has no ellipsis to put them in.
    #[error(
        "the operands have {dims} dimensions under their ellipses, but the output has no ellipsis \
         to hold them"
    )]
    Ellipsis {
        /// How many.
        dims: usize,
    },
    /// The path does not lead from the operands to one result.
    #[error("the path is broken at step {step}: {detail}")]
    Path {
        /// Which step, from 0; the number of steps when the fault is at the end.
        step: usize,
        /// What is wrong there.
        detail: String,
    },
    /// A size, a product of sizes or a rank is beyond what can be addressed.
    #[error("{what} is too large: {detail}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The values.
        detail: String,
    },
    /// The element type has no sum of products.
    #[error("there is no einsum of {dtype}: cast the operands to an integer or float type first")]
    DType {
        /// The element type.
        dtype: gpu_seam::DType,
    },
}

/// An index as messages show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// A character of the spec.
    Named(char),
    /// A dimension under the ellipses, counted from the last one, which is 0.
    Ellipsis(usize),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "`{}`", name.escape_debug()),
            Self::Ellipsis(at) => write!(f, "`...` (dimension {at} from its end)"),
        }
    }
}

struct Takes {
    indices: usize,
    ellipsis: bool,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ellipsis {
            true => write!(f, "{} or more", self.indices),
            false => write!(f, "{}", self.indices),
        }
    }
}

/// The first characters of `text`, with a mark when some are left out.
pub(super) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
