//! Tables as the oracle of `reference/` has them, for comparisons.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, types};
use arrow_schema::{DataType, FieldRef, Schema, TimeUnit};
use swath::{Extent, ReadOptions};
use swath_formats::table::{
    self, BatchOptions, Batches, ColumnKey, ColumnReport, Delimiter, FixedColumn, TableReport,
};
use swath_formats::{Error, FormatReason};
use swath_reference::typed::{
    Between, Changes, Column, Comment, Encoding, Fault, Fixed, Form, Header, Key, Meaning,
    Options, Ragged, Renamed, SetAside, Table, Type, Value, Wrong, quoted, shown,
};

/// The reader's options for those of the oracle.
pub(crate) fn options(given: &Options) -> BatchOptions {
    let told = |(column, type_is): &(Key, Type)| {
        (key(column), type_is.word().parse::<table::ColumnType>().expect("a type"))
    };
    let named = |(column, text): &(Key, String)| (key(column), text.clone());
    let form = match given.form {
        Form::Separated => table::BatchForm::Csv,
        Form::JsonLines => table::BatchForm::JsonLines,
        Form::Fixed => table::BatchForm::Fixed,
    };
    let mut options = BatchOptions::new()
        .with_form(form)
        .with_quote(given.quote)
        .with_escape(given.escape)
        .with_types(given.types.iter().map(told))
        .with_formats(given.formats.iter().map(named))
        .with_rename(given.rename.iter().map(named))
        .with_skip_rows(given.skip_rows as u64)
        .with_skip_footer(given.skip_footer)
        .with_decimal(given.decimal)
        .with_thousands(given.thousands)
        .with_encoding(encoding(given.encoding))
        .with_encoding_errors(match given.replaces {
            true => table::EncodingErrors::Replace,
            false => table::EncodingErrors::Refuse,
        })
        .with_ragged(match given.ragged {
            Ragged::Error => table::Ragged::Refuse,
            Ragged::Pad => table::Ragged::Pad,
            Ragged::SetAside => table::Ragged::SetAside,
            Ragged::Drop => table::Ragged::Drop,
        })
        .with_json_nan(given.json_nan)
        .with_json_nested(given.json_nested);
    options = match given.comment {
        Comment::Auto => options,
        Comment::None => options.with_comment(None),
        Comment::Byte(byte) => options.with_comment(Some(byte)),
    };
    if let Some(all) = given.all_types {
        options = options.with_all_types(all.word().parse().expect("a type"));
    }
    options = with_words(options, given);
    match &given.fixed {
        Fixed::Found => {}
        Fixed::Widths(widths) => options = options.with_widths(widths.iter().copied()),
        Fixed::Positions(spans) => {
            let column = |&(start, end): &(usize, Option<usize>)| FixedColumn { start, end };
            options = options.with_positions(spans.iter().map(column));
        }
    }
    match given.delimiter {
        Some(Between::Byte(byte)) => options = options.with_delimiter(byte),
        Some(Between::Text(text)) => options = options.with_delimiter(long(text)),
        Some(Between::Blanks) => options = options.with_delimiter(Delimiter::Blanks),
        Some(Between::Nothing) => panic!("the reader has no such option"),
        None => {}
    }
    with_choice(options, given)
}

/// The same options with what is chosen of the table.
fn with_choice(mut options: BatchOptions, given: &Options) -> BatchOptions {
    if let Header::Lines(lines) = given.header {
        options = options.with_header_lines(lines);
    }
    if let Some(columns) = &given.columns {
        options = options.with_columns(columns.iter().map(key));
    }
    if let Some(fields) = given.fields {
        options = options.with_fields(fields);
    }
    if let Some(rows) = given.rows {
        options = options.with_rows(rows as u64);
    }
    if let Some((start, end)) = given.starting_in {
        let extent = Extent::new(start as u64, (end - start) as u64);
        options = options.with_starting_in(extent.expect("small"));
    }
    options
}

