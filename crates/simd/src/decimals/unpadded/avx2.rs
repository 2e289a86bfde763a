//! Eight tokens at a time: their first four bytes, gathered into lanes of 32 bits.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_i32gather_epi32, _mm256_max_epu32,
    _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_srli_epi32, _mm256_sub_epi32,
};

use super::{Tokens, Unpadded};
use crate::gaps::avx2::{are_empty, load};

/// Tokens of one step.
const STEP: usize = 8;

/// Returns how many tokens certainly precede the first padded one: a multiple of eight.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpadded(tokens: Tokens<'_>, wanted: Unpadded) -> usize {
    let text = tokens.text;
    // The last start with four bytes after it; gathers take offsets as signed.
    let Some(last) = text.len().checked_sub(4).and_then(|last| i32::try_from(last).ok()) else {
        return 0;
    };
    let last = _mm256_set1_epi32(last);
    let (start_steps, _) = tokens.starts.as_chunks::<STEP>();
    let (end_steps, _) = tokens.ends.as_chunks::<STEP>();
    let steps = start_steps.len().min(end_steps.len());
    for (index, (starts, ends)) in start_steps.iter().zip(end_steps).enumerate() {
        let (starts, ends) = (load(starts), load(ends));
        let is_inside = _mm256_cmpeq_epi32(_mm256_max_epu32(starts, last), last);
        if mask(is_inside) != 0xff {
            return index * STEP;
        }
        // SAFETY: each lane reads four bytes from an offset that was compared with the last one
        // that has them.
        let first = unsafe { _mm256_i32gather_epi32::<1>(text.as_ptr().cast(), starts) };
        let are_empty = are_empty(starts, ends);
        if mask(_mm256_andnot_si256(are_empty, are_padded(first, wanted))) != 0 {
            return index * STEP;
        }
    }
    steps * STEP
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn are_padded(first: __m256i, wanted: Unpadded) -> __m256i {
    let byte = _mm256_set1_epi32(0xff);
    let is = |bytes, wanted: u8| {
        let wanted = _mm256_set1_epi32(i32::from(wanted));
        _mm256_cmpeq_epi32(_mm256_and_si256(bytes, byte), wanted)
    };
    let is_negative = is(first, b'-');
    let digits = _mm256_blendv_epi8(first, _mm256_srli_epi32::<8>(first), is_negative);
    let second = _mm256_and_si256(_mm256_srli_epi32::<8>(digits), byte);
    let second = _mm256_sub_epi32(second, _mm256_set1_epi32(i32::from(b'0')));
    let is_digit = _mm256_and_si256(
        _mm256_cmpgt_epi32(second, _mm256_set1_epi32(-1)),
        _mm256_cmpgt_epi32(_mm256_set1_epi32(10), second),
    );
    let minuses = match wanted {
        Unpadded::Whole => is_negative,
        Unpadded::Any => _mm256_setzero_si256(),
    };
    let is_odd = _mm256_or_si256(is_digit, minuses);
    _mm256_or_si256(_mm256_and_si256(is(digits, b'0'), is_odd), is(first, b'+'))
}

/// One bit for each lane.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn mask(lanes: __m256i) -> i32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes))
}
