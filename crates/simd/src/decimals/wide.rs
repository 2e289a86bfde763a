//! One token of at most 32 bytes at a time, in a vector that ends where the token does.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_extract_epi64, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_packus_epi32, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_setr_epi8,
};

use super::Tokens;
use super::scalar::{self, Decimal};

/// Bytes before a token's end that are read: a window, and one for digits that move.
const REACH: usize = 33;

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn double(tokens: Tokens<'_>, index: usize) -> Option<f64> {
    let (start, end) = tokens.bounds(index)?;
    decimal(tokens.text, start, end)?.to_double()
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn integer(tokens: Tokens<'_>, index: usize) -> Option<i64> {
    let (start, end) = tokens.bounds(index)?;
    decimal(tokens.text, start, end)?.to_integer()
}

/// As [`scalar::decimal`], for the bytes between two offsets of `text`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decimal(text: &[u8], start: usize, end: usize) -> Option<Decimal> {
    let &first = text[..end].get(start)?;
    let is_signed = first == b'-' || first == b'+';
    let from = start + usize::from(is_signed);
    if end < REACH || end - from > 32 {
        return scalar::decimal(&text[start..end]);
    }
    let negative = first == b'-';
    if Window::load(text, end).is_mantissa(end - from) {
        return mantissa(text, from, end, negative);
    }
    // An exponent, most likely.
    let short = without_power(&text[from..end]).filter(|&(before, _)| from + before >= REACH);
    let Some((before, power)) = short else { return scalar::decimal(&text[start..end]) };
    if !Window::load(text, from + before).is_mantissa(before) {
        return None;
    }
    let found = mantissa(text, from, from + before, negative)?;
    Some(Decimal { exponent: found.exponent + power, integer: false, ..found })
}

/// How long a token without sign is up to its exponent, and what that is; `None` if it is long.
#[inline]
fn without_power(token: &[u8]) -> Option<(usize, i32)> {
    // The most common first: a sign and two digits.
    for back in [4, 5, 3, 2] {
        let Some(at) = token.len().checked_sub(back) else { continue };
        if token[at] | 0x20 == b'e' {
            return Some((at, scalar::exponent(&token[at + 1..])?));
        }
    }
    None
}

/// Digits, with a point among them or not, as [`Window::is_mantissa`] has found.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn mantissa(text: &[u8], from: usize, end: usize, negative: bool) -> Option<Decimal> {
    let window = Window::load(text, end);
    let odd = window.odd(end - from);
    if odd != 0 {
        return with_point(text, from, end, window, odd, negative);
    }
    // A sign alone is not a number.
    let digits = window.digits(end - from).filter(|_| end > from)?;
    Some(Decimal { digits, exponent: 0, negative, integer: true })
}

/// Digits and one point among them: the lowest bit of `odd` is its position in the window.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn with_point(
    text: &[u8],
    from: usize,
    end: usize,
    window: Window,
    odd: u32,
    negative: bool,
) -> Option<Decimal> {
    let point = odd.trailing_zeros();
    let count = end - from - 1;
    if count == 0 {
        return None;
    }
    let moved = Window::load(text, end - 1);
    let digits = window.without(point, moved).digits(count)?;
    let exponent = point.cast_signed() - 31;
    Some(Decimal { digits, exponent, negative, integer: false })
}

/// 32 bytes, less `'0'` each: digits are 0 to 9.
#[derive(Clone, Copy)]
struct Window(__m256i);

impl Window {
    /// The 32 bytes before `end`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn load(text: &[u8], end: usize) -> Self {
        let bytes = text[..end].last_chunk::<32>().expect("callers have checked");
        // SAFETY: 32 bytes are available, aligned or not.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        Self(_mm256_add_epi8(bytes, _mm256_set1_epi8(-0x30)))
    }

    /// One bit for each of the last `count` bytes that is not a digit.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn odd(self, count: usize) -> u32 {
        let nine = _mm256_set1_epi8(9);
        let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(self.0, nine), self.0);
        _mm256_movemask_epi8(_mm256_andnot_si256(is_digit, last(count))).cast_unsigned()
    }

    /// Whether the last `count` bytes are digits with at most one point.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn is_mantissa(self, count: usize) -> bool {
        let odd = self.odd(count);
        odd & odd.wrapping_sub(1) == 0 && (odd == 0 || self.is_point(odd))
    }

    /// Whether there is a point at `bit`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn is_point(self, bit: u32) -> bool {
        const POINT: i8 = 0x2e - 0x30;
        let points = _mm256_cmpeq_epi8(self.0, _mm256_set1_epi8(POINT));
        _mm256_movemask_epi8(points).cast_unsigned() & bit != 0
    }

    /// Removes the byte at `point`; the bytes before it come from `moved`, the window one byte
    /// earlier.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn without(self, point: u32, moved: Self) -> Self {
        let point = i8::try_from(point).unwrap_or(i8::MAX);
        let after = _mm256_cmpgt_epi8(places(), _mm256_set1_epi8(point));
        Self(_mm256_blendv_epi8(moved.0, self.0, after))
    }

    /// The number that the last `count` digits represent; `None` if it has more than nineteen.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn digits(self, count: usize) -> Option<u64> {
        let digits = _mm256_and_si256(self.0, last(count));
        let tens = _mm256_set1_epi16(0x010a);
        let pairs = _mm256_maddubs_epi16(digits, tens);
        let hundreds = _mm256_set1_epi32(0x0001_0064);
        let fours = _mm256_madd_epi16(pairs, hundreds);
        let ten_thousands = _mm256_set1_epi32(0x0001_2710);
        let eights = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), ten_thousands);
        let sixteen = |eights: i64| {
            let eights = eights.cast_unsigned();
            (eights & 0xffff_ffff) * 100_000_000 + (eights >> 32)
        };
        let upper = sixteen(_mm256_extract_epi64::<0>(eights));
        let lower = sixteen(_mm256_extract_epi64::<2>(eights));
        (upper < 1000).then(|| upper * 10_000_000_000_000_000 + lower)
    }
}

/// All bits of the last `count` bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn last(count: usize) -> __m256i {
    let before = i8::try_from(31_usize.wrapping_sub(count).cast_signed()).unwrap_or(-1);
    _mm256_cmpgt_epi8(places(), _mm256_set1_epi8(before))
}

/// The position of each byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn places() -> __m256i {
    _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31,
    )
}
