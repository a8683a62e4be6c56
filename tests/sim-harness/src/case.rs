//! A case: what the machine is like, what goes wrong, and the program.
//!
//! Everything is drawn from one seed; steps name slots, so that any of them may be left out. Knows
//! nothing of how a step is carried out.

use gpu_sim::device::{Config, Fault, FaultPlan, Function, Rng, Status};
use gpu_sim::face::Traits;

/// How many storages a program can name.
pub(crate) const SLOTS: usize = 8;
/// How many pending downloads.
pub(crate) const PENDING: usize = 3;
/// How many lanes of each engine.
pub(crate) const LANES: usize = 3;

/// One step of a program. Slots that are empty make it do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields are slots, lanes, lengths and salts"
)]
pub enum Step {
    Upload {
        to: usize,
        lane: usize,
        n: usize,
        salt: u32,
    },
    Allocate {
        to: usize,
        lane: usize,
        n: usize,
        salt: u32,
    },
    Fill {
        to: usize,
        lane: usize,
        n: usize,
        value: u32,
    },
    Add {
        to: usize,
        a: usize,
        b: usize,
        lane: usize,
    },
    AddScalar {
        to: usize,
        a: usize,
        lane: usize,
        value: u32,
    },
    /// With an index outside the source when `bad`.
    Select {
        to: usize,
        a: usize,
        lane: usize,
        n: usize,
        salt: u32,
        bad: bool,
    },
    Clone {
        to: usize,
        a: usize,
    },
    Drop {
        a: usize,
    },
    Forget {
        a: usize,
    },
    Write {
        a: usize,
        lane: usize,
        at: usize,
        n: usize,
        salt: u32,
    },
    Read {
        a: usize,
        at: usize,
    },
    /// A read whose deadline has passed.
    Glance {
        a: usize,
    },
    Poll {
        a: usize,
    },
    Wait {
        a: usize,
    },
    Download {
        p: usize,
        a: usize,
    },
    PollPending {
        p: usize,
    },
    WaitPending {
        p: usize,
    },
    DropPending {
        p: usize,
    },
    NewLane {
        lane: usize,
    },
    DropLane {
        lane: usize,
    },
    Synchronize {
        engine: usize,
    },
    Trim {
        engine: usize,
    },
    Across {
        to: usize,
        a: usize,
    },
    Close {
        engine: usize,
    },
}

/// A machine, a fault plan and a program.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// Where all of it, and the machine's schedule, was drawn from.
    pub seed: u64,
    /// The devices.
    pub config: Config,
    /// What they can do.
    pub traits: Traits,
    /// What goes wrong.
    pub plan: FaultPlan,
    /// Bytes of the pending budget; `None`: the default.
    pub budget: Option<usize>,
    /// Bytes and number of staging chunks.
    pub staging: (usize, usize),
    /// Whether a full budget refuses.
    pub rejects: bool,
    /// Whether the second engine is on the first's device.
    pub shared_device: bool,
    /// The program.
    pub steps: Vec<Step>,
}

impl Case {
    /// The case of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0xA076_1D64_78BD_642F);
        let one = |rng: &mut Rng, of: &[usize]| of[rng.below(of.len())];
        let memory = one(&mut rng, &[64 << 20, 64 << 20, 64 << 20, 9 << 20]);
        let config = Config {
            devices: vec![memory; 2],
            step_limit: 150,
            ..Config::default()
        };
        let traits = Traits {
            host_visible: rng.chance(32),
            copy_granularity: one(&mut rng, &[1, 4, 4, 16]),
            offset_alignment: one(&mut rng, &[1, 4, 256]),
            scratch: one(&mut rng, &[0, 0, 16, 300]),
            ..Traits::default()
        };
        let budgets = [0, 0, 0, 1, 4096, 12_288, 40_000];
        let budget = match one(&mut rng, &budgets) {
            0 => None,
            bytes => Some(bytes),
        };
        let chunk = one(&mut rng, &[64, 256, 1024, 4096, 65_536]);
        let staging = (chunk, rng.within(1, 4));
        let plan = plan(&mut rng);
        let mut steps = Vec::new();
        for _ in 0..rng.within(4, 48) {
            steps.push(step(&mut rng));
        }
        Self {
            seed,
            config,
            traits,
            plan,
            budget,
            staging,
            rejects: rng.chance(40),
            shared_device: rng.chance(100),
            steps,
        }
    }
}

