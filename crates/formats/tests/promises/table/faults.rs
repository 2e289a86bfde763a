//! Faults are reported with path, line, byte and text, the same at every block size.

use swath_formats::FormatReason;
use swath_formats::table::{HeaderLine, Missing, TableOptions};

use super::arrays::{file, options};

/// Reads as doubles; returns reason, line and byte of the error.
fn fault(
    text: &[u8],
    options: &TableOptions,
) -> (FormatReason, Option<u64>, Option<u64>, String) {
    let file = file(text);
    let error = options.read::<f64>(file.path()).expect_err("it is wrong");
    assert_eq!(error.path(), file.path());
    (error.reason(), error.line(), error.offset(), error.to_string())
}

#[test]
fn every_fault_has_its_line_and_byte() {
    use FormatReason::{Malformed, TooLarge};
    for (text, reason, line, offset, says) in [
        (&b"1,2\n3\n"[..], Malformed, 2, 5, "the line has 1 field instead of 2 fields: `3`"),
        (b"1,2\n3\n4\n5,6\n", Malformed, 2, 5, "the line has 1 field instead of 2"),
        (b"1,2,3\n4\n5\n6\n7,8,9\n", Malformed, 2, 7, "the line has 1 field instead of 3"),
        (b"1,2\n3,4,5\n6,7\n", Malformed, 2, 8, "more than 2 fields: `3,4,5`"),
        (b"1,2\n3,4\n5,x\n", Malformed, 3, 10, "not a number: `5,x`"),
        (b"1,2\n3,4\n5,x", Malformed, 3, 10, "not a number: `5,x`"),
        (b"1,2\n\n# a\n3,1e400\n", TooLarge, 4, 11, "the number is too large for f64"),
        (b"1,2\n3,\"4\n5,6\n", Malformed, 2, 6, "quote is not closed"),
        (b"\"a,b\n1,2\n", Malformed, 1, 0, "quote is not closed"),
        (b"\"a\"x,b\n1,2\n", Malformed, 1, 3, "text after a closing quote"),
        (b"1,2\n3,\"4,5\"\n", Malformed, 2, 7, "not a number"),
        (b"1,2\n3,4\x00\n", Malformed, 2, 6, "a NUL byte"),
        (b"\x00\x00\x00", Malformed, 1, 0, "a NUL byte"),
        (b"a,b\n1,2\n1,2,\n", Malformed, 3, 12, "more than 2 fields"),
        (b"1,2\n,\n3,4,5,6\n7\n", Malformed, 3, 10, "more than 2 fields"),
        (b"1 2\n 1  2 3\n", Malformed, 2, 10, "more than 2 fields:"),
        (b" 1\t 2 \n 1\n", Malformed, 2, 9, "the line has 1 field instead of 2"),
        (b"1 2\n1  \"2 3\"\n", Malformed, 2, 8, "not a number"),
        (b"  1 2\n\n # c\n\t3  x4 \r\n", Malformed, 4, 16, "not a number"),
        (b"1,2\n1;2\n", Malformed, 2, 4, "not a number"),
        (b"", Malformed, 1, 0, "the file is empty"),
        (b"\n \r\n# x\n#", Malformed, 1, 0, "only comments and empty lines"),
        (b"1,2\n1.2.3,4\n", Malformed, 2, 4, "not a number"),
        (b"1\n\"\n", Malformed, 2, 2, "quote is not closed"),
        // Values that contain quotes.
        (b"\"1\",2\n\"\"\"5\"\"\",4\n", Malformed, 2, 6, "not a number"),
        (b"1,2\n\"\"\"\",4\n", Malformed, 2, 4, "not a number"),
        (b"1, 2\n3,\" \"\" \"\n", Malformed, 2, 7, "not a number"),
    ] {
        for block_size in (1..20).chain([1 << 20]) {
            let options = options(2, block_size);
            let options = if text.contains(&0) || text.starts_with(b"1") {
                options.with_header(HeaderLine::Absent)
            } else {
                options
            };
            let got = fault(text, &options);
            let shown = text.escape_ascii();
            assert_eq!((got.0, got.1, got.2), (reason, Some(line), Some(offset)), "{shown}");
            assert!(got.3.contains(says), "{shown}: {}", got.3);
        }
    }
}

