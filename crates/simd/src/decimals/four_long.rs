//! Four tokens of at most 32 bytes at a time, and the nearest doubles of all four at once: the AVX2
//! version of the AVX-512 kernel for eight.
//!
//! ```text
//! token     -1.234567890123456789e-05      sign, mantissa, power
//! window    00000000000001234567890123456789   the point removed, in a vector of 32 bytes
//! digits    1234567890123456789 / 10^23
//! guess     the quotient of two doubles, off by at most three places
//! rest      digits * 2^shift - guess * 5^23    the exact error
//! ```
//!
//! The quotient of two rounded numbers is corrected with integers, like in
//! [`fields`](crate::fields). The rest is at most three times the power of five, which up to 5^26
//! fits in 64 bits: so its lower 64 bits suffice. If it is less than half the power, the double is
//! the nearest. Few numbers are left to [`nearest`](super::nearest::nearest).

use std::arch::x86_64::{
    __m256d, __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_add_pd, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_blend_epi32, _mm256_blendv_epi8, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_cmpgt_epi64,
    _mm256_div_pd, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_mul_epu32,
    _mm256_or_si256, _mm256_packus_epi32, _mm256_permute2x128_si256, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setr_epi8,
    _mm256_setr_epi64x, _mm256_setr_pd, _mm256_setzero_si256, _mm256_slli_epi64,
    _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_sub_pd,
    _mm256_testz_si256, _mm256_xor_si256,
};

use super::nearest::nearest as nearest_one;
use super::{Tokens, scalar};

/// The tokens of one step.
const STEP: usize = 4;
/// The number of bytes read before a token's end: a window, and one for digits that move.
const REACH: usize = 33;

/// The largest power of ten by which a guess is divided.
const MOST: i64 = 26;
/// The size of a table that any five bits can index.
const ROOM: usize = 32;

static TENS: [f64; ROOM] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1.0, 1.0, 1.0, 1.0, 1.0,
];
static FIVES: [i64; ROOM] = {
    let mut fives = [1; ROOM];
    let mut index = 1;
    while index < ROOM {
        // Powers that do not fit 64 bits are never used.
        fives[index] = 5_i64.wrapping_mul(fives[index - 1]);
        index += 1;
    }
    fives
};

/// Four tokens: their digits in windows, their powers of ten, and the sign bits.
struct FourLong {
    windows: [__m256i; STEP],
    powers: [i32; STEP],
    signs: [i64; STEP],
}

/// Returns the doubles that the four tokens starting at `index` represent; `None` if one of them is
/// long or unusual, infinite or subnormal.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles(tokens: Tokens<'_>, index: usize, doubt: &mut bool) -> Option<__m256d> {
    let four = four(tokens, index)?;
    let digits = combine(four.windows)?;
    let values = nearest(digits, four.powers, doubt)?;
    let [a, b, c, d] = four.signs;
    let signs = _mm256_setr_epi64x(a, b, c, d);
    Some(_mm256_castsi256_pd(_mm256_xor_si256(_mm256_castpd_si256(values), signs)))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn four(tokens: Tokens<'_>, index: usize) -> Option<FourLong> {
    let starts = tokens.starts.get(index..)?.first_chunk::<STEP>()?;
    let ends = tokens.ends.get(index..)?.first_chunk::<STEP>()?;
    // Probably the same for all tokens of a column.
    let has_power = has_power(tokens.text.get(..ends[0] as usize)?);
    let zero = _mm256_setzero_si256();
    let mut four = FourLong { windows: [zero; STEP], powers: [0; STEP], signs: [0; STEP] };
    // Two loops, each small enough to be unrolled.
    let (mut befores, mut counts) = ([0; STEP], [0; STEP]);
    for at in 0..STEP {
        let (start, text) = (starts[at] as usize, tokens.text.get(..ends[at] as usize)?);
        let negative = *text.get(start)? == b'-';
        let (before, power) = if has_power { without_power(text)? } else { (text.len(), 0) };
        four.powers[at] = power;
        four.signs[at] = if negative { i64::MIN } else { 0 };
        counts[at] = before.wrapping_sub(start + usize::from(negative));
        befores[at] = before;
    }
    for at in 0..STEP {
        let bytes = tokens.text.get(..befores[at])?.last_chunk()?;
        let (window, places) = window(bytes, counts[at])?;
        four.windows[at] = window;
        four.powers[at] -= places;
    }
    Some(four)
}

/// Whether a text may end in an exponent.
#[inline]
fn has_power(text: &[u8]) -> bool {
    let last = text.last_chunk::<5>();
    last.is_some_and(|last| last[..4].iter().any(|&byte| byte | 0x20 == b'e'))
}