fn key(key: &Key) -> ColumnKey {
    match key {
        Key::Name(name) => ColumnKey::Name(name.clone()),
        Key::Index(index) => ColumnKey::Index(*index),
    }
}

/// The same options with words for values.
fn with_words(mut options: BatchOptions, given: &Options) -> BatchOptions {
    // Of objects, there are none if none are given.
    if given.form != Form::JsonLines || !given.nulls.is_empty() {
        options = options.with_null_values(&given.nulls);
    }
    if given.form != Form::JsonLines || !given.trues.is_empty() {
        options = options.with_true_values(&given.trues).with_false_values(&given.falses);
    }
    for (column, meaning, words) in &given.words_of {
        options = match meaning {
            Meaning::Missing => options.with_null_values_of(key(column), words),
            Meaning::True => options.with_true_values_of(key(column), words),
            Meaning::False => options.with_false_values_of(key(column), words),
        };
    }
    options
}

fn encoding(given: Encoding) -> table::Encoding {
    match given {
        Encoding::Auto => table::Encoding::Auto,
        Encoding::Utf8 => table::Encoding::Utf8,
        Encoding::Latin1 => table::Encoding::Latin1,
        Encoding::Utf16Le => table::Encoding::Utf16Le,
        Encoding::Utf16Be => table::Encoding::Utf16Be,
        Encoding::Greek => "windows-1253".parse().expect("an encoding"),
        Encoding::ShiftJis => "shift_jis".parse().expect("an encoding"),
    }
}

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) workers: usize,
    pub(crate) block_size: u64,
    /// Batch by batch.
    pub(crate) is_stream: bool,
}

/// Reads a file, and shows it as the oracle does.
pub(crate) fn read(path: &Path, options: &BatchOptions, how: How) -> Result<Table, Fault> {
    read_of(&[path], options, how).map_err(|(_, fault)| fault)
}

/// Reads files as one table; a fault has the index of its file.
pub(crate) fn read_of<P: AsRef<Path>>(
    paths: &[P],
    options: &BatchOptions,
    how: How,
) -> Result<Table, (usize, Fault)> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let read = ReadOptions::new().with_workers(how.workers);
    let options = options.clone().with_read(read).with_block_size(how.block_size);
    let found = if how.is_stream { stream(&paths, &options) } else { whole(&paths, &options) };
    let file = |error: &Error| paths.iter().position(|path| *path == error.path());
    found.map_err(|error| (file(&error).unwrap_or(0), fault(&error)))
}

fn whole(paths: &[&Path], options: &BatchOptions) -> Result<Table, Error> {
    let batches: Batches = match paths {
        [path] => options.read_batches(*path)?,
        _ => options.read_batches_of(paths.iter().copied())?,
    };
    Ok(table(batches.schema(), batches.report(), batches.batches()))
}

fn stream(paths: &[&Path], options: &BatchOptions) -> Result<Table, Error> {
    let mut stream = match paths {
        [path] => options.stream_batches(*path)?,
        _ => options.stream_batches_of(paths.iter().copied())?,
    };
    let batches: Vec<RecordBatch> = stream.by_ref().collect::<Result<_, _>>()?;
    Ok(table(stream.schema(), stream.report(), &batches))
}

fn table(schema: &Schema, report: &TableReport, batches: &[RecordBatch]) -> Table {
    let delimiter = match report.delimiter {
        Some(Delimiter::Byte(byte)) => Between::Byte(byte),
        Some(Delimiter::Blanks) => Between::Blanks,
        Some(other) => {
            let text = Between::LONG.into_iter().find(|&text| long(text) == other);
            Between::Text(text.expect("one of them"))
        }
        None => Between::Nothing,
    };
    let encodings = [
        Encoding::Utf8,
        Encoding::Latin1,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
        Encoding::Greek,
        Encoding::ShiftJis,
    ];
    let encoding = encodings.into_iter().find(|&one| encoding(one) == report.encoding);
    let renamed = |one: &table::Renamed| Renamed {
        column: one.index,
        from: one.from.clone(),
        to: one.to.clone(),
    };
    let set_aside = &report.set_aside;
    Table {
        delimiter,
        fixed: report.fixed.iter().map(|one| (one.start, one.end)).collect(),
        header: report.header_lines,
        encoding: encoding.expect("one of them"),
        rows: number(report.rows),
        columns: (0..report.columns.len())
            .map(|at| column(schema, &report.columns[at], batches, at))
            .collect(),
        renamed: report.renamed.iter().map(renamed).collect(),
        set_aside: SetAside {
            count: number(set_aside.count),
            lines: set_aside.lines.iter().map(|one| number(one.line)).collect(),
        },
        dropped: number(report.dropped),
        replaced: number(report.replaced),
    }
}

