//! Four tokens of at most 16 bytes at a time, in two vectors of two: the AVX2 version of the
//! AVX-512 kernel for eight.

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _mm_loadu_si128, _mm256_add_epi64, _mm256_and_si256,
    _mm256_blendv_epi8, _mm256_bslli_epi128, _mm256_castpd_si256, _mm256_castsi128_si256,
    _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_div_pd, _mm256_inserti128_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_mul_epu32, _mm256_or_si256, _mm256_packus_epi32, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd,
    _mm256_setr_epi64x, _mm256_setr_pd, _mm256_srli_epi64, _mm256_storeu_pd,
    _mm256_storeu_si256, _mm256_sub_epi8, _mm256_sub_epi64, _mm256_sub_pd, _mm256_testz_si256,
    _mm256_xor_si256,
};

use super::padding::{WantedNumbers, is_padded};
use super::short::{self, kind};
use super::{Tokens, alone, four_long, wide};

/// The tokens of one step, and the bytes of a window.
const STEP: usize = 4;
const WINDOW: usize = 16;

/// The highest bit of each token, and the lowest, in masks of two.
const HIGHEST: u32 = 0x8000_8000;
const LOWEST: u32 = 0x0001_0001;

/// Zeros before ones: the window at `n` has `n` ones at its end.
static LAST: [u8; 2 * WINDOW] = steps(0x00, 0xff);
/// Ones before zeros: the window at `16 - n` has `n` ones at its start.
static FIRST: [u8; 2 * WINDOW] = steps(0xff, 0x00);

const fn steps(before: u8, after: u8) -> [u8; 2 * WINDOW] {
    let mut bytes = [before; 2 * WINDOW];
    let mut at = WINDOW;
    while at < 2 * WINDOW {
        bytes[at] = after;
        at += 1;
    }
    bytes
}

