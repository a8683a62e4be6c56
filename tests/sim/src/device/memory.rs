//! The machine's memory: allocations with addresses, red zones, and a bit for each written byte.
//!
//! Promises that every access is judged: inside one live allocation or not, of written bytes or
//! not, ordered behind what it conflicts with or not. A byte that nobody wrote reads as poison, and
//! so does everything that was freed. Copies carry "written" along byte by byte, so that rounding a
//! copy outward is no offence and computing with what it brought along is. Knows nothing of queues.

use super::bits::Bits;
use super::clock::Clock;
use super::rng::Rng;
use std::collections::BTreeMap;
use std::fmt;

/// What memory that nobody wrote holds.
pub const FRESH: u8 = 0xA5;
/// What freed memory, and the destination of a copy that has not run, holds.
pub const POISON: u8 = 0xDB;
/// The least bytes between two allocations.
const RED_ZONE: u64 = 256;
/// What addresses of allocations are multiples of.
const ALIGNMENT: u64 = 256;

/// A place in the machine's one address space: device and pinned memory alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The address `bytes` further on.
    #[must_use]
    pub const fn plus(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes as u64))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Where memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Home {
    /// On the device of this number.
    Device(usize),
    /// Pinned memory of the host, which the devices reach.
    Pinned,
}

/// Bytes from an address on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub start: Address,
    /// How many.
    pub len: usize,
}

impl Span {
    /// `len` bytes from `start` on.
    #[must_use]
    pub const fn new(start: Address, len: usize) -> Self {
        Self { start, len }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.start, self.len)
    }
}

/// A span as a place in one allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) allocation: u64,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// One access of enqueued work, kept until the host knows that it is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) writes: bool,
    pub(crate) stream: usize,
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
}

impl Touch {
    pub(crate) const fn overlaps(&self, offset: usize, len: usize) -> bool {
        self.offset < offset + len && offset < self.offset + self.len
    }
}

/// One allocation; it stays in the book after it was freed, so that late accesses are understood.
pub(crate) struct Allocation {
    pub(crate) start: u64,
    pub(crate) len: usize,
    pub(crate) home: Home,
    pub(crate) live: bool,
    bytes: Vec<u8>,
    written: Bits,
    pub(crate) touches: Vec<Touch>,
}

/// All memory of a machine.
pub(crate) struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    /// Live allocations by their first address.
    live: BTreeMap<u64, u64>,
    /// Address ranges that were freed, by their length: some are given out again.
    vacant: Vec<(u64, usize)>,
    next_id: u64,
    next_start: u64,
}

impl Memory {
    pub(crate) const fn new() -> Self {
        Self {
            allocations: BTreeMap::new(),
            live: BTreeMap::new(),
            vacant: Vec::new(),
            next_id: 1,
            next_start: 0x1000_0000,
        }
    }

    /// A new allocation of `len` bytes, none of them written. One in four takes the addresses of
    /// an equal one that was freed: an address is no identity.
    pub(crate) fn allocate(&mut self, home: Home, len: usize, rng: &mut Rng) -> Address {
        let again = self.vacant.iter().position(|&(_, vacant)| vacant == len);
        let start = match again.filter(|_| rng.chance(64)) {
            Some(at) => self.vacant.swap_remove(at).0,
            None => {
                let gap = RED_ZONE + ALIGNMENT * rng.below(4) as u64;
                let start = (self.next_start + gap).next_multiple_of(ALIGNMENT);
                self.next_start = start + len as u64;
                start
            }
        };
        let id = self.next_id;
        self.next_id += 1;
        let allocation = Allocation {
            start,
            len,
            home,
            live: true,
            bytes: vec![FRESH; len],
            written: Bits::new(len),
            touches: Vec::new(),
        };
        self.allocations.insert(id, allocation);
        self.live.insert(start, id);
        Address(start)
    }

    /// The live allocation that begins at `start`.
    pub(crate) fn find(&self, start: Address) -> Option<u64> {
        self.live.get(&start.0).copied()
    }

