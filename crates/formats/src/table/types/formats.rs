//! Dates and timestamps in the caller's formats: directives of `strftime`, as `chrono` reads
//! them.
//!
//! `chrono`, because Arrow's arrays depend on it anyway.

use std::borrow::Cow;

use arrow_schema::TimeUnit;
use chrono::format::{Fixed, Item, Numeric, Parsed, StrftimeItems, parse};
use chrono::{Datelike, NaiveDate, Timelike};
use swath_simd::{Moment, Tokens};

use super::column_type::ColumnType;
use super::epoch::Epoch;
use super::layout::FormatLayout;
use super::time;

/// The format of dates or timestamps.
#[derive(Clone, Debug)]
pub(in crate::table) struct MomentFormat {
    /// Set for a number since 1970; then there are no items.
    epoch: Option<Epoch>,
    items: Vec<Item<'static>>,
    /// Set if all parts have a fixed width.
    layout: Option<FormatLayout>,
    has_time: bool,
    has_zone: bool,
    fraction: Fraction,
}

/// The separator between the seconds and their fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fraction {
    /// A point, or there is no fraction.
    Point,
    /// A comma, replaced by a point before parsing.
    Comma,
}

/// Reads `+0100`, `+01:00`, `+01` and `Z`; `chrono` writes none of them.
const ANY_ZONE: &str = "%#z";

/// The most digits of a fraction of a second.
const DIGITS: usize = 9;

