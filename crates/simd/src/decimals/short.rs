//! Four tokens of at most 8 bytes at a time, each in a lane of 64 bits that ends with the token.
//!
//! ```text
//! lane      ,,-12.50          the byte before the end of the token is the highest
//! digits    00000250 → 1250   all bytes up to the point move by one, the point is overwritten
//! number    pairs, fours, eight
//! ```

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32,
    _mm_loadu_si128, _mm_max_epu32, _mm_min_epu32, _mm_movemask_ps, _mm_set1_epi32,
    _mm_sub_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_cvtepu32_epi64, _mm256_div_pd, _mm256_i64gather_pd, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_mul_epu32,
    _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setr_epi64x, _mm256_setzero_si256,
    _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_sub_epi8, _mm256_sub_epi64,
    _mm256_sub_pd, _mm256_testz_si256, _mm256_xor_si256,
};

use super::Tokens;

/// The tokens of one step, and the bytes of a lane.
const STEP: usize = 4;
const LANE: usize = 8;

/// Powers of ten to divide by.
static POWERS: [f64; LANE] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// The accepted tokens, besides numbers of at most eight bytes.
pub(super) mod kind {
    /// Numbers, also with leading zeros; no empty tokens.
    pub(in crate::decimals) const ANY: u8 = 0;
    /// Fields of a column: an empty token is zero, and numbers have neither leading zeros nor a
    /// plus.
    pub(in crate::decimals) const COLUMN: u8 = 1;
    /// Fields of a column, in which zeros may precede the whole part.
    pub(in crate::decimals) const PADDED_COLUMN: u8 = 2;
}

/// Four tokens without their points and signs.
struct FourShort {
    digits: __m256i,
    /// All bits of the bytes that were points, and of the bytes before them.
    points: __m256i,
    before: __m256i,
    /// All bits of lanes with a minus, if there is one.
    minuses: Option<__m256i>,
    has_points: bool,
}

/// Returns the doubles that the four tokens starting at `index` represent; `None` if one has
/// another form.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles<const KIND: u8>(tokens: Tokens<'_>, index: usize) -> Option<__m256d> {
    let four = four::<KIND, false>(tokens, index)?;
    // Below 2^52, the number is the fraction of a double from which 2^52 is subtracted.
    let one = _mm256_set1_pd(4_503_599_627_370_496.0);
    let sum = _mm256_or_si256(number(four.digits), _mm256_castpd_si256(one));
    let mut values = _mm256_sub_pd(_mm256_castsi256_pd(sum), one);
    if four.has_points {
        let zero = _mm256_setzero_si256();
        let places = _mm256_or_si256(four.before, four.points);
        // Counts the bytes after a point; without a point there are none.
        let ones = _mm256_andnot_si256(places, _mm256_set1_epi8(1));
        let none = _mm256_cmpeq_epi64(four.points, zero);
        let decimals = _mm256_andnot_si256(none, _mm256_sad_epu8(ones, zero));
        // SAFETY: there are at most seven bytes after a point, so each is an index of the table.
        let powers = unsafe { _mm256_i64gather_pd::<8>(POWERS.as_ptr(), decimals) };
        values = _mm256_div_pd(values, powers);
    }
    if let Some(minuses) = four.minuses {
        let signs = _mm256_and_si256(minuses, _mm256_set1_epi64x(i64::MIN));
        values = _mm256_castsi256_pd(_mm256_xor_si256(_mm256_castpd_si256(values), signs));
    }
    Some(values)
}

/// Like [`doubles`], for whole numbers.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn integers<const KIND: u8>(tokens: Tokens<'_>, index: usize) -> Option<__m256i> {
    let four = four::<KIND, true>(tokens, index)?;
    if four.has_points {
        return None;
    }
    let values = number(four.digits);
    Some(match four.minuses {
        Some(minuses) => _mm256_sub_epi64(_mm256_xor_si256(values, minuses), minuses),
        None => values,
    })
}

