//! Files that were written are read back by the reader of typed tables: by default with the types
//! given, and without as far as the text shows them.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float16Type, Float32Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch, record_batch};
use arrow_schema::{DataType, TimeUnit};
use swath::OutputOptions;
use swath_formats::table::{
    BatchOptions, BatchWriteOptions, ColumnKey, ColumnType, HeaderLine, Quoting, read_batches,
    write_batches,
};
use swath_reference::typed_write::{Cell, plain};

use super::drawn::{Column, Draw, Table, columns};

/// The type that reads a column back, and whether it holds all that the column did.
fn told(kind: &DataType) -> Option<ColumnType> {
    Some(match kind {
        DataType::Null => ColumnType::Null,
        DataType::Boolean => ColumnType::Bool,
        DataType::Int8 => ColumnType::I8,
        DataType::Int16 => ColumnType::I16,
        DataType::Int32 => ColumnType::I32,
        DataType::Int64 => ColumnType::I64,
        DataType::UInt8 => ColumnType::U8,
        DataType::UInt16 => ColumnType::U16,
        DataType::UInt32 => ColumnType::U32,
        DataType::UInt64 => ColumnType::U64,
        DataType::Float16 | DataType::Float32 => ColumnType::F32,
        DataType::Float64 => ColumnType::F64,
        DataType::Date32 | DataType::Date64 => ColumnType::Date,
        DataType::Timestamp(unit, None) => ColumnType::Timestamp(*unit),
        DataType::Timestamp(unit, Some(_)) => ColumnType::Zoned(*unit),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        DataType::Dictionary(_, kind) if !kind.is_primitive() => ColumnType::Text,
        // Times of day and decimals: as text they are what was written.
        DataType::Time32(_) | DataType::Time64(_) | DataType::Decimal128(..) => {
            ColumnType::Text
        }
        DataType::Dictionary(..) => ColumnType::I64,
        _ => return None,
    })
}

/// The cells of a column that was read.
fn cells(batches: &[RecordBatch], column: usize) -> Vec<Cell> {
    batches.iter().flat_map(|batch| of_array(batch.column(column))).collect()
}

fn of_array(array: &ArrayRef) -> Vec<Cell> {
    use arrow_array::types as of;
    macro_rules! cells {
        ($kind:ty, $cell:expr) => {
            array
                .as_primitive::<$kind>()
                .iter()
                .map(|it| it.map_or(Cell::Missing, $cell))
                .collect()
        };
    }
    let zoned = |zone: &Option<Arc<str>>| zone.is_some();
    match array.data_type() {
        DataType::Null => vec![Cell::Missing; array.len()],
        DataType::Boolean => {
            array.as_boolean().iter().map(|it| it.map_or(Cell::Missing, Cell::Bool)).collect()
        }
        DataType::Int8 => cells!(of::Int8Type, |it| Cell::Whole(it.into())),
        DataType::Int16 => cells!(of::Int16Type, |it| Cell::Whole(it.into())),
        DataType::Int32 => cells!(of::Int32Type, |it| Cell::Whole(it.into())),
        DataType::Int64 => cells!(of::Int64Type, |it| Cell::Whole(it.into())),
        DataType::UInt8 => cells!(of::UInt8Type, |it| Cell::Whole(it.into())),
        DataType::UInt16 => cells!(of::UInt16Type, |it| Cell::Whole(it.into())),
        DataType::UInt32 => cells!(of::UInt32Type, |it| Cell::Whole(it.into())),
        DataType::UInt64 => cells!(of::UInt64Type, |it| Cell::Whole(it.into())),
        DataType::Float16 => cells!(Float16Type, |it| Cell::Single(it.to_f32())),
        DataType::Float32 => cells!(Float32Type, Cell::Single),
        DataType::Float64 => cells!(of::Float64Type, Cell::Double),
        DataType::Date32 => cells!(of::Date32Type, |it| Cell::Date(it.into())),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            cells!(of::TimestampSecondType, |count| instant(count, 0, zoned(zone)))
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            cells!(of::TimestampMillisecondType, |count| instant(count, 3, zoned(zone)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            cells!(of::TimestampMicrosecondType, |count| instant(count, 6, zoned(zone)))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            cells!(of::TimestampNanosecondType, |count| instant(count, 9, zoned(zone)))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>().iter();
            texts.map(|it| it.map_or(Cell::Missing, |it| Cell::Text(it.to_owned()))).collect()
        }
        other => panic!("a column of {other}"),
    }
}

fn instant(count: i64, decimals: u32, is_zoned: bool) -> Cell {
    Cell::Instant { count, decimals, is_zoned }
}

/// The same value, whatever the bits of NaN are.
fn same(is: &Cell, wanted: &Cell) -> bool {
    match (is, wanted) {
        (Cell::Double(is), Cell::Double(wanted)) => {
            is.to_bits() == wanted.to_bits() || (is.is_nan() && wanted.is_nan())
        }
        (Cell::Single(is), Cell::Single(wanted)) => {
            is.to_bits() == wanted.to_bits() || (is.is_nan() && wanted.is_nan())
        }
        (Cell::Text(is), Cell::Time { .. } | Cell::Whole(_)) => *is == plain(wanted),
        _ => is == wanted,
    }
}

fn check(path: &Path, table: &Table, options: &BatchOptions) {
    let types = table.schema.fields().iter().enumerate().map(|(at, field)| {
        (ColumnKey::from(at), told(field.data_type()).expect("a type that text has"))
    });
    let read = options.clone().with_types(types).with_header(HeaderLine::Present);
    let read = read.read_batches(path).expect("read back");
    assert_eq!(read.rows(), table.rows.len() as u64);
    for (at, name) in table.names.iter().enumerate() {
        assert_eq!(read.schema().field(at).name(), name);
        let is = cells(read.batches(), at);
        for (row, (is, cells)) in is.iter().zip(&table.rows).enumerate() {
            let kind = table.schema.field(at).data_type();
            assert!(same(is, &cells[at]), "row {row} of {kind}: {is:?} and {:?}", cells[at]);
        }
    }
}

#[test]
fn every_type_is_read_back_if_it_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, missing) in (100..).zip([0, 10, 50, 100]) {
        let mut draw = Draw::new(seed, missing);
        let table = Table::draw(&mut draw, 600);
        for name in ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst"] {
            let path = folder.path().join(name);
            let output = OutputOptions::new().with_workers(3);
            let write = BatchWriteOptions::new().with_output(output).with_block_size(5000);
            for quoting in [Quoting::Minimal, Quoting::All] {
                let write = write.clone().with_quoting(quoting);
                write.write_batches(&path, &table.schema, &table.batches).expect("written");
                check(&path, &table, &BatchOptions::new());
            }
        }
    }
}

