//! Records that are skipped at the end of a table.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;

use swath::{Extent, Source};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table::{BatchForm, BatchOptions, ColumnType, HeaderLine};

use crate::typed::shown::{every_way, lines, read, table};

fn without(count: usize) -> BatchOptions {
    BatchOptions::new().with_skip_footer(count)
}

#[test]
fn the_last_records_decide_nothing_and_may_be_anything() {
    let text = "n,t\n1,a\n\n2,b\n\"Total\nof all\",3,\"x\" y\n# c;;;\n";
    let found = |count| table(&read(text, &without(count)).expect("a table"));
    // The comment is a record here: not all is numbers.
    assert_eq!(found(2), ["n 64: 1 2", "t text: \"a\" \"b\""]);
    assert_eq!(found(3), ["n 64: 1", "t text: \"a\""]);
    for count in [4, 5, 1_000_000] {
        assert_eq!(found(count), ["n null:", "t null:"]);
    }
    let commented = without(1).with_comment(Some(b'#'));
    assert_eq!(table(&read(text, &commented).expect("a table")), found(2));
    // With the total, the second column would have a text over a text.
    let numbers = "2020;1\n2021;2\nTotal;three,x,y,z\n";
    let found = read(numbers, &without(1)).expect("a table");
    assert_eq!(table(&found), ["column_1 64: 2020 2021", "column_2 64: 1 2"]);
    let bare = without(2).with_header(HeaderLine::Absent).with_delimiter(b',');
    assert_eq!(
        table(&read("a,b\nx\n", &bare).expect("no row")),
        ["column_1 null:", "column_2 null:"]
    );
    let error = read("a\n1\n", &without(1_000_001)).expect_err("too many");
    assert!(
        error.contains("more than 1000000 records are skipped at the end; try: "),
        "{error}"
    );
}

#[test]
fn a_quote_that_is_not_closed_is_an_error_also_at_the_end() {
    for (text, says) in [
        ("a,b\n1,2\n3,\"4\n5,6\n", "on line 3 at byte 10: a quote opens here"),
        ("a,b\n1\n3,\"4\n5,6\n", "on line 2 at byte 4: 1 field where 2 are expected"),
    ] {
        let error = read(text, &without(2)).expect_err(text);
        assert!(error.contains(says), "{error}");
    }
    let few = without(1).with_rows(1);
    assert_eq!(read("a\n1\n2\n3\n\"4\n", &few).expect("it is far from the end").rows(), 1);
    let error = read("a\n1\n\"2\n", &few).expect_err("it may be the one that is skipped");
    assert!(error.contains("a quote opens here"), "{error}");
}

#[test]
fn other_forms_have_last_records_too() {
    let objects = "{\"a\":1}\n{\"a\":2}\n \t\nnot JSON\n{\"b\":3}\n\n";
    let json = without(2).with_form(BatchForm::JsonLines);
    assert_eq!(table(&read(objects, &json).expect("a table")), ["a 64: 1 2"]);
    assert_eq!(table(&read(objects, &json.with_rows(1)).expect("a table")), ["a 64: 1"]);
    let fixed = without(1).with_form(BatchForm::Fixed);
    let text = "n   w\n 1  x\n22  y\nTotal: 23\n  \n";
    assert_eq!(
        table(&read(text, &fixed).expect("a table")),
        ["n 64: 1 22", "w text: \"x\" \"y\""]
    );
}

