//! Decimal text to numbers, many tokens at once.
//!
//! ```text
//! text      -12.5,3,0.0625\n              tokens end at bytes 5, 7 and 14
//! window    ············-12.5             the last bytes of each, so digits line up at the right
//! digits    0000000000000125              sign and point taken out: 16 or 32 of them
//! number    pairs, fours, eights          multiplied and added in all lanes
//! ```
//!
//! Eight tokens of at most 16 bytes, or of at most 32 (AVX-512); four of at most 16, or one of at
//! most 32 (AVX2). The rest goes byte by byte, eight where all are digits. What has more than nineteen digits, or is no
//! plain number, is left to the caller, who hears at which token that is.
//!
//! The point is taken out after Lemire's observation that only digits left of it have to move, all
//! by one; multiplying and adding pairs is from Muła, *SIMD-ized parsing of numbers* (2014).

#[cfg(target_arch = "x86_64")]
mod eight;
#[cfg(target_arch = "x86_64")]
mod four;
#[cfg(target_arch = "x86_64")]
mod long;
mod nearest;
mod powers;
pub(crate) mod scalar;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::level::{Detected, Level, detected};
pub use nearest::nearest_double;
pub use scalar::{Decimal, append_digits, decimal};

/// Tokens of a text: the bytes from `starts[i]` up to `ends[i]`.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'t> {
    /// What they are part of.
    pub text: &'t [u8],
    /// Their first bytes.
    pub starts: &'t [u32],
    /// The bytes behind their last ones.
    pub ends: &'t [u32],
}

impl<'t> Tokens<'t> {
    /// How many can be looked at.
    #[inline]
    fn count(&self) -> usize {
        self.starts.len().min(self.ends.len())
    }

    /// Where one begins and ends; `None` unless that is inside the text.
    #[inline]
    fn bounds(&self, index: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.starts[index] as usize, self.ends[index] as usize);
        (start <= end && end <= self.text.len()).then_some((start, end))
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&'t [u8]> {
        let (start, end) = self.bounds(index)?;
        Some(&self.text[start..end])
    }
}

/// Puts the numbers that `tokens` are into `out`, correctly rounded, and returns how many: all of
/// them, or those before the first one that is not plain.
///
/// Plain are a sign, up to nineteen digits without the zeros before them, a point among, before or
/// behind these, and an exponent, unless the number is infinite or smaller than normal doubles.
/// Behind the returned count `out` may hold anything.
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

/// As [`parse_doubles`], by the kernel of one `level`, to compare them.
///
/// # Panics
///
/// Where `level` is not [available](Level::available).
pub fn parse_doubles_at(level: Level, tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    doubles(level.detected(), tokens, out)
}

/// Puts the integers that `tokens` are into `out` and returns how many: all of them, or those
/// before the first one that is not a sign and up to nineteen digits, or not an [`i64`].
///
/// Behind the returned count `out` may hold anything.
pub fn parse_integers(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    integers(detected(), tokens, out)
}

/// As [`parse_integers`], by the kernel of one `level`, to compare them.
///
/// # Panics
///
/// Where `level` is not [available](Level::available).
pub fn parse_integers_at(level: Level, tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    integers(level.detected(), tokens, out)
}

/// Runs the kernel of `level`.
fn doubles(level: Detected, tokens: Tokens<'_>, out: &mut [f64]) -> usize {
    match level.level() {
        // SAFETY: this processor has the level, which was detected, and the rest was.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe { eight::doubles(tokens, out) },
        // SAFETY: as above, and whatever has AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { four::doubles(tokens, out) },
        _ => scalar::doubles(tokens, out),
    }
}

/// Runs the kernel of `level`.
fn integers(level: Detected, tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    match level.level() {
        // SAFETY: this processor has the level, which was detected, and the rest was.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe { eight::integers(tokens, out) },
        // SAFETY: as above, and whatever has AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { four::integers(tokens, out) },
        _ => scalar::integers(tokens, out),
    }
}

/// Fills `out` one by one until `parse` has none, and returns how many it had.
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
