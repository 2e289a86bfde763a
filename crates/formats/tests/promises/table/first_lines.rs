//! First lines that are not headers, and files that are not text: each has its own message.

use swath_formats::FormatReason;
use swath_formats::table::{HeaderLine, TableOptions, TableWriteOptions};

use super::arrays::file;

/// Reads as columns; returns the error.
fn refused(text: &[u8], options: &TableOptions) -> swath_formats::Error {
    let read = options.read_columns(file(text).path());
    read.map(|table| panic!("{table:?}: {}", text.escape_ascii())).expect_err("no table")
}

#[test]
fn a_file_that_is_no_text_is_named_with_what_to_try() {
    for (head, says, to_try) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "an xz file", "xz -d"),
        (b"\xff\xfea\0,\0b\0\n\0", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff\0a\0,\0b\0\n", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        (b"\xff\xfe\0\0a\0\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8"),
        (b"PK\x03\x04xxxx", "a zip archive", "unpack it first"),
        (b"\x93NUMPY\x01\0", "a NumPy array (.npy), not text", "read it with `npy::read`"),
        (b"ARROW1\0\0", "an Arrow file, not text", "read it with `arrow::read`"),
    ] {
        let error = refused(head, &TableOptions::new());
        assert_eq!((error.reason(), error.offset()), (FormatReason::UnknownFormat, Some(0)));
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.what_to_try().contains(to_try), "{error}");
    }
}

#[test]
fn a_control_byte_in_a_header_is_refused_at_its_place() {
    for (text, offset, says) in [
        (&b"ab\x03cd"[..], 2, "byte 0x03 is not text"),
        (b"# c\na,\x1b[1mb\n1,2\n", 6, "byte 0x1b is not text"),
        (b"a,\"b\x01\"\n1,2\n", 4, "byte 0x01 is not text"),
        (b"a,b\0\n1,2\n", 3, "a NUL byte"),
        (b"a\0,\0b\0\n\0", 1, "a NUL byte"),
    ] {
        for header in [HeaderLine::Auto, HeaderLine::Present] {
            let error = refused(text, &TableOptions::new().with_header(header));
            assert_eq!(
                (error.reason(), error.offset()),
                (FormatReason::Malformed, Some(offset))
            );
            assert!(error.to_string().contains(says), "{error}");
        }
    }
    let table =
        TableOptions::new().with_delimiter(1).read_columns(file(b"a\x01b\n1\x012\n").path());
    assert_eq!(table.expect("told").names.expect("names"), ["a", "b"]);
    let table = TableOptions::new().read_columns(file(b"\"a\tb\r\nc\",d\n1,2\n").path());
    assert_eq!(table.expect("in quotes").names.expect("names"), ["a\tb\r\nc", "d"]);
}

#[test]
fn numbers_that_no_reader_takes_are_no_names() {
    for (text, says, to_try) in [
        ("(1+2j) (3+4j)\n", "complex", "real and imaginary parts"),
        (" (1.000e+00-2.500e-01j) (0.000e+00+-1.000e+00j)\n", "complex", "real and imaginary"),
        ("(1+2j),x\n", "complex", "real and imaginary parts"),
        ("\u{2212}1\n", "U+2212", "sed 's/\u{2212}/-/g'"),
        ("1,\u{2212}.5\n", "U+2212", "sed"),
        ("1,5;2,5\n3,5;4,5\n", "decimal commas", "tr ',' '.'"),
        ("-1,5;2\n", "decimal commas", "tr ',' '.'"),
        ("1,5\t2,5\n", "decimal commas", "tr ',' '.'"),
        ("1,5;x\n", "not a number", "`columns`"),
        ("1,x;2,5\n", "not a number", "`columns`"),
    ] {
        let error = refused(text.as_bytes(), &TableOptions::new());
        assert_eq!(
            (error.reason(), error.line()),
            (FormatReason::Malformed, Some(1)),
            "{text}"
        );
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.what_to_try().contains(to_try), "{error}");
    }
    for (text, names) in [
        ("a,b\n", ["a", "b"]),
        ("(a),(b+2j)\n", ["(a)", "(b+2j)"]),
        ("(2020),x\n", ["(2020)", "x"]),
        ("\u{2212},x\u{2212}1\n", ["\u{2212}", "x\u{2212}1"]),
        ("\"(1+2j)\",\"\u{2212}1\"\n", ["(1+2j)", "\u{2212}1"]),
    ] {
        let table = TableOptions::new().read_columns(file(text).path());
        let table = table.unwrap_or_else(|error| panic!("{error}"));
        let names = names.map(String::from).to_vec();
        assert_eq!((table.rows, table.names.expect("names")), (0, names));
    }
    let long = format!("({}{}j)\n", "1".repeat(100_000), "+".repeat(100_000));
    let table = TableOptions::new().read_columns(file(&long).path()).expect("soon");
    assert_eq!((table.rows, table.columns.len()), (0, 1));
    let present = TableOptions::new().with_header(HeaderLine::Present);
    let table = present.read_columns(file("(1+2j),\u{2212}1\n").path()).expect("told");
    assert_eq!(table.names.expect("names"), ["(1+2j)", "\u{2212}1"]);
}

