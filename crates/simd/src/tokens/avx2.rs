//! Twice 32 bytes at a time, eight tokens at a time.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cmpgt_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi16,
    _mm_storeu_si128, _mm_sub_epi16, _mm_unpackhi_epi64, _mm256_and_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpeq_epi32, _mm256_cvtepu16_epi64,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_max_epu32, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_packus_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32, _mm256_slli_epi64,
    _mm256_sllv_epi64, _mm256_sub_epi8, _mm256_sub_epi32, _mm256_sub_epi64,
};

use crate::tokens::{Ends, Lines, TILE, TOKENS, Taken};

/// Tokens of one vector, thus four lines.
const HALF: usize = TOKENS / 2;

#[target_feature(enable = "avx2")]
pub(super) fn pairs(lines: &mut Lines<'_>, mut taken: Taken) -> Taken {
    let mut ends = Ends::EMPTY;
    // The eight bytes of the first token begin before it.
    while taken.end >= 8 {
        list(lines.bytes, taken.end, &mut ends);
        let (at, before) = (taken.end - 1, taken.lines);
        for token in (0..ends.count / TOKENS * TOKENS).step_by(TOKENS) {
            if !convert(lines, at, &ends, (token, taken.lines)) {
                return taken;
            }
            taken.lines += TOKENS / 2;
            taken.end = at + usize::from(ends.list[token + TOKENS]) + 1;
        }
        if taken.lines == before {
            break;
        }
    }
    taken
}

/// Lists the ends of the tokens from `start` on, until the tile ends or something is not plain.
#[target_feature(enable = "avx2")]
#[inline]
fn list(bytes: &[u8], start: usize, ends: &mut Ends) {
    let tile = &bytes[start..bytes.len().min(start + TILE)];
    // As if a separator stood before the first byte: no token is empty.
    let mut separated = 1;
    ends.count = 0;
    let mut base = 1_u16;
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
        let is_odd = if ends.count & 1 == 0 { parity(separators) } else { !parity(separators) };
        // A blank, a newline, a blank, …: the other way round if a line is begun.
        let is_plain = digits == !separators
            && separators & (separators << 1 | separated) == 0
            && newlines == separators & !is_odd;
        if !is_plain {
            return;
        }
        separated = separators >> 63;
        compress(separators, base, ends);
        base += 64;
    }
}

/// Whether the bits up to each one, itself included, are odd in number.
#[inline(always)]
fn parity(mut bits: u64) -> u64 {
    for by in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << by;
    }
    bits
}

/// Lists the bits that are set: by eights, the last ones too many and then written over.
#[inline(always)]
fn compress(mut bits: u64, base: u16, ends: &mut Ends) {
    let count = bits.count_ones() as usize;
    let list: &mut [u16; 32] = ends.next();
    for eight in list.as_chunks_mut::<8>().0.iter_mut().take(count.div_ceil(8)) {
        for end in eight {
            // Of no bits, 64: too many by then. A bit's number is far below 65,536.
            *end = base + (bits.trailing_zeros() & 0x7f) as u16;
            bits &= bits.wrapping_sub(1);
        }
    }
    ends.count += count;
}

/// Converts sixteen tokens from number `token` on into eight lines from `line` on, unless one of
/// them is out of bounds or there is no room.
#[target_feature(enable = "avx2")]
#[inline]
fn convert(
    lines: &mut Lines<'_>,
    at: usize,
    ends: &Ends,
    (token, line): (usize, usize),
) -> bool {
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
        let (low, high) = behinds.split_at(4);
        let low = fours(lines.bytes, at, low, steps);
        let high = fours(lines.bytes, at, high, _mm_unpackhi_epi64(steps, steps));
        let weights = _mm256_set1_epi32(10_000 | 1 << 16);
        let numbers = _mm256_madd_epi16(_mm256_packus_epi32(low, high), weights);
        // Packing leaves them in the order 0 1 4 5, 2 3 6 7.
        let order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
        let numbers = _mm256_permutevar8x32_epi32(numbers, order);
        let bounds = lines.bounds;
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

/// Four tokens as two numbers of four digits each, by their ends and the first four steps.
#[target_feature(enable = "avx2")]
#[inline]
fn fours(bytes: &[u8], at: usize, behinds: &[u16], steps: __m128i) -> __m256i {
    let word = |index: usize| {
        let end = at + usize::from(behinds[index]);
        let word = bytes[end - 8..end].first_chunk().expect("eight bytes");
        i64::from_le_bytes(*word)
    };
    let words = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
    // What lies before the token becomes zero.
    let missing = _mm256_sub_epi64(_mm256_set1_epi64x(9), _mm256_cvtepu16_epi64(steps));
    let kept = _mm256_sllv_epi64(_mm256_set1_epi64x(-1), _mm256_slli_epi64::<3>(missing));
    let digits = _mm256_and_si256(_mm256_sub_epi8(words, splat(b'0')), kept);
    let twos = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(10 | 1 << 8));
    _mm256_madd_epi16(twos, _mm256_set1_epi32(100 | 1 << 16))
}

#[target_feature(enable = "avx2")]
#[inline]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

#[target_feature(enable = "avx2")]
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
fn store(numbers: &mut [u32], four: __m128i) {
    let numbers: &mut [u32; 4] = numbers.first_chunk_mut().expect("room for four");
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(numbers.as_mut_ptr().cast(), four) }
}
