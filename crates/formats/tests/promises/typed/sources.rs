//! Where tables are from: several files, compressed ones, pipes, parts of files.

use std::fs;
use std::io::Write;

use swath::{Extent, Source};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table::{BatchOptions, ColumnType};

use crate::typed::shown::{every_way, lines, table};

#[test]
fn several_files_are_one_table_if_their_names_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a"), "x;y\n1;a\n2;b\n").expect("room");
    fs::write(path("b"), "sep=;\nx;y\n0.5;c\n").expect("room");
    fs::write(path("c"), "x;z\n1;a\n").expect("room");
    let options = BatchOptions::new().with_file_column("file");
    let read = options.read_batches_of([path("a"), path("b")]).expect("one table");
    let [a, b] = ["a", "b"].map(|name| format!("{:?}", path(name).display().to_string()));
    let wanted = [
        "x f64: 1 2 0.5".to_owned(),
        "y text: \"a\" \"b\" \"c\"".to_owned(),
        format!("file dictionary: {a} {a} {b}"),
    ];
    assert_eq!(table(&read), wanted);
    let deciding = read.report().columns[0].deciding.expect("a decimal");
    assert_eq!((deciding.source, deciding.line), (1, 3));
    let stream = options.stream_batches_of([path("a"), path("b")]).expect("one table");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(lines(&schema, &batches), wanted);
    let error = options.read_batches_of([path("a"), path("c")]).expect_err("other names");
    assert_eq!(error.path(), path("c"));
    assert!(error.to_string().contains("column index 1 is `z`, but in "), "{error}");
}

#[test]
fn compressed_tables_are_read_like_plain_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("a.csv");
    fs::write(&plain, "n,t\n1,\"x\ny\"\n2,z\n").expect("room");
    for format in [Format::Gzip, Format::Zstd, Format::Bzip2] {
        let packed = folder.path().join(format!("{format:?}"));
        CompressOptions::new()
            .with_format(format)
            .compress(&plain, &packed)
            .expect("compressed");
        let read = every_way(&packed, &BatchOptions::new()).expect("a table");
        assert_eq!(table(&read), ["n 64: 1 2", "t text: \"x\\ny\" \"z\""]);
    }
}

#[test]
fn pipes_are_read_like_files() {
    let piped = || {
        let (from, mut to) = std::io::pipe().expect("a pipe");
        to.write_all(b"n,t\n1,x\n2,y\n").expect("room in the pipe");
        Source::file(std::fs::File::from(std::os::fd::OwnedFd::from(from)), "pipe")
    };
    let wanted = ["n 64: 1 2", "t text: \"x\" \"y\""];
    assert_eq!(table(&BatchOptions::new().read_batches(piped()).expect("a table")), wanted);
    let stream = BatchOptions::new().stream_batches(piped()).expect("a table");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(lines(&schema, &batches), wanted);
}

#[test]
fn each_row_begins_in_one_of_the_extents_that_cover_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let text = "n,t\n1,\"x\n\ny\"\n2,z\n3,\"\"\"\n\"\n4,5\n";
    fs::write(&path, text).expect("room");
    for cut in 0..=text.len() as u64 {
        let mut rows = Vec::new();
        for part in [Extent::between(0, cut), Extent::between(cut, text.len() as u64)] {
            let options = BatchOptions::new()
                .with_types([("n", ColumnType::I64), ("t", ColumnType::Text)])
                .with_starting_in(part);
            let read = every_way(&path, &options).expect("a table");
            rows.extend(table(&read)[0].split(": ").nth(1).map(str::to_owned));
        }
        assert_eq!(rows.join(" ").trim(), "1 2 3 4", "{cut}");
    }
}
