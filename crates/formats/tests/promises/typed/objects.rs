//! JSON Lines, as people have them.

use swath::ReadOptions;
use swath_formats::table::{BatchForm, BatchOptions, BatchWriteOptions, ColumnType, Ragged};

use swath_reference::battery::is_full;

use crate::typed::shown::{every_way, read, table};

fn options() -> BatchOptions {
    BatchOptions::new().with_form(BatchForm::JsonLines)
}

fn found(text: &str) -> Vec<String> {
    table(&read(text, &options()).unwrap_or_else(|error| panic!("{error}")))
}

fn refused(text: impl AsRef<[u8]>) -> String {
    read(text, &options()).expect_err("it is wrong")
}

#[test]
fn columns_are_the_keys_of_all_objects() {
    let text =
        "{\"b\":1,\"a\":\"x\"}\n\n{\"a\":\"\\u00e9\\n\"}\r\n{\"late\":[1, {}],\"b\":null}";
    let wanted = ["b 64: 1 _ _", "a text: \"x\" \"é\\n\" _", "late text: _ _ \"[1, {}]\""];
    assert_eq!(found(text), wanted);
    assert_eq!(found(&format!("\u{feff}{text}")), wanted);
    let batches = read(text, &options()).expect("a table");
    assert_eq!(batches.report().columns[2].deciding.map(|one| one.line), Some(4));
}

#[test]
fn types_are_those_of_json() {
    let column = |values: &[&str]| {
        let lines = values.iter().map(|value| format!("{{\"x\":{value}}}\n"));
        found(&lines.collect::<String>()).remove(0)
    };
    assert_eq!(column(&["1", "null", "-2"]), "x 64: 1 _ -2");
    assert_eq!(column(&["1", "0.5"]), "x f64: 1 0.5");
    assert_eq!(column(&["18446744073709551615"]), "x u64: 18446744073709551615");
    assert_eq!(column(&["true", "false"]), "x bool: true false");
    assert_eq!(column(&["\"true\"", "\"1\""]), "x text: \"true\" \"1\"");
    assert_eq!(column(&["1", "\"1\"", "true"]), "x text: \"1\" \"1\" \"true\"");
    assert_eq!(column(&["\"1970-01-02\"", "null"]), "x date: 1 _");
    assert_eq!(column(&["\"1970-01-01T00:00:01Z\""]), "x usZ: 1000000");
    assert_eq!(column(&["\"NA\"", "\"\""]), "x text: \"NA\" \"\"");
    assert_eq!(column(&["null", "null"]), "x null: _ _");
}

#[test]
fn types_and_words_are_those_given() {
    let text = "{\"n\":\"7\",\"b\":\"True\",\"w\":\"-\",\"y\":\"yes\"}\n{\"n\":8,\"b\":false,\"w\":3,\"y\":false}\n";
    let given = options()
        .with_types([("n", ColumnType::I8), ("b", ColumnType::Bool)])
        .with_null_values(["-"]);
    let read = read(text, &given).expect("a table");
    let wanted = ["n 8: 7 8", "b bool: true false", "w 64: _ 3", "y text: \"yes\" \"false\""];
    assert_eq!(table(&read), wanted);
    let of_columns = options().with_null_values_of("w", ["3"]).with_true_values_of(3, ["yes"]);
    let wanted = [
        "n text: \"7\" \"8\"",
        "b text: \"True\" \"false\"",
        "w text: \"-\" _",
        "y bool: true false",
    ];
    assert_eq!(table(&crate::typed::shown::read(text, &of_columns).expect("a table")), wanted);
    let error = of_columns.with_true_values_of("y", ["no"]);
    let error = crate::typed::shown::read(text, &error).expect_err("by name and by index");
    assert!(
        error.to_string().contains("column index 3 is given `true_values` twice"),
        "{error}"
    );
    let error = options().with_false_values_of("z", ["no"]);
    let error = crate::typed::shown::read(text, &error).expect_err("there is no such column");
    assert!(error.to_string().contains("no column"), "{error}");
    let given = options().with_columns(["y"]).with_true_values(["yes"]);
    assert_eq!(
        table(&crate::typed::shown::read(text, &given).expect("a table")),
        ["y bool: true false"]
    );
}

