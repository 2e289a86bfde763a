//! `gen tree` makes the same files everywhere, and nothing where it should not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, run, stderr, stdout, word};

/// All files below a folder, by their paths there.
pub(crate) fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            let inner = files_below(&path);
            let name = PathBuf::from(path.file_name().expect("a name"));
            files.extend(inner.into_iter().map(|(path, bytes)| (name.join(path), bytes)));
        } else {
            let name = path.file_name().expect("a name").into();
            files.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
    files
}

#[test]
fn the_same_seed_makes_the_same_tree_at_every_worker_count() {
    let folder = tempfile::tempdir().expect("a folder");
    for spread in ["even", "powerlaw"] {
        let made = |name: &str, seed: &str, workers: &str| {
            let path = folder.path().join(format!("{spread}-{name}"));
            let output = run([
                "gen",
                "tree",
                "--files",
                "2100",
                "--size",
                "100B",
                "--spread",
                spread,
                "--seed",
                seed,
                "--workers",
                workers,
                "-o",
                word(&path),
            ]);
            assert_eq!(code(&output), 0, "{output:?}");
            files_below(&path)
        };
        let one = made("one", "1", "1");
        assert_eq!(one.len(), 2100);
        assert!(one == made("three", "1", "3"), "{spread}");
        assert!(one != made("other", "2", "3"), "{spread}");
        let is_even = one.values().all(|bytes| bytes.len() == 100);
        assert_eq!(is_even, spread == "even");
    }
}

#[test]
fn gen_tree_says_what_it_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tree");
    let words =
        ["gen", "tree", "--files", "1001", "--size", "1kB", "-o", word(&path), "--json"];
    let output = run(words);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let files = files_below(&path);
    assert_eq!((&value["files"], &value["folders"]), (&1001.into(), &2.into()));
    let bytes: usize = files.values().map(Vec::len).sum();
    assert_eq!((bytes, &value["bytes"]), (1_001_000, &1_001_000.into()));
    let all: Vec<u8> = files.into_values().flatten().collect();
    assert_eq!(value["sum"], swath_reference::sum(&all));
    assert_eq!(value["lines"], swath_reference::count(&all, b'\n'));
    assert_eq!(
        (&value["smallest_bytes"], &value["largest_bytes"]),
        (&1000.into(), &1000.into())
    );
    for key in ["path", "seed", "elapsed_s", "bytes_per_s"] {
        assert!(!value[key].is_null(), "{key} in {value}");
    }
    let text =
        stdout(&run(["gen", "tree", "--files", "1", "--size", "0", "-o", word(folder.path())]));
    assert_eq!(text, "", "it holds something");
}

#[test]
fn a_folder_that_holds_something_is_2_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine"), "mine").expect("written");
    let make =
        |path: &Path| run(["gen", "tree", "--files", "3", "--size", "1", "-o", word(path)]);
    let output = make(folder.path());
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("; try: choose a new folder with -o"), "{output:?}");
    let files = files_below(folder.path());
    assert_eq!(files, BTreeMap::from([("mine".into(), b"mine".to_vec())]));
    let missing = make(&folder.path().join("no/such"));
    assert_eq!(code(&missing), 2, "{missing:?}");
    assert!(stderr(&missing).contains("try: make the folder above it first"), "{missing:?}");
    let file = make(&folder.path().join("mine"));
    assert_eq!(code(&file), 2, "{file:?}");
    let words = ["gen", "tree", "--files", "3", "--size", "1q", "-o", "x"];
    assert!(stderr(&run(words)).contains("KiB"), "a size that means nothing");
}
