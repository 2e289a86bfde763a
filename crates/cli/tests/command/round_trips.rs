//! Every format for numbers as every other one: what comes back is what went in, or a note or an
//! error says that it is not.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use swath_formats::table::BatchWriteOptions;
use swath_reference::battery::{Battery, BatterySize};

use crate::child::{code, run, stderr, word};

/// A folder, and conversions in it.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("text")
    }

    fn convert(&self, from: &str, to: &str, flags: &[String]) -> Output {
        let (from, to) = (self.path(from), self.path(to));
        let words = ["convert", "--force", "--workers", "2", word(&from), word(&to)];
        run(words.into_iter().chain(flags.iter().map(String::as_str)))
    }
}

/// An entry: row, column, and the parts of its value: integers, or the bits of doubles.
type Entry = (u64, u64, Vec<i128>);

/// A matrix by what is compared: its size, what its values are, and the bits of its entries by row.
#[derive(Clone, Debug, PartialEq)]
struct Matrix {
    size: (u64, u64),
    field: String,
    entries: Vec<Entry>,
}

/// One bit pattern for all NaN.
fn bits(double: f64) -> i128 {
    (if double.is_nan() { f64::NAN.to_bits() } else { double.to_bits() }).into()
}

impl Matrix {
    /// Reads what `swath` wrote, word by word.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let banner = lines.next().expect("a banner");
        let field = banner.split(' ').nth(3).expect("a field").to_owned();
        let mut lines = lines.filter(|line| !line.starts_with('%'));
        let numbers = |line: &str| -> Vec<u64> {
            line.split(' ').take(2).map(|word| word.parse().expect("a number")).collect()
        };
        let size = numbers(lines.next().expect("a size"));
        let entry = |line: &str| {
            let (ids, words) = (numbers(line), line.split(' ').skip(2));
            let value = words.map(|word| match field.as_str() {
                "integer" | "unsigned-integer" => word.parse().expect("an integer"),
                _ => bits(word.parse().expect("a double")),
            });
            (ids[0], ids[1], value.collect())
        };
        let mut entries: Vec<Entry> = lines.map(entry).collect();
        // Rows are kept together by some; equal ones keep their order.
        entries.sort_by_key(|entry| (entry.0, entry.1));
        Self { size: (size[0], size[1]), field: field.clone(), entries }
    }

    /// Whether the other one is the same. Text has no types: integers are integers, and nothing is
    /// of any type.
    fn is_same(&self, other: &Self) -> bool {
        let have_integers = [self, other].iter().all(|it| it.field.ends_with("integer"));
        (self.size, &self.entries) == (other.size, &other.entries)
            && (self.field == other.field || have_integers || self.entries.is_empty())
    }
}

/// A value as it stands in a file: what is usual, and what goes wrong.
fn value(next: &mut impl FnMut() -> u64, field: &str) -> String {
    const DOUBLES: [f64; 10] = [
        -0.0,
        0.0,
        1.0,
        5e-324,
        -2.2e-308,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e22,
    ];
    let pick = |number: u64, count: usize| usize::try_from(number).unwrap_or(0) % count;
    match field {
        "pattern" => String::new(),
        "integer" => {
            let odd = [i64::MIN, i64::MAX, 0, -1, (1 << 53) + 1];
            let random = next().cast_signed();
            format!(" {}", if next().is_multiple_of(2) { odd[pick(next(), 5)] } else { random })
        }
        "unsigned-integer" => {
            let odd = [u64::MAX, 1 << 63, 0, 1, (1 << 53) + 1];
            format!(" {}", if next().is_multiple_of(2) { odd[pick(next(), 5)] } else { next() })
        }
        "real" => {
            let random = f64::from_bits(next());
            format!(
                " {:?}",
                if next().is_multiple_of(2) { DOUBLES[pick(next(), 10)] } else { random }
            )
        }
        _ => value(next, "real") + &value(next, "real"),
    }
}

const FIELDS: [&str; 5] = ["pattern", "integer", "unsigned-integer", "real", "complex"];

/// A small matrix with empty rows and columns, and with entries that are there twice.
fn matrix(seed: u64) -> String {
    let mut next = swath_reference::splitmix(seed);
    let field = FIELDS[usize::try_from(seed % 5).expect("small")];
    let (rows, columns) = (next() % 6, next() % 6);
    let entries = if rows * columns == 0 { 0 } else { next() % 6 };
    let mut text = format!("%%MatrixMarket matrix coordinate {field} general\n");
    text += &format!("{rows} {columns} {entries}\n");
    for _ in 0..entries {
        let (row, column) = (1 + next() % rows, 1 + next() % columns);
        text += &format!("{row} {column}{}\n", value(&mut next, field));
    }
    text
}

