//! Dates and timestamps in the usual form, ISO 8601.
//!
//! ```text
//! 2024-02-29                            a date
//! 2024-02-29T23:59:59.123456789+05:30   a timestamp: `T` or one space; seconds and a fraction of
//! 2024-02-29 23:59Z                     one to nine digits are optional; `Z`, ±HH, ±HHMM, ±HH:MM
//! ```
//!
//! Years are 0001 to 9999. The calendar of `chrono`, on which Arrow's arrays depend too,
//! decides whether a day exists. There is no 24:00 and no leap second: Arrow has none.

use arrow_schema::TimeUnit;
use chrono::{Datelike, NaiveDate};
use swath_simd::Moment;

use super::field::TextField;
use super::misfit::Misfit;

/// Days from the first day of year 1, as day 1, to 1970.
const EPOCH: i32 = 719_163;

/// Seconds of the years 1 to 9999.
const YEARS: std::ops::Range<i64> = -719_162 * 86_400..2_932_897 * 86_400;

/// Whether a moment is in the years 1 to 9999 in UTC too; its offset may move it out.
#[inline]
pub(super) fn is_in_years(moment: Moment) -> bool {
    YEARS.contains(&moment.seconds)
}

/// Returns the midnight at which a day begins.
pub(super) fn midnight(days: i32) -> Moment {
    let seconds = i64::from(days) * 86_400;
    Moment { seconds, nanos: 0, digits: 0, is_zoned: false }
}

/// Returns the day of a moment at midnight.
pub(super) fn day(moment: Moment) -> Option<i32> {
    let is_midnight = moment.seconds % 86_400 == 0 && moment.nanos == 0;
    is_midnight.then(|| i32::try_from(moment.seconds / 86_400).ok())?
}

/// Returns the value of a moment in a unit, if the unit holds it exactly.
#[inline]
pub(super) fn exactly(moment: Moment, unit: TimeUnit) -> Result<i64, Misfit> {
    if !is_in_years(moment) {
        return Err(Misfit::Range);
    }
    let (per_second, nanos) = match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1000),
        TimeUnit::Nanosecond => return nanoseconds(moment),
    };
    if !moment.nanos.is_multiple_of(nanos) {
        return Err(Misfit::Inexact);
    }
    let seconds = moment.seconds.checked_mul(per_second).ok_or(Misfit::Range)?;
    seconds.checked_add(i64::from(moment.nanos / nanos)).ok_or(Misfit::Range)
}

/// Returns nanoseconds, for 1677 to 2262. The whole seconds alone may be out of range. The
/// least number is not a time: numpy and pandas read it as a missing value.
#[inline]
fn nanoseconds(moment: Moment) -> Result<i64, Misfit> {
    let value = i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanos);
    i64::try_from(value).ok().filter(|&value| value != i64::MIN).ok_or(Misfit::Range)
}

/// Parses a timestamp, or a date as its midnight.
pub(super) fn date_or_moment(token: &[u8]) -> Option<Moment> {
    match date(token) {
        Some(days) => Some(midnight(days)),
        None => moment(token),
    }
}

