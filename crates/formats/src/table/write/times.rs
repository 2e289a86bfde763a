//! Dates and times of day as text, ISO 8601.
//!
//! ```text
//! date        2024-02-29                     0001-01-01 to 9999-12-31
//! timestamp   2024-02-29T23:59:59.000001Z    the decimals of the unit; Z if in UTC
//! time        23:59:59.001
//! ```
//!
//! The arithmetic of the calendar's 400-year cycle turns days into years. Years start on March 1st,
//! so that a leap day is the last day of its year. Source: Howard Hinnant, *chrono-compatible
//! low-level date algorithms*.

use swath_simd::digits::{ASCII, eight};

use crate::number::format::room::NumberRoom;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// The first and the last day with a year of four digits: 0001-01-01 and 9999-12-31.
const FIRST: i64 = -719_162;
const LAST: i64 = 2_932_896;

/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let (mut index, mut tens, mut ones) = (0, b'0', b'0');
    while index < 100 {
        pairs[index] = [tens, ones];
        if ones == b'9' {
            ones = b'0';
            tens += 1;
        } else {
            ones += 1;
        }
        index += 1;
    }
    pairs
};

/// `-MM-DD` of each day of a year that begins on March 1st.
const DAYS: [[u8; 6]; 366] = {
    const MONTHS: [(usize, usize); 12] = [
        (3, 31),
        (4, 30),
        (5, 31),
        (6, 30),
        (7, 31),
        (8, 31),
        (9, 30),
        (10, 31),
        (11, 30),
        (12, 31),
        (1, 31),
        (2, 29),
    ];
    let mut days = [[b'-'; 6]; 366];
    let (mut index, mut month) = (0, 0);
    while month < 12 {
        let (number, len) = MONTHS[month];
        let mut day = 1;
        while day <= len {
            let (m, d) = (PAIRS[number], PAIRS[day]);
            days[index] = [b'-', m[0], m[1], b'-', d[0], d[1]];
            index += 1;
            day += 1;
        }
        month += 1;
    }
    days
};

/// Puts a date, in days since 1970; returns its length, or 0 if its year does not have four digits.
#[inline(always)]
pub(super) fn put_date(room: &mut NumberRoom, days: i64) -> usize {
    match date(days) {
        Some(text) => {
            room[..10].copy_from_slice(&text);
            10
        }
        None => 0,
    }
}

/// Returns the text of a date.
#[inline(always)]
fn date(days: i64) -> Option<[u8; 10]> {
    if !(FIRST..=LAST).contains(&days) {
        return None;
    }
    // Positive: the range was checked.
    let days = u32::try_from(days + EPOCH).ok()?;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // January and February belong to the next year.
    let year = 400 * cycle + year + u32::from(day >= 306);
    let ([a, b], [c, d]) = (pair(year / 100), pair(year % 100));
    let [e, f, g, h, i, j] = DAYS[day as usize];
    Some([a, b, c, d, e, f, g, h, i, j])
}

#[inline(always)]
fn pair(number: u32) -> [u8; 2] {
    PAIRS[number as usize]
}

/// A timestamp's unit and zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Decimals of a second: 0, 3, 6 or 9.
    pub(super) decimals: usize,
    /// Whether the instant is in UTC.
    pub(super) is_zoned: bool,
}

impl Clock {
    /// Puts a timestamp, in `PER_SECOND`ths since 1970; returns its length, or 0 if its year does
    /// not have four digits.
    #[inline(always)]
    pub(super) fn put<const PER_SECOND: i64>(self, room: &mut NumberRoom, count: i64) -> usize {
        let (seconds, fraction) = (count.div_euclid(PER_SECOND), count.rem_euclid(PER_SECOND));
        let Some(date) = date(seconds.div_euclid(DAY)) else { return 0 };
        room[..10].copy_from_slice(&date);
        room[10] = b'T';
        let end = self.time(room, 11, seconds.rem_euclid(DAY), fraction);
        room[end] = b'Z';
        end + usize::from(self.is_zoned)
    }

