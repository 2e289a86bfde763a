//! Eight tokens of at most 32 bytes at a time, in four vectors of two, and the nearest doubles
//! of all eight at once.

use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _mm256_add_epi32, _mm256_and_si256, _mm256_cmpeq_epi32_mask,
    _mm256_cmpge_epu32_mask, _mm256_cmple_epu32_mask, _mm256_cvtepi32_epi8, _mm256_loadu_si256,
    _mm256_lzcnt_epi32, _mm256_mullo_epi32, _mm256_set_epi64x, _mm256_set1_epi8,
    _mm256_set1_epi32, _mm256_setr_epi8, _mm256_slli_epi32, _mm256_srai_epi32,
    _mm256_sub_epi32, _mm512_abs_epi64, _mm512_add_epi64, _mm512_alignr_epi8, _mm512_and_si512,
    _mm512_broadcast_i32x4, _mm512_broadcast_i64x4, _mm512_castpd_si512,
    _mm512_castsi256_si512, _mm512_castsi512_pd, _mm512_cmpeq_epi8_mask,
    _mm512_cmpeq_epi64_mask, _mm512_cmpge_epu8_mask, _mm512_cmpgt_epi64_mask,
    _mm512_cmpgt_epu8_mask, _mm512_cmple_epu64_mask, _mm512_cmplt_epu64_mask,
    _mm512_cvtepi32_epi64, _mm512_cvtepu64_pd, _mm512_i32gather_epi64, _mm512_inserti32x8,
    _mm512_inserti64x4, _mm512_lzcnt_epi64, _mm512_madd_epi16, _mm512_maddubs_epi16,
    _mm512_mask_add_epi64, _mm512_mask_cmpeq_epi8_mask, _mm512_mask_mov_epi8,
    _mm512_mask_mov_pd, _mm512_mask_xor_epi64, _mm512_maskz_mov_epi8,
    _mm512_maskz_shuffle_i64x2, _mm512_mul_epu32, _mm512_mullo_epi64, _mm512_or_si512,
    _mm512_packus_epi32, _mm512_permutex2var_epi64, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_pd,
    _mm512_shuffle_epi8, _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_srli_epi64,
    _mm512_srlv_epi64, _mm512_sub_epi8, _mm512_sub_epi64, _pext_u64,
};

use super::Tokens;
use super::padding::begin_padded;
use super::powers::{COUNT, FIRST, POWERS};
use super::scalar;
use super::short::kind;

/// Whether this processor has the features used here beyond AVX-512F and BW.
pub(super) fn available() -> bool {
    std::is_x86_feature_detected!("avx512cd")
}

/// The highest bit of each token, and the lowest, in masks of two.
const HIGHEST: u64 = 0x8000_0000_8000_0000;
const LOWEST: u64 = 0x0000_0001_0000_0001;