#[test]
fn rows_and_parts_are_those_of_the_table_without_its_last_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let text = "n,t\n1,\"a\n\"\n2,\"\n\n\"\n3,c\nTotal\n\nx,y,z\n";
    fs::write(&path, text).expect("room");
    let given = without(2).with_types([("n", ColumnType::I64)]).with_comment(None);
    for rows in 0..6 {
        let found = table(&every_way(&path, &given.clone().with_rows(rows)).expect("a table"));
        let wanted =
            ["n 64:", " 1", " 2", " 3"][..=usize::try_from(rows.min(3)).expect("few")].concat();
        assert_eq!(found[0], wanted, "{rows}");
    }
    for cut in 0..=text.len() as u64 {
        let mut found = String::new();
        for part in [Extent::between(0, cut), Extent::between(cut, u64::MAX)] {
            let read =
                every_way(&path, &given.clone().with_starting_in(part)).expect("a table");
            found += table(&read)[0].strip_prefix("n 64:").expect("numbers");
        }
        assert_eq!(found, " 1 2 3", "{cut}");
    }
}

#[test]
fn each_file_and_each_source_has_its_own_last_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let rows = |from: usize, to: usize| -> String {
        (from..to).map(|row| format!("{row},\"a\n{row}\"\n")).collect()
    };
    fs::write(path("a"), format!("n,t\n{}Total 9\n", rows(0, 400))).expect("room");
    fs::write(path("b"), format!("n,t\n{}Total\n", rows(400, 500))).expect("room");
    let wanted =
        table(&read(format!("n,t\n{}", rows(0, 500)), &BatchOptions::new()).expect("a table"));
    let both = without(1).read_batches_of([path("a"), path("b")]).expect("a table");
    assert_eq!(table(&both), wanted);
    let stream = |options: BatchOptions, source: Source| {
        let stream = options.stream_batches(source).expect("a table");
        let schema = stream.schema().clone();
        lines(&schema, &stream.map(|batch| batch.expect("a batch")).collect::<Vec<_>>())
    };
    let wanted =
        table(&read(format!("n,t\n{}", rows(0, 400)), &BatchOptions::new()).expect("a table"));
    for format in [Format::Gzip, Format::Zstd] {
        let packed = path(&format!("{format:?}"));
        CompressOptions::new()
            .with_format(format)
            .compress(path("a"), &packed)
            .expect("packed");
        assert_eq!(table(&every_way(&packed, &without(1)).expect("a table")), wanted);
        let few = without(1).with_rows(3).read_batches(&packed).expect("a table");
        assert_eq!(table(&few)[0], "n 64: 0 1 2");
        assert_eq!(stream(without(1), Source::from(packed)), wanted);
    }
    let (from, mut to) = std::io::pipe().expect("a pipe");
    to.write_all(&fs::read(path("a")).expect("there")).expect("room in the pipe");
    drop(to);
    let pipe = Source::file(File::from(OwnedFd::from(from)), "pipe");
    assert_eq!(stream(without(1), pipe), wanted);
    let summary = without(1).summary(path("a")).expect("a summary");
    assert_eq!((summary.report.rows, summary.report.columns[0].kind), (400, ColumnType::I64));
}

#[test]
fn one_type_may_be_that_of_all_columns_of_which_nothing_else_is_given() {
    let text = "zip,born,n,e\n007,1.2.2020,5,NA\n1,3.4.2021,6,\n";
    let given = BatchOptions::new().with_all_types(ColumnType::Text);
    let texts = [
        "zip text: \"007\" \"1\"",
        "born text: \"1.2.2020\" \"3.4.2021\"",
        "n text: \"5\" \"6\"",
        "e text: _ _",
    ];
    let found = read(text, &given).expect("a table");
    assert_eq!(table(&found), texts);
    assert!(
        found.report().columns.iter().all(|column| column.is_told && column.deciding.is_none())
    );
    let some = given.with_types([("n", ColumnType::I8)]).with_formats([("born", "%d.%m.%Y")]);
    let found = read(text, &some).expect("a table");
    assert_eq!(table(&found)[1..3], ["born date: 18293 18720", "n 8: 5 6"]);
    let error = read(text, &BatchOptions::new().with_all_types(ColumnType::I64))
        .expect_err("no number");
    assert!(error.contains("not a value of type i64 in column `born`"), "{error}");
}
