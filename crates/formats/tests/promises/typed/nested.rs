//! Objects and arrays of JSON Lines as structs and lists.

use arrow_array::RecordBatch;
use swath_formats::table::{
    self, BatchForm, BatchOptions, BatchWriteOptions, Changes, ColumnType, Dictionary, Ragged,
    TableReport, arrow,
};

use crate::typed::shown::{every_way, lines, read, table};

fn nested() -> BatchOptions {
    BatchOptions::new().with_form(BatchForm::JsonLines).with_json_nested(true)
}

fn shown(text: &str) -> Vec<String> {
    table(&read(text, &nested()).expect("a table"))
}

#[test]
fn a_nested_column_has_the_type_of_all_its_values_on_every_level() {
    let text = r#"{"a":{"n":1,"t":"2024-02-29"},"l":[1,null]}
{"a":{"x":{"y":[]},"n":0.5},"l":[]}
{"a":null}
{"l":[2.5],"a":{"t":"2024-02-29T12:00:00","x":{"y":[{"z":true}]}}}
{"a":{},"l":null}
"#;
    let wanted = [
        "a {n f64, t us, x {y [{z bool}]}}: \
         {\"n\":1.0,\"t\":\"2024-02-29T00:00:00.000000\",\"x\":null} \
         {\"n\":0.5,\"t\":null,\"x\":{\"y\":[]}} _ \
         {\"n\":null,\"t\":\"2024-02-29T12:00:00.000000\",\"x\":{\"y\":[{\"z\":true}]}} \
         {\"n\":null,\"t\":null,\"x\":null}",
        "l [f64]: [1.0,null] [] _ [2.5] _",
    ];
    assert_eq!(shown(text), wanted);
    let report = read(text, &nested()).expect("a table").report().clone();
    let kinds: Vec<ColumnType> = report.columns.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ColumnType::Struct, ColumnType::List]);
    assert_eq!(report.columns[1].nulls, 2);
    assert_eq!(report.columns[0].deciding.expect("a line").line, 1);
    // Without the option, they are text.
    let text = table(&read(text, &nested().with_json_nested(false)).expect("a table"));
    assert!(text[1].starts_with("l text: \"[1,null]\" \"[]\""), "{text:?}");
}

#[test]
fn values_of_several_kinds_are_text_where_they_are() {
    assert_eq!(
        shown("{\"a\":{\"b\":[1]},\"c\":[1]}\n{\"a\":{\"b\":{ \"x\":1}},\"c\":2}\n"),
        ["a {b text}: {\"b\":\"[1]\"} {\"b\":\"{ \\\"x\\\":1}\"}", "c text: \"[1]\" \"2\""]
    );
    // As in columns: no double is the whole number, and no type has both.
    assert_eq!(
        shown("{\"a\":[9007199254740993,0.5,\"x\"],\"b\":[1,18446744073709551615]}\n"),
        ["a [text]: [\"9007199254740993\",\"0.5\",\"x\"]", "b [u64]: [1,18446744073709551615]"]
    );
    assert_eq!(
        shown("{\"a\":[9007199254740993,0.5]}\n"),
        ["a [text]: [\"9007199254740993\",\"0.5\"]"]
    );
    assert_eq!(
        shown("{\"a\":[[],{}]}\n{\"a\":[null]}\n"),
        ["a [text]: [\"[]\",\"{}\"] [null]"]
    );
    assert_eq!(
        shown("{\"a\":[],\"b\":{}}\n{\"a\":[null]}\n"),
        ["a [null]: [] [null]", "b {}: {} _"]
    );
}