#[test]
fn a_guessed_delimiter_is_the_one_that_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for (seed, delimiter) in (110..).zip([b',', b';', b'|', b'\t']) {
        let mut draw = Draw::new(seed, 10);
        // Each text has the same other delimiter: a rival.
        for text in ["a,b", "a;b", "a|b", "a\tb", "sep=", "\u{feff}"] {
            let texts = |rows| -> Column {
                let texts = vec![text; rows];
                let cells = vec![Cell::Text(text.to_owned()); rows];
                (Arc::new(arrow_array::StringArray::from(texts)), cells)
            };
            for count in 1..4 {
                let names = (0..count).map(|at| format!("{text}{at}").replace('\u{feff}', "x"));
                let columns = (0..count).map(|_| texts(50)).collect();
                let table = Table::of(columns, names.collect(), &mut draw);
                let write = BatchWriteOptions::new().with_delimiter(delimiter);
                write.write_batches(&path, &table.schema, &table.batches).expect("written");
                check(&path, &table, &BatchOptions::new());
            }
        }
    }
}

#[test]
fn a_table_of_one_column_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for (seed, missing) in (120..).zip([0, 30, 100]) {
        let mut draw = Draw::new(seed, missing);
        for column in columns(&mut draw, 120) {
            let table = Table::of(vec![column], vec!["x y".to_owned()], &mut draw);
            write_batches(&path, &table.schema, &table.batches).expect("written");
            check(&path, &table, &BatchOptions::new());
            let write = BatchWriteOptions::new().with_header(HeaderLine::Absent);
            write.write_batches(&path, &table.schema, &table.batches).expect("written");
            let kind = told(table.schema.field(0).data_type()).expect("a type");
            let read = BatchOptions::new()
                .with_header(HeaderLine::Absent)
                .with_types([(ColumnKey::from(0), kind)])
                .read_batches(&path)
                .expect("read back");
            let is = cells(read.batches(), 0);
            assert_eq!((is.len(), read.schema().fields().len()), (120, 1));
            assert!(is.iter().zip(&table.rows).all(|(is, cells)| same(is, &cells[0])));
        }
    }
}

#[test]
fn a_word_for_missing_values_is_read_back_if_it_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let mut draw = Draw::new(130, 30);
    let table = Table::draw(&mut draw, 300);
    let write = BatchWriteOptions::new().with_null_word("none");
    write.write_batches(&path, &table.schema, &table.batches).expect("written");
    check(&path, &table, &BatchOptions::new().with_null_values(["none"]));
}

#[test]
fn types_are_guessed_as_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let mut draw = Draw::new(140, 20);
    let table = Table::draw(&mut draw, 500);
    write_batches(&path, &table.schema, &table.batches).expect("written");
    let read = read_batches(&path).expect("read back");
    for (at, field) in table.schema.fields().iter().enumerate() {
        let kind = read.report().columns[at].kind;
        let wanted = match field.data_type() {
            DataType::Float16 | DataType::Float32 => ColumnType::F64,
            DataType::UInt64 => kind,
            DataType::Decimal128(..) => kind,
            kind if kind.is_integer() => ColumnType::I64,
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                told(field.data_type()).expect("one")
            }
            DataType::Timestamp(_, None) => ColumnType::Timestamp(TimeUnit::Microsecond),
            DataType::Timestamp(_, Some(_)) => ColumnType::Zoned(TimeUnit::Microsecond),
            kind => told(kind).expect("one"),
        };
        assert_eq!(kind, wanted, "{field}");
    }
    let batch = record_batch!(("a", Utf8, ["1", "2"]), ("b", Utf8, ["true", ""])).expect("one");
    write_batches(&path, &batch.schema(), [&batch]).expect("written");
    let kinds: Vec<_> = read_batches(&path)
        .expect("read back")
        .report()
        .columns
        .iter()
        .map(|it| it.kind)
        .collect();
    assert_eq!(kinds, [ColumnType::I64, ColumnType::Bool]);
}