#[test]
fn words_for_missing_values_are_also_for_booleans() {
    let text = "{\"x\":true}\n{\"x\":false}\n{\"x\":true}\n";
    let given = options().with_null_values(["true"]).with_true_values(["1"]);
    assert_eq!(table(&read(text, &given).expect("a table")), ["x bool: _ false _"]);
    let given = given.with_null_values(["false"]);
    assert_eq!(table(&read(text, &given).expect("a table")), ["x bool: true _ true"]);
}

#[test]
fn a_column_that_is_named_may_be_a_key_of_records_that_are_not_read() {
    let text = "{\"a\":1}\n{\"a\":2,\"late\":3}\n{\"later\":4}\n";
    let few = || options().with_rows(1);
    let found = |given: BatchOptions| table(&read(text, &given).expect("a table"));
    assert_eq!(found(few()), ["a 64: 1"]);
    assert_eq!(found(few().with_columns(["late", "a"])), ["late null: _", "a 64: 1"]);
    assert_eq!(found(few().with_columns([2])), ["later null: _"]);
    let told = few().with_types([("late", ColumnType::I8)]);
    assert_eq!(found(told), ["a 64: 1", "late 8: _", "later null: _"]);
    let error = read(text, &few().with_columns(["none"])).expect_err("there is none");
    assert!(error.contains("none"), "{error}");
    let wrong = format!("{text}x\n");
    let late = read(&wrong, &few().with_columns(["late"])).expect("it is before the fault");
    assert_eq!(table(&late), ["late null: _"]);
}

#[test]
fn a_nul_in_a_key_is_refused_unless_it_gets_another_name() {
    let text = "{\"a\\u0000b\":1}\n";
    let error = refused(text);
    assert!(error.contains("a NUL byte in the name of column index 0: `a\\u{0}b`"), "{error}");
    assert!(error.contains("try: give the column another name by its index"), "{error}");
    let renamed = options().with_rename([(0, "ab")]);
    assert_eq!(table(&read(text, &renamed).expect("a table")), ["ab 64: 1"]);
}

#[test]
fn errors_say_line_byte_and_what_to_try() {
    let good = "{\"a\":1}\n";
    for (line, at, words) in [
        ("[1]", 0, "an object is expected; try: write one object on each line"),
        ("{\"a\":1} x", 8, "something follows the object"),
        ("{\"a\":1,\"\\u0061\":2}", 7, "a key that the object has already"),
        ("{\"a\":\"x", 7, "a string is not closed on its line"),
        ("{\"a\":\"\u{1}\"}", 6, "a control character in a string"),
        ("{\"a\":\"\\udc00\"}", 6, "half of a surrogate pair"),
        ("{\"a\":\"\\x\"}", 6, "an escape that there is not"),
        ("{\"a\":01}", 5, "not a number"),
        ("{\"a\":NaN}", 5, "no NaN and no infinity; try: set `json_nan`"),
        ("{\"a\":[-Infinity]}", 6, "no NaN and no infinity"),
        ("{\"a\":-Inf}", 5, "not a number"),
        ("{\"a\":nan}", 5, "a value is expected"),
        ("{\"a\":[1}", 7, "a comma or a closing bracket is expected"),
    ] {
        let error = refused(format!("{good}{line}\n{good}"));
        let place = format!("cannot read FILE on line 2 at byte {}: ", good.len() + at);
        assert!(error.starts_with(&place) && error.contains(words), "{error}");
    }
    let error = refused(b"{\"a\":\"\xff\"}\n");
    assert!(
        error.contains("on line 1 at byte 5: bytes that are not UTF-8 in column `a`"),
        "{error}"
    );
    assert!(refused(b"{\"\xff\":1}\n").contains("not UTF-8 in a key"));
    assert!(refused("\n \r\n").contains("it has no records"));
    let header = read(good, &options().with_header_lines(1)).expect_err("there is none");
    assert!(header.contains("`header` has no meaning in JSON Lines"), "{header}");
}

