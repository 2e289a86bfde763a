//! Random tables against the reference: every block size, every number of workers, every type.

use std::fmt::Write;
use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use swath::ReadOptions;
use swath_formats::table::{BatchOptions, ColumnType, Delimiter, HeaderLine, Missing, Value};
use swath_reference::splitmix;
use swath_reference::table::{Rules, cells};

/// A temporary file with this text.
pub(crate) fn file(text: impl AsRef<[u8]>) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("room");
    file
}

pub(crate) fn options(workers: usize, block_size: u64) -> BatchOptions {
    BatchOptions::new()
        .with_read(ReadOptions::new().with_workers(workers))
        .with_block_size(block_size)
}

/// Stands for any number of spaces and tabs where a single character is expected.
const BLANKS: char = '\u{2423}';

/// Parameters of random tables.
struct Kind {
    delimiter: char,
    line_end: &'static str,
    cell: fn(u64) -> String,
}

/// A whole number that a double is.
fn integer(random: u64) -> String {
    const BITS: u32 = 53;
    let shift = (u64::BITS - random.leading_zeros()).saturating_sub(BITS);
    let exact = (random >> shift << shift).cast_signed() >> (random % 60).min(11);
    exact.to_string()
}

fn double(random: u64) -> String {
    let value = f64::from_bits(random >> 12 | 0x3ff << 52) - 1.0;
    match random % 5 {
        0 => format!("{value}"),
        1 => format!("{value:.6}"),
        2 => format!("{value:.18e}"),
        3 => format!("{:e}", f64::from_bits(random)),
        _ => format!("-{value:.17}"),
    }
}

fn anything(random: u64) -> String {
    match random % 13 {
        0 => String::new(),
        1 => "NA".to_owned(),
        2 => format!(" {} ", integer(random)),
        3 => format!("\"{}\"", double(random)),
        4 => "inf".to_owned(),
        5 => "-NaN".to_owned(),
        6 => format!("{}.5", "1234567890".repeat(usize::try_from(random % 7).expect("few"))),
        _ => double(random),
    }
}

fn small(random: u64) -> String {
    (random % 100).to_string()
}

const KINDS: [Kind; 8] = [
    Kind { delimiter: ',', line_end: "\n", cell: integer },
    Kind { delimiter: '\t', line_end: "\n", cell: double },
    Kind { delimiter: ';', line_end: "\r\n", cell: anything },
    Kind { delimiter: '|', line_end: "\n", cell: anything },
    Kind { delimiter: ' ', line_end: "\r\n", cell: small },
    Kind { delimiter: BLANKS, line_end: "\n", cell: double },
    Kind { delimiter: BLANKS, line_end: "\r\n", cell: small },
    Kind { delimiter: BLANKS, line_end: "\r\n", cell: word },
];

/// Characters that blanks may surround.
fn word(random: u64) -> String {
    match random % 9 {
        0 => "\"\"".to_owned(),
        1 => "\"NA\"".to_owned(),
        2 => format!("\"{}\"", double(random / 9)),
        3 => "-NaN".to_owned(),
        _ => double(random / 9),
    }
}

/// Blanks between, before or after words.
fn blanks(random: u64, least: u64) -> String {
    let len = usize::try_from(least + [0, 0, 0, 1, 2, 70][(random % 6) as usize]).expect("few");
    let blanks = " ".repeat(len);
    if random.is_multiple_of(5) { blanks.replacen(' ', "\t", 1) } else { blanks }
}

fn table(seed: u64, kind: &Kind, rows: u64, columns: u64) -> String {
    let mut next = splitmix(seed);
    let mut text = String::new();
    for _ in 0..rows {
        if kind.line_end == "\r\n" && next().is_multiple_of(7) {
            let blank = if kind.delimiter == ' ' { "\t" } else { " \t " };
            text.push_str(
                ["# a, comment", "", blank][usize::try_from(next() % 3).expect("few")],
            );
            text.push_str(kind.line_end);
        }
        let line: Vec<String> = (0..columns).map(|_| (kind.cell)(next())).collect();
        let line = if kind.delimiter == BLANKS {
            let words = line.iter().map(|word| blanks(next(), 1) + word).collect::<String>();
            // Some tables have no blanks around lines.
            if seed.is_multiple_of(2) {
                words.trim().to_owned()
            } else {
                words + &blanks(next(), 0)
            }
        } else {
            line.join(&kind.delimiter.to_string())
        };
        // An empty line would be skipped.
        text.push_str(if line.trim().is_empty() { "\"\"" } else { &line });
        text.push_str(kind.line_end);
    }
    if next().is_multiple_of(2) {
        text.truncate(text.len() - kind.line_end.len());
    }
    text
}

