//! JSON Lines, and the choice of a form.

use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeListBuilder, Int32Builder, LargeListBuilder, ListBuilder, StringBuilder,
};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, Date32Array, Int32Array, RecordBatch, StringArray,
    StructArray, TimestampSecondArray, record_batch,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use swath::OutputOptions;
use swath_formats::FormatReason;
use swath_formats::table::{
    BatchForm, BatchWriteOptions, Decimals, HeaderLine, LineEnd, Quoting, write_batches,
};
use swath_reference::typed_write::{Cell, json_lines};

use super::drawn::{Column, Draw, Table, columns};

fn compare(table: &Table) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let (wanted, lost) = json_lines(&table.names, &table.rows);
    for (workers, block_size) in [(1, 0), (2, 1), (3, 300), (4, 10_000)] {
        let output = OutputOptions::new().with_workers(workers);
        let options = BatchWriteOptions::new().with_output(output).with_block_size(block_size);
        let written = options.write_batches(&path, &table.schema, &table.batches);
        let written = written.expect("written");
        let text = std::fs::read_to_string(&path).expect("text");
        for (is, wanted) in text.lines().zip(wanted.lines()) {
            assert_eq!(is, wanted, "{workers} workers, blocks of {block_size}");
        }
        assert!(text == wanted, "{workers} workers, blocks of {block_size}");
        assert_eq!((written.not_finite, written.form), (lost, BatchForm::JsonLines));
    }
}

#[test]
fn every_type_is_a_json_value_as_the_slow_version_has_it() {
    for (seed, missing) in (50..).zip([0, 1, 50, 100]) {
        let mut draw = Draw::new(seed, missing);
        let mut columns = columns(&mut draw, 500);
        columns.extend(nested(&mut draw, 500));
        let mut names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        names[0] = "a \"name\"\\\n\u{1}é".to_owned();
        names[1].clear();
        compare(&Table::of(columns, names, &mut draw));
    }
}

/// Lists and structs, of each other.
fn nested(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let (mut plain, mut large) =
        (ListBuilder::new(Int32Builder::new()), LargeListBuilder::new(StringBuilder::new()));
    let mut fixed = FixedSizeListBuilder::new(Int32Builder::new(), 2);
    let mut cells = [const { Vec::new() }; 3];
    for _ in 0..rows {
        let is_valid = draw.below(100) >= draw.missing;
        let count = draw.below(4);
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        for at in 0..count {
            let number = (draw.below(3) > 0).then(|| i32::try_from(at).expect("few") - 1);
            plain.values().append_option(number);
            numbers.push(number.map_or(Cell::Missing, |it| Cell::Whole(it.into())));
            let text = (draw.below(3) > 0).then_some("a,\"b\"\n");
            large.values().append_option(text);
            texts.push(text.map_or(Cell::Missing, |it| Cell::Text(it.to_owned())));
        }
        plain.append(is_valid);
        large.append(is_valid);
        fixed.values().append_slice(&[1, -2]);
        fixed.append(is_valid);
        let pair = vec![Cell::Whole(1), Cell::Whole(-2)];
        for (cells, list) in cells.iter_mut().zip([numbers, texts, pair]) {
            cells.push(if is_valid { Cell::List(list) } else { Cell::Missing });
        }
    }
    let lists: [ArrayRef; 3] =
        [Arc::new(plain.finish()), Arc::new(large.finish()), Arc::new(fixed.finish())];
    let mut columns: Vec<Column> = lists.into_iter().zip(cells).collect();
    columns.push(structs(draw, &columns[0], rows));
    columns
}

/// Structs of a list and of numbers that JSON may not have.
fn structs(draw: &mut Draw, list: &Column, rows: usize) -> Column {
    let mut doubles = Vec::new();
    let mut nulls = Vec::new();
    let mut cells = Vec::new();
    for row in 0..rows {
        let value = draw.pick(&[f64::NAN, 0.5, f64::INFINITY]);
        let is_valid = draw.below(100) >= draw.missing;
        doubles.push(value);
        nulls.push(is_valid);
        let members = vec![
            ("list".to_owned(), list.1[row].clone()),
            ("a \"quote\"".to_owned(), Cell::Double(value)),
        ];
        cells.push(if is_valid { Cell::Object(members) } else { Cell::Missing });
    }
    let fields = Fields::from(vec![
        Field::new("list", list.0.data_type().clone(), true),
        Field::new("a \"quote\"", DataType::Float64, true),
    ]);
    let doubles: ArrayRef = Arc::new(arrow_array::Float64Array::from(doubles));
    let members = vec![Arc::clone(&list.0), doubles];
    (Arc::new(StructArray::new(fields, members, Some(nulls.into()))), cells)
}

