//! What a machine is like: its devices, the routes between them, and its pace.
//!
//! Knows nothing of faults: those are the plan's.

use super::rng::Rng;

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Bytes of memory of each device.
    pub devices: Vec<usize>,
    /// What becomes of direct copies between two devices.
    pub route: PeerRoute,
    /// When work runs; `None`: drawn from the seed.
    pub pace: Option<Pace>,
    /// Fruitless looks without any progress after which held events are released.
    pub step_limit: u64,
}

impl Default for Config {
    /// One device of 64 MiB, at a pace drawn from the seed.
    fn default() -> Self {
        Self {
            devices: vec![64 << 20],
            route: PeerRoute::None,
            pace: None,
            step_limit: 10_000,
        }
    }
}

/// What becomes of direct copies between two devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerRoute {
    /// There is none: enabling it is refused.
    None,
    /// It works.
    Works,
    /// It reports success and delivers wrong bytes.
    Corrupts,
}

/// When work runs. Chances are in 256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How likely any call lets an item run that nothing forces.
    pub idle: u32,
    /// The most looks at an event that are answered "not yet" while nothing is forced.
    pub patience: u32,
    /// How likely an item that is not needed runs along when something is forced.
    pub along: u32,
}

impl Pace {
    /// Runs only what a host wait needs, at the first look.
    pub const LAZY: Self = Self {
        idle: 0,
        patience: 0,
        along: 0,
    };

    /// One of the paces from "as late as can be" to "almost at once".
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let one_of = |rng: &mut Rng, table: [u32; 6]| table[rng.below(6)];
        Self {
            idle: one_of(rng, [0, 0, 2, 16, 64, 200]),
            patience: one_of(rng, [0, 0, 1, 3, 8, 20]),
            along: one_of(rng, [0, 0, 0, 16, 64, 160]),
        }
    }
}
