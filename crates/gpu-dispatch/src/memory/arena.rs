//! The book of blocks: which range of which segment is free, and for whom.
//!
//! Plain bookkeeping over numbers: best fit, split, and join of free neighbours. A block freed on a
//! lane is free *on that lane* at once, and free for anyone when the lane has been seen to pass the
//! point of the free. Promises that no two grants overlap. Knows nothing of buffers, of vendors, or
//! of how completion is seen.

use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Points `(lane id, seq)` that must have completed.
pub(crate) type Frontier = SmallVec<[(u64, u64); 2]>;

/// Who may use a free block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Everything that touched it has completed.
    Anyone,
    /// Work enqueued later on this lane may; others once the lane has passed `seq`.
    Lane {
        /// The lane.
        id: u64,
        /// The lane's count when it was freed.
        seq: u64,
    },
    /// Nobody, until all of these have completed.
    Nobody(Frontier),
}

/// A granted range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) segment: usize,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// The book.
#[derive(Default)]
pub(crate) struct Arena {
    segments: Vec<Option<Segment>>,
    /// Free blocks by (who, size class of the segment, length, segment, offset); who is 0 for
    /// anyone, else the lane's id plus one.
    free: BTreeSet<(u64, bool, usize, usize, usize)>,
    /// Blocks that wait for a frontier of several lanes.
    limbo: Vec<(usize, usize, Frontier)>,
}

struct Segment {
    bytes: usize,
    /// Whether it is cut into small blocks; large requests do not come here, so that a long-lived
    /// small block does not break up a large one.
    small: bool,
    blocks: BTreeMap<usize, BlockState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockState {
    len: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Used,
    Limbo,
    Anyone,
    Lane { id: u64, seq: u64 },
}

impl State {
    const fn key(self) -> Option<u64> {
        match self {
            Self::Used | Self::Limbo => None,
            Self::Anyone => Some(0),
            Self::Lane { id, .. } => Some(id + 1),
        }
    }

    /// What two free neighbours become, when they can be one block.
    fn join(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Anyone, Self::Anyone) => Some(Self::Anyone),
            (
                Self::Lane { id, seq },
                Self::Lane {
                    id: other,
                    seq: later,
                },
            ) if id == other => Some(Self::Lane {
                id,
                seq: seq.max(later),
            }),
            _ => None,
        }
    }
}

impl Arena {
    /// Enters a new segment, wholly free for anyone; gives its number.
    pub(crate) fn add(&mut self, bytes: usize, small: bool) -> usize {
        let segment = Segment {
            bytes,
            small,
            blocks: BTreeMap::new(),
        };
        let at = match self.segments.iter().position(Option::is_none) {
            Some(at) => {
                self.segments[at] = Some(segment);
                at
            }
            None => {
                self.segments.push(Some(segment));
                self.segments.len() - 1
            }
        };
        self.insert(at, 0, bytes, State::Anyone);
        at
    }

    /// Grants `len` bytes to `lane`: its own free blocks first, then anyone's; the smallest that
    /// fits. A rest of at least `keep` bytes is cut off and stays free.
    pub(crate) fn grant(
        &mut self,
        lane: u64,
        len: usize,
        small: bool,
        keep: usize,
    ) -> Option<Grant> {
        let key = self
            .fit(lane + 1, small, len)
            .or_else(|| self.fit(0, small, len))?;
        Some(self.take(key, len, keep))
    }

    /// Grants a block that another lane freed, with the point that must have completed before it
    /// is used: the caller makes its lane wait for that.
    pub(crate) fn steal(
        &mut self,
        len: usize,
        small: bool,
        keep: usize,
    ) -> Option<(Grant, (u64, u64))> {
        let key = self
            .free
            .iter()
            .filter(|key| key.0 != 0 && key.1 == small && key.2 >= len)
            .min_by_key(|key| key.2)
            .copied()?;
        let witness = match self.state(key.3, key.4) {
            State::Lane { id, seq } => (id, seq),
            _ => return None,
        };
        Some((self.take(key, len, keep), witness))
    }

    /// Takes a grant back.
    pub(crate) fn free(&mut self, segment: usize, offset: usize, owner: Owner) {
        let state = match owner {
            Owner::Anyone => State::Anyone,
            Owner::Lane { id, seq } => State::Lane { id, seq },
            Owner::Nobody(frontier) => {
                self.limbo.push((segment, offset, frontier));
                State::Limbo
            }
        };
        let Some(block) = self.block(segment, offset) else {
            return;
        };
        let len = block.len;
        self.release(segment, offset, len, state);
    }

