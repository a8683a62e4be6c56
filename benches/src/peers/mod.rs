//! The libraries that are measured in this process, ours first.

pub mod candle;
pub mod faer;
pub mod nd;
pub mod ours;
