//! Eight tokens of at most 16 bytes at a time, in two vectors of four: one with the even tokens,
//! one with the odd ones, so that packing them puts the numbers in order.

use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_setr_epi8,
    _mm_unpacklo_epi16, _mm256_castps_si256, _mm256_cmpge_epu32_mask, _mm256_cmple_epu32_mask,
    _mm256_cvtepi32_ps, _mm256_cvtepu16_epi32, _mm256_loadu_si256, _mm256_set1_epi32,
    _mm256_srli_epi32, _mm256_sub_epi32, _mm512_add_epi64, _mm512_broadcast_i32x4,
    _mm512_bslli_epi128, _mm512_castpd_si512, _mm512_castsi128_si512, _mm512_castsi512_pd,
    _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask, _mm512_cmpgt_epu8_mask,
    _mm512_cmpgt_epu64_mask, _mm512_cvtepu32_epi64, _mm512_cvtepu64_pd, _mm512_div_pd,
    _mm512_inserti32x4, _mm512_loadu_pd, _mm512_madd_epi16, _mm512_maddubs_epi16,
    _mm512_mask_cmpeq_epi8_mask, _mm512_mask_mov_epi8, _mm512_mask_sub_epi64,
    _mm512_mask_xor_epi64, _mm512_maskz_mov_epi8, _mm512_mul_epu32, _mm512_packus_epi32,
    _mm512_permutex2var_pd, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi64,
    _mm512_storeu_pd, _mm512_storeu_si512, _mm512_sub_epi8, _pdep_u32, _pext_u64,
};

use super::padding::begin_padded;
use super::short::kind;
use super::{Tokens, alone, four, long, wide};

/// Whether this processor has the features that [`Level::Avx512`](crate::level::Level) does not
/// include.
pub(super) fn available() -> bool {
    std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
        && long::available()
}

/// The bytes of a window, and the tokens of one step.
const WINDOW: u32 = 16;
const STEP: usize = 8;

/// The highest bit of each token, and the lowest, in masks of four.
const HIGHEST: u64 = 0x8000_8000_8000_8000;
const LOWEST: u64 = 0x0001_0001_0001_0001;

/// The powers of ten used as divisors.
static POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles(tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let short =
            eight::<{ kind::ANY }, false>(tokens, done).and_then(|eight| eight.doubles());
        let values = short.or_else(|| long::doubles::<{ kind::ANY }>(tokens, done, &mut false));
        if let Some(values) = values {
            // SAFETY: there is room for eight doubles, aligned or not.
            unsafe { _mm512_storeu_pd(slots.as_mut_ptr(), values) };
        } else {
            let found = wide::doubles(tokens, done, slots);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + wide::doubles(tokens, done, &mut out[done..count])
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn integers(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let values =
            eight::<{ kind::ANY }, true>(tokens, done).and_then(|eight| eight.integers());
        if let Some(values) = values {
            // SAFETY: there is room for eight integers, aligned or not.
            unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), values) };
        } else {
            let found = wide::integers(tokens, done, slots);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + wide::integers(tokens, done, &mut out[done..count])
}

/// Like [`doubles`], for the fields of a column; empty ones are zero.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn column_doubles<const KIND: u8>(
    tokens: Tokens<'_>,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let short = eight::<KIND, false>(tokens, done).and_then(|eight| eight.doubles());
        if let Some(values) = short.or_else(|| long::doubles::<KIND>(tokens, done, doubt)) {
            // SAFETY: there is room for eight doubles, aligned or not.
            unsafe { _mm512_storeu_pd(slots.as_mut_ptr(), values) };
        } else {
            let some = tokens.some(done, STEP);
            let found = four::column_doubles::<KIND>(some, slots, doubt);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + alone::doubles(tokens, done, KIND == kind::COLUMN, &mut out[done..count], doubt)
}

/// Like [`integers`], for the fields of a column.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn column_integers<const KIND: u8>(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let values = eight::<KIND, true>(tokens, done).and_then(|eight| eight.integers());
        if let Some(values) = values {
            // SAFETY: there is room for eight integers, aligned or not.
            unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), values) };
        } else {
            let found = alone::integers(tokens, done, KIND == kind::COLUMN, slots);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + alone::integers(tokens, done, KIND == kind::COLUMN, &mut out[done..count])
}

