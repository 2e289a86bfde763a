//! The number of occurrences of one byte: lines are counted by their newlines.

use crate::cells::Cells;
use crate::level::{Detected, Level, detected};

/// Returns the number of occurrences of `byte` in `bytes`.
///
/// ```
/// assert_eq!(swath_simd::count(b"a,b,c", b','), 2);
/// ```
#[must_use]
pub fn count(bytes: &[u8], byte: u8) -> u64 {
    dispatch(detected(), Cells::from(bytes), byte)
}

/// Returns the number of occurrences of `byte` in bytes that other programs may store to during the call.
///
/// Compares each byte once, with the value that it has at one moment during the call.
#[must_use]
pub fn count_cells(bytes: Cells<'_>, byte: u8) -> u64 {
    dispatch(detected(), bytes, byte)
}

/// Returns the number of occurrences of `byte` in `bytes`, with the kernel of one `level`, to
/// compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
#[must_use]
pub fn count_at(level: Level, bytes: &[u8], byte: u8) -> u64 {
    dispatch(level.detected(), Cells::from(bytes), byte)
}

/// Runs the kernel of `level`.
fn dispatch(level: Detected, bytes: Cells<'_>, byte: u8) -> u64 {
    match level.level() {
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(bytes, byte) },
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(bytes, byte) },
        _ => portable(bytes, byte),
    }
}

/// Counts in the eight bytes of a word at a time.
pub(crate) fn portable(bytes: Cells<'_>, byte: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f * ONES;
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    // A word adds at most 1 to a byte: 255 of them still fit.
    const WORDS: usize = 255;
    let wanted = u64::from(byte) * ONES;
    let (head, mut words, tail) = bytes.aligned::<u64>();
    let mut total = by_byte(head, byte) + by_byte(tail, byte);
    while let Some(block) = words.first(WORDS) {
        let lanes = block.fold(0, |lanes, word| {
            let differs = word ^ wanted;
            // The top bit of each byte is set unless the byte is 0; no carry leaves a byte.
            let set = ((differs & LOW) + LOW) | differs;
            lanes + ((!set >> 7) & ONES)
        });
        let pairs = (lanes & EVEN) + ((lanes >> 8) & EVEN);
        total += (0..4).map(|lane| (pairs >> (16 * lane)) & 0xffff).sum::<u64>();
    }
    total
}

fn by_byte(bytes: Cells<'_>, byte: u8) -> u64 {
    bytes.bytes().map(|here| u64::from(here == byte)).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi8, _mm256_add_epi64, _mm256_cmpeq_epi8,
        _mm256_sad_epu8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_sub_epi8,
        _mm512_cmpeq_epi8_mask, _mm512_set1_epi8,
    };

    use crate::cells::Cells;
    use crate::sum::reduce_avx2;

    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    pub(super) fn avx512(bytes: Cells<'_>, byte: u8) -> u64 {
        let (head, mut vectors, tail) = bytes.aligned::<__m512i>();
        let wanted = _mm512_set1_epi8(byte.cast_signed());
        let mut counts = [0; 4];
        while let Some(four) = vectors.four() {
            for (count, vector) in counts.iter_mut().zip(four) {
                *count += u64::from(_mm512_cmpeq_epi8_mask(vector, wanted).count_ones());
            }
        }
        for vector in vectors {
            counts[0] += u64::from(_mm512_cmpeq_epi8_mask(vector, wanted).count_ones());
        }
        let edges = super::portable(head, byte) + super::portable(tail, byte);
        counts.iter().sum::<u64>() + edges
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2(bytes: Cells<'_>, byte: u8) -> u64 {
        // Four vectors add at most 2 to each byte of each accumulator, so 127 times four still
        // fit.
        const VECTORS: usize = 4 * 127;
        let (head, mut vectors, tail) = bytes.aligned::<__m256i>();
        let zero = _mm256_setzero_si256();
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        let mut total = zero;
        while let Some(mut block) = vectors.first(VECTORS) {
            let [mut a, mut b] = [zero; 2];
            while let Some(four) = block.four() {
                let [p, q, r, s] = four.map(|vector| _mm256_cmpeq_epi8(vector, wanted));
                // An equal byte is -1.
                a = _mm256_sub_epi8(a, _mm256_add_epi8(p, q));
                b = _mm256_sub_epi8(b, _mm256_add_epi8(r, s));
            }
            total = _mm256_add_epi64(total, _mm256_sad_epu8(a, zero));
            total = _mm256_add_epi64(total, _mm256_sad_epu8(b, zero));
            for vector in block {
                let equal = _mm256_sub_epi8(zero, _mm256_cmpeq_epi8(vector, wanted));
                total = _mm256_add_epi64(total, _mm256_sad_epu8(equal, zero));
            }
        }
        reduce_avx2(total) + super::portable(head, byte) + super::portable(tail, byte)
    }
}
