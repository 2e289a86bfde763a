//! The possible kinds of the fields of a column, and the type that holds them all.
//!
//! ```text
//! 1              i64, u64, long, f64             the types that hold the field
//! 1, -1          i64,      long, f64             the types that hold both
//! 1, -1, 0.5                     f64
//! 2^53 + 1, 0.5                                  none is left: text
//! ```
//!
//! The type of a column is the first one that holds all fields. *Long* are whole numbers of any
//! length: if no integer type holds them, they are text.

use std::ops::{BitOr, BitOrAssign};

use arrow_schema::TimeUnit;
use swath_simd::Moment;

use super::column_type::ColumnType;
use super::field::TextField;
use super::number::{Number, is_number};
use super::rules::FieldRules;
use super::time;

/// The possible kinds of some fields. [`join`](Self::join) combines those of several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct Kinds {
    /// The types that hold all fields, besides text, which holds any.
    types: u16,
    /// The kinds that occurred.
    seen: u8,
}

const BOOL: u16 = 1;
const I64: u16 = 2;
const U64: u16 = 4;
const F64: u16 = 8;
const DATE: u16 = 16;
const MICROS: u16 = 32;
const NANOS: u16 = 64;
const ZONED_MICROS: u16 = 128;
const ZONED_NANOS: u16 = 256;
/// Whole numbers of any length.
const LONG: u16 = 512;
const OBJECT: u16 = 1024;
const ARRAY: u16 = 2048;
/// Objects and arrays that stay text.
const NESTED_TEXT: u16 = 4096;
const ALL: u16 = 8191;

/// A value: not all fields are missing.
const VALUE: u8 = 1;
/// A quoted word for a missing value, which is a value in a column of texts.
const QUOTED: u8 = 2;

/// The inferred state of a column. Two states that lead to text may still differ in what can
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum ColumnState {
    /// All fields are missing.
    Missing,
    /// All fields are missing; some would be values in a column of texts.
    Quoted,
    /// Whole numbers that no integer type holds.
    Long,
    /// Anything else.
    Of(ColumnType),
}

impl Kinds {
    /// The kinds of missing fields only.
    pub(in crate::table) const MISSING: Self = Self { types: ALL, seen: 0 };
    /// The kinds of fields that only text holds.
    pub(in crate::table) const TEXT: Self = Self { types: 0, seen: VALUE };
    /// The kinds of numbers that are not whole.
    pub(super) const DECIMAL: Self = Self { types: F64, seen: VALUE };

    /// Returns the possible kinds of a field in a column without a given type.
    pub(in crate::table) fn of(field: TextField<'_>, rules: &FieldRules) -> Self {
        if rules.is_missing(field) {
            let is_open = field.is_quoted && !rules.quoting.is_json;
            let seen = if is_open { QUOTED } else { 0 };
            return Self { seen, ..Self::MISSING };
        }
        match field.raw.first() {
            Some(b'{') if rules.is_nested => return Self::value(OBJECT),
            Some(b'[') if rules.is_nested => return Self::value(ARRAY),
            _ => {}
        }
        if rules.boolean(field).is_some() {
            return Self::value(BOOL);
        }
        if rules.quoting.is_json && field.is_quoted {
            return Self::of_time(field.bytes);
        }
        if rules.has_nested(field.raw) {
            return Self::value(NESTED_TEXT);
        }
        let token = field.trimmed();
        match Number::of(token, rules) {
            Some(Number::Signed(value)) => {
                let unsigned = if value < 0 { 0 } else { U64 };
                Self::value(I64 | unsigned | LONG | if_exact(value.into()))
            }
            Some(Number::Unsigned(value)) => Self::value(U64 | LONG | if_exact(value.into())),
            Some(Number::Long(is_exact)) => Self::value(LONG | if is_exact { F64 } else { 0 }),
            Some(Number::Decimal) => Self::DECIMAL,
            None => Self::of_time(token),
        }
    }

