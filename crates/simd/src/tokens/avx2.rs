//! Two vectors of 32 bytes at a time, and eight tokens at a time.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi16, _mm_clmulepi64_si128, _mm_cmpgt_epi16, _mm_cvtepu8_epi16,
    _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
    _mm_set1_epi16, _mm_storeu_si128, _mm_sub_epi16, _mm_unpackhi_epi64, _mm256_and_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpeq_epi32, _mm256_cvtepu16_epi64,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_max_epu32, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_packus_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_slli_epi64,
    _mm256_sllv_epi64, _mm256_sub_epi8, _mm256_sub_epi32, _mm256_sub_epi64,
};

use crate::places::PLACES;
use crate::tokens::{Part, TILE, TOKENS, Taken, TokenEnds, TokenLines};

/// The tokens of one vector, thus four lines.
const HALF: usize = TOKENS / 2;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
pub(super) fn pairs(lines: &mut TokenLines<'_>, taken: Taken) -> Taken {
    let list = |bytes: &[u8], start, ends: &mut TokenEnds| list(bytes, start, ends);
    lines.by_tiles(taken, list, |lines, part| convert(lines, part))
}

/// Lists the ends of the tokens starting at `start`, until the tile ends or something is not plain.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
#[inline]
fn list(bytes: &[u8], start: usize, ends: &mut TokenEnds) {
    let tile = &bytes[start..bytes.len().min(start + TILE)];
    // As if a separator preceded the first byte: no token is empty.
    let mut separated = 1;
    ends.count = 0;
    let mut base = _mm_set1_epi16(1);
    for chunk in tile.as_chunks::<64>().0 {
        let (low, high) = chunk.split_at(32);
        let halves = [low, high].map(|half| load(half.first_chunk().expect("half of 64")));
        let newlines = mask(halves.map(|half| _mm256_cmpeq_epi8(half, splat(b'\n'))));
        let blanks = mask(halves.map(|half| _mm256_cmpeq_epi8(half, splat(b' '))));
        let tabs = mask(halves.map(|half| _mm256_cmpeq_epi8(half, splat(b'\t'))));
        let digits = mask(halves.map(|half| {
            let digits = _mm256_sub_epi8(half, splat(b'0'));
            _mm256_cmpeq_epi8(_mm256_min_epu8(digits, splat(9)), digits)
        }));
        let separators = newlines | blanks | tabs;
        let parity = parity(separators);
        let is_odd = if ends.count & 1 == 0 { parity } else { !parity };
        // A blank, a newline, a blank, …: the other way round if a line has begun.
        let is_plain = digits == !separators
            && separators & (separators << 1 | separated) == 0
            && newlines == separators & !is_odd;
        if !is_plain {
            return;
        }
        separated = separators >> 63;
        compress(separators, base, ends);
        base = _mm_add_epi16(base, _mm_set1_epi16(64));
    }
}

/// Returns whether the number of bits up to and including each one is odd: the product with all
/// ones, without carries.
#[target_feature(enable = "sse2,pclmulqdq")]
#[inline]
fn parity(bits: u64) -> u64 {
    let product =
        _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(bits.cast_signed()), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product).cast_unsigned()
}

/// Lists the set bits, eight positions at a time, however many there are: a branch for each, or for
/// their number, would be mispredicted.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn compress(bits: u64, mut base: __m128i, ends: &mut TokenEnds) {
    // At most 32, followed by seven unused ones.
    let list: &mut [u16; 40] = ends.next();
    for (at, byte) in bits.to_le_bytes().into_iter().enumerate() {
        let before = (bits & ((1 << (8 * at)) - 1)).count_ones() as usize;
        let places = i64::from_le_bytes(PLACES[usize::from(byte)]);
        let places = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(places));
        // No two adjacent bits are set, so there are at most 28 before the last eight.
        let slots = list[before & 31..].first_chunk_mut().expect("40 is 31 and more than 8");
        store_list(slots, _mm_add_epi16(places, base));
        base = _mm_add_epi16(base, _mm_set1_epi16(8));
    }
    ends.count += bits.count_ones() as usize;
}