    /// Whether an allocation that began at `start` has been freed.
    pub(crate) fn was_freed(&self, start: Address) -> bool {
        self.allocations
            .values()
            .any(|allocation| !allocation.live && allocation.start == start.0)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Allocation> {
        self.allocations.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Allocation> {
        self.allocations.get_mut(&id)
    }

    /// Ends an allocation; its bytes are poison from now on.
    pub(crate) fn free(&mut self, id: u64) {
        if let Some(allocation) = self.allocations.get_mut(&id) {
            allocation.live = false;
            allocation.bytes = Vec::new();
            allocation.written = Bits::default();
            self.live.remove(&allocation.start);
            self.vacant.push((allocation.start, allocation.len));
        }
    }

    /// The place of a span; why it has none otherwise.
    pub(crate) fn resolve(&self, span: Span) -> Result<Part, String> {
        let before = self.live.range(..=span.start.0).next_back();
        if let Some((&start, &id)) = before
            && let Some(allocation) = self.allocations.get(&id)
        {
            let offset = usize::try_from(span.start.0 - start).unwrap_or(usize::MAX);
            let end = offset.checked_add(span.len);
            if offset < allocation.len || (offset == allocation.len && span.len == 0) {
                if end.is_some_and(|end| end <= allocation.len) {
                    return Ok(Part {
                        allocation: id,
                        offset,
                        len: span.len,
                    });
                }
                return Err(format!(
                    "{span} runs beyond the allocation {}+{}",
                    Address(start),
                    allocation.len
                ));
            }
        }
        let freed = self.allocations.values().find(|allocation| {
            let end = allocation.start + allocation.len as u64;
            !allocation.live && (allocation.start..end).contains(&span.start.0)
        });
        Err(match freed {
            Some(allocation) => format!(
                "{span} lies in the freed allocation {}+{}",
                Address(allocation.start),
                allocation.len
            ),
            None => format!("{span} lies in no allocation"),
        })
    }

    /// Bytes in use at a home.
    pub(crate) fn in_use(&self, home: Home) -> usize {
        let here = self.live.values().filter_map(|id| self.allocations.get(id));
        here.filter(|allocation| allocation.home == home)
            .map(|allocation| allocation.len)
            .sum()
    }

    /// Every live allocation.
    pub(crate) fn live(&self) -> impl Iterator<Item = (Home, Span)> + '_ {
        let here = self.live.values().filter_map(|id| self.allocations.get(id));
        here.map(|allocation| {
            let span = Span::new(Address(allocation.start), allocation.len);
            (allocation.home, span)
        })
    }

    /// Frees everything of a device.
    pub(crate) fn clear(&mut self, home: Home) {
        let ids: Vec<u64> = self.live.values().copied().collect();
        for id in ids {
            if self.allocations.get(&id).is_some_and(|it| it.home == home) {
                self.free(id);
            }
        }
    }
}

impl Allocation {
    /// The bytes of a range, and for each whether it was written. Poison once freed.
    pub(crate) fn read(&self, offset: usize, len: usize) -> Contents {
        if !self.live {
            return Contents {
                bytes: vec![POISON; len],
                written: vec![false; len],
            };
        }
        Contents {
            bytes: self.bytes[offset..offset + len].to_vec(),
            written: (offset..offset + len)
                .map(|at| self.written.get(at))
                .collect(),
        }
    }

    /// The bytes of a live range.
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        self.bytes.get(offset..offset + len).unwrap_or(&[])
    }