#[test]
fn a_first_line_of_numbers_and_words_over_numbers_is_names() {
    for (text, names) in [
        ("1 000,2\n3,4\n", &["1 000", "2"][..]),
        ("0x10,2\n3,4\n", &["0x10", "2"]),
        ("1,-2x\n3,4\n", &["1", "-2x"]),
        ("+.5.,7\n3,4\n", &["+.5.", "7"]),
        ("name,2020,2021\n1,2,3\n", &["name", "2020", "2021"]),
        (",2020,2021\n1,2,3\n", &["", "2020", "2021"]),
        ("1st,2nd\n1,2\n", &["1st", "2nd"]),
        ("1\"2\",3\n4,5\n", &["1\"2\"", "3"]),
    ] {
        for block_size in [1, 3, 1 << 20] {
            let table = options(2, block_size).read::<f64>(file(text).path()).expect("a table");
            assert_eq!(
                table.names.as_deref(),
                Some(&names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
        if !text.starts_with(',') {
            let absent = TableOptions::new().with_header(HeaderLine::Absent);
            let (reason, line, ..) = fault(text.as_bytes(), &absent);
            assert_eq!((reason, line), (FormatReason::Malformed, Some(1)), "{text}");
        }
    }
    let present = TableOptions::new().with_header(HeaderLine::Present);
    for (text, names) in [
        ("name,2020,2021\n1,2,3\n", &["name", "2020", "2021"][..]),
        ("1st,2nd\n1,2\n", &["1st", "2nd"]),
        ("2020\n1\n", &["2020"]),
        ("\"1\"\"x\",-\n1,2\n", &["1\"x", "-"]),
    ] {
        let table = present.read::<f64>(file(text).path()).expect("told to be names");
        assert_eq!(table.names.expect("names"), names, "{text}");
    }
    for text in ["x1,y\n1,2\n", "x,\n1,2\n", "inf,-,.,+e\n1,2,3,4\n", "NA,nan,Q1 2020\n1,2,3\n"]
    {
        let table = TableOptions::new().read::<f64>(file(text).path()).expect("names");
        assert!(table.names.is_some(), "{text}");
    }
}

#[test]
fn a_carriage_return_inside_a_line_is_refused_at_its_byte() {
    for (text, line, offset) in [
        (&b"x\r1\r2\r3\r"[..], 1, 1),
        (b"1,2\r3,4\r", 1, 3),
        (b"1\r2", 1, 1),
        (b"1 2\r3 4\r5 6\r", 1, 3),
        (b"1 2\n3\r4\n", 2, 5),
        (b" 1 2\n 3 \r 4\n", 2, 8),
        (b"1,2\n1,2\r3\n", 2, 7),
        (b"1,2\n1,\r2\n", 2, 6),
        (b"1,2\n1\r,2\n", 2, 5),
        (b",1\r,2\r,3\r", 1, 2),
        (b"1,2\n3,4\r5,6\r7,8", 2, 7),
        (b"a,b\r1,2\n3,4\n", 1, 3),
        (b"1,2\n# c\r3,4\n5,6\n", 2, 7),
        (b"# c\r1,2\r3,4\r", 1, 3),
        (b"1,2\n \r \n", 2, 5),
        (b"\"a\"\r1\n2\n", 1, 3),
        (b"1\n2\r\r3\n", 2, 3),
    ] {
        let shown = text.escape_ascii();
        for block_size in (1..20).chain([1 << 20]) {
            for workers in 1..=3 {
                let got = fault(text, &options(workers, block_size));
                let wanted = (FormatReason::Malformed, Some(line), Some(offset));
                assert_eq!((got.0, got.1, got.2), wanted, "{shown}: {}", got.3);
                assert!(
                    got.3.contains("a carriage return inside a line"),
                    "{shown}: {}",
                    got.3
                );
                assert!(got.3.contains("; try: end lines with newlines: tr '"), "{}", got.3);
            }
        }
    }
}

#[test]
fn carriage_returns_that_end_lines_lose_no_row() {
    for (text, rows) in [
        (&b"1,2\r\n3,4\r\n"[..], 2),
        (b"1,2\n3,4\r", 2),
        (b"1,2\r\n3,4\n5,6\r\r\n", 3),
        (b"\"a\rb\",\"c\r\n\"\r\n1,2\r\n", 1),
        (b"1,\r\n3,NA\r\n", 2),
        (b"1 2\r\n\r\n 3  4 \r\r\n5 6\r", 3),
        (b"# c\r\n1,2\r\n\r\n3,4\r\n", 2),
    ] {
        for block_size in (1..20).chain([1 << 20]) {
            let table = options(2, block_size).read::<f64>(file(text).path());
            let table = table.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((table.rows, table.columns), (rows, 2), "{}", text.escape_ascii());
        }
    }
}

#[test]
fn a_file_whose_lines_end_with_returns_is_refused_before_all_of_it_is_read() {
    let mut text = b"x\r".to_vec();
    text.extend(b"1\r".repeat(200_000));
    let (.., line, offset, told) = fault(&text, &TableOptions::new());
    assert_eq!((line, offset), (Some(1), Some(1)), "{told}");
}

#[test]
fn a_nul_in_a_name_is_refused() {
    for (text, offset) in
        [("1,2\0\n3,4\n", 3), ("a,b\0\n3,4\n", 3), ("\"\0\",b\n3,4\n", 1), ("\0\n1\n", 0)]
    {
        for header in [HeaderLine::Auto, HeaderLine::Present] {
            let options = TableOptions::new().with_header(header);
            let (reason, line, at, told) = fault(text.as_bytes(), &options);
            assert_eq!(
                (reason, line, at),
                (FormatReason::Malformed, Some(1), Some(offset)),
                "{told}"
            );
            assert!(told.contains("a NUL byte"), "{told}");
        }
    }
}

#[test]
fn the_first_fault_in_the_file_is_told() {
    let mut text = String::from("0,1\n").repeat(1000);
    let good = text.len();
    text.push_str("x,1\n");
    text.push_str(&"1\ny,z\n".repeat(1000));
    for workers in 1..=8 {
        let got = fault(text.as_bytes(), &options(workers, 64));
        assert_eq!((got.1, got.2), (Some(1001), Some(good as u64)));
    }
}

#[test]
fn integers_are_not_rounded_nor_wrapped() {
    for (text, reason, says) in [
        ("1\n256\n", FormatReason::TooLarge, "too large for u8"),
        ("1\n-1\n", FormatReason::TooLarge, "too small for u8"),
        ("1\n1.5\n", FormatReason::Malformed, "not an integer"),
        ("1\n1e-2\n", FormatReason::Malformed, "not an integer"),
        ("1\nnan\n", FormatReason::Malformed, "not an integer"),
        ("1\n\"\"\n", FormatReason::Malformed, "a value is missing"),
        ("1\nNA\n", FormatReason::Malformed, "a value is missing"),
        ("1\n99999999999999999999999\n", FormatReason::TooLarge, "too large for u8"),
    ] {
        let file = file(text);
        let error = TableOptions::new().read::<u8>(file.path()).expect_err("no u8");
        assert_eq!((error.reason(), error.line()), (reason, Some(2)), "{text}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn missing_values_are_what_was_asked_for() {
    let file = file("1,2\n,NA\n");
    let read = |missing| TableOptions::new().with_missing(missing).read::<f64>(file.path());
    assert!(read(Missing::Natural).expect("NaN").values[2..].iter().all(|it| it.is_nan()));
    assert_eq!(read(Missing::Value(-1.5)).expect("a value").values[2..], [-1.5, -1.5]);
    let error = read(Missing::Refused).expect_err("missing");
    assert_eq!((error.line(), error.offset()), (Some(2), Some(4)));
    let bytes = |missing| TableOptions::new().with_missing(missing).read::<u8>(file.path());
    assert_eq!(bytes(Missing::Value(9.0)).expect("a value").values[2..], [9, 9]);
    let error = bytes(Missing::Value(1.5)).expect_err("no u8");
    assert_eq!(error.reason(), FormatReason::Invalid);
    let words = TableOptions::new().with_missing_words(["2", "x"]);
    assert_eq!(
        words.read::<f64>(file.path()).expect_err("2 is 2").reason(),
        FormatReason::Invalid
    );
}

#[test]
fn options_that_nobody_can_mean_are_refused() {
    let file = file("1,2\n");
    for options in [
        TableOptions::new().with_delimiter(b'\n'),
        TableOptions::new().with_delimiter(b'.'),
        TableOptions::new().with_delimiter(b'e'),
        TableOptions::new().with_delimiter(b'5'),
        TableOptions::new().with_delimiter(b'"'),
        TableOptions::new().with_comment(Some(b'-')),
        TableOptions::new().with_quote(Some(b'#')),
    ] {
        let error = options.read::<f64>(file.path()).expect_err("contradictory");
        assert_eq!(error.reason(), FormatReason::Invalid);
    }
    let error = TableOptions::new().read_into(file.path(), &mut [0.0; 3]).expect_err("two");
    assert_eq!(error.reason(), FormatReason::Invalid);
}

#[test]
fn a_wide_line_and_many_empty_fields_ask_for_no_memory() {
    let mut text = ",".repeat(1 << 20);
    text.push('\n');
    text.push_str(&"1\n".repeat(1 << 20));
    let file = file(&text);
    let error = TableOptions::new().read::<f64>(file.path()).expect_err("8 TiB");
    assert_eq!((error.reason(), error.line()), (FormatReason::Malformed, Some(2)));
    assert!(error.to_string().len() < 500, "{error}");
}

#[test]
fn what_is_no_file_is_refused() {
    let error = TableOptions::new().read::<f64>("/nonexistent.csv").expect_err("not there");
    assert_eq!(error.reason(), FormatReason::Library);
    TableOptions::new().read::<f64>("/tmp").expect_err("a folder");
    TableOptions::new().read::<f64>("/dev/null").expect_err("no table");
}
