//! Files with different columns are one table, as the oracle has it.

use std::fs;
use std::path::PathBuf;

use swath_formats::table::{self, BatchForm, BatchOptions, ColumnType, HeaderLine, Ragged};
use swath_reference::battery::{Battery, BatterySize};
use swath_reference::typed::{
    Between, Header, Key, Options, Type, answer, read_united, show_fault,
};

use crate::typed::oracle::{self, How};
use crate::typed::shown::{lines, table};

/// Files that are drawn.
const SIZE: BatterySize = BatterySize { slice: 400, full: 10_000 };

/// Names of columns, each with values that it may have.
const COLUMNS: [(&str, &[&str]); 7] = [
    ("a", &["1", "2", "-3", "18446744073709551615", ""]),
    ("b", &["0.5", "1", "NA", "9007199254740993"]),
    ("c", &["x", "\"y,z\"", "\"\"", "", "\"two\nlines\""]),
    ("d", &["2024-02-29", "1999-12-31T12:00", ""]),
    ("\"e, f\"", &["true", "false", "NA"]),
    ("", &["7", "x", "\"7\""]),
    ("a", &["001", "2"]),
];

struct Dice<D: FnMut() -> u64>(D);

impl<D: FnMut() -> u64> Dice<D> {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0() % end as u64).expect("small")
    }

    /// A file of some of the columns, in any order.
    fn file(&mut self) -> String {
        let mut left: Vec<_> = COLUMNS.to_vec();
        let columns: Vec<_> =
            (0..=self.below(4)).map(|_| left.remove(self.below(left.len()))).collect();
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let mut text = names.join(",") + "\n";
        if self.below(60) == 0 {
            text.clear();
        }
        for _ in 0..self.below(9) {
            let mut fields: Vec<_> =
                columns.iter().map(|(_, values)| values[self.below(values.len())]).collect();
            match self.below(40) {
                0 => fields.push("more"),
                1 => drop(fields.pop()),
                2 => fields[0] = "a\"b",
                _ => {}
            }
            text += &(fields.join(",") + "\n");
        }
        text
    }

    fn options(&mut self) -> Options {
        let mut options = Options::default();
        let ragged = [
            swath_reference::typed::Ragged::Error,
            swath_reference::typed::Ragged::Pad,
            swath_reference::typed::Ragged::SetAside,
            swath_reference::typed::Ragged::Drop,
        ];
        options.ragged = ragged[self.below(4)];
        if self.below(4) == 0 {
            options.skip_footer = self.below(4);
        }
        if self.below(8) == 0 {
            options.fields = Some(1 + self.below(4));
        }
        if self.below(8) == 0 {
            options.all_types = Some(Type::Text);
        }
        if self.below(3) == 0 {
            options.header = Header::Lines(1);
        }
        let name = |at: usize| Key::Name(["a", "b", "c", "d", "e, f"][at].to_owned());
        if self.below(4) == 0 {
            let first = self.below(5);
            options.columns = Some(vec![name(first), name((first + 1 + self.below(4)) % 5)]);
        }
        if self.below(4) == 0 {
            let given = [Type::I64, Type::F64, Type::Text, Type::Date][self.below(4)];
            options.types = vec![(name(self.below(5)), given)];
        }
        if self.below(5) == 0 {
            options.rename = vec![(name(self.below(5)), "new".to_owned())];
        }
        if self.below(4) == 0 {
            options.rows = Some(self.below(12));
        }
        options
    }
}

#[test]
fn drawn_files_are_united_as_the_oracle_unites_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = 0;
    for seed in Battery::new("tables", SIZE) {
        let mut dice = Dice(swath_reference::splitmix(seed));
        let mut texts: Vec<String> = (0..=dice.below(4)).map(|_| dice.file()).collect();
        let mut given = dice.options();
        if let Some(long) = Between::LONG.get(dice.below(20)) {
            given.delimiter = Some(Between::Text(long));
            texts.iter_mut().for_each(|text| *text = text.replace(',', long));
        }
        let paths: Vec<PathBuf> =
            (0..texts.len()).map(|at| folder.path().join(format!("{at}.csv"))).collect();
        paths.iter().zip(&texts).for_each(|(path, text)| fs::write(path, text).expect("room"));
        let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let wanted = read_united(&bytes, &given);
        tables += usize::from(wanted.is_ok());
        let shown = |result: &Result<_, _>| match result {
            Ok(table) => answer(table),
            Err((file, fault)) => format!("file {file} {}", show_fault(fault)),
        };
        for is_stream in [false, true] {
            let block_size = [0, 1, 7, 30][dice.below(4)];
            let how = How { workers: 1 + dice.below(3), block_size, is_stream };
            let options = oracle::options(&given).with_union_by_name(true);
            let found = oracle::read_of(&paths, &options, how);
            let is_same = match (&found, &wanted) {
                (Err((file, found)), Err((other, wanted))) => {
                    (file, found.wrong, found.byte) == (other, wanted.wrong, wanted.byte)
                }
                _ => found == wanted,
            };
            assert!(
                is_same,
                "seed {seed} {how:?} {given:?}\n{}\nfound {}\nwanted {}",
                texts.join("---\n"),
                shown(&found),
                shown(&wanted)
            );
        }
    }
    assert!(tables > 100, "only {tables} are tables");
}

fn written(texts: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..texts.len()).map(|at| folder.path().join(at.to_string())).collect();
    paths.iter().zip(texts).for_each(|(path, text)| fs::write(path, text).expect("room"));
    (folder, paths)
}

