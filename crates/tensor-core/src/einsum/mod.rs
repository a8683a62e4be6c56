//! Einstein summation: many operands, one result, by pairs.
//!
//! [`Plan`] is made once from a spec, the operands' shapes and a path, and says what it will cost:
//! operations, copies, peak bytes. Everything up to the program that a plan holds is arithmetic on
//! sizes and knows nothing of tensors or devices; one file carries the program out on tensors.
//!
//! A pair that sums something is one matrix product, batched where an index is shared and kept; a
//! pair that sums nothing is one broadcast multiply. What one operand alone has is summed before.

mod error;
mod execute;
mod find;
mod layout;
mod lower;
mod network;
mod order;
mod path;
mod plan;
mod program;
mod run;
mod spec;
mod tree;

#[cfg(test)]
mod tests;

pub use error::{EinsumError, Label};
pub use execute::einsum;
pub use path::Path;
pub use plan::{Plan, PlannedStep, Route, StepKind};
pub use spec::{Spec, Term};
