//! `swath read --classes`: the same bytes, and when each class was there.

use crate::child::{code, file_of, run, stderr, stdout, word};
use serde_json::Value;

fn json(words: &[&str]) -> Value {
    let output = run(words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("one line of JSON")
}

#[test]
fn every_way_gives_the_bytes_and_a_time_for_each_class() {
    let (_folder, path) = file_of(&[7; 1_234_567]);
    for way in [&[][..], &["--strict"], &["--window", "3"]] {
        let mut words = vec!["read", "--json", "--verify", "--repeat", "2"];
        words.extend(["--workers", "3", "--classes", "20", "--chunks", "1000"]);
        words.extend(way);
        words.push(word(&path));
        let value = json(&words);
        assert_eq!((&value["verified"], &value["classes"]), (&Value::Bool(true), &20.into()));
        for run in value["runs"].as_array().expect("a list") {
            assert_eq!(run["bytes"], 1_234_567);
            assert_eq!(run["class_elapsed_s"].as_array().expect("a list").len(), 20);
            let time = |key: &str| run[key].as_f64().expect("a number");
            assert!(time("first_class_s") <= time("median_class_s"), "{run}");
            assert!(time("median_class_s") <= time("last_class_s"), "{run}");
            assert!(time("last_class_s") <= time("elapsed_s"), "{run}");
            let number = |key: &str| run[key].as_u64().expect("a number");
            assert!(number("max_skew") <= number("window"), "{run}");
            assert_eq!(run["report"]["bytes"], 1_234_567);
        }
    }
}

#[test]
fn the_text_says_when_the_first_class_was_there() {
    let (_folder, path) = file_of(&[7; 300_000]);
    let output = run(["read", "--classes", "4", "--strict", word(&path)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("4 classes: first after ") && text.contains("window 1"), "{text}");
}

#[test]
fn a_part_of_a_file_is_cut() {
    let (_folder, path) = file_of(&[7; 300_000]);
    let part = ["--offset", "1000", "--length", "5000", "--classes", "4"];
    let mut words = vec!["read", "--json", "--verify"];
    words.extend(part);
    words.push(word(&path));
    let value = json(&words);
    assert_eq!(value["runs"][0]["bytes"], 5000);
    assert_eq!(value["verified"], true);
}

#[test]
fn what_has_no_positions_is_refused_with_what_to_try() {
    let output = run(["read", "--classes", "4", "/dev/null"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("by position"), "{}", stderr(&output));
    let output = run(["read", "--chunks", "4", "/dev/null"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn classes_are_read_past_what_is_damaged_in_a_copy() {
    let (_folder, path) = file_of(&[7; 300_000]);
    let (_other, damaged) = file_of(&[8; 300_000]);
    let (_third, third) = file_of(&[7; 300_000]);
    let mut words = vec!["read", "--json", "--classes", "4", word(&damaged)];
    words.extend(["--mirror", word(&path), "--mirror", word(&third)]);
    words.extend(["--verify-against", "vote"]);
    let value = json(&words);
    let mirrors = value["runs"][0]["report"]["mirrors"].as_array().expect("a list").clone();
    assert!(mirrors[0]["errors"].as_u64().expect("a number") > 0, "{value}");
    let missing = word(&path).to_owned() + " is not there";
    let output = run(["read", "--classes", "4", &missing, "--mirror", word(&path)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}
