//! A spec bound to shapes: indices become numbers with sizes.
//!
//! Promises that what comes out is consistent: every index has one size, every product of sizes that
//! describes an operand or the output fits in memory's address range, and what needs no computing is
//! gone (an index of size 1, a broadcast dimension of size 1). Knows nothing of paths or devices.

use super::error::{EinsumError, Label, shorten};
use super::spec::{Spec, Term};
use gpu_seam::MAX_RANK;
use smallvec::SmallVec;
use std::collections::HashMap;

/// The number of an index.
pub(super) type Index = u32;

/// A short list of indices.
pub(super) type Indices = SmallVec<[Index; 8]>;

/// A short list of sizes.
pub(super) type Sizes = SmallVec<[usize; 6]>;

/// A contraction of operands of known shapes.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// The size of each index.
    pub(super) sizes: Vec<usize>,
    pub(super) operands: Vec<Operand>,
    /// The indices of the output that are longer than 1, in order.
    pub(super) output: Indices,
    /// The output's shape, with its dimensions of size 1.
    pub(super) output_shape: Sizes,
    /// Whether some index has size 0, so that no product is summed at all.
    pub(super) empty: bool,
}

/// One operand's shape, and the index of each of its dimensions; `None` where the dimension is of
/// size 1 and stands for nothing.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) shape: Sizes,
    pub(super) axes: SmallVec<[Option<Index>; 6]>,
}

impl Network {
    /// Binds `spec` to the shapes of its operands. `element_size` is what one element takes, in
    /// bytes.
    pub(super) fn bind<S: AsRef<[usize]>>(
        spec: &Spec,
        shapes: &[S],
        element_size: usize,
    ) -> Result<Self, EinsumError> {
        if spec.operands() != shapes.len() {
            return Err(EinsumError::Operands {
                terms: spec.operands(),
                operands: shapes.len(),
            });
        }
        let mut binder = Binder::default();
        for (operand, (term, shape)) in spec.inputs().zip(shapes).enumerate() {
            binder.enter(operand, term, shape.as_ref(), element_size)?;
        }
        binder.finish(spec, shapes, element_size)
    }

    /// The product of the sizes of `indices`, or `None` when it overflows.
    pub(super) fn volume(&self, indices: &[Index]) -> Option<u128> {
        indices.iter().try_fold(1u128, |product, index| {
            product.checked_mul(self.sizes[*index as usize] as u128)
        })
    }
}

/// The bytes of an array of `dims`, or an error that names `what`.
pub(super) fn checked_bytes(
    what: &'static str,
    dims: impl Iterator<Item = usize> + Clone,
    element_size: usize,
) -> Result<usize, EinsumError> {
    if dims.clone().any(|dim| dim == 0) {
        return Ok(0);
    }
    dims.clone()
        .try_fold(element_size, usize::checked_mul)
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| EinsumError::TooLarge {
            what,
            detail: format!(
                "{:?} elements of {element_size} bytes",
                dims.collect::<Vec<_>>()
            ),
        })
}

#[derive(Default)]
struct Binder {
    numbers: HashMap<Label, Index>,
    /// Size of each index, and the operand that gave it.
    sizes: Vec<(usize, usize)>,
    /// The most dimensions that an ellipsis stands for.
    ellipsis: usize,
}