/// Returns the end of a text without its exponent, and the exponent; `None` if an `e` is followed
/// by other characters.
#[inline]
fn without_power(text: &[u8]) -> Option<(usize, i32)> {
    let last = u32::from_le_bytes(*text.last_chunk::<4>()?);
    if last & 0xdf != u32::from(b'E') {
        return without_unusual_power(text);
    }
    // The most common form: a sign and two digits.
    let sign = last >> 8 & 0xff;
    let digits = (last >> 16) ^ 0x3030;
    let are_digits = ((digits + 0x7676) | digits) & 0x8080 == 0;
    let is_signed = sign == u32::from(b'-') || sign == u32::from(b'+');
    let size = ((digits & 0xff) * 10 + (digits >> 8)).cast_signed();
    let power = if sign == u32::from(b'-') { -size } else { size };
    (are_digits && is_signed).then_some((text.len() - 4, power))
}

#[cold]
#[inline(never)]
fn without_unusual_power(text: &[u8]) -> Option<(usize, i32)> {
    for back in [3, 5, 2] {
        let (before, power) = text.split_at(text.len().checked_sub(back)?);
        if power[0] | 0x20 == b'e' {
            return Some((before.len(), scalar::exponent(&power[1..])?));
        }
    }
    Some((text.len(), 0))
}

/// Returns the last `count` bytes without their point, as digits; and the number of digits after
/// the point. `None` if there are other characters.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn window(bytes: &[u8; REACH], count: usize) -> Option<(__m256i, i32)> {
    if count.wrapping_sub(1) > 31 {
        return None;
    }
    let places = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31,
    );
    // At most 31.
    let past = |place: i32| {
        let place = i8::try_from(place).unwrap_or(i8::MAX);
        _mm256_cmpgt_epi8(places, _mm256_set1_epi8(place))
    };
    let count = i32::try_from(count).unwrap_or(0);
    let digits = load(bytes.last_chunk()?);
    let nine = _mm256_set1_epi8(9);
    let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, nine), digits);
    let odd = _mm256_movemask_epi8(_mm256_andnot_si256(is_digit, past(31 - count)));
    let odd = odd.cast_unsigned();
    if odd == 0 {
        return Some((_mm256_and_si256(digits, past(31 - count)), 0));
    }
    let point = odd.trailing_zeros();
    if odd & (odd - 1) != 0 || bytes[1 + point as usize] != b'.' || count == 1 {
        return None;
    }
    let point = point.cast_signed();
    let moved = load(bytes.first_chunk()?);
    let digits = _mm256_blendv_epi8(moved, digits, past(point));
    Some((_mm256_and_si256(digits, past(32 - count)), 31 - point))
}

/// Loads bytes, less `'0'`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are available, aligned or not.
    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    _mm256_add_epi8(bytes, _mm256_set1_epi8(-0x30))
}

/// Converts windows of digits to numbers; `None` if one has more than nineteen digits.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn combine(windows: [__m256i; STEP]) -> Option<__m256i> {
    const SIXTEEN: i64 = 10_000_000_000_000_000;
    let fours = |digits| {
        let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
        _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
    };
    let sixteens = |a, b| {
        let fours = _mm256_packus_epi32(fours(a), fours(b));
        let eights = _mm256_madd_epi16(fours, _mm256_set1_epi32(0x0001_2710));
        let upper = _mm256_mul_epu32(eights, _mm256_set1_epi64x(100_000_000));
        _mm256_add_epi64(upper, _mm256_srli_epi64::<32>(eights))
    };
    let [a, b, c, d] = windows;
    let (ab, cd) = (sixteens(a, b), sixteens(c, d));
    let upper = _mm256_permute2x128_si256::<0x20>(ab, cd);
    let lower = _mm256_permute2x128_si256::<0x31>(ab, cd);
    let long = _mm256_cmpgt_epi64(upper, _mm256_set1_epi64x(999));
    if _mm256_movemask_epi8(long) != 0 {
        return None;
    }
    Some(_mm256_add_epi64(product(upper, _mm256_set1_epi64x(SIXTEEN)), lower))
}

/// Returns the lower 64 bits of products.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn product(a: __m256i, b: __m256i) -> __m256i {
    let upper = |it| _mm256_srli_epi64::<32>(it);
    let crossed =
        _mm256_add_epi64(_mm256_mul_epu32(upper(a), b), _mm256_mul_epu32(a, upper(b)));
    _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(crossed))
}

