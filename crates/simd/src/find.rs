//! The positions of one byte: finds the ends of records, even if quotes may contain that byte.
//!
//! ```text
//! bytes      "a,¶b",c¶         ¶ a newline
//! newlines   ...1....1
//! quotes     1...1....
//! inside     1111.....         exclusive or of all quotes up to here
//! outside    ........1         newlines and not inside
//! ```
//!
//! Bytes become masks of 64 bits, and eight masks a list of positions. Each step writes eight
//! positions of a mask, even if it has fewer, so that no branch depends on their number, and a
//! position costs about a nanosecond, however short the records are. Quotes inside quotes are
//! doubled (`""`), which leaves the state unchanged. Source: simdjson and simdcsv, which use a
//! carry-less product instead of the six shifts here, whose cost is hidden by the loads.

use crate::level::{Detected, Level, detected};
use crate::masks::{CHUNK, Kernel, Masks, Words, run};
#[cfg(target_arch = "x86_64")]
use crate::masks::{Ymm, Zmm};

/// The number of masks made at a time.
const BATCH: usize = 8;
/// Room for the positions of a batch, and for unused ones after them.
const ROOM: usize = (BATCH + 1) * CHUNK;

/// Returns the first position of `byte`.
///
/// ```
/// assert_eq!(swath_simd::find(b"a,b,c", b','), Some(1));
/// assert_eq!(swath_simd::find(b"abc", b','), None);
/// ```
#[must_use]
pub fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    run(detected(), First { bytes, byte })
}

/// Finds the first position.
struct First<'b> {
    bytes: &'b [u8],
    byte: u8,
}

impl Kernel for First<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Option<usize> {
        let (chunks, tail) = self.bytes.as_chunks::<CHUNK>();
        for (index, chunk) in chunks.iter().enumerate() {
            let mask = masks.equal(chunk, self.byte);
            if mask != 0 {
                return Some(index * CHUNK + mask.trailing_zeros() as usize);
            }
        }
        let at = tail.iter().position(|&here| here == self.byte)?;
        Some(chunks.len() * CHUNK + at)
    }
}

/// The positions of one byte, from front to back; see [`new`](Self::new) and
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
    level: Detected,
    byte: u8,
    quote: Option<u8>,
    /// All ones if the next byte of `rest` is inside quotes.
    inside: u64,
    /// The bytes that are not yet in `masks`.
    rest: &'b [u8],
    /// The positions in the batch, and their number.
    found: [u32; ROOM],
    ready: usize,
    /// The index of the next one.
    at: usize,
    /// The start of the batch, and its length.
    batch: (usize, usize),
}

impl<'b> Positions<'b> {
    /// Returns every position of `byte`.
    #[must_use]
    pub fn new(bytes: &'b [u8], byte: u8) -> Self {
        Self::with_level(detected(), bytes, byte)
    }

    /// Like [`new`](Self::new), with the kernel of one `level`, to compare levels.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    #[must_use]
    pub fn new_at(level: Level, bytes: &'b [u8], byte: u8) -> Self {
        Self::with_level(level.detected(), bytes, byte)
    }

    /// Returns every position of `byte`, which must not be `quote`, outside quotes. `inside` means
    /// that the first byte is inside quotes that were opened before.
    #[must_use]
    pub fn outside(bytes: &'b [u8], byte: u8, quote: u8, inside: bool) -> Self {
        let inside = if inside { u64::MAX } else { 0 };
        Self { quote: Some(quote), inside, ..Self::new(bytes, byte) }
    }

    /// Like [`outside`](Self::outside), with the kernel of one `level`.
    ///
    /// # Panics
    ///
    /// If `level` is not [available](Level::available).
    #[must_use]
    pub fn outside_at(
        level: Level,
        bytes: &'b [u8],
        byte: u8,
        quote: u8,
        inside: bool,
    ) -> Self {
        Self { level: level.detected(), ..Self::outside(bytes, byte, quote, inside) }
    }

    fn with_level(level: Detected, bytes: &'b [u8], byte: u8) -> Self {
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

    /// Finds the positions of the next batch; `false` after the last byte.
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
            // The padding may equal the byte.
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

/// Stores the positions of set bits in `found`, and returns their number.
fn list(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("bmi1") && std::is_x86_feature_detected!("popcnt") {
        // SAFETY: both were just detected.
        return unsafe { list_bmi1(masks, found) };
    }
    list_bits(masks, found)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,popcnt")]
fn list_bmi1(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
    list_bits(masks, found)
}

#[inline(always)]
fn list_bits(masks: &[u64], found: &mut [u32; ROOM]) -> usize {
    let mut ready = 0;
    let mut base = 0;
    for &mask in masks {
        let mut left = mask;
        // Always eight at once, even if there are fewer: no branch to mispredict.
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

/// Returns the parities: bit `i` is the exclusive or of bits `0 ..= i`.
#[inline(always)]
pub(crate) fn running_parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Stores a mask of the positions of `byte` in `found`, for each of at most eight chunks. Called
/// for every batch: the arguments of a [`Kernel`] would go through memory, at a measurable cost.
fn masks(level: Detected, chunks: &[[u8; CHUNK]], byte: u8, found: &mut [u64; BATCH]) {
    match level.level() {
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { masks_avx512(chunks, byte, found) },
        // SAFETY: this processor has the level, which was detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { masks_avx2(chunks, byte, found) },
        _ => masks_by(Words, chunks, byte, found),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn masks_avx512(chunks: &[[u8; CHUNK]], byte: u8, found: &mut [u64; BATCH]) {
    masks_by(Zmm::here(), chunks, byte, found);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn masks_avx2(chunks: &[[u8; CHUNK]], byte: u8, found: &mut [u64; BATCH]) {
    masks_by(Ymm::here(), chunks, byte, found);
}

#[inline(always)]
fn masks_by(with: impl Masks, chunks: &[[u8; CHUNK]], byte: u8, found: &mut [u64; BATCH]) {
    for (mask, chunk) in found.iter_mut().zip(chunks) {
        *mask = with.equal(chunk, byte);
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
