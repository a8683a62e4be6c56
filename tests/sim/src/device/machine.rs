//! A simulated computer with its devices: memory, the host's own accesses, and what tests ask.
//!
//! A [`Machine`] is a handle; clones are the same machine. Streams, events and enqueued work are in
//! `streams`. Knows nothing of who calls.

use super::config::{Config, PeerRoute};
use super::history::{Entry, Fired, Rule, Violation};
use super::memory::{Address, Home, Part, Span};
use super::plan::{Fault, FaultPlan};
use super::state::State;
use super::status::{Failure, Function, Status};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A simulated computer.
#[derive(Clone)]
pub struct Machine(Arc<Mutex<State>>);

/// Bytes of a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryState {
    /// That an allocation could still get.
    pub available: usize,
    /// In all.
    pub total: usize,
}

/// What is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Census {
    /// Allocations on devices.
    pub allocations: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Pinned allocations.
    pub pinned: usize,
    /// Their bytes.
    pub pinned_bytes: usize,
    /// Streams that were not destroyed.
    pub streams: usize,
    /// Events that were not destroyed.
    pub events: usize,
}

/// How much happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Items that ran.
    pub items: u64,
    /// Kernels among them.
    pub kernels: u64,
    /// Copies among them.
    pub copies: u64,
}

impl Machine {
    /// The machine of a seed, with what is to go wrong.
    #[must_use]
    pub fn new(seed: u64, config: Config, plan: FaultPlan) -> Self {
        Self(Arc::new(Mutex::new(State::new(seed, config, plan))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many devices there are.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.lock().devices.len()
    }

    /// Memory of a device now.
    ///
    /// # Errors
    /// The device's or the plan's.
    pub fn memory(&self, device: usize) -> Result<MemoryState, Failure> {
        let mut state = self.lock();
        state.begin(Function::Memory, Some(device), None)?;
        let total = state.devices[device].memory_bytes;
        let used = state.memory.in_use(Home::Device(device));
        Ok(MemoryState {
            available: state.limit(device).saturating_sub(used),
            total,
        })
    }

    /// Allocates memory of a device, contents unspecified.
    ///
    /// # Errors
    /// `OutOfMemory`; `InvalidValue` for no bytes; the device's or the plan's.
    pub fn allocate(&self, device: usize, bytes: usize) -> Result<Address, Failure> {
        let mut state = self.lock();
        state.begin(Function::Allocate, Some(device), None)?;
        if bytes == 0 {
            return Err(Failure::new(
                Status::InvalidValue,
                "an allocation of 0 bytes",
            ));
        }
        let state = &mut *state;
        let refused = state.plan.faults.iter().copied().find(|fault| match fault {
            Fault::OutOfMemory { one_in } => state.memory_rng.below(*one_in as usize) == 0,
            _ => false,
        });
        if let Some(fault) = refused {
            state.fire(None, fault, false);
            let detail = format!("planned fault {fault}");
            return Err(Failure::new(Status::OutOfMemory, detail));
        }
        let home = Home::Device(device);
        let available = state
            .limit(device)
            .saturating_sub(state.memory.in_use(home));
        if bytes > available {
            let detail = format!("{bytes} bytes of {available}");
            return Err(Failure::new(Status::OutOfMemory, detail));
        }
        Ok(state.memory.allocate(home, bytes, &mut state.memory_rng))
    }

    /// Gives memory of a device back.
    ///
    /// # Errors
    /// `InvalidValue` for what is not allocated; the device's or the plan's. It is then not freed.
    pub fn free(&self, device: usize, address: Address) -> Result<(), Failure> {
        let mut state = self.lock();
        state.begin(Function::Free, Some(device), None)?;
        state.free(Home::Device(device), address)
    }

    /// Allocates pinned memory of the host, contents unspecified.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes; the device's or the plan's.
    pub fn allocate_pinned(&self, device: usize, bytes: usize) -> Result<Address, Failure> {
        let mut state = self.lock();
        state.begin(Function::AllocatePinned, Some(device), None)?;
        if bytes == 0 {
            return Err(Failure::new(
                Status::InvalidValue,
                "an allocation of 0 bytes",
            ));
        }
        let state = &mut *state;
        let rng = &mut state.memory_rng;
        Ok(state.memory.allocate(Home::Pinned, bytes, rng))
    }

    /// Gives pinned memory back.
    ///
    /// # Errors
    /// `InvalidValue` for what is not allocated; the device's or the plan's. It is then not freed.
    pub fn free_pinned(&self, device: usize, address: Address) -> Result<(), Failure> {
        let mut state = self.lock();
        state.begin(Function::FreePinned, Some(device), None)?;
        state.free(Home::Pinned, address)
    }

    /// Writes memory from the host, at once: pinned memory, or device memory that it can reach.
    ///
    /// # Errors
    /// `InvalidValue` outside of allocations; the plan's.
    pub fn host_write(&self, address: Address, bytes: &[u8]) -> Result<(), Failure> {
        let mut state = self.lock();
        state.begin(Function::HostWrite, None, None)?;
        let part = state.host_part(Span::new(address, bytes.len()), true)?;
        if let Some(allocation) = state.memory.get_mut(part.allocation) {
            allocation.write(part.offset, bytes);
        }
        Ok(())
    }

    /// Reads memory from the host, at once.
    ///
    /// # Errors
    /// `InvalidValue` outside of allocations; the plan's.
    pub fn host_read(&self, address: Address, bytes: &mut [u8]) -> Result<(), Failure> {
        let mut state = self.lock();
        state.begin(Function::HostRead, None, None)?;
        let part = state.host_part(Span::new(address, bytes.len()), false)?;
        let allocation = state.memory.get(part.allocation);
        if let Some(allocation) = allocation {
            bytes.copy_from_slice(allocation.bytes(part.offset, part.len));
        }
        if let Some(at) = allocation.and_then(|it| it.unwritten(part.offset, part.len)) {
            let text = format!("the host sees byte {at} of an allocation, which nobody wrote");
            state.violate(None, Rule::Unwritten, text);
        }
        Ok(())
    }

    /// Whether `device` could reach the memory of `other` directly.
    #[must_use]
    pub fn can_access_peer(&self, device: usize, other: usize) -> bool {
        device != other && self.lock().config.route != PeerRoute::None
    }

    /// Lets `device` reach the memory of `other`; not the other way round.
    ///
    /// # Errors
    /// `NotSupported` where there is no route; the device's or the plan's.
    pub fn enable_peer(&self, device: usize, other: usize) -> Result<(), Failure> {
        let mut state = self.lock();
        state.begin(Function::EnablePeer, Some(device), None)?;
        if device == other || state.config.route == PeerRoute::None {
            let detail = format!("no peer access from device {device} to device {other}");
            return Err(Failure::new(Status::NotSupported, detail));
        }
        let peers = &mut state.devices[device].peers;
        if !peers.contains(&other) {
            peers.push(other);
        }
        Ok(())
    }

    /// Resets a device: everything on it is gone, a sticky failure among it. What is lost stays so.
    pub fn reset(&self, device: usize) {
        let mut state = self.lock();
        state.note(None, format!("device {device} is reset"));
        let gone = Failure::new(Status::InvalidHandle, "the device was reset");
        state.discard(device, &gone);
        for stream in &mut state.streams {
            stream.alive &= stream.device != device;
        }
        for event in &mut state.events {
            event.alive &= event.device != device;
        }
        state.memory.clear(Home::Device(device));
        state.devices[device].peers.clear();
        if !state.devices[device].lost {
            state.devices[device].fault = None;
        }
    }

    /// Releases every held event.
    pub fn release_held(&self) {
        let mut state = self.lock();
        state.note(None, String::from("the test releases every held event"));
        state.release();
    }

    /// What goes wrong from now on; counts run on.
    pub fn set_plan(&self, plan: FaultPlan) {
        self.lock().plan = plan;
    }

    /// The rules that were broken, in order.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.lock().history.violations.clone()
    }

    /// The planned faults that came to pass, in order.
    #[must_use]
    pub fn fired(&self) -> Vec<Fired> {
        self.lock().history.fired.clone()
    }

    /// How many planned faults came to pass.
    #[must_use]
    pub fn fired_count(&self) -> usize {
        self.lock().history.fired.len()
    }

    /// Everything that happened, in order.
    #[must_use]
    pub fn history(&self) -> Vec<Entry> {
        self.lock().history.entries.clone()
    }

    /// A number that two equal histories share.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.lock().history.digest()
    }