/// Returns the doubles that the eight tokens starting at `index` represent; `None` if one of them
/// is long, unusual, or hard to round.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles<const KIND: u8>(
    tokens: Tokens<'_>,
    index: usize,
    doubt: &mut bool,
) -> Option<__m512d> {
    let starts = tokens.starts.get(index..)?.first_chunk::<8>()?;
    let mut ends = *tokens.ends.get(index..)?.first_chunk::<8>()?;
    let mut powers = [0_i32; 8];
    let have_powers = has_power(tokens.text, ends[0]);
    if have_powers {
        for (end, power) in ends.iter_mut().zip(&mut powers) {
            (*end, *power) = without_power(tokens.text, *end)?;
        }
    }
    // SAFETY: there are eight 32-bit numbers.
    let starts = unsafe { _mm256_loadu_si256(starts.as_ptr().cast()) };
    // SAFETY: there are eight 32-bit numbers.
    let after = unsafe { _mm256_loadu_si256(ends.as_ptr().cast()) };
    // SAFETY: there are eight 32-bit numbers.
    let powers = unsafe { _mm256_loadu_si256(powers.as_ptr().cast()) };
    let lens = _mm256_sub_epi32(after, starts);
    // Without its exponent, a token that is not a number may also be empty.
    let least = i32::from(KIND == kind::ANY || have_powers);
    if !are_windows(lens, after, tokens.text.len(), least) {
        return None;
    }
    let before = _mm256_cvtepi32_epi8(_mm256_sub_epi32(_mm256_set1_epi32(32), lens));
    let before = _mm512_broadcast_i32x4(before);
    let text = tokens.text.as_ptr();
    let window = |end: u32| {
        let start = text.wrapping_add((end - 32) as usize);
        // SAFETY: each end has been checked to be in the text, with a window before it.
        unsafe { _mm256_loadu_si256(start.cast()) }
    };
    let pair = |at: usize, low: i8| {
        let first = _mm512_castsi256_si512(window(ends[at]));
        let both = _mm512_inserti64x4::<1>(first, window(ends[at + 1]));
        let which = _mm512_castsi256_si512(_mm256_set1_epi8(low));
        let which = _mm512_inserti32x8::<1>(which, _mm256_set1_epi8(low + 1));
        two::<KIND>(both, _mm512_shuffle_epi8(before, which))
    };
    let (a, b, c, d) = (pair(0, 0)?, pair(2, 2)?, pair(4, 4)?, pair(6, 6)?);
    let digits = combine([a.digits, b.digits, c.digits, d.digits])?;
    let signed = |bits: u64| bits.cast_signed();
    let points = _mm256_set_epi64x(
        signed(d.points),
        signed(c.points),
        signed(b.points),
        signed(a.points),
    );
    // A point at bit 31 would be the last character; without a point there are 32 leading zeros,
    // thus 0.
    let places = _mm256_and_si256(_mm256_lzcnt_epi32(points), _mm256_set1_epi32(31));
    let values = nearest(digits, _mm256_sub_epi32(powers, places), doubt)?;
    if a.minuses | b.minuses | c.minuses | d.minuses == 0 {
        return Some(values);
    }
    let bits = |minuses: u64| _pext_u64(nonzero(minuses), LOWEST);
    let negative =
        bits(a.minuses) | bits(b.minuses) << 2 | bits(c.minuses) << 4 | bits(d.minuses) << 6;
    let negative = u8::try_from(negative).unwrap_or(0);
    let bits = _mm512_castpd_si512(values);
    let minus = _mm512_set1_epi64(i64::MIN);
    Some(_mm512_castsi512_pd(_mm512_mask_xor_epi64(bits, negative, bits, minus)))
}

/// Whether a token that ends at `end` may have an exponent.
#[inline]
fn has_power(text: &[u8], end: u32) -> bool {
    let last = text.get(..end as usize).and_then(|text| text.last_chunk::<5>());
    last.is_some_and(|last| last[..4].iter().any(|&byte| byte | 0x20 == b'e'))
}

/// Returns the end of a token's mantissa, and its exponent, if that is short.
#[inline]
fn without_power(text: &[u8], end: u32) -> Option<(u32, i32)> {
    let last = text.get(..end as usize)?.last_chunk::<5>()?;
    // The most common form first: a sign and two digits.
    for (at, back) in [(1_usize, 4), (0, 5), (2, 3), (3, 2)] {
        if last[at] | 0x20 == b'e' {
            return Some((end - back, scalar::exponent(&last[at + 1..])?));
        }
    }
    Some((end, 0))
}

/// Whether all tokens have `least` to 32 bytes and end inside the text, at least a window from its
/// start.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn are_windows(lens: __m256i, ends: __m256i, len: usize, least: i32) -> bool {
    let Ok(len) = i32::try_from(len) else { return false };
    let short = _mm256_cmple_epu32_mask(
        _mm256_sub_epi32(lens, _mm256_set1_epi32(least)),
        _mm256_set1_epi32(32 - least),
    );
    let after = _mm256_cmpge_epu32_mask(ends, _mm256_set1_epi32(32));
    let inside = _mm256_cmple_epu32_mask(ends, _mm256_set1_epi32(len));
    short & after & inside == 0xff
}

/// Two tokens: their digits, and masks with 32 bits for each.
#[derive(Clone, Copy)]
struct TwoLong {
    digits: __m512i,
    points: u64,
    minuses: u64,
}

