//! Text of fixed width, as people have it.

use std::fs;
use std::io::Write;

use swath::{Extent, ReadOptions, Source};
use swath_formats::compressed::{CompressOptions, Format};
use swath_formats::table::{
    BatchForm, BatchOptions, BatchWriteOptions, ColumnType, Delimiter, Encoding, FixedColumn,
    HeaderLine, Ragged,
};

use crate::typed::shown::{every_way, lines, read, table};

fn options() -> BatchOptions {
    BatchOptions::new().with_form(BatchForm::Fixed)
}

fn found(text: impl AsRef<[u8]>, options: &BatchOptions) -> Vec<String> {
    table(&read(text, options).unwrap_or_else(|error| panic!("{error}")))
}

fn refused(text: impl AsRef<[u8]>, options: &BatchOptions) -> String {
    read(text, options).expect_err("it is wrong")
}

const TOWNS: &str = "\
id   town        since       people
  1  K\u{f6}ln        0050-01-01  1.1e6

 12  \u{6771}\u{4eac}          1457-04-08
123  St. John's              0.5
";

#[test]
fn columns_are_found_in_the_first_lines() {
    let wanted = [
        "id 64: 1 12 123",
        "town text: \"K\u{f6}ln\" \"\u{6771}\u{4eac}\" \"St. John's\"",
        "since date: -701265 -187272 _",
        "people f64: 1100000 _ 0.5",
    ];
    assert_eq!(found(TOWNS, &options()), wanted);
    assert_eq!(found(TOWNS.replace('\n', "\r\n"), &options()), wanted);
    assert_eq!(found(format!("\u{feff}{TOWNS}"), &options()), wanted);
    assert_eq!(found(TOWNS.trim_end(), &options()), wanted);
    let read = read(TOWNS, &options()).expect("a table");
    let report = read.report();
    let places: Vec<FixedColumn> =
        vec![(0..3).into(), (5..15).into(), (17..27).into(), (29..35).into()];
    assert_eq!((&report.fixed, report.header_lines, report.delimiter), (&places, 1, None));
    assert_eq!(report.columns[3].deciding.map(|one| one.line), Some(2));
}

#[test]
fn text_further_on_that_is_between_found_columns_is_an_error() {
    let mut text = "n    word\n".to_owned();
    (0..2000).for_each(|at| text.push_str(&format!("{:4} abc\n", at % 1000)));
    let good = found(&text, &options());
    assert!(good[0].starts_with("n 64: 0 1 2") && good[1].starts_with("word text"), "{good:?}");
    let wide = format!("{text}12345 abc\n");
    assert_eq!(
        refused(&wide, &options()),
        "cannot read FILE on line 2002 at byte 18014: text outside of the columns, at position 4: \
         `5 abc`; try: pass `widths` or `positions` that include it, skip lines above the table \
         with `skip_rows`, or set aside such lines with `ragged`"
            .replace("18014", &(text.len() + 4).to_string())
    );
    let after = format!("{text}   1 abc   x\u{e9}\n");
    let error = refused(&after, &options());
    assert!(
        error.contains("on line 2002") && error.contains("at position 11: `x\u{e9}`"),
        "{error}"
    );
    let aside = options().with_ragged(Ragged::SetAside);
    let read = read(wide + "   7 abc\n", &aside).expect("a table");
    assert_eq!(read.rows(), 2001);
    assert_eq!(read.report().set_aside.count, 1);
    assert_eq!(read.report().set_aside.lines[0].line, 2002);
    // Rows that are not read are not checked.
    assert_eq!(found(&after, &options().with_rows(1)), ["n 64: 0", "word text: \"abc\""]);
}

#[test]
fn widths_are_beside_each_other_and_positions_may_have_gaps() {
    let text = "ab12 x\ncd 3\ne\n";
    let bare = options().with_header(HeaderLine::Absent);
    let widths = bare.clone().with_widths([2, 2, 2]);
    let wanted = [
        "column_1 text: \"ab\" \"cd\" \"e\"",
        "column_2 64: 12 3 _",
        "column_3 text: \"x\" _ _",
    ];
    assert_eq!(found(text, &widths), wanted);
    let error = refused(text, &bare.clone().with_widths([2, 2]));
    assert!(error.contains("on line 1 at byte 5: text outside of the columns"), "{error}");
    for ragged in [Ragged::Refuse, Ragged::Pad] {
        let narrow = bare.clone().with_widths([2, 2]).with_ragged(ragged);
        assert!(read(text, &narrow).is_err());
    }
    let positions = bare.clone().with_positions([FixedColumn::from(1..2), (3..).into()]);
    assert_eq!(
        found(text, &positions),
        ["column_1 text: \"b\" \"d\" _", "column_2 text: \"2 x\" \"3\" _"]
    );
    let positions = bare.with_positions([1..2, 2..4]);
    assert_eq!(
        found(text, &positions),
        ["column_1 text: \"b\" \"d\" _", "column_2 64: 12 3 _"]
    );
}