/// Formats that hold a matrix, and what says so.
const MATRICES: [(&str, &str); 6] = [
    ("a.mtx", "mtx"),
    ("a.el", "edges"),
    ("a.npz", "npz"),
    ("a.csv", "csv"),
    ("a.tsv", "tsv"),
    ("a.arrow", "arrow"),
];

/// The words after `sign` in the output, up to the end of its line.
fn said_after(output: &Output, sign: &str) -> Option<String> {
    let said = stderr(output);
    let (_, rest) = said.split_once(sign)?;
    rest.lines().next().map(str::to_owned)
}

/// Sends a matrix through some formats; `None` if one of them refused it, and said why.
fn through(bench: &Bench, text: &str, ways: &[(&str, &str)]) -> Option<Matrix> {
    fs::write(bench.path("in.mtx"), text).expect("written");
    let (mut from, mut kind) = ("in.mtx".to_owned(), "mtx");
    let mut shape = Vec::new();
    let mut had_no_values = false;
    let steps = ways.iter().copied().chain([("out.mtx", "mtx")]).enumerate();
    for (step, (name, to)) in steps {
        let name = format!("{step}{name}");
        let mut flags: Vec<String> = ["--from", kind, "--to", to].map(String::from).into();
        if ["mtx", "edges", "npz"].contains(&to) {
            flags.append(&mut shape);
        }
        let output = bench.convert(&from, &name, &flags);
        if code(&output) != 0 {
            let said = stderr(&output);
            let is_told = [
                // Edges have no complex weights; text has no type for what is beyond 63 bits.
                said.contains("a list of edges cannot have complex weights")
                    && text.contains(" complex "),
                said.contains("too large for i64") && text.contains(" unsigned-integer "),
                said.contains("has nothing in it") && text.contains("\n0 0 0\n"),
            ];
            assert!(is_told.contains(&true), "{from} to {name}: {said}\n{text}");
            return None;
        }
        if let Some(wanted) = said_after(&output, "to keep the size, pass --shape ") {
            shape = vec![String::from("--shape"), wanted];
        }
        had_no_values |= stderr(&output).contains("without values became ones");
        (from, kind) = (name, to);
    }
    let mut back = Matrix::parse(&bench.text(&from));
    if had_no_values {
        // As the note says: ones.
        assert!(back.entries.iter().all(|entry| entry.2 == [bits(1.0)]), "{back:?}");
        back.field = "pattern".to_owned();
        back.entries.iter_mut().for_each(|entry| entry.2.clear());
    }
    Some(back)
}

#[test]
fn a_matrix_comes_back_from_every_format_by_way_of_every_other() {
    let bench = Bench::new();
    let (mut compared, mut refused) = (0, 0);
    for seed in Battery::new("combinations", BatterySize { slice: 10, full: 30 }) {
        println!("seed {seed}");
        let seed = seed % 30;
        let text = matrix(seed);
        let right = Matrix::parse(&text);
        // All formats in turn, each with another one after it.
        for (at, &first) in MATRICES.iter().enumerate() {
            let second = MATRICES[(at + usize::try_from(seed / 5).expect("small")) % 6];
            match through(&bench, &text, &[first, second]) {
                Some(back) => {
                    assert!(back.is_same(&right), "{first:?} {second:?}: {back:?}\n{text}");
                    compared += 1;
                }
                None => refused += 1,
            }
        }
    }
    assert!(compared > 5 * refused, "{compared} compared, {refused} refused");
}

