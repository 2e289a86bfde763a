//! A copy has the bytes of its source, or is not there.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, file_of, run, run_with_input, shell, stderr, stdout, word};

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

fn setting(len: usize) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (folder, path) = file_of(&swath_reference::bytes(1, len));
    let copy = folder.path().join("copy");
    (folder, path, copy)
}

#[test]
fn a_file_is_copied_with_every_flag() {
    let (_folder, path, copy) = setting(3_000_001);
    for flags in [
        &[][..],
        &["--reflink", "never"],
        &["--workers", "3", "--chunk-size", "64KiB"],
        &["--sync", "none", "--hard-links", "break"],
    ] {
        let _ = std::fs::remove_file(&copy);
        let words = ["cp"].iter().chain(flags).copied().chain([word(&path), word(&copy)]);
        let output = run(words);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{flags:?}");
        assert!(stdout(&output).contains("2.9 MiB (3000001 bytes) in "), "{output:?}");
        assert!(read(&path) == read(&copy), "{flags:?}");
    }
}

#[test]
fn a_folder_gets_the_copy_under_the_same_name() {
    let (folder, path, _) = setting(10);
    let into = folder.path().join("into");
    std::fs::create_dir(&into).expect("room");
    let output = run(["cp", word(&path), word(&into)]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(read(&into.join("input")), read(&path));
    for odd in ["-", "/"] {
        let output = run_with_input(&["cp", odd, word(&into)], b"bytes");
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains("it has no name; try: name the copy"), "{output:?}");
    }
}

#[test]
fn standard_input_is_copied_by_its_name_and_standard_output_is_for_cat() {
    let (_folder, path, copy) = setting(100_000);
    let bytes = read(&path);
    let output = run_with_input(&["cp", "-", word(&copy)], &bytes);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(read(&copy) == bytes);
    let output = shell(r#""$0" cp /dev/stdin "$1" < "$2""#, &[copy.as_ref(), path.as_ref()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(read(&copy) == bytes);
    let output = run(["cp", word(&path), "-"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("try: `swath cat`"), "{output:?}");
}

#[test]
fn what_cannot_be_copied_is_2_and_says_why_and_leaves_the_old_file() {
    let (folder, path, copy) = setting(10);
    std::fs::write(&copy, b"old").expect("room");
    let missing = folder.path().join("missing");
    for (words, says) in [
        (["cp", "--no-clobber", word(&path), word(&copy)], "File exists"),
        (["cp", "--sync=full", word(&copy), word(&copy)], "is the same file as"),
        (["cp", "--sync=full", word(folder.path()), word(&missing)], "Is a directory"),
        (["cp", "--sync=full", word(&missing), word(&copy)], "No such file"),
        (["cp", "--sync=full", "/etc/hostname/x", word(&copy)], "Not a directory"),
    ] {
        let output = run(words);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{words:?}");
        let text = stderr(&output);
        assert!(text.starts_with("swath: cannot ") && text.contains(says), "{text}");
        assert!(text.contains("; try: ") || says == "Not a directory", "{text}");
        assert_eq!(read(&copy), b"old");
    }
    assert!(!missing.exists());
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_no_signal() {
    let (folder, path, copy) = setting(3_000_000);
    for flags in ["--reflink=never", "--reflink=auto"] {
        let line = format!(r#"ulimit -f 1000; "$0" cp {flags} "$1" "$2""#);
        let output = shell(&line, &[path.as_ref(), copy.as_ref()]);
        assert_eq!(code(&output), 2, "{output:?}");
        assert!(stderr(&output).contains("File too large"), "{output:?}");
        assert!(stderr(&output).contains("ulimit -f"), "{output:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn json_has_every_number_with_its_unit() {
    let (_folder, path, copy) = setting(100_000);
    let output = run(["cp", "--json", word(&path), word(&copy)]);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one line of JSON");
    assert_eq!((&value["bytes"], &value["hole_bytes"]), (&100_000.into(), &0.into()));
    assert_eq!(value["path"], word(&copy));
    assert_eq!(value["source"]["path"], word(&path));
    for key in ["workers", "elapsed_s", "bytes_per_s"] {
        assert!(value[key].is_number(), "{key}: {value}");
    }
    assert!(
        ["reflink", "kernel", "read-write"].contains(&value["how"].as_str().expect("a word"))
    );
    assert!(value["fallbacks"].is_array());
}
