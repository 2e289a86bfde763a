//! Pairs of small integers, line after line: the body of an edge list.
//!
//! ```text
//! bytes   1 12\n3 456\n…        64 at a time: masks of digits, blanks and newlines
//! ends    1,4,6,10,…            their separators, compressed to a list
//! tokens  8 at a time           the eight bytes before each end, those before the token cleared
//! numbers 1,12,3,456,…          multiplied and added in pairs
//! ```
//!
//! Only lines in the plain form are parsed: digits, one blank or tab, digits, newline. [`pairs`]
//! stops at the first other line, or one whose numbers are out of bounds, and returns its start.
//! The caller handles that line, and continues after it. So nothing is skipped or guessed, and
//! every parsed byte has been checked.

use crate::integers::leading_digits;
use crate::level::{Detected, Level, detected};

/// The allowed range of the first and the second number of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest number; it is stored as 0.
    pub least: u32,
    /// The largest first number after the subtraction of `least`.
    pub last_first: u32,
    /// The largest second number after the subtraction of `least`.
    pub last_second: u32,
}

impl Bounds {
    /// Returns the bounds for 32-bit numbers from which `least` is subtracted with wrap-around: a
    /// number below `least` is then out of bounds.
    fn in_lanes(self) -> Self {
        let last = u32::MAX - self.least;
        let (last_first, last_second) = (self.last_first.min(last), self.last_second.min(last));
        Self { last_first, last_second, ..self }
    }
}

/// The progress of [`pairs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The start of the first line that was not parsed.
    pub end: usize,
    /// The number of lines parsed, and thus of numbers in each result.
    pub lines: usize,
}

/// Parses lines of two numbers from `bytes`, starting at `start`, as long as they are in the plain
/// form, in bounds, and have room in `firsts` and `seconds`.
///
/// It may stop earlier, at any line: the wide kernels do so if less than a few vectors remain, and
/// near the beginning of `bytes`.
///
/// ```
/// use swath_simd::{Bounds, Taken, pairs_at, Level};
///
/// let bounds = Bounds { least: 1, last_first: 99, last_second: 99 };
/// let (mut rows, mut columns) = ([0; 4], [0; 4]);
/// let taken = pairs_at(Level::Portable, b"1 2\n30 40\n5,6\n", 0, bounds, &mut rows, &mut columns);
/// assert_eq!(taken, Taken { end: 10, lines: 2 });
/// assert_eq!((rows, columns), ([0, 29, 0, 0], [1, 39, 0, 0]));
/// ```
///
/// # Panics
///
/// If `start` is past the end of `bytes`.
pub fn pairs(
    bytes: &[u8],
    start: usize,
    bounds: Bounds,
    firsts: &mut [u32],
    seconds: &mut [u32],
) -> Taken {
    dispatch(detected(), bytes, start, bounds, firsts, seconds)
}

/// Like [`pairs`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available), and as [`pairs`].
pub fn pairs_at(
    level: Level,
    bytes: &[u8],
    start: usize,
    bounds: Bounds,
    firsts: &mut [u32],
    seconds: &mut [u32],
) -> Taken {
    dispatch(level.detected(), bytes, start, bounds, firsts, seconds)
}

/// Runs the kernel of `level`.
fn dispatch(
    level: Detected,
    bytes: &[u8],
    start: usize,
    bounds: Bounds,
    firsts: &mut [u32],
    seconds: &mut [u32],
) -> Taken {
    assert!(start <= bytes.len(), "{start} of {}", bytes.len());
    let room = firsts.len().min(seconds.len());
    let (firsts, seconds) = (&mut firsts[..room], &mut seconds[..room]);
    let mut lines = TokenLines { bytes, bounds, lanes: bounds.in_lanes(), firsts, seconds };
    let start = Taken { end: start, lines: 0 };
    match level.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::available() => {
            // SAFETY: the line above checked the processor.
            unsafe { avx512::pairs(&mut lines, start) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => {
            // SAFETY: this processor has the level, which was detected, and every processor with
            // AVX-512 has AVX2.
            unsafe { avx2::pairs(&mut lines, start) }
        }
        _ => lines.portable(start),
    }
}

/// The state shared by all kernels. Both results have the same length.
struct TokenLines<'a> {
    bytes: &'a [u8],
    bounds: Bounds,
    /// The bounds for kernels that subtract with wrap-around.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no such kernel"))]
    lanes: Bounds,
    firsts: &'a mut [u32],
    seconds: &'a mut [u32],
}

