//! The device: memory, streams, events, copies, kernels and faults, deterministic from a seed.
//!
//! # What it promises
//!
//! Every rule that the user of a real device must keep is a [`Rule`], and breaking it is a
//! [`Violation`] with the history of the stream; keeping the rules, the user sees only behaviour
//! that the vendors' guides allow. Within these bounds it is as unhelpful as it can be: nothing runs
//! before a host wait needs it or the seed allows it, only what a wait needs runs, streams overtake
//! each other wherever no recorded wait forbids it, memory that nobody wrote and the destination of
//! a copy that has not run hold poison, and addresses of freed memory come again.
//!
//! Ordering is judged by vector clocks over what was recorded and waited for, not by what chanced
//! to run first: a missing wait is found whatever the schedule.
//!
//! Same seed, same plan, same calls: same history, on every machine.
//!
//! It knows nothing of the workspace that it is used in.

mod bits;
mod clock;
mod config;
mod history;
mod launch;
mod machine;
mod memory;
mod plan;
mod queue;
mod rng;
mod run;
mod state;
mod status;
mod streams;

pub use config::{Config, Pace, PeerRoute};
pub use history::{Entry, Fired, Rule, Violation, What};
pub use launch::Launch;
pub use machine::{Census, Counts, Machine, MemoryState};
pub use memory::{Address, FRESH, POISON, Span};
pub use plan::{Fault, FaultPlan};
pub use queue::{Access, Body, EventId, Kernel, StreamId};
pub use rng::Rng;
pub use status::{Failure, Function, Status};