#[test]
fn lines_that_are_not_objects_are_set_aside_with_their_keys() {
    let text = "{\"a\":1}\nx\n{\"a\":4}\n\n{\"late\":1,\"a\":\n{\"a\":1,\"a\":2}\n[1]\n\
                {\"\\ud800\":1}\n{\"b\":2}\n{\"new\":1,\"a\":01}\n{\"a\":6";
    let aside = || options().with_ragged(Ragged::SetAside);
    let wanted = ["a 64: 1 4 _", "b 64: _ _ 2"];
    for text in [text.to_owned(), text.replace("\n", "\r\n")] {
        let found = read(text, &aside()).expect("a table");
        assert_eq!(table(&found), wanted);
        let report = &found.report().set_aside;
        let lines: Vec<u64> = report.lines.iter().map(|one| one.line).collect();
        assert_eq!((report.count, &lines[..]), (7, &[2, 5, 6, 7, 8, 10, 11][..]));
    }
    let few = read(text, &aside().with_rows(2)).expect("a table");
    assert_eq!((table(&few), few.report().set_aside.count), (vec!["a 64: 1 4".to_owned()], 1));
    let error = read("x\n[1]\n", &aside()).expect_err("no object");
    assert!(error.contains("it has no records"), "{error}");
    let error = read(text, &aside().with_types([("a", ColumnType::Bool)])).expect_err("wrong");
    assert!(error.contains("on line 1 at byte 5: not a value of type bool"), "{error}");
    let pad = read(text, &options().with_ragged(Ragged::Pad)).expect_err("no meaning");
    assert!(pad.contains("`pad` of `ragged` has no meaning in JSON Lines"), "{pad}");
    // A new key far after those that were taken for all, before a fault.
    let long = "{\"a\":1}\n".repeat(150_000) + "{\"new\":1,x}\n{\"a\":2}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    std::fs::write(&path, &long).expect("room");
    let found = aside().read_batches(&path).expect("a table");
    assert_eq!((found.rows(), found.report().columns.len()), (150_001, 1));
    assert_eq!(found.report().set_aside.lines[0].line, 150_001);
    std::fs::write(&path, long + "{\"new\":true}\n").expect("room");
    options().summary(&path).expect_err("a line is not an object");
    let summary = aside().summary(&path).expect("a table");
    assert_eq!((summary.report.columns.len(), summary.report.set_aside.count), (2, 1));
}

#[test]
fn very_many_lines_with_keys_of_their_own_that_are_set_aside_are_forgotten() {
    let line = |at: usize| format!("{{\"key number {at}\":1,}}\n{{\"a\":{at}}}\n");
    let text: String = (0..20_000).map(line).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    std::fs::write(&path, text).expect("room");
    for block_size in [0, 5000] {
        let given = options().with_ragged(Ragged::SetAside).with_block_size(block_size);
        let found = given.read_batches(&path).expect("a table");
        assert_eq!((found.rows(), found.report().columns.len()), (20_000, 1));
        assert_eq!(found.report().set_aside.count, 20_000);
    }
}

#[test]
fn nan_and_infinities_are_numbers_if_the_option_says_so() {
    let text =
        "{\"x\":NaN,\"y\":[NaN]}\n{\"x\":-Infinity,\"y\":1}\n{\"x\":Infinity}\n{\"x\":1}\n";
    let nan = options().with_json_nan(true);
    let wanted = ["x f64: NaN -inf inf 1", "y text: \"[NaN]\" \"1\" _ _"];
    assert_eq!(table(&read(text, &nan).expect("a table")), wanted);
    let error = read(text, &nan.clone().with_types([("x", ColumnType::I64)])).expect_err("no");
    assert!(error.contains("not a value of type i64 in column `x`: `NaN`"), "{error}");
    for wrong in ["{\"x\":NaN1}", "{\"x\":+Infinity}", "{\"x\":nan}", "{\"x\":-NaN}"] {
        read(wrong, &nan).expect_err(wrong);
    }
    let csv = read("a\n1\n", &BatchOptions::new().with_json_nan(true)).expect_err("no JSON");
    assert!(csv.contains("`json_nan` only has a meaning in JSON Lines"), "{csv}");
}

