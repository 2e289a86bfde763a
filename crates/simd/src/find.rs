//! Where one byte is: ends of records are found by it, also of those whose quotes may hold it.
//!
//! ```text
//! bytes      "a,¶b",c¶         ¶ a newline
//! newlines   ...1....1
//! quotes     1...1....
//! inside     1111.....         exclusive or of all quotes up to here
//! outside    ........1         newlines and not inside
//! ```
//!
//! Bytes become masks of 64 bits, and eight masks a list of positions: eight of them are written for
//! each mask, whether it has them or not, so that nothing depends on how many there are, and a
//! position costs about a nanosecond, however short the records are. Quotes that stand for
//! themselves are doubled (`""`), which leaves the state what it was. Source: simdjson and simdcsv,
//! which use a carry-less product where here six shifts do the same, at no cost that shows beside
//! the loads.

use crate::level::{Level, level};

/// Bytes of one mask.
const CHUNK: usize = 64;
/// Masks made at one time.
const BATCH: usize = 8;
/// Room for the positions of a batch, and for what is written behind them.
const ROOM: usize = (BATCH + 1) * CHUNK;

/// Returns where `byte` first is.
///
/// ```
/// assert_eq!(swath_simd::find(b"a,b,c", b','), Some(1));
/// assert_eq!(swath_simd::find(b"abc", b','), None);
/// ```
#[must_use]
pub fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let level = level();
    let mut found = [0; BATCH];
    let (chunks, tail) = bytes.as_chunks::<CHUNK>();
    // One mask first: it is often near.
    let (first, rest) = chunks.split_at(chunks.len().min(1));
    let mut base = 0;
    for batch in std::iter::once(first).chain(rest.chunks(BATCH)) {
        masks(level, batch, byte, &mut found);
        for &mask in &found[..batch.len()] {
            if mask != 0 {
                return Some(base + mask.trailing_zeros() as usize);
            }
            base += CHUNK;
        }
    }
    tail.iter().position(|&here| here == byte).map(|at| base + at)
}

/// Where one byte is, from front to back; made by [`new`](Self::new) or
/// [`outside`](Self::outside).
///
/// ```
/// use swath_simd::Positions;
///
/// assert!(Positions::new(b"a,b,c", b',').eq([1, 3]));
/// assert!(Positions::outside(b"a,'b,c',d", b',', b'\'', false).eq([1, 7]));
/// ```
#[derive(Clone, Debug)]
pub struct Positions<'b> {
    level: Level,
    byte: u8,
    quote: Option<u8>,
    /// All ones if the next byte of `rest` is inside quotes.
    inside: u64,
    /// Bytes that are not in `masks` yet.
    rest: &'b [u8],
    /// Positions in the batch, and how many there are.
    found: [u32; ROOM],
    ready: usize,
    /// The next one.
    at: usize,
    /// Where the batch begins, and how long it is.
    batch: (usize, usize),
}

impl<'b> Positions<'b> {
    /// Every place at which `byte` is.
    #[must_use]
    pub fn new(bytes: &'b [u8], byte: u8) -> Self {
        Self::with_level(level(), bytes, byte)
    }

    /// By the kernel of one `level`, to compare them.
    ///
    /// # Panics
    ///
    /// Where `level` is not [available](Level::available).
    #[must_use]
    pub fn new_at(level: Level, bytes: &'b [u8], byte: u8) -> Self {
        level.assert_available();
        Self::with_level(level, bytes, byte)
    }

    /// Every place at which `byte`, which must be another one than `quote`, is outside quotes.
    /// `inside` says whether the first byte is inside quotes that were opened before.
    #[must_use]
    pub fn outside(bytes: &'b [u8], byte: u8, quote: u8, inside: bool) -> Self {
        Self::outside_at(level(), bytes, byte, quote, inside)
    }

    /// As [`outside`](Self::outside), by the kernel of one `level`.
    ///
    /// # Panics
    ///
    /// Where `level` is not [available](Level::available).
    #[must_use]
    pub fn outside_at(
        level: Level,
        bytes: &'b [u8],
        byte: u8,
        quote: u8,
        inside: bool,
    ) -> Self {
        level.assert_available();
        let inside = if inside { u64::MAX } else { 0 };
        Self { quote: Some(quote), inside, ..Self::with_level(level, bytes, byte) }
    }

    fn with_level(level: Level, bytes: &'b [u8], byte: u8) -> Self {
        Self {
            level,
            byte,
            quote: None,
            inside: 0,
            rest: bytes,
            found: [0; ROOM],
            ready: 0,
            at: 0,
            batch: (0, 0),
        }
    }

