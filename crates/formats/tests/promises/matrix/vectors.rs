//! The matrices of `vectors/matrix.json`, each with its right answer.

use std::path::Path;
use swath::ReadOptions;

use swath_formats::matrix::{Ids, MatrixOptions, Strictness};
use swath_reference::battery::Battery;
use swath_reference::vectors::{Vector, Verdict, vectors as all_vectors};

use crate::matrix::texts::{Entry, bits, entries_of, size_of};

/// The matrices with a verdict.
fn vectors(verdict: Verdict) -> Vec<Vector> {
    let found = all_vectors("matrix", verdict);
    assert!(found.len() > 7, "only {} are {verdict:?}", found.len());
    found
}

fn entry(line: &str) -> Entry {
    let words: Vec<&str> = line.split(' ').collect();
    let id = |at: usize| words[at].parse().expect("an id");
    let part = |at: usize| words[at].parse().expect("a number");
    (id(0), id(1), [part(2), part(3)])
}

fn check_right(path: &Path, answer: &str, strictness: Strictness) {
    let mut lines = answer.lines();
    let size = lines.next().and_then(|line| line.split_once(' ')).expect("a size");
    let size = (size.0.parse().expect("rows"), size.1.parse().expect("columns"));
    let entries: Vec<Entry> = lines.map(entry).collect();
    for block_size in (1..64).chain([1 << 20]) {
        for ids in [Ids::Auto, Ids::U64] {
            let options = MatrixOptions::new()
                .with_strictness(strictness)
                .with_read(ReadOptions::new().with_workers(2));
            let options = options.with_block_size(block_size).with_ids(ids);
            let got = options.read(path);
            let got = got.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(size_of(&got), size, "{}", path.display());
            assert_eq!(bits(entries_of(&got)), bits(entries.clone()), "{}", path.display());
        }
    }
}

#[test]
fn valid_files_are_read_right_by_strict_and_permissive_readers() {
    let folder = tempfile::tempdir().expect("a folder");
    for vector in vectors(Verdict::Valid) {
        let path = vector.put(folder.path());
        check_right(&path, &vector.answer, Strictness::Strict);
        check_right(&path, &vector.answer, Strictness::Permissive);
    }
}

#[test]
fn permissive_files_are_read_right_unless_the_reader_is_strict() {
    let folder = tempfile::tempdir().expect("a folder");
    for vector in vectors(Verdict::Permissive) {
        let path = vector.put(folder.path());
        check_right(&path, &vector.answer, Strictness::Permissive);
        let strict = MatrixOptions::new().with_strictness(Strictness::Strict);
        assert!(strict.read(&path).is_err(), "{}", path.display());
    }
}

#[test]
fn invalid_files_are_refused_with_line_byte_and_text() {
    let mut wrong = Vec::new();
    let mut battery = Battery::of_list("combinations", 12, (1..64).chain([1 << 20]));
    let block_sizes: Vec<_> = battery.by_ref().collect();
    let folder = tempfile::tempdir().expect("a folder");
    for vector in vectors(Verdict::Invalid) {
        let (path, answer) = (vector.put(folder.path()), &vector.answer);
        let (place, words) = answer.split_once('\n').expect("two lines");
        let (line, byte) = place.split_once(' ').expect("line and byte");
        let place = (line.parse().ok(), byte.parse().ok());
        for &block_size in &block_sizes {
            let options = MatrixOptions::new()
                .with_block_size(block_size)
                .with_read(ReadOptions::new().with_workers(2));
            let errors = [
                options.read(&path).map(drop),
                options.read_rows(&path).map(drop),
                options.read_columns(&path).map(drop),
            ];
            for error in errors {
                let error = error.expect_err(&path.display().to_string());
                let text = error.to_string();
                let is_right = text.contains(words.trim())
                    && (error.line(), error.offset()) == place
                    && text.contains(&path.display().to_string())
                    && text.len() < 400 + path.as_os_str().len();
                if !is_right {
                    wrong.push(format!("{text}, not {answer}"));
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
