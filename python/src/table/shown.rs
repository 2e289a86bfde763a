//! The first rows of a table as text, for people.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::Table;
use super::types::word_of;

/// Maximum rows, columns and characters of a value that are shown.
const ROWS: usize = 5;
const COLUMNS: usize = 10;
const WIDTH: usize = 24;
/// The sign for a missing value.
const MISSING: &str = "–";

/// Returns the table as text: its size, names, types, and the first rows.
pub(super) fn shown(table: &Table) -> String {
    let columns = table.num_columns();
    let mut text = format!("<swath.Table: {} rows, {columns} columns>", table.rows);
    let mut cells: Vec<Vec<String>> = (0..columns.min(COLUMNS))
        .map(|column| {
            let field = table.schema.field(column);
            let mut cells = vec![cut(field.name()), word_of(field.data_type())];
            let batches = table.batches.iter();
            let values = batches.flat_map(|batch| {
                let array = batch.column(column);
                (0..array.len().min(ROWS)).map(move |row| value(array, row))
            });
            cells.extend(values.take(ROWS));
            cells
        })
        .collect();
    if columns > COLUMNS {
        cells.push(vec!["…".to_owned(); 2 + table.rows.min(ROWS)]);
    }
    let width = |column: &Vec<String>| column.iter().map(|it| it.chars().count()).max();
    let widths: Vec<usize> = cells.iter().map(|it| width(it).unwrap_or(0)).collect();
    for line in 0..cells.first().map_or(0, Vec::len) {
        text.push('\n');
        let begin = text.len();
        for (column, width) in cells.iter().zip(&widths) {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{:width$}  ", column[line]);
        }
        text.truncate(begin + text[begin..].trim_end().len());
    }
    if columns > 0 && table.rows > ROWS {
        text.push_str("\n…");
    }
    text
}

/// Returns a text without line ends and other control characters, cut if too long.
fn cut(text: &str) -> String {
    let mut made = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == WIDTH - 1 && text.chars().nth(WIDTH).is_some() {
            made.push('…');
            break;
        }
        match letter.is_control() {
            true => made.extend(letter.escape_default()),
            false => made.push(letter),
        }
    }
    made
}

fn value(array: &ArrayRef, row: usize) -> String {
    if array.logical_nulls().is_some_and(|nulls| nulls.is_null(row)) {
        return MISSING.to_owned();
    }
    macro_rules! number {
        ($kind:ty) => {
            format!("{:?}", array.as_primitive::<$kind>().value(row))
        };
    }
    macro_rules! time {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value_as_datetime(row).map_or_else(
                || MISSING.to_owned(),
                |it| it.format("%Y-%m-%d %H:%M:%S%.f").to_string(),
            )
        };
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Date32 => {
            let date = array.as_primitive::<Date32Type>().value_as_date(row);
            date.map_or_else(|| MISSING.to_owned(), |date| date.to_string())
        }
        DataType::Timestamp(TimeUnit::Second, _) => time!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => time!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => time!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => time!(TimestampNanosecondType),
        DataType::Utf8 => cut(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => cut(array.as_string::<i64>().value(row)),
        DataType::Utf8View => cut(array.as_string_view().value(row)),
        DataType::Dictionary(..) => {
            let one = array.slice(row, 1);
            let one = one.as_any_dictionary();
            value(one.values(), one.normalized_keys()[0])
        }
        _ => "…".to_owned(),
    }
}
