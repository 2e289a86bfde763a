//! From an Arrow array to the source of its text.

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

use super::keys::{Formatted, Keyed, ListTexts, StructTexts};
use super::numbers::{Booleans, Doubles, LongTexts, NullTexts, Otherwise, Put, Short};
use super::options::Quoting;
use super::source::{Around, Source};
use super::style::{Style, Syntax};
use super::text::{ArrayTexts, PickedTexts, TextColumn, push_escaped};
use super::times::{Clock, put_date};
use crate::number::format::room::{NumberRoom, put_i64, put_text, put_u64};
use crate::number::format::{push_f32_shortest, push_f64_fixed};
use crate::table::value::Decimals;

/// The most values of a dictionary that are formatted once even if there are fewer rows.
const FEW: usize = 4096;

type Boxed<'a> = Box<dyn Source + 'a>;

/// Whether columns of this type can be written.
pub(super) fn is_writable(kind: &DataType, style: &Style) -> bool {
    Maker { style, lead: &[] }.source(&*new_empty_array(kind)).is_some()
}

/// Returns the source of a column's text; `None` if its type has no text.
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

/// Returns the beginning of a member of a JSON object.
fn key(name: &str) -> Vec<u8> {
    let mut key = vec![b'"'];
    push_escaped(&mut key, name.as_bytes());
    key.extend_from_slice(b"\":");
    key
}

/// The kind of a value's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// A number, `true` or `false`.
    Bare,
    /// A date.
    Date,
    /// With a time of day, and thus with colons.
    Time,
    /// A text, which quotes itself if necessary.
    Text,
    /// A value of JSON.
    Nested,
}

#[derive(Clone, Copy)]
struct Maker<'a, 'l> {
    style: &'a Style,
    /// The bytes before each value.
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
            DataType::Null => Box::new(NullTexts { missing: self.around(Look::Bare).missing }),
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

