//! The sum of bytes.
//!
//! A vector's sum of absolute differences from zero adds eight bytes to one 64-bit lane in one
//! instruction; four accumulators keep the additions from waiting for each other.

use crate::cells::Cells;
use crate::level::{Detected, Level, detected};

/// Returns the sum of all bytes.
///
/// Cannot overflow: an overflow would take 2^56 bytes.
///
/// ```
/// assert_eq!(swath_simd::sum(&[1, 2, 255]), 258);
/// ```
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    dispatch(detected(), Cells::from(bytes))
}

/// Returns the sum of bytes that other programs may store to during the call.
///
/// Each byte counts once, with the value that it has at one moment during the call.
#[must_use]
pub fn sum_cells(bytes: Cells<'_>) -> u64 {
    dispatch(detected(), bytes)
}

/// Returns the sum of all bytes, with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
#[must_use]
pub fn sum_at(level: Level, bytes: &[u8]) -> u64 {
    dispatch(level.detected(), Cells::from(bytes))
}

/// Runs the kernel of `level`.
fn dispatch(level: Detected, bytes: Cells<'_>) -> u64 {
    match level.level() {
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(bytes) },
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(bytes) },
        _ => portable(bytes),
    }
}

/// Sums in four 16-bit lanes of a word, two bytes to each lane.
pub(crate) fn portable(bytes: Cells<'_>) -> u64 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    // A word adds at most 510 to a lane: 128 of them stay below 65,536.
    const WORDS: usize = 128;
    let (head, mut words, tail) = bytes.aligned::<u64>();
    let mut total = by_byte(head) + by_byte(tail);
    while let Some(block) = words.first(WORDS) {
        let lanes = block.fold(0, |lanes, word| lanes + (word & EVEN) + ((word >> 8) & EVEN));
        total += (0..4).map(|lane| (lanes >> (16 * lane)) & 0xffff).sum::<u64>();
    }
    total
}

fn by_byte(bytes: Cells<'_>) -> u64 {
    bytes.bytes().map(u64::from).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi64, _mm256_extract_epi64, _mm256_sad_epu8,
        _mm256_setzero_si256, _mm512_add_epi64, _mm512_reduce_add_epi64, _mm512_sad_epu8,
        _mm512_setzero_si512,
    };

    use crate::cells::Cells;

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn avx512(bytes: Cells<'_>) -> u64 {
        let (head, mut vectors, tail) = bytes.aligned::<__m512i>();
        let zero = _mm512_setzero_si512();
        let [mut a, mut b, mut c, mut d] = [zero; 4];
        while let Some(four) = vectors.four() {
            a = _mm512_add_epi64(a, _mm512_sad_epu8(four[0], zero));
            b = _mm512_add_epi64(b, _mm512_sad_epu8(four[1], zero));
            c = _mm512_add_epi64(c, _mm512_sad_epu8(four[2], zero));
            d = _mm512_add_epi64(d, _mm512_sad_epu8(four[3], zero));
        }
        for vector in vectors {
            a = _mm512_add_epi64(a, _mm512_sad_epu8(vector, zero));
        }
        let sum = _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d));
        let body = _mm512_reduce_add_epi64(sum).cast_unsigned();
        body + super::portable(head) + super::portable(tail)
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2(bytes: Cells<'_>) -> u64 {
        let (head, mut vectors, tail) = bytes.aligned::<__m256i>();
        let zero = _mm256_setzero_si256();
        let [mut a, mut b, mut c, mut d] = [zero; 4];
        while let Some(four) = vectors.four() {
            a = _mm256_add_epi64(a, _mm256_sad_epu8(four[0], zero));
            b = _mm256_add_epi64(b, _mm256_sad_epu8(four[1], zero));
            c = _mm256_add_epi64(c, _mm256_sad_epu8(four[2], zero));
            d = _mm256_add_epi64(d, _mm256_sad_epu8(four[3], zero));
        }
        for vector in vectors {
            a = _mm256_add_epi64(a, _mm256_sad_epu8(vector, zero));
        }
        let sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
        reduce(sum) + super::portable(head) + super::portable(tail)
    }

    /// Returns the sum of the four lanes.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn reduce(lanes: __m256i) -> u64 {
        [
            _mm256_extract_epi64::<0>(lanes),
            _mm256_extract_epi64::<1>(lanes),
            _mm256_extract_epi64::<2>(lanes),
            _mm256_extract_epi64::<3>(lanes),
        ]
        .into_iter()
        .map(i64::cast_unsigned)
        .sum()
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::reduce as reduce_avx2;
