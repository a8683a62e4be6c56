//! Random programs over the engine on the simulated device, against a plain sequential model.
//!
//! A seed gives a machine, a fault plan and a program ([`Case`]); [`run`] drives the engine with it
//! from one thread and says what did not hold: a value that the model does not have, an error that
//! no planned fault explains, memory or bytes of the budget that never came back, or a rule of the
//! device that was broken. [`shrink`] makes a failing case small. Same case, same history. Knows
//! nothing of the engine's inside.

mod case;
mod judge;
mod shrink;
mod world;

pub use case::{Case, Step};
pub use shrink::shrink;
pub use world::{Report, run, run_kept};
