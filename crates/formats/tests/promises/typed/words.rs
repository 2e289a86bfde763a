//! Options are set by their words as by their setters, and the guide has them all.

use std::fmt::Debug;

use swath::Extent;
use swath_formats::compressed::Format;
use swath_formats::table::{
    BatchForm, BatchOptions, BatchWriteOptions, ColumnKey, ColumnType, Decimals, Delimiter,
    Dictionary, Encoding, FixedColumn, HeaderLine, LineEnd, Packing, Quoting, Ragged, Setting,
};

use crate::typed::oracle::long;

const GUIDE: &str = include_str!("../../../../../docs/guide/tables.md");

fn shown(options: &impl Debug) -> String {
    format!("{options:?}")
}

/// The options that a text gives.
fn read(word: &str, value: &str) -> BatchOptions {
    let mut options = BatchOptions::new();
    options.set(word, value).expect(word);
    options
}

fn written(word: &str, value: &str) -> BatchWriteOptions {
    let mut options = BatchWriteOptions::new();
    options.set(word, value).expect(word);
    options
}

#[test]
fn a_word_sets_what_its_setter_sets() {
    let new = BatchOptions::new;
    let extent = Extent::new(4, 8).expect("an extent");
    for (word, value, wanted) in [
        ("form", "jsonl", new().with_form(BatchForm::JsonLines)),
        ("delimiter", ";", new().with_delimiter(b';')),
        ("delimiter", "tab", new().with_delimiter(b'\t')),
        ("delimiter", "\\t", new().with_delimiter(b'\t')),
        ("delimiter", "\t", new().with_delimiter(b'\t')),
        ("delimiter", "blanks", new().with_delimiter(Delimiter::Blanks)),
        ("delimiter", "\\t\\t", new().with_delimiter(long("\t\t"))),
        ("delimiter", "§", new().with_delimiter(long("§"))),
        ("quote", "'", new().with_quote(Some(b'\''))),
        ("quote", "none", new().with_quote(None)),
        ("escape", "\\", new().with_escape(Some(b'\\'))),
        ("comment", "%", new().with_comment(Some(b'%'))),
        ("comment", "C", new().with_comment(Some(b'C'))),
        ("comment", "none", new().with_comment(None)),
        ("header", "yes", new().with_header(HeaderLine::Present)),
        ("header", "no", new().with_header(HeaderLine::Absent)),
        ("header", "0", new().with_header(HeaderLine::Absent)),
        ("header", "1000", new().with_header_lines(1000)),
        ("skip_rows", "3", new().with_skip_rows(3)),
        ("rows", "18446744073709551615", new().with_rows(u64::MAX)),
        ("starting_in", "4..12", new().with_starting_in(extent)),
        ("starting_in", "4..", new().with_starting_in(Extent::between(4, u64::MAX))),
        ("columns", "a,b", new().with_columns(["a,b"])),
        ("null_values", "", new().with_null_values([""])),
        ("true_values", "yes", new().with_true_values(["yes"])),
        ("false_values", "no", new().with_false_values(["no"])),
        ("decimal", ",", new().with_decimal(b',')),
        ("thousands", ".", new().with_thousands(Some(b'.'))),
        ("encoding", "utf-16be", new().with_encoding(Encoding::Utf16Be)),
        ("ragged", "set-aside", new().with_ragged(Ragged::SetAside)),
        ("json_nan", "yes", new().with_json_nan(true)),
        ("json_nested", "yes", new().with_json_nested(true)),
        ("union_by_name", "yes", new().with_union_by_name(true)),
        ("dictionary", "all", new().with_dictionary(Dictionary::All)),
        ("file_column", "none", new().with_file_column("none")),
        ("widths", "10, 5", new().with_widths([10, 5])),
        (
            "positions",
            "0..3,5..",
            new().with_positions([FixedColumn::from(0..3), (5..).into()]),
        ),
        ("block_size", "64", new().with_block_size(64)),
    ] {
        assert_eq!(shown(&read(word, value)), shown(&wanted), "{word} {value}");
    }
    let new = BatchWriteOptions::new;
    for (word, value, wanted) in [
        ("form", "arrow", new().with_form(BatchForm::Arrow)),
        ("packing", "none", new().with_packing(Packing::Plain)),
        ("packing", "zstd", new().with_packing(Format::Zstd.into())),
        ("level", "19", new().with_level(19)),
        ("delimiter", "tab", new().with_delimiter(b'\t')),
        ("quoting", "none", new().with_quoting(Quoting::Never)),
        ("line_end", "crlf", new().with_line_end(LineEnd::ReturnNewline)),
        ("null_word", "NA", new().with_null_word("NA")),
        ("header", "no", new().with_header(HeaderLine::Absent)),
        ("decimals", "2", new().with_decimals(Decimals::Fixed(2))),
        ("names", "a", new().with_names(["a"])),
        ("block_size", "64", new().with_block_size(64)),
    ] {
        assert_eq!(shown(&written(word, value)), shown(&wanted), "{word} {value}");
    }
}

