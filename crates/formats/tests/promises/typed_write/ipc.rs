//! Arrow files and streams, read back by Arrow's own reader.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringViewArray,
    record_batch,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::Schema;
use swath::OutputOptions;
use swath_formats::FormatReason;
use swath_formats::table::{BatchWriteOptions, arrow, write_batches};

use super::drawn::{Draw, Table};

/// The batches of a file or stream.
fn read(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let read = Cursor::new(bytes.clone());
    let batches: Result<_, _> = match bytes.starts_with(b"ARROW1") {
        true => FileReader::try_new(read, None).expect("a file").collect(),
        false => StreamReader::try_new(read, None).expect("a stream").collect(),
    };
    batches.expect("intact")
}

/// Rows of all batches, column by column.
fn rows(batches: &[RecordBatch]) -> Vec<ArrayRef> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            rows.extend(batch.columns().iter().map(|column| column.slice(row, 1)));
        }
    }
    rows
}

#[test]
fn what_was_written_is_read_back_batch_by_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, missing) in [(80, 0), (81, 30)] {
        let mut draw = Draw::new(seed, missing);
        let table = Table::draw(&mut draw, 300);
        for name in ["t.arrow", "t.arrows"] {
            let path = folder.path().join(name);
            let mut files = Vec::new();
            for workers in 1..=3 {
                let output = OutputOptions::new().with_workers(workers);
                let options = BatchWriteOptions::new().with_output(output);
                let written = options.write_batches(&path, &table.schema, &table.batches);
                assert_eq!(written.expect("written").rows, 300);
                files.push(std::fs::read(&path).expect("there"));
            }
            assert!(files.iter().all(|it| *it == files[0]));
            let back = read(files.swap_remove(0));
            assert_eq!(back.len(), table.batches.len());
            for (is, wanted) in back.iter().zip(&table.batches) {
                assert_eq!(is, wanted);
            }
        }
    }
}

#[test]
fn large_batches_are_cut_and_hold_only_their_own_texts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.arrow");
    let texts: StringViewArray =
        (0..5000).map(|at| Some(format!("a text that is not in its view: {at}"))).collect();
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5000));
    let batch = [("n", numbers), ("t", Arc::new(texts) as ArrayRef)];
    let batch = RecordBatch::try_from_iter(batch).expect("one");
    write_batches(&path, &batch.schema(), [&batch]).expect("written");
    let whole = std::fs::metadata(&path).expect("there").len();
    let options = BatchWriteOptions::new().with_block_size(10_000);
    options.write_batches(&path, &batch.schema(), [&batch]).expect("written");
    let bytes = std::fs::read(&path).expect("there");
    assert!((bytes.len() as u64) < 2 * whole, "{} and {whole}", bytes.len());
    let back = read(bytes);
    assert!(back.len() > 10, "{} batches", back.len());
    assert_eq!(rows(&back), rows(&[batch]));
}

#[test]
fn names_and_metadata_of_the_schema_are_kept_or_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.arrow");
    let batch = record_batch!(("a", Int64, [1, 2]), ("b", Float64, [0.5, 1.5])).expect("one");
    let schema = batch.schema().as_ref().clone();
    let words = HashMap::from([("unit".to_owned(), "m".to_owned())]);
    let schema = Schema::new_with_metadata(schema.fields, words);
    let options = BatchWriteOptions::new().with_names(["x", "y"]);
    options.write_batches(&path, &schema, [&batch]).expect("written");
    let info = arrow::info(&path).expect("readable");
    assert_eq!((info.rows, &info.names[..]), (2, &["x".to_owned(), "y".to_owned()][..]));
    assert_eq!(info.metadata["unit"], "m");
}

#[test]
fn without_batches_there_is_the_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = record_batch!(("a", Int64, [1])).expect("one");
    for name in ["t.arrow", "t.arrows"] {
        let path = folder.path().join(name);
        write_batches(&path, &batch.schema(), [] as [RecordBatch; 0]).expect("written");
        assert!(read(std::fs::read(&path).expect("there")).is_empty());
    }
}

#[test]
fn dictionaries_that_change_are_for_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = |words: [&str; 2]| {
        let words: DictionaryArray<Int32Type> = words.into_iter().collect();
        RecordBatch::try_from_iter([("w", Arc::new(words) as ArrayRef)]).expect("one")
    };
    let batches = [batch(["a", "b"]), batch(["c", "d"])];
    let path = folder.path().join("t.arrows");
    write_batches(&path, &batches[0].schema(), &batches).expect("written");
    assert_eq!(read(std::fs::read(&path).expect("there")), batches);
    let path = folder.path().join("t.arrow");
    let error = write_batches(&path, &batches[0].schema(), &batches).expect_err("it changes");
    assert_eq!((error.reason(), path.exists()), (FormatReason::Unsupported, false), "{error}");
    assert!(error.what_to_try().contains("Arrow stream"), "{error}");
}
