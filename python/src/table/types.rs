//! Types of columns by their names in Python.

use arrow_schema::{DataType, TimeUnit};
use swath_formats::table::ColumnType;

/// All types of columns of text files, by name.
pub(super) const WORDS: &[(&str, ColumnType)] = &[
    ("bool", ColumnType::Bool),
    ("int8", ColumnType::I8),
    ("int16", ColumnType::I16),
    ("int32", ColumnType::I32),
    ("int64", ColumnType::I64),
    ("uint8", ColumnType::U8),
    ("uint16", ColumnType::U16),
    ("uint32", ColumnType::U32),
    ("uint64", ColumnType::U64),
    ("float32", ColumnType::F32),
    ("float64", ColumnType::F64),
    ("date", ColumnType::Date),
    ("timestamp[s]", ColumnType::Timestamp(TimeUnit::Second)),
    ("timestamp[ms]", ColumnType::Timestamp(TimeUnit::Millisecond)),
    ("timestamp[us]", ColumnType::Timestamp(TimeUnit::Microsecond)),
    ("timestamp[ns]", ColumnType::Timestamp(TimeUnit::Nanosecond)),
    ("timestamp[s, UTC]", ColumnType::Zoned(TimeUnit::Second)),
    ("timestamp[ms, UTC]", ColumnType::Zoned(TimeUnit::Millisecond)),
    ("timestamp[us, UTC]", ColumnType::Zoned(TimeUnit::Microsecond)),
    ("timestamp[ns, UTC]", ColumnType::Zoned(TimeUnit::Nanosecond)),
    ("text", ColumnType::Text),
    ("dictionary", ColumnType::Dictionary),
    ("null", ColumnType::Null),
];

/// Returns the name of a type that was read from text.
pub(super) fn word(kind: ColumnType) -> String {
    let known = WORDS.iter().find(|(_, known)| *known == kind);
    known.map_or_else(|| kind.to_string(), |(word, _)| (*word).to_owned())
}

/// Returns the name of any Arrow type.
pub(super) fn word_of(kind: &DataType) -> String {
    let is_text = |kind: &DataType| {
        matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    };
    if let Some((word, _)) = WORDS.iter().find(|(_, known)| known.data_type() == *kind) {
        return (*word).to_owned();
    }
    match kind {
        kind if is_text(kind) => "text".to_owned(),
        DataType::Dictionary(_, values) if is_text(values) => "dictionary".to_owned(),
        DataType::Timestamp(unit, Some(zone)) => {
            let plain = word_of(&DataType::Timestamp(*unit, None));
            format!("{}, {zone}]", plain.trim_end_matches(']'))
        }
        other => other.to_string(),
    }
}
