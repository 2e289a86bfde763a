//! What a text means.

use swath_formats::table::{BatchOptions, ColumnType, HeaderLine, Ragged};

use crate::shown::{read, table};

fn check(text: &str, options: &BatchOptions, wanted: &[&str]) {
    let found = read(text, options).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(table(&found), wanted, "{text:?}");
}

fn refused(text: &str, options: &BatchOptions, says: &str) {
    let error = read(text, options).expect_err(text);
    assert!(error.contains(says), "{text:?}: {error}");
}

#[test]
fn each_column_has_the_type_that_holds_all_its_values() {
    check(
        "id,born,name,x,ok,at\n1,1970-01-02,Ann,0.5,true,1970-01-01T00:00:01\n2,,\"Bob, Jr.\",7,False,1970-01-02\n",
        &BatchOptions::new(),
        &[
            "id 64: 1 2",
            "born date: 1 _",
            "name text: \"Ann\" \"Bob, Jr.\"",
            "x f64: 0.5 7",
            "ok bool: true false",
            "at us: 1000000 86400000000",
        ],
    );
}

#[test]
fn a_value_that_comes_late_changes_the_type_of_all_before() {
    let mut text = String::from("a,b,c,d\n");
    for row in 0..200 {
        text += &format!("{row},1970-01-01,9223372036854775808,\n");
    }
    text += "0.5,x,-1,\"NA\"\n";
    let found = read(&text, &BatchOptions::new()).expect("a table");
    let kinds: Vec<_> = found.report().columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnType::F64, ColumnType::Text, ColumnType::Text, ColumnType::Text]);
    let lines: Vec<_> =
        found.report().columns.iter().map(|it| it.deciding.map(|it| it.line)).collect();
    assert_eq!(lines, [Some(202), Some(202), Some(202), Some(202)]);
    assert!(table(&found)[1].ends_with("\"1970-01-01\" \"1970-01-01\" \"x\""));
}

#[test]
fn quotes_hold_delimiters_newlines_and_doubled_quotes() {
    check(
        "a,b\n\"1\",\"x\n\"\"y\"\"\n,\"\r\n\n2,\"\n\n\n\"\n3,5\" pipe\n",
        &BatchOptions::new(),
        &["a 64: 1 2 3", "b text: \"x\\n\\\"y\\\"\\n,\" \"\\n\\n\\n\" \"5\\\" pipe\""],
    );
}

#[test]
fn escapes_comments_and_other_marks_are_those_of_the_options() {
    let options = BatchOptions::new()
        .with_escape(Some(b'\\'))
        .with_comment(Some(b'#'))
        .with_delimiter(b';');
    check(
        "a;b\n#\"\n1;x\\;\\\ny\n\n#,\n2;\"\\\"\\\\\"\n",
        &options,
        &["a 64: 1 2", "b text: \"x;\\ny\" \"\\\"\\\\\""],
    );
}