    /// What is alive.
    #[must_use]
    pub fn census(&self) -> Census {
        let state = self.lock();
        let mut census = Census::default();
        for (home, span) in state.memory.live() {
            match home {
                Home::Device(_) => {
                    census.allocations += 1;
                    census.bytes += span.len;
                }
                Home::Pinned => {
                    census.pinned += 1;
                    census.pinned_bytes += span.len;
                }
            }
        }
        census.streams = state.streams.iter().filter(|it| it.alive).count();
        census.events = state.events.iter().filter(|it| it.alive).count();
        census
    }

    /// How much happened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let state = self.lock();
        Counts {
            calls: state.call,
            items: state.items,
            kernels: state.kernels,
            copies: state.copies,
        }
    }
}

impl State {
    fn free(&mut self, home: Home, address: Address) -> Result<(), Failure> {
        let found = self.memory.find(address);
        let found = found.filter(|&id| self.memory.get(id).is_some_and(|it| it.home == home));
        let Some(id) = found else {
            let (rule, text) = if self.memory.was_freed(address) {
                (Rule::DoubleFree, format!("{address} was freed before"))
            } else {
                (Rule::Bounds, format!("no allocation begins at {address}"))
            };
            self.violate(None, rule, text.clone());
            return Err(Failure::new(Status::InvalidValue, text));
        };
        let allocation = self.memory.get(id);
        let conflict = allocation.and_then(|it| it.conflict((0, it.len), true, &self.host));
        if let Some(touch) = conflict {
            let text = format!(
                "{address} is freed, and {} (stream {} #{}) is not known to be over",
                touch.name, touch.stream, touch.seq
            );
            self.violate(Some(touch.stream), Rule::FreedInUse, text);
        }
        self.note(None, format!("freed {address}"));
        self.memory.free(id);
        Ok(())
    }

    /// The place of what the host touches.
    fn host_part(&mut self, span: Span, writes: bool) -> Result<Part, Failure> {
        let part = match self.memory.resolve(span) {
            Ok(part) => part,
            Err(text) => {
                self.violate(None, Rule::Bounds, format!("the host: {text}"));
                return Err(Failure::new(Status::InvalidValue, text));
            }
        };
        let allocation = self.memory.get(part.allocation);
        let range = (part.offset, part.len);
        if let Some(touch) = allocation.and_then(|it| it.conflict(range, writes, &self.host)) {
            let text = format!(
                "the host {} {span}, and {} (stream {} #{}) is not known to be over",
                if writes { "writes" } else { "reads" },
                touch.name,
                touch.stream,
                touch.seq
            );
            self.violate(Some(touch.stream), Rule::HostTouch, text);
        }
        Ok(part)
    }
}
