//! The random numbers of what is generated: the same on every machine and in every year.

/// The odd number nearest to 2^64 divided by the golden ratio.
pub(crate) const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finisher of SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number
/// generators*, 2014).
pub(crate) fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// SplitMix64 itself.
pub(crate) fn splitmix(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(ODD);
        mixed(state)
    }
}