impl MomentFormat {
    /// Parses directives such as `%d.%m.%Y`, or `epoch_ms`. As in most languages, `%f` after a
    /// point or a comma is a fraction: `.5` is half a second.
    ///
    /// # Errors
    ///
    /// Describes the mistake in the directives.
    pub(in crate::table) fn new(text: &str) -> Result<Self, String> {
        if let Some(epoch) = Epoch::named(text) {
            let (items, fraction) = (Vec::new(), Fraction::Point);
            let (epoch, layout) = (Some(epoch), None);
            return Ok(Self { epoch, items, layout, has_time: true, has_zone: true, fraction });
        }
        let mut items = StrftimeItems::new(text)
            .parse_to_owned()
            .map_err(|_| format!("`{text}` has a directive that does not exist"))?;
        if items.iter().any(|item| matches!(item, Item::Fixed(Fixed::TimezoneName))) {
            return Err(format!(
                "`{text}` has %Z, but names of zones do not say which zone it is; only %z does"
            ));
        }
        let fraction = fraction(&mut items)
            .ok_or_else(|| format!("`{text}` has %f without a point or comma before it, where %3f, %6f and %9f have their digits"))?;
        let has = |is_one: &dyn Fn(&Item<'static>) -> bool| items.iter().any(is_one);
        let (has_time, has_zone) = (has(&is_time), has(&is_zone));
        if !has(&is_date) {
            return Err(format!("`{text}` has no date"));
        }
        let layout = FormatLayout::new(&items);
        if let Some(any) = StrftimeItems::new(ANY_ZONE).next() {
            let is_zone = |item: &&mut Item<'_>| **item == Item::Fixed(Fixed::TimezoneOffset);
            items.iter_mut().filter(is_zone).for_each(|item| *item = any.clone());
        }
        Ok(Self { epoch: None, items, layout, has_time, has_zone, fraction })
    }

    /// Returns the format for a column of this type, which it suits.
    pub(in crate::table) fn of(self, kind: ColumnType) -> Self {
        Self { has_zone: matches!(kind, ColumnType::Zoned(_)), ..self }
    }

    /// Returns the type of a column in this format.
    pub(in crate::table) fn column_type(&self) -> ColumnType {
        if self.epoch == Some(Epoch(TimeUnit::Nanosecond)) {
            return ColumnType::Zoned(TimeUnit::Nanosecond);
        }
        match (self.has_zone, self.has_time) {
            (true, _) => ColumnType::Zoned(TimeUnit::Microsecond),
            (false, true) => ColumnType::Timestamp(TimeUnit::Microsecond),
            (false, false) => ColumnType::Date,
        }
    }

    /// Whether fields in this format can be values of `wanted`.
    pub(in crate::table) fn suits(&self, wanted: ColumnType) -> bool {
        match wanted {
            ColumnType::Date => !self.has_time && !self.has_zone,
            ColumnType::Timestamp(_) => !self.has_zone || self.epoch.is_some(),
            ColumnType::Zoned(_) => self.has_zone,
            _ => false,
        }
    }

    /// Calls `take` with the moment of each token that is not empty. Returns the number of
    /// tokens before the first one that does not have the layout, or for which `take` returns
    /// `false`.
    pub(super) fn plain(
        &self,
        tokens: Tokens<'_>,
        mut take: impl FnMut(usize, Moment) -> bool,
    ) -> usize {
        let found = |token: &[u8]| match (self.epoch, &self.layout) {
            (Some(epoch), _) => epoch.moment(token, self.has_zone),
            (None, layout) => layout.as_ref()?.moment(token),
        };
        let places = tokens.starts.iter().zip(tokens.ends);
        let mut is_taken = |(index, (&start, &end)): (usize, (&u32, &u32))| {
            let token = tokens.text.get(start as usize..end as usize).unwrap_or_default();
            token.is_empty() || found(token).is_some_and(|found| take(index, found))
        };
        let count = places.len();
        places.enumerate().position(|place| !is_taken(place)).unwrap_or(count)
    }

    /// Returns the moment of a token, at midnight if it has no time.
    pub(super) fn moment(&self, token: &[u8]) -> Option<Moment> {
        if let Some(epoch) = self.epoch {
            return epoch.moment(token, self.has_zone);
        }
        let text = self.with_point(std::str::from_utf8(token).ok()?)?;
        let mut parsed = Parsed::new();
        parse(&mut parsed, &text, self.items.iter()).ok()?;
        // POSIX maps 69 to 1969, `chrono` to 2069.
        if parsed.year_mod_100() == Some(69) && parsed.year_div_100().is_none() {
            let _ = parsed.set_year_div_100(19);
        }
        let date = |date: NaiveDate| self.has_year(date, &text).then_some(date);
        if !self.has_time && !self.has_zone {
            return Some(time::midnight(time::days(date(parsed.to_naive_date().ok()?)?)));
        }
        let local = match self.has_time {
            true => parsed.to_naive_datetime_with_offset(0).ok()?,
            false => parsed.to_naive_date().ok()?.and_hms_opt(0, 0, 0)?,
        };
        date(local.date())?;
        // Arrow has no leap seconds.
        (local.nanosecond() < 1_000_000_000).then_some(())?;
        let offset = match self.has_zone {
            true => i64::from(parsed.to_fixed_offset().ok()?.local_minus_utc()),
            false => 0,
        };
        let local = local.and_utc();
        let (seconds, nanos) = (local.timestamp() - offset, local.timestamp_subsec_nanos());
        Some(Moment { seconds, nanos, digits: 0, is_zoned: self.has_zone })
    }
}

impl MomentFormat {
    /// Replaces the comma before a fraction with a point; `None` if the fraction has too many
    /// digits.
    fn with_point<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let text = match (self.fraction, text.rfind(',')) {
            (Fraction::Comma, Some(at)) => {
                Cow::from(format!("{}.{}", &text[..at], &text[at + 1..]))
            }
            _ => Cow::from(text),
        };
        let digits = text
            .rsplit_once('.')
            .map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
        (digits <= DIGITS).then_some(text)
    }

    /// Whether the year is from 1 to 9999, with four digits if the format requires them.
    fn has_year(&self, date: NaiveDate, text: &str) -> bool {
        let is_long = |item: &Item<'_>| matches!(item, Item::Numeric(Numeric::Year, _));
        match date.year() {
            1000..=9999 => true,
            year @ 1..1000 => {
                !self.items.iter().any(is_long) || text.contains(&format!("{year:04}"))
            }
            _ => false,
        }
    }
}