/// A table as text, with odd names, gaps and odd numbers.
fn table(seed: u64) -> String {
    const NAMES: [&str; 14] = [
        "a",
        "two words",
        " edge ",
        "com,ma",
        "semi;colon",
        "quo\"te",
        "tab\tbed",
        "#hash",
        "größe",
        "NA",
        "1",
        "nan",
        "-inf",
        "two\nlines",
    ];
    let mut next = swath_reference::splitmix(seed);
    let width = 1 + usize::try_from(next() % 4).expect("small");
    let names = (0..width).map(|at| {
        let name = NAMES[(usize::try_from(seed).expect("small") + at * 5) % NAMES.len()];
        format!("\"{}\"", name.replace('"', "\"\""))
    });
    let mut text = names.collect::<Vec<_>>().join(",") + "\n";
    for _ in 0..next() % 4 {
        let fields = (0..width).map(|column| match next() % 5 {
            0 => "NA".to_owned(),
            _ if column % 2 == 0 => value(&mut next, "integer").trim().to_owned(),
            _ => value(&mut next, "real").trim().to_owned(),
        });
        text += &(fields.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

#[test]
fn a_table_comes_back_from_every_format_that_holds_one() {
    let bench = Bench::new();
    for seed in 0..28 {
        println!("seed {seed}");
        let text = table(seed);
        fs::write(bench.path("in.csv"), &text).expect("written");
        let flags = ["--header", "yes"].map(String::from);
        assert_eq!(code(&bench.convert("in.csv", "once.csv", &flags)), 0, "{text}");
        let right = bench.text("once.csv");
        for between in ["a.csv", "a.tsv", "a.arrow"] {
            for output in [
                bench.convert("once.csv", between, &[]),
                bench.convert(between, "back.csv", &[]),
            ] {
                assert_eq!(code(&output), 0, "{between}: {}\n{right}", stderr(&output));
            }
            assert_eq!(bench.text("back.csv"), right, "{between}");
        }
    }
}

/// An `.npy` file of one row for each value.
fn npy(descr: &str, values: &[[u8; 8]]) -> Vec<u8> {
    let rows = values.len();
    let text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, 1), }}");
    let text = format!("{text:117}\n");
    let head = [b"\x93NUMPY\x01\0".as_slice(), &[118, 0], text.as_bytes()].concat();
    [head, values.concat()].concat()
}

#[test]
fn arrays_of_integers_of_64_bits_keep_every_one() {
    let bench = Bench::new();
    let unsigned = [u64::MAX, 1 << 63, (1 << 53) + 1, 0]
        .map(|value| (value.to_string(), value.to_le_bytes()));
    let signed = [i64::MIN, i64::MAX, -1].map(|value| (value.to_string(), value.to_le_bytes()));
    for (descr, values) in [("<u8", unsigned.to_vec()), ("<i8", signed.to_vec())] {
        let (lines, bytes): (Vec<_>, Vec<_>) = values.into_iter().unzip();
        fs::write(bench.path("in.npy"), npy(descr, &bytes)).expect("written");
        let right = lines.join("\n") + "\n";
        assert_eq!(code(&bench.convert("in.npy", "a.csv", &[])), 0);
        assert_eq!(bench.text("a.csv"), right);
        assert_eq!(code(&bench.convert("in.npy", "a.arrow", &[])), 0);
        assert_eq!(code(&bench.convert("a.arrow", "b.csv", &[])), 0);
        assert_eq!(bench.text("b.csv"), format!("column_1\n{right}"));
        assert_eq!(code(&bench.convert("in.npy", "same.npy", &[])), 0);
        assert_eq!(code(&bench.convert("same.npy", "c.csv", &[])), 0);
        assert_eq!(bench.text("c.csv"), right);
        // No double is one of them, so it is refused where doubles are all there is.
        let refused = bench.convert("a.arrow", "b.npy", &[]);
        assert!(stderr(&refused).contains("no double is that number"), "{refused:?}");
    }
}

#[test]
fn an_id_beyond_all_rows_is_refused() {
    let bench = Bench::new();
    for at in [0, 1] {
        // A row after it has no number.
        let last = [0, 1].map(|which| if which == at { u64::MAX } else { 1 });
        let named = BatchWriteOptions::new().with_names(["row", "column"]);
        named.write_array(bench.path("a.arrow"), 2, &[0, 0, last[0], last[1]]).expect("room");
        for to in ["a.mtx", "a.el", "a.npz"] {
            let refused = bench.convert("a.arrow", to, &[]);
            let told = stderr(&refused);
            assert_eq!(code(&refused), 2, "{told}");
            assert!(told.contains("18446744073709551615 in row 2 of the data"), "{told}");
            assert!(!bench.path(to).exists(), "{to}");
        }
    }
}

#[test]
fn tables_of_integers_are_matrices_of_integers() {
    let bench = Bench::new();
    let large = (1u64 << 53) + 1;
    for (descr, values) in [("<i8", [large, 0, 5]), ("<u8", [u64::MAX, 0, large])] {
        fs::write(bench.path("a.npy"), npy(descr, &values.map(u64::to_le_bytes)))
            .expect("room");
        for way in [&["a.npy", "m.mtx"][..], &["a.npy", "m.npz", "m.mtx"]] {
            for pair in way.windows(2) {
                let done = bench.convert(pair[0], pair[1], &[]);
                assert_eq!(code(&done), 0, "{}", stderr(&done));
            }
            let text = bench.text("m.mtx");
            let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('%')).collect();
            let right = [format!("1 1 {}", values[0]), format!("3 1 {}", values[2])];
            assert_eq!(lines[1..], right, "{descr} {way:?}");
        }
    }
}
