//! A summary has the report of the whole table, and the least and greatest of its values.

use std::cmp::Ordering;
use std::path::Path;

use arrow_array::RecordBatch;
use swath::ReadOptions;
use swath_formats::table::{
    self, BatchOptions, Batches, ColumnRange, Ragged, Scalar, TableSummary,
};
use swath_reference::battery::{Battery, BatterySize};
use swath_reference::typed::draw::{Drawn, draw};

use crate::typed::oracle;

/// Returns the ranges that a summary is compared with, from every value, one by one. Texts are cut.
fn ranges(table: &Batches) -> Vec<[Option<String>; 2]> {
    let columns = table.report().columns.len();
    let of = |at: usize| {
        let mut ends: [Option<Scalar>; 2] = [None, None];
        for batch in table.batches() {
            for value in
                (0..batch.num_rows()).filter_map(|row| Scalar::of(batch.column(at), row))
            {
                if value.compare(&value).is_none() {
                    continue;
                }
                for (end, wanted) in ends.iter_mut().zip([Ordering::Less, Ordering::Greater]) {
                    if end.as_ref().is_none_or(|end| value.compare(end) == Some(wanted)) {
                        *end = Some(value.clone());
                    }
                }
            }
        }
        ends.map(|end| end.map(|value| value.to_string().chars().take(64).collect()))
    };
    (0..columns).map(of).collect()
}

fn texts(range: &ColumnRange) -> [Option<String>; 2] {
    [&range.least, &range.greatest].map(|bound| bound.as_ref().map(|it| it.value.to_string()))
}

/// The first five rows.
fn first_rows(batches: &[RecordBatch]) -> Vec<Vec<Option<String>>> {
    let row = |batch: &RecordBatch, row| {
        let value = |column| Scalar::of(column, row).map(|value| value.to_string());
        batch.columns().iter().map(|column| value(&**column)).collect()
    };
    let rows = batches.iter().flat_map(|it| (0..it.num_rows()).map(move |at| row(it, at)));
    rows.take(5).collect()
}

/// Compares the summary with the table, for several sizes of blocks.
fn checked(text: &str, options: &BatchOptions) -> TableSummary {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).expect("room");
    let ways = [(1, 1), (1, 4), (16, 3), (0, 2)];
    let all = ways.map(|way| summary(&path, options, way));
    let [.., Ok(last)] = all else { panic!("a summary of {text}") };
    last
}

/// Compares the summary with the table, or its error with that of the table.
fn summary(
    path: &Path,
    options: &BatchOptions,
    (block_size, workers): (u64, usize),
) -> Result<TableSummary, String> {
    let read = ReadOptions::new().with_workers(workers);
    let options = options.clone().with_block_size(block_size).with_read(read);
    let whole = match options.read_batches(path) {
        Ok(whole) => whole,
        Err(error) => {
            let found = options.summary(path).expect_err("as the table").to_string();
            assert_eq!(found, error.to_string());
            return Err(found);
        }
    };
    let summary = options.summary(path).expect("a summary");
    assert_eq!(&summary.report, whole.report(), "{block_size} {workers}");
    assert_eq!(&summary.schema, whole.schema(), "{block_size} {workers}");
    let found: Vec<_> = summary.ranges.iter().map(texts).collect();
    assert_eq!(found, ranges(&whole), "{block_size} {workers}");
    let rows: usize = summary.first.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows as u64, whole.rows().min(5), "{block_size} {workers}");
    assert_eq!(first_rows(&summary.first), first_rows(whole.batches()), "{block_size}");
    Ok(summary)
}

#[test]
fn drawn_tables_have_the_summaries_of_their_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drawn.csv");
    for seed in Battery::new("tables", BatterySize { slice: 300, full: 3_000 }) {
        let Drawn { bytes, options } = draw(seed);
        std::fs::write(&path, &bytes).expect("written");
        let ways = [(1, 1), (3, 2), (64, 4), (0, 3), (1000, 2)];
        let way = ways[usize::try_from(seed % 5).expect("small")];
        println!("seed {seed} {way:?}");
        drop(summary(&path, &oracle::options(&options), way));
    }
}

#[test]
fn ranges_hold_all_values_whatever_the_types_were_on_the_way() {
    let options = BatchOptions::new();
    let rows = |values: &[&str]| {
        values.iter().fold("x,y\n".to_owned(), |text, value| text + value + ",1\n")
    };
    for values in [
        &["3", "-2", "10", "", "7"][..],
        // Of the type of the last value, with what came before.
        &["3", "-2", "10", "9", "1.5"],
        &["18446744073709551615", "1", "2"],
        &["1", "2", "18446744073709551615"],
        // Together they are text, which no block of one value shows.
        &["18446744073709551615", "1", "-2", "", "-5"],
        &["-2", "7", "18446744073709551615", "18446744073709551614"],
        &["10", "9", "8", "x"],
        &["", "", "10", "9", "b"],
        &["true", "false", "true", "", "1"],
        &["true", "", "false"],
        &["2024-02-29", "1999-12-31", "", "2024-02-29T12:00"],
        &["2024-02-29T12:00", "1999-12-31", "2024-02-29T12:00:00.1234567"],
        &["2024-02-29T12:00Z", "2024-02-29T12:00:00.1234567+01:00"],
        &["2024-02-29T12:00Z", "2024-02-29"],
        // In quotes, words for missing values are texts.
        &["\"NA\"", "1", "2", "3"],
        &["\"NA\"", "", "a", "3"],
        &["\"NA\"", "NA", ""],
        &["nan", "1.5", "-inf", "inf"],
        &["nan", "nan"],
        &["", ""],
    ] {
        checked(&rows(values), &options);
        let turned: Vec<&str> = values.iter().rev().copied().collect();
        checked(&rows(&turned), &options);
    }
}

#[test]
fn a_summary_selects_renames_and_sets_aside_as_the_table_does() {
    let text = "a,b,c\n1,x,2.5\n2\n,y,\n3,4,5,6\n7,,1\n8,w,0\n9,q,1\n";
    let options = BatchOptions::new().with_ragged(Ragged::SetAside);
    let summary = checked(text, &options);
    assert_eq!(summary.report.set_aside.count, 2);
    let lines: Vec<u64> = summary.report.set_aside.lines.iter().map(|it| it.line).collect();
    assert_eq!(lines, [3, 5]);
    checked(text, &options.clone().with_columns(["c", "a"]).with_rename([("c", "z")]));
    let given = options.with_types([("a", "i8".parse().expect("a type"))]);
    let summary = checked(text, &given.with_rows(3));
    assert_eq!(summary.ranges[0].greatest.as_ref().expect("7").value, Scalar::I64(7));
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let long = "é".repeat(100);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, format!("t,n\n{long},1\nf,2\n")).expect("room");
    let summary = table::summary(&path).expect("a summary");
    let greatest = summary.ranges[0].greatest.clone().expect("a text");
    assert!(greatest.is_cut);
    assert_eq!(greatest.value.to_string(), "é".repeat(64));
    let least = summary.ranges[0].least.clone().expect("a text");
    assert_eq!((least.value.to_string(), least.is_cut), ("f".to_owned(), false));
}

#[test]
fn an_error_is_that_of_the_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b\n1,2\n3\n4,5\n").expect("room");
    let error = table::summary(&path).expect_err("ragged").to_string();
    assert_eq!(error, table::read_batches(&path).expect_err("ragged").to_string());
    assert!(error.contains("on line 3"), "{error}");
}
