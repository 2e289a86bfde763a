//! One value of a column, as text and as a number.

use std::cmp::Ordering;
use std::fmt;

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};

use super::column::source;
use super::fields::FieldTexts;
use super::style::Style;
use super::times::{Clock, put_date};
use crate::number::format::room::{NumberRoom, ROOM};
use crate::number::format::{push_f32_shortest, push_f64_shortest};
use crate::table::value::Decimals;

/// A value of a column of a record batch.
///
/// Its text is what [`write_batches`](crate::table::write::write_batches) writes, without quotes:
///
/// ```
/// use swath_formats::table::{self, Scalar};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,born\nAnn,1980-02-29\nBob,\n")?;
/// let table = table::read_batches(&path)?;
/// let born = table.batches()[0].column(1);
/// let ann = Scalar::of(born, 0).ok_or("Ann's is there")?;
/// assert_eq!((ann.to_string(), Scalar::of(born, 1)), ("1980-02-29".to_owned(), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A signed whole number.
    I64(i64),
    /// An unsigned whole number.
    U64(u64),
    /// A number in single precision.
    F32(f32),
    /// A number in double precision.
    F64(f64),
    /// Days since 1970.
    Date(i32),
    /// A time since 1970.
    Timestamp {
        /// The number of units.
        count: i64,
        /// The unit.
        unit: TimeUnit,
        /// Whether it is in UTC; otherwise it has no time zone.
        is_zoned: bool,
    },
    /// A text.
    Text(String),
    /// A value of another type in the notation of JSON Lines, or the name of a type that they lack.
    Other(String),
}

impl Scalar {
    /// Returns the value of a row; `None` if it is missing, or there is no such row.
    pub fn of(array: &dyn Array, row: usize) -> Option<Self> {
        let is_there = row < array.len() && array.data_type() != &DataType::Null;
        if !is_there || array.is_null(row) {
            return None;
        }
        Some(match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean().value(row)),
            DataType::Utf8 => Self::Text(array.as_string::<i32>().value(row).to_owned()),
            DataType::LargeUtf8 => Self::Text(array.as_string::<i64>().value(row).to_owned()),
            DataType::Utf8View => Self::Text(array.as_string_view().value(row).to_owned()),
            DataType::Date32 => Self::Date(native::<Date32Type>(array, row)),
            DataType::Timestamp(unit, zone) => Self::Timestamp {
                count: timestamp(array, *unit, row),
                unit: *unit,
                is_zoned: zone.is_some(),
            },
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let key = dictionary.normalized_keys().get(row).copied();
                return Self::of(dictionary.values(), key?);
            }
            _ => Self::number(array, row).unwrap_or_else(|| Self::Other(other(array, row))),
        })
    }

    fn number(array: &dyn Array, row: usize) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Int8 => Self::I64(native::<Int8Type>(array, row).into()),
            DataType::Int16 => Self::I64(native::<Int16Type>(array, row).into()),
            DataType::Int32 => Self::I64(native::<Int32Type>(array, row).into()),
            DataType::Int64 => Self::I64(native::<Int64Type>(array, row)),
            DataType::UInt8 => Self::U64(native::<UInt8Type>(array, row).into()),
            DataType::UInt16 => Self::U64(native::<UInt16Type>(array, row).into()),
            DataType::UInt32 => Self::U64(native::<UInt32Type>(array, row).into()),
            DataType::UInt64 => Self::U64(native::<UInt64Type>(array, row)),
            DataType::Float32 => Self::F32(native::<Float32Type>(array, row)),
            DataType::Float64 => Self::F64(native::<Float64Type>(array, row)),
            _ => return None,
        })
    }

    /// Compares values of one type; texts by their bytes. `None` for different types, and for NaN.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => Some(one.cmp(two)),
            (Self::I64(one), Self::I64(two)) => Some(one.cmp(two)),
            (Self::U64(one), Self::U64(two)) => Some(one.cmp(two)),
            (Self::F32(one), Self::F32(two)) => one.partial_cmp(two),
            (Self::F64(one), Self::F64(two)) => one.partial_cmp(two),
            (Self::Date(one), Self::Date(two)) => Some(one.cmp(two)),
            (
                Self::Timestamp { count, unit, is_zoned },
                Self::Timestamp { count: two, unit: other, is_zoned: zoned },
            ) if (unit, is_zoned) == (other, zoned) => Some(count.cmp(two)),
            (Self::Text(one), Self::Text(two)) => Some(one.cmp(two)),
            _ => None,
        }
    }
}