#[test]
fn a_word_of_a_column_sets_what_its_setter_sets() {
    let (mut options, name) = (BatchOptions::new(), ColumnKey::from("a"));
    for (word, texts) in [
        ("types", &["i8"][..]),
        ("types", &["timestamp[us, UTC]"]),
        ("formats", &["%Y"]),
        ("rename", &["b"]),
        ("null_values", &["-", ""]),
        ("true_values", &["x"]),
        ("false_values", &[]),
        ("columns", &["yes"]),
    ] {
        options.set_texts(Some(&ColumnKey::Index(2)), word, Some(&["?"])).ok();
        options.set_texts(Some(&name), word, Some(texts)).expect(word);
        options.set_texts(Some(&ColumnKey::Index(2)), word, None).expect(word);
    }
    let zoned: ColumnType = "timestamp[us, UTC]".parse().expect("a type");
    let wanted = BatchOptions::new()
        .with_types([("a", zoned)])
        .with_formats([("a", "%Y")])
        .with_rename([("a", "b")])
        .with_null_values_of("a", ["-", ""])
        .with_true_values_of("a", ["x"])
        .with_false_values_of("a", [""; 0])
        .with_columns(["a"]);
    assert_eq!(shown(&options), shown(&wanted));
}

#[test]
fn a_default_is_what_is_set_without_a_text() {
    for (word, value) in
        [("delimiter", ";"), ("quote", "none"), ("rows", "1"), ("columns", "a")]
    {
        let mut options = read(word, value);
        assert_ne!(shown(&options), shown(&BatchOptions::new()));
        options.set_texts(None, word, None).expect(word);
        assert_eq!(shown(&options), shown(&BatchOptions::new()), "{word}");
    }
    for word in ["form", "quote", "escape", "header", "skip_rows", "decimal", "thousands"] {
        let all = BatchOptions::settings();
        let default = all.iter().find(|it| it.word == word).expect(word).default;
        let options = read(word, default.trim_matches('`'));
        assert_eq!(shown(&options), shown(&BatchOptions::new()), "{word}");
    }
}

#[test]
fn what_an_option_does_not_take_is_refused_with_what_it_takes() {
    for (word, value, why) in [
        ("delimiter", "ab", "`delimiter` cannot be `ab`; try: pass one ASCII character"),
        (
            "delimiter",
            "none",
            "`blanks`, or up to 16 bytes that are not all letters and digits",
        ),
        ("delimiter", "::::::::::::::::§", "up to 16 bytes"),
        ("decimal", "..", "one ASCII character"),
        ("quote", "", "`tab` or `none`"),
        ("comment", "##", "`none` or `auto`"),
        ("header", "1001", "`auto`, `yes` or `no`, or a number of lines up to 1000"),
        ("header", "-1", "`auto`, `yes`"),
        ("rows", "1.5", "a whole number"),
        ("rows", "18446744073709551616", "a whole number"),
        ("encoding", "utf-9", "`auto`, `utf-8`, `latin-1`"),
        ("ragged", "set_aside", "`error`, `pad`, `set-aside` or `drop`"),
        ("widths", "10,", "as in `10,5,8`"),
        ("positions", "1", "as in `0..10,12..20,25..`"),
        ("starting_in", "5..4", "as in `0..4096` or `4096..`"),
        ("formats", "%Y", "`formats` belongs to a column"),
        ("Types", "i8", "`Types` is not an option; try: pass one of form, delimiter"),
    ] {
        let mut options = BatchOptions::new();
        let error = options.set(word, value).expect_err(word);
        assert!(error.contains(why), "{error}");
        assert_eq!(shown(&options), shown(&BatchOptions::new()), "{word}");
    }
    let (mut options, column) = (BatchOptions::new(), ColumnKey::Index(0));
    for (column, word, texts, why) in [
        (None, "quote", &["'", "\""][..], "`quote` cannot be `'`, `\"`; try: pass one ASCII"),
        (None, "rows", &[], "`rows` cannot be ``; try: pass a whole number"),
        (Some(&column), "quote", &["'"], "`quote` belongs to the table"),
        (Some(&column), "types", &["i9"], "`types` cannot be `i9`; try: pass `null`, `bool`"),
        (
            Some(&column),
            "columns",
            &["1"],
            "`columns` cannot be `1`; try: pass names; for one column, `yes` or `no`",
        ),
    ] {
        let error = options.set_texts(column, word, Some(texts)).expect_err(word);
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(shown(&options), shown(&BatchOptions::new()));
}

#[test]
fn the_guide_has_every_option() {
    for settings in [BatchOptions::settings(), BatchWriteOptions::settings()] {
        let row = |it: &Setting| {
            let Setting { word, scope, takes, default, sentence, .. } = it;
            format!("| `{word}` | {scope} | {takes} | {default} | {sentence} |\n")
        };
        let rows: String = settings.iter().map(row).collect();
        let head = "| Word | Of | What it takes | Default | What it does |\n\
                    | --- | --- | --- | --- | --- |\n";
        assert!(
            GUIDE.contains(&format!("\n{head}{rows}\n")),
            "docs/guide/tables.md:\n{head}{rows}"
        );
    }
}