    /// Makes free for anyone what `completed(lane, seq)` says has completed.
    pub(crate) fn promote(&mut self, completed: impl Fn(u64, u64) -> bool) {
        let limbo = std::mem::take(&mut self.limbo);
        for (segment, offset, frontier) in limbo {
            if frontier.iter().all(|&(lane, seq)| completed(lane, seq)) {
                if let Some(block) = self.block(segment, offset) {
                    let len = block.len;
                    self.release(segment, offset, len, State::Anyone);
                }
            } else {
                self.limbo.push((segment, offset, frontier));
            }
        }
        let passed: Vec<_> = self
            .free
            .iter()
            .filter(|key| key.0 != 0)
            .filter(|key| match self.state(key.3, key.4) {
                State::Lane { id, seq } => completed(id, seq),
                _ => false,
            })
            .copied()
            .collect();
        for key in passed {
            // An earlier one of these may have swallowed this block as its neighbour.
            if self.free.remove(&key) {
                self.release(key.3, key.4, key.2, State::Anyone);
            }
        }
    }

    /// Removes the segments that are wholly free for anyone; gives their numbers.
    pub(crate) fn trim(&mut self) -> Vec<usize> {
        let whole: Vec<_> = self
            .free
            .iter()
            .filter(|key| {
                let bytes = self
                    .segments
                    .get(key.3)
                    .and_then(Option::as_ref)
                    .map(|s| s.bytes);
                key.0 == 0 && bytes == Some(key.2)
            })
            .copied()
            .collect();
        for key in &whole {
            self.free.remove(key);
            self.segments[key.3] = None;
        }
        whole.into_iter().map(|key| key.3).collect()
    }

    /// The largest free block, for anyone or for a lane.
    pub(crate) fn largest_free(&self) -> usize {
        self.free.iter().map(|key| key.2).max().unwrap_or(0)
    }

    fn fit(&self, who: u64, small: bool, len: usize) -> Option<(u64, bool, usize, usize, usize)> {
        self.free
            .range((who, small, len, 0, 0)..)
            .next()
            .filter(|key| key.0 == who && key.1 == small)
            .copied()
    }

    fn take(&mut self, key: (u64, bool, usize, usize, usize), len: usize, keep: usize) -> Grant {
        let (_, _, whole, segment, offset) = key;
        let state = self.state(segment, offset);
        self.free.remove(&key);
        let rest = whole - len;
        let len = if rest >= keep { len } else { whole };
        if let Some(block) = self.block(segment, offset) {
            *block = BlockState {
                len,
                state: State::Used,
            };
        }
        if rest >= keep && rest > 0 {
            self.insert(segment, offset + len, rest, state);
        }
        Grant {
            segment,
            offset,
            len,
        }
    }

    /// Enters a free block and joins it with its free neighbours.
    fn release(&mut self, segment: usize, offset: usize, len: usize, state: State) {
        let (mut offset, mut len, mut state) = (offset, len, state);
        if let Some(Some(entry)) = self.segments.get_mut(segment) {
            let next = entry.blocks.get(&(offset + len)).copied();
            if let Some(next) = next
                && let Some(joined) = state.join(next.state)
            {
                entry.blocks.remove(&(offset + len));
                if let Some(who) = next.state.key() {
                    self.free
                        .remove(&(who, entry.small, next.len, segment, offset + len));
                }
                len += next.len;
                state = joined;
            }
            let before = entry
                .blocks
                .range(..offset)
                .next_back()
                .map(|(&at, &block)| (at, block));
            if let Some((at, before)) = before
                && let Some(joined) = state.join(before.state)
            {
                entry.blocks.remove(&offset);
                if let Some(who) = before.state.key() {
                    self.free
                        .remove(&(who, entry.small, before.len, segment, at));
                }
                offset = at;
                len += before.len;
                state = joined;
            }
        }
        self.insert(segment, offset, len, state);
    }

    fn insert(&mut self, segment: usize, offset: usize, len: usize, state: State) {
        if let Some(Some(entry)) = self.segments.get_mut(segment) {
            entry.blocks.insert(offset, BlockState { len, state });
            if let Some(who) = state.key() {
                self.free.insert((who, entry.small, len, segment, offset));
            }
        }
    }

