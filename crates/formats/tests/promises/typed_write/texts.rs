//! CSV and TSV: every type, missing values, quotes, for any number of workers and size of pieces.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, record_batch};
use swath::OutputOptions;
use swath_formats::table::{
    BatchWriteOptions, Decimals, HeaderLine, LineEnd, Quoting, write_batches,
};
use swath_reference::battery::Battery;
use swath_reference::typed_write::{Cell, Quoted, SeparatedForm, separated};

use super::drawn::{Draw, Table, columns};

/// Returns the form that the slow version writes by default.
pub(super) fn usual() -> SeparatedForm {
    SeparatedForm {
        delimiter: ',',
        quoted: Quoted::Some,
        end: "\n",
        missing: String::new(),
        has_header: true,
    }
}

/// Writes a table with several workers and sizes of pieces, and compares each text.
fn compare(path: &Path, table: &Table, options: &BatchWriteOptions, form: &SeparatedForm) {
    let wanted = separated(&table.names, &table.rows, form);
    for (workers, block_size) in [(1, 0), (2, 1), (3, 300), (4, 10_000)] {
        let output = OutputOptions::new().with_workers(workers);
        let options = options.clone().with_output(output).with_block_size(block_size);
        let written = options.write_batches(path, &table.schema, &table.batches);
        let written = written.expect("written");
        let text = std::fs::read_to_string(path).expect("text");
        let lines = text.lines().zip(wanted.lines());
        for (is, wanted) in lines {
            assert_eq!(is, wanted, "{workers} workers, blocks of {block_size}");
        }
        assert!(text == wanted, "{workers} workers, blocks of {block_size}");
        assert_eq!(written.rows, table.rows.len() as u64);
        assert_eq!(
            (written.bytes_in, written.bytes_out),
            (text.len() as u64, text.len() as u64)
        );
    }
}

#[test]
fn every_type_is_written_as_the_slow_version_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for (seed, missing) in (0..).zip([0, 1, 50, 100]) {
        let mut draw = Draw::new(seed, missing);
        let table = Table::draw(&mut draw, 700);
        compare(&path, &table, &BatchWriteOptions::new(), &usual());
    }
}

#[test]
fn delimiters_quotes_line_ends_and_words_are_those_that_were_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let delimiters = ['\t', ',', ';', '|', ':', ' ', '\u{1}', '~'];
    for (seed, delimiter) in Battery::of_list("combinations", 3, (10..).zip(delimiters)) {
        let mut draw = Draw::new(seed, 20);
        let table = Table::draw(&mut draw, 150);
        let byte = u8::try_from(delimiter).expect("ASCII");
        for (quoting, quoted) in [(Quoting::Minimal, Quoted::Some), (Quoting::All, Quoted::All)]
        {
            for (word, end, line_end, header) in [
                ("", "\n", LineEnd::Newline, HeaderLine::Present),
                ("none", "\r\n", LineEnd::ReturnNewline, HeaderLine::Absent),
            ] {
                let options = BatchWriteOptions::new()
                    .with_delimiter(byte)
                    .with_quoting(quoting)
                    .with_line_end(line_end)
                    .with_null_word(word)
                    .with_header(header);
                let has_header = header == HeaderLine::Present;
                let missing = word.to_owned();
                let form = SeparatedForm { delimiter, quoted, end, missing, has_header };
                compare(&path, &table, &options, &form);
            }
        }
    }
}

#[test]
fn a_table_of_one_column_has_no_empty_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let mut draw = Draw::new(30, 30);
    for (at, column) in columns(&mut draw, 200).into_iter().enumerate() {
        for name in ["x", " a", "a b", "#1", "NA"] {
            let table = Table::of(vec![column.clone()], vec![name.to_owned()], &mut draw);
            compare(&path, &table, &BatchWriteOptions::new(), &usual());
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(!text.contains("\n\n") && !text.starts_with('\n'), "column {at}");
        }
    }
}

#[test]
fn a_tsv_has_tabs_and_names_may_be_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.TSV");
    let batch = record_batch!(("a", Int8, [1, 2]), ("b", Utf8, ["x\ty", "z,"])).expect("one");
    let options = BatchWriteOptions::new().with_names(["one", "t\two"]);
    options.write_batches(&path, &batch.schema(), [&batch]).expect("written");
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!(text, "one\t\"t\two\"\n1\t\"x\ty\"\n2\tz,\n");
}

#[test]
fn a_table_without_rows_is_a_header_or_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let batch = record_batch!(("a", Int8, [1]), ("b", Utf8, ["x"])).expect("one");
    let none = [batch.slice(0, 0), batch.slice(1, 0)];
    for batches in [&none[..], &[]] {
        let written = write_batches(&path, &batch.schema(), batches).expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "a,b\n");
        assert_eq!((written.rows, written.bytes_out), (0, 4));
        let options = BatchWriteOptions::new().with_header(HeaderLine::Absent);
        options.write_batches(&path, &batch.schema(), batches).expect("written");
        assert_eq!(std::fs::read(&path).expect("there"), b"");
    }
}

#[test]
fn decimals_are_as_many_as_requested() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let batch = record_batch!(
        ("a", Float64, [Some(0.125), None, Some(f64::NAN)]),
        ("b", Float32, [1.0, -0.1, f32::INFINITY])
    )
    .expect("one");
    let options = BatchWriteOptions::new().with_decimals(Decimals::Fixed(2));
    options.write_batches(&path, &batch.schema(), [batch]).expect("written");
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!(text, "a,b\n0.12,1.00\n,-0.10\nnan,inf\n");
}

/// Rows of very different sizes, and values that are longer than any piece.
#[test]
fn long_texts_and_wide_tables_are_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let texts: Vec<String> = (0..40).map(|at| "x,\"".repeat(at * at * 20)).collect();
    let cells = texts.iter().map(|text| Cell::Text(text.clone())).collect();
    let column = (Arc::new(StringArray::from(texts)) as ArrayRef, cells);
    let mut draw = Draw::new(31, 0);
    let names = vec!["a".to_owned(), "b".to_owned()];
    let table = Table::of(vec![column.clone(), column], names, &mut draw);
    compare(&path, &table, &BatchWriteOptions::new(), &usual());
    let numbers = |at: i64| {
        let cells = vec![Cell::Whole(at.into()), Cell::Missing];
        (Arc::new(Int64Array::from(vec![Some(at), None])) as ArrayRef, cells)
    };
    let names = (0..5000).map(|at| at.to_string()).collect();
    let table = Table::of((0..5000).map(numbers).collect(), names, &mut draw);
    compare(&path, &table, &BatchWriteOptions::new(), &usual());
}

#[test]
fn batches_may_be_given_in_every_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let batch = record_batch!(("a", Int8, [1]), ("b", Utf8, ["x"])).expect("one");
    let schema = batch.schema();
    let read = || std::fs::read_to_string(&path).expect("text");
    let one: Result<RecordBatch, std::io::Error> = Ok(batch.clone());
    write_batches(&path, &schema, [one]).expect("results");
    assert_eq!(read(), "a,b\n1,x\n");
    write_batches(&path, &schema, vec![batch.clone(), batch.clone()]).expect("batches");
    assert_eq!(read(), "a,b\n1,x\n1,x\n");
    write_batches(&path, &schema, std::slice::from_ref(&batch)).expect("references");
    let stream = (0..1000).map(|_| Ok::<_, swath_formats::Error>(batch.clone()));
    let written = write_batches(&path, &schema, stream).expect("a stream");
    assert_eq!((written.rows, read().lines().count()), (1000, 1001));
}
