//! From an Arrow array to what gives its text.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait, new_empty_array};
use arrow_schema::{DataType, FieldRef, TimeUnit};

use super::keys::{Formatted, Keyed, Lists, Structs};
use super::numbers::{Booleans, Nothing, Otherwise, Plain};
use super::options::Quoting;
use super::source::{Around, Source};
use super::style::{Style, Syntax};
use super::text::{Column, Picked, Texts, push_escaped};
use super::times::{Clock, push_date};
use crate::number::format::{push_i64, push_u64};
use crate::table::value::sealed::Value as _;

/// A dictionary of up to this many values is formatted once, even if there are fewer rows.
const FEW: usize = 4096;

type Boxed<'a> = Box<dyn Source + 'a>;

/// Whether columns of this type can be written.
pub(super) fn is_writable(kind: &DataType, style: &Style) -> bool {
    Maker { style, lead: &[] }.source(&*new_empty_array(kind)).is_some()
}

/// Returns what gives the text of a column; `None` if its type has no text.
pub(super) fn source<'a>(
    array: &'a dyn Array,
    style: &'a Style,
    name: &str,
) -> Option<Boxed<'a>> {
    let lead = match style.syntax {
        Syntax::Json => key(name),
        Syntax::Separated(_) => Vec::new(),
    };
    Maker { style, lead: &lead }.source(array)
}

/// What a member of a JSON object begins with.
fn key(name: &str) -> Vec<u8> {
    let mut key = vec![b'"'];
    push_escaped(&mut key, name.as_bytes());
    key.extend_from_slice(b"\":");
    key
}

/// What kind of text a value has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// A number, `true` or `false`.
    Bare,
    /// A date.
    Date,
    /// With a time of day, so with colons.
    Time,
    /// Quoted by itself, if necessary.
    Text,
    /// Of JSON.
    Nested,
}

#[derive(Clone, Copy)]
struct Maker<'a, 'l> {
    style: &'a Style,
    /// What each value begins with.
    lead: &'l [u8],
}