/// Four tokens: their digits, and a mask with 16 bits for each.
#[derive(Clone, Copy)]
struct FourOfEight {
    digits: __m512i,
    points: u64,
    minuses: u64,
}

/// Eight tokens as integers of their digits, and one bit per minus.
struct Eight {
    digits: __m512i,
    negative: u8,
    even: u64,
    odd: u64,
}

impl Eight {
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt"
    )]
    fn integers(self) -> Option<__m512i> {
        if self.even | self.odd != 0 {
            return None;
        }
        let zero = _mm512_setzero_si512();
        Some(_mm512_mask_sub_epi64(self.digits, self.negative, zero, self.digits))
    }

    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt"
    )]
    fn doubles(self) -> Option<__m512d> {
        let mut values = _mm512_cvtepu64_pd(self.digits);
        if self.even | self.odd != 0 {
            // Above that, the division would round a second time.
            let exact = _mm512_set1_epi64(1 << 53);
            if _mm512_cmpgt_epu64_mask(self.digits, exact) != 0 {
                return None;
            }
            values = _mm512_div_pd(values, self.powers());
        }
        let minus = _mm512_set1_epi64(i64::MIN);
        let bits = _mm512_castpd_si512(values);
        Some(_mm512_castsi512_pd(_mm512_mask_xor_epi64(bits, self.negative, bits, minus)))
    }

    /// Returns the powers of ten to divide by.
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt"
    )]
    fn powers(&self) -> __m512d {
        // A missing point counts as one after the last digit. A single bit converted to a float has
        // its position as exponent.
        let end = |points: u64| points | (nonzero(points) ^ LOWEST) << 15;
        let even = _mm_cvtsi64_si128(end(self.even).cast_signed());
        let odd = _mm_cvtsi64_si128(end(self.odd).cast_signed());
        let bits = _mm256_cvtepu16_epi32(_mm_unpacklo_epi16(even, odd));
        let floats = _mm256_castps_si256(_mm256_cvtepi32_ps(bits));
        let places = _mm256_srli_epi32::<23>(floats);
        let after = _mm256_sub_epi32(_mm256_set1_epi32(127 + 15), places);
        // SAFETY: the table has eight doubles there.
        let low = unsafe { _mm512_loadu_pd(POWERS.as_ptr()) };
        // SAFETY: and eight more.
        let high = unsafe { _mm512_loadu_pd(POWERS.as_ptr().wrapping_add(8)) };
        _mm512_permutex2var_pd(low, _mm512_cvtepu32_epi64(after), high)
    }
}

/// Returns the eight tokens starting at `index`; `None` unless all are short and plain.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn eight<const KIND: u8, const WHOLE: bool>(tokens: Tokens<'_>, index: usize) -> Option<Eight> {
    let starts = tokens.starts.get(index..)?.first_chunk::<STEP>()?;
    let at = tokens.ends.get(index..)?.first_chunk::<STEP>()?;
    // SAFETY: there are eight 32-bit numbers.
    let starts = unsafe { _mm256_loadu_si256(starts.as_ptr().cast()) };
    // SAFETY: there are eight 32-bit numbers.
    let ends = unsafe { _mm256_loadu_si256(at.as_ptr().cast()) };
    let lens = _mm256_sub_epi32(ends, starts);
    if !are_windows::<KIND>(lens, ends, tokens.text.len()) {
        return None;
    }
    let text = tokens.text.as_ptr();
    let before = _mm256_sub_epi32(_mm256_set1_epi32(16), lens);
    let before = _mm512_cvtepu32_epi64(before);
    let window = |end: u32| {
        let start = text.wrapping_add((end - WINDOW) as usize);
        // SAFETY: each end has been checked to be in the text, with a window before it.
        unsafe { _mm_loadu_si128(start.cast()) }
    };
    let mut vectors = [_mm512_setzero_si512(); 2];
    for (odd, vector) in vectors.iter_mut().enumerate() {
        let four = _mm512_castsi128_si512(window(at[odd]));
        let four = _mm512_inserti32x4::<1>(four, window(at[odd + 2]));
        let four = _mm512_inserti32x4::<2>(four, window(at[odd + 4]));
        *vector = _mm512_inserti32x4::<3>(four, window(at[odd + 6]));
    }
    // Copies the lowest byte of each length to all bytes of its window.
    let even = _mm512_shuffle_epi8(before, _mm512_set1_epi8(0));
    let odd = _mm512_shuffle_epi8(before, _mm512_set1_epi8(8));
    let (even, odd) =
        (four_of::<KIND, WHOLE>(vectors[0], even)?, four_of::<KIND, WHOLE>(vectors[1], odd)?);
    let bits = |minuses: u64| {
        let minuses = _pext_u64(nonzero(minuses), LOWEST);
        u32::try_from(minuses).unwrap_or(0)
    };
    let negative = match even.minuses | odd.minuses {
        0 => 0,
        _ => {
            let negative =
                _pdep_u32(bits(even.minuses), 0x55) | _pdep_u32(bits(odd.minuses), 0xaa);
            u8::try_from(negative).unwrap_or(0)
        }
    };
    let digits = combine(even.digits, odd.digits);
    Some(Eight { digits, negative, even: even.points, odd: odd.points })
}