impl TokenLines<'_> {
    /// Returns the room for eight lines starting at `line`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn room(&mut self, line: usize) -> Option<(&mut [u32; 8], &mut [u32; 8])> {
        let firsts = self.firsts.get_mut(line..)?.first_chunk_mut()?;
        Some((firsts, self.seconds.get_mut(line..)?.first_chunk_mut()?))
    }

    /// Parses eight lines that begin at `at`, into the results starting at `line`: for numbers that
    /// do not fit a lane. Returns whether all of them were parsed.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    fn eight(&mut self, mut at: usize, line: usize) -> bool {
        for index in line..line + 8 {
            let Some((end, first, second)) = self.line(at) else { return false };
            let (Some(firsts), Some(seconds)) =
                (self.firsts.get_mut(index), self.seconds.get_mut(index))
            else {
                return false;
            };
            (*firsts, *seconds, at) = (first, second, end);
        }
        true
    }

    /// Works tile by tile: `list` finds the ends of tokens starting at a position, `convert` makes
    /// eight lines of sixteen tokens.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn by_tiles(
        &mut self,
        mut taken: Taken,
        list: impl Fn(&[u8], usize, &mut TokenEnds),
        convert: impl Fn(&mut Self, Part<'_>) -> bool,
    ) -> Taken {
        let mut ends = TokenEnds::EMPTY;
        // The eight bytes before the end of the first token start before it.
        while taken.end >= 8 {
            list(self.bytes, taken.end, &mut ends);
            let (at, before) = (taken.end - 1, taken.lines);
            for token in (0..ends.count / TOKENS * TOKENS).step_by(TOKENS) {
                if !convert(self, Part { at, ends: &ends, token, line: taken.lines }) {
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

    /// Parses line by line, eight bytes at a time.
    fn portable(&mut self, mut taken: Taken) -> Taken {
        while taken.lines < self.firsts.len() {
            let Some((end, first, second)) = self.line(taken.end) else { break };
            (self.firsts[taken.lines], self.seconds[taken.lines]) = (first, second);
            taken = Taken { end, lines: taken.lines + 1 };
        }
        taken
    }

    /// Parses the line that begins at `at`: returns the start of the next one, and its numbers.
    #[inline(always)]
    fn line(&self, at: usize) -> Option<(usize, u32, u32)> {
        let (at, first) = number(self.bytes, at)?;
        let blank = *self.bytes.get(at)?;
        if blank != b' ' && blank != b'\t' {
            return None;
        }
        let (at, second) = number(self.bytes, at + 1)?;
        if *self.bytes.get(at)? != b'\n' {
            return None;
        }
        let Bounds { least, last_first, last_second } = self.bounds;
        let first = below(first, least, last_first)?;
        Some((at + 1, first, below(second, least, last_second)?))
    }
}

/// Subtracts `least`, if the result is at most `last`.
#[inline(always)]
fn below(number: u64, least: u32, last: u32) -> Option<u32> {
    let left = u32::try_from(number.checked_sub(u64::from(least))?).ok()?;
    (left <= last).then_some(left)
}

/// Returns the end and the value of the digits starting at `at`, at most sixteen.
#[inline(always)]
fn number(bytes: &[u8], at: usize) -> Option<(usize, u64)> {
    let (count, value) = leading_digits(word(bytes, at)?);
    match count {
        0 => None,
        1..8 => Some((at + count, value)),
        _ => {
            let (more, low) = leading_digits(word(bytes, at + 8)?);
            const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
            let power = POWERS.get(more)?;
            Some((at + 8 + more, value * power + low))
        }
    }
}

/// Returns eight bytes; `None` past the end, zeros after the last byte.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let rest = bytes.get(at..)?;
    if let Some((word, _)) = rest.split_first_chunk() {
        return Some(u64::from_le_bytes(*word));
    }
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    Some(u64::from_le_bytes(word))
}

/// The number of bytes whose token ends are listed at a time: the list fits the first-level cache.
#[cfg(target_arch = "x86_64")]
const TILE: usize = 8 << 10;

/// The number of tokens that are converted at a time, thus eight lines.
#[cfg(target_arch = "x86_64")]
const TOKENS: usize = 16;

/// The ends of tokens, in bytes from the one before the first line of the tile; preceded by a 0,
/// the end of the previous token.
#[cfg(target_arch = "x86_64")]
struct TokenEnds {
    /// A vector of 64 bytes contains at most 32 tokens with their separators, and a kernel may
    /// write this many after the last.
    list: [u16; TILE / 2 + 65],
    count: usize,
}

/// Sixteen tokens starting at number `token`, in a list that counts from `at`, for the eight lines
/// starting at `line`.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Part<'e> {
    at: usize,
    ends: &'e TokenEnds,
    token: usize,
    line: usize,
}

#[cfg(target_arch = "x86_64")]
impl TokenEnds {
    const EMPTY: Self = Self { list: [0; TILE / 2 + 65], count: 0 };

    /// Returns the list starting at the end before token `index`.
    #[inline(always)]
    fn around<const N: usize>(&self, index: usize) -> &[u16; N] {
        self.list[index..].first_chunk().expect("the list has room after the last token")
    }

    /// Returns the ends of the next `N` tokens, not yet counted.
    #[inline(always)]
    fn next<const N: usize>(&mut self) -> &mut [u16; N] {
        let next = self.list[self.count + 1..].first_chunk_mut();
        next.expect("a tile has no more tokens")
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