/// No fault in half of all cases, else one to three.
fn plan(rng: &mut Rng) -> FaultPlan {
    let mut plan = FaultPlan::default();
    if rng.chance(128) {
        return plan;
    }
    for _ in 0..rng.within(1, 3) {
        let nth = rng.within(1, 12) as u64;
        let fault = match rng.below(16) {
            0..=7 => Fault::Call {
                function: *rng.pick(&CALLS).unwrap_or(&Function::Copy),
                nth,
                status: *rng.pick(Status::ALL).unwrap_or(&Status::Unknown),
            },
            8 => Fault::Kernel {
                nth,
                status: Status::LaunchFailed,
            },
            9 => Fault::HalfCopy { nth },
            10 | 11 => Fault::Hold {
                nth,
                looks: rng.within(1, 60) as u64,
            },
            12 => Fault::Limit {
                bytes: rng.within(0, 12) << 20,
            },
            13 => Fault::OutOfMemory {
                one_in: u32::try_from(rng.within(2, 6)).unwrap_or(2),
            },
            14 => Fault::Late {
                looks: u32::try_from(rng.within(1, 20)).unwrap_or(1),
            },
            _ => Fault::Lost {
                call: rng.within(10, 300) as u64,
            },
        };
        plan.faults.push(fault);
    }
    plan
}

/// The calls that may be refused, but for the device query that opening begins with.
const CALLS: [Function; 17] = [
    Function::Allocate,
    Function::Free,
    Function::AllocatePinned,
    Function::FreePinned,
    Function::HostWrite,
    Function::HostRead,
    Function::CreateStream,
    Function::DestroyStream,
    Function::Synchronize,
    Function::CreateEvent,
    Function::DestroyEvent,
    Function::Record,
    Function::Wait,
    Function::Query,
    Function::Copy,
    Function::Launch,
    Function::Launch,
];

fn step(rng: &mut Rng) -> Step {
    let (to, a, b) = (rng.below(SLOTS), rng.below(SLOTS), rng.below(SLOTS));
    let (lane, p, engine) = (rng.below(LANES), rng.below(PENDING), rng.below(2));
    let salt = u32::try_from(rng.word() >> 40).unwrap_or(0);
    let n = match rng.below(12) {
        0 => 0,
        1..=6 => rng.within(1, 40),
        7..=10 => rng.within(41, 700),
        _ => rng.within(2000, 9000),
    };
    let at = rng.below(64);
    match rng.below(40) {
        0..=4 => Step::Upload { to, lane, n, salt },
        5 => Step::Allocate { to, lane, n, salt },
        6 | 7 => Step::Fill {
            to,
            lane,
            n,
            value: salt,
        },
        8..=10 => Step::Add { to, a, b, lane },
        11..=15 => Step::AddScalar {
            to,
            a,
            lane,
            value: salt,
        },
        16 | 17 => Step::Select {
            to,
            a,
            lane,
            n: n.min(50),
            salt,
            bad: rng.chance(80),
        },
        18 | 19 => Step::Clone { to, a },
        20..=22 => Step::Drop { a },
        23 => Step::Forget { a },
        24..=26 => Step::Write {
            a,
            lane,
            at,
            n,
            salt,
        },
        27 | 28 => Step::Read { a, at },
        29 => Step::Poll { a },
        30 => Step::Wait { a },
        31 | 32 => Step::Download { p, a },
        33 => Step::PollPending { p },
        34 => Step::WaitPending { p },
        35 => Step::DropPending { p },
        36 => match rng.below(4) {
            0 => Step::DropLane { lane },
            _ => Step::NewLane { lane },
        },
        37 if salt % 3 == 0 => Step::Glance { a },
        37 => Step::Synchronize { engine },
        38 => Step::Trim { engine },
        _ => match rng.below(5) {
            0 => Step::Close { engine },
            _ => Step::Across { to, a },
        },
    }
}
