//! One token of at most 32 bytes at a time, in a vector that ends with the token.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_extract_epi64, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_packus_epi32, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_setr_epi8,
};

use super::scalar::{self, Decimal};
use super::{Tokens, each};

/// The number of bytes read before a token's end: a window, and one for digits that move.
const REACH: usize = 33;

/// Parses tokens starting at `first` into `out`; returns the number before the first that is not
/// plain.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles(tokens: Tokens<'_>, first: usize, out: &mut [f64]) -> usize {
    each(out, |index| {
        let (start, end) = tokens.bounds(first + index)?;
        decimal::<false>(tokens.text, start, end)?.to_double()
    })
}

/// Like [`doubles`], for integers.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn integers(tokens: Tokens<'_>, first: usize, out: &mut [i64]) -> usize {
    each(out, |index| {
        let (start, end) = tokens.bounds(first + index)?;
        decimal::<true>(tokens.text, start, end)?.to_integer()
    })
}

/// Like [`scalar::decimal`], for the bytes between two offsets of `text`. `INTEGER` only makes two
/// functions of this, each with one caller, so that both are inlined.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decimal<const INTEGER: bool>(text: &[u8], start: usize, end: usize) -> Option<Decimal> {
    usual::<INTEGER>(text, start, end).or_else(|| scalar::decimal(&text[start..end]))
}

/// Parses digits with an optional point, and an optional exponent of a sign and two digits. `None`
/// for all other forms.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn usual<const INTEGER: bool>(text: &[u8], start: usize, end: usize) -> Option<Decimal> {
    let negative = text[..end].get(start) == Some(&b'-');
    let from = start + usize::from(negative);
    let (before, power) = without_power(&text[..end])?;
    let count = before.wrapping_sub(from);
    if count.wrapping_sub(1) > 31 {
        return None;
    }
    let bytes: &[u8; REACH] = text[..before].last_chunk()?;
    let mut window = Window::load(bytes.last_chunk()?);
    let odd = window.odd(count);
    let integer = odd == 0 && before == end;
    if odd == 0 {
        let digits = window.digits(count)?;
        return Some(Decimal { digits, exponent: power, negative, integer });
    }
    let point = odd.trailing_zeros();
    if odd & (odd - 1) != 0 || bytes[1 + point as usize] != b'.' || count == 1 {
        return None;
    }
    window = window.without(point, Window::load(bytes.first_chunk()?));
    let digits = window.digits(count - 1)?;
    Some(Decimal { digits, exponent: power + point.cast_signed() - 31, negative, integer })
}

/// Returns the end of a text without its exponent, and the exponent; `None` if the exponent is not
/// a sign and two digits.
#[inline]
fn without_power(text: &[u8]) -> Option<(usize, i32)> {
    let [letter, sign, tens, ones] = *text.last_chunk::<4>()?;
    if letter | 0x20 != b'e' {
        return Some((text.len(), 0));
    }
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    let is_signed = sign == b'-' || sign == b'+';
    let size = i32::from(tens) * 10 + i32::from(ones);
    (tens < 10 && ones < 10 && is_signed)
        .then_some((text.len() - 4, if sign == b'-' { -size } else { size }))
}

/// 32 bytes, less `'0'` each: digits are 0 to 9.
#[derive(Clone, Copy)]
struct Window(__m256i);

impl Window {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn load(bytes: &[u8; 32]) -> Self {
        // SAFETY: 32 bytes are available, aligned or not.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        Self(_mm256_add_epi8(bytes, _mm256_set1_epi8(-0x30)))
    }

    /// Returns one bit for each of the last `count` bytes that is not a digit.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn odd(self, count: usize) -> u32 {
        let nine = _mm256_set1_epi8(9);
        let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(self.0, nine), self.0);
        _mm256_movemask_epi8(_mm256_andnot_si256(is_digit, last(count))).cast_unsigned()
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

    /// Returns the number that the last `count` digits represent; `None` if it has more than
    /// nineteen.
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

/// Returns all bits of the last `count` bytes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn last(count: usize) -> __m256i {
    let before = i8::try_from(31_usize.wrapping_sub(count).cast_signed()).unwrap_or(-1);
    _mm256_cmpgt_epi8(places(), _mm256_set1_epi8(before))
}

/// Returns the position of each byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn places() -> __m256i {
    _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30, 31,
    )
}
