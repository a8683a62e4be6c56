//! Contraction paths: in what order operands are taken together.
//!
//! Promises that [`Path::pairs`] either gives a binary tree over all operands or names the step that
//! is broken, in time `O(n log n)` in what the path says. Knows nothing of indices or sizes.

use super::error::EinsumError;

/// A contraction path.
///
/// A step lists positions in the current list of operands, from 0: those operands are removed, all
/// at once, and their contraction is appended at the end. This is what opt_einsum calls a path and
/// what the einsum-benchmark files hold. A step of one position sums what only that operand has; a
/// step of more than two is contracted pair by pair, from left to right in the order listed. One
/// operand must be left at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    steps: Vec<Vec<usize>>,
}

/// One step of a path in which every operand and every result keeps its number for good: operands
/// have the numbers `0..n`, the result of pair `i` the number `n + i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// What one operand alone has is summed.
    One(usize),
    /// Two operands are contracted.
    Two(usize, usize),
}

impl Path {
    /// A path of these steps. Whether it leads from so and so many operands to one is seen when it
    /// is used.
    #[must_use]
    pub const fn new(steps: Vec<Vec<usize>>) -> Self {
        Self { steps }
    }

    /// The steps.
    #[must_use]
    pub fn steps(&self) -> &[Vec<usize>] {
        &self.steps
    }

    /// The path that takes these pairs, which are over `operands` operands, in order.
    pub(super) fn from_pairs(operands: usize, pairs: &[Pair]) -> Self {
        let mut live = Live::new(operands, pairs.len());
        let mut steps = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let step = match *pair {
                Pair::One(a) => vec![live.position(a)],
                Pair::Two(a, b) => vec![live.position(a), live.position(b)],
            };
            match *pair {
                Pair::One(a) => live.remove(a),
                Pair::Two(a, b) => {
                    live.remove(a);
                    live.remove(b);
                }
            }
            live.append();
            steps.push(step);
        }
        Self { steps }
    }

    /// The path as pairs over `operands` operands.
    pub(super) fn pairs(&self, operands: usize) -> Result<Vec<Pair>, EinsumError> {
        let results = self.steps.iter().map(|step| step.len().max(2) - 1).sum();
        let mut live = Live::new(operands, self.steps.len());
        // A step's result is numbered by the last of its pairs; `numbers` maps from the live list,
        // where it is one entry.
        let mut numbers: Vec<usize> = (0..operands).collect();
        let mut pairs = Vec::with_capacity(results);
        let mut taken = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let broken = |detail: String| EinsumError::Path { step: at, detail };
            taken.clear();
            for position in step {
                let count = live.count;
                let entry = live.entry(*position).ok_or_else(|| {
                    broken(format!("position {position} with {count} operands left"))
                })?;
                taken.push(entry);
            }
            for (entry, position) in taken.iter().zip(step) {
                if !live.remove_once(*entry) {
                    return Err(broken(format!("position {position} is listed twice")));
                }
            }
            let mut results = taken.iter().map(|entry| numbers[*entry]);
            let Some(first) = results.next() else {
                return Err(broken("it lists no position".to_owned()));
            };
            let mut number = first;
            if taken.len() == 1 {
                pairs.push(Pair::One(first));
                number = operands + pairs.len() - 1;
            }
            for next in results {
                pairs.push(Pair::Two(number, next));
                number = operands + pairs.len() - 1;
            }
            numbers.push(number);
            live.append();
        }
        if live.count != 1 {
            let detail = format!("{} operands are left at its end, not one", live.count);
            return Err(EinsumError::Path {
                step: self.steps.len(),
                detail,
            });
        }
        Ok(pairs)
    }
}

/// A list from which entries are removed by position in logarithmic time: a Fenwick tree (Fenwick
/// 1994, "A new data structure for cumulative frequency tables") over what was ever in it.
struct Live {
    tree: Vec<usize>,
    alive: Vec<bool>,
    /// How many entries are in the list.
    count: usize,
    /// How many ever were.
    appended: usize,
}

impl Live {
    /// The list `0..entries`, with room for `more`.
    fn new(entries: usize, more: usize) -> Self {
        let room = entries + more;
        let mut tree = vec![0; room + 1];
        for at in 1..=room {
            tree[at] += usize::from(at <= entries);
            let parent = at + lowest_bit(at);
            if parent <= room {
                tree[parent] += tree[at];
            }
        }
        let mut alive = vec![true; entries];
        alive.resize(room, false);
        Self {
            tree,
            alive,
            count: entries,
            appended: entries,
        }
    }

