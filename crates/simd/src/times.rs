//! Dates and timestamps as text, in the form of ISO 8601, eight bytes at a time.
//!
//! ```text
//! 2024-02-29T23:59:59.250+05:30
//! |------|                       eight bytes: less "0000-00-" all are digits, or zero
//!         ||                     two more
//!            |------|            less "00:00:00"
//!                     |------|   digits of the fraction, up to the byte that ends them
//! ```
//!
//! Only the common form is parsed: four digits for the year, two for all others, `T` or a space,
//! with seconds, a fraction of up to nine digits or none, and no zone, `Z`, or hours and minutes.
//! Other forms are left to the caller.

use crate::decimals::Tokens;
use crate::integers::leading_digits;

/// Days from 0001-01-01 to 1970-01-01.
const EPOCH: i32 = 719_162;
/// Bytes of `YYYY-MM-DDTHH:MM:SS`.
const DATE_AND_TIME: usize = 19;
/// The number of days before each month, and its own, in a year with 365 days.
const MONTHS: [(u16, u8); 12] = [
    (0, 31),
    (31, 28),
    (59, 31),
    (90, 30),
    (120, 31),
    (151, 30),
    (181, 31),
    (212, 31),
    (243, 30),
    (273, 31),
    (304, 30),
    (334, 31),
];

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970, rounded down; in UTC if there is a zone.
    pub seconds: i64,
    /// The remaining nanoseconds.
    pub nanos: u32,
    /// The number of digits of the fraction.
    pub digits: u8,
    /// Whether there is a zone.
    pub is_zoned: bool,
}

/// Parses `tokens` as dates into `out`, in days since 1970, and returns the number of values
/// stored: all of them, or those before the first token that is not `YYYY-MM-DD`, or not a day from
/// 0001-01-01 to 9999-12-31. An empty token, or one that starts past its end, is 0.
///
/// ```
/// use swath_simd::{Tokens, parse_dates};
///
/// let tokens = Tokens { text: b"1970-01-02,2023-02-29", starts: &[0, 11], ends: &[10, 21] };
/// let mut days = [0; 2];
/// assert_eq!(parse_dates(tokens, &mut days), 1);
/// assert_eq!(days[0], 1);
/// ```
pub fn parse_dates(tokens: Tokens<'_>, out: &mut [i32]) -> usize {
    let count = tokens.count().min(out.len());
    for (index, slot) in out[..count].iter_mut().enumerate() {
        if tokens.starts[index] >= tokens.ends[index] {
            *slot = 0;
            continue;
        }
        let token = tokens.get(index).and_then(|token| token.try_into().ok());
        match token.and_then(date) {
            Some(days) => *slot = days,
            None => return index,
        }
    }
    count
}

/// Calls `take` with the moment of each token, and returns the number of tokens taken: all of them,
/// or those before the first that is not in the common form, or for which `take` returns `false`.
/// It skips empty tokens, and those that start past their end.
///
/// A date is a moment too, at midnight.
#[inline]
pub fn parse_moments(tokens: Tokens<'_>, mut take: impl FnMut(usize, Moment) -> bool) -> usize {
    let count = tokens.count();
    for index in 0..count {
        if tokens.starts[index] >= tokens.ends[index] {
            continue;
        }
        let Some((start, end)) = tokens.bounds(index) else { return index };
        match moment(tokens.text, start, end) {
            Some(moment) if take(index, moment) => {}
            _ => return index,
        }
    }
    count
}

/// Parses one date or timestamp, like [`parse_moments`]; `None` for other forms, and if fewer than
/// eight bytes follow the start of a fraction.
///
/// # Panics
///
/// If the offsets are not inside the text, or `start` is past `end`.
#[must_use]
#[inline]
pub fn parse_moment(text: &[u8], start: usize, end: usize) -> Option<Moment> {
    moment(text, start, end)
}

/// Returns the number of two digits, each less `0`, at these bits.
#[inline(always)]
fn two(digits: u64, bit: u32) -> u64 {
    (digits >> bit & 0xff) * 10 + (digits >> (bit + 8) & 0xff)
}

/// Whether the bytes selected by `digits` are digits, each less `0`, and all others are zero.
#[inline(always)]
fn are_digits(bytes: u64, digits: u64) -> bool {
    // A value of ten or more reaches the upper half of its byte if six is added.
    let upper = 0xf0 * (digits & 0x0101_0101_0101_0101);
    let six = 0x06 * (digits & 0x0101_0101_0101_0101);
    bytes & !(digits & !upper) == 0 && (bytes + six) & upper == 0
}

