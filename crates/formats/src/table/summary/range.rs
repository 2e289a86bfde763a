//! The least and the greatest value of a column.

use std::cmp::Ordering;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::table::types::ColumnType;
use crate::table::write::Scalar;

/// Characters kept of a text.
const KEPT: usize = 64;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The least and the greatest value of a column; both `None` if it has no value.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ColumnRange {
    /// The least value; NaN does not count.
    pub least: Option<Bound>,
    /// The greatest value; NaN does not count.
    pub greatest: Option<Bound>,
}

/// The least or the greatest value of a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The value; for a text, its first 64 characters. Texts are compared by their bytes.
    pub value: Scalar,
    /// Whether the value is a longer text, cut off.
    pub is_cut: bool,
}

impl Bound {
    fn new(value: Scalar) -> Self {
        Self { value, is_cut: false }
    }

    /// Cuts by characters, not by bytes, which keeps the order.
    fn of_text(text: &str) -> Self {
        match text.char_indices().nth(KEPT) {
            Some((end, _)) => {
                Self { value: Scalar::Text(text[..end].to_owned()), is_cut: true }
            }
            None => Self::new(Scalar::Text(text.to_owned())),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let values = self.value.compare(&other.value).unwrap_or(Ordering::Equal);
        values.then(self.is_cut.cmp(&other.is_cut))
    }

    /// Returns the value in a wider type; `None` if the type cannot hold it.
    fn widened(&self, kind: ColumnType) -> Option<Self> {
        let value = match (&self.value, kind) {
            (Scalar::I64(value), ColumnType::U64) => Scalar::U64(u64::try_from(*value).ok()?),
            (Scalar::I64(value), ColumnType::F64) => Scalar::F64(*value as f64),
            (Scalar::U64(value), ColumnType::F64) => Scalar::F64(*value as f64),
            (Scalar::Date(days), ColumnType::Timestamp(unit)) => {
                let count = in_unit(i64::from(*days).checked_mul(DAY)?, unit)?;
                Scalar::Timestamp { count, unit, is_zoned: false }
            }
            (
                Scalar::Timestamp { count, unit: TimeUnit::Microsecond, is_zoned },
                ColumnType::Timestamp(unit) | ColumnType::Zoned(unit),
            ) => Scalar::Timestamp { count: in_unit(*count, unit)?, unit, is_zoned: *is_zoned },
            _ => return None,
        };
        Some(Self::new(value))
    }
}

/// Converts microseconds to the units of inferred types.
fn in_unit(micros: i64, unit: TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::Microsecond => Some(micros),
        TimeUnit::Nanosecond => micros.checked_mul(1000),
        TimeUnit::Second | TimeUnit::Millisecond => None,
    }
}

impl ColumnRange {
    /// Returns the range of one column of a block.
    pub(super) fn of(array: &ArrayRef, kind: ColumnType) -> Self {
        match kind {
            // Structs and lists have no order.
            ColumnType::Null | ColumnType::Struct | ColumnType::List => Self::default(),
            ColumnType::Bool => between(array.as_boolean().iter().flatten(), Scalar::Bool),
            ColumnType::Text => of_texts(array),
            // Each text of the dictionary occurs in a row.
            ColumnType::Dictionary => of_texts(array.as_any_dictionary().values()),
            ColumnType::Date => numbers::<Date32Type>(array, Scalar::Date),
            ColumnType::Timestamp(unit) => times(array, unit, false),
            ColumnType::Zoned(unit) => times(array, unit, true),
            ColumnType::I8 => numbers::<Int8Type>(array, |value| Scalar::I64(value.into())),
            ColumnType::I16 => numbers::<Int16Type>(array, |value| Scalar::I64(value.into())),
            ColumnType::I32 => numbers::<Int32Type>(array, |value| Scalar::I64(value.into())),
            ColumnType::I64 => numbers::<Int64Type>(array, Scalar::I64),
            ColumnType::U8 => numbers::<UInt8Type>(array, |value| Scalar::U64(value.into())),
            ColumnType::U16 => numbers::<UInt16Type>(array, |value| Scalar::U64(value.into())),
            ColumnType::U32 => numbers::<UInt32Type>(array, |value| Scalar::U64(value.into())),
            ColumnType::U64 => numbers::<UInt64Type>(array, Scalar::U64),
            ColumnType::F32 => numbers::<Float32Type>(array, Scalar::F32),
            ColumnType::F64 => numbers::<Float64Type>(array, Scalar::F64),
        }
    }

    /// Adds values of the same type.
    pub(super) fn join(&mut self, other: Self) {
        let first = |one: &Bound, two: &Bound| one.compare(two) == Ordering::Less;
        if let Some(least) = other.least
            && self.least.as_ref().is_none_or(|own| first(&least, own))
        {
            self.least = Some(least);
        }
        if let Some(greatest) = other.greatest
            && self.greatest.as_ref().is_none_or(|own| first(own, &greatest))
        {
            self.greatest = Some(greatest);
        }
    }