fn check<T: Value + std::str::FromStr>(
    path: &Path,
    text: &str,
    options: &BatchOptions,
    (delimiter, missing): (char, T),
) {
    let rules = Rules { delimiter: Some(delimiter).filter(|&it| it != BLANKS), header: false };
    let wanted = cells(text, rules, |_| true).expect("a table");
    let options = options.clone().with_header(HeaderLine::Absent);
    let byte = |delimiter| Delimiter::Byte(u8::try_from(delimiter).expect("one byte"));
    let options = options.with_delimiter(rules.delimiter.map_or(Delimiter::Blanks, byte));
    let got = options.read_array::<T>(path).expect("a table");
    assert_eq!(got.rows, wanted.rows.len());
    let parse = |cell: &String| match cell.as_str() {
        "" | "NA" => missing,
        cell => cell.parse().unwrap_or_else(|_| panic!("{cell}")),
    };
    let wanted: Vec<T> = wanted.rows.iter().flatten().map(parse).collect();
    assert_eq!(bytemuck::bytes_of(&got.values.len()), bytemuck::bytes_of(&wanted.len()));
    for (at, (got, wanted)) in got.values.iter().zip(&wanted).enumerate() {
        assert!(
            bytemuck::bytes_of(got) == bytemuck::bytes_of(wanted),
            "{at}: {got:?} {wanted:?}"
        );
    }
    let shape = options.shape(path).expect("a table");
    assert_eq!((shape.rows, shape.columns), (got.rows, got.columns));
}

#[test]
fn every_block_size_and_worker_count_gives_the_same_doubles() {
    for (seed, kind) in (0..).zip(&KINDS) {
        let text = table(seed, kind, 37, 5);
        let file = file(&text);
        let nan = (kind.delimiter, f64::NAN);
        for block_size in (1..=64).chain([100, 1000, 1 << 20]) {
            check(file.path(), &text, &options(2, block_size), nan);
        }
        for workers in (1..=8).chain([64]) {
            check(file.path(), &text, &options(workers, 50), nan);
        }
    }
}

#[test]
fn tables_of_every_width_are_read() {
    for (seed, kind) in (10..).zip(&KINDS) {
        for columns in [1, 2, 3, 7, 8, 9, 100, 5000] {
            let text = table(seed, kind, 20_000 / (columns + 100), columns);
            let file = file(&text);
            for block_size in [333, 1 << 16] {
                check(file.path(), &text, &options(2, block_size), (kind.delimiter, f64::NAN));
            }
        }
    }
}

/// Lines of mostly three numbers; some have others, or a carriage return that ends no line.
fn nearly_whole(next: &mut impl FnMut() -> u64, lines: u64) -> String {
    let odd = next() % 4;
    let mut text = String::new();
    for line in 0..lines {
        let is_odd = odd > 0 && next().is_multiple_of(lines.div_ceil(2));
        let fields = if is_odd && odd < 3 { 1 + next() % 5 } else { 3 };
        let fields: Vec<String> = (0..fields).map(|at| (line * 7 + at).to_string()).collect();
        text += &fields.join(",");
        text += if is_odd && odd == 3 {
            ["\r\n", "\r5\n", "\r,\n"][(line % 3) as usize]
        } else {
            "\n"
        };
    }
    text.truncate(text.len() - usize::from(next().is_multiple_of(3)));
    text
}