fn united() -> BatchOptions {
    BatchOptions::new().with_union_by_name(true)
}

#[test]
fn columns_are_in_the_order_of_first_appearance_and_missing_where_a_file_lacks_them() {
    let (_folder, paths) =
        written(&["b\nb1\n", "a,b\na1,b2\n", "b,n,b\n\"\",1,x\n", "n\n0.5\n"]);
    let read = united().read_batches_of(&paths).expect("a table");
    let wanted = [
        "b text: \"b1\" \"b2\" \"\" _",
        "a text: _ \"a1\" _ _",
        "n f64: _ _ 1 0.5",
        "b_2 text: _ _ \"x\" _",
    ];
    assert_eq!(table(&read), wanted);
    let report = read.report();
    assert_eq!(report.delimiter, Some(table::Delimiter::Byte(b',')));
    assert_eq!(report.columns.iter().map(|it| it.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((report.renamed[0].index, &*report.renamed[0].to), (3, "b_2"));
    let deciding = report.columns[2].deciding.expect("a decimal");
    assert_eq!((deciding.source, deciding.line), (3, 2));
    let given = united()
        .with_columns(["n", "a"])
        .with_rename([("a", "z")])
        .with_types([("n", ColumnType::F64), ("b", ColumnType::Text)])
        .with_null_values_of("a", ["a1"])
        .with_file_column("file");
    let stream = given.stream_batches_of(&paths).expect("a table");
    let schema = stream.schema().clone();
    let batches: Vec<_> = stream.map(|batch| batch.expect("a batch")).collect();
    assert_eq!(lines(&schema, &batches)[..2], ["n f64: _ _ 1 0.5", "z null: _ _ _ _"]);
    let error = united().with_columns(["c"]).read_batches_of(&paths).expect_err("no such one");
    assert!(error.to_string().contains("no column"), "{error}");
}

#[test]
fn files_without_names_and_different_columns_without_the_option_are_refused_with_a_hint() {
    let (_folder, paths) = written(&["1,2\n3,4\n", "a\nx\n"]);
    let error = united().read_batches_of(&paths).expect_err("no names").to_string();
    assert!(error.contains("columns are united by name; try: set `header`"), "{error}");
    let (_folder, later) = written(&["a,n\nx,1\n", "y,2\nz,3\n"]);
    let error = united().read_batches_of(&later).expect_err("no names").to_string();
    assert!(error.contains("1: its first line is data"), "{error}");
    let none = united().with_header(HeaderLine::Absent);
    let error = none.read_batches_of(&paths).expect_err("no names").to_string();
    assert!(error.contains("try: leave out `union_by_name`"), "{error}");
    let (_folder, paths) = written(&["b\nb1\n", "a,b\na1,b2\n"]);
    let error = BatchOptions::new().read_batches_of(&paths).expect_err("others").to_string();
    assert!(error.contains("try: set `union_by_name` to unite"), "{error}");
}

#[test]
fn a_nul_in_a_name_and_a_fault_have_their_own_file() {
    let (_folder, paths) = written(&["a\n1\n", "a,c\0d\n1,2\n"]);
    let error = united().read_batches_of(&paths).expect_err("a NUL byte");
    assert_eq!((error.path(), error.line()), (&*paths[1], Some(1)), "{error}");
    assert!(error.to_string().contains("the name of column index 1"), "{error}");
    let renamed = united().with_rename([(1, "cd")]).read_batches_of(&paths).expect("a table");
    assert_eq!(table(&renamed), ["a 64: 1 1", "cd 64: _ 2"]);
    let (_folder, paths) = written(&["a,b\n1,2\n", "b,a\n1,2\nx,y\n"]);
    let types = [("a", ColumnType::I64), ("b", ColumnType::I64)];
    let error = united().with_types(types).read_batches_of(&paths).expect_err("texts");
    assert_eq!((error.path(), error.line(), error.offset()), (&*paths[1], Some(3), Some(8)));
    assert!(error.to_string().contains("in column `b`: `x`"), "the leftmost: {error}");
}

#[test]
fn fixed_widths_and_objects_are_united_too() {
    let (_folder, paths) = written(&["id  town\n 1  Oslo\n", "town   id  n\nBergen  2  5\n"]);
    let fixed = united().with_form(BatchForm::Fixed).with_ragged(Ragged::Pad);
    let read = fixed.read_batches_of(&paths).expect("a table");
    assert_eq!(table(&read), ["id 64: 1 2", "town text: \"Oslo\" \"Bergen\"", "n 64: _ 5"]);
    let (_folder, paths) = written(&["{\"x\":1}\n", "{\"y\":2,\"x\":3}\n"]);
    let objects = united().with_form(BatchForm::JsonLines);
    assert_eq!(
        table(&objects.read_batches_of(&paths).expect("one")),
        ["x 64: 1 3", "y 64: _ 2"]
    );
}

#[test]
fn a_file_that_lacks_very_many_columns_is_read_in_short_blocks() {
    let names: Vec<String> = (0..2000).map(|at| format!("c{at}")).collect();
    let wide = names.join(",") + "\n" + &"1,".repeat(1999) + "1\n";
    let (_folder, paths) = written(&[&wide, &("c0\n".to_owned() + &"1\n".repeat(20_000))]);
    let mut rows = 0;
    for batch in united().stream_batches_of(&paths).expect("a table") {
        let batch = batch.expect("rows");
        assert!(batch.get_array_memory_size() < 64 << 20, "{} rows", batch.num_rows());
        rows += batch.num_rows();
    }
    assert_eq!(rows, 20_001);
}