/// Removes the signs and points from two tokens, like the function for 16 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn two<const KIND: u8>(text: __m512i, before: __m512i) -> Option<TwoLong> {
    let places = _mm512_broadcast_i64x4(_mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31,
    ));
    let inside = _mm512_cmpge_epu8_mask(places, before);
    let first = _mm512_cmpeq_epi8_mask(places, before);
    let digits = _mm512_sub_epi8(text, _mm512_set1_epi8(0x30));
    let odd = inside & _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
    let points = odd & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x2e));
    let minuses = odd & first & _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x2d));
    let known = points | minuses;
    // Clears the lowest point of each token: any second one remains.
    let second = ((points | HIGHEST) - LOWEST) & points;
    if (odd ^ known) | (odd & HIGHEST) | second != 0 {
        return None;
    }
    let zeros = _mm512_mask_cmpeq_epi8_mask(inside, digits, _mm512_set1_epi8(0));
    if KIND == kind::COLUMN && begin_padded::<false>(first, minuses, zeros, inside & !odd) {
        return None;
    }
    let digits = _mm512_maskz_mov_epi8(inside & !known, digits);
    // Moves everything up to and including the point by one, also between halves.
    let moving = (points << 1).wrapping_sub(nonzero(points));
    let carried = _mm512_maskz_shuffle_i64x2::<0b10_10_00_00>(0b1100_1100, digits, digits);
    let moved = _mm512_alignr_epi8::<15>(digits, carried);
    let digits = _mm512_mask_mov_epi8(digits, moving, moved);
    Some(TwoLong { digits, points, minuses })
}

/// Returns the lowest bit of each token whose 32 bits have a single one, not the highest.
#[inline]
fn nonzero(bits: u64) -> u64 {
    ((bits + 0x7fff_ffff_7fff_ffff) >> 31) & LOWEST
}

/// Converts windows of 32 digits, two per vector, to eight integers in order; `None` if one of them
/// has more than nineteen digits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn combine([a, b, c, d]: [__m512i; 4]) -> Option<__m512i> {
    let fours = |digits| {
        let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
        _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064))
    };
    let sixteens = |one, other| {
        let fours = _mm512_packus_epi32(fours(one), fours(other));
        let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(0x0001_2710));
        let upper = _mm512_mul_epu32(eights, _mm512_set1_epi64(100_000_000));
        _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(eights))
    };
    // From tokens 0, 2, 0, 2, 1, 3, 1, 3: the upper half of each, then the lower.
    let (low, high) = (sixteens(a, b), sixteens(c, d));
    let uppers = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    let lowers = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    let uppers = _mm512_permutex2var_epi64(low, uppers, high);
    let lowers = _mm512_permutex2var_epi64(low, lowers, high);
    if _mm512_cmplt_epu64_mask(uppers, _mm512_set1_epi64(1000)) != 0xff {
        return None;
    }
    let uppers = _mm512_mullo_epi64(uppers, _mm512_set1_epi64(10_000_000_000_000_000));
    Some(_mm512_add_epi64(uppers, lowers))
}

