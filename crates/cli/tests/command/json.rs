//! `--json` has every number of the report, with its unit in the key.

use crate::child::{code, file_of, run, stdout, word};
use serde_json::Value;

const REPORT: [&str; 15] = [
    "bytes",
    "elapsed_s",
    "bytes_per_s",
    "engine",
    "page_cache",
    "reason",
    "workers",
    "queue_depth",
    "chunk_size_bytes",
    "chunks",
    "calls",
    "retries",
    "direct_bytes",
    "populated_bytes",
    "fallbacks",
];
const USAGE: [&str; 7] = [
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "cpu_user_s",
    "cpu_system_s",
    "peak_rss_bytes",
];

fn has_all(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(!value[key].is_null(), "{key} in {value}");
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("one line of JSON")
}

#[test]
fn read_has_its_runs_and_their_median() {
    let (_folder, path) = file_of(&[3; 200_000]);
    let words = ["read", "--json", "--usage", "--repeat", "2", "--verify", word(&path)];
    let value = parsed(&stdout(&run(words)));
    let runs = value["runs"].as_array().expect("a list");
    assert_eq!((runs.len(), &value["verified"]), (2, &Value::Bool(true)));
    has_all(&value, &["path", "median_elapsed_s", "median_bytes_per_s"]);
    for run in runs {
        has_all(run, &REPORT);
        has_all(run, &USAGE);
        assert_eq!(run["bytes"], 200_000);
    }
}

#[test]
fn sum_and_scan_have_a_line_for_each_file_the_failed_ones_too() {
    let (_folder, path) = file_of(b"a\n\n");
    for (words, key) in [(&["sum"][..], "sum"), (&["scan"], "newlines")] {
        let words = words.iter().chain(&["--json", "--usage", "/nonexistent"]).copied();
        let output = run(words.chain([word(&path)]));
        assert_eq!(code(&output), 1, "{output:?}");
        let text = stdout(&output);
        let lines: Vec<Value> = text.lines().map(parsed).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0]["error"].as_str().is_some_and(|error| error.contains("No such file")));
        assert!(lines[1][key].is_u64(), "{text}");
        has_all(&lines[1], &REPORT);
        has_all(&lines[1], &USAGE);
    }
}

#[test]
fn hashes_have_their_value_under_their_name() {
    let (_folder, path) = file_of(b"123456789");
    for hash in ["xxh3", "crc32c", "blake3"] {
        let value = parsed(&stdout(&run(["sum", "--json", "--hash", hash, word(&path)])));
        assert!(value[hash].as_str().is_some_and(|hex| hex.len() >= 8), "{value}");
        has_all(&value, &["path", "bytes", "elapsed_s", "bytes_per_s"]);
    }
}

#[test]
fn gen_says_what_it_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made");
    let words = ["gen", "csv-numbers", "100kB", "--json", "-o", word(&path)];
    let value = parsed(&stdout(&run(words)));
    has_all(&value, &["path", "bytes", "lines", "sum", "seed", "elapsed_s", "bytes_per_s"]);
    assert_eq!(value["bytes"], std::fs::metadata(&path).expect("made").len());
}