/// Returns the numbers of eight digits, the first one in the lowest byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn number(digits: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
    let upper = _mm256_mul_epu32(fours, _mm256_set1_epi64x(10_000));
    _mm256_add_epi64(upper, _mm256_srli_epi64::<32>(fours))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn four<const KIND: u8, const WHOLE: bool>(
    tokens: Tokens<'_>,
    index: usize,
) -> Option<FourShort> {
    const POINT: i8 = 0x2e - 0x30;
    const MINUS: i8 = 0x2d - 0x30;
    /// The highest byte of each lane.
    const LAST: i32 = 0x8080_8080_u32.cast_signed();
    let starts = tokens.starts.get(index..)?.first_chunk::<STEP>()?;
    let ends = tokens.ends.get(index..)?.first_chunk::<STEP>()?;
    let lens = lens::<KIND>(starts, ends, tokens.text.len())?;
    let lane = |at: usize| {
        let bytes = tokens.text.get(ends[at] as usize - LANE..)?.first_chunk()?;
        Some(i64::from_le_bytes(*bytes))
    };
    let text = _mm256_setr_epi64x(lane(0)?, lane(1)?, lane(2)?, lane(3)?);
    let outside = _mm256_sub_epi64(
        _mm256_set1_epi64x(64),
        _mm256_slli_epi64::<3>(_mm256_cvtepu32_epi64(lens)),
    );
    let inside = _mm256_sllv_epi64(_mm256_set1_epi64x(-1), outside);
    let digits = _mm256_and_si256(_mm256_sub_epi8(text, _mm256_set1_epi8(0x30)), inside);
    let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    let first = _mm256_andnot_si256(_mm256_slli_epi64::<8>(inside), inside);
    let zero = _mm256_setzero_si256();
    let odd = !_mm256_movemask_epi8(is_digit);
    if odd == 0 {
        if KIND == kind::COLUMN && is_padded(digits, is_digit, first) {
            return None;
        }
        return Some(FourShort {
            digits,
            points: zero,
            before: zero,
            minuses: None,
            has_points: false,
        });
    }
    let points = _mm256_cmpeq_epi8(digits, _mm256_set1_epi8(POINT));
    let minus = _mm256_cmpeq_epi8(digits, _mm256_set1_epi8(MINUS));
    let minus = _mm256_and_si256(minus, first);
    let known = _mm256_or_si256(_mm256_or_si256(points, minus), is_digit);
    // The lowest point of each token: a second one is an error.
    let lowest = _mm256_and_si256(points, _mm256_sub_epi64(zero, points));
    let only = _mm256_sub_epi64(_mm256_slli_epi64::<8>(lowest), lowest);
    let wrong = _mm256_andnot_si256(_mm256_and_si256(known, is_only(points, only)), ones());
    if odd & LAST != 0 || _mm256_testz_si256(wrong, wrong) == 0 {
        return None;
    }
    let after_minus = _mm256_slli_epi64::<8>(minus);
    if KIND == kind::COLUMN {
        let first = _mm256_or_si256(_mm256_andnot_si256(minus, first), after_minus);
        let zeros = _mm256_and_si256(_mm256_cmpeq_epi8(digits, zero), after_minus);
        if is_padded(digits, is_digit, first)
            || (WHOLE && _mm256_testz_si256(zeros, zeros) == 0)
        {
            return None;
        }
    }
    let digits = _mm256_and_si256(digits, is_digit);
    let none = _mm256_cmpeq_epi64(points, zero);
    let before = _mm256_andnot_si256(none, _mm256_add_epi64(lowest, ones()));
    let moved = _mm256_slli_epi64::<8>(_mm256_and_si256(digits, before));
    let digits = _mm256_or_si256(_mm256_andnot_si256(before, digits), moved);
    let has_minus = _mm256_testz_si256(minus, minus) == 0;
    let minuses = has_minus.then(|| _mm256_xor_si256(_mm256_cmpeq_epi64(minus, zero), ones()));
    let has_points = _mm256_testz_si256(points, points) == 0;
    Some(FourShort { digits, points, before, minuses, has_points })
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn ones() -> __m256i {
    _mm256_set1_epi64x(-1)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_only(points: __m256i, only: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(points, only)
}

/// Whether a token begins with a zero, at `first`, followed by another digit.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_padded(digits: __m256i, is_digit: __m256i, first: __m256i) -> bool {
    let zeros = _mm256_and_si256(_mm256_cmpeq_epi8(digits, _mm256_setzero_si256()), first);
    _mm256_testz_si256(_mm256_slli_epi64::<8>(zeros), is_digit) == 0
}

/// Returns the lengths of four tokens, if all fit lanes that are in the text.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn lens<const KIND: u8>(
    starts: &[u32; STEP],
    ends: &[u32; STEP],
    len: usize,
) -> Option<__m128i> {
    // SAFETY: there are four 32-bit numbers.
    let starts = unsafe { _mm_loadu_si128(starts.as_ptr().cast()) };
    // SAFETY: there are four 32-bit numbers.
    let ends = unsafe { _mm_loadu_si128(ends.as_ptr().cast()) };
    let lens = _mm_sub_epi32(ends, starts);
    let most = i32::try_from(len).unwrap_or(i32::MAX);
    let at_most =
        |numbers, most| _mm_cmpeq_epi32(_mm_min_epu32(numbers, _mm_set1_epi32(most)), numbers);
    let at_least = |numbers, least| {
        _mm_cmpeq_epi32(_mm_max_epu32(numbers, _mm_set1_epi32(least)), numbers)
    };
    let mut fit = _mm_and_si128(at_most(ends, most), at_least(ends, 8));
    fit = _mm_and_si128(fit, at_most(lens, 8));
    if KIND == kind::ANY {
        fit = _mm_and_si128(fit, at_least(lens, 1));
    }
    (_mm_movemask_ps(_mm_castsi128_ps(fit)) == 0xf).then_some(lens)
}
