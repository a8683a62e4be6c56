//! A path's positions as numbers that last.
//!
//! Promises to name the step of a path that leads nowhere, in nearly linear time: a list of operands
//! is kept in short pieces, so that taking one out moves few. Written apart from tensor-core's own
//! reading of paths, which it checks. Knows nothing of indices.

/// The steps of a path. Operands are numbered from 0, and the result of a step gets the next number.
pub type Walk = Vec<Vec<usize>>;

/// Why a path leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("path{place}: {detail}")]
pub struct Broken {
    /// The step, as a position in the list: `[3]`; empty for the whole.
    pub place: String,
    /// What is wrong with it.
    pub detail: String,
}

/// Follows a path over so many operands.
///
/// # Errors
/// [`Broken`]: a position that is not there or is listed twice, a step that lists none, or more than
/// one operand left.
pub fn walk(operands: usize, steps: &[Vec<usize>]) -> Result<Walk, Broken> {
    let mut list = Pieces::new(operands);
    let mut walk = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        let broken = |detail| Broken {
            place: format!("[{at}]"),
            detail,
        };
        if step.is_empty() {
            return Err(broken("the step lists no operand".to_owned()));
        }
        let mut positions = step.clone();
        positions.sort_unstable();
        if let Some(last) = positions.last().filter(|last| **last >= list.len) {
            let detail = format!(
                "position {last} is out of range with {} operands left",
                list.len
            );
            return Err(broken(detail));
        }
        if let Some(twice) = positions.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(broken(format!("position {} is listed twice", twice[0])));
        }
        let taken = step.iter().map(|position| list.get(*position)).collect();
        walk.push(taken);
        for position in positions.iter().rev() {
            list.remove(*position);
        }
        list.push(operands + at);
    }
    if list.len != 1 {
        let detail = format!("{} operands are left at the end, not one", list.len);
        return Err(Broken {
            place: String::new(),
            detail,
        });
    }
    Ok(walk)
}

/// How long a piece grows.
const PIECE: usize = 512;

/// A list in pieces.
struct Pieces {
    pieces: Vec<Vec<usize>>,
    len: usize,
}

impl Pieces {
    fn new(len: usize) -> Self {
        let all: Vec<usize> = (0..len).collect();
        Self {
            pieces: all.chunks(PIECE).map(<[usize]>::to_vec).collect(),
            len,
        }
    }

    /// The piece and the place in it of a position that is there.
    fn find(&self, mut position: usize) -> (usize, usize) {
        for (at, piece) in self.pieces.iter().enumerate() {
            if position < piece.len() {
                return (at, position);
            }
            position -= piece.len();
        }
        (self.pieces.len(), position)
    }

    fn get(&self, position: usize) -> usize {
        let (piece, at) = self.find(position);
        self.pieces[piece][at]
    }

    fn remove(&mut self, position: usize) {
        let (piece, at) = self.find(position);
        self.pieces[piece].remove(at);
        if self.pieces[piece].is_empty() {
            self.pieces.remove(piece);
        }
        self.len -= 1;
    }

    fn push(&mut self, number: usize) {
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(number),
            _ => self.pieces.push(vec![number]),
        }
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::walk;
    use rstest::rstest;

    fn steps(text: &str) -> Vec<Vec<usize>> {
        let numbers = |step: &str| {
            step.split_whitespace()
                .map(|at| at.parse().unwrap())
                .collect()
        };
        text.split(';').map(numbers).collect()
    }

    #[test]
    fn numbers_last() {
        // 0 1 2 3 -> 1 2 4 -> 1 5 -> 6
        let walk = walk(4, &steps("0 3;2 1;0 1")).unwrap();
        assert_eq!(walk, steps("0 3;4 2;1 5"));
    }

    #[test]
    fn long_lists_lose_nothing() {
        let operands = 3000;
        let front = vec![vec![0, 1]; operands - 1];
        let seen: Vec<usize> = walk(operands, &front)
            .unwrap()
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(seen, (0..2 * operands - 2).collect::<Vec<_>>());
    }

    #[rstest]
    #[case("0 2", "[0]", "position 2 is out of range with 2 operands left")]
    #[case("0 1;0 1", "[1]", "position 1 is out of range with 1 operands left")]
    #[case("1 1", "[0]", "position 1 is listed twice")]
    #[case("0;", "[1]", "the step lists no operand")]
    #[case("0", "", "2 operands are left at the end, not one")]
    fn broken_paths(#[case] path: &str, #[case] place: &str, #[case] detail: &str) {
        let broken = walk(2, &steps(path)).unwrap_err();
        assert_eq!(
            (broken.place.as_str(), broken.detail.as_str()),
            (place, detail)
        );
    }
}