#[test]
fn names_that_look_like_such_numbers_are_written_in_quotes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    for names in
        [&["(1+2j)", "\u{2212}1"][..], &["sep=", ""], &["sep=;"], &["sep=a"], &["sep=:"]]
    {
        let writer = TableWriteOptions::new().with_names(names.iter().copied());
        writer.write(&path, names.len(), &vec![1; names.len()]).expect("written");
        let back = TableOptions::new().read_columns(&path).expect("a table");
        assert_eq!(back.names.expect("names"), names);
    }
    let control = TableWriteOptions::new().with_names(["a\x01"]).write(&path, 1, &[1]);
    let error = control.expect_err("no reader takes it");
    assert_eq!(error.reason(), FormatReason::Invalid);
    assert!(error.to_string().contains("byte 0x01") && !error.what_to_try().is_empty());
}

#[test]
fn what_other_programs_write_is_told_with_what_to_try() {
    for (text, line, says, to_try) in [
        ("\"x\" \"y\"\n\"1\" 1 2\n\"2\" 3 4\n", 2, "more than 2 fields", "a name as well"),
        ("x,y\n1,2,3\n", 2, "more than 2 fields", "a name as well"),
        ("x,y\n\"a\",1,2\n", 2, "not a number", "a name as well"),
        ("a;b\n1,5;2,5\n", 2, "not a number", "tr ',' '.'"),
        ("a;b\n1;-2,50\n", 2, "not a number", "tr ',' '.'"),
        ("a,b\n1,\u{2212}2\n", 2, "not a number", "sed"),
        ("a,b\n1,(1+2j)\n", 2, "not a number", "real and imaginary"),
    ] {
        let error = refused(text.as_bytes(), &TableOptions::new());
        assert_eq!(
            (error.reason(), error.line()),
            (FormatReason::Malformed, Some(line)),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.what_to_try().contains(to_try), "{error}");
    }
    for text in ["sep=;\na;b\n1;2\n", "sep=,\r\n1,2\r\n", "\u{feff}SEP=\t\n1\t2\n"] {
        let table = TableOptions::new().read::<f64>(file(text.as_bytes()).path());
        assert_eq!(table.expect("a table").values[..], [1.0, 2.0], "{text}");
    }
    for text in ["x,y\n1,2\n1,2,3\n", "1,2\n1,2,3\n", "x,y\n1,2,3,4\n", "x,y\n1,2,\n"] {
        let error = refused(text.as_bytes(), &TableOptions::new());
        assert_eq!(error.what_to_try(), "", "{error}");
    }
}

#[test]
fn a_delimiter_that_begins_comments_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let error = TableWriteOptions::new().with_delimiter(b'#').write(&path, 2, &[1, 2]);
    let error = error.expect_err("no reader takes it");
    assert_eq!((error.reason(), path.exists()), (FormatReason::Invalid, false));
    assert!(error.to_string().contains("because it begins comments"));
    assert!(error.what_to_try().contains("another delimiter"), "{error}");
    let told = TableOptions::new().with_delimiter(b'#');
    let error = refused(b"1#2\n", &told);
    assert_eq!(error.reason(), FormatReason::Invalid);
    assert!(
        error.to_string().contains("`#` both separates fields and begins comments"),
        "{error}"
    );
    assert!(error.what_to_try().contains("`comment`"), "{error}");
    let table = told.with_comment(None).read_columns(file(b"1#2\n").path());
    assert_eq!(table.expect("a table").columns.len(), 2);
}

#[test]
fn a_table_without_rows_and_names_comes_back_with_its_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    TableWriteOptions::new().write::<f64>(&path, 2, &[]).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "column_1,column_2\n");
    let table = swath_formats::table::read::<f64>(&path).expect("a table");
    assert_eq!((table.rows, table.columns), (0, 2));
    let none =
        TableOptions::new().read_columns(file("1,2\n").path()).expect("a table").rows(0..0);
    TableWriteOptions::new().write_columns(&path, &none).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "column_1,column_2\n");
    TableWriteOptions::new().with_names(["a"]).write::<u8>(&path, 1, &[]).expect("written");
    assert_eq!(std::fs::read_to_string(&path).expect("text"), "a\n");
}

#[test]
fn what_is_no_text_is_named_after_it_was_decompressed_too() {
    use std::io::Write;
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).expect("memory");
        packed.finish().expect("memory")
    };
    for (inner, says) in [
        (b"\xff\xfea\0,\0b\0\n\0".to_vec(), "text in UTF-16"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "an xz file"),
        (gzip(b"1,2\n"), "compressed twice"),
    ] {
        let error = refused(&gzip(&inner), &TableOptions::new());
        assert_eq!(error.reason(), FormatReason::UnknownFormat, "{error}");
        assert!(error.to_string().contains(says) && !error.what_to_try().is_empty(), "{error}");
    }
}
