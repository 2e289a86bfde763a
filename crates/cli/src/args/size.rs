//! Sizes in bytes, as people write them: `4096`, `4KiB`, `4K`, `1.5GiB`, `64MB`.
//!
//! A letter alone is a power of 1024, as in dd, split, du and fio.

use swath::Extent;
use thiserror::Error;

/// Units that a number may end with, in bytes.
const UNITS: [(&str, u64); 13] = [
    ("b", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
];

/// Why a word is not a size, and what to write instead.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SizeError {
    /// No digits, or other characters between them.
    #[error("it is not a number of bytes; write it like 4096, 4KiB, 1.5GiB or 64MB")]
    NotANumber,
    /// A sign in front.
    #[error("a size cannot be negative")]
    Negative,
    /// An unknown unit.
    #[error("`{0}` is not a unit; use B, K or KiB, M or MiB, G, T, kB, MB, GB or TB")]
    UnknownUnit(String),
    /// A part of a byte.
    #[error("it is not a whole number of bytes")]
    Fraction,
    /// 2^64 or more.
    #[error("it is too large; the largest size is {}", u64::MAX)]
    TooLarge,
    /// No `..`, or the second offset before the first.
    #[error("an extent is two offsets, the first one first: 1GiB..2GiB, or 1GiB.. to the end")]
    NotAnExtent,
}

/// Parses a size.
///
/// Case does not matter. A fraction is fine as long as the bytes are whole.
///
/// ```
/// use swath_cli::args::size::parse_size;
///
/// assert_eq!(parse_size("1.5KiB"), Ok(1536));
/// assert_eq!(parse_size("64k"), parse_size("64KiB"));
/// ```
///
/// # Errors
///
/// [`SizeError`] says what to write instead.
pub fn parse_size(word: &str) -> Result<u64, SizeError> {
    let word = word.trim();
    if word.starts_with('-') {
        return Err(SizeError::Negative);
    }
    let digits = |sign: char| sign.is_ascii_digit() || sign == '.';
    let (number, unit) = word.split_at(word.find(|sign| !digits(sign)).unwrap_or(word.len()));
    let unit = unit.trim_start();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || fraction.contains('.') {
        return Err(SizeError::NotANumber);
    }
    scale(whole, fraction, unit_of(unit)?)
}

/// Parses a rate: a size, with or without `/s` after it.
///
/// # Errors
///
/// As [`parse_size`].
pub fn parse_rate(word: &str) -> Result<u64, SizeError> {
    parse_size(word.strip_suffix("/s").unwrap_or(word))
}

/// Parses a size that must fit into memory.
///
/// # Errors
///
/// As [`parse_size`].
pub fn parse_memory_size(word: &str) -> Result<usize, SizeError> {
    usize::try_from(parse_size(word)?).map_err(|_| SizeError::TooLarge)
}

/// Parses an extent: two offsets with `..` between them, the second one left out for the end.
///
/// ```
/// use swath::Extent;
/// use swath_cli::args::size::parse_extent;
///
/// assert_eq!(parse_extent("1KiB..2KiB"), Ok(Extent::between(1024, 2048)));
/// assert_eq!(parse_extent("5.."), Ok(Extent::between(5, u64::MAX)));
/// ```
///
/// # Errors
///
/// As [`parse_size`], of either offset; and if the second one is before the first.
pub fn parse_extent(words: &str) -> Result<Extent, SizeError> {
    let (from, to) = words.split_once("..").ok_or(SizeError::NotAnExtent)?;
    let from = parse_size(from)?;
    let to = if to.trim().is_empty() { u64::MAX } else { parse_size(to)? };
    if to < from { Err(SizeError::NotAnExtent) } else { Ok(Extent::between(from, to)) }
}

fn unit_of(unit: &str) -> Result<u64, SizeError> {
    let lower = unit.to_ascii_lowercase();
    if lower.is_empty() {
        return Ok(1);
    }
    let known = UNITS.iter().find(|&&(name, _)| name == lower);
    known.map(|&(_, bytes)| bytes).ok_or_else(|| SizeError::UnknownUnit(unit.to_owned()))
}

/// Multiplies `whole.fraction` with `unit`, exactly.
fn scale(whole: &str, fraction: &str, unit: u64) -> Result<u64, SizeError> {
    let fraction = fraction.trim_end_matches('0');
    let number = |digits: &str| match digits {
        "" => Ok(0),
        digits => digits.parse::<u64>().map_err(|_| SizeError::TooLarge),
    };
    let bytes = number(whole)?.checked_mul(unit).ok_or(SizeError::TooLarge)?;
    // Up to 19 digits always fit, and a twentieth is less than a byte of any unit.
    let places = u32::try_from(fraction.len()).ok().filter(|&places| places <= 19);
    let divisor = 10_u128.pow(places.ok_or(SizeError::Fraction)?);
    let parts = u128::from(number(fraction)?) * u128::from(unit);
    if parts % divisor != 0 {
        return Err(SizeError::Fraction);
    }
    let more = u64::try_from(parts / divisor).map_err(|_| SizeError::TooLarge)?;
    bytes.checked_add(more).ok_or(SizeError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_what_their_units_say() {
        for (word, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4096B", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kib", 4096),
            ("1MiB", 1 << 20),
            ("1.5GiB", 3 << 29),
            ("2TiB", 2 << 40),
            ("64kB", 64_000),
            ("1.250MB", 1_250_000),
            ("3GB", 3_000_000_000),
            ("1TB", 1_000_000_000_000),
            ("0.5KiB", 512),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(word), Ok(bytes), "{word}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_reason() {
        let unknown = |unit: &str| SizeError::UnknownUnit(unit.to_owned());
        for (word, error) in [
            ("", SizeError::NotANumber),
            ("KiB", SizeError::NotANumber),
            (".5KiB", SizeError::NotANumber),
            ("5.", SizeError::NotANumber),
            ("1.2.3", SizeError::NotANumber),
            ("-1", SizeError::Negative),
            ("1.5", SizeError::Fraction),
            ("0.3KiB", SizeError::Fraction),
            ("0.50000000000000000001KiB", SizeError::Fraction),
            ("1PiB", unknown("PiB")),
            ("1e6", unknown("e6")),
            ("18446744073709551616", SizeError::TooLarge),
            ("16777216TiB", SizeError::TooLarge),
            ("18446744073709551615.5KiB", SizeError::TooLarge),
        ] {
            assert_eq!(parse_size(word), Err(error), "{word:?}");
        }
    }

    #[test]
    fn a_letter_alone_is_a_power_of_1024_as_in_other_tools() {
        for (word, bytes) in [
            ("4k", 4 << 10),
            ("4K", 4 << 10),
            ("1M", 1 << 20),
            ("1.5g", 3 << 29),
            ("2 T", 2 << 40),
        ] {
            assert_eq!(parse_size(word), Ok(bytes), "{word}");
        }
        assert_eq!((parse_size("64kiB"), parse_size("64kB")), (Ok(65_536), Ok(64_000)));
        assert_eq!(parse_rate("8M/s"), Ok(8 << 20));
    }

    #[test]
    fn a_rate_is_a_size_a_second() {
        assert_eq!(parse_rate("100MiB/s"), Ok(100 << 20));
        assert_eq!(parse_rate("1000"), Ok(1000));
        assert!(parse_rate("1MiB/h").is_err());
    }
}
