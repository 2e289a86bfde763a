//! One vector of 64 bytes at a time, and sixteen tokens at a time.

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm256_castsi256_si128, _mm256_cmpgt_epi16_mask,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_storeu_si256, _mm256_sub_epi16, _mm512_add_epi8, _mm512_add_epi16, _mm512_and_si512,
    _mm512_castsi512_si256, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu32_mask,
    _mm512_cmplt_epu8_mask, _mm512_cvtepu8_epi16, _mm512_cvtepu16_epi64,
    _mm512_extracti64x4_epi64, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_madd_epi16,
    _mm512_maddubs_epi16, _mm512_maskz_compress_epi8, _mm512_packus_epi32,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32, _mm512_shuffle_epi8,
    _mm512_slli_epi64, _mm512_sllv_epi64, _mm512_storeu_si512, _mm512_sub_epi8,
    _mm512_sub_epi16, _mm512_sub_epi32, _mm512_sub_epi64, _pext_u64,
};

use crate::tokens::{Part, TILE, Taken, TokenEnds, TokenLines};

/// Whether this processor has the features that this kernel needs beyond AVX-512BW.
pub(super) fn available() -> bool {
    std::is_x86_feature_detected!("avx512vl")
        && std::is_x86_feature_detected!("avx512vbmi")
        && std::is_x86_feature_detected!("avx512vbmi2")
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn pairs(lines: &mut TokenLines<'_>, taken: Taken) -> Taken {
    let list = |bytes: &[u8], start, ends: &mut TokenEnds| list(bytes, start, ends);
    lines.by_tiles(taken, list, |lines, part| convert(lines, part))
}

/// Lists the ends of the tokens starting at `start`, until the tile ends or something is not plain.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
#[inline]
fn list(bytes: &[u8], start: usize, ends: &mut TokenEnds) {
    let places = load(&std::array::from_fn(|at| at.to_le_bytes()[0]));
    let tile = &bytes[start..bytes.len().min(start + TILE)];
    let mut base = _mm512_set1_epi16(1);
    // As if a separator preceded the first byte: no token is empty.
    let mut separated = 1;
    ends.count = 0;
    for chunk in tile.as_chunks().0 {
        let chunk = load(chunk);
        let newlines = equal(chunk, b'\n');
        let separators = newlines | equal(chunk, b' ') | equal(chunk, b'\t');
        let digits = _mm512_sub_epi8(chunk, splat(b'0'));
        let digits = _mm512_cmplt_epu8_mask(digits, splat(10));
        let count = separators.count_ones();
        // A blank, a newline, a blank, …: the other way round if a line has begun.
        const NEWLINES_SECOND: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let wanted = (NEWLINES_SECOND >> (ends.count & 1)) & !(u64::MAX << count);
        let is_plain = digits == !separators
            && separators & (separators << 1 | separated) == 0
            && _pext_u64(newlines, separators) == wanted;
        if !is_plain {
            return;
        }
        separated = separators >> 63;
        let found = _mm512_maskz_compress_epi8(separators, places);
        let found = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
        store_list(ends.next(), _mm512_add_epi16(found, base));
        base = _mm512_add_epi16(base, _mm512_set1_epi16(64));
        ends.count += count as usize;
    }
}

/// Converts sixteen tokens into eight lines, unless one of them is out of bounds or there is no
/// room.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
#[inline]
fn convert(lines: &mut TokenLines<'_>, part: Part<'_>) -> bool {
    let Part { at, ends, token, line } = part;
    let behinds = load_list(ends.around(token + 1));
    let steps = _mm256_sub_epi16(behinds, load_list(ends.around(token)));
    // A step is a token and its separator.
    if _mm256_cmpgt_epi16_mask(steps, _mm256_set1_epi16(9)) != 0 {
        return lines.eight(at + usize::from(ends.list[token]) + 1, line);
    }
    let window = |before: u16| {
        lines.bytes.get(at + usize::from(before) - 7..).and_then(<[u8]>::first_chunk)
    };
    let (low, high) = (ends.list[token], ends.list[token + 8]);
    let (Some(lows), Some(highs)) = (window(low), window(high)) else { return false };
    let [low, high] = [low, high].map(|before| before.cast_signed());
    let lows = fours(lows, low, _mm256_castsi256_si128(behinds), _mm256_castsi256_si128(steps));
    let highs = fours(
        highs,
        high,
        _mm256_extracti128_si256::<1>(behinds),
        _mm256_extracti128_si256::<1>(steps),
    );
    let numbers = _mm512_madd_epi16(
        _mm512_packus_epi32(lows, highs),
        _mm512_set1_epi32(10_000 | 1 << 16),
    );
    // Packing leaves them in the order 0 1 8 9, 2 3 10 11, 4 5 12 13, 6 7 14 15.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
    let numbers = _mm512_permutexvar_epi32(order, numbers);
    let bounds = lines.lanes;
    let numbers = _mm512_sub_epi32(numbers, _mm512_set1_epi32(bounds.least.cast_signed()));
    let last = _mm512_inserti64x4::<1>(
        _mm512_set1_epi32(bounds.last_first.cast_signed()),
        _mm256_set1_epi32(bounds.last_second.cast_signed()),
    );
    if _mm512_cmple_epu32_mask(numbers, last) != u16::MAX {
        return false;
    }
    let Some((firsts, seconds)) = lines.room(line) else { return false };
    store(firsts, _mm512_castsi512_si256(numbers));
    store(seconds, _mm512_extracti64x4_epi64::<1>(numbers));
    true
}

/// Returns eight tokens as two numbers of four digits each. The window begins eight bytes before
/// the first token, whose separator is at `before` in the list.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
#[inline]
fn fours(window: &[u8; 128], before: i16, behinds: __m128i, steps: __m128i) -> __m512i {
    let (left, right) = window.split_at(64);
    let [left, right] =
        [left, right].map(|half| load(half.first_chunk().expect("half of 128")));
    // For every byte of a lane: its position in the window, for the last eight bytes of its token.
    // They begin as far from the window's start as the token ends after its own.
    let ends = _mm512_sub_epi16(_mm512_cvtepu16_epi64(behinds), _mm512_set1_epi16(before));
    let first_byte = load(&std::array::from_fn(|at| if at % 16 < 8 { 0 } else { 8 }));
    let places = _mm512_shuffle_epi8(ends, first_byte);
    let places = _mm512_add_epi8(places, _mm512_set1_epi64(0x0605_0403_0201_00ff));
    let bytes = _mm512_permutex2var_epi8(left, places, right);
    // Clears the bytes before the token.
    let lens = _mm512_sub_epi64(_mm512_set1_epi64(9), _mm512_cvtepu16_epi64(steps));
    let kept = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_slli_epi64::<3>(lens));
    let digits = _mm512_and_si512(_mm512_sub_epi8(bytes, splat(b'0')), kept);
    let twos = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(10 | 1 << 8));
    _mm512_madd_epi16(twos, _mm512_set1_epi32(100 | 1 << 16))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, splat(byte))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_list(list: &mut [u16; 32], ends: __m512i) {
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_storeu_si512(list.as_mut_ptr().cast(), ends) }
}

#[target_feature(enable = "avx")]
#[inline]
fn load_list(list: &[u16; 16]) -> __m256i {
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_loadu_si256(list.as_ptr().cast()) }
}

#[target_feature(enable = "avx")]
#[inline]
fn store(numbers: &mut [u32; 8], eight: __m256i) {
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), eight) }
}