/// Returns the days since 1970 of a date.
#[inline]
fn date(text: &[u8; 10]) -> Option<i32> {
    const FORM: u64 = u64::from_le_bytes(*b"0000-00-");
    const DIGITS: u64 = 0x00ff_ff00_ffff_ffff;
    let (head, tail) = text.split_first_chunk::<8>()?;
    let head = u64::from_le_bytes(*head) ^ FORM;
    let tail = u64::from(u16::from_le_bytes([*tail.first()?, *tail.get(1)?])) ^ 0x3030;
    if !are_digits(head, DIGITS) || !are_digits(tail, 0xffff) {
        return None;
    }
    days(two(head, 0), two(head, 16), two(head, 40), two(tail, 0))
}

/// Returns the days from 1970 to a day, if it exists and is not before year 1. The year is `100 *
/// century + year`.
#[inline]
fn days(century: u64, year: u64, month: u64, day: u64) -> Option<i32> {
    // All of these have two digits.
    let small = |number: u64| i32::try_from(number).unwrap_or(0);
    let (century, year, day) = (small(century), small(year), small(day));
    let &(before, len) = MONTHS.get(usize::try_from(month).ok()?.wrapping_sub(1))?;
    let is_leap = if year == 0 { century % 4 == 0 } else { year % 4 == 0 };
    let len = i32::from(len) + i32::from(is_leap && month == 2);
    if day == 0 || day > len || century | year == 0 {
        return None;
    }
    let past = 100 * century + year - 1;
    let centuries = century - i32::from(year == 0);
    let before = i32::from(before) + i32::from(is_leap && month > 2);
    Some(365 * past + past / 4 - centuries + centuries / 4 + before + day - 1 - EPOCH)
}

/// Returns the seconds of `HH:MM:SS`.
#[inline]
fn clock(text: &[u8; 8]) -> Option<i64> {
    const FORM: u64 = u64::from_le_bytes(*b"00:00:00");
    const DIGITS: u64 = 0xffff_00ff_ff00_ffff;
    let bytes = u64::from_le_bytes(*text) ^ FORM;
    if !are_digits(bytes, DIGITS) {
        return None;
    }
    let (hours, minutes, seconds) = (two(bytes, 0), two(bytes, 24), two(bytes, 48));
    let is_time = hours < 24 && minutes < 60 && seconds < 60;
    is_time.then(|| (hours * 3600 + minutes * 60 + seconds).cast_signed())
}

/// Returns the moment between two offsets of a text.
#[inline]
fn moment(text: &[u8], start: usize, end: usize) -> Option<Moment> {
    let token = &text[start..end];
    let (day, rest) = token.split_first_chunk::<10>()?;
    let mut seconds = i64::from(date(day)?) * 86_400;
    let Some((&between, rest)) = rest.split_first() else {
        return Some(Moment { seconds, nanos: 0, digits: 0, is_zoned: false });
    };
    let (time, rest) = rest.split_first_chunk::<8>()?;
    seconds += clock(time)?;
    if between != b'T' && between != b' ' {
        return None;
    }
    let (rest, east) = without_zone(rest);
    seconds -= east.unwrap_or(0);
    let (nanos, digits) = match rest {
        [] => (0, 0),
        [b'.', digits @ ..] => fraction(text, start + DATE_AND_TIME + 1, digits.len())?,
        _ => return None,
    };
    Some(Moment { seconds, nanos, digits, is_zoned: east.is_some() })
}

/// Removes a zone, and returns its seconds east of Greenwich.
#[inline]
fn without_zone(text: &[u8]) -> (&[u8], Option<i64>) {
    match text.split_last() {
        None => (text, None),
        Some((b'Z', before)) => (before, Some(0)),
        // Probably part of the fraction: there is no sign six bytes before the end.
        Some(_) => match text.split_last_chunk::<6>() {
            Some((before, zone @ [b'+' | b'-', ..])) => match offset(zone) {
                Some(east) => (before, Some(east)),
                None => (text, None),
            },
            _ => (text, None),
        },
    }
}

/// Returns the seconds of `±HH:MM`.
#[inline]
fn offset(zone: &[u8; 6]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = *zone else { return None };
    let east = clock(&[h1, h2, b':', m1, m2, b':', b'0', b'0'])?;
    match sign {
        b'+' => Some(east),
        b'-' => Some(-east),
        _ => None,
    }
}

