//! Tables as short texts, to be compared.

use std::path::Path;

use arrow_array::{Array, RecordBatch, cast::AsArray, types};
use arrow_schema::{DataType, TimeUnit};
use swath::ReadOptions;
use swath_formats::table::{BatchOptions, Batches, Scalar};

/// Returns each column as one line: name, type, and values without those that are missing.
pub(crate) fn table(read: &Batches) -> Vec<String> {
    lines(read.schema(), read.batches())
}

pub(crate) fn lines(schema: &arrow_schema::Schema, batches: &[RecordBatch]) -> Vec<String> {
    let column = |at: usize| {
        let field = schema.field(at);
        let mut line = format!("{} {}:", field.name(), kind(field.data_type()));
        for batch in batches {
            assert_eq!(batch.column(at).data_type(), field.data_type());
            for row in 0..batch.num_rows() {
                line.push(' ');
                line.push_str(&value(batch.column(at), row));
            }
        }
        line
    };
    (0..schema.fields().len()).map(column).collect()
}

fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::LargeUtf8 => "text".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Date32 => "date".to_owned(),
        DataType::Dictionary(..) => "dictionary".to_owned(),
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            format!("{unit}{}", if zone.is_some() { "Z" } else { "" })
        }
        DataType::Struct(fields) => {
            let field =
                |it: &arrow_schema::FieldRef| format!("{} {}", it.name(), kind(it.data_type()));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        DataType::List(item) => format!("[{}]", kind(item.data_type())),
        other => other.to_string().to_lowercase().replace("int", "").replace("float", "f"),
    }
}

fn value(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) || column.data_type() == &DataType::Null {
        return "_".to_owned();
    }
    match column.data_type() {
        DataType::LargeUtf8 => format!("{:?}", column.as_string::<i64>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<types::Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<types::UInt64Type>().value(row).to_string(),
        DataType::Int8 => column.as_primitive::<types::Int8Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<types::UInt32Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<types::Float64Type>().value(row).to_string(),
        DataType::Float32 => column.as_primitive::<types::Float32Type>().value(row).to_string(),
        DataType::Date32 => column.as_primitive::<types::Date32Type>().value(row).to_string(),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            column.as_primitive::<types::TimestampMicrosecondType>().value(row).to_string()
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            column.as_primitive::<types::TimestampNanosecondType>().value(row).to_string()
        }
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<types::Int32Type>();
            let key = usize::try_from(column.keys().value(row)).expect("not missing");
            format!("{:?}", column.values().as_string::<i32>().value(key))
        }
        DataType::Struct(_) | DataType::List(_) => {
            Scalar::of(column, row).expect("not missing").to_string()
        }
        other => panic!("{other}"),
    }
}

/// Reads a text at several block sizes and numbers of workers, as a whole and as a stream; the
/// results are the same.
pub(crate) fn read(text: impl AsRef<[u8]>, options: &BatchOptions) -> Result<Batches, String> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text.as_ref()).expect("room");
    every_way(file.path(), options)
}

pub(crate) fn every_way(path: &Path, options: &BatchOptions) -> Result<Batches, String> {
    let strip = |error: String| error.replace(&path.display().to_string(), "FILE");
    let one = options.clone().with_read(ReadOptions::new().with_workers(1)).read_batches(path);
    let one = one.map_err(|error| strip(error.to_string()));
    for (workers, size) in [(1, 1), (4, 1), (2, 2), (3, 7), (2, 64), (4, 1000)] {
        let read = ReadOptions::new().with_workers(workers);
        let options = options.clone().with_read(read).with_block_size(size);
        let other = options.read_batches(path).map_err(|error| strip(error.to_string()));
        let stream = options.stream_batches(path).and_then(|stream| {
            let schema = stream.schema().clone();
            let batches = stream.collect::<Result<Vec<_>, _>>()?;
            Ok(lines(&schema, &batches))
        });
        let stream = stream.map_err(|error| strip(error.to_string()));
        let whole = one.as_ref().map(table).map_err(String::clone);
        assert_eq!(other.as_ref().map(table).map_err(String::clone), whole, "{workers} {size}");
        assert_eq!(stream, whole, "stream {workers} {size}");
        if let (Ok(one), Ok(other)) = (&one, &other) {
            assert_eq!(one.report(), other.report(), "{workers} {size}");
        }
    }
    one
}