impl Binder {
    /// Gives the indices of one operand their sizes.
    fn enter(
        &mut self,
        operand: usize,
        term: Term<'_>,
        shape: &[usize],
        element_size: usize,
    ) -> Result<(), EinsumError> {
        if shape.len() > MAX_RANK {
            return Err(EinsumError::TooLarge {
                what: "the rank of an operand",
                detail: format!(
                    "operand {operand} has {} dimensions of at most {MAX_RANK}",
                    shape.len()
                ),
            });
        }
        let indices = term.indices.len();
        let fits = match term.ellipsis {
            Some(_) => indices <= shape.len(),
            None => indices == shape.len(),
        };
        if !fits {
            return Err(EinsumError::Rank {
                operand,
                term: shorten(&term.to_string()),
                indices,
                ellipsis: term.ellipsis.is_some(),
                rank: shape.len(),
            });
        }
        checked_bytes("an operand", shape.iter().copied(), element_size)?;
        self.ellipsis = self.ellipsis.max(shape.len() - indices);
        for (label, size) in labelled(term, shape) {
            let index = self.number(label, operand, size)?;
            let (known, first_operand) = &mut self.sizes[index as usize];
            if *known == size {
                continue;
            }
            match label {
                Label::Ellipsis(_) if size == 1 => {}
                Label::Ellipsis(_) if *known == 1 => (*known, *first_operand) = (size, operand),
                _ => {
                    return Err(EinsumError::Size {
                        index: label,
                        first_operand: *first_operand,
                        first_size: *known,
                        operand,
                        size,
                    });
                }
            }
        }
        Ok(())
    }

    /// The number of `label`; a new one takes `size` from `operand`.
    fn number(&mut self, label: Label, operand: usize, size: usize) -> Result<Index, EinsumError> {
        if let Some(index) = self.numbers.get(&label) {
            return Ok(*index);
        }
        let index = Index::try_from(self.sizes.len()).map_err(|_| EinsumError::TooLarge {
            what: "the number of indices",
            detail: format!("more than {}", Index::MAX),
        })?;
        self.numbers.insert(label, index);
        self.sizes.push((size, operand));
        Ok(index)
    }

    fn finish<S: AsRef<[usize]>>(
        self,
        spec: &Spec,
        shapes: &[S],
        element_size: usize,
    ) -> Result<Network, EinsumError> {
        let output = spec.output();
        if self.ellipsis > 0 && output.ellipsis.is_none() {
            return Err(EinsumError::Ellipsis {
                dims: self.ellipsis,
            });
        }
        let sizes: Vec<usize> = self.sizes.iter().map(|(size, _)| *size).collect();
        let mut output_shape = Sizes::new();
        let mut kept = Indices::new();
        let rank = output.indices.len()
            + if output.ellipsis.is_some() {
                self.ellipsis
            } else {
                0
            };
        if rank > MAX_RANK {
            return Err(EinsumError::TooLarge {
                what: "the rank of the output",
                detail: format!("{rank} dimensions of at most {MAX_RANK}"),
            });
        }
        for label in labels(output, rank) {
            if let Some(index) = self.numbers.get(&label) {
                let size = sizes[*index as usize];
                output_shape.push(size);
                if size != 1 {
                    kept.push(*index);
                }
            }
        }
        checked_bytes("the output", output_shape.iter().copied(), element_size)?;
        let operands = spec
            .inputs()
            .zip(shapes)
            .map(|(term, shape)| {
                let axes = labelled(term, shape.as_ref())
                    .map(|(label, size)| self.numbers.get(&label).copied().filter(|_| size != 1))
                    .collect();
                Operand {
                    shape: Sizes::from_slice(shape.as_ref()),
                    axes,
                }
            })
            .collect();
        let empty = sizes.contains(&0);
        Ok(Network {
            sizes,
            operands,
            output: kept,
            output_shape,
            empty,
        })
    }
}

/// The label and size of each dimension of an operand that `term` fits.
fn labelled<'a>(term: Term<'a>, shape: &'a [usize]) -> impl Iterator<Item = (Label, usize)> + 'a {
    labels(term, shape.len()).zip(shape.iter().copied())
}

/// The labels of `term` over `rank` dimensions: the ellipsis takes what the indices leave.
fn labels(term: Term<'_>, rank: usize) -> impl Iterator<Item = Label> + '_ {
    let before = term.ellipsis.unwrap_or(term.indices.len());
    let under = rank - term.indices.len();
    let named = |index: &char| Label::Named(*index);
    term.indices[..before]
        .iter()
        .map(named)
        .chain((0..under).rev().map(Label::Ellipsis))
        .chain(term.indices[before..].iter().map(named))
}
