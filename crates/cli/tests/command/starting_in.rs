//! `--starting-in`: of extents that together are all of a file, each line, row and entry begins in one.

use std::fmt::Write;
use std::fs;

use crate::child::{code, run, stderr, stdout, word};

const CUTS: [&str; 4] = ["0..1", "1..4KiB", "4KiB..10K", "10KiB.."];

#[test]
fn the_parts_of_a_file_are_its_lines_each_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let text: String = (0..5000).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "line {line} {}", "x".repeat(line % 37));
        text
    });
    fs::write(&path, &text).expect("written");
    let part = |cut: &str| stdout(&run(["cat", "--starting-in", cut, word(&path)]));
    let parts: Vec<String> = CUTS.iter().map(|cut| part(cut)).collect();
    assert_eq!(parts[0].lines().count(), 1, "one line begins in the first byte");
    assert!(parts.iter().all(|part| part.ends_with('\n')) && parts.concat() == text);
}

#[test]
fn the_parts_of_a_table_are_its_rows_each_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("t.csv"), folder.path().join("part.csv"));
    let rows: Vec<String> = (0..3000).map(|row| format!("{row},{}.5\n", row * 7)).collect();
    fs::write(&path, format!("id,x\n{}", rows.concat())).expect("written");
    let mut all = String::new();
    for cut in CUTS {
        let words = ["convert", "--starting-in", cut, "--force", word(&path), word(&out)];
        let done = run(words);
        assert_eq!(code(&done), 0, "{cut}: {}", stderr(&done));
        let text = fs::read_to_string(&out).expect("a table");
        let (head, rows) = text.split_once('\n').expect("a header");
        assert_eq!(head, "id,x");
        all += rows;
    }
    assert!(all == rows.concat(), "{all:.200}");
}

#[test]
fn what_is_no_extent_or_has_none_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, out) = (folder.path().join("a.npy"), folder.path().join("b.csv"));
    fs::write(&path, "").expect("written");
    for wrong in ["5", "9..3", "a..b"] {
        let told = run(["cat", "--starting-in", wrong, word(&path)]);
        assert_eq!(code(&told), 2, "{wrong}");
    }
    let told = stderr(&run(["cat", "--starting-in", "9..3", word(&path)]));
    assert!(told.contains("1GiB..2GiB"), "{told}");
    let told = run(["convert", "--starting-in", "0..1", word(&path), word(&out)]);
    assert_eq!(code(&told), 2);
    assert!(stderr(&told).contains("with --starting-in: it is for"), "{}", stderr(&told));
}
