//! What `quickstart` and `contract` share: network files, operands from a seed, and a plain
//! evaluator that results are checked against.

mod array;
pub mod evaluate;
pub mod fill;
pub mod network;
mod walk;

pub use array::{Number, TooLarge};
pub use walk::{Broken, Walk, walk as follow};

/// The example in the README is compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