/// Parses a date.
pub(super) fn date(text: &[u8]) -> Option<i32> {
    let [year @ .., b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year = i32::try_from(number::<4>(year)?).ok()?;
    let (month, day) = (number::<2>(&[*m1, *m2])?, number::<2>(&[*d1, *d2])?);
    (year > 0).then_some(())?;
    Some(days(NaiveDate::from_ymd_opt(year, month, day)?))
}

/// Returns the days since 1970.
pub(super) fn days(date: NaiveDate) -> i32 {
    date.num_days_from_ce() - EPOCH
}

/// Whether a timestamp has a zone, even one that no type holds; `None` if the field is not one.
pub(in crate::table) fn has_zone(field: TextField<'_>) -> Option<bool> {
    moment(field.trimmed()).map(|moment| moment.is_zoned)
}

/// Parses a timestamp: a date, a time, and possibly a zone.
pub(super) fn moment(text: &[u8]) -> Option<Moment> {
    let (day, rest) = text.split_first_chunk::<10>()?;
    let days = date(day)?;
    let rest = rest.strip_prefix(b"T").or(rest.strip_prefix(b" "))?;
    let (clock, rest) = rest.split_first_chunk::<5>()?;
    let minutes = hour_and_minute(clock)?;
    let (mut seconds, mut nanos, mut digits, mut rest) = (0, 0, 0, rest);
    if let Some((text, after)) = rest.split_first_chunk::<3>().filter(|_| rest[0] == b':') {
        seconds = number::<2>(&text[1..]).filter(|&seconds| seconds < 60)?;
        rest = after;
        if let Some(fraction) = after.strip_prefix(b".") {
            (nanos, digits) = parse_fraction(fraction)?;
            rest = &fraction[usize::from(digits)..];
        }
    }
    let offset = if rest.is_empty() { None } else { Some(zone(rest)?) };
    let minutes = i64::from(minutes) - i64::from(offset.unwrap_or(0));
    let seconds = i64::from(days) * 86_400 + minutes * 60 + i64::from(seconds);
    Some(Moment { seconds, nanos, digits, is_zoned: offset.is_some() })
}

/// Parses `HH:MM` to minutes.
fn hour_and_minute(text: &[u8; 5]) -> Option<u32> {
    let [h1, h2, b':', m1, m2] = *text else { return None };
    let hours = number::<2>(&[h1, h2]).filter(|&hours| hours < 24)?;
    let minutes = number::<2>(&[m1, m2]).filter(|&minutes| minutes < 60)?;
    Some(hours * 60 + minutes)
}

/// Parses one to nine digits to nanoseconds; also returns their number.
fn parse_fraction(text: &[u8]) -> Option<(u32, u8)> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let (mut nanos, mut count) = (0_u32, 0_u8);
    for &digit in digits {
        (count < 9).then_some(())?;
        nanos = nanos * 10 + u32::from(digit - b'0');
        count += 1;
    }
    (count > 0).then(|| (nanos * 10_u32.pow(9 - u32::from(count)), count))
}

/// Parses a zone to minutes east of Greenwich.
fn zone(text: &[u8]) -> Option<i32> {
    let minutes = |h1, h2, m1, m2| hour_and_minute(&[h1, h2, b':', m1, m2])?.try_into().ok();
    let (sign, east) = match *text {
        [b'Z'] => return Some(0),
        [sign, h1, h2] => (sign, minutes(h1, h2, b'0', b'0')?),
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => {
            (sign, minutes(h1, h2, m1, m2)?)
        }
        _ => return None,
    };
    match sign {
        b'+' => Some(east),
        b'-' => Some(-east),
        _ => None,
    }
}