#[test]
fn decimals_and_names_of_json_are_those_that_were_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.ndjson");
    let batch = record_batch!(("a", Float64, [0.125, f64::NAN])).expect("one");
    let options = BatchWriteOptions::new().with_decimals(Decimals::Fixed(1)).with_names(["x"]);
    let written = options.write_batches(&path, &batch.schema(), [batch]).expect("written");
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!((text.as_str(), written.not_finite), ("{\"x\":0.1}\n{\"x\":null}\n", 1));
}

#[test]
fn a_row_without_columns_is_an_empty_object() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    let rows = arrow_array::RecordBatchOptions::new().with_row_count(Some(2));
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &rows);
    write_batches(&path, &schema, [batch]).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "{}\n{}\n");
    let error = write_batches(
        folder.path().join("t.csv"),
        &schema,
        [&RecordBatch::new_empty(Arc::clone(&schema))],
    );
    let error = error.expect_err("no columns");
    assert_eq!(error.reason(), FormatReason::Invalid, "{error}");
}

#[test]
fn forms_are_those_of_the_names() {
    for (name, form) in [
        ("a.csv", Some(BatchForm::Csv)),
        ("a.CSV.GZ", Some(BatchForm::Csv)),
        ("a.tsv.zst", Some(BatchForm::Tsv)),
        ("a.jsonl.bz2", Some(BatchForm::JsonLines)),
        ("a.ndjson", Some(BatchForm::JsonLines)),
        ("a.arrow", Some(BatchForm::Arrow)),
        ("a.feather", Some(BatchForm::Arrow)),
        ("a.ipc", Some(BatchForm::Arrow)),
        ("a.arrows", Some(BatchForm::ArrowStream)),
        ("a.json", None),
        ("csv", None),
        ("a.gz", None),
        ("a", None),
    ] {
        assert_eq!(BatchForm::of_name(name.as_ref()), form, "{name}");
    }
}

#[test]
fn options_without_effect_and_contradictions_are_refused_before_a_file_is_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = record_batch!(("a", Int8, [1]), ("b", Utf8, ["x"])).expect("one");
    let options = BatchWriteOptions::new;
    for (name, options, what) in [
        ("t", options(), "does not say which form"),
        ("t.csv", options().with_names(["a"]), "1 names for 2 columns"),
        ("t.csv", options().with_delimiter(b'a'), "`a` cannot separate"),
        ("t.csv", options().with_delimiter(b'"'), "cannot separate"),
        ("t.csv", options().with_delimiter(0xe9), "cannot separate"),
        ("t.csv", options().with_null_word("0"), "could be read as a value"),
        ("t.csv", options().with_null_word("-1"), "could be read as a value"),
        ("t.csv", options().with_null_word("NaN"), "could be read as a value"),
        ("t.csv", options().with_null_word("True"), "could be read as a value"),
        ("t.csv", options().with_null_word("a,b"), "cannot stand without quotes"),
        ("t.csv", options().with_null_word(" x"), "cannot stand without quotes"),
        ("t.csv", options().with_decimals(Decimals::Fixed(1075)), "1075 digits"),
        ("t.csv", options().with_level(3), "a level has no effect"),
        ("t.csv.gz", options().with_level(13), "level 13 does not exist"),
        (
            "t.csv",
            options().with_quoting(Quoting::Never).with_names(["a,", "b"]),
            "the name \"a,\" needs quotes",
        ),
        ("t.jsonl", options().with_names(["a", "a"]), "two columns are named `a`"),
        ("t.jsonl", options().with_delimiter(b';'), "a delimiter has no effect on jsonl"),
        ("t.jsonl", options().with_quoting(Quoting::All), "quoting has no effect"),
        ("t.jsonl", options().with_line_end(LineEnd::Newline), "an end of lines has no"),
        ("t.jsonl", options().with_null_word("x"), "a word for missing values has no"),
        ("t.arrow", options().with_header(HeaderLine::Auto), "a header has no effect on arrow"),
        ("t.arrows", options().with_decimals(Decimals::Shortest), "a number of decimals has"),
    ] {
        let path = folder.path().join(name);
        let error = options.write_batches(&path, &batch.schema(), [&batch]);
        let error = error.expect_err(what);
        assert_eq!(error.reason(), FormatReason::Invalid, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(!error.what_to_try().is_empty() && !path.exists(), "{error}");
    }
}