    fn of_time(token: &[u8]) -> Self {
        if let Some(days) = time::date(token) {
            return Self::value(DATE | MICROS | with_nanos(time::midnight(days), NANOS));
        }
        let found = time::moment(token).filter(|&moment| time::is_in_years(moment));
        let Some(moment) = found else { return Self::TEXT };
        let (micros, nanos) =
            if moment.is_zoned { (ZONED_MICROS, ZONED_NANOS) } else { (MICROS, NANOS) };
        let micros = if moment.digits > 6 { 0 } else { micros };
        Self::value(micros | with_nanos(moment, nanos))
    }

    const fn value(types: u16) -> Self {
        Self { types, seen: VALUE }
    }

    /// Returns the kinds that the fields of both can be.
    pub(in crate::table) fn join(self, other: Self) -> Self {
        Self { types: self.types & other.types, seen: self.seen | other.seen }
    }

    /// Returns the type that holds all fields.
    pub(in crate::table) fn column_type(self) -> ColumnType {
        match self.state() {
            ColumnState::Missing => ColumnType::Null,
            ColumnState::Quoted | ColumnState::Long => ColumnType::Text,
            ColumnState::Of(found) => found,
        }
    }

    /// The inferred state. The first line at which it equals the final state decided the type.
    pub(in crate::table) fn state(self) -> ColumnState {
        const IN_ORDER: [(u16, ColumnType); 12] = [
            (BOOL, ColumnType::Bool),
            (I64, ColumnType::I64),
            (U64, ColumnType::U64),
            (F64, ColumnType::F64),
            (DATE, ColumnType::Date),
            (MICROS, ColumnType::Timestamp(TimeUnit::Microsecond)),
            (NANOS, ColumnType::Timestamp(TimeUnit::Nanosecond)),
            (ZONED_MICROS, ColumnType::Zoned(TimeUnit::Microsecond)),
            (ZONED_NANOS, ColumnType::Zoned(TimeUnit::Nanosecond)),
            (OBJECT, ColumnType::Struct),
            (ARRAY, ColumnType::List),
            (NESTED_TEXT, ColumnType::Text),
        ];
        match (self.seen & VALUE, self.seen & QUOTED) {
            (0, 0) => return ColumnState::Missing,
            (0, _) => return ColumnState::Quoted,
            _ => {}
        }
        match IN_ORDER.into_iter().find(|&(each, _)| self.types & each != 0) {
            None | Some((F64, _)) if self.types & LONG != 0 => ColumnState::Long,
            first => ColumnState::Of(first.map_or(ColumnType::Text, |(_, found)| found)),
        }
    }

    /// Whether every field is missing, or an object or array that stays text.
    pub(in crate::table) fn are_objects_or_arrays(self) -> bool {
        self.types & NESTED_TEXT != 0
    }

    /// Whether no further field changes the type.
    pub(in crate::table) fn is_text(self) -> bool {
        self.types == 0
    }
}

/// Whether a text without quotes is a value of another type than text, or a number of any form.
pub(in crate::table) fn is_value(text: &[u8]) -> bool {
    let rules = FieldRules::default();
    let field = TextField { bytes: text, is_quoted: false, raw: text };
    Kinds::of(field, &rules).column_type() != ColumnType::Text || is_number(field, &rules)
}

/// The bit of doubles, if a double is exactly the number.
fn if_exact(number: i128) -> u16 {
    #[expect(clippy::cast_possible_truncation, reason = "compared")]
    let back = (number as f64) as i128;
    if back == number { F64 } else { 0 }
}

/// The bit of nanoseconds, if they hold the moment.
fn with_nanos(moment: Moment, nanos: u16) -> u16 {
    if time::exactly(moment, TimeUnit::Nanosecond).is_ok() { nanos } else { 0 }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.join(other)
    }
}