/// Parses exactly `N` digits.
fn number<const N: usize>(text: &[u8]) -> Option<u32> {
    let digits: &[u8; N] = text.try_into().ok()?;
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    Some(digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, unit: TimeUnit) -> Option<i64> {
        exactly(moment(text.as_bytes())?, unit).ok()
    }

    #[test]
    fn days_that_exist_are_dates() {
        for (text, wanted) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("0001-01-01", Some(-719_162)),
            ("9999-12-31", Some(2_932_896)),
            ("2000-02-29", Some(11_016)),
            ("2024-02-29", Some(19_782)),
            ("1900-02-29", None),
            ("2023-02-29", None),
            ("2023-04-31", None),
            ("2023-13-01", None),
            ("2023-00-01", None),
            ("2023-01-00", None),
            ("2023-01-32", None),
            ("0000-01-01", None),
            ("10000-01-01", None),
            ("-001-01-01", None),
            ("+001-01-01", None),
            ("2023-1-01", None),
            ("2023-01-1", None),
            ("2023/01/01", None),
            ("20230101", None),
            ("2023-01-01 ", None),
            ("", None),
        ] {
            assert_eq!(date(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn timestamps_have_a_date_a_time_and_perhaps_a_zone() {
        use TimeUnit::Second;
        for (text, wanted) in [
            ("1970-01-01T00:00", Some(0)),
            ("1970-01-01 00:01", Some(60)),
            ("1970-01-02T03:04:05", Some(97_445)),
            ("1969-12-31 23:59:59", Some(-1)),
            ("1970-01-01T00:00:00.000", Some(0)),
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00Z", Some(0)),
            ("1970-01-01T00:00+01", Some(-3600)),
            ("1970-01-01T00:00:00-0130", Some(5400)),
            ("1970-01-01T00:00:00.0+23:59", Some(-86_340)),
            ("1970-01-01T00:00:00-23:59", Some(86_340)),
            ("1970-01-01T00:00-00:00", Some(0)),
            ("1970-01-01", None),
            ("1970-01-01T", None),
            ("1970-01-01T00", None),
            ("1970-01-01T00:0", None),
            ("1970-01-01  00:00", None),
            ("1970-01-01t00:00", None),
            ("1970-01-01T24:00", None),
            ("1970-01-01T00:60", None),
            ("1970-01-01T23:59:60", None),
            ("1970-01-01T00:00:", None),
            ("1970-01-01T00:00:0", None),
            ("1970-01-01T00:00:00.", None),
            ("1970-01-01T00:00:00,5", None),
            ("1970-01-01T00:00.5", None),
            ("1970-01-01T00:00:00.0000000000", None),
            ("1970-01-01T00:00:00z", None),
            ("1970-01-01T00:00:00 Z", None),
            ("1970-01-01T00:00:00+24:00", None),
            ("1970-01-01T00:00:00+01:60", None),
            ("1970-01-01T00:00:00+1", None),
            ("1970-01-01T00:00:00+010", None),
            ("1970-01-01T00:00:00+01:0", None),
            ("1970-01-01T00:00:00+01:00Z", None),
            ("1970-01-01T00:00:00 01:00", None),
            ("1970-02-30T00:00", None),
            ("0000-01-01T00:00", None),
        ] {
            assert_eq!(at(text, Second), wanted, "{text}");
        }
    }

    #[test]
    fn an_offset_does_not_move_a_moment_out_of_the_years() {
        for (text, wanted) in [
            ("0001-01-01T00:00Z", Some(-719_162 * 86_400)),
            ("0001-01-01T01:00+01", Some(-719_162 * 86_400)),
            ("0001-01-01T00:59:59+01", None),
            ("9999-12-31T23:59:59Z", Some(2_932_897 * 86_400 - 1)),
            ("9999-12-31T22:59:59-01", Some(2_932_897 * 86_400 - 1)),
            ("9999-12-31T23:00-01", None),
        ] {
            assert_eq!(at(text, TimeUnit::Second), wanted, "{text}");
        }
    }

    #[test]
    fn a_unit_holds_a_value_exactly_or_not_at_all() {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        let text = "1969-12-31T23:59:59.9";
        assert_eq!(at(text, Second), None);
        assert_eq!(at(text, Millisecond), Some(-100));
        assert_eq!(at("1970-01-01T00:00:00.123456", Microsecond), Some(123_456));
        assert_eq!(at("1970-01-01T00:00:00.1234567", Microsecond), None);
        assert_eq!(at("1970-01-01T00:00:00.123456000", Microsecond), Some(123_456));
        assert_eq!(at("1677-09-21T00:12:43.145224193", Nanosecond), Some(-i64::MAX));
        // numpy reads it as a missing value.
        assert_eq!(at("1677-09-21T00:12:43.145224192", Nanosecond), None);
        assert_eq!(at("2262-04-11T23:47:16.854775807", Nanosecond), Some(i64::MAX));
        assert_eq!(at("2262-04-11T23:47:16.854775808", Nanosecond), None);
        assert_eq!(
            at("9999-12-31T23:59:59.999999", Microsecond),
            Some(253_402_300_799_999_999)
        );
        let moment = moment(b"2000-01-01 00:00:00.1200000Z").expect("one");
        assert_eq!((moment.nanos, moment.digits, moment.is_zoned), (120_000_000, 7, true));
    }
}