/// Turns each `%f`, which `chrono` reads as a number of nanoseconds, into a fraction. `None` if
/// nothing separates it from the seconds.
fn fraction(items: &mut [Item<'static>]) -> Option<Fraction> {
    let is_number = |item: &Item<'_>| matches!(item, Item::Numeric(Numeric::Nanosecond, _));
    let Some(at) = items.iter().position(is_number) else { return Some(Fraction::Point) };
    let before = match items.get(at.checked_sub(1)?)? {
        Item::Literal(text) => (*text).to_owned(),
        Item::OwnedLiteral(text) => text.to_string(),
        _ => return None,
    };
    let (rest, found) = match before.strip_suffix('.') {
        Some(rest) => (rest, Fraction::Point),
        None => (before.strip_suffix(',')?, Fraction::Comma),
    };
    items[at - 1] = Item::OwnedLiteral(rest.into());
    items[at] = Item::Fixed(Fixed::Nanosecond);
    Some(found)
}

fn is_date(item: &Item<'_>) -> bool {
    use Numeric::{Day, IsoWeek, Ordinal, Timestamp, WeekFromMon, WeekFromSun};
    match item {
        Item::Numeric(found, _) => {
            matches!(found, Day | IsoWeek | Ordinal | Timestamp | WeekFromMon | WeekFromSun)
        }
        Item::Fixed(found) => matches!(found, Fixed::RFC2822 | Fixed::RFC3339),
        _ => false,
    }
}

fn is_time(item: &Item<'_>) -> bool {
    use Numeric::{Hour, Hour12, Minute, Nanosecond, Second, Timestamp};
    match item {
        Item::Numeric(found, _) => {
            matches!(found, Hour | Hour12 | Minute | Nanosecond | Second | Timestamp)
        }
        Item::Fixed(found) => {
            use Fixed::{Nanosecond, Nanosecond3, Nanosecond6, Nanosecond9, RFC2822, RFC3339};
            let is_one = matches!(found, RFC2822 | RFC3339 | Nanosecond | Nanosecond3);
            // `%3f`, `%6f` and `%9f`.
            let is_bare = matches!(found, Fixed::Internal(_)) && !is_any_zone(item);
            is_one || matches!(found, Nanosecond6 | Nanosecond9) || is_bare
        }
        _ => false,
    }
}

fn is_any_zone(item: &Item<'_>) -> bool {
    StrftimeItems::new(ANY_ZONE).next().as_ref() == Some(item)
}

fn is_zone(item: &Item<'_>) -> bool {
    use Fixed::{
        RFC2822, RFC3339, TimezoneOffset, TimezoneOffsetColon, TimezoneOffsetColonZ,
        TimezoneOffsetDoubleColon, TimezoneOffsetTripleColon, TimezoneOffsetZ,
    };
    let is_one = matches!(
        item,
        Item::Fixed(
            RFC2822
                | RFC3339
                | TimezoneOffset
                | TimezoneOffsetColon
                | TimezoneOffsetColonZ
                | TimezoneOffsetDoubleColon
                | TimezoneOffsetTripleColon
                | TimezoneOffsetZ
        )
    );
    is_one || is_any_zone(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, text: &str) -> Option<i64> {
        let format = MomentFormat::new(format).expect("directives");
        time::exactly(format.moment(text.as_bytes())?, TimeUnit::Microsecond).ok()
    }

    #[test]
    fn fields_are_read_by_their_format() {
        const DAY: i64 = 86_400_000_000;
        for (format, text, wanted) in [
            ("%d.%m.%Y", "02.01.1970", Some(DAY)),
            ("%m/%d/%y", "01/02/70", Some(DAY)),
            ("%d %b %Y", "2 Jan 1970", Some(DAY)),
            ("%Y-%j", "1970-002", Some(DAY)),
            ("%G-W%V-%u", "1970-W01-5", Some(DAY)),
            ("%d.%m.%Y", "30.02.1970", None),
            ("%d.%m.%Y", "02.01.1970 ", None),
            ("%d.%m.%Y", "x", None),
            ("%d.%m.%Y %H:%M", "02.01.1970 00:01", Some(DAY + 60_000_000)),
            ("%Y%m%d%H%M%S", "19700102000000", Some(DAY)),
            ("%d/%m/%Y %I:%M %p", "02/01/1970 12:01 AM", Some(DAY + 60_000_000)),
            ("%Y-%m-%dT%H:%M:%S%.f", "1970-01-01T00:00:00.5", Some(500_000)),
            ("%Y-%m-%dT%H:%M:%S%.f", "1970-01-01T00:00:00.0000005", None),
            ("%Y-%m-%dT%H:%M:%S", "1970-01-01T23:59:60", None),
            ("%Y-%m-%d %H:%M:%S.%f", "1970-01-01 00:00:00.500000", Some(500_000)),
            ("%Y-%m-%d %H:%M:%S.%f", "1970-01-01 00:00:00.5", Some(500_000)),
            ("%Y-%m-%d %H:%M:%S.%f", "1970-01-01 00:00:00.000123", Some(123)),
            ("%Y-%m-%d %H:%M:%S,%f", "1970-01-01 00:00:00,123", Some(123_000)),
            ("%Y-%m-%d %H:%M:%S.%f", "1970-01-01 00:00:00.0000000001", None),
            ("%a, %Y-%m-%d %H:%M:%S,%f", "Thu, 1970-01-01 00:00:00,25", Some(250_000)),
            ("%d.%m.%Y", "01.01.0000", None),
            ("%d.%m.%Y", "01.01.-0005", None),
            ("%d.%m.%Y", "01.01.10000", None),
            ("%d.%m.%Y", "01.01.70", None),
            ("%y.%m.%d", "69.12.31", Some(-DAY)),
            ("%Y-%m-%d %H:%M %z", "1970-01-01 00:00 -0100", Some(3_600_000_000)),
            ("%Y-%m-%d %H:%M%z", "1970-01-01 00:00-01:00", Some(3_600_000_000)),
            ("%Y-%m-%d %H:%M%z", "1970-01-01 00:00-01", Some(3_600_000_000)),
            ("%Y-%m-%d %H:%M%z", "1970-01-01 00:00Z", Some(0)),
            ("%Y-%m-%d %H:%M%z", "1970-01-01 00:00UTC", None),
            ("%Y-%m-%d %H:%M%%z", "1970-01-01 00:00%z", Some(0)),
            ("%+", "1970-01-01T00:00:00+01:00", Some(-3_600_000_000)),
            ("%s", "1", Some(1_000_000)),
            ("%Y%m%d%H%M%S%3f", "19700101000001005", Some(1_005_000)),
            ("%Y%m%d%H%M%S%6f", "19700101000001000005", Some(1_000_005)),
            ("%Y%m%d%H%M%S%9f", "19700101000001000005000", Some(1_000_005)),
            ("%Y%m%d%H%M%S%3f", "1970010100000100", None),
            ("%Y%m%d%H%M%S%3f", "197001010000010050", None),
            // A part of a time alone is not dropped.
            ("%F%.f", "1970-01-01.5", None),
            ("%F %3f", "1970-01-01 500", None),
            ("%F %H:%M%#z", "1970-01-01 00:00-01", Some(3_600_000_000)),
            ("epoch_ms", "1500", Some(1_500_000)),
        ] {
            assert_eq!(read(format, text), wanted, "{format} of {text}");
        }
    }

    #[test]
    fn a_format_says_which_type_it_gives() {
        let of =
            |text: &str| MomentFormat::new(text).map(|format| format.column_type().to_string());
        assert_eq!(of("%d.%m.%Y"), Ok("date".into()));
        assert_eq!(of("%F %T"), Ok("timestamp[us]".into()));
        assert_eq!(of("%s"), Ok("timestamp[us]".into()));
        assert_eq!(of("%F %T%z"), Ok("timestamp[us, UTC]".into()));
        assert_eq!(of("%F %T%#z"), Ok("timestamp[us, UTC]".into()));
        assert_eq!(of("epoch_ms"), Ok("timestamp[us, UTC]".into()));
        assert_eq!(of("epoch_ns"), Ok("timestamp[ns, UTC]".into()));
        assert!(of("%H:%M").is_err_and(|why| why.contains("no date")));
        assert!(of("%F %!").is_err_and(|why| why.contains("does not exist")));
        assert!(of("%F %T %Z").is_err_and(|why| why.contains("only %z does")));
        for text in ["%F %T%f", "%f%F", "%F %T %f"] {
            assert!(of(text).is_err_and(|why| why.contains("%f without a point")), "{text}");
        }
        let format = MomentFormat::new("%F").expect("a date");
        assert!(format.suits(ColumnType::Timestamp(TimeUnit::Second)));
        assert!(!format.suits(ColumnType::Zoned(TimeUnit::Second)));
    }
}
