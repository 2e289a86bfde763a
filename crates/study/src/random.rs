//! Random numbers that are the same on every machine and with every version.
//!
//! Orders of contestants, resampled rounds and generated files must be repeatable from a
//! seed alone: all are made of [`word`]s.
//!
//! ```
//! use swath_study::random::{SplitMix64, word};
//!
//! let mut random = SplitMix64::new(7);
//! assert_eq!(random.next_word(), word(7, 0));
//! assert_eq!(random.next_word(), word(7, 1));
//! ```

pub use swath_plan::random::word;

/// Returns a number from 0 up to, but not including, 1: word `index` of the sequence of `seed`, cut to
/// the 53 bits of a double.
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
    use super::*;

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
