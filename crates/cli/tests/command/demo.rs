//! `demo` shows five lines, or every engine, right to the byte, and removes what it made.

use serde_json::Value;

use crate::child::{code, run, stderr, stdout, word};

#[test]
fn the_demo_prints_five_lines_first_and_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(["demo", "--size", "1MiB", "--dir", word(folder.path())]);
    assert_eq!(code(&output), 0, "{output:?}");
    let text = stdout(&output);
    let first: Vec<_> =
        text.lines().take(7).map(|line| line.split("  ").next().unwrap_or_default()).collect();
    assert_eq!(
        first[1..],
        ["read, warm", "read, cold", "write", "parse CSV", "small files", ""],
        "{text}"
    );
    for wanted in ["std::fs::read", "BufWriter", "BufRead", "swath demo --all", "swath tune"] {
        assert!(text.contains(wanted), "{wanted} in\n{text}");
    }
    assert!(!text.contains("WRONG") && !text.contains("pool"), "{text}");
    // Standard output is no terminal: it counts as 80 columns wide.
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?} in\n{text}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn the_demo_prints_its_table_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(["demo", "--all", "--size", "300kB", "--dir", word(folder.path())]);
    assert_eq!(code(&output), 0, "{output:?}");
    let text = stdout(&output);
    for wanted in [
        "std::fs::read",
        "serial",
        "pool, static",
        "pool, dynamic",
        "ring",
        "map",
        "auto",
        "reused buffer",
        "first class",
        "barrier",
        "byte sum",
        "newline count",
        "one file after the other",
        "one arena",
        "memory sum",
        "copy into existing pages",
        "O_DIRECT read",
        "Try next",
    ] {
        assert!(text.contains(wanted), "{wanted} in\n{text}");
    }
    assert!(!text.contains("WRONG"), "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?} in\n{text}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn the_demo_s_json_has_units_and_says_that_it_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["demo", "--all", "--size", "300001", "--json", "--dir", word(folder.path())];
    let output = run(words);
    assert_eq!(code(&output), 0, "{output:?}");
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((&value["size_bytes"], &value["verified"]), (&300_001.into(), &true.into()));
    assert!(value["limits"]["memory_sum_bytes_per_s"].is_f64(), "{value}");
    let lines = value["lines"].as_array().expect("a list");
    assert!(lines.len() >= 4, "{value}");
    for line in lines {
        assert!(line["swath_bytes_per_s"].is_f64(), "{line}");
        assert!(line["speed_ratio_lower"].as_f64() <= line["speed_ratio"].as_f64(), "{line}");
        assert!(line["speed_ratio_upper"].as_f64() >= line["speed_ratio"].as_f64(), "{line}");
        let words = ["faster", "slower", "about_the_same", "undecided"];
        assert!(line["verdict"].as_str().is_some_and(|word| words.contains(&word)), "{line}");
    }
    let rows = value["rows"].as_array().expect("a list");
    assert!(rows.len() >= 10, "{value}");
    for row in rows {
        assert!(row["median_elapsed_s"].is_f64() && row["bytes_per_s"].is_f64(), "{row}");
        assert_eq!(row["verified"], true, "{row}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn a_demo_that_cannot_be_done_is_2_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for size in ["0", "1TiB"] {
        let output = run(["demo", "--size", size, "--dir", word(folder.path())]);
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains("try: "), "{output:?}");
    }
    assert_eq!(code(&run(["demo", "--size", "1MiB", "--dir", "/nonexistent"])), 2);
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}