/// Returns the doubles nearest to `digits * 10^powers`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn nearest(digits: __m256i, powers: [i32; STEP], doubt: &mut bool) -> Option<__m256d> {
    // The check below rejects powers out of range.
    let place = |at: usize| powers[at].wrapping_neg().cast_unsigned() as usize % ROOM;
    let (a, b, c, d) = (place(0), place(1), place(2), place(3));
    let tens = _mm256_setr_pd(TENS[a], TENS[b], TENS[c], TENS[d]);
    let fives = _mm256_setr_epi64x(FIVES[a], FIVES[b], FIVES[c], FIVES[d]);
    let place = |at: usize| -i64::from(powers[at]);
    let places = _mm256_setr_epi64x(place(0), place(1), place(2), place(3));
    let guess = _mm256_castpd_si256(_mm256_div_pd(doubled(digits), tens));
    let ones = |count: u32| _mm256_set1_epi64x((1 << count) - 1);
    let fraction = _mm256_and_si256(guess, ones(52));
    let mantissa = _mm256_or_si256(fraction, _mm256_set1_epi64x(1 << 52));
    // The guess is mantissa / 2^shift, and 2^places of that are part of 10^places.
    let exponent = _mm256_srli_epi64::<52>(guess);
    let shift = _mm256_sub_epi64(_mm256_set1_epi64x(1075), _mm256_add_epi64(exponent, places));
    // A shift out of range gives zero, which the check below rejects.
    let apart = _mm256_sub_epi64(_mm256_sllv_epi64(digits, shift), product(mantissa, fives));
    let twice = _mm256_add_epi64(apart, apart);
    let zero = _mm256_setzero_si256();
    let above = _mm256_cmpgt_epi64(twice, fives);
    let below = _mm256_cmpgt_epi64(_mm256_sub_epi64(zero, fives), twice);
    // One place up, or one down: a mask is -1.
    let step = _mm256_sub_epi64(below, above);
    let moved = |by| _mm256_sub_epi64(_mm256_and_si256(below, by), _mm256_and_si256(above, by));
    let apart = _mm256_add_epi64(apart, moved(fives));
    let twice = _mm256_add_epi64(apart, apart);
    let is_near = _mm256_and_si256(
        _mm256_cmpgt_epi64(fives, twice),
        _mm256_cmpgt_epi64(twice, _mm256_sub_epi64(zero, fives)),
    );
    // Just above a power of two, the places below are half as far apart.
    let is_plain = _mm256_cmpgt_epi64(fraction, _mm256_set1_epi64x(2));
    let is_within = |number, most| {
        let is_less = _mm256_cmpgt_epi64(_mm256_set1_epi64x(most + 1), number);
        _mm256_andnot_si256(_mm256_cmpgt_epi64(zero, number), is_less)
    };
    let in_range = _mm256_and_si256(is_within(shift, 63), is_within(places, MOST));
    let is_sure = _mm256_and_si256(_mm256_and_si256(is_near, is_plain), in_range);
    let values = _mm256_castsi256_pd(_mm256_add_epi64(guess, step));
    let sure = _mm256_movemask_pd(_mm256_castsi256_pd(is_sure));
    if sure != 0xf {
        return one_by_one(digits, powers, doubt);
    }
    // Half a unit of the last digit, in places of the rest.
    let half = _mm256_sllv_epi64(
        _mm256_set1_epi64x(1),
        _mm256_sub_epi64(shift, _mm256_set1_epi64x(1)),
    );
    let is_apart = _mm256_or_si256(
        _mm256_cmpgt_epi64(apart, half),
        _mm256_cmpgt_epi64(_mm256_sub_epi64(zero, half), apart),
    );
    *doubt |= _mm256_testz_si256(is_apart, is_apart) == 0;
    Some(values)
}

/// Converts numbers to doubles, rounded once.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn doubled(numbers: __m256i) -> __m256d {
    // Each half as the lowest bits of a power of two, which is subtracted again.
    const LOW: f64 = 4_503_599_627_370_496.0;
    const HIGH: f64 = 19_342_813_113_834_066_795_298_816.0;
    let bits = |number| _mm256_castpd_si256(_mm256_set1_pd(number));
    let low = _mm256_blend_epi32::<0b1010_1010>(numbers, bits(LOW));
    let high = _mm256_or_si256(_mm256_srli_epi64::<32>(numbers), bits(HIGH));
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(HIGH + LOW));
    _mm256_add_pd(high, _mm256_castsi256_pd(low))
}

#[cold]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn one_by_one(digits: __m256i, powers: [i32; STEP], doubt: &mut bool) -> Option<__m256d> {
    let (mut all, mut values) = ([0_u64; STEP], [0.0; STEP]);
    // SAFETY: there is room for four numbers, aligned or not.
    unsafe { _mm256_storeu_si256(all.as_mut_ptr().cast(), digits) };
    for (value, (digits, power)) in values.iter_mut().zip(all.into_iter().zip(powers)) {
        *value = nearest_one(digits, power, doubt)?;
    }
    let [a, b, c, d] = values;
    Some(_mm256_setr_pd(a, b, c, d))
}