/// Powers of ten to divide by.
static POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn doubles(tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let short = short::doubles::<{ kind::ANY }>(tokens, done);
        let values = short.or_else(|| four::<false>(tokens, done)?.doubles());
        if let Some(values) = values.or_else(|| four_long::doubles(tokens, done, &mut false)) {
            // SAFETY: there is room for four doubles, aligned or not.
            unsafe { _mm256_storeu_pd(slots.as_mut_ptr(), values) };
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn integers(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let short = short::integers::<{ kind::ANY }>(tokens, done);
        if let Some(values) = short.or_else(|| four::<false>(tokens, done)?.integers()) {
            // SAFETY: there is room for four integers, aligned or not.
            unsafe { _mm256_storeu_si256(slots.as_mut_ptr().cast(), values) };
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
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn column_doubles<const KIND: u8>(
    tokens: Tokens<'_>,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let values = short::doubles::<KIND>(tokens, done).or_else(|| {
            are_plain::<KIND>(tokens, done, WantedNumbers::Any).then_some(())?;
            let four = four::<true>(tokens, done).and_then(|four| four.doubles());
            four.or_else(|| long_doubles(tokens, done, doubt))
        });
        if let Some(values) = values {
            // SAFETY: there is room for four doubles, aligned or not.
            unsafe { _mm256_storeu_pd(slots.as_mut_ptr(), values) };
        } else {
            let found = alone::doubles(tokens, done, is_strict(KIND), slots, doubt);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + alone::doubles(tokens, done, is_strict(KIND), &mut out[done..count], doubt)
}

/// Like [`integers`], for the fields of a column.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn column_integers<const KIND: u8>(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    let count = tokens.count().min(out.len());
    let mut done = 0;
    while let Some(slots) = out[done..count].first_chunk_mut::<STEP>() {
        let values = short::integers::<KIND>(tokens, done).or_else(|| {
            are_plain::<KIND>(tokens, done, WantedNumbers::Whole).then_some(())?;
            four::<true>(tokens, done)?.integers()
        });
        if let Some(values) = values {
            // SAFETY: there is room for four integers, aligned or not.
            unsafe { _mm256_storeu_si256(slots.as_mut_ptr().cast(), values) };
        } else {
            let found = alone::integers(tokens, done, is_strict(KIND), slots);
            if found < STEP {
                return done + found;
            }
        }
        done += STEP;
    }
    done + alone::integers(tokens, done, is_strict(KIND), &mut out[done..count])
}

fn is_strict(kind: u8) -> bool {
    kind == kind::COLUMN
}

/// Whether none of the four tokens starting at `index` is padded, unless padding is accepted.
#[inline]
fn are_plain<const KIND: u8>(tokens: Tokens<'_>, index: usize, wanted: WantedNumbers) -> bool {
    let mut four = index..index + STEP;
    KIND != kind::COLUMN || four.all(|index| !is_padded(tokens, index, wanted))
}

/// Long tokens, some of them empty: other tokens replace these, and zeros replace their values.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn long_doubles(tokens: Tokens<'_>, index: usize, doubt: &mut bool) -> Option<__m256d> {
    let mut starts = *tokens.starts.get(index..)?.first_chunk::<STEP>()?;
    let mut ends = *tokens.ends.get(index..)?.first_chunk::<STEP>()?;
    let there: [bool; STEP] = std::array::from_fn(|at| starts[at] < ends[at]);
    if there == [true; STEP] {
        return four_long::doubles(tokens, index, doubt);
    }
    let one = there.iter().position(|&is_there| is_there)?;
    for at in 0..STEP {
        if !there[at] {
            (starts[at], ends[at]) = (starts[one], ends[one]);
        }
    }
    let filled = Tokens { text: tokens.text, starts: &starts, ends: &ends };
    let values = _mm256_castpd_si256(four_long::doubles(filled, 0, doubt)?);
    let [a, b, c, d] = there.map(|is_there| -i64::from(is_there));
    Some(_mm256_castsi256_pd(_mm256_and_si256(values, _mm256_setr_epi64x(a, b, c, d))))
}

/// Two tokens: their digits, and masks with 16 bits for each.
#[derive(Clone, Copy)]
struct TwoTokens {
    digits: __m256i,
    points: u32,
    minuses: u32,
}

/// Four tokens as integers of their digits; the even ones and the odd ones have separate masks.
struct FourTokens {
    digits: __m256i,
    even: TwoTokens,
    odd: TwoTokens,
}

impl FourTokens {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn integers(self) -> Option<__m256i> {
        if self.even.points | self.odd.points != 0 {
            return None;
        }
        if self.even.minuses | self.odd.minuses == 0 {
            return Some(self.digits);
        }
        let minus = self.minuses(-1);
        Some(_mm256_sub_epi64(_mm256_xor_si256(self.digits, minus), minus))
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn doubles(self) -> Option<__m256d> {
        // Below 2^52, the digits are the fraction of a double from which 2^52 is subtracted.
        let beyond = _mm256_set1_epi64x(!((1 << 52) - 1));
        if _mm256_testz_si256(self.digits, beyond) == 0 {
            return None;
        }
        let one = _mm256_set1_pd(4_503_599_627_370_496.0);
        let sum = _mm256_or_si256(self.digits, _mm256_castpd_si256(one));
        let mut values = _mm256_sub_pd(_mm256_castsi256_pd(sum), one);
        if self.even.points | self.odd.points != 0 {
            let power = |points: u32| POWERS[(15 - place(points)) as usize & 15];
            let (even, odd) = (self.even.points, self.odd.points);
            let powers =
                _mm256_setr_pd(power(even), power(odd), power(even >> 16), power(odd >> 16));
            values = _mm256_div_pd(values, powers);
        }
        if self.even.minuses | self.odd.minuses != 0 {
            let bits = _mm256_xor_si256(_mm256_castpd_si256(values), self.minuses(i64::MIN));
            values = _mm256_castsi256_pd(bits);
        }
        Some(values)
    }

    /// Returns `value` in the lanes of tokens with a minus, zero in the others.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn minuses(&self, value: i64) -> __m256i {
        let lane = |bits: u32| if bits & 0xffff == 0 { 0 } else { value };
        let (even, odd) = (self.even.minuses, self.odd.minuses);
        _mm256_setr_epi64x(lane(even), lane(odd), lane(even >> 16), lane(odd >> 16))
    }
}

/// Returns the position of the only set bit of 16; 15, that of the last digit, if no bit is set.
#[inline]
fn place(points: u32) -> u32 {
    (points | 1 << 15).trailing_zeros()
}

/// Returns the four tokens starting at `index`; `None` unless all are short and plain, or, with
/// `GAPS`, empty.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn four<const GAPS: bool>(tokens: Tokens<'_>, index: usize) -> Option<FourTokens> {
    let starts = tokens.starts.get(index..)?.first_chunk::<STEP>()?;
    let ends = tokens.ends.get(index..)?.first_chunk::<STEP>()?;
    let mut lens = [0; STEP];
    let mut are_windows = true;
    for (len, (start, end)) in lens.iter_mut().zip(starts.iter().zip(ends)) {
        *len = end.wrapping_sub(*start) as usize;
        let end = *end as usize;
        are_windows &= len.wrapping_sub(usize::from(!GAPS)) < WINDOW + usize::from(GAPS);
        are_windows &= (WINDOW..=tokens.text.len()).contains(&end);
    }
    if !are_windows {
        return None;
    }
    let window = |at: usize| {
        // The end is in the text, with a window before it.
        load(tokens.text, ends[at] as usize - WINDOW)
    };
    let inside = |at: usize| load(&LAST, lens[at]);
    let even = two(both(window(0), window(2)), both(inside(0), inside(2)))?;
    let odd = two(both(window(1), window(3)), both(inside(1), inside(3)))?;
    Some(FourTokens { digits: combine(even.digits, odd.digits), even, odd })
}

