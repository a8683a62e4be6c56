//! Numbers from a seed: the same on every machine.
//!
//! SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), with
//! the constants of that paper. Knows nothing of what is drawn.

/// A generator of 64-bit numbers.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The generator of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own, so that drawing from one does not shift the other.
    #[must_use]
    pub const fn split(&mut self) -> Self {
        Self(self.word() ^ 0x5851_F42D_4C95_7F2D)
    }

    /// The next 64 bits.
    pub const fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product: no division, and a bias far below what a test could see.
        let product = u128::from(self.word()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `chance` of 256 cases.
    pub const fn chance(&mut self, chance: u32) -> bool {
        (self.word() >> 56) < chance as u64
    }

    /// One of `items`.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        let at = self.below(items.len());
        items.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_published_first_words_of_seed_1234567() {
        // The reference values that accompany the algorithm's C version by Vigna (2015).
        let mut rng = Rng::new(1_234_567);
        let words = [(); 3].map(|()| rng.word());
        assert_eq!(
            words,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn draws_stay_in_their_bounds_and_reach_them() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.below(5)] = true;
            assert!((3..=4).contains(&rng.within(3, 4)));
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.below(0), 0);
        assert!(!rng.chance(0) && rng.chance(256));
    }
}