    fn short<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        look: Look,
        otherwise: Otherwise,
        put: impl Fn(&mut NumberRoom, T::Native) -> usize + Send + Sync + 'a,
    ) -> Boxed<'a> {
        self.put::<T>(array, look, otherwise, put)
    }

    fn put<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        look: Look,
        otherwise: Otherwise,
        put: impl Put<T::Native> + 'a,
    ) -> Boxed<'a> {
        let values = &array.as_primitive::<T>().values()[..];
        let (nulls, around) = (array.nulls().cloned(), self.around(look));
        Box::new(Short { values, nulls, around, otherwise, put })
    }

    fn long<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        push: impl Fn(&mut Vec<u8>, T::Native) -> bool + Send + Sync + 'a,
    ) -> Boxed<'a> {
        let values = &array.as_primitive::<T>().values()[..];
        let (nulls, around) = (array.nulls().cloned(), self.around(Look::Bare));
        Box::new(LongTexts { values, nulls, around, push })
    }

    fn signed<T: ArrowPrimitiveType<Native: Into<i64>>>(
        self,
        array: &'a dyn Array,
    ) -> Boxed<'a> {
        self.short::<T>(array, Look::Bare, Otherwise::Missing, |room, it| {
            put_i64(room, it.into())
        })
    }

    fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>>(
        self,
        array: &'a dyn Array,
    ) -> Boxed<'a> {
        self.short::<T>(array, Look::Bare, Otherwise::Missing, |room, it| {
            put_u64(room, 0, it.into())
        })
    }

    fn number(self, array: &'a dyn Array) -> Option<Boxed<'a>> {
        Some(match array.data_type() {
            DataType::Int8 => self.signed::<Int8Type>(array),
            DataType::Int16 => self.signed::<Int16Type>(array),
            DataType::Int32 => self.signed::<Int32Type>(array),
            DataType::Int64 => self.signed::<Int64Type>(array),
            DataType::UInt8 => self.unsigned::<UInt8Type>(array),
            DataType::UInt16 => self.unsigned::<UInt16Type>(array),
            DataType::UInt32 => self.unsigned::<UInt32Type>(array),
            DataType::UInt64 => self.unsigned::<UInt64Type>(array),
            DataType::Float16 => self.singles::<Float16Type>(array, |it| it.to_f32()),
            DataType::Float32 => self.singles::<Float32Type>(array, |it| it),
            DataType::Float64 => self.doubles(array),
            DataType::Decimal32(..) => self.decimals::<Decimal32Type>(array),
            DataType::Decimal64(..) => self.decimals::<Decimal64Type>(array),
            DataType::Decimal128(..) => self.decimals::<Decimal128Type>(array),
            DataType::Decimal256(..) => self.decimals::<Decimal256Type>(array),
            _ => return None,
        })
    }

    /// Whether NaN and infinities have a text; they do not in JSON.
    fn has_all(self) -> bool {
        !matches!(self.style.syntax, Syntax::Json)
    }

    fn doubles(self, array: &'a dyn Array) -> Boxed<'a> {
        let has_all = self.has_all();
        if let Decimals::Fixed(places) = self.style.decimals {
            return self.long::<Float64Type>(array, move |out, value| {
                push_f64_fixed(out, value, places);
                has_all || value.is_finite()
            });
        }
        let (look, otherwise) = (Look::Bare, Otherwise::Missing);
        self.put::<Float64Type>(array, look, otherwise, Doubles { has_all })
    }

    fn singles<T: ArrowPrimitiveType>(
        self,
        array: &'a dyn Array,
        single: impl Fn(T::Native) -> f32 + Send + Sync + 'a,
    ) -> Boxed<'a> {
        let has_all = self.has_all();
        if let Decimals::Fixed(places) = self.style.decimals {
            return self.long::<T>(array, move |out, value| {
                let value = single(value);
                push_f64_fixed(out, value.into(), places);
                has_all || value.is_finite()
            });
        }
        self.short::<T>(array, Look::Bare, Otherwise::Missing, move |room, value| {
            let value = single(value);
            if value.is_finite() {
                return put_text(room, zmij::Buffer::new().format_finite(value).as_bytes());
            }
            let mut text = Vec::new();
            push_f32_shortest(&mut text, value);
            if has_all { put_text(room, &text) } else { 0 }
        })
    }

    /// Decimals with all their digits.
    fn decimals<T: DecimalType>(self, array: &'a dyn Array) -> Boxed<'a> {
        let typed = array.as_primitive::<T>();
        let (precision, scale) = (typed.precision(), typed.scale());
        self.long::<T>(array, move |out, value| {
            out.extend_from_slice(T::format_decimal(value, precision, scale).as_bytes());
            true
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
        self.short::<T>(array, Look::Date, otherwise, move |room, value| {
            days(value).map_or(0, |days| put_date(room, days))
        })
    }

    fn timestamps(self, array: &'a dyn Array, unit: TimeUnit, is_zoned: bool) -> Boxed<'a> {
        let otherwise = Otherwise::Refused {
            detail: "the timestamp is not in the years 0001 to 9999",
            hint: "write an Arrow file, or leave these rows out",
        };
        macro_rules! of {
            ($kind:ty, $per_second:literal, $decimals:literal) => {
                self.short::<$kind>(array, Look::Time, otherwise, move |room, count| {
                    Clock { decimals: $decimals, is_zoned }.put::<$per_second>(room, count)
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
                self.short::<$kind>(array, Look::Time, otherwise, move |room, count| {
                    Clock { decimals: $decimals, is_zoned: false }
                        .put_time::<$per_second>(room, count.into())
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

    fn texts(self, array: &'a dyn Array, texts: impl ArrayTexts + 'a) -> Boxed<'a> {
        let (nulls, around) = (array.logical_nulls(), self.around(Look::Text));
        Box::new(TextColumn { texts, nulls, around, style: self.style })
    }

    fn dictionary(self, array: &'a dyn Array, kind: &DataType) -> Option<Boxed<'a>> {
        let (dictionary, missing) =
            (array.as_any_dictionary(), self.around(Look::Text).missing);
        let values = dictionary.values();
        let inner = self.source(values)?;
        if values.is_empty() {
            return Some(Box::new(NullTexts { missing }));
        }
        let (keys, nulls) = (dictionary.normalized_keys(), array.logical_nulls());
        let is_text = matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if is_text && values.len() <= array.len().max(FEW) {
            // The values are formatted once, unless one is refused: it may be in no row.
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
        texts: impl ArrayTexts + 'a,
    ) -> Boxed<'a> {
        self.texts(array, PickedTexts { keys, texts })
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
        Some(Box::new(ListTexts { places, nulls, values, around }))
    }

    fn structs(self, array: &'a dyn Array, members: &[FieldRef]) -> Option<Boxed<'a>> {
        let columns = array.as_struct().columns().iter();
        let members = columns.zip(members).map(|(column, member)| {
            let lead = key(member.name());
            Maker { style: self.style, lead: &lead }.source(column)
        });
        let members = members.collect::<Option<_>>()?;
        let (nulls, around) = (array.nulls().cloned(), self.around(Look::Nested));
        Some(Box::new(StructTexts { nulls, members, around }))
    }
}