#[test]
fn nesting_and_keys_and_lines_have_no_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let deep = "[".repeat(1_000_000);
    std::fs::write(&path, format!("{{\"a\":{deep}{}}}\n", "]".repeat(1_000_000)))
        .expect("room");
    let deep_table = options().read_batches(&path).expect("a table");
    assert_eq!(deep_table.report().columns[0].kind, ColumnType::Text);
    std::fs::write(&path, format!("{{\"a\":{deep}\n")).expect("room");
    assert!(options().read_batches(&path).is_err());
    // Blocks of one byte take a minute for as many as `torture` tries.
    let count = if is_full() { 100_000 } else { 10_000 };
    let members: Vec<String> = (0..count).map(|at| format!("\"k{at}\":{at}")).collect();
    let last = count - 1;
    let text = format!("{{{}}}\n{{\"k{last}\":1}}\n{{\"last\":2}}\n", members.join(","));
    std::fs::write(&path, text).expect("room");
    for block_size in [0, 1] {
        let read = options().with_block_size(block_size).read_batches(&path).expect("a table");
        assert_eq!((read.report().columns.len(), read.rows()), (count + 1, 3));
        assert_eq!(read.report().columns[last].nulls, 1);
    }
}

#[test]
fn a_key_of_its_own_for_each_of_very_many_objects_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let text: String = (0..30_000).map(|at| format!("{{\"k{at}\":{at}}}\n")).collect();
    std::fs::write(&path, text).expect("room");
    let error = options().stream_batches(&path).map(drop).expect_err("900 million values");
    let error = error.to_string();
    assert!(error.contains("its 30000 objects have 30000 keys"), "{error}");
    assert!(error.contains("try: select columns with `columns`"), "{error}");
    let error = options().read_batches(&path).map(drop).expect_err("the same").to_string();
    assert!(error.contains("its 30000 objects have 30000 keys"), "{error}");
    let read =
        options().with_columns(["k7", "k29999"]).read_batches(&path).expect("two columns");
    assert_eq!((read.rows(), read.report().columns[1].nulls), (30_000, 29_999));
}

/// More of them than are kept for one text before they are shared.
#[test]
fn very_many_keys_of_few_objects_are_all_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let object = |row: usize| {
        let keys = (row * 8_500..(row + 1) * 8_500).map(|at| format!("\"k{at}\":{at}"));
        format!("{{{}}}\n", keys.collect::<Vec<_>>().join(","))
    };
    std::fs::write(&path, (0..8).map(object).collect::<String>()).expect("room");
    let read = options().read_batches(&path).expect("a table");
    assert_eq!((read.report().columns.len(), read.rows()), (68_000, 8));
    assert!(read.report().columns.iter().all(|column| column.nulls == 7));
}

#[test]
fn files_may_have_different_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    std::fs::write(&a, "{\"x\":1}\n").expect("room");
    std::fs::write(&b, "{\"y\":2,\"x\":0.5}\n").expect("room");
    let read = options().read_batches_of([&a, &b]).expect("a table");
    assert_eq!(table(&read), ["x f64: 1 0.5", "y 64: _ 2"]);
    let stream = options().stream_batches_of([&a, &b]).expect("a table");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(crate::typed::shown::lines(&schema, &batches), table(&read));
}

#[test]
fn what_the_writer_writes_is_read_as_the_same_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let text =
        "n,f,d,m,t,b\n1,0.5,2020-02-29,2020-02-29T01:02:03,\"a\"\"\\,\n\u{1}é\",true\n,,,,,\n";
    let first = read(text, &BatchOptions::new()).expect("a table");
    BatchWriteOptions::new()
        .write_batches(&path, first.schema(), first.batches())
        .expect("written");
    let again = every_way(&path, &options()).expect("a table");
    assert_eq!(table(&again), table(&first));
    let few = options().with_rows(1).with_read(ReadOptions::new().with_workers(2));
    assert_eq!(few.read_batches(&path).expect("a table").rows(), 1);
    let summary = options().summary(&path).expect("a summary");
    assert_eq!((summary.report.rows, summary.first.len()), (2, 1));
}