/// Converts sixteen tokens into eight lines, unless one of them is out of bounds or there is no
/// room.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
#[inline]
fn convert(lines: &mut TokenLines<'_>, part: Part<'_>) -> bool {
    let Part { at, ends, token, line } = part;
    if lines.room(line).is_none() {
        return false;
    }
    for half in 0..2 {
        let token = token + HALF * half;
        let behinds: &[u16; HALF] = ends.around(token + 1);
        let steps = _mm_sub_epi16(load_list(behinds), load_list(ends.around(token)));
        // A step is a token and its separator.
        if _mm_movemask_epi8(_mm_cmpgt_epi16(steps, _mm_set1_epi16(9))) != 0 {
            return lines.eight(at + usize::from(ends.list[token - HALF * half]) + 1, line);
        }
        let before = ends.list[token];
        let window = at + usize::from(before) - 7;
        let Some(window) = lines.bytes.get(window..).and_then(<[u8]>::first_chunk) else {
            return false;
        };
        let (low, high) = behinds.split_at(4);
        let low = fours(window, before, low, steps);
        let high = fours(window, before, high, _mm_unpackhi_epi64(steps, steps));
        let weights = _mm256_set1_epi32(10_000 | 1 << 16);
        let numbers = _mm256_madd_epi16(_mm256_packus_epi32(low, high), weights);
        // Packing leaves them in the order 0 1 4 5, 2 3 6 7.
        let order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
        let numbers = _mm256_permutevar8x32_epi32(numbers, order);
        let bounds = lines.lanes;
        let numbers = _mm256_sub_epi32(numbers, _mm256_set1_epi32(bounds.least.cast_signed()));
        let (first, second) = (bounds.last_first, bounds.last_second);
        let [first, second] = [first.cast_signed(), second.cast_signed()];
        let last =
            _mm256_setr_epi32(first, first, first, first, second, second, second, second);
        let within = _mm256_cmpeq_epi32(_mm256_max_epu32(numbers, last), last);
        if _mm256_movemask_epi8(within) != -1 {
            return false;
        }
        let Some((firsts, seconds)) = lines.room(line) else { return false };
        let place = half * HALF / 2;
        store(&mut firsts[place..], _mm256_castsi256_si128(numbers));
        store(&mut seconds[place..], _mm256_extracti128_si256::<1>(numbers));
    }
    true
}

/// Returns four tokens as two numbers of four digits each, given their ends and the first four
/// steps. The window begins eight bytes before the first token of eight, whose separator is at
/// `before` in the list.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
#[inline]
fn fours(window: &[u8; 136], before: u16, behinds: &[u16], steps: __m128i) -> __m256i {
    let word = |index: usize| {
        // Eight tokens with their separators are at most 72 bytes.
        let start = usize::from(behinds[index].wrapping_sub(before + 1) & 127);
        i64::from_le_bytes(*window[start..].first_chunk().expect("136 is 127 and more than 8"))
    };
    let words = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
    // Clears the bytes before the token.
    let missing = _mm256_sub_epi64(_mm256_set1_epi64x(9), _mm256_cvtepu16_epi64(steps));
    let kept = _mm256_sllv_epi64(_mm256_set1_epi64x(-1), _mm256_slli_epi64::<3>(missing));
    let digits = _mm256_and_si256(_mm256_sub_epi8(words, splat(b'0')), kept);
    let twos = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(10 | 1 << 8));
    _mm256_madd_epi16(twos, _mm256_set1_epi32(100 | 1 << 16))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
#[inline]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq")]
#[inline]
fn mask([low, high]: [__m256i; 2]) -> u64 {
    let [low, high] = [low, high].map(|half| _mm256_movemask_epi8(half).cast_unsigned());
    u64::from(low) | u64::from(high) << 32
}

#[target_feature(enable = "avx")]
#[inline]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn load_list(list: &[u16; 8]) -> __m128i {
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_loadu_si128(list.as_ptr().cast()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn store_list(list: &mut [u16; 8], ends: __m128i) {
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(list.as_mut_ptr().cast(), ends) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn store(numbers: &mut [u32], four: __m128i) {
    let numbers: &mut [u32; 4] = numbers.first_chunk_mut().expect("room for four");
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(numbers.as_mut_ptr().cast(), four) }
}