impl BitOrAssign for Kinds {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.join(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type of a column of fields, of which those in quotes are quoted.
    fn of(fields: &[&str]) -> String {
        with(fields, &FieldRules::default())
    }

    fn with(fields: &[&str], rules: &FieldRules) -> String {
        let mut joined = Kinds::MISSING;
        for field in fields {
            let mut scratch = Vec::new();
            let field = rules.quoting.field(field.as_bytes(), &mut scratch);
            joined = joined.join(Kinds::of(field, rules));
        }
        joined.column_type().to_string()
    }

    #[test]
    fn the_type_of_a_column_holds_all_its_fields() {
        for (fields, wanted) in [
            (&[][..], "null"),
            (&["", " ", "NA", " null\t"], "null"),
            (&["", "\"\"", "NA", "\"NA\""], "text"),
            (&["", "\"\"", "1"], "i64"),
            (&["true", "", "FALSE", "\"True\""], "bool"),
            (&["true", "1"], "text"),
            (&["1", "-1", ""], "i64"),
            (&["9223372036854775807"], "i64"),
            (&["9223372036854775808", "0"], "u64"),
            (&["9223372036854775808", "-1"], "text"),
            (&["9223372036854775808", "-1", "0.5"], "f64"),
            (&["99999999999999999999"], "text"),
            (&["99999999999999999999", "1"], "text"),
            (&["99999999999999999999", "1e0"], "text"),
            (&["100000000000000000000", "1e0"], "f64"),
            (&["9007199254740992", "0.5"], "f64"),
            (&["9007199254740993", "0.5"], "text"),
            (&["-9007199254740993", "nan"], "text"),
            (&["-0"], "f64"),
            (&["-0", "9007199254740993"], "text"),
            (&["1", "007"], "text"),
            (&["1", "+1"], "text"),
            (&["1.0", "+1"], "text"),
            (&["0.5", "nan", " 1 ", "\"-inf\""], "f64"),
            (&["\" 1\""], "text"),
            (&["2024-02-29", ""], "date"),
            (&["2024-02-29", "2024-02-29T12:00"], "timestamp[us]"),
            (&["2024-02-29", "2024-02-29 12:00:00.1234567"], "timestamp[ns]"),
            (&["0001-01-01", "2024-02-29 12:00:00.1234567"], "text"),
            (&["0001-01-01", "2024-02-29 12:00:00.123456"], "timestamp[us]"),
            (&["2024-02-29T00:00Z", "2024-02-29T00:00:00.1+01"], "timestamp[us, UTC]"),
            (&["2024-02-29T00:00:00.1234560Z"], "timestamp[ns, UTC]"),
            (&["2024-02-29T00:00Z", "2024-02-29T00:00"], "text"),
            (&["2024-02-29T00:00Z", "2024-02-29"], "text"),
            (&["2024-02-29", "1"], "text"),
            (&["2024-02-30"], "text"),
            (&["0001-01-01T01:00+01"], "timestamp[us, UTC]"),
            (&["0001-01-01T00:59+01"], "text"),
            (&["9999-12-31T23:00-01"], "text"),
            (&["1677-09-21T00:12:43.145224193"], "timestamp[ns]"),
            (&["1677-09-21T00:12:43.145224192"], "text"),
            (&["1e400"], "text"),
            (&["x", "1"], "text"),
        ] {
            assert_eq!(of(fields), wanted, "{fields:?}");
            let mut turned = fields.to_vec();
            turned.reverse();
            assert_eq!(of(&turned), wanted, "{turned:?}");
        }
    }

    #[test]
    fn words_for_booleans_are_no_numbers() {
        use super::super::rules::WordSet;
        let (trues, falses) = (WordSet::new(["1", "y"]), WordSet::new(["0", "n"]));
        let rules = FieldRules { trues, falses, ..FieldRules::default() };
        assert_eq!(with(&["1", "0", "y"], &rules), "bool");
        assert_eq!(with(&["1", "0", "2"], &rules), "text");
        assert_eq!(with(&["2"], &rules), "i64");
        assert_eq!(with(&["true"], &rules), "text");
    }
}
