//! What is known to have happened before what: vector clocks over streams.
//!
//! A clock holds, for each stream, the number of the last item of that stream that happened before.
//! Clocks order work by what was *recorded and waited for*, not by when it chanced to run, so that
//! a missing wait is found in every schedule (Lamport 1978; Fidge 1988; Mattern 1989). Knows
//! nothing of streams beyond their numbers.

/// A vector clock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Clock(Vec<u64>);

impl Clock {
    /// The last item of `stream` that happened before; 0 for none.
    pub(crate) fn get(&self, stream: usize) -> u64 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// Item `seq` of `stream` has happened before.
    pub(crate) fn set(&mut self, stream: usize, seq: u64) {
        if self.0.len() <= stream {
            self.0.resize(stream + 1, 0);
        }
        self.0[stream] = seq;
    }

    /// Everything in `other` has happened before, too.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_join_knows_what_either_knew() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.set(0, 3);
        b.set(2, 5);
        b.set(0, 1);
        a.join(&b);
        assert_eq!([a.get(0), a.get(1), a.get(2), a.get(9)], [3, 0, 5, 0]);
    }
}
