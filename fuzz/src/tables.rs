//! Tables: arrays, and any types.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table::{
    self, BatchForm, BatchOptions, BatchWriteOptions, Delimiter, HeaderLine,
};

use super::{judge, with_file};

/// A table, as arrays of doubles and of integers; its first column alone, and with blanks between fields. Small blocks give the same results and errors as one block.
///
/// # Panics
///
/// If they do not.
pub fn table(bytes: &[u8]) {
    let read = ReadOptions::new().with_workers(2);
    let options = BatchOptions::new().with_read(read);
    with_file(bytes, |path| {
        judge(options.clone().with_block_size(64).read_array::<i32>(path));
        for options in [
            options.clone(),
            options.clone().with_columns([0]),
            options.clone().with_delimiter(Delimiter::Blanks).with_header(HeaderLine::Absent),
        ] {
            let small = options.clone().with_block_size(7);
            let arrays = [&options, &small].map(|it| text(it.read_array::<f64>(path)));
            assert_eq!(arrays[0], arrays[1], "other blocks, another array");
        }
    });
}

/// A table of any types in each form, written as JSON Lines. Small blocks, a stream and compression
/// give the same rows, or an error.
///
/// # Panics
///
/// If they do not.
pub fn batches(bytes: &[u8]) {
    const PACKED: [&[u8]; 3] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh"];
    let gzip = CompressOptions::new().with_format(Format::Gzip);
    for form in [BatchForm::Csv, BatchForm::JsonLines, BatchForm::Fixed] {
        let read = ReadOptions::new().with_workers(2);
        let options = BatchOptions::new().with_form(form).with_read(read);
        let read = |options: &BatchOptions, path: &Path| {
            written(path, "jsonl", |write, output| {
                let table = options.read_batches(path)?;
                write.write_batches(output, table.schema(), table.batches())
            })
        };
        with_file(bytes, |path| {
            let whole = read(&options, path);
            let small = read(&options.clone().with_block_size(7), path);
            assert_eq!(small, whole, "other blocks, another table, {form:?}");
            let stream = written(path, "jsonl", |write, output| {
                let stream = options.stream_batches(path)?;
                let schema = Arc::clone(stream.schema());
                write.write_batches(output, &schema, stream)
            });
            assert_eq!(stream, whole, "a stream is another table, {form:?}");
            let packed = path.with_extension("gz");
            gzip.compress(path, packed.as_path()).expect("room");
            let unpacked = read(&options, &packed);
            let _ = fs::remove_file(&packed);
            // What is compressed twice is no table.
            if !PACKED.iter().any(|mark| bytes.starts_with(mark)) {
                assert_eq!(unpacked.ok(), whole.ok(), "compressed, another table, {form:?}");
            }
        });
    }
}

/// The batches of an Arrow file or stream, written as JSON Lines; the same after they were written as an
/// Arrow file.
///
/// # Panics
///
/// If they are not.
pub fn arrow_batches(bytes: &[u8]) {
    let copy = |path: &Path, end, then: &dyn Fn(&Path)| {
        written(path, end, |write, output| {
            let batches = table::arrow::batches(path)?;
            let schema = Arc::clone(batches.schema());
            let written = write.write_batches(output, &schema, batches)?;
            then(output);
            Ok(written)
        })
    };
    with_file(bytes, |path| {
        let objects = copy(path, "jsonl", &|_| ());
        let again = |arrow: &Path| {
            let again = copy(arrow, "jsonl", &|_| ());
            assert_eq!(again.ok(), objects.clone().ok(), "other batches came back");
        };
        drop(copy(path, "arrow", &again));
    });
}

/// Returns the bytes that `write` leaves in a file next to `path`, or its error, which must name a file.
fn written<T>(
    path: &Path,
    end: &str,
    write: impl FnOnce(&BatchWriteOptions, &Path) -> swath_formats::Result<T>,
) -> Result<Vec<u8>, String> {
    let output = path.with_extension(end);
    let durability = OutputOptions::new().with_durability(Durability::None);
    let done = write(&BatchWriteOptions::new().with_output(durability), &output);
    let bytes = fs::read(&output);
    let _ = fs::remove_file(&output);
    let text = done.as_ref().err().map(ToString::to_string);
    judge(done);
    text.map_or_else(|| Ok(bytes.expect("it was written")), Err)
}

/// NumPy's arrays.
pub fn npy(bytes: &[u8]) {
    with_file(bytes, |path| {
        judge(table::npy::info(path));
        judge(table::npy::read::<f64>(path));
        judge(table::npy::read::<i32>(path));
    });
}

/// Reads the summary of an Arrow file.
pub fn arrow(bytes: &[u8]) {
    with_file(bytes, |path| judge(table::arrow::info(path)));
}

/// Returns the outcome as text.
fn text<T: std::fmt::Debug>(outcome: swath_formats::Result<T>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}