#[test]
fn what_values_lost_is_counted_in_objects_and_arrays_too() {
    let rounded = "0.1000000000000000055";
    let text = format!(
        "{{\"a\":{{\"b\":[{rounded},1.5,{rounded}]}},\"c\":[1],\"d\":[1,{{}},[]]}}\n\
         {{\"a\":{{\"b\":[]}},\"c\":\"x\"}}\n\n{{\"a\":{{\"b\":[{rounded}]}},\"c\":{{}}}}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, text).expect("room");
    let counted = |report: &TableReport| -> Vec<[(u64, Option<u64>); 2]> {
        let of = |found: Changes| (found.count, found.first.map(|it| it.line));
        report.columns.iter().map(|it| [of(it.rounded), of(it.as_text)]).collect()
    };
    let (none, line) = ((0, None), Some(1));
    // Alone in their column, objects and arrays are known by their text.
    let plain = [[none, none], [none, (2, line)], [none, none]];
    let nested_ones = [[(3, line), none], [none, (2, line)], [none, (2, line)]];
    for (is_nested, wanted) in [(false, plain), (true, nested_ones)] {
        for block_size in [1, 40, 0] {
            let options = nested().with_json_nested(is_nested).with_block_size(block_size);
            let batches = options.read_batches(&path).expect("a table");
            assert_eq!(counted(batches.report()), wanted, "{is_nested} {block_size}");
            let mut stream = options.stream_batches(&path).expect("a table");
            assert!(stream.by_ref().all(|batch| batch.is_ok()));
            assert_eq!(counted(stream.report()), wanted, "{is_nested} {block_size}");
            let summary = options.summary(&path).expect("a table");
            assert_eq!(counted(&summary.report), wanted, "{is_nested} {block_size}");
        }
    }
    let given = nested().with_types([("c", ColumnType::Text)]).read_batches(&path);
    assert_eq!(given.expect("a table").report().columns[1].as_text.count, 0);
    let options = nested().with_json_nested(false).with_dictionary(Dictionary::All);
    let read = options.read_batches(&path).expect("a table");
    assert_eq!(counted(read.report()), plain);
}

#[test]
fn columns_that_are_too_deep_or_have_too_many_fields_are_text() {
    let deep = |levels| format!("{{\"a\":{}1{}}}\n", "[".repeat(levels), "]".repeat(levels));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let kind = |text: &str| {
        std::fs::write(&path, text).expect("room");
        let found = [0, 1000].map(|block_size| {
            let read = nested().with_block_size(block_size).read_batches(&path);
            let column = read.expect("a table").report().columns[0].clone();
            (column.kind, column.deciding.map(|it| it.line))
        });
        assert_eq!(found[0], found[1]);
        found[0]
    };
    assert_eq!(kind(&deep(32)), (ColumnType::List, Some(1)));
    assert_eq!(kind(&deep(33)), (ColumnType::Text, None));
    assert_eq!(kind(&deep(100_000)), (ColumnType::Text, None));
    let wide = |count: usize, each: usize| -> String {
        let row = |row: usize| {
            let fields =
                (row * each..(row * each + each).min(count)).map(|at| format!("\"k{at}\":0"));
            format!("{{\"a\":{{{}}}}}\n", fields.collect::<Vec<_>>().join(","))
        };
        (0..count.div_ceil(each)).map(row).collect()
    };
    for each in [7, 300, 1001] {
        assert_eq!(kind(&wide(1000, each)), (ColumnType::Struct, Some(1)));
        assert_eq!(kind(&wide(1001, each)), (ColumnType::Text, None));
    }
    let nul = "{\"a\":{\"\\u0000\":1},\"b\":{\"x\":\"\\u0000\"}}\n";
    assert_eq!(kind(nul), (ColumnType::Text, None));
}

#[test]
fn a_key_twice_in_an_object_inside_of_a_value_is_an_error_with_its_byte() {
    for (text, line, byte) in [
        ("{\"a\":1}\n{\"a\":{\"b\":1,\"b\":2}}\n", 2, 20),
        ("{\"a\":[0,{\"b\":{},\"\\u0062\":2}]}\n", 1, 16),
        ("{\"a\":{\"a\":{\"b\":1,\"a\":2},\"b\":3,\"c\":{\"d\":0,\"d\":0}}}\n", 1, 41),
    ] {
        let error = read(text, &nested()).expect_err("twice");
        let place = format!("on line {line} at byte {byte}: a key that the object has already");
        assert!(error.contains(&place), "{error}");
        read(text, &nested().with_json_nested(false)).expect("text");
        let aside = read(text, &nested().with_ragged(Ragged::SetAside));
        assert_eq!(aside.map_or(1, |it| it.report().set_aside.count), 1);
    }
    let wide: Vec<String> = (0..100).map(|at| format!("\"k{}\":0", at % 99)).collect();
    let error =
        read(format!("{{\"a\":{{{}}}}}\n", wide.join(",")), &nested()).expect_err("twice");
    assert!(error.contains("at byte 788: a key that"), "{error}");
}

#[test]
fn options_say_what_nested_values_are() {
    let text = "{\"a\":{\"x\":\"-\",\"y\":[\"yes\",\"no\"]},\"b\":[1]}\n{\"a\":{\"x\":5}}\n";
    let options = nested().with_null_values(["-"]).with_true_values(["yes"]);
    let found = table(&read(text, &options.with_false_values(["no"])).expect("a table"));
    assert_eq!(
        found,
        [
            "a {x 64, y [bool]}: {\"x\":null,\"y\":[true,false]} {\"x\":5,\"y\":null}",
            "b [64]: [1] _"
        ]
    );
    let given = read(text, &nested().with_types([("b", ColumnType::Text)])).expect("a table");
    assert_eq!(given.report().columns[1].kind, ColumnType::Text);
    let error = read(text, &nested().with_types([("b", ColumnType::List)])).expect_err("no");
    assert!(error.contains("the type list cannot be given"), "{error}");
    let csv = read("a\n1\n", &BatchOptions::new().with_json_nested(true)).expect_err("no JSON");
    assert!(csv.contains("`json_nested` only has a meaning in JSON Lines"), "{csv}");
    let summary = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(summary.path(), text).expect("room");
    let summary = nested().with_block_size(1).summary(summary.path()).expect("a summary");
    assert_eq!(lines(&summary.schema, &summary.first)[1], "b [64]: [1] _");
    assert_eq!(summary.report.columns[1].nulls, 1);
    assert_eq!(summary.ranges[0].least, None);
}

#[test]
fn nested_columns_are_written_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let row = |at: usize| match at % 5 {
        0 => format!("{{\"id\":{at},\"a\":{{\"n\":{at},\"t\":\"x\\n{at}\"}}}}\n"),
        1 => format!("{{\"id\":{at},\"l\":[{at},null,{{\"x\":{at}.5}}]}}\n")
            .replace(&format!("{at},null,"), ""),
        2 => format!("{{\"id\":{at},\"a\":{{\"d\":\"2024-02-29\",\"e\":{{}}}},\"l\":[]}}\n"),
        3 => format!("{{\"id\":{at},\"z\":[[{at}],[],null]}}\n"),
        _ => "{}\n".to_owned(),
    };
    std::fs::write(file("a.jsonl"), (0..2000).map(row).collect::<String>()).expect("room");
    let first = every_way(&file("a.jsonl"), &nested()).expect("a table");
    assert_eq!(
        first.schema().fields().iter().filter(|it| it.data_type().is_nested()).count(),
        3
    );
    for name in ["b.jsonl", "c.arrow", "d.arrows"] {
        let path = file(name);
        table::write_batches(&path, first.schema(), first.batches()).expect("written");
        let (schema, batches) = match name {
            "b.jsonl" => {
                let again = nested().read_batches(&path).expect("a table");
                (again.schema().clone(), again.into_batches())
            }
            _ => {
                let batches = arrow::batches(&path).expect("Arrow");
                let schema = batches.schema().clone();
                (schema, batches.collect::<Result<Vec<RecordBatch>, _>>().expect("batches"))
            }
        };
        assert_eq!(lines(&schema, &batches), table(&first), "{name}");
    }
    let error = BatchWriteOptions::new()
        .write_batches(file("e.csv"), first.schema(), first.batches())
        .expect_err("CSV has no structs")
        .to_string();
    assert!(error.contains("column `a` is of type Struct"), "{error}");
    assert!(error.contains("which CSV cannot hold; try: convert it to text first"), "{error}");
}

#[test]
fn files_have_the_fields_of_all_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["b", "a"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], "{\"o\":{\"z\":1}}\n").expect("room");
    std::fs::write(&paths[1], "{\"o\":{\"a\":[],\"z\":0.5}}\n{\"o\":{}}\n").expect("room");
    let read = nested().read_batches_of(&paths).expect("a table");
    assert_eq!(
        table(&read),
        [
            "o {z f64, a [null]}: {\"z\":1.0,\"a\":null} {\"z\":0.5,\"a\":[]} {\"z\":null,\"a\":null}"
        ]
    );
}
