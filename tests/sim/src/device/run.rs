//! When items run, and what they do then.
//!
//! A stream's items run in order; a wait holds its stream back until its mark is complete; beyond
//! that any order is allowed, and the seed chooses. Nothing runs before the host forces it or the
//! pace lets it. Knows nothing of the calls that enqueue.

use super::history::{Rule, What};
use super::launch::Launch;
use super::memory::Part;
use super::plan::Fault;
use super::queue::{Access, Body, Item, Outcome, Work};
use super::state::State;
use super::status::{Failure, Status};
use std::collections::BTreeMap;

/// A number that changes with any of the bytes: FNV-1a, as in the history's digest.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

impl State {
    /// Lets items run that nothing forces, as the pace allows.
    pub(crate) fn idle(&mut self) {
        while self.pace.idle > 0 && self.rng.chance(self.pace.idle) {
            let runnable = self.runnable(|_| true);
            let Some(&stream) = self.rng.pick(&runnable) else {
                return;
            };
            self.run_front(stream);
        }
    }

    /// The streams whose front item may run now.
    fn runnable(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let streams = self.streams.iter().enumerate();
        streams
            .filter(|(at, stream)| {
                wanted(*at)
                    && match stream.items.front().map(|item| &item.work) {
                        None => false,
                        Some(Work::Wait(mark)) => !self.marks[*mark].outcome.is_pending(),
                        Some(Work::Record(mark)) => self.marks[*mark].held == 0,
                        Some(_) => true,
                    }
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// Runs what item `seq` of `stream` needs, in some order that the waits permit; whether it has
    /// run then. It has not when a held event is in the way.
    pub(crate) fn force(&mut self, stream: usize, seq: u64) -> bool {
        let mut wanted = BTreeMap::from([(stream, seq)]);
        let mut open = vec![(stream, seq)];
        while let Some((at, upto)) = open.pop() {
            for item in &self.streams[at].items {
                if item.seq > upto {
                    break;
                }
                if let Work::Wait(mark) = item.work
                    && self.marks[mark].outcome.is_pending()
                {
                    let mark = &self.marks[mark];
                    let goal = wanted.entry(mark.stream).or_insert(0);
                    if *goal < mark.seq {
                        *goal = mark.seq;
                        open.push((mark.stream, mark.seq));
                    }
                }
            }
        }
        loop {
            if self.streams[stream].ran >= seq {
                return true;
            }
            let needed = self.runnable(|at| {
                wanted
                    .get(&at)
                    .is_some_and(|&goal| self.streams[at].ran < goal)
            });
            let Some(&next) = self.rng.pick(&needed) else {
                return false;
            };
            self.run_front(next);
            if self.pace.along > 0 && self.rng.chance(self.pace.along) {
                let others = self.runnable(|_| true);
                if let Some(&other) = self.rng.pick(&others) {
                    self.run_front(other);
                }
            }
        }
    }

    /// The host looked, or waited a little, in vain: brings held events nearer to their release.
    pub(crate) fn look(&mut self) {
        self.looks += 1;
        if self.looks == self.config.step_limit {
            self.note(
                None,
                String::from("the step limit releases every held event"),
            );
            self.release();
        }
        for mark in &mut self.marks {
            if mark.outcome.is_pending() {
                mark.held = mark.held.saturating_sub(1);
            }
        }
    }

    /// Releases every held event.
    pub(crate) fn release(&mut self) {
        for mark in &mut self.marks {
            mark.held = 0;
        }
    }

    fn run_front(&mut self, stream: usize) {
        let Some(item) = self.streams[stream].items.pop_front() else {
            return;
        };
        let Item { seq, name, work } = item;
        self.streams[stream].ran = seq;
        self.looks = 0;
        self.items += 1;
        self.history
            .add(self.call, Some(stream), What::Ran { seq, name });
        let outcome = match work {
            Work::Copy {
                from,
                to,
                digest,
                corrupt,
            } => self.run_copy(stream, (from, to), digest, corrupt),
            Work::Fill { to, byte } => {
                self.check_live(stream, name, to);
                if let Some(allocation) = self.memory.get_mut(to.allocation) {
                    allocation.write(to.offset, &vec![byte; to.len]);
                }
                Ok(())
            }
            Work::Kernel { body, places } => self.run_kernel(stream, name, body, places),
            Work::Record(mark) => {
                self.marks[mark].outcome = Outcome::Done;
                Ok(())
            }
            Work::Wait(_) => Ok(()),
            Work::Notice(cookie) => {
                let late = self.lateness();
                self.notices.push((late, cookie));
                Ok(())
            }
        };
        if let Err(failure) = outcome {
            let device = self.streams[stream].device;
            self.break_device(device, &failure);
        }
    }

    /// Tells when an item runs on memory that was freed before.
    fn check_live(&mut self, stream: usize, name: &'static str, part: Part) {
        let live = self.memory.get(part.allocation).is_some_and(|it| it.live);
        if !live {
            let text = format!("{name} ran after memory that it touches was freed");
            self.violate(Some(stream), Rule::Bounds, text);
        }
    }

    fn run_copy(
        &mut self,
        stream: usize,
        (from, to): (Part, Part),
        expected: Option<u64>,
        corrupt: bool,
    ) -> Result<(), Failure> {
        self.check_live(stream, "copy", from);
        self.check_live(stream, "copy", to);
        self.copies += 1;
        let Some(mut contents) = self
            .memory
            .get(from.allocation)
            .map(|it| it.read(from.offset, from.len))
        else {
            return Ok(());
        };
        if expected.is_some_and(|expected| expected != digest(&contents.bytes)) {
            let text = String::from("the source of a copy was changed before the copy ran");
            self.violate(Some(stream), Rule::HostTouch, text);
        }
        if corrupt {
            for byte in contents.bytes.iter_mut().skip(1).step_by(7) {
                *byte ^= 0x40;
            }
        }
        let nth = self.copies;
        let half = self
            .plan
            .faults
            .iter()
            .copied()
            .find(|fault| matches!(fault, Fault::HalfCopy { nth: at } if *at == nth));
        if half.is_some() {
            contents.halve();
        }
        if let Some(allocation) = self.memory.get_mut(to.allocation) {
            allocation.copy(to.offset, &contents);
        }
        match half {
            None => Ok(()),
            Some(fault) => {
                self.fire(Some(stream), fault, true);
                let detail = format!("planned fault {fault}");
                Err(Failure::new(Status::EccUncorrectable, detail))
            }
        }
    }

    fn run_kernel(
        &mut self,
        stream: usize,
        name: &'static str,
        body: Body,
        places: Vec<(Access, Result<Part, String>)>,
    ) -> Result<(), Failure> {
        self.kernels += 1;
        let mut found = Vec::with_capacity(places.len());
        for (access, place) in places {
            match place {
                Ok(part) => {
                    self.check_live(stream, name, part);
                    found.push((access, part));
                }
                Err(why) => {
                    let text = format!("{name}: {why}");
                    return Err(Failure::new(Status::IllegalAddress, text));
                }
            }
        }
        let nth = self.kernels;
        let planned = self
            .plan
            .faults
            .iter()
            .copied()
            .find_map(|fault| match fault {
                Fault::Kernel { nth: at, status } if at == nth => Some((fault, status)),
                _ => None,
            });
        if let Some((fault, status)) = planned {
            // What a kernel wrote before it failed is nobody's business.
            for (access, part) in &found {
                if let (true, Some(it)) = (access.writes, self.memory.get_mut(part.allocation)) {
                    it.spoil(part.offset, part.len);
                }
            }
            self.fire(Some(stream), fault, true);
            return Err(Failure::new(status, format!("planned fault {fault}")));
        }
        body(&mut Launch {
            memory: &mut self.memory,
            history: &mut self.history,
            call: self.call,
            stream,
            name,
            places: &found,
        })
    }
}
