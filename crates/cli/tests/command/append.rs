//! `study fib`, and folders of segments as inputs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, run, stderr, stdout, word};

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    (folder, path)
}

fn fib(path: &Path, more: &[&str]) -> std::process::Output {
    let words =
        ["study", "fib", "12", "--bytes", "100", "--durability", "none", "-o", word(path)];
    let words = [&words[..], &["--force"]].concat();
    run(words.iter().chain(more).copied())
}

#[test]
fn fib_leaves_the_serial_file_in_every_mode_and_with_every_number_of_workers() {
    let (_folder, path) = place();
    let (_other, segments) = place();
    for workers in ["1", "2", "7"] {
        for (mode, path) in [("plain", &path), ("segments", &segments)] {
            let output = fib(path, &["--mode", mode, "--workers", workers, "--verify"]);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
            let text = stdout(&output);
            assert!(
                text.contains("465 calls of work, 12 calls of span: parallelism 39"),
                "{text}"
            );
            assert!(text.contains("byte for byte what the serial program writes"), "{text}");
        }
    }
    for mode in ["global", "local-files"] {
        let (_folder, path) = place();
        let output = fib(&path, &["--mode", mode, "--verify"]);
        assert_eq!(code(&output), 0, "{output:?}");
        assert!(stdout(&output).contains("what every call wrote is there, whole"));
    }
}

#[test]
fn fib_tells_its_figures_as_json() {
    let (_folder, path) = place();
    let output = fib(&path, &["--json", "--verify", "--workers", "2"]);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(json["bytes"], 46_500);
    assert_eq!(json["work_calls"], 465);
    assert_eq!(json["forks"], 232);
    assert_eq!(json["is_serial"], true);
    assert_eq!(json["workers"], 2);
}

#[test]
fn a_folder_of_segments_is_an_input_like_a_file() {
    let (_folder, plain) = place();
    let (folder, segments) = place();
    assert_eq!(code(&fib(&plain, &[])), 0);
    assert_eq!(code(&fib(&segments, &["--mode", "segments"])), 0);
    let expected = std::fs::read(&plain).expect("written");
    let copied = folder.path().join("copied");
    let output = run(["cp", word(&segments), word(&copied)]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert!(stdout(&output).contains("their checksums compared"), "{output:?}");
    assert_eq!(std::fs::read(&copied).expect("written"), expected);
    let output = run(["cp", "--no-clobber", word(&segments), word(&copied)]);
    assert_eq!(code(&output), 2, "it exists");
    let output = run(["cp", "--json", "--workers", "2", word(&segments), word(&copied)]);
    let json: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert!(json["extents"].as_u64() >= Some(1) && json["bytes"] == 46_500, "{json}");
    let output = run(["cp", word(&segments), word(&segments)]);
    assert_eq!(code(&output), 2, "it would lie among what is copied");
    assert!(stderr(&output).contains("choose a path outside this folder"), "{output:?}");

    assert_eq!(run(["cat", word(&segments)]).stdout, expected);
    let part = run(["cat", "--offset", "1000", "--length", "50", word(&segments)]);
    assert_eq!(part.stdout, &expected[1000..1050]);
    let rated = run(["cat", "--rate", "100MiB/s", word(&segments)]);
    assert_eq!(rated.stdout, expected);
    assert_eq!(code(&run(["cat", "--offset", "1GiB", word(&segments)])), 2);
    for verb in [&["sum"][..], &["scan"], &["sum", "--hash", "xxh3"]] {
        let of = |path: &Path| {
            let output = run(verb.iter().copied().chain([word(path)]));
            assert_eq!(code(&output), 0, "{output:?}");
            stdout(&output).split_whitespace().next().map(String::from)
        };
        assert_eq!(of(&segments), of(&plain), "{verb:?}");
    }
    let read = run(["read", "--json", word(&segments)]);
    assert!(stdout(&read).contains("\"bytes\":46500"), "{read:?}");
}

#[test]
fn damaged_segments_are_told_and_nothing_is_copied() {
    let (folder, segments) = place();
    assert_eq!(code(&fib(&segments, &["--mode", "segments"])), 0);
    for entry in std::fs::read_dir(&segments).expect("a folder") {
        let path = entry.expect("readable").path();
        let mut bytes = std::fs::read(&path).expect("readable");
        if !path.ends_with("MANIFEST") {
            bytes[0] ^= 1;
            std::fs::write(&path, bytes).expect("writable");
        }
    }
    let copied = folder.path().join("copied");
    for words in [&["cat", word(&segments)][..], &["cp", word(&segments), word(&copied)]] {
        let output = run(words);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("do not match their checksum"), "{output:?}");
    }
    assert!(!copied.exists());
    std::fs::write(segments.join("MANIFEST"), b"not a manifest").expect("writable");
    for verb in ["cat", "sum", "read", "scan"] {
        let output = run([verb, word(&segments)]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("MANIFEST"), "{output:?}");
    }
    let output = run(["cp", word(folder.path()), word(&copied)]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("Is a directory"), "{output:?}");
}
