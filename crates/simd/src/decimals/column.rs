//! The fields of a column as numbers: some are empty, and the others may have to be in the usual
//! form of numbers.
//!
//! ```text
//! fields    1.5,,-2,007
//! numbers   1.5 0 -2             007 is refused, unless padding is accepted
//! ```
//!
//! An empty field has the value zero: the caller knows which fields are empty, so no field has to
//! be moved before parsing.

use super::{Tokens, alone};
use crate::level::{Detected, Level, detected};

/// How to treat numbers that begin with a plus, or with a zero before another digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// They are not plain. If whole numbers are wanted, `-0` is not plain either.
    Refused,
    /// They are numbers like any others.
    Taken,
}

/// Parses `tokens` like [`parse_doubles`](crate::parse_doubles), except for empty ones, which are
/// zero, and for `padding`. A token that starts past its end is empty.
///
/// Sets `doubt` if one of the doubles may differ from the number by more than half a unit of its
/// last digit: for all others, the digits of the text are those of the double.
///
/// ```
/// use swath_simd::{Padding, Tokens, column_doubles};
///
/// let tokens = Tokens { text: b"1.5,,007", starts: &[0, 4, 5], ends: &[3, 4, 8] };
/// let (mut numbers, mut doubt) = ([1.0; 3], false);
/// assert_eq!(column_doubles(tokens, Padding::Refused, &mut numbers, &mut doubt), 2);
/// assert_eq!((&numbers[..2], doubt), (&[1.5, 0.0][..], false));
/// ```
pub fn column_doubles(
    tokens: Tokens<'_>,
    padding: Padding,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    doubles_of(detected(), tokens, padding, out, doubt)
}

/// Like [`column_doubles`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
pub fn column_doubles_at(
    level: Level,
    tokens: Tokens<'_>,
    padding: Padding,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    doubles_of(level.detected(), tokens, padding, out, doubt)
}

/// Parses `tokens` like [`parse_integers`](crate::parse_integers), except for empty ones, which are
/// zero, and for `padding`. A token that starts past its end is empty.
pub fn column_integers(tokens: Tokens<'_>, padding: Padding, out: &mut [i64]) -> usize {
    integers_of(detected(), tokens, padding, out)
}

/// Like [`column_integers`], with the kernel of one `level`, to compare levels.
///
/// # Panics
///
/// If `level` is not [available](Level::available).
pub fn column_integers_at(
    level: Level,
    tokens: Tokens<'_>,
    padding: Padding,
    out: &mut [i64],
) -> usize {
    integers_of(level.detected(), tokens, padding, out)
}

/// Runs the kernel of `level`.
fn doubles_of(
    level: Detected,
    tokens: Tokens<'_>,
    padding: Padding,
    out: &mut [f64],
    doubt: &mut bool,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    use super::{eight, four, short::kind};
    let is_strict = padding == Padding::Refused;
    let count = tokens.count().min(out.len());
    match level.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this processor has the level, which was detected, and the further instructions
        // were too.
        Level::Avx512 if eight::available() && is_strict => unsafe {
            eight::column_doubles::<{ kind::COLUMN }>(tokens, out, doubt)
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe {
            eight::column_doubles::<{ kind::PADDED_COLUMN }>(tokens, out, doubt)
        },
        // SAFETY: as above, and every processor with AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 if is_strict => unsafe {
            four::column_doubles::<{ kind::COLUMN }>(tokens, out, doubt)
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe {
            four::column_doubles::<{ kind::PADDED_COLUMN }>(tokens, out, doubt)
        },
        _ => alone::doubles(tokens, 0, is_strict, &mut out[..count], doubt),
    }
}

/// Runs the kernel of `level`.
fn integers_of(
    level: Detected,
    tokens: Tokens<'_>,
    padding: Padding,
    out: &mut [i64],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    use super::{eight, four, short::kind};
    let is_strict = padding == Padding::Refused;
    let count = tokens.count().min(out.len());
    let done = single_digits(tokens, &mut out[..count]);
    let (tokens, out) = (tokens.some(done, count), &mut out[done..count]);
    done + match level.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this processor has the level, which was detected, and the further instructions
        // were too.
        Level::Avx512 if eight::available() && is_strict => unsafe {
            eight::column_integers::<{ kind::COLUMN }>(tokens, out)
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if eight::available() => unsafe {
            eight::column_integers::<{ kind::PADDED_COLUMN }>(tokens, out)
        },
        // SAFETY: as above, and every processor with AVX-512 has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 if is_strict => unsafe {
            four::column_integers::<{ kind::COLUMN }>(tokens, out)
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe {
            four::column_integers::<{ kind::PADDED_COLUMN }>(tokens, out)
        },
        _ => alone::integers(tokens, 0, is_strict, out),
    }
}

/// Parses tokens of one digit, eight at a time, for columns of flags; returns their number.
fn single_digits(tokens: Tokens<'_>, out: &mut [i64]) -> usize {
    const STEP: usize = 8;
    let (slots, _) = out.as_chunks_mut::<STEP>();
    let places = tokens.starts.as_chunks::<STEP>().0.iter().zip(tokens.ends.as_chunks().0);
    let mut done = 0;
    for (slots, (starts, ends)) in slots.iter_mut().zip(places) {
        let ends: &[u32; STEP] = ends;
        let pairs = starts.iter().zip(ends);
        if pairs.fold(false, |odd, (start, end)| odd | (end.wrapping_sub(*start) != 1)) {
            break;
        }
        let mut are_digits = true;
        for (slot, &start) in slots.iter_mut().zip(starts) {
            let byte = tokens.text.get(start as usize).copied().unwrap_or(0);
            let digit = byte.wrapping_sub(b'0');
            are_digits &= digit < 10;
            *slot = i64::from(digit);
        }
        if !are_digits {
            break;
        }
        done += STEP;
    }
    done
}
