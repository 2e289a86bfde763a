//! Decimal text to numbers, many tokens at once.
//!
//! ```text
//! text      -12.5,3,0.0625\n              tokens end at bytes 5, 7 and 14
//! window    ············-12.5             the last bytes of each, so digits line up at the right
//! digits    0000000000000125              without sign and point: 16 or 32 of them
//! number    pairs, fours, eights          multiplied and added in all lanes
//! ```
//!
//! Eight tokens of at most 16 bytes, or of at most 32 (AVX-512); four of at most 8, of at most 16,
//! or of at most 32 (AVX2). The rest is parsed byte by byte, or by eight bytes if all are digits.
//! Tokens with more than nineteen digits, or that are not plain numbers, are left to the caller,
//! which gets the index of the first.
//!
//! The point is removed after Lemire's observation that only digits to its left have to move, all
//! by one; multiplying and adding pairs is from Muła, *SIMD-ized parsing of numbers* (2014).

mod alone;
mod column;
#[cfg(target_arch = "x86_64")]
mod eight;
#[cfg(target_arch = "x86_64")]
mod four;
#[cfg(target_arch = "x86_64")]
mod four_long;
#[cfg(target_arch = "x86_64")]
mod long;
mod nearest;
mod padding;
mod powers;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
mod short;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::level::{Detected, Level, detected};
pub use column::{
    Padding, column_doubles, column_doubles_at, column_integers, column_integers_at,
};
pub use nearest::nearest_double;
pub use scalar::{Decimal, append_digits, decimal};

/// Tokens of a text: the bytes `starts[i] .. ends[i]`.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'t> {
    /// The text that contains them.
    pub text: &'t [u8],
    /// The offsets of their first bytes.
    pub starts: &'t [u32],
    /// The offsets of their ends.
    pub ends: &'t [u32],
}

impl<'t> Tokens<'t> {
    /// Returns the number of tokens that can be parsed.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.starts.len().min(self.ends.len())
    }

    /// Returns the start and the end of a token; `None` unless they are inside the text.
    #[inline]
    pub(crate) fn bounds(&self, index: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.starts[index] as usize, self.ends[index] as usize);
        (start <= end && end <= self.text.len()).then_some((start, end))
    }

    /// Returns the tokens starting at `first`, at most `count`.
    pub(crate) fn some(&self, first: usize, count: usize) -> Self {
        let end = self.count().min(first + count);
        Self { text: self.text, starts: &self.starts[first..end], ends: &self.ends[first..end] }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&'t [u8]> {
        let (start, end) = self.bounds(index)?;
        Some(&self.text[start..end])
    }
}

/// Parses `tokens` into `out`, correctly rounded, and returns the number of values stored: all of
/// them, or those before the first token that is not plain.
///
/// Plain tokens have a sign, up to nineteen digits not counting leading zeros, a point before,
/// among or after the digits, and an exponent, unless the number is infinite or smaller than
/// normal doubles. After the returned count the content of `out` is unspecified.
///
/// ```
/// use swath_simd::{Tokens, parse_doubles};
///
/// let tokens = Tokens { text: b"1.5,-2,x", starts: &[0, 4, 7], ends: &[3, 6, 8] };
/// let mut numbers = [0.0; 3];
/// assert_eq!(parse_doubles(tokens, &mut numbers), 2);
/// assert_eq!(numbers[..2], [1.5, -2.0]);
/// ```
pub fn parse_doubles(tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    doubles(detected(), tokens, out)
}

/// Like [`parse_doubles`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
pub fn parse_doubles_at(level: Level, tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    doubles(level.detected(), tokens, out)
}

/// Parses `tokens` as integers into `out` and returns the number of values stored: all of them, or
/// those before the first token that is not a sign and up to nineteen digits, or does not fit an
/// [`i64`].
///
/// After the returned count the content of `out` is unspecified.
pub fn parse_integers(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    integers(detected(), tokens, out)
}

/// Like [`parse_integers`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
pub fn parse_integers_at(level: Level, tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    integers(level.detected(), tokens, out)
}

/// Runs the kernel of `level`.
fn doubles(level: Detected, tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    match level.level() {
        // SAFETY: this processor has the level, which was detected, and the further instructions
        // were too.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe { eight::doubles(tokens, out) },
        // SAFETY: as above, and every processor with AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { four::doubles(tokens, out) },
        _ => scalar::doubles(tokens, out),
    }
}

/// Runs the kernel of `level`.
fn integers(level: Detected, tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    match level.level() {
        // SAFETY: this processor has the level, which was detected, and the further instructions
        // were too.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe { eight::integers(tokens, out) },
        // SAFETY: as above, and every processor with AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { four::integers(tokens, out) },
        _ => scalar::integers(tokens, out),
    }
}

/// Fills `out` one by one until `parse` returns `None`, and returns the number of values stored.
#[inline(always)]
fn each<T>(out: &mut [T], mut parse: impl FnMut(usize) -> Option<T>) -> usize {
    for (index, slot) in out.iter_mut().enumerate() {
        match parse(index) {
            Some(value) => *slot = value,
            None => return index,
        }
    }
    out.len()
}
