//! Refusals of an array besides those of every table: values of other types, gaps, and options of columns.

use swath_formats::FormatReason;
use swath_formats::table::{BatchOptions, ColumnType, Missing};

use super::arrays::{file, options};

#[test]
fn every_fault_has_its_line_and_byte() {
    use FormatReason::{Malformed, TooLarge};
    for (text, reason, line, offset, says) in [
        (&b"1,2\n3\n"[..], Malformed, 2, 4, "1 field where 2 are expected"),
        (b"1,2\n3\n4\n5,6\n", Malformed, 2, 4, "1 field where 2 are expected"),
        (b"1,2\n3,4,5\n6,7\n", Malformed, 2, 4, "3 fields where 2 are expected"),
        (
            b"1,2\n3,4\n5,x",
            Malformed,
            3,
            10,
            "not a value of type f64 in column `column_2`: `x`",
        ),
        (b"1,2\n\n# a\n3,1e400\n", TooLarge, 4, 11, "out of the range of type f64"),
        (b"1,2\n3,\"4\n5,6\n", Malformed, 2, 6, "a quote opens here and is never closed"),
        (b"1,2\n3,\"4,5\"\n", Malformed, 2, 6, "not a value of type f64"),
        (b"1,2\n3,x\n5,\"6\n", Malformed, 2, 6, "not a value of type f64"),
        (b"1,2\n3,4,5\n6,\"7\n", Malformed, 2, 4, "3 fields where 2 are expected"),
        (b"a,b\n1,2\n1,2,\n", Malformed, 3, 8, "3 fields where 2 are expected"),
        (b"1 2\n 1  2 3\n", Malformed, 2, 4, "3 fields where 2 are expected"),
        (b"  1 2\n\n # c\n\t3  4 5\r\n", Malformed, 4, 12, "3 fields where 2 are expected"),
        (b"1,2\n1.2.3,4\n", Malformed, 2, 4, "not a value of type f64"),
        (b"1,2\n1,\r2\n", Malformed, 2, 6, "a carriage return inside a line"),
        (b"1\n\"\n", Malformed, 2, 2, "a quote opens here"),
    ] {
        let file = file(text);
        let shown = text.escape_ascii();
        for block_size in (1..20).chain([1 << 20]) {
            for workers in 1..=3 {
                let options = options(workers, block_size);
                let error = options.read_array::<f64>(file.path()).expect_err("it is wrong");
                let found = (error.reason(), error.line(), error.offset());
                assert_eq!(found, (reason, Some(line), Some(offset)), "{shown}: {error}");
                assert!(error.to_string().contains(says), "{shown}: {error}");
            }
        }
    }
}

#[test]
fn the_first_fault_in_the_file_is_reported() {
    let mut text = String::from("0,1\n").repeat(1000);
    let good = text.len() as u64;
    text.push_str("x,1\n");
    text.push_str(&"1\ny,z\n".repeat(1000));
    let file = file(text);
    for workers in 1..=8 {
        let error = options(workers, 64).read_array::<f64>(file.path()).expect_err("wrong");
        // Records are counted before their values are parsed.
        assert!(matches!(error.line(), Some(1001 | 1002)), "{error}");
        assert!(error.offset().is_some_and(|at| at >= good), "{error}");
    }
}