    fn block(&mut self, segment: usize, offset: usize) -> Option<&mut BlockState> {
        self.segments
            .get_mut(segment)?
            .as_mut()?
            .blocks
            .get_mut(&offset)
    }

    fn state(&self, segment: usize, offset: usize) -> State {
        self.segments
            .get(segment)
            .and_then(Option::as_ref)
            .and_then(|entry| entry.blocks.get(&offset))
            .map_or(State::Used, |block| block.state)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, Owner};

    const KIB: usize = 1024;

    #[test]
    fn g5_142_free_neighbours_join_in_any_order() {
        let mut arena = Arena::default();
        arena.add(1024 * KIB, true);
        let grants: Vec<_> = (0..16)
            .map(|_| arena.grant(0, 64 * KIB, true, 256).unwrap())
            .collect();
        assert_eq!(arena.grant(0, 1, true, 256), None);
        for at in [3, 0, 7, 1, 5, 2, 6, 4] {
            arena.free(grants[at].segment, grants[at].offset, Owner::Anyone);
        }
        assert_eq!(arena.largest_free(), 512 * KIB);
        let joined = arena.grant(0, 512 * KIB, true, 256).unwrap();
        assert_eq!((joined.offset, joined.len), (0, 512 * KIB));
    }

    #[test]
    fn a_block_freed_on_a_lane_is_that_lanes_until_it_has_passed() {
        let mut arena = Arena::default();
        arena.add(4 * KIB, true);
        let grant = arena.grant(1, 4 * KIB, true, 256).unwrap();
        arena.free(grant.segment, grant.offset, Owner::Lane { id: 1, seq: 9 });
        assert_eq!(arena.grant(2, KIB, true, 256), None);
        assert!(arena.trim().is_empty());
        arena.promote(|lane, seq| lane == 1 && seq < 9);
        assert_eq!(arena.grant(2, KIB, true, 256), None);
        let again = arena.grant(1, 4 * KIB, true, 256).unwrap();
        arena.free(again.segment, again.offset, Owner::Lane { id: 1, seq: 9 });
        arena.promote(|lane, seq| lane == 1 && seq <= 9);
        assert!(arena.grant(2, KIB, true, 256).is_some());
    }

    #[test]
    fn a_stolen_block_comes_with_its_witness() {
        let mut arena = Arena::default();
        arena.add(4 * KIB, true);
        let grant = arena.grant(1, KIB, true, 256).unwrap();
        let rest = arena.grant(1, 3 * KIB, true, 256).unwrap();
        arena.free(grant.segment, grant.offset, Owner::Lane { id: 1, seq: 3 });
        arena.free(rest.segment, rest.offset, Owner::Lane { id: 1, seq: 7 });
        let (stolen, witness) = arena.steal(2 * KIB, true, 256).unwrap();
        assert_eq!((stolen.len, witness), (2 * KIB, (1, 7)));
    }

    #[test]
    fn limbo_needs_every_point_of_its_frontier() {
        let mut arena = Arena::default();
        arena.add(KIB, true);
        let grant = arena.grant(0, KIB, true, 256).unwrap();
        let frontier = [(0, 4), (1, 2)].into_iter().collect();
        arena.free(grant.segment, grant.offset, Owner::Nobody(frontier));
        arena.promote(|lane, _| lane == 0);
        assert_eq!(arena.grant(0, KIB, true, 256), None);
        arena.promote(|_, _| true);
        assert_eq!(arena.trim(), vec![0]);
    }

    #[test]
    fn promotion_joins_what_it_frees() {
        let mut arena = Arena::default();
        arena.add(4 * KIB, true);
        let a = arena.grant(1, KIB, true, 256).unwrap();
        let b = arena.grant(2, KIB, true, 256).unwrap();
        let c = arena.grant(1, 2 * KIB, true, 256).unwrap();
        arena.free(a.segment, a.offset, Owner::Lane { id: 1, seq: 1 });
        arena.free(b.segment, b.offset, Owner::Lane { id: 2, seq: 1 });
        arena.free(c.segment, c.offset, Owner::Lane { id: 1, seq: 2 });
        arena.promote(|_, _| true);
        assert_eq!(arena.largest_free(), 4 * KIB);
        assert_eq!(arena.trim(), vec![0]);
        assert_eq!(arena.largest_free(), 0);
    }
}