#[test]
fn records_that_only_seem_whole_are_refused_as_in_a_table_of_columns() {
    let mut next = splitmix(2026);
    let (mut read, mut refused) = (0, 0);
    for round in 0..600 {
        let lines = if round % 60 == 0 { 20_000 } else { 2 + next() % 9 };
        let text = nearly_whole(&mut next, lines);
        let file = file(&text);
        let options = options(2, [0, 20, 70_000][round % 3]).with_header(HeaderLine::Absent);
        let options = options.with_delimiter(Delimiter::Byte(b','));
        let array = options.read_array::<f64>(file.path());
        let table = options.clone().with_all_types(ColumnType::F64).read_batches(file.path());
        match (array, table) {
            (Ok(array), Ok(table)) => {
                let by_row = table.batches().iter().flat_map(|batch| {
                    let columns =
                        batch.columns().iter().map(|it| it.as_primitive::<Float64Type>());
                    let columns: Vec<_> = columns.collect();
                    let row =
                        |row| columns.iter().map(move |it| it.value(row)).collect::<Vec<_>>();
                    (0..batch.num_rows()).flat_map(row).collect::<Vec<_>>()
                });
                assert!(array.values.iter().copied().eq(by_row), "{text:?}");
                read += 1;
            }
            (Err(array), Err(table)) => {
                assert_eq!(array.to_string(), table.to_string(), "{text:?}");
                refused += 1;
            }
            (array, table) => panic!("{:?} {:?}: {text:?}", array.err(), table.err()),
        }
    }
    assert!(read > 100 && refused > 100, "{read} {refused}");
}

#[test]
fn a_hundred_thousand_columns_are_read() {
    let text = table(5, &KINDS[0], 3, 100_001);
    let file = file(&text);
    check(file.path(), &text, &options(2, 1 << 16), (',', 0_i64));
}

#[test]
fn every_type_is_read() {
    let text = table(7, &KINDS[4], 1000, 9);
    let file = file(&text);
    let options = options(2, 4096).with_missing(Missing::Value(7.0));
    check(file.path(), &text, &options, (' ', 7.0_f64));
    check(file.path(), &text, &options, (' ', 7.0_f32));
    check(file.path(), &text, &options, (' ', 7_i64));
    check(file.path(), &text, &options, (' ', 7_i32));
    check(file.path(), &text, &options, (' ', 7_i16));
    check(file.path(), &text, &options, (' ', 7_i8));
    check(file.path(), &text, &options, (' ', 7_u64));
    check(file.path(), &text, &options, (' ', 7_u32));
    check(file.path(), &text, &options, (' ', 7_u16));
    check(file.path(), &text, &options, (' ', 7_u8));
}

#[test]
fn singles_are_rounded_once() {
    let mut text = String::new();
    let mut next = splitmix(77);
    for _ in 0..20_000 {
        let bits = u32::try_from(next() >> 32).expect("32 bits");
        let value = f32::from_bits(bits & !(1 << 30));
        let above = f32::from_bits(value.to_bits() + 1);
        // Halfway between two singles, and slightly beside that.
        let half = f64::from(value) / 2.0 + f64::from(above) / 2.0;
        if value.is_finite() && above.is_finite() {
            writeln!(text, "{value},{half:e},{half}1,{:e}", half.next_up()).expect("memory");
        }
    }
    let file = file(&text);
    check(file.path(), &text, &options(2, 1 << 16), (',', 0.0_f32));
}

#[test]
fn a_guessed_blank_counts_runs_once_and_trims_the_edges() {
    let cases = [
        ("   1.000    2.000\n  10.500   -3.250\n", 2, &[1.0, 2.0, 10.5, -3.25][..]),
        (" 1\n 2\n", 2, &[1.0, 2.0]),
        ("1 2 \n3 4 \n", 2, &[1.0, 2.0, 3.0, 4.0]),
        ("1 2\n3\t4\n", 2, &[1.0, 2.0, 3.0, 4.0]),
        (" x   y\n\n 1   2\n# 9\n  # 9 \n  \n\t3 4", 2, &[1.0, 2.0, 3.0, 4.0]),
        ("1 \"2\"\n \"3\"  NA\n", 2, &[1.0, 2.0, 3.0, f64::NAN]),
    ];
    check_values(&cases, |options| options);
}

#[test]
fn a_delimiter_of_several_bytes_separates_the_fields_of_arrays() {
    let cases = [
        ("x||y\n1||2\n\"3\" || 4\n", 2, &[1.0, 2.0, 3.0, 4.0][..]),
        (" \n1||2\r\n# 9\n||4", 2, &[1.0, 2.0, f64::NAN, 4.0]),
    ];
    let long: Delimiter = "||".parse().expect("a delimiter");
    check_values(&cases, |options| options.with_delimiter(long));
}