    /// Returns the values in a wider type; `None` if the type cannot hold them.
    pub(super) fn widened(&self, kind: ColumnType) -> Option<Self> {
        let widened = |bound: &Option<Bound>| match bound {
            None => Some(None),
            Some(bound) => bound.widened(kind).map(Some),
        };
        Some(Self { least: widened(&self.least)?, greatest: widened(&self.greatest)? })
    }
}

fn numbers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    scalar: impl Fn(T::Native) -> Scalar,
) -> ColumnRange
where
    T::Native: PartialOrd,
{
    let array = array.as_primitive::<T>();
    match array.null_count() {
        0 => between(array.values().iter().copied(), scalar),
        _ => between(array.iter().flatten(), scalar),
    }
}

fn times(array: &ArrayRef, unit: TimeUnit, is_zoned: bool) -> ColumnRange {
    let scalar = |count| Scalar::Timestamp { count, unit, is_zoned };
    match unit {
        TimeUnit::Second => numbers::<TimestampSecondType>(array, scalar),
        TimeUnit::Millisecond => numbers::<TimestampMillisecondType>(array, scalar),
        TimeUnit::Microsecond => numbers::<TimestampMicrosecondType>(array, scalar),
        TimeUnit::Nanosecond => numbers::<TimestampNanosecondType>(array, scalar),
    }
}

fn of_texts(array: &ArrayRef) -> ColumnRange {
    match array.data_type() {
        DataType::Utf8View => between_texts(array.as_string_view().iter()),
        DataType::LargeUtf8 => between_texts(array.as_string::<i64>().iter()),
        _ => between_texts(array.as_string::<i32>().iter()),
    }
}

fn between_texts<'t>(texts: impl Iterator<Item = Option<&'t str>>) -> ColumnRange {
    let bound = |text: Option<&str>| text.map(Bound::of_text);
    let (least, greatest) = ends(texts.flatten()).unzip();
    ColumnRange { least: bound(least), greatest: bound(greatest) }
}

fn between<V: Copy + PartialOrd>(
    values: impl Iterator<Item = V>,
    scalar: impl Fn(V) -> Scalar,
) -> ColumnRange {
    let bound = |value: Option<V>| value.map(|value| Bound::new(scalar(value)));
    let (least, greatest) = ends(values).unzip();
    ColumnRange { least: bound(least), greatest: bound(greatest) }
}

/// Returns the least and the greatest value, without NaN.
fn ends<V: Copy + PartialOrd>(values: impl Iterator<Item = V>) -> Option<(V, V)> {
    let is_ordered = |value: &V| value.partial_cmp(value).is_some();
    let mut values = values.filter(is_ordered);
    let first = values.next()?;
    Some(values.fold((first, first), |(least, greatest), value| {
        let least = if value < least { value } else { least };
        (least, if value > greatest { value } else { greatest })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Float64Array, StringViewArray};
    use std::sync::Arc;

    fn range(array: impl Array + 'static, kind: ColumnType) -> (String, String) {
        let array: ArrayRef = Arc::new(array);
        let ColumnRange { least, greatest } = ColumnRange::of(&array, kind);
        let text = |bound: Option<Bound>| {
            bound.map_or_else(String::new, |it| {
                it.value.to_string() + if it.is_cut { "…" } else { "" }
            })
        };
        (text(least), text(greatest))
    }

    #[test]
    fn nan_and_missing_values_are_in_no_range() {
        let array = Float64Array::from(vec![Some(f64::NAN), None, Some(2.5), Some(-1.0)]);
        assert_eq!(range(array, ColumnType::F64), ("-1.0".to_owned(), "2.5".to_owned()));
        let none = Float64Array::from(vec![Some(f64::NAN), None]);
        assert_eq!(range(none, ColumnType::F64), (String::new(), String::new()));
    }

    #[test]
    fn cutting_texts_keeps_their_order() {
        let long = "é".repeat(KEPT);
        let texts = [format!("{long}b"), long.clone(), format!("{long}a"), "f".to_owned()];
        let array = StringViewArray::from_iter_values(&texts);
        assert_eq!(range(array, ColumnType::Text), ("f".to_owned(), format!("{long}…")));
        let array = StringViewArray::from_iter_values(&texts[..3]);
        assert_eq!(range(array, ColumnType::Text), (long.clone(), format!("{long}…")));
    }

    #[test]
    fn a_range_becomes_one_of_a_wider_type_or_none() {
        let range = |value| ColumnRange { least: Some(Bound::new(value)), greatest: None };
        let widened = |value, kind| {
            range(value).widened(kind).and_then(|it| it.least).map(|it| it.value.to_string())
        };
        let ns = ColumnType::Timestamp(TimeUnit::Nanosecond);
        assert_eq!(widened(Scalar::I64(-3), ColumnType::F64).as_deref(), Some("-3.0"));
        assert_eq!(widened(Scalar::I64(3), ColumnType::U64), Some("3".to_owned()));
        assert_eq!(
            widened(Scalar::Date(1), ns).as_deref(),
            Some("1970-01-02T00:00:00.000000000")
        );
        assert_eq!(widened(Scalar::I64(3), ColumnType::Text), None);
        assert_eq!(ColumnRange::default().widened(ns), Some(ColumnRange::default()));
    }
}
