//! One bit for each byte: whether it has been written.
//!
//! Knows nothing of what the bytes are.

/// A row of bits, all clear at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    fn words(at: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
        let (mut at, end) = (at, at + len);
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (word, low) = (at / 64, at % 64);
            let high = (end - word * 64).min(64);
            at = (word + 1) * 64;
            let below = |n: usize| if n == 64 { u64::MAX } else { (1 << n) - 1 };
            Some((word, below(high) & !below(low)))
        })
    }

    pub(crate) fn set(&mut self, at: usize, len: usize, value: bool) {
        for (word, mask) in Self::words(at, len) {
            if value {
                self.0[word] |= mask;
            } else {
                self.0[word] &= !mask;
            }
        }
    }

    pub(crate) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// The first clear bit of a range.
    pub(crate) fn first_clear(&self, at: usize, len: usize) -> Option<usize> {
        Self::words(at, len).find_map(|(word, mask)| {
            let clear = !self.0[word] & mask;
            (clear != 0).then(|| word * 64 + clear.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn ranges_are_exact_at_every_edge() {
        for (at, len) in [
            (0, 1),
            (63, 2),
            (0, 64),
            (5, 200),
            (64, 64),
            (199, 1),
            (7, 0),
        ] {
            let mut bits = Bits::new(200 + 64);
            bits.set(at, len, true);
            for bit in 0..264 {
                assert_eq!(
                    bits.get(bit),
                    (at..at + len).contains(&bit),
                    "{at} {len} {bit}"
                );
            }
            assert_eq!(bits.first_clear(at, len), None);
            assert_eq!(bits.first_clear(at, len + 1), Some(at + len));
            bits.set(at, len, false);
            assert_eq!(bits.first_clear(0, 264), Some(0));
        }
    }
}
