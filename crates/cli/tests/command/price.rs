//! Prices are the same by any number of workers, go through pipes, and are whole or absent.

use std::path::PathBuf;

use serde_json::Value;

use crate::child::{code, file_of, run, run_with_input, stderr, stdout, word};

const CALL: &str = "42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532";
const PUT: &str = "42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.808599372900096";

fn contracts(count: usize) -> String {
    let lines = [CALL, PUT].into_iter().cycle().take(count);
    lines.fold(format!("{count}\n"), |text, line| text + line + "\n")
}

fn setting(text: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (folder, path) = file_of(text.as_bytes());
    let prices = folder.path().join("prices");
    (folder, path, prices)
}

#[test]
fn any_number_of_workers_leaves_the_same_prices() {
    let (_folder, path, prices) = setting(&contracts(10_001));
    let mut first = None;
    for way in [&[][..], &["--workers", "1"], &["--workers", "7", "--block-size", "4KiB"]] {
        let words =
            ["price", word(&path), "-o", word(&prices), "--force", "--durability", "none"];
        let output = run(words.into_iter().chain(way.iter().copied()));
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{way:?}");
        assert!(stdout(&output).contains(": 10001 prices from "), "{output:?}");
        assert!(stdout(&output).contains(" 0 off by 0.0001 or more\n"), "{output:?}");
        let bytes = std::fs::read(&prices).expect("it is there");
        assert!(bytes == *first.get_or_insert_with(|| bytes.clone()), "{way:?}");
    }
    let text = String::from_utf8(first.expect("three of them")).expect("numbers");
    assert!(text.starts_with("10001\n4.75942"), "{}", &text[..40]);
    assert_eq!(text.lines().count(), 10_002);
}

#[test]
fn prices_go_from_standard_input_to_standard_output() {
    let text = contracts(3);
    let (_folder, path, prices) = setting(&text);
    assert_eq!(code(&run(["price", word(&path), "-o", word(&prices)])), 0);
    let piped =
        run_with_input(&["price", "-", "-o", "-", "--durability=none"], text.as_bytes());
    assert_eq!((code(&piped), stderr(&piped).as_str()), (0, ""));
    assert_eq!(piped.stdout, std::fs::read(&prices).expect("it is there"));
}

#[test]
fn json_has_the_phases_and_the_differences() {
    let off = contracts(4).replace("4.7594", "4.7596").replace("0.8085", "0.8083");
    let (_folder, path, prices) = setting(&off);
    let output = run(["price", word(&path), "-o", word(&prices), "--json", "--check"]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(stderr(&output).contains(": 4 prices of 4 off by 0.0001"), "{output:?}");
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((json["contracts"].as_u64(), json["off"].as_u64()), (Some(4), Some(4)));
    let shares = ["read_share", "compute_share", "write_share"];
    let sum: f64 = shares.iter().filter_map(|share| json[share].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{json}");
    assert!(json["largest_difference"].as_f64().is_some_and(|it| it > 1.5e-4), "{json}");
    // Without --check that is not a failure.
    let words = ["price", word(&path), "-o", word(&prices), "--force"];
    assert_eq!(code(&run(words)), 0);
}

#[test]
fn faulty_contracts_are_2_with_line_and_byte_and_leave_nothing() {
    let (_folder, path, prices) = setting(&contracts(5).replacen("40.00", "4o.00", 1));
    let output = run(["price", word(&path), "-o", word(&prices)]);
    assert_eq!(code(&output), 2, "{output:?}");
    let says = " on line 2 at byte 8: the strike is not a number: `42.00 4o.00 0.1000";
    assert!(stderr(&output).contains(says), "{output:?}");
    assert!(!prices.exists());
    std::fs::write(&prices, "old").expect("written");
    let output = run(["price", word(&path), "-o", word(&prices)]);
    assert!(stderr(&output).contains("it exists; try: pass --force"), "{output:?}");
    let output = run(["price", word(&path), "-o", word(&path), "--force"]);
    assert!(stderr(&output).contains("it is the input"), "{output:?}");
}