fn native<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn timestamp(array: &dyn Array, unit: TimeUnit, row: usize) -> i64 {
    match unit {
        TimeUnit::Second => native::<TimestampSecondType>(array, row),
        TimeUnit::Millisecond => native::<TimestampMillisecondType>(array, row),
        TimeUnit::Microsecond => native::<TimestampMicrosecondType>(array, row),
        TimeUnit::Nanosecond => native::<TimestampNanosecondType>(array, row),
    }
}

/// Returns the text of a value of any other type.
fn other(array: &dyn Array, row: usize) -> String {
    let style = Style::json(Decimals::Shortest);
    let column = source(array, &style, "");
    let mut fields = FieldTexts::default();
    match column.as_ref().map(|column| column.fill(row..row + 1, &mut fields)) {
        Some(Ok(())) => {
            let value = String::from_utf8_lossy(fields.value(0));
            // The beginning of a member of an object.
            let value = value.strip_prefix("\"\":").unwrap_or(&value);
            // A time of day is a text in JSON.
            let bare = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            bare.unwrap_or(value).to_owned()
        }
        _ => format!("<{}>", array.data_type()),
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut room) = (Vec::new(), [0; ROOM]);
        match self {
            Self::Bool(value) => return out.pad(if *value { "true" } else { "false" }),
            Self::Text(text) | Self::Other(text) => return out.pad(text),
            Self::I64(value) => return out.pad(&value.to_string()),
            Self::U64(value) => return out.pad(&value.to_string()),
            Self::F32(value) => push_f32_shortest(&mut text, *value),
            Self::F64(value) => push_f64_shortest(&mut text, *value),
            Self::Date(days) => match put_date(&mut room, i64::from(*days)) {
                0 => return write!(out, "{days} days from 1970-01-01"),
                len => text.extend_from_slice(&room[..len]),
            },
            Self::Timestamp { count, unit, is_zoned } => {
                match put_timestamp(&mut room, *count, *unit, *is_zoned) {
                    0 => return write!(out, "{count} {unit} from 1970-01-01"),
                    len => text.extend_from_slice(&room[..len]),
                }
            }
        }
        out.pad(&String::from_utf8_lossy(&text))
    }
}

/// Puts a time; returns its length, or 0 if its year does not have four digits.
fn put_timestamp(room: &mut NumberRoom, count: i64, unit: TimeUnit, is_zoned: bool) -> usize {
    let clock = |decimals| Clock { decimals, is_zoned };
    match unit {
        TimeUnit::Second => clock(0).put::<1>(room, count),
        TimeUnit::Millisecond => clock(3).put::<1000>(room, count),
        TimeUnit::Microsecond => clock(6).put::<1_000_000>(room, count),
        TimeUnit::Nanosecond => clock(9).put::<1_000_000_000>(room, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        ArrayRef, BinaryArray, Decimal128Array, DictionaryArray, NullArray, StringArray,
        TimestampMicrosecondArray, UInt64Array,
    };
    use std::sync::Arc;

    fn text(array: &dyn Array, row: usize) -> Option<String> {
        Scalar::of(array, row).map(|value| value.to_string())
    }

    #[test]
    fn every_value_has_a_text_and_a_missing_one_has_none() {
        let texts = StringArray::from(vec![Some("a,\"b\""), None]);
        assert_eq!((text(&texts, 0).as_deref(), text(&texts, 1)), (Some("a,\"b\""), None));
        assert_eq!((text(&texts, 2), text(&NullArray::new(1), 0)), (None, None));
        assert_eq!(
            text(&UInt64Array::from(vec![u64::MAX]), 0).as_deref(),
            Some("18446744073709551615")
        );
        let keys: DictionaryArray<Int8Type> = ["x", "y", "x"].into_iter().collect();
        assert_eq!(text(&keys, 1).as_deref(), Some("y"));
        let times = TimestampMicrosecondArray::from(vec![1, i64::MAX]);
        assert_eq!(text(&times, 0).as_deref(), Some("1970-01-01T00:00:00.000001"));
        assert!(text(&times, 1).expect("a value").contains("from 1970-01-01"));
        let decimals = Decimal128Array::from(vec![12345]).with_precision_and_scale(9, 2);
        let decimals: ArrayRef = Arc::new(decimals.expect("they fit"));
        assert_eq!(text(&decimals, 0).as_deref(), Some("123.45"));
        let bytes = BinaryArray::from(vec![&b"\xff"[..]]);
        assert_eq!(text(&bytes, 0).as_deref(), Some("<Binary>"));
    }

    #[test]
    fn values_of_one_type_are_compared() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        assert_eq!(text("b").compare(&text("a")), Some(Ordering::Greater));
        assert_eq!(Scalar::F64(1.0).compare(&Scalar::F64(f64::NAN)), None);
        assert_eq!(Scalar::I64(1).compare(&Scalar::F64(1.0)), None);
    }
}
