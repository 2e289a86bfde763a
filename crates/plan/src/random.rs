//! Random numbers that are the same on every machine, forever.
//!
//! Pauses, orders of contestants, and generated files must be reproducible from a seed alone, so
//! the generator is written out here and never changes. It is SplitMix64 (Steele, Lea and Flood,
//! 2014): word `i` depends only on the seed and `i`, so any worker can make any part of a file.
//!
//! ```
//! use swath_plan::random::{GAMMA, mix, word};
//!
//! assert_eq!(word(7, 0), mix(7 + GAMMA));
//! ```

/// The odd number nearest to 2^64 divided by the golden ratio.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns word `index` of the sequence of `seed`.
#[inline]
pub fn word(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(GAMMA.wrapping_mul(index.wrapping_add(1))))
}

/// Advances `seed` and returns the first word of its sequence.
#[inline]
pub(crate) fn next_word(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(GAMMA);
    mix(*seed)
}

/// Turns a word that differs from others in few bits into a random one.
#[inline]
pub fn mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns a number in [0, 1): word `index` of the sequence of `seed`, cut to the 53 bits of a
/// double.
#[inline]
pub fn fraction(seed: u64, index: u64) -> f64 {
    const BITS: u32 = 53;
    (word(seed, index) >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
}

/// The sequence of one seed, word after word.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    seed: u64,
    index: u64,
}

impl SplitMix64 {
    /// Starts the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, index: 0 }
    }

    /// Returns the next word.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        let next = word(self.seed, self.index);
        self.index = self.index.wrapping_add(1);
        next
    }

    /// Returns a number below `bound`.
    ///
    /// The odds differ by less than `bound / 2^64`, too little to measure.
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number is below 0");
        let product = u128::from(self.next_word()) * bound as u128;
        usize::try_from(product >> 64).expect("the quotient is below `bound`")
    }

    /// Puts `items` into a random order, each equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|index| word(1_234_567, index)), published);
        let mut seed = 1_234_567;
        assert_eq!([(); 3].map(|()| next_word(&mut seed)), published);
    }

    #[test]
    fn below_stays_below_and_reaches_every_number() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0_u32; 3];
        for _ in 0..300 {
            seen[random.below(3)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        SplitMix64::new(2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