/// Returns the nanoseconds of a fraction of one to nine digits, which begins at `at`, and the
/// number of its digits.
#[inline]
fn fraction(text: &[u8], at: usize, len: usize) -> Option<(u32, u8)> {
    const TENS: [u64; 10] =
        [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1];
    let word = text.get(at..)?.first_chunk::<8>()?;
    let (count, mut value) = leading_digits(u64::from_le_bytes(*word));
    if len == 9 && count == 8 {
        let last = text.get(at + 8)?.wrapping_sub(b'0');
        (last <= 9).then_some(())?;
        value = value * 10 + u64::from(last);
    } else if len == 0 || len != count {
        return None;
    }
    let nanos = value * TENS[len];
    Some((u32::try_from(nanos).ok()?, u8::try_from(len).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<i32> {
        let ends = [u32::try_from(text.len()).expect("short")];
        let mut out = [0];
        let tokens = Tokens { text: text.as_bytes(), starts: &[0], ends: &ends };
        (parse_dates(tokens, &mut out) == 1).then_some(out[0])
    }

    fn at(text: &str) -> Option<Moment> {
        let padded = format!("{text},next field");
        let ends = [u32::try_from(text.len()).expect("short")];
        let mut found = None;
        let tokens = Tokens { text: padded.as_bytes(), starts: &[0], ends: &ends };
        parse_moments(tokens, |_, moment| {
            found = Some(moment);
            true
        });
        found
    }

    #[test]
    fn every_day_of_ten_thousand_years_has_its_number() {
        let mut wanted = -EPOCH;
        for year in 0..10_000 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for month in 0..14 {
                let days = match month {
                    2 if is_leap => 29,
                    2 => 28,
                    4 | 6 | 9 | 11 => 30,
                    1..=12 => 31,
                    _ => 0,
                };
                for number in 0..33 {
                    let found = day(&format!("{year:04}-{month:02}-{number:02}"));
                    if year > 0 && (1..=days).contains(&number) {
                        assert_eq!(found, Some(wanted), "{year}-{month}-{number}");
                        wanted += 1;
                    } else {
                        assert_eq!(found, None, "{year}-{month}-{number}");
                    }
                }
            }
        }
        assert_eq!(wanted, 2_932_897);
    }

    #[test]
    fn every_other_byte_in_a_date_or_time_is_refused() {
        let text = "2024-02-29T23:59:59.123456789";
        assert!(at(text).is_some());
        for place in 0..text.len() {
            for byte in 0..=127_u8 {
                let mut bytes = text.as_bytes().to_vec();
                bytes[place] = byte;
                let changed = String::from_utf8(bytes).expect("ASCII");
                let is_digit = text.as_bytes()[place].is_ascii_digit();
                let may_be = if is_digit { byte.is_ascii_digit() } else { false };
                let is_same = byte == text.as_bytes()[place] || (place == 10 && byte == b' ');
                if is_same {
                    assert!(at(&changed).is_some(), "{changed}");
                } else if !may_be {
                    // The last byte may also be a zone.
                    let is_zone = place == text.len() - 1 && byte == b'Z';
                    assert!(at(&changed).is_none() || is_zone, "{changed}");
                }
            }
        }
    }

    #[test]
    fn moments_have_their_fraction_and_their_zone() {
        let moment = |seconds, nanos, digits, is_zoned| {
            Some(Moment { seconds, nanos, digits, is_zoned })
        };
        for (text, wanted) in [
            ("1970-01-02", moment(86_400, 0, 0, false)),
            ("1970-01-01T00:00:01", moment(1, 0, 0, false)),
            ("1970-01-01 00:00:01Z", moment(1, 0, 0, true)),
            ("1970-01-01 00:00:01.5", moment(1, 500_000_000, 1, false)),
            ("1970-01-01 00:00:01.000000001Z", moment(1, 1, 9, true)),
            ("1970-01-01 00:00:01.12345678Z", moment(1, 123_456_780, 8, true)),
            ("1970-01-01 00:00:01+00:30", moment(-1799, 0, 0, true)),
            ("1970-01-01 00:00:01.25-23:59", moment(86_341, 250_000_000, 2, true)),
            ("1969-12-31T23:59:59.999999", moment(-1, 999_999_000, 6, false)),
            ("9999-12-31T23:59:59", moment(253_402_300_799, 0, 0, false)),
            ("1970-01-01T24:00:00", None),
            ("1970-01-01T00:60:00", None),
            ("1970-01-01T00:00:60", None),
            ("1970-01-01T00:00:00.", None),
            ("1970-01-01T00:00:00.Z", None),
            ("1970-01-01T00:00:00.1234567890", None),
            ("1970-01-01T00:00:00.12345678x", None),
            ("1970-01-01T00:00:00+24:00", None),
            ("1970-01-01T00:00:00+00:60", None),
            ("1970-01-01T00:00:00ZZ", None),
            ("1970-01-01T00:00:00,5", None),
            ("1970-01-01T", None),
            ("", None),
        ] {
            assert_eq!(at(text), wanted, "{text}");
        }
    }
}