pub(crate) fn long(text: &str) -> Delimiter {
    text.parse().expect("a delimiter")
}

fn number(count: u64) -> usize {
    count.try_into().expect("small")
}

fn column(
    schema: &Schema,
    report: &ColumnReport,
    batches: &[RecordBatch],
    at: usize,
) -> Column {
    let mut values = Vec::new();
    for batch in batches {
        assert_eq!(batch.schema().field(at).name(), &report.name);
        let array = batch.column(at);
        if !report.kind.data_type().is_nested() {
            assert_eq!(array.data_type(), &report.kind.data_type());
        }
        values.extend((0..array.len()).map(|row| value(array, row)));
    }
    let word = report.kind.to_string();
    let schema = schema.field(at).data_type();
    assert_eq!(schema.is_nested(), report.kind.data_type().is_nested());
    Column {
        name: report.name.clone(),
        type_is: type_of(&word),
        nested: schema.is_nested().then(|| nested_word(schema)),
        is_told: report.is_told,
        nulls: number(report.nulls),
        deciding_line: report.deciding.map(|one| number(one.line)),
        rounded: changes(report.rounded),
        padded: changes(report.padded),
        as_text: changes(report.as_text),
        values,
    }
}

fn type_of(word: &str) -> Type {
    match word {
        "null" => Type::Null,
        "struct" => Type::Struct,
        "list" => Type::List,
        word => Type::named(word).expect("a type"),
    }
}