#[test]
fn an_empty_field_is_missing_whatever_means_a_missing_value() {
    let bare = options().with_widths([3, 3, 3]).with_header(HeaderLine::Absent);
    let text = "-  abcx\n\t     y\nab\n";
    let given = bare.with_null_values(["-"]);
    let wanted = [
        "column_1 text: _ _ \"ab\"",
        "column_2 text: \"abc\" _ _",
        "column_3 text: \"x\" \"y\" _",
    ];
    assert_eq!(found(text, &given), wanted);
    let told = given.with_types((0..3).map(|at| (at, ColumnType::Text)));
    assert_eq!(found(text, &told), wanted);
}

#[test]
fn characters_are_counted_in_every_encoding() {
    let bare = options().with_widths([4, 2]).with_header(HeaderLine::Absent);
    let wanted = ["column_1 text: \"\u{e9}\u{e8}ab\" \"e\\u{301}\"", "column_2 64: 12 3"];
    let text = "\u{e9}\u{e8}ab12\ne\u{301}   3\n";
    assert_eq!(found(text, &bare), wanted);
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(found(utf16, &bare), wanted);
    let latin = bare.clone().with_encoding(Encoding::Latin1);
    assert_eq!(found(b"\xe9\xe8ab12\n", &latin)[0], "column_1 text: \"\u{e9}\u{e8}ab\"");
    // Where a byte is not a character, no position after it is known: also in columns that are not
    // read.
    for text in [&b"ab  12\n\xb0C  12\n"[..], b"ab  12\nab  1\xe9\n"] {
        let error = refused(text, &bare.clone().with_columns([0]));
        assert!(error.contains("on line 2") && error.contains("not UTF-8"), "{error}");
        assert!(
            error.contains("try: pass the encoding of the file with `encoding`, or replace"),
            "{error}"
        );
    }
    // Another plane, and wide characters.
    let wide = "\u{1f600}\u{65e5}\u{672c}\u{8a9e}12\n";
    assert_eq!(found(wide, &bare)[1], "column_2 64: 12");
}

#[test]
fn bytes_that_mean_something_elsewhere_are_ordinary_characters() {
    let bare = options().with_widths([4, 4]).with_header(HeaderLine::Absent);
    let text = "\"a,b\"\\;|\na\0b \tc\t\n";
    let wanted =
        ["column_1 text: \"\\\"a,b\" \"a\\0b\"", "column_2 text: \"\\\"\\\\;|\" \"c\""];
    assert_eq!(found(text, &bare), wanted);
    let noted = options().with_comment(Some(b'#')).with_skip_rows(1);
    let text = "a title, wider than the table\n# text\nn  w\n1  x\n #  y\n";
    assert_eq!(found(text, &noted), ["n text: \"1\" \"#\"", "w text: \"x\" \"y\""]);
    let error = refused("ab\rcd\n", &bare);
    assert!(
        error.contains("on line 1 at byte 2") && error.contains("carriage return"),
        "{error}"
    );
}

#[test]
fn options_of_other_forms_are_the_same() {
    let text = "size size  day\nx    y        \n1,5  1.000 31.12.2024\n-    2     01.02.2003\n";
    let given = options()
        .with_header_lines(2)
        .with_decimal(b',')
        .with_thousands(Some(b'.'))
        .with_null_values(["-"])
        .with_formats([("day", "%d.%m.%Y")])
        .with_types([("size_y", ColumnType::I64)])
        .with_rename([("size_x", "wide")])
        .with_columns(["day", "size_x", "size_y"])
        .with_file_column("file");
    let wanted = ["day date: 20088 12084", "wide f64: 1.5 _", "size_y 64: 1000 2"];
    assert_eq!(found(text, &given)[..3], wanted);
    let summary = {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        fs::write(file.path(), text).expect("room");
        given.summary(file.path()).expect("a summary")
    };
    assert_eq!((summary.report.rows, summary.report.fixed.len()), (2, 3));
}