/// Returns the doubles nearest to `digits * 10^exponents`, like
/// [`nearest_double`](super::nearest::nearest_double); `None` if one of them may be exactly between
/// two doubles, or is not a normal one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn nearest(digits: __m512i, exponents: __m256i, doubt: &mut bool) -> Option<__m512d> {
    let zero = _mm512_set1_epi64(0);
    let zeros = _mm512_cmpeq_epi64_mask(digits, zero);
    let integers = _mm256_cmpeq_epi32_mask(exponents, _mm256_set1_epi32(0));
    let place = _mm256_sub_epi32(exponents, _mm256_set1_epi32(FIRST));
    let most = i32::try_from(COUNT - 1).unwrap_or(0);
    if _mm256_cmple_epu32_mask(place, _mm256_set1_epi32(most)) != 0xff {
        return None;
    }
    let place = _mm256_slli_epi32::<1>(place);
    // SAFETY: all indices are entries of the table, two words each.
    let powers = unsafe { _mm512_i32gather_epi64::<8>(place, POWERS.as_ptr().cast()) };
    let leading = _mm512_lzcnt_epi64(digits);
    let shifted = _mm512_sllv_epi64(digits, leading);
    let (mut high, mut low) = product(shifted, powers);
    let kept = _mm512_set1_epi64(0x1ff);
    if _mm512_cmpeq_epi64_mask(_mm512_and_si512(high, kept), kept) != 0 {
        // The carry of the power's lower half may reach the bits that are kept.
        (high, low) = whole_product(shifted, powers, place);
    }
    // Values that may be exactly between two doubles.
    let between = _mm512_cmple_epu64_mask(low, _mm512_set1_epi64(1));
    let easy = zeros | integers;
    if between & !easy != 0 {
        return None;
    }
    let upper = _mm512_srli_epi64::<63>(high);
    let mantissa = _mm512_srlv_epi64(high, _mm512_add_epi64(upper, _mm512_set1_epi64(9)));
    let last = _mm512_and_si512(mantissa, _mm512_set1_epi64(1));
    let mantissa = _mm512_srli_epi64::<1>(_mm512_add_epi64(mantissa, last));
    let back = _mm512_sllv_epi64(mantissa, _mm512_add_epi64(upper, _mm512_set1_epi64(10)));
    // The distance of the number from the double, except for a carry and lower bits; and half a
    // unit of its last digit. Numbers with fewer digits are within that.
    let long = _mm512_cmplt_epu64_mask(leading, _mm512_set1_epi64(12));
    let apart = _mm512_abs_epi64(_mm512_sub_epi64(high, back));
    let half = _mm512_srlv_epi64(powers, _mm512_sub_epi64(_mm512_set1_epi64(65), leading));
    let sure = _mm512_sub_epi64(half, _mm512_set1_epi64(3));
    if _mm512_cmpgt_epi64_mask(apart, sure) & long != 0 {
        let (high, low) = whole_product(shifted, powers, place);
        // In 2^-52 of the lowest bit of `high`.
        let apart = _mm512_add_epi64(
            _mm512_slli_epi64::<52>(_mm512_sub_epi64(high, back)),
            _mm512_srli_epi64::<12>(low),
        );
        let half = _mm512_srlv_epi64(powers, _mm512_sub_epi64(_mm512_set1_epi64(13), leading));
        let sure = _mm512_sub_epi64(half, _mm512_set1_epi64(4));
        *doubt |= _mm512_cmpgt_epi64_mask(_mm512_abs_epi64(apart), sure) & long != 0;
    }
    let binary =
        _mm256_srai_epi32::<16>(_mm256_mullo_epi32(exponents, _mm256_set1_epi32(217_706)));
    let biased = _mm256_add_epi32(binary, _mm256_set1_epi32(63 + 1023));
    let biased =
        _mm512_sub_epi64(_mm512_add_epi64(_mm512_cvtepi32_epi64(biased), upper), leading);
    // One less: the leading one of the mantissa adds one, and a carry of rounding another.
    let less = _mm512_sub_epi64(biased, _mm512_set1_epi64(1));
    let normal = _mm512_cmple_epu64_mask(less, _mm512_set1_epi64(2044));
    if normal | easy != 0xff {
        return None;
    }
    let bits = _mm512_add_epi64(_mm512_slli_epi64::<52>(less), mantissa);
    let values = _mm512_mask_mov_pd(_mm512_castsi512_pd(bits), zeros, _mm512_setzero_pd());
    Some(_mm512_mask_mov_pd(values, integers, _mm512_cvtepu64_pd(digits)))
}

/// Returns the products with both halves of the powers at `place`, without their lowest bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn whole_product(shifted: __m512i, powers: __m512i, place: __m256i) -> (__m512i, __m512i) {
    let lowers = POWERS.as_ptr().cast::<u8>().wrapping_add(8);
    // SAFETY: all indices are entries of the table, whose second words these are.
    let lowers = unsafe { _mm512_i32gather_epi64::<8>(place, lowers.cast()) };
    let (high, low) = product(shifted, powers);
    let (carry, _) = product(shifted, lowers);
    let low = _mm512_add_epi64(low, carry);
    let carried = _mm512_cmplt_epu64_mask(low, carry);
    (_mm512_mask_add_epi64(high, carried, high, _mm512_set1_epi64(1)), low)
}

/// Returns the upper and the lower half of all eight products, from the products of their halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
fn product(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let half = _mm512_set1_epi64(0xffff_ffff);
    let (a_high, b_high) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
    let lows = _mm512_mul_epu32(a, b);
    // Neither sum exceeds 64 bits.
    let mixed = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64::<32>(lows));
    let other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(mixed, half));
    let highs = _mm512_mul_epu32(a_high, b_high);
    let carries =
        _mm512_add_epi64(_mm512_srli_epi64::<32>(mixed), _mm512_srli_epi64::<32>(other));
    let low = _mm512_or_si512(_mm512_slli_epi64::<32>(other), _mm512_and_si512(lows, half));
    (_mm512_add_epi64(highs, carries), low)
}