    /// Puts a time of day, in `PER_SECOND`ths; returns its length, or 0 if it is not within a day.
    #[inline(always)]
    pub(super) fn put_time<const PER_SECOND: i64>(
        self,
        room: &mut NumberRoom,
        count: i64,
    ) -> usize {
        if !(0..DAY * PER_SECOND).contains(&count) {
            return 0;
        }
        self.time(room, 0, count / PER_SECOND, count % PER_SECOND)
    }

    /// Writes a time of day with its decimals; returns the end.
    #[inline(always)]
    fn time(self, text: &mut NumberRoom, at: usize, second: i64, fraction: i64) -> usize {
        // Neither is negative, and both are below 2^32.
        let second = u32::try_from(second).unwrap_or(0);
        let fraction = u64::try_from(fraction).unwrap_or(0);
        let mut put = |at: usize, number: u32| text[at..at + 2].copy_from_slice(&pair(number));
        put(at, second / 3600);
        put(at + 3, second / 60 % 60);
        put(at + 6, second % 60);
        (text[at + 2], text[at + 5], text[at + 8]) = (b':', b':', b'.');
        let mut digits = |number: u64| {
            text[at + 9..at + 17].copy_from_slice(&(eight(number) | ASCII).to_le_bytes());
        };
        // Excess digits are overwritten or cut off.
        match self.decimals {
            0 => return at + 8,
            3 => digits(fraction * 100_000),
            6 => digits(fraction * 100),
            _ => {
                digits(fraction / 10);
                text[at + 17] = b'0' + u8::try_from(fraction % 10).unwrap_or(0);
            }
        }
        at + 9 + self.decimals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::format::room::ROOM;

    fn text(put: impl Fn(&mut NumberRoom) -> usize) -> Option<String> {
        let mut room = [b'x'; ROOM];
        let len = put(&mut room);
        (len > 0).then(|| String::from_utf8(room[..len].to_vec()).expect("ASCII"))
    }

    /// Counts the days of the calendar one by one.
    #[test]
    fn every_day_of_the_calendar_has_its_date() {
        let mut day = FIRST;
        for year in 1..=9999 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if is_leap { 29 } else { 28 };
            let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, len) in (1..).zip(months) {
                for number in 1..=len {
                    let wanted = format!("{year:04}-{month:02}-{number:02}");
                    assert_eq!(text(|out| put_date(out, day)), Some(wanted));
                    day += 1;
                }
            }
        }
        assert_eq!(day, LAST + 1);
        for day in [FIRST - 1, LAST + 1, i64::MIN, i64::MAX] {
            assert_eq!(text(|out| put_date(out, day)), None);
        }
    }

    #[test]
    fn timestamps_have_the_decimals_of_their_unit() {
        let clock = |decimals, is_zoned| Clock { decimals, is_zoned };
        let local = |out: &mut NumberRoom| clock(0, false).put::<1>(out, -1);
        assert_eq!(text(local).as_deref(), Some("1969-12-31T23:59:59"));
        let zoned = |out: &mut NumberRoom| clock(3, true).put::<1000>(out, -1);
        assert_eq!(text(zoned).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        let micros =
            |out: &mut NumberRoom| clock(6, false).put::<1_000_000>(out, 86_400_000_001);
        assert_eq!(text(micros).as_deref(), Some("1970-01-02T00:00:00.000001"));
        let first = |out: &mut NumberRoom| clock(9, true).put::<1_000_000_000>(out, i64::MIN);
        assert_eq!(text(first).as_deref(), Some("1677-09-21T00:12:43.145224192Z"));
        let last = |out: &mut NumberRoom| clock(9, true).put::<1_000_000_000>(out, i64::MAX);
        assert_eq!(text(last).as_deref(), Some("2262-04-11T23:47:16.854775807Z"));
        for count in [i64::MIN, i64::MAX, DAY * (LAST + 1), DAY * FIRST - 1] {
            assert_eq!(text(|out| clock(0, true).put::<1>(out, count)), None);
        }
    }

    #[test]
    fn times_of_day_are_of_one_day() {
        let clock = Clock { decimals: 3, is_zoned: false };
        let at = |count| text(|out| clock.put_time::<1000>(out, count));
        assert_eq!(at(86_399_999).as_deref(), Some("23:59:59.999"));
        assert_eq!(
            (at(0).as_deref(), at(-1), at(86_400_000)),
            (Some("00:00:00.000"), None, None)
        );
    }
}