#[test]
fn types_that_a_form_does_not_have_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let list: ArrayRef = {
        let mut list = ListBuilder::new(Int32Builder::new());
        list.append(true);
        Arc::new(list.finish())
    };
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    for (name, column, what) in [
        ("t.csv", &list, "column `odd` is of type List(Int32), which CSV"),
        ("t.tsv", &bytes, "column `odd` is of type Binary, which CSV"),
        ("t.jsonl", &bytes, "column `odd` is of type Binary, which JSON Lines"),
    ] {
        let path = folder.path().join(name);
        let batch = RecordBatch::try_from_iter([("odd", Arc::clone(column))]).expect("one");
        let error = write_batches(&path, &batch.schema(), [batch]).expect_err(what);
        assert_eq!(error.reason(), FormatReason::Unsupported, "{error}");
        assert!(error.to_string().contains(what) && !path.exists(), "{error}");
    }
}

#[test]
fn values_that_have_no_text_are_refused_with_row_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), None, Some(2_932_897)]));
    let times: ArrayRef =
        Arc::new(TimestampSecondArray::from(vec![0, -62_135_596_801, 253_402_300_800]));
    let odd: ArrayRef =
        Arc::new(arrow_array::Date64Array::from(vec![Some(0), None, Some(86_400_001)]));
    for (column, what) in [
        (dates, "row 503 of column `when`: the date is not"),
        (times, "row 502 of column `when`: the timestamp is not in"),
        (odd, "row 503 of column `when`: the date is not a whole day"),
    ] {
        for name in ["t.csv", "t.jsonl"] {
            let path = folder.path().join(name);
            let other: ArrayRef = Arc::new(Int32Array::from(vec![1; 3]));
            let batch = [("a", other), ("when", Arc::clone(&column))];
            let batch = RecordBatch::try_from_iter(batch).expect("one");
            let mut batches = vec![batch.slice(0, 1); 500];
            batches.push(batch.clone());
            let error = write_batches(&path, &batch.schema(), &batches).expect_err("too far");
            assert_eq!(error.reason(), FormatReason::Unsupported, "{error}");
            assert!(error.to_string().contains(what) && !path.exists(), "{error}");
        }
    }
}

#[test]
fn a_date_that_is_missing_may_be_any_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let nulls = vec![true, false].into();
    let dates = Date32Array::new(vec![0, i32::MAX].into(), Some(nulls));
    let batch = [("a", Arc::new(dates) as ArrayRef)];
    let batch = RecordBatch::try_from_iter(batch).expect("one");
    write_batches(&path, &batch.schema(), [&batch]).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "a\n1970-01-01\nNA\n");
}

#[test]
fn without_quotes_a_text_that_needs_them_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let options = BatchWriteOptions::new().with_quoting(Quoting::Never);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1; 4]));
    for text in ["a,b", "", "NA", "\"", "a\n"] {
        let texts = StringArray::from(vec![Some("a b"), None, Some(text), Some(text)]);
        let batch = [("n", Arc::clone(&numbers)), ("t", Arc::new(texts) as ArrayRef)];
        let batch = RecordBatch::try_from_iter(batch).expect("one");
        let error = options.write_batches(&path, &batch.schema(), [&batch]);
        let error = error.expect_err("quotes are needed");
        assert_eq!((error.line(), path.exists()), (Some(4), false), "{error}");
        assert!(error.to_string().contains("row 3 of column `t`: the text would"), "{error}");
    }
    let batch = record_batch!(("n", Utf8, [Some("a b"), None]), ("t", Utf8, ["x", "y"]));
    let batch = batch.expect("one");
    options.write_batches(&path, &batch.schema(), [&batch]).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "n,t\na b,x\n,y\n");
}
