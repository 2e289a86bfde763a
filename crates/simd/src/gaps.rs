//! The tokens that are not empty, with one bit each.
//!
//! ```text
//! starts   0 4 5 9
//! ends     3 4 8 9
//! bits     1 0 1 0
//! ```

use crate::level::{Detected, Level, detected};

/// Returns bits that are set for tokens which start before their end, of at most 64 tokens.
///
/// ```
/// assert_eq!(swath_simd::not_empty(&[0, 4, 5, 9], &[3, 4, 8, 9]), 0b101);
/// ```
///
/// # Panics
///
/// If there are more than 64.
#[must_use]
pub fn not_empty(starts: &[u32], ends: &[u32]) -> u64 {
    at(detected(), starts, ends)
}

/// Like [`not_empty`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available), and like [`not_empty`].
#[must_use]
pub fn not_empty_at(level: Level, starts: &[u32], ends: &[u32]) -> u64 {
    at(level.detected(), starts, ends)
}

fn at(level: Detected, starts: &[u32], ends: &[u32]) -> u64 {
    let count = starts.len().min(ends.len());
    assert!(count <= 64, "{count} tokens");
    let (starts, ends) = (&starts[..count], &ends[..count]);
    match level.level() {
        // SAFETY: this processor has the level, which was detected, and every one with AVX-512
        // has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { avx2::not_empty(starts, ends) },
        _ => portable(starts, ends),
    }
}

fn portable(starts: &[u32], ends: &[u32]) -> u64 {
    let pairs = starts.iter().zip(ends).enumerate();
    pairs.fold(0, |bits, (at, (start, end))| bits | u64::from(start < end) << at)
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_max_epu32,
        _mm256_movemask_ps,
    };

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn not_empty(starts: &[u32], ends: &[u32]) -> u64 {
        let (start_steps, start_rest) = starts.as_chunks::<8>();
        let (end_steps, end_rest) = ends.as_chunks::<8>();
        let (mut bits, mut at) = (0, 0);
        for (starts, ends) in start_steps.iter().zip(end_steps) {
            let (starts, ends) = (load(starts), load(ends));
            let empty = _mm256_movemask_ps(_mm256_castsi256_ps(are_empty(starts, ends)))
                .cast_unsigned();
            bits |= u64::from(!empty & 0xff) << at;
            at += 8;
        }
        if start_rest.is_empty() {
            return bits;
        }
        bits | super::portable(start_rest, end_rest) << at
    }

    /// Returns all bits of the lanes of tokens that do not start before their end.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn are_empty(starts: __m256i, ends: __m256i) -> __m256i {
        _mm256_cmpeq_epi32(_mm256_max_epu32(starts, ends), starts)
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn load(eight: &[u32; 8]) -> __m256i {
        // SAFETY: there are eight 32-bit numbers.
        unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_a_plain_loop() {
        let mut next = swath_reference::splitmix(11);
        let mut number =
            || [0, 1, 7, u32::MAX - 1, u32::MAX][usize::try_from(next() % 5).expect("small")];
        for round in 0..3000 {
            let count = round % 65;
            let starts: Vec<u32> = (0..count).map(|_| number()).collect();
            let ends: Vec<u32> = (0..count).map(|_| number()).collect();
            let wanted =
                (0..count).fold(0, |bits, at| bits | u64::from(starts[at] < ends[at]) << at);
            for level in Level::ALL.into_iter().filter(|level| level.available()) {
                assert_eq!(not_empty_at(level, &starts, &ends), wanted, "{level}");
            }
        }
    }
}