    /// The entry at `position`.
    fn entry(&self, position: usize) -> Option<usize> {
        if position >= self.count {
            return None;
        }
        let mut at = 0;
        let mut before = position;
        let mut step = (self.tree.len() - 1)
            .checked_ilog2()
            .map_or(0, |bits| 1usize << bits);
        while step > 0 {
            if at + step < self.tree.len() && self.tree[at + step] <= before {
                at += step;
                before -= self.tree[at];
            }
            step /= 2;
        }
        Some(at)
    }

    /// The position of a live entry.
    fn position(&self, entry: usize) -> usize {
        let mut at = entry;
        let mut before = 0;
        while at > 0 {
            before += self.tree[at];
            at -= lowest_bit(at);
        }
        before
    }

    /// Removes an entry; `false` when it was removed before.
    fn remove_once(&mut self, entry: usize) -> bool {
        let was = std::mem::replace(&mut self.alive[entry], false);
        if was {
            self.count -= 1;
            self.update(entry, |sum| sum - 1);
        }
        was
    }

    fn remove(&mut self, entry: usize) {
        self.remove_once(entry);
    }

    /// Appends the next entry.
    fn append(&mut self) {
        self.alive[self.appended] = true;
        self.update(self.appended, |sum| sum + 1);
        self.count += 1;
        self.appended += 1;
    }

    fn update(&mut self, entry: usize, change: impl Fn(usize) -> usize) {
        let mut at = entry + 1;
        while at < self.tree.len() {
            self.tree[at] = change(self.tree[at]);
            at += lowest_bit(at);
        }
    }
}

/// The lowest set bit of `at`, which is not 0.
const fn lowest_bit(at: usize) -> usize {
    1 << at.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::{EinsumError, Pair, Path};
    use rstest::rstest;

    fn path(steps: &[&[usize]]) -> Path {
        Path::new(steps.iter().map(|step| step.to_vec()).collect())
    }

    #[test]
    fn positions_are_those_of_the_current_list() {
        // 0 1 2 3 -> 1 2 (0 3) -> 1 ((0 3) 2) -> one
        let pairs = path(&[&[0, 3], &[2, 1], &[0, 1]]).pairs(4).unwrap();
        assert_eq!(pairs, [Pair::Two(0, 3), Pair::Two(4, 2), Pair::Two(1, 5)]);
    }

    #[test]
    fn longer_steps_go_from_left_to_right() {
        let pairs = path(&[&[2, 0, 1], &[1], &[1, 0]]).pairs(4).unwrap();
        assert_eq!(
            pairs,
            [
                Pair::Two(2, 0),
                Pair::Two(4, 1),
                Pair::One(5),
                Pair::Two(6, 3)
            ]
        );
    }

    #[test]
    fn a_path_of_pairs_survives_the_way_there_and_back() {
        let pairs = [
            Pair::Two(1, 3),
            Pair::One(0),
            Pair::Two(5, 4),
            Pair::Two(2, 6),
        ];
        assert_eq!(Path::from_pairs(4, &pairs).pairs(4).unwrap(), pairs);
    }

    #[rstest]
    #[case("0 2", 2, 0, "position 2 with 2 operands left")]
    #[case("0 1;0 1", 2, 1, "position 1 with 1 operands left")]
    #[case("1 1", 2, 0, "position 1 is listed twice")]
    #[case(
        "0 18446744073709551615",
        2,
        0,
        "position 18446744073709551615 with 2 operands left"
    )]
    #[case("", 1, 0, "it lists no position")]
    #[case("0 1", 3, 1, "2 operands are left at its end, not one")]
    #[case("0", 2, 1, "2 operands are left at its end, not one")]
    fn broken_paths_name_the_step(
        #[case] steps: &str,
        #[case] operands: usize,
        #[case] step: usize,
        #[case] detail: &str,
    ) {
        let numbers = |step: &str| {
            step.split_whitespace()
                .map(|at| at.parse().unwrap())
                .collect()
        };
        let path = Path::new(steps.split(';').map(numbers).collect());
        let error = path.pairs(operands).unwrap_err();
        assert_eq!(
            error,
            EinsumError::Path {
                step,
                detail: detail.to_owned()
            }
        );
    }

    #[test]
    fn one_operand_needs_no_step() {
        assert_eq!(path(&[]).pairs(1).unwrap(), []);
    }

    #[test]
    fn a_million_operands_are_no_trouble() {
        let operands = 1_000_000;
        let front = Path::new(vec![vec![0, 1]; operands - 1]);
        assert_eq!(front.pairs(operands).unwrap().len(), operands - 1);
        let all = Path::new(vec![(0..operands).rev().collect()]);
        assert_eq!(all.pairs(operands).unwrap().len(), operands - 1);
    }
}
