//! Joins types: the type of a column from the kinds of all its values.

use super::kind::Kind;
use super::time::DAY;
use super::types::{Type, Unit};

/// The type of a column so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// Only missing values.
    Null,
    /// Words for missing values, at least one of them in quotes.
    QuotedNull,
    /// Whole numbers that no 64-bit type holds: text, unless other values follow.
    Long,
    /// A type.
    Is(Type),
}

impl Join {
    /// Returns the type if no value follows.
    #[must_use]
    pub(super) fn to_type(self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::QuotedNull | Self::Long => Type::Text,
            Self::Is(one) => one,
        }
    }
}

/// The kinds of the fields in a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    quoted_null: bool,
    bool: bool,
    whole: bool,
    negative: bool,
    /// Whether there is a whole number above `i64`.
    above: bool,
    long: bool,
    /// Whether there is a whole number that no double equals.
    between: bool,
    float: bool,
    date: bool,
    moment: bool,
    zoned: bool,
    /// Whether there is a moment with more than six digits of fraction.
    nanoseconds: bool,
    /// Whether there is a date or moment outside 64 bits of nanoseconds.
    outside: bool,
    object: bool,
    array: bool,
    text: bool,
}

impl Seen {
    /// Adds a field.
    pub(super) fn add(&mut self, kind: &Kind) {
        match kind {
            Kind::Missing => {}
            Kind::QuotedMissing => self.quoted_null = true,
            Kind::Bool(_) => self.bool = true,
            Kind::Whole(value, exact) => {
                self.whole = true;
                self.between |= exact.is_none();
                self.negative |= *value < 0;
                self.above |= *value > i128::from(i64::MAX);
            }
            Kind::Long(exact) => {
                self.long = true;
                self.between |= exact.is_none();
            }
            Kind::Float(_) => self.float = true,
            Kind::Date(day) => {
                self.date = true;
                self.outside |= is_outside(i128::from(*day) * DAY);
            }
            // Its zone moves it out of the supported years.
            Kind::Moment(moment) if !moment.is_in_years() => self.text = true,
            Kind::Moment(moment) => {
                self.moment |= !moment.is_zoned;
                self.zoned |= moment.is_zoned;
                self.nanoseconds |= moment.digits > 6;
                self.outside |= is_outside(moment.nanoseconds);
            }
            Kind::Object => self.object = true,
            Kind::Array => self.array = true,
            Kind::Text => self.text = true,
        }
    }

    /// Returns the type of the added fields.
    #[must_use]
    pub(super) fn join(&self) -> Join {
        let is_number = self.whole || self.long || self.float;
        let is_time = self.date || self.moment;
        let groups =
            [self.text, self.bool, is_number, is_time, self.zoned, self.object, self.array];
        let count = groups.iter().filter(|&&is_there| is_there).count();
        if self.text || count > 1 {
            Join::Is(Type::Text)
        } else if self.bool {
            Join::Is(Type::Bool)
        } else if is_number {
            self.number()
        } else if is_time || self.zoned {
            self.time()
        } else if self.object {
            Join::Is(Type::Struct)
        } else if self.array {
            Join::Is(Type::List)
        } else if self.quoted_null {
            Join::QuotedNull
        } else {
            Join::Null
        }
    }

    fn number(&self) -> Join {
        if self.float && self.between {
            Join::Is(Type::Text)
        } else if self.float {
            Join::Is(Type::F64)
        } else if self.long || (self.negative && self.above) {
            Join::Long
        } else if self.above {
            Join::Is(Type::U64)
        } else {
            Join::Is(Type::I64)
        }
    }

    fn time(&self) -> Join {
        if self.date && !self.moment {
            return Join::Is(Type::Date);
        }
        let unit = match (self.nanoseconds, self.outside) {
            (false, _) => Unit::Microseconds,
            (true, false) => Unit::Nanoseconds,
            (true, true) => return Join::Is(Type::Text),
        };
        Join::Is(Type::Timestamp { unit, zoned: self.zoned })
    }
}

/// Whether these nanoseconds exceed 64 bits. The least number is a missing value in numpy.
fn is_outside(nanoseconds: i128) -> bool {
    i64::try_from(nanoseconds).map_or(true, |value| value == i64::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::kind::kind;
    use crate::typed::options::Options;
    use crate::typed::records::Field;

    /// Returns the type of a column with these fields.
    fn join(fields: &str) -> String {
        let mut seen = Seen::default();
        for text in fields.split('|') {
            let text = text.as_bytes().to_vec();
            let field = Field { at: 0, raw: text.clone(), text, is_quoted: false };
            seen.add(&kind(&field, &Options::default()));
        }
        match seen.join() {
            Join::Long => "long".to_owned(),
            join => join.to_type().word(),
        }
    }

    #[test]
    fn types_join_as_the_design_says() {
        for (fields, wanted) in [
            ("|NA", "null"),
            ("true|", "bool"),
            ("true|1", "text"),
            ("1|-1", "i64"),
            ("9223372036854775807", "i64"),
            ("9223372036854775808|1", "u64"),
            ("9223372036854775808|-1", "long"),
            ("18446744073709551616", "long"),
            ("-9223372036854775809|1", "long"),
            ("18446744073709551616|1.5", "f64"),
            ("18446744073709551617|1.5", "text"),
            ("9223372036854775808|-1|.5", "f64"),
            ("9007199254740993|1.5", "text"),
            ("9007199254740993|nan", "text"),
            ("-9007199254740993|-0", "text"),
            ("9007199254740992|1e5", "f64"),
            ("-0", "f64"),
            ("-0|1", "f64"),
            ("007|1", "text"),
            ("00.5|1", "text"),
            ("+5|1", "text"),
            ("+5.0|1", "f64"),
            ("1e400|1", "text"),
            ("nan|1", "f64"),
            ("2020-01-01", "date"),
            ("2020-01-01|2020-01-01T00:00", "timestamp[us]"),
            ("2020-01-01|2020-01-01T00:00Z", "text"),
            ("2020-01-01T00:00|2020-01-01T00:00Z", "text"),
            ("2020-01-01T00:00Z|2020-01-01 00:00+01", "timestamp[us, UTC]"),
            ("2020-01-01T00:00:00.1234567", "timestamp[ns]"),
            ("2020-01-01T00:00:00.1234567|1600-01-01", "text"),
            ("2020-01-01T00:00:00.123456|1600-01-01", "timestamp[us]"),
            ("2020-01-01|5", "text"),
            ("0001-01-01T01:00+01", "timestamp[us, UTC]"),
            ("0001-01-01T00:59+01", "text"),
            ("9999-12-31T23:00-01", "text"),
            ("1677-09-21T00:12:43.145224193", "timestamp[ns]"),
            ("1677-09-21T00:12:43.145224192", "text"),
        ] {
            assert_eq!(join(fields), wanted, "{fields}");
        }
    }
}
