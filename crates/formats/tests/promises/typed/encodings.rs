//! Texts in encodings of the WHATWG's standard, and bytes that are not of the encoding.

use std::fs;
use std::io::Write;

use swath::Source;
use swath_formats::compressed::CompressOptions;
use swath_formats::table::{BatchForm, BatchOptions, ColumnType, Encoding, EncodingErrors};

use crate::typed::shown::{every_way, lines, read, table};

fn of(label: &str) -> BatchOptions {
    BatchOptions::new().with_encoding(label.parse().expect("an encoding"))
}

/// The texts in the encodings that `iconv` makes of them, which has tables of its own.
const TEXTS: [(&str, &str, &[u8]); 12] = [
    ("shift_jis", "ソ|ポ", b"\x83\x5c|\x83\x7c"),
    ("euc-jp", "日本", b"\xc6\xfc\xcb\xdc"),
    ("iso-2022-jp", "日本", b"\x1b$BF|K\\\x1b(B"),
    ("euc-kr", "한국", b"\xc7\xd1\xb1\xb9"),
    ("big5", "功許", b"\xa5\x5c\xb3\x5c"),
    ("gbk", "中国", b"\xd6\xd0\xb9\xfa"),
    ("gb18030", "中\u{1f600}", b"\xd6\xd0\x94\x39\xfc\x36"),
    ("windows-1251", "Привет", b"\xcf\xf0\xe8\xe2\xe5\xf2"),
    ("koi8-r", "Привет", b"\xf0\xd2\xc9\xd7\xc5\xd4"),
    ("iso-8859-2", "Łódź", b"\xa3\xf3d\xbc"),
    ("ibm866", "Да", b"\x84\xa0"),
    ("macintosh", "Köln", b"K\x9aln"),
];

#[test]
fn texts_are_decoded_by_the_labels_of_the_standard() {
    for (label, text, bytes) in TEXTS {
        let file = [b"a,b\n1,\"", bytes, b"\"\n2,\n"].concat();
        let found = read(&file, &of(label)).expect(label);
        assert_eq!(
            table(&found),
            ["a 64: 1 2".to_owned(), format!("b text: {text:?} _")],
            "{label}"
        );
        assert_eq!(found.report().encoding.to_string(), label);
        let upper: Encoding = label.to_uppercase().parse().expect(label);
        assert_eq!(upper, found.report().encoding);
    }
    for label in ["latin1", "iso-8859-1", "ascii", "cp1252", "windows-1252"] {
        assert_eq!(label.parse(), Ok(Encoding::Latin1), "{label}");
    }
    assert_eq!("utf8".parse(), Ok(Encoding::Utf8));
    for (label, says) in [
        ("utf-16", "which byte"),
        ("ebcdic", "is not an encoding"),
        ("iso-2022-kr", "is not an encoding"),
    ] {
        let error = label.parse::<Encoding>().expect_err(label);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn bytes_that_are_not_of_the_encoding_are_an_error_with_their_byte_in_the_file() {
    let bad = b"\x83\x5c,b\n1,\"\x83\x5c\xfd\"\n2,\xff\n";
    let error = read(bad, &of("shift_jis")).expect_err("FD is nothing");
    let says = "bytes that are not shift_jis at byte 10 of the file in column `b`";
    assert!(error.contains("on line 2") && error.contains(says), "{error}");
    assert!(error.contains("or replace such bytes with `encoding_errors`"), "{error}");
    let other = of("shift_jis").with_columns([0]);
    assert_eq!(read(bad, &other).expect("it is not read").rows(), 2);
    let name = read(b"a\xff,b\n1,2\n", &of("euc-kr")).expect_err("a name");
    assert!(
        name.contains("bytes that are not euc-kr at byte 1 of the file in a name"),
        "{name}"
    );
    // As many as there are bytes, the last one after a fault in a column that is not read.
    let many = [b"a,b\n".to_vec(), b"\xff,1\n".repeat(3000), b"x,\xff\n".to_vec()].concat();
    let error = read(&many, &of("big5").with_columns(["b"])).expect_err("the last one");
    assert!(error.contains("at byte 12006 of the file in column `b`"), "{error}");
    let fixed = of("euc-kr").with_form(BatchForm::Fixed).with_widths([2, 2]);
    let error = read(b"a b\n1 \xc7\n", &fixed).expect_err("half a character");
    assert!(
        error.contains("bytes that are not euc-kr at byte 6 of the file, so that no position"),
        "{error}"
    );
}

#[test]
fn bytes_may_be_replaced_and_are_counted() {
    let replace = |options: BatchOptions| options.with_encoding_errors(EncodingErrors::Replace);
    let found = |bytes: &[u8], options: BatchOptions| {
        let found = read(bytes, &replace(options)).expect("a table");
        (table(&found).join("; "), found.report().replaced)
    };
    let plain = BatchOptions::new;
    assert_eq!(
        found(b"\xef\xbb\xbfa\n\xc3\xa9\n", plain()),
        ("a text: \"\u{e9}\"".to_owned(), 0)
    );
    let text = "a text: \"x\u{fffd}\u{fffd}\u{fffd}y\" \"\u{fffd}\"";
    assert_eq!(found(b"a\nx\xff\xe2\x82\xc3y\n\xef\xbf\xbd\n", plain()), (text.to_owned(), 3));
    assert_eq!(found(b"a\nx\x85,y\n", of("shift_jis")).1, 1);
    assert_eq!(
        found(b"a\0\n\0x\0\0\xd8\n\0", of("utf-16le")),
        ("a text: \"x\u{fffd}\"".to_owned(), 1)
    );
    // Fields that are not read count too.
    assert_eq!(found(b"a,b\n\xff,1\n", plain().with_columns(["b"])), ("b 64: 1".to_owned(), 1));
}

#[test]
fn every_source_may_be_in_any_encoding() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    let line =
        |row: usize| [format!("{row},\"").as_bytes(), b"\x83\x5c\n\x83\x7c\"\n"].concat();
    let bytes = [b"n,t\n".to_vec(), (0..3000).flat_map(line).collect()].concat();
    fs::write(&path, &bytes).expect("room");
    let options = of("shift_jis");
    let wanted = every_way(&path, &options).expect("a table");
    assert_eq!((wanted.rows(), wanted.report().columns[0].kind), (3000, ColumnType::I64));
    let packed = folder.path().join("a.csv.zst");
    CompressOptions::new().compress(&path, &packed).expect("packed");
    assert_eq!(table(&every_way(&packed, &options).expect("a table")), table(&wanted));
    let few = options.clone().with_rows(2);
    for path in [&path, &packed] {
        let few = few.read_batches(path.as_path()).expect("a table");
        assert_eq!(table(&few)[1], "t text: \"ソ\\nポ\" \"ソ\\nポ\"");
    }
    let (from, mut to) = std::io::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || to.write_all(&bytes).expect("it is read"));
    let pipe = Source::file(fs::File::from(std::os::fd::OwnedFd::from(from)), "pipe");
    let stream = options.stream_batches(pipe).expect("a table");
    writer.join().expect("no panic");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(lines(&schema, &batches), table(&wanted));
}