fn check_values(cases: &[(&str, usize, &[f64])], with: impl Fn(BatchOptions) -> BatchOptions) {
    for &(text, rows, values) in cases {
        let file = file(text);
        for block_size in (1..30).chain([1 << 20]) {
            for workers in 1..=3 {
                let options = with(options(workers, block_size));
                let table = options.read_array::<f64>(file.path()).expect("a table");
                assert_eq!(table.rows, rows, "{text:?}");
                let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
                assert_eq!(table.values.len(), values.len(), "{text:?}");
                assert!(table.values.iter().zip(values).all(same), "{text:?}");
                let shape = options.shape(file.path()).expect("a table");
                assert_eq!((shape.rows, shape.names), (rows, table.names), "{text:?}");
            }
        }
    }
}

#[test]
fn a_delimiter_that_was_told_is_taken_as_told() {
    let file = file(" 1  2\n 3  4\n");
    let table = BatchOptions::new().with_delimiter(b' ').read_array::<f64>(file.path());
    assert_eq!(table.expect("a table").columns, 4);
    let table =
        BatchOptions::new().with_delimiter(Delimiter::Blanks).read_array::<f64>(file.path());
    assert_eq!(table.expect("a table").values[..], [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn names_come_from_the_header() {
    for (text, names, rows) in [
        ("a,b\n1,2\n", Some(vec!["a", "b"]), 1),
        ("\u{feff}a,b\n1,2", Some(vec!["a", "b"]), 1),
        ("# no\n\na,\"b \"\"x\"\",\ny\"\n1,2\n3,4\n", Some(vec!["a", "b \"x\",\ny"]), 2),
        ("1,2\n3,4\n", None, 2),
        ("1,\n3,4\n", None, 2),
        ("a;b\n", Some(vec!["a", "b"]), 0),
        ("a", Some(vec!["a"]), 0),
        ("1", None, 1),
    ] {
        let file = file(text);
        for block_size in 1..20 {
            let table = options(2, block_size).read_array::<f64>(file.path()).expect("a table");
            let got = table.names.as_ref().map(|it| it.iter().map(String::as_str).collect());
            assert_eq!((got, table.rows), (names.clone(), rows), "{text:?}");
        }
    }
    let file = file("1,2\n3,4\n");
    let table =
        BatchOptions::new().with_header(HeaderLine::Present).read_array::<u8>(file.path());
    let table = table.expect("a table");
    assert_eq!((table.names, table.rows), (Some(vec!["1".into(), "2".into()]), 1));
}

#[test]
fn the_caller_s_memory_is_filled() {
    let file = file("1,2\n3,4\n");
    let mut out = [0_u16; 4];
    let shape = BatchOptions::new().read_array_into(file.path(), &mut out).expect("a table");
    assert_eq!((shape.rows, shape.columns, out), (2, 2, [1, 2, 3, 4]));
}

#[test]
fn whole_numbers_that_a_type_does_not_have_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table.csv");
    for (number, double, single) in [
        ("9007199254740993", false, false),
        ("-9007199254740992", true, true),
        ("9007199254740991", true, false),
        ("0016777215", true, true),
        ("+16777217", true, false),
        ("-16777217", true, false),
        ("16777217.0", true, true),
        ("16777217e0", true, true),
        ("99999999999999999999999999999999999", false, false),
        ("1267650600228229401496703205376", true, true),
        ("inf", true, true),
        ("nan", true, true),
    ] {
        // The first row, one in the middle, and the last one.
        for row in [0, 700, 1999] {
            let rows = (0..2000).map(|at| if at == row { number } else { "1.5" });
            let text: String = rows.map(|number| format!("2,{number}\n")).collect();
            std::fs::write(&path, text).expect("room on disk");
            let wide = options(2, 1000).read_array::<f64>(&*path);
            let narrow = options(2, 1000).read_array::<f32>(&*path);
            for (read, is_right, kind) in
                [(wide.map(drop), double, "f64"), (narrow.map(drop), single, "f32")]
            {
                assert_eq!(read.is_ok(), is_right, "{number} in row {row} as {kind}");
                let Err(error) = read else { continue };
                let why = format!(
                    "no value of type {kind} is this whole number in column `column_2`"
                );
                assert!(error.to_string().contains(&why), "{error}");
            }
        }
    }
    std::fs::write(&path, "9007199254740993,1\n").expect("room on disk");
    let whole = options(2, 1000).read_array::<i64>(&*path).expect("a table");
    assert_eq!(whole.values[..], [9_007_199_254_740_993, 1]);
}
