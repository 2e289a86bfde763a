//! Random numbers that are the same on every machine, for ever.
//!
//! Pauses, orders of contestants, and generated files must be reproducible from a seed alone, so
//! the generator is written out here and never changes. It is SplitMix64 (Steele, Lea and Flood,
//! 2014): word `i` is a function of the seed and `i` only, so any worker can make any part of a
//! file.
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

/// Turns a word that differs from others in a few bits into a random one.
#[inline]
pub fn mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|index| word(1_234_567, index)), published);
        let mut seed = 1_234_567;
        assert_eq!([(); 3].map(|()| next_word(&mut seed)), published);
    }
}