    /// Writes a range; nothing once freed.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        if self.live {
            self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
            self.written.set(offset, bytes.len(), true);
        }
    }

    /// Writes a range with what another holds, unwritten bytes as such.
    pub(crate) fn copy(&mut self, offset: usize, contents: &Contents) {
        self.write(offset, &contents.bytes);
        if self.live {
            for (at, _) in contents.written.iter().enumerate().filter(|(_, w)| !**w) {
                self.written.set(offset + at, 1, false);
            }
        }
    }

    /// Makes a range poison that nobody wrote.
    pub(crate) fn spoil(&mut self, offset: usize, len: usize) {
        if self.live {
            self.bytes[offset..offset + len].fill(POISON);
            self.written.set(offset, len, false);
        }
    }

    /// The first byte of a range that nobody wrote.
    pub(crate) fn unwritten(&self, offset: usize, len: usize) -> Option<usize> {
        self.live
            .then(|| self.written.first_clear(offset, len))
            .flatten()
    }

    /// An access that conflicts with the given one and is not known by `clock` to be over.
    pub(crate) fn conflict(
        &self,
        (offset, len): (usize, usize),
        writes: bool,
        clock: &Clock,
    ) -> Option<Touch> {
        self.touches
            .iter()
            .find(|touch| {
                touch.overlaps(offset, len)
                    && (touch.writes || writes)
                    && clock.get(touch.stream) < touch.seq
            })
            .copied()
    }

    /// Notes an access, and forgets those that the host knows to be over.
    pub(crate) fn touch(&mut self, touch: Touch, host: &Clock) {
        self.touches.retain(|old| host.get(old.stream) < old.seq);
        self.touches.push(touch);
    }
}

/// What a range held.
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    pub(crate) written: Vec<bool>,
}

impl Contents {
    /// Its first half.
    pub(crate) fn halve(&mut self) {
        let half = self.bytes.len() / 2;
        self.bytes.truncate(half);
        self.written.truncate(half);
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, FRESH, Home, Memory, POISON, Span};
    use crate::device::Rng;

    #[test]
    fn a_span_is_inside_one_live_allocation_or_is_told_why_not() {
        let (mut memory, mut rng) = (Memory::new(), Rng::new(3));
        let a = memory.allocate(Home::Device(0), 100, &mut rng);
        let b = memory.allocate(Home::Pinned, 100, &mut rng);
        assert!(b.0 >= a.0 + 100 + super::RED_ZONE && a.0.is_multiple_of(256));
        assert_eq!(
            memory.resolve(Span::new(a.plus(90), 10)).unwrap().offset,
            90
        );
        let refusals = [
            (Span::new(a.plus(90), 11), "beyond"),
            (Span::new(a.plus(150), 1), "no allocation"),
            (Span::new(Address(0), 1), "no allocation"),
            (Span::new(a.plus(1), usize::MAX), "beyond"),
        ];
        for (span, why) in refusals {
            assert!(memory.resolve(span).unwrap_err().contains(why), "{span}");
        }
        memory.free(memory.find(a).unwrap());
        let gone = memory.resolve(Span::new(a, 1)).unwrap_err();
        assert!(gone.contains("freed") && memory.was_freed(a), "{gone}");
        assert_eq!(memory.in_use(Home::Pinned), 100);
        assert_eq!(memory.in_use(Home::Device(0)), 0);
    }

    #[test]
    fn unwritten_and_freed_bytes_are_poison_and_copies_carry_the_mark_along() {
        let (mut memory, mut rng) = (Memory::new(), Rng::new(3));
        let a = memory.allocate(Home::Device(0), 8, &mut rng);
        let id = memory.find(a).unwrap();
        let here = memory.get_mut(id).unwrap();
        assert_eq!(here.read(0, 1).bytes, [FRESH]);
        here.write(2, &[1, 2]);
        assert_eq!(
            (here.unwritten(2, 2), here.unwritten(2, 3)),
            (None, Some(4))
        );
        let contents = here.read(1, 3);
        here.copy(5, &contents);
        assert_eq!(
            (here.unwritten(5, 1), here.unwritten(6, 2)),
            (Some(5), None)
        );
        here.spoil(2, 1);
        assert_eq!(
            (here.bytes(2, 1), here.unwritten(2, 1)),
            (&[POISON][..], Some(2))
        );
        memory.free(id);
        assert_eq!(memory.get(id).unwrap().read(2, 2).bytes, [POISON; 2]);
    }

    #[test]
    fn freed_addresses_come_again_under_another_identity() {
        let (mut memory, mut rng) = (Memory::new(), Rng::new(3));
        let mut starts = std::collections::BTreeSet::new();
        let mut again = 0;
        for _ in 0..64 {
            let a = memory.allocate(Home::Device(0), 512, &mut rng);
            again += u32::from(!starts.insert(a));
            memory.free(memory.find(a).unwrap());
        }
        assert!((1..63).contains(&again), "{again}");
    }
}