/// Whether all tokens have 1 to 16 bytes and end inside the text, at least a window from its
/// start.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn are_windows<const KIND: u8>(lens: __m256i, ends: __m256i, len: usize) -> bool {
    let Ok(len) = i32::try_from(len) else { return false };
    let (least, most) = if KIND == kind::ANY { (1, 15) } else { (0, 16) };
    let short = _mm256_cmple_epu32_mask(
        _mm256_sub_epi32(lens, _mm256_set1_epi32(least)),
        _mm256_set1_epi32(most),
    );
    let after = _mm256_cmpge_epu32_mask(ends, _mm256_set1_epi32(16));
    let inside = _mm256_cmple_epu32_mask(ends, _mm256_set1_epi32(len));
    short & after & inside == 0xff
}

/// Removes the signs and points from four tokens; all bytes of a window in `before` have the number
/// of bytes before its token. `None` if there are other characters.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn four_of<const KIND: u8, const WHOLE: bool>(
    text: __m512i,
    before: __m512i,
) -> Option<FourOfEight> {
    let places = _mm512_broadcast_i32x4(_mm_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    ));
    let inside = _mm512_cmpge_epu8_mask(places, before);
    let digits = _mm512_sub_epi8(text, _mm512_set1_epi8(0x30));
    let odd = inside & _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
    let first = _mm512_cmpeq_epi8_mask(places, before);
    let is_padded = |minuses: u64| {
        let zeros = _mm512_mask_cmpeq_epi8_mask(inside, digits, _mm512_setzero_si512());
        KIND == kind::COLUMN && begin_padded::<WHOLE>(first, minuses, zeros, inside & !odd)
    };
    if odd == 0 {
        if is_padded(0) {
            return None;
        }
        let digits = _mm512_maskz_mov_epi8(inside, digits);
        return Some(FourOfEight { digits, points: 0, minuses: 0 });
    }
    let points = odd & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x2e));
    let minuses = odd & first & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x2d));
    let known = points | minuses;
    // Clears the lowest point of each token: any second one remains.
    let second = ((points | HIGHEST) - LOWEST) & points;
    if (odd ^ known) | (odd & HIGHEST) | second != 0 || is_padded(minuses) {
        return None;
    }
    let digits = _mm512_maskz_mov_epi8(inside & !known, digits);
    // Moves everything up to and including the point by one.
    let moving = (points << 1).wrapping_sub(nonzero(points));
    let moved = _mm512_bslli_epi128::<1>(digits);
    let digits = _mm512_mask_mov_epi8(digits, moving, moved);
    Some(FourOfEight { digits, points, minuses })
}

/// Returns the lowest bit of each token whose 16 bits have a single one, not the highest.
#[inline]
fn nonzero(bits: u64) -> u64 {
    ((bits + 0x7fff_7fff_7fff_7fff) >> 15) & LOWEST
}

/// Converts windows of 16 digits to eight integers, the even ones from `even`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn combine(even: __m512i, odd: __m512i) -> __m512i {
    let fours = |digits| {
        let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
        _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064))
    };
    let fours = _mm512_packus_epi32(fours(even), fours(odd));
    let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(0x0001_2710));
    let upper = _mm512_mul_epu32(eights, _mm512_set1_epi64(100_000_000));
    _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(eights))
}
