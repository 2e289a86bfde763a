//! The types of columns.

use std::fmt;
use std::str::FromStr;

use arrow_schema::{DataType, Fields, TimeUnit};

/// The type of a column.
///
/// Each has a word, which [`Display`](fmt::Display) writes and [`FromStr`] reads:
///
/// ```
/// use swath_formats::table::ColumnType;
///
/// for word in ["bool", "i8", "u64", "f32", "date", "timestamp[us]", "timestamp[ns, UTC]", "text"] {
///     assert_eq!(word.parse::<ColumnType>()?.to_string(), word);
/// }
/// assert_eq!("timestamp".parse::<ColumnType>()?.to_string(), "timestamp[us]");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnType {
    /// `null`: every value is missing.
    Null,
    /// `bool`.
    Bool,
    /// `i8`.
    I8,
    /// `i16`.
    I16,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
    /// `u8`.
    U8,
    /// `u16`.
    U16,
    /// `u32`.
    U32,
    /// `u64`.
    U64,
    /// `f32`, rounded once.
    F32,
    /// `f64`, correctly rounded.
    F64,
    /// `date`: days since 1970.
    Date,
    /// `timestamp[s]`, `[ms]`, `[us]`, `[ns]`: the time since 1970, without a time zone.
    Timestamp(TimeUnit),
    /// `timestamp[s, UTC]` and so on: the time since 1970 in UTC.
    Zoned(TimeUnit),
    /// `text`: UTF-8, Arrow's `LargeUtf8`.
    Text,
    /// `dictionary`: UTF-8, each distinct text stored once.
    Dictionary,
    /// `struct`: objects of JSON, with fields from the schema. It is inferred and cannot be
    /// requested.
    Struct,
    /// `list`: arrays of JSON, with an item type from the schema. It is inferred and cannot be
    /// requested.
    List,
}

const UNITS: [(TimeUnit, &str); 4] = [
    (TimeUnit::Second, "s"),
    (TimeUnit::Millisecond, "ms"),
    (TimeUnit::Microsecond, "us"),
    (TimeUnit::Nanosecond, "ns"),
];

impl ColumnType {
    /// The types without a unit, and their words.
    const PLAIN: [(ColumnType, &'static str); 15] = [
        (ColumnType::Null, "null"),
        (ColumnType::Bool, "bool"),
        (ColumnType::I8, "i8"),
        (ColumnType::I16, "i16"),
        (ColumnType::I32, "i32"),
        (ColumnType::I64, "i64"),
        (ColumnType::U8, "u8"),
        (ColumnType::U16, "u16"),
        (ColumnType::U32, "u32"),
        (ColumnType::U64, "u64"),
        (ColumnType::F32, "f32"),
        (ColumnType::F64, "f64"),
        (ColumnType::Date, "date"),
        (ColumnType::Text, "text"),
        (ColumnType::Dictionary, "dictionary"),
    ];

    /// Every type.
    pub(in crate::table) fn all() -> impl Iterator<Item = ColumnType> {
        let plain = Self::PLAIN.into_iter().map(|(plain, _)| plain);
        let units = || UNITS.into_iter().map(|(unit, _)| unit);
        plain.chain(units().map(Self::Timestamp)).chain(units().map(Self::Zoned))
    }

    /// Returns the Arrow type: a struct has no fields, and a list has missing items.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Null => DataType::Null,
            Self::Bool => DataType::Boolean,
            Self::I8 => DataType::Int8,
            Self::I16 => DataType::Int16,
            Self::I32 => DataType::Int32,
            Self::I64 => DataType::Int64,
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Timestamp(unit) => DataType::Timestamp(unit, None),
            Self::Zoned(unit) => DataType::Timestamp(unit, Some("UTC".into())),
            Self::Text => DataType::LargeUtf8,
            Self::Dictionary => {
                DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
            }
            Self::Struct => DataType::Struct(Fields::empty()),
            Self::List => DataType::new_list(DataType::Null, true),
        }
    }

    /// Returns the word for an Arrow type: that of the column type, or Arrow's own name if
    /// there is none.
    ///
    /// ```
    /// use arrow_schema::DataType;
    /// use swath_formats::table::ColumnType;
    ///
    /// assert_eq!(ColumnType::word_of(&DataType::Utf8), "text");
    /// assert_eq!(ColumnType::word_of(&DataType::Float16), "Float16");
    /// ```
    #[must_use]
    pub fn word_of(kind: &DataType) -> String {
        let kind = match kind {
            DataType::Utf8 | DataType::Utf8View => &DataType::LargeUtf8,
            other => other,
        };
        let same = Self::all().find(|it| it.data_type() == *kind);
        same.map_or_else(|| kind.to_string(), |it| it.to_string())
    }

    /// Whether fields keep their blanks, and a quoted word for a missing value is a text.
    pub(in crate::table) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Dictionary)
    }

    /// Whether values have fields or items.
    pub(in crate::table) fn is_nested(self) -> bool {
        matches!(self, Self::Struct | Self::List)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |unit: TimeUnit| {
            UNITS.into_iter().find(|&(each, _)| each == unit).map_or("", |(_, word)| word)
        };
        match *self {
            Self::Timestamp(unit) => write!(out, "timestamp[{}]", word(unit)),
            Self::Zoned(unit) => write!(out, "timestamp[{}, UTC]", word(unit)),
            Self::Struct => out.pad("struct"),
            Self::List => out.pad("list"),
            plain => {
                let found = Self::PLAIN.into_iter().find(|&(each, _)| each == plain);
                out.pad(found.map_or("", |(_, word)| word))
            }
        }
    }
}

impl FromStr for ColumnType {
    type Err = String;

    /// Reads a word; `timestamp` alone is in microseconds.
    ///
    /// # Errors
    ///
    /// For other words: the error lists all.
    fn from_str(word: &str) -> Result<Self, String> {
        if word == "timestamp" {
            return Ok(Self::Timestamp(TimeUnit::Microsecond));
        }
        Self::all().find(|each| each.to_string() == word).ok_or_else(|| {
            let all: Vec<String> = Self::all().map(|each| each.to_string()).collect();
            format!("`{word}` is not a type; the types are {}", all.join(", "))
        })
    }
}