#[test]
fn ragged_records_are_what_the_options_say() {
    let text = "a,b,c\n1,2,3\n4\n5,6,7,8\n9,10,\n";
    refused(text, &BatchOptions::new(), "on line 3 at byte 12: 1 field where 3 are expected");
    let padded = BatchOptions::new().with_delimiter(b',').with_ragged(Ragged::Pad);
    refused(text, &padded, "on line 4 at byte 14: 4 fields where 3 are expected");
    check("a,b\n1\n2,3\r\n4\r\n", &padded, &["a 64: 1 2 4", "b 64: _ 3 _"]);
    let aside = BatchOptions::new().with_ragged(Ragged::SetAside);
    let found = read(text, &aside).expect("a table");
    assert_eq!(table(&found), ["a 64: 1 9", "b 64: 2 10", "c 64: 3 _"]);
    let report = &found.report().set_aside;
    assert_eq!(report.count, 2);
    assert_eq!(report.lines.iter().map(|it| it.line).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn columns_rows_and_names_are_chosen() {
    let text = "skip\nx,y,y,\n1,2,3,4\n5,\"6\n6\",7,8\n9,9,9\n";
    let options = BatchOptions::new()
        .with_skip_rows(1)
        .with_rows(2)
        .with_columns(["y_2", "x"])
        .with_rename([("x", "first")]);
    check(text, &options, &["y_2 64: 3 7", "first 64: 1 5"]);
    let none = BatchOptions::new().with_header(HeaderLine::Absent).with_rows(0);
    check("1,2\n3,4\n5\n", &none, &["column_1 null:", "column_2 null:"]);
    check(
        "a,,b\nx,y,\n1,2,3\n",
        &BatchOptions::new().with_header_lines(2),
        &["a_x 64: 1", "y 64: 2", "b 64: 3"],
    );
}

#[test]
fn told_types_are_kept_and_what_contradicts_them_is_an_error() {
    let text = "id,zip\n1,00123\n2,300\n3,-1\n";
    let options = BatchOptions::new().with_types([("zip", ColumnType::U32)]);
    refused(text, &options, "on line 4 at byte 23: ");
    refused(text, &options, "in column `zip`: `-1`; try: ");
    let options =
        BatchOptions::new().with_types([("zip", ColumnType::Text), ("id", ColumnType::I8)]);
    check(text, &options, &["id 8: 1 2 3", "zip text: \"00123\" \"300\" \"-1\""]);
}

#[test]
fn the_first_fault_in_the_file_is_reported() {
    let text = b"a,b\n1,2\n3,\xff\n4,\"5\"x\n6\n";
    let error = read(text, &BatchOptions::new()).expect_err("bytes");
    assert!(
        error.contains("on line 3 at byte 10: bytes that are not UTF-8 in column `b`"),
        "{error}"
    );
    let error = read(text, &BatchOptions::new().with_columns(["a"])).expect_err("quotes");
    assert!(error.contains("on line 4 at byte 14: text after a closing quote"), "{error}");
    refused(
        "a,b\n1,2\n3,\"4\n5,6\n",
        &BatchOptions::new(),
        "on line 3 at byte 10: a quote opens here",
    );
    refused(
        "a,b\n1,2\n3,4\r5,6\n",
        &BatchOptions::new(),
        "on line 3 at byte 11: a carriage return",
    );
}

#[test]
fn texts_in_other_encodings_are_decoded() {
    let utf_16: Vec<u8> =
        "\u{feff}n,t\n1,é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let found = read(&utf_16, &BatchOptions::new()).expect("UTF-16");
    assert_eq!(table(&found), ["n 64: 1", "t text: \"é\""]);
    let options = BatchOptions::new().with_encoding(swath_formats::table::Encoding::Latin1);
    let found = read(b"n,t\n1,\xe9\n", &options).expect("Latin-1");
    assert_eq!(table(&found), ["n 64: 1", "t text: \"é\""]);
    check("\u{feff}n,t\n1,é\n", &BatchOptions::new(), &["n 64: 1", "t text: \"é\""]);
}

#[test]
fn the_delimiter_and_the_header_are_found() {
    for (text, wanted) in [
        ("a;b\n1;2,5\n2;3,5\n", &["a 64: 1 2", "b text: \"2,5\" \"3,5\""][..]),
        ("sep=|\na|b\n1|2\n", &["a 64: 1", "b 64: 2"]),
        ("1 2\n3  4\n", &["column_1 64: 1 3", "column_2 64: 2 4"]),
        ("name\nAnn\nBob Jr\n", &["name text: \"Ann\" \"Bob Jr\""]),
        ("1,2\n3,4\n", &["column_1 64: 1 3", "column_2 64: 2 4"]),
        ("a,b\n", &["a null:", "b null:"]),
        ("x,2020\na,1\n", &["column_1 text: \"x\" \"a\"", "column_2 64: 2020 1"]),
    ] {
        check(text, &BatchOptions::new(), wanted);
    }
}