/// A type in the words of the oracle.
fn nested_word(kind: &DataType) -> String {
    match kind {
        DataType::Struct(fields) => {
            let field = |field: &FieldRef| {
                format!("{}: {}", quoted(field.name()), nested_word(field.data_type()))
            };
            format!("struct<{}>", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        DataType::List(item) => format!("list<{}>", nested_word(item.data_type())),
        plain => table::ColumnType::word_of(plain),
    }
}

/// A value as the oracle shows those in structs and lists.
fn nested(array: &dyn Array, row: usize) -> String {
    match value(array, row) {
        Value::Missing => "-".to_owned(),
        Value::Nested(text) => text,
        plain => shown(&plain, type_of(&table::ColumnType::word_of(array.data_type()))),
    }
}

fn changes(found: table::Changes) -> Changes {
    Changes { count: number(found.count), line: found.first.map(|one| number(one.line)) }
}

fn value(array: &dyn Array, row: usize) -> Value {
    macro_rules! whole {
        ($type:ty) => {
            Value::Whole(array.as_primitive::<$type>().value(row).into())
        };
    }
    if array.data_type() == &DataType::Null || array.is_null(row) {
        return Value::Missing;
    }
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int8 => whole!(types::Int8Type),
        DataType::Int16 => whole!(types::Int16Type),
        DataType::Int32 => whole!(types::Int32Type),
        DataType::Int64 => whole!(types::Int64Type),
        DataType::UInt8 => whole!(types::UInt8Type),
        DataType::UInt16 => whole!(types::UInt16Type),
        DataType::UInt32 => whole!(types::UInt32Type),
        DataType::UInt64 => whole!(types::UInt64Type),
        DataType::Float32 => {
            Value::float(array.as_primitive::<types::Float32Type>().value(row).into())
        }
        DataType::Float64 => {
            Value::float(array.as_primitive::<types::Float64Type>().value(row))
        }
        DataType::Date32 => {
            Value::Date(array.as_primitive::<types::Date32Type>().value(row).into())
        }
        DataType::Timestamp(unit, zone) => moment(array, row, *unit, zone.is_some()),
        DataType::LargeUtf8 => Value::Text(array.as_string::<i64>().value(row).to_owned()),
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<types::Int32Type>();
            let key = usize::try_from(array.keys().value(row)).expect("not negative");
            Value::Text(array.values().as_string::<i32>().value(key).to_owned())
        }
        DataType::Struct(_) => {
            let fields = array.as_struct().columns().iter().map(|field| nested(field, row));
            Value::Nested(format!("{{{}}}", fields.collect::<Vec<_>>().join(", ")))
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            let items = (0..list.len()).map(|at| nested(&list, at));
            Value::Nested(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
        }
        other => panic!("{other}"),
    }
}

fn moment(array: &dyn Array, row: usize, unit: TimeUnit, zoned: bool) -> Value {
    let (value, nanoseconds) = match unit {
        TimeUnit::Second => {
            (array.as_primitive::<types::TimestampSecondType>().value(row), 1_000_000_000)
        }
        TimeUnit::Millisecond => {
            (array.as_primitive::<types::TimestampMillisecondType>().value(row), 1_000_000)
        }
        TimeUnit::Microsecond => {
            (array.as_primitive::<types::TimestampMicrosecondType>().value(row), 1000)
        }
        TimeUnit::Nanosecond => {
            (array.as_primitive::<types::TimestampNanosecondType>().value(row), 1)
        }
    };
    Value::Timestamp { nanoseconds: i128::from(value) * nanoseconds, zoned }
}

/// Returns the fault that an error describes.
fn fault(error: &Error) -> Fault {
    let text = error.to_string();
    if error.reason() == FormatReason::Invalid {
        return Fault::of_options();
    }
    let wrong = [
        ("not JSON", Wrong::Json),
        ("a key that the object has already", Wrong::Twice),
        ("a NUL byte in the name", Wrong::Nul),
        ("text outside of the columns", Wrong::Outside),
        ("not UTF-8", Wrong::Encoding),
        ("bytes that are not ", Wrong::Encoding),
        ("half of a character", Wrong::Encoding),
        ("carriage return", Wrong::Return),
        ("text after a closing quote", Wrong::AfterQuote),
        ("a quote opens here", Wrong::OpenQuote),
        ("nothing follows the escape", Wrong::OpenEscape),
        ("has no records", Wrong::Empty),
        ("has fewer records", Wrong::Empty),
        ("of type ", Wrong::Misfit),
        ("more digits after the second", Wrong::Misfit),
        ("a complex number", Wrong::Notation),
        ("a typographic minus sign", Wrong::Notation),
        ("numbers with decimal commas", Wrong::Notation),
    ];
    let found = wrong.into_iter().find(|(words, _)| text.contains(words));
    let wrong = found.map_or_else(|| ragged(&text), |(_, wrong)| wrong);
    if wrong == Wrong::Nul && error.offset().is_none() {
        return Fault::new(wrong, 0, 0);
    }
    let byte = number(error.offset().unwrap_or_else(|| panic!("{text}")));
    let line = error.line().map_or(0, number);
    let column = text.split_once(" in column `").map(|(_, rest)| {
        let end = rest.rfind("`: `").unwrap_or_else(|| panic!("{text}"));
        rest[..end].to_owned()
    });
    Fault { wrong, line, byte, column }
}

fn ragged(text: &str) -> Wrong {
    let words: Vec<&str> = text.split(' ').collect();
    let at = words.iter().position(|&word| word == "where");
    let at = at.unwrap_or_else(|| panic!("{text}"));
    let number = |at: usize| words[at].parse().unwrap_or_else(|_| panic!("{text}"));
    Wrong::Ragged { found: number(at - 2), expected: number(at + 1) }
}
