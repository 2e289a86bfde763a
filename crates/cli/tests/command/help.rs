//! Help has examples, and no colours without a terminal.

use crate::child::{code, run, stdout};

const VERBS: [&str; 18] = [
    "read",
    "ingest",
    "sum",
    "scan",
    "cat",
    "cp",
    "job",
    "compress",
    "convert",
    "head",
    "info",
    "decompress",
    "price",
    "gen",
    "demo",
    "study",
    "completions",
    "man",
];

#[test]
fn every_help_has_examples() {
    for verb in VERBS {
        for flag in ["--help", "-h"] {
            let output = run([verb, flag]);
            assert_eq!(code(&output), 0, "{verb}");
            let text = stdout(&output);
            let example = format!("\n  swath {verb}");
            assert!(text.contains("Examples:") && text.contains(&example), "{text}");
            assert!(!text.contains('\u{1b}'), "{verb} has colours");
        }
    }
    assert!(stdout(&run(["--help"])).contains("swath demo"));
}

#[test]
fn shared_flags_are_the_same_everywhere() {
    for verb in ["read", "sum", "scan"] {
        let text = stdout(&run([verb, "--help"]));
        for flag in
            ["--engine", "--page-cache", "--queue-depth", "--map-flags", "--io-priority"]
        {
            assert!(text.contains(flag), "{verb} {flag}");
        }
    }
}

#[test]
fn the_version_is_the_package_s() {
    assert_eq!(stdout(&run(["--version"])), concat!("swath ", env!("CARGO_PKG_VERSION"), "\n"));
}