#[test]
fn integers_are_not_rounded_nor_wrapped() {
    for (text, reason, says) in [
        ("1\n256\n", FormatReason::TooLarge, "out of the range of type u8"),
        ("1\n-1\n", FormatReason::TooLarge, "out of the range of type u8"),
        ("1\n1.5\n", FormatReason::Malformed, "not a value of type u8"),
        ("1\n1e-2\n", FormatReason::Malformed, "not a value of type u8"),
        ("1\nnan\n", FormatReason::Malformed, "not a value of type u8"),
        ("1\n\"\"\n", FormatReason::Malformed, "a missing value"),
        ("1\nNA\n", FormatReason::Malformed, "a missing value"),
        ("1\n99999999999999999999999\n", FormatReason::TooLarge, "out of the range of type u8"),
    ] {
        let file = file(text);
        let error = BatchOptions::new().read_array::<u8>(file.path()).expect_err("no u8");
        assert_eq!((error.reason(), error.line()), (reason, Some(2)), "{text}: {error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn missing_values_are_what_was_asked_for() {
    let file = file("1,2\n,NA\n");
    let read =
        |missing| BatchOptions::new().with_missing(missing).read_array::<f64>(file.path());
    let natural = read(Missing::Natural).expect("NaN");
    assert!(natural.values[2..].iter().all(|it| it.is_nan()));
    let nulls: Vec<u64> = natural.report.columns.iter().map(|column| column.nulls).collect();
    assert_eq!((nulls, natural.report.rows), (vec![1, 1], 2));
    assert_eq!(read(Missing::Value(-1.5)).expect("a value").values[2..], [-1.5, -1.5]);
    let error = read(Missing::Refused).expect_err("missing");
    assert_eq!((error.line(), error.offset()), (Some(2), Some(4)));
    let bytes =
        |missing| BatchOptions::new().with_missing(missing).read_array::<u8>(file.path());
    assert_eq!(bytes(Missing::Value(9.0)).expect("a value").values[2..], [9, 9]);
    let error = bytes(Missing::Value(1.5)).expect_err("no u8");
    assert_eq!(error.reason(), FormatReason::Invalid);
    let words = BatchOptions::new().with_null_values(["2", "x"]);
    let table = words.read_array::<f64>(file.path()).expect_err("the field is empty");
    assert!(table.to_string().contains("not a value of type f64"), "{table}");
}

#[test]
fn options_of_single_columns_are_refused() {
    let file = file("1,2\n");
    for options in [
        BatchOptions::new().with_types([(0, ColumnType::F64)]),
        BatchOptions::new().with_null_values_of(0, ["x"]),
        BatchOptions::new().with_file_column("file"),
    ] {
        let error = options.read_array::<f64>(file.path()).expect_err("contradictory");
        assert_eq!(error.reason(), FormatReason::Invalid);
        assert!(error.to_string().contains("an array has values of one type"), "{error}");
    }
    let error = BatchOptions::new().read_array_into(file.path(), &mut [0.0; 3]);
    assert_eq!(error.expect_err("two").reason(), FormatReason::Invalid);
}

#[test]
fn a_wide_line_and_many_empty_fields_ask_for_no_memory() {
    let mut text = ",".repeat(1 << 20);
    text.push('\n');
    text.push_str(&"1\n".repeat(1 << 20));
    let file = file(&text);
    let options = BatchOptions::new().with_header(swath_formats::table::HeaderLine::Absent);
    let error = options.read_array::<f64>(file.path()).expect_err("8 TiB");
    assert_eq!((error.reason(), error.line()), (FormatReason::Malformed, Some(2)));
    assert!(error.to_string().len() < 500, "{error}");
}

#[test]
fn records_that_were_set_aside_and_comments_are_in_the_report() {
    let file = file("1,2\n# c\n3\n4,5\n6,7,8\n9,10\n");
    for block_size in (1..20).chain([1 << 20]) {
        let aside = options(2, block_size).with_ragged(swath_formats::table::Ragged::SetAside);
        let table = aside.read_array::<u8>(file.path()).expect("three records");
        assert_eq!(table.values[..], [1, 2, 4, 5, 9, 10]);
        let lines: Vec<u64> = table.report.set_aside.lines.iter().map(|it| it.line).collect();
        assert_eq!((lines, table.report.comments), (vec![3, 5], 1));
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let error =
        BatchOptions::new().read_array::<f64>("/nonexistent.csv").expect_err("not there");
    assert_eq!(error.reason(), FormatReason::Library);
    BatchOptions::new().read_array::<f64>("/tmp").expect_err("a folder");
    BatchOptions::new().read_array::<f64>("/dev/null").expect_err("no table");
}
