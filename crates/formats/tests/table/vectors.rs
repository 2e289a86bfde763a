//! The committed tables have their committed answers.

use std::fs;
use std::path::{Path, PathBuf};

use super::arrays::options;

/// The files of a folder that have an answer, and their answers.
fn vectors(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/table").join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(&root).expect("the folder is committed") {
        let answer = entry.expect("readable").path();
        if answer.extension().is_some_and(|it| it == "answer") {
            found.push((answer.with_extension(""), fs::read_to_string(&answer).expect("text")));
        }
    }
    found.sort();
    found
}

#[test]
fn valid_and_permissive_tables_have_their_values() {
    let all = [vectors("valid"), vectors("permissive")].concat();
    assert!(all.len() > 15, "{} files", all.len());
    for (path, answer) in all {
        let mut lines = answer.lines();
        let size: Vec<usize> = lines
            .next()
            .expect("a size")
            .split(' ')
            .map(|size| size.parse().expect("a size"))
            .collect();
        let names = lines.next().expect("names").strip_prefix("names ");
        let names = names.map(|it| it.split('|').map(String::from).collect::<Vec<_>>());
        let wanted: Vec<f64> = lines
            .flat_map(|line| line.split(' '))
            .map(|value| value.parse().expect("a double"))
            .collect();
        for block_size in (1..40).chain([1 << 20]) {
            let shown = path.display();
            let table = options(2, block_size).read::<f64>(&path);
            let table = table.unwrap_or_else(|error| panic!("{shown}: {error}"));
            assert_eq!([table.rows, table.columns], size[..], "{shown}");
            assert_eq!(table.names, names, "{shown}");
            let same = |(one, other): (&f64, &f64)| {
                one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
            };
            assert_eq!(table.values.len(), wanted.len(), "{shown}");
            assert!(table.values.iter().zip(&wanted).all(same), "{shown}: {:?}", table.values);
        }
    }
}

#[test]
fn invalid_tables_are_refused_at_their_line_and_byte() {
    let all = vectors("invalid");
    assert!(all.len() > 10, "{} files", all.len());
    for (path, answer) in all {
        for block_size in (1..40).chain([1 << 20]) {
            let error = options(2, block_size).read::<f64>(&path).expect_err("wrong");
            let (line, offset) =
                (error.line().expect("a line"), error.offset().expect("a byte"));
            let got = format!("line {line} byte {offset} {:?}\n", error.reason());
            assert_eq!(got, answer, "{}: {error}", path.display());
        }
    }
}