#[test]
fn options_that_mean_nothing_are_refused_with_a_hint() {
    let bare = options();
    for (given, words) in [
        (bare.clone().with_widths([]), "no column of fixed width is given; try: pass `widths`"),
        (bare.clone().with_widths([3, 0]), "column index 1 has the width 0; try: pass widths"),
        (bare.clone().with_positions([0..3, 2..5]), "begins at position 2, before the end 3"),
        (
            bare.clone().with_positions([FixedColumn { start: 3, end: Some(2) }]),
            "begins at position 3 and ends at 2; try: pass",
        ),
        (bare.clone().with_positions([FixedColumn::from(0..), (2..3).into()]), "has no end"),
        (bare.clone().with_widths([usize::MAX, 1]), "is beyond position"),
        (bare.clone().with_widths([1]).with_positions([FixedColumn::from(0..1)]), "not both"),
        (bare.clone().with_delimiter(Delimiter::Blanks), "`delimiter` has no meaning"),
        (bare.clone().with_quote(Some(b'\'')), "`quote` has no meaning in text of fixed width"),
        (bare.clone().with_escape(Some(b'\\')), "`escape` has no meaning"),
        (BatchOptions::new().with_widths([1]), "only have a meaning in text of fixed width"),
        (bare.with_form(BatchForm::JsonLines).with_widths([1]), "try: remove them"),
    ] {
        let error = refused("a b\n", &given);
        assert!(error.contains(words), "{error}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let batches = read("a\n1\n", &BatchOptions::new()).expect("a table");
    let error = BatchWriteOptions::new()
        .with_form(BatchForm::Fixed)
        .write_batches(folder.path().join("a.txt"), batches.schema(), batches.batches())
        .expect_err("it is only read");
    assert!(error.to_string().contains("text of fixed width is only read"), "{error}");
}

#[test]
fn tables_may_be_empty_or_very_wide() {
    for text in ["", "\n \t\n\n"] {
        for given in [options(), options().with_widths([3])] {
            assert!(refused(text, &given).contains("it has no records"));
        }
    }
    let header = found("one  two\n", &options());
    assert_eq!(header, ["one null:", "two null:"]);
    let columns = 3000;
    let line = |at: usize| {
        let fields: Vec<String> =
            (0..columns).map(|column| format!("{:5}", column + at)).collect();
        fields.join(" ") + "\n"
    };
    let text: String = (0..40).map(line).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    fs::write(&path, &text).expect("room");
    for given in [options(), options().with_widths([6; 3000])] {
        let read = given.with_block_size(9000).read_batches(&path).expect("a table");
        assert_eq!((read.rows(), read.report().columns.len()), (40, columns));
        assert_eq!(read.report().columns[2999].kind, ColumnType::I64);
    }
    let long = format!("n w\n1 {}\n2 y\n", "x\u{e9}".repeat(3_500_000));
    fs::write(&path, &long).expect("room");
    let read = options().read_batches(&path).expect("a table");
    assert_eq!((read.rows(), read.report().fixed[1].end), (2, Some(7_000_002)));
    let error = options().with_widths([2, 1]).read_batches(&path).expect_err("text after it");
    let error = error.to_string();
    assert!(error.contains("on line 2 at byte 7") && error.len() < 600, "{error}");
}

#[test]
fn sources_are_those_of_other_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let text = "n   w\n  1 x\n 12 y\n";
    fs::write(path("a"), text).expect("room");
    fs::write(path("b"), "n   w\n0.5 z\n").expect("room");
    fs::write(path("c"), "n   w\n1000 z\n").expect("room");
    let wanted = ["n 64: 1 12", "w text: \"x\" \"y\""];
    for format in [Format::Gzip, Format::Zstd, Format::Bzip2] {
        let packed = path(&format!("{format:?}"));
        CompressOptions::new()
            .with_format(format)
            .compress(path("a"), &packed)
            .expect("packed");
        assert_eq!(table(&every_way(&packed, &options()).expect("a table")), wanted);
        let first = options().with_rows(1).read_batches(&packed).expect("a table");
        assert_eq!(table(&first), ["n 64: 1", "w text: \"x\""]);
    }
    let (from, mut to) = std::io::pipe().expect("a pipe");
    to.write_all(text.as_bytes()).expect("room in the pipe");
    drop(to);
    let pipe = Source::file(fs::File::from(std::os::fd::OwnedFd::from(from)), "pipe");
    let stream = options().stream_batches(pipe).expect("a table");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(lines(&schema, &batches), wanted);
    let both = options().read_batches_of([path("a"), path("b")]).expect("one table");
    assert_eq!(table(&both), ["n f64: 1 12 0.5", "w text: \"x\" \"y\" \"z\""]);
    // Where columns are found in the first file, they are in all of them.
    let error = options().read_batches_of([path("a"), path("c")]).expect_err("too wide");
    assert_eq!((error.path(), error.line()), (path("c").as_path(), Some(2)));
    let few = options().with_read(ReadOptions::new().with_workers(2)).with_rows(1);
    assert_eq!(few.read_batches(path("a")).expect("a table").rows(), 1);
}

#[test]
fn each_row_begins_in_one_of_the_extents_that_cover_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let text = "n  t\n 1 \u{e9}\n\n 2 z\r\n 3\n44 x";
    fs::write(&path, text).expect("room");
    for cut in 0..=text.len() as u64 {
        let mut rows = Vec::new();
        for part in [Extent::between(0, cut), Extent::between(cut, text.len() as u64)] {
            let options = options().with_types([("n", ColumnType::I64)]).with_starting_in(part);
            let read = every_way(&path, &options).expect("a table");
            rows.extend(table(&read)[0].split(": ").nth(1).map(str::to_owned));
        }
        assert_eq!(rows.join(" ").trim(), "1 2 3 44", "{cut}");
    }
}
