//! The meaning of a text.

use swath_formats::table::{
    BatchForm, BatchOptions, ColumnType, HeaderLine, HeaderReason, Ragged,
};

use crate::typed::oracle;
use crate::typed::shown::{read, table};

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
fn quotes_and_escapes_in_comments_mean_nothing() {
    let options = BatchOptions::new().with_comment(Some(b'#')).with_escape(Some(b'\\'));
    for comment in
        ["# c,\"d", "#\"", "#,\"\"\"", "# a\\", "#\"a\"\n#,\"", "#,\"\n#,\"", "#,\"a\n#b\",\\"]
    {
        for rows in ["3,4\n5\",6\n", "3,4\n\"5\",6\n", "3,4\n5,\"6\"\n", "3,4\r\n5\",6\r\n"] {
            let text = format!("a,b\n1,2\n{comment}\n{rows}7,8\n").repeat(3);
            let plain = format!("a,b\n1,2\n{rows}7,8\n").repeat(3);
            let wanted = read(&plain, &options).expect("it has no comment");
            check(
                &text,
                &options,
                &table(&wanted).iter().map(String::as_str).collect::<Vec<_>>(),
            );
        }
    }
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

#[test]
fn half_a_character_of_utf16_is_found_at_its_byte_in_the_file() {
    let text = |text: &str, at: usize, half: &[u8]| {
        let mut bytes = b"\xff\xfe".to_vec();
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        bytes.splice(at..at, half.iter().copied());
        bytes
    };
    let error = |bytes: Vec<u8>| read(bytes, &BatchOptions::new()).expect_err("damaged");
    // Sixteen units before it: the last character takes two of them.
    let lone = error(text("n,town\né,\u{1f600}\u{20ac}xy\nb,c\n", 30, &[0, 0xd8]));
    let says = "half of a character at byte 30 of the file in UTF-16 in column `town`";
    assert!(lone.contains("on line 2") && lone.contains(says), "{lone}");
    let odd = error(text("n,town\né,x", 22, &[7]));
    assert!(odd.contains("half of a character at byte 22 of the file in UTF-16"), "{odd}");
    assert!(odd.contains("try: copy the file again if it ends there"), "{odd}");
    let name = error(text("n,town\né,x\n", 4, &[0, 0xdc]));
    assert!(
        name.contains("half of a character at byte 4 of the file in UTF-16 in a name"),
        "{name}"
    );
}

#[test]
fn a_header_of_r_without_a_name_for_row_names_is_explained() {
    let short = "the header has one name less, as R writes it if rows have names";
    refused("a,b\nx,1,2\ny,3,4\n", &BatchOptions::new(), short);
    refused("a\tb\n\nx\t1\t2\n", &BatchOptions::new(), "name the first column in the header");
    let error = |text: &str| read(text, &BatchOptions::new()).expect_err("ragged");
    // Not if it is another row, or a delimiter ends each line.
    for text in ["a,b\n1,2\nx,3,4\n", "a,b\n1,2,\n3,4,\n", "a,b\n1,2,3,4\n"] {
        assert!(!error(text).contains(short), "{text}");
    }
    // As `write.table` writes it without further arguments.
    let blanks = error("\"a\" \"b\"\n\"x\" 1 2\n");
    assert!(
        blanks.contains("try: set the delimiter, to blanks if spaces separate"),
        "{blanks}"
    );
    let told = BatchOptions::new().with_delimiter(swath_formats::table::Delimiter::Blanks);
    refused("\"a\" \"b\"\n\"x\" 1 2\n", &told, short);
    let named = told.with_skip_rows(1).with_rename([(0, "row"), (1, "a"), (2, "b")]);
    check("\"a\" \"b\"\n\"x\" 1 2\n", &named, &["row text: \"x\"", "a 64: 1", "b 64: 2"]);
}

#[test]
fn an_odd_number_has_the_line_of_its_record() {
    refused("\"a\nb\",(1+2j)\n", &BatchOptions::new(), "on line 1 at byte 6: a complex number");
}

#[test]
fn a_nul_in_a_name_is_refused_at_its_line() {
    let error = read("\na,b\0\n1,2\n", &BatchOptions::new()).expect_err("a NUL");
    let says = "on line 2 at byte 1: a NUL byte in the name of column index 1: `b\\u{0}`";
    assert!(error.contains(says), "{error}");
    assert!(error.contains("try: give the column another name by its index"), "{error}");
    let renamed = BatchOptions::new().with_rename([(1, "b")]);
    check("a,b\0\n1,x\0\n", &renamed, &["a 64: 1", "b text: \"x\\0\""]);
    let given = BatchOptions::new().with_rename([(0, "a\0")]);
    refused("a\n1\n", &given, "a NUL byte in the name of column index 0");
}

#[test]
fn two_columns_do_not_get_the_same_name() {
    let renamed = BatchOptions::new().with_rename([("a", "b")]);
    refused("a,b\n1,2\n", &renamed, "two columns have the name `b`; try: name each");
    check("a,b\n1,2\n", &renamed.clone().with_columns(["a"]), &["b 64: 1"]);
    let exchanged = BatchOptions::new().with_rename([("a", "b"), ("b", "a")]);
    check("a,b\n1,x\n", &exchanged, &["b 64: 1", "a text: \"x\""]);
    refused(
        "a,b\n1,2\n",
        &BatchOptions::new().with_file_column("a"),
        "two columns have the name",
    );
}

#[test]
fn a_timestamp_out_of_range_says_the_range() {
    use arrow_schema::TimeUnit::{Microsecond, Nanosecond};
    let told = |kind| BatchOptions::new().with_types([("t", kind)]);
    refused(
        "t\n0001-01-01T00:30+01\n",
        &told(ColumnType::Zoned(Microsecond)),
        "out of the range of type timestamp[us, UTC] (years 1 to 9999 in UTC)",
    );
    refused(
        "t\n1677-09-21T00:12:43.145224192\n",
        &told(ColumnType::Timestamp(Nanosecond)),
        "out of the range of type timestamp[ns] (1677-09-21 to 2262-04-11)",
    );
}

#[test]
fn comments_are_counted_wherever_they_are() {
    let rows = "1,2\n#c\n3,4\n\n# \"d\n".repeat(40);
    let text = format!("#a\n#b\nx,y\n{rows}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, &text).expect("written");
    for block_size in [1, 7, 64, 0] {
        let options = BatchOptions::new().with_block_size(block_size);
        let table = options.read_batches(&path).expect("a table");
        let report = table.report();
        assert_eq!((report.comment, report.comments, report.rows), (Some(b'#'), 82, 80));
        assert_eq!(report.header_reason, HeaderReason::TextOverValues(0));
        let mut stream = options.stream_batches(&path).expect("a table");
        assert_eq!(
            stream.by_ref().map(|it| it.expect("a batch").num_rows()).sum::<usize>(),
            80
        );
        assert_eq!(stream.report().comments, 82);
        assert_eq!(options.summary(&path).expect("a table").report.comments, 82);
        let plain = options.with_comment(None).read_batches(&path).expect("one column");
        assert_eq!((plain.report().comment, plain.report().comments), (None, 0));
    }
}

#[test]
fn the_reason_for_names_or_data_is_in_the_report() {
    for (text, reason) in [
        ("a,b\n1,x\n", HeaderReason::TextOverValues(0)),
        ("a,b\nx,y\n", HeaderReason::NoValue),
        ("c,2020,2021\nx,1,2\n", HeaderReason::CountingNumbers(1)),
        ("x,5\ny,6\n", HeaderReason::Value(1)),
        (",\n1,2\n", HeaderReason::Missing),
    ] {
        let table = read(text, &BatchOptions::new()).expect("a table");
        assert_eq!(table.report().header_reason, reason, "{text}");
        let has_names = table.report().header_lines == 1;
        assert_eq!(reason.to_string().starts_with("names: "), has_names, "{reason}");
    }
}

#[test]
fn fields_that_are_too_many_are_dropped_and_counted_if_that_is_said() {
    let text = "a,b\n1\n2,3,x\n4,5\r\n6,\"7\",\"y\n\"\"\",z\r\n\n8,9,\n";
    let drop = BatchOptions::new().with_ragged(Ragged::Drop).with_delimiter(b',');
    let found = read(text, &drop).expect("a table");
    assert_eq!(table(&found), ["a 64: 1 2 4 6 8", "b 64: _ 3 5 7 9"]);
    assert_eq!((found.report().dropped, found.report().set_aside.count), (3, 0));
    for few in ["1,2,\"x\" y\n", "1,2,x\ry\n", "1,2,\"x\n"] {
        assert!(read(few, &drop.clone().with_fields(2)).is_err(), "{few:?} is wrong anyway");
    }
    let names = drop.clone().with_header_lines(2);
    check("a\nx,y,z\n1,2\n", &names, &["a_x 64: 1"]);
    let fixed = "n  w\n 1 x\n22 y more\n 3 z \n";
    let options = BatchOptions::new().with_form(swath_formats::table::BatchForm::Fixed);
    let options = options.with_widths([2, 3]).with_ragged(Ragged::Drop);
    let found = read(fixed, &options).expect("a table");
    assert_eq!(table(&found), ["n 64: 1 22 3", "w text: \"x\" \"y\" \"z\""]);
    assert_eq!(found.report().dropped, 1);
}

#[test]
fn the_number_of_fields_may_be_given() {
    let of = |fields: usize| BatchOptions::new().with_fields(fields);
    check(
        "a,b\n1,2,x\n3,4,y\n",
        &of(3),
        &["a 64: 1 3", "b 64: 2 4", "column_3 text: \"x\" \"y\""],
    );
    check(
        "1,2\n3,4,5\n",
        &of(3).with_ragged(Ragged::Pad),
        &["column_1 64: 1 3", "column_2 64: 2 4", "column_3 64: _ 5"],
    );
    let found =
        read("a,b,c\n1,2,3\n4,5\n6\n", &of(2).with_ragged(Ragged::Drop)).expect("a table");
    assert_eq!(
        (table(&found), found.report().dropped),
        (vec!["a 64: 1 4 6".into(), "b 64: 2 5 _".into()], 1)
    );
    refused("a,b,c\n1,2\n", &of(2), "on line 1 at byte 0: 3 fields where 2 are expected");
    refused("a,b\n1,2\n", &of(3), "on line 2 at byte 4: 2 fields where 3 are expected");
    refused(
        "a\n1\n",
        &of(0),
        "a record has no fields; try: pass a number of at least 1 as `fields`",
    );
    refused(
        "a\n1\n",
        &of(usize::MAX),
        "there is not enough memory for 18446744073709551615 columns",
    );
    let json = of(1).with_form(swath_formats::table::BatchForm::JsonLines);
    refused("{}", &json, "`fields` has no meaning in JSON Lines");
}

#[test]
fn numbers_since_1970_are_timestamps_if_the_format_says_so() {
    let epoch = |name: &str| BatchOptions::new().with_formats([("t", name)]);
    let found = |text: &str, options: &BatchOptions| {
        read(text, options).map(|read| table(&read).remove(0)).unwrap_or_else(|error| error)
    };
    let text = "t\n1700000000000\n-1\n\"0.5\"\nNA\n";
    assert_eq!(found(text, &epoch("epoch_ms")), "t usZ: 1700000000000000 -1000 500 _");
    let local = epoch("epoch_ms").with_types([("t", "timestamp[us]".parse().expect("one"))]);
    assert_eq!(found(text, &local), "t us: 1700000000000000 -1000 500 _");
    let missing = epoch("epoch_ms").with_null_values(["-1", "0.5", "NA"]);
    assert_eq!(found(text, &missing), "t usZ: 1700000000000000 _ _ _");
    assert_eq!(
        found("t\n1.000000001\n", &epoch("epoch_ns")),
        "cannot read FILE on line 2 at byte 2: \
        not a value of type timestamp[ns, UTC] in column `t`: `1.000000001`; try: change the value, \
        or give the column another type with `types`, or add the word to `null_values`"
    );
    let lines = "{\"t\":1700000000.25}\n{\"t\":\"-1\"}\n{\"t\":null}\n";
    let objects = epoch("epoch_s").with_form(BatchForm::JsonLines);
    assert_eq!(found(lines, &objects), "t usZ: 1700000000250000 -1000000 _");
    let plain = BatchOptions::new().with_types([("t", "timestamp[ms]".parse().expect("one"))]);
    let error = found("t\n1700000000000\n", &plain);
    assert!(
        error.contains("try: pass `epoch_s`, `epoch_ms`, `epoch_us` or `epoch_ns`"),
        "{error}"
    );
    let date = epoch("epoch_s").with_types([("t", ColumnType::Date)]);
    let error = found("t\n1\n", &date);
    assert!(
        error.contains("the format `epoch_s` does not suit a column of type date"),
        "{error}"
    );
    let part = found("t\n20240229123456789\n", &epoch("%Y%m%d%H%M%S%3f"));
    assert_eq!(part, "t us: 1709210096789000");
}

#[test]
fn a_delimiter_may_have_several_bytes() {
    let of = |text: &str| BatchOptions::new().with_delimiter(oracle::long(text));
    // What is read first ends anywhere in it, after a closing quote too.
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    for (header, left) in
        ["", "a\t\t,b\n"].into_iter().flat_map(|it| (0..7).map(move |at| (it, at)))
    {
        let field = "x".repeat((1 << 20) + (256 << 10) - header.len() - left);
        std::fs::write(file.path(), format!("{header}\"{field}\" \t\t,1\n")).expect("room");
        let lines = usize::from(!header.is_empty());
        let found = of("\\t\\t,").with_header_lines(lines).read_batches(file.path());
        let found = found.unwrap_or_else(|error| panic!("{left}: {error}"));
        let kinds: Vec<_> = found.report().columns.iter().map(|column| column.kind).collect();
        assert_eq!((kinds, found.rows()), (vec![ColumnType::Text, ColumnType::I64], 1));
    }
    check("a::b\n1,5::2\n", &of("::").with_decimal(b','), &["a f64: 1.5", "b 64: 2"]);
    let comma = of(", ").with_decimal(b',');
    for (options, says) in [
        (of("|\""), " is two of delimiter, quote, escape, comment and decimal point; try: "),
        (of("-|").with_escape(Some(b'|')), "`|` is two of delimiter"),
        (of("##").with_comment(Some(b'#')), "`#` is two of delimiter"),
        (comma, "`,` is two of delimiter"),
        (of("..."), "`.` is two of delimiter"),
        (of(",\n"), "the byte `\\n` has another meaning"),
        (of("||").with_form(BatchForm::JsonLines), "`delimiter` has no meaning"),
    ] {
        refused("a,b\n1,2\n", &options, says);
    }
}