/// Loads sixteen bytes, which must exist.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn load(bytes: &[u8], at: usize) -> __m128i {
    let window = &bytes[at..at + WINDOW];
    // SAFETY: sixteen bytes are available, aligned or not.
    unsafe { _mm_loadu_si128(window.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn both(low: __m128i, high: __m128i) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
}

/// Removes the signs and points from two tokens; `inside` has ones at the bytes of the tokens.
/// `None` if there are other characters.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn two(text: __m256i, inside: __m256i) -> Option<TwoTokens> {
    const POINT: i8 = 0x2e - 0x30;
    const MINUS: i8 = 0x2d - 0x30;
    let mask = |bytes| _mm256_movemask_epi8(bytes).cast_unsigned();
    let equal = |bytes, byte| mask(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)));
    let digits = _mm256_and_si256(_mm256_sub_epi8(text, _mm256_set1_epi8(0x30)), inside);
    let is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    let odd = !mask(is_digit);
    if odd == 0 {
        return Some(TwoTokens { digits, points: 0, minuses: 0 });
    }
    let points = equal(digits, POINT);
    let inside = mask(inside);
    // The first byte of a full window has no zero before it.
    let first = inside & !((inside << 1) & !LOWEST);
    let minuses = equal(digits, MINUS) & first;
    // Clears the lowest point of each token: any second one remains.
    let second = ((points | HIGHEST) - LOWEST) & points;
    if (odd ^ (points | minuses)) | (odd & HIGHEST) | second != 0 {
        return None;
    }
    let digits = _mm256_and_si256(digits, is_digit);
    if points == 0 {
        return Some(TwoTokens { digits, points, minuses });
    }
    // Moves everything up to and including the point by one.
    let moving = |points: u32| {
        let count = if points & 0xffff == 0 { 0 } else { place(points) as usize + 1 };
        load(&FIRST, WINDOW - count)
    };
    let moving = both(moving(points), moving(points >> 16));
    let digits = _mm256_blendv_epi8(digits, _mm256_bslli_epi128::<1>(digits), moving);
    Some(TwoTokens { digits, points, minuses })
}

/// Converts windows of 16 digits to four integers, the even ones from `even`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn combine(even: __m256i, odd: __m256i) -> __m256i {
    let fours = |digits| {
        let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
        _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
    };
    let fours = _mm256_packus_epi32(fours(even), fours(odd));
    let eights = _mm256_madd_epi16(fours, _mm256_set1_epi32(0x0001_2710));
    let upper = _mm256_mul_epu32(eights, _mm256_set1_epi64x(100_000_000));
    _mm256_add_epi64(upper, _mm256_srli_epi64::<32>(eights))
}