    /// Finds the positions of the next batch; `false` behind the last byte.
    #[inline(never)]
    fn refill(&mut self) -> bool {
        let (chunks, tail) = self.rest.as_chunks::<CHUNK>();
        let mut padded = [[0; CHUNK]];
        let (chunks, len) = match chunks.len().min(BATCH) {
            0 if tail.is_empty() => return false,
            0 => {
                padded[0][..tail.len()].copy_from_slice(tail);
                (&padded[..], tail.len())
            }
            count => (&chunks[..count], count * CHUNK),
        };
        let mut found = [0; BATCH];
        masks(self.level, chunks, self.byte, &mut found);
        if let Some(quote) = self.quote {
            let mut quotes = [0; BATCH];
            masks(self.level, chunks, quote, &mut quotes);
            for (mask, quotes) in found.iter_mut().zip(&quotes[..chunks.len()]) {
                let inside = running_parity(*quotes) ^ self.inside;
                *mask &= !inside;
                self.inside = 0_u64.wrapping_sub(inside >> 63);
            }
        }
        if len < CHUNK {
            // The padding may be what is looked for.
            found[0] &= (1 << len) - 1;
        }
        (self.ready, self.at) = (list(&found[..chunks.len()], &mut self.found), 0);
        self.batch = (self.batch.0 + self.batch.1, len);
        self.rest = &self.rest[len..];
        true
    }
}

impl Iterator for Positions<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.at >= self.ready {
            if !self.refill() {
                return None;
            }
        }
        let position = self.batch.0 + self.found[self.at] as usize;
        self.at += 1;
        Some(position)
    }
}

/// Puts where bits are set into `found`, and returns how many there are.
fn list(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi1") && std::is_x86_feature_detected!("popcnt") {
        // SAFETY: both were just detected.
        return unsafe { x86::list(masks, found) };
    }
    list_bits(masks, found)
}

#[inline(always)]
fn list_bits(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
    let mut ready = 0;
    let mut base = 0;
    for &mask in masks {
        let mut left = mask;
        // Eight at once, whether there are so many or not: no branch to guess wrong.
        for eight in found[ready..ready + CHUNK].as_chunks_mut::<8>().0 {
            for place in eight {
                *place = base + left.trailing_zeros();
                left &= left.wrapping_sub(1);
            }
            if left == 0 {
                break;
            }
        }
        ready += mask.count_ones() as usize;
        base += u64::BITS;
    }
    ready
}

/// Bit `i` of the result is the exclusive or of bits `0 ..= i`.
fn running_parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Puts a mask of where `byte` is into `masks`, for each of at most eight chunks.
fn masks(level: Level, chunks: &[[u8; CHUNK]], byte: u8, masks: &mut [u64; BATCH]) {
    match level {
        // SAFETY: callers pass a level that was detected on this processor.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(chunks, byte, masks) },
        // SAFETY: callers pass a level that was detected on this processor.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(chunks, byte, masks) },
        _ => portable(chunks, byte, masks),
    }
}

/// Words of eight bytes, a bit for each byte.
fn portable(chunks: &[[u8; CHUNK]], byte: u8, masks: &mut [u64; BATCH]) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f * ONES;
    // Moves bit 8 n + 7 to bit 56 + n; no two products meet.
    const GATHER: u64 = 0x0002_0408_1020_4081;
    let wanted = u64::from(byte) * ONES;
    for (mask, chunk) in masks.iter_mut().zip(chunks) {
        *mask = 0;
        for (index, word) in chunk.as_chunks::<8>().0.iter().enumerate() {
            let differs = u64::from_le_bytes(*word) ^ wanted;
            let equal = !(((differs & LOW) + LOW) | differs) & !LOW;
            *mask |= (equal.wrapping_mul(GATHER) >> 56) << (8 * index);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_set1_epi8, _mm512_cmpeq_epi8_mask, _mm512_loadu_si512, _mm512_set1_epi8,
    };

    use super::{BATCH, CHUNK, ROOM};

    #[target_feature(enable = "bmi1,popcnt")]
    pub(super) fn list(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
        super::list_bits(masks, found)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn avx512(chunks: &[[u8; CHUNK]], byte: u8, masks: &mut [u64; BATCH]) {
        let wanted = _mm512_set1_epi8(byte.cast_signed());
        for (mask, chunk) in masks.iter_mut().zip(chunks) {
            // SAFETY: a chunk has the 64 bytes of a vector.
            let vector = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast::<__m512i>()) };
            *mask = _mm512_cmpeq_epi8_mask(vector, wanted);
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn avx2(chunks: &[[u8; CHUNK]], byte: u8, masks: &mut [u64; BATCH]) {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        for (mask, chunk) in masks.iter_mut().zip(chunks) {
            let [low, high] = [0, 32].map(|from| {
                let half = chunk[from..from + 32].as_ptr().cast::<__m256i>();
                // SAFETY: half a chunk has the 32 bytes of a vector.
                let vector = unsafe { _mm256_loadu_si256(half) };
                let equal = _mm256_cmpeq_epi8(vector, wanted);
                u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
            });
            *mask = low | (high << 32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_parity_is_that_of_all_bits_so_far() {
        for bits in [0, 1, u64::MAX, 0x8000_0000_0000_0001, 0x1234_5678_9abc_def0] {
            let parity = running_parity(bits);
            for at in 0..64 {
                let here = (bits << (63 - at)).count_ones() & 1;
                assert_eq!((parity >> at) & 1, u64::from(here), "{bits:x} at {at}");
            }
        }
    }
}
