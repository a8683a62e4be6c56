//! The device keeps its promises: order, lifetimes, memory, faults.

#![expect(clippy::unwrap_used, reason = "tests")]

mod faults;
mod memory;
mod order;

use gpu_sim::device::{
    Access, Address, Config, FaultPlan, Kernel, Launch, Machine, Pace, Rule, Span, StreamId,
};

/// A machine that runs only what it must.
fn lazy(seed: u64) -> Machine {
    with_plan(seed, "none")
}

/// A lazy machine and what goes wrong on it.
fn with_plan(seed: u64, plan: &str) -> Machine {
    let config = Config {
        pace: Some(Pace::LAZY),
        ..Config::default()
    };
    Machine::new(seed, config, plan.parse::<FaultPlan>().unwrap())
}

/// A kernel that fills `to` with one byte.
fn fill(to: Span, byte: u8) -> Kernel {
    Kernel {
        name: "fill",
        accesses: vec![Access::write(to)],
        body: Box::new(move |launch: &mut Launch<'_>| launch.write(to, &vec![byte; to.len])),
    }
}

/// A kernel that adds one to each byte of `from`, into `to`.
fn increment(from: Span, to: Span) -> Kernel {
    Kernel {
        name: "increment",
        accesses: vec![Access::write(to), Access::read(from)],
        body: Box::new(move |launch: &mut Launch<'_>| {
            launch.compute_with(from)?;
            let bytes: Vec<u8> = launch
                .read(from)?
                .iter()
                .map(|byte| byte.wrapping_add(1))
                .collect();
            launch.write(to, &bytes)
        }),
    }
}

/// Device memory, as a span.
fn block(machine: &Machine, len: usize) -> Span {
    Span::new(machine.allocate(0, len).unwrap(), len)
}

/// The bytes of device memory, by way of pinned memory and `stream`.
fn download(machine: &Machine, stream: StreamId, from: Span) -> Vec<u8> {
    let pinned = machine.allocate_pinned(0, from.len).unwrap();
    machine.copy(stream, from.start, pinned, from.len).unwrap();
    machine.synchronize(stream).unwrap();
    let mut bytes = vec![0; from.len];
    machine.host_read(pinned, &mut bytes).unwrap();
    machine.free_pinned(0, pinned).unwrap();
    bytes
}

/// Pinned memory with these bytes.
fn pinned(machine: &Machine, bytes: &[u8]) -> Address {
    let pinned = machine.allocate_pinned(0, bytes.len()).unwrap();
    machine.host_write(pinned, bytes).unwrap();
    pinned
}

/// The rules that were broken, in order.
fn broken(machine: &Machine) -> Vec<Rule> {
    machine.violations().iter().map(|it| it.rule).collect()
}