impl<'a> Maker<'a, '_> {
    fn around(self, look: Look) -> Around {
        let (is_quoted, missing) = match &self.style.syntax {
            Syntax::Json => {
                let is_string = matches!(look, Look::Date | Look::Time | Look::Text);
                (is_string, [self.lead, &self.style.missing].concat())
            }
            Syntax::Separated(quotes) => {
                let is_cut = look == Look::Time && quotes.cuts_times;
                let is_quoted = quotes.quoting == Quoting::All || is_cut;
                (is_quoted && look != Look::Text, self.style.missing.clone())
            }
        };
        let quote: &[u8] = if is_quoted { b"\"" } else { b"" };
        let after = if is_quoted { &b"\""[..] } else { b"" };
        Around { before: [self.lead, quote].concat(), after, missing }
    }

    fn source(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        Some(match array.data_type() {
            DataType::Null => Box::new(Nothing { missing: self.around(Look::Bare).missing }),
            DataType::Boolean => {
                Box::new(Booleans::new(array.as_boolean(), &self.around(Look::Bare)))
            }
            DataType::Utf8 => self.texts(array, array.as_string::<i32>()),
            DataType::LargeUtf8 => self.texts(array, array.as_string::<i64>()),
            DataType::Utf8View => self.texts(array, array.as_string_view()),
            DataType::Dictionary(_, kind) => return self.dictionary(array, kind),
            DataType::Timestamp(unit, zone) => self.timestamps(array, *unit, zone.is_some()),
            DataType::Time32(_) | DataType::Time64(_) => return self.times(array),
            DataType::Date32 => self.dates::<Date32Type>(array, |days| Some(days.into())),
            DataType::Date64 => {
                const DAY: i64 = 86_400_000;
                let days = |count| (count % DAY == 0).then_some(count / DAY);
                self.dates::<Date64Type>(array, days)
            }
            _ => return self.number(array).or_else(|| self.nested(array)),
        })
    }

    fn plain<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        look: Look,
        otherwise: Otherwise,
        push: impl Fn(&mut Vec<u8>, T::Native) -> bool + Send + Sync + 'a,
    ) -> Boxed<'a> {
        let values = &array.as_primitive::<T>().values()[..];
        let (nulls, around) = (array.nulls().cloned(), self.around(look));
        Box::new(Plain { values, nulls, around, otherwise, push })
    }

    /// Numbers that all have a text.
    fn whole<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        push: impl Fn(&mut Vec<u8>, T::Native) + Send + Sync + 'a,
    ) -> Boxed<'a> {
        self.plain::<T>(array, Look::Bare, Otherwise::Missing, move |out, value| {
            push(out, value);
            true
        })
    }

    fn number(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        Some(match array.data_type() {
            DataType::Int8 => self.whole::<Int8Type>(array, |out, it| push_i64(out, it.into())),
            DataType::Int16 => {
                self.whole::<Int16Type>(array, |out, it| push_i64(out, it.into()))
            }
            DataType::Int32 => {
                self.whole::<Int32Type>(array, |out, it| push_i64(out, it.into()))
            }
            DataType::Int64 => self.whole::<Int64Type>(array, push_i64),
            DataType::UInt8 => {
                self.whole::<UInt8Type>(array, |out, it| push_u64(out, it.into()))
            }
            DataType::UInt16 => {
                self.whole::<UInt16Type>(array, |out, it| push_u64(out, it.into()))
            }
            DataType::UInt32 => {
                self.whole::<UInt32Type>(array, |out, it| push_u64(out, it.into()))
            }
            DataType::UInt64 => self.whole::<UInt64Type>(array, push_u64),
            DataType::Float16 => self.floats::<Float16Type>(array, |out, it, decimals| {
                it.to_f32().push(out, decimals);
                it.to_f32().is_finite()
            }),
            DataType::Float32 => self.floats::<Float32Type>(array, |out, it, decimals| {
                it.push(out, decimals);
                it.is_finite()
            }),
            DataType::Float64 => self.floats::<Float64Type>(array, |out, it, decimals| {
                it.push(out, decimals);
                it.is_finite()
            }),
            DataType::Decimal32(..) => self.decimals::<Decimal32Type>(array),
            DataType::Decimal64(..) => self.decimals::<Decimal64Type>(array),
            DataType::Decimal128(..) => self.decimals::<Decimal128Type>(array),
            DataType::Decimal256(..) => self.decimals::<Decimal256Type>(array),
            _ => return None,
        })
    }

    /// `push` returns whether the number is finite: JSON has no others.
    fn floats<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        push: impl Fn(&mut Vec<u8>, T::Native, crate::table::Decimals) -> bool + Send + Sync + 'a,
    ) -> Boxed<'a> {
        let decimals = self.style.decimals;
        let has_all = !matches!(self.style.syntax, Syntax::Json);
        self.plain::<T>(array, Look::Bare, Otherwise::Missing, move |out, value| {
            push(out, value, decimals) | has_all
        })
    }

    /// Decimals, all their digits.
    fn decimals<T: DecimalType>(self, array: &'a dyn Array) -> Boxed<'a> {
        let typed = array.as_primitive::<T>();
        let (precision, scale) = (typed.precision(), typed.scale());
        self.whole::<T>(array, move |out, value| {
            out.extend_from_slice(T::format_decimal(value, precision, scale).as_bytes());
        })
    }

    fn dates<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        days: impl Fn(T::Native) -> Option<i64> + Send + Sync + 'a,
    ) -> Boxed<'a> {
        let otherwise = Otherwise::Refused {
            detail: "the date is not a whole day from 0001-01-01 to 9999-12-31",
            hint: "write an Arrow file, or leave these rows out",
        };
        self.plain::<T>(array, Look::Date, otherwise, move |out, value| {
            days(value).is_some_and(|days| push_date(out, days))
        })
    }

    fn timestamps(self, array: &'a dyn Array, unit: TimeUnit, is_zoned: bool) -> Boxed<'a> {
        let otherwise = Otherwise::Refused {
            detail: "the timestamp is not in the years 0001 to 9999",
            hint: "write an Arrow file, or leave these rows out",
        };
        macro_rules! of {
            ($kind:ty, $per_second:literal, $decimals:literal) => {
                self.plain::<$kind>(array, Look::Time, otherwise, move |out, count| {
                    Clock { decimals: $decimals, is_zoned }.push::<$per_second>(out, count)
                })
            };
        }
        match unit {
            TimeUnit::Second => of!(TimestampSecondType, 1, 0),
            TimeUnit::Millisecond => of!(TimestampMillisecondType, 1000, 3),
            TimeUnit::Microsecond => of!(TimestampMicrosecondType, 1_000_000, 6),
            TimeUnit::Nanosecond => of!(TimestampNanosecondType, 1_000_000_000, 9),
        }
    }

    fn times(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        let otherwise = Otherwise::Refused {
            detail: "the time of day is not between 00:00:00 and 24:00:00",
            hint: "write an Arrow file, or leave these rows out",
        };
        macro_rules! of {
            ($kind:ty, $per_second:literal, $decimals:literal) => {
                self.plain::<$kind>(array, Look::Time, otherwise, move |out, count| {
                    Clock { decimals: $decimals, is_zoned: false }
                        .push_time::<$per_second>(out, count.into())
                })
            };
        }
        Some(match array.data_type() {
            DataType::Time32(TimeUnit::Second) => of!(Time32SecondType, 1, 0),
            DataType::Time32(TimeUnit::Millisecond) => of!(Time32MillisecondType, 1000, 3),
            DataType::Time64(TimeUnit::Microsecond) => of!(Time64MicrosecondType, 1_000_000, 6),
            DataType::Time64(TimeUnit::Nanosecond) => {
                of!(Time64NanosecondType, 1_000_000_000, 9)
            }
            _ => return None,
        })
    }

    fn texts(self, array: &'a dyn Array, texts: impl Texts + 'a) -> Boxed<'a> {
        let (nulls, around) = (array.logical_nulls(), self.around(Look::Text));
        Box::new(Column { texts, nulls, around, style: self.style })
    }

    fn dictionary(self, array: &'a dyn Array, kind: &DataType) -> Option<Boxed<'a>> {
        let (dictionary, missing) =
            (array.as_any_dictionary(), self.around(Look::Text).missing);
        let values = dictionary.values();
        let inner = self.source(values)?;
        if values.is_empty() {
            return Some(Box::new(Nothing { missing }));
        }
        let (keys, nulls) = (dictionary.normalized_keys(), array.logical_nulls());
        let is_text = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if is_text && values.len() <= array.len().max(FEW) {
            // Without a value that is refused, or one that no row has.
            if let Ok(all) =
                Formatted::new(&*inner, values.len(), keys.clone(), nulls.clone(), &missing)
            {
                return Some(Box::new(all));
            }
        }
        Some(match kind {
            DataType::Utf8 => self.picked(array, keys, values.as_string::<i32>()),
            DataType::LargeUtf8 => self.picked(array, keys, values.as_string::<i64>()),
            DataType::Utf8View => self.picked(array, keys, values.as_string_view()),
            _ => Box::new(Keyed { keys, nulls, values: inner, missing }),
        })
    }

    fn picked(
        self,
        array: &'a dyn Array,
        keys: Vec<usize>,
        texts: impl Texts + 'a,
    ) -> Boxed<'a> {
        self.texts(array, Picked { keys, texts })
    }

    fn nested(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        if !matches!(self.style.syntax, Syntax::Json) {
            return None;
        }
        match array.data_type() {
            DataType::List(_) => self.list::<i32>(array),
            DataType::LargeList(_) => self.list::<i64>(array),
            DataType::FixedSizeList(_, len) => {
                let list = array.as_fixed_size_list();
                let len = usize::try_from(*len).ok()?;
                let places = (0..list.len()).map(|row| row * len..(row + 1) * len).collect();
                self.lists(array, places, list.values())
            }
            DataType::Struct(members) => self.structs(array, members),
            _ => None,
        }
    }

    fn list<O: OffsetSizeTrait>(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        let list = array.as_list::<O>();
        let offsets = list.value_offsets().windows(2);
        let places = offsets.map(|it| it[0].as_usize()..it[1].as_usize()).collect();
        self.lists(array, places, list.values())
    }

    fn lists(
        self,
        array: &'a dyn Array,
        places: Vec<std::ops::Range<usize>>,
        values: &'a dyn Array,
    ) -> Option<Boxed<'a>> {
        let values = Maker { style: self.style, lead: &[] }.source(values)?;
        let (nulls, around) = (array.nulls().cloned(), self.around(Look::Nested));
        Some(Box::new(Lists { places, nulls, values, around }))
    }

    fn structs(self, array: &'a dyn Array, members: &[FieldRef]) -> Option<Boxed<'a>> {
        let columns = array.as_struct().columns().iter();
        let members = columns.zip(members).map(|(column, member)| {
            let lead = key(member.name());
            Maker { style: self.style, lead: &lead }.source(column)
        });
        let members = members.collect::<Option<_>>()?;
        let (nulls, around) = (array.nulls().cloned(), self.around(Look::Nested));
        Some(Box::new(Structs { nulls, members, around }))
    }
}
