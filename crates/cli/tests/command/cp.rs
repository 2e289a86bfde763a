//! A copy has the bytes of its source, or is not there.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::child::{code, file_of, is_root, run, run_with_input, shell, stderr, stdout, word};

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
        &["--durability", "none", "--hard-links", "break"],
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
fn a_folder_that_is_not_there_is_named_so() {
    let (folder, path, _) = setting(10);
    let into = format!("{}/missing/", word(folder.path()));
    let output = run(["cp", word(&path), &into]);
    assert_eq!(code(&output), 2, "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("No such file or directory"), "{said}");
    assert!(said.contains("try: create this folder first"), "{said}");
    assert!(!folder.path().join("missing").exists());
}

/// Whatever the kernel's own setting is.
#[test]
fn a_strangers_link_to_a_folder_in_a_folder_as_tmp_is_not_followed() {
    if !is_root() {
        return swath_reference::skip("root", "only root makes links of others");
    }
    let (folder, path, _) = setting(10);
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("private")).expect("room");
    std::fs::create_dir(at("shared")).expect("room");
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    std::fs::set_permissions(at("shared"), shared).expect("ours");
    let link = at("shared/dir");
    std::os::unix::fs::symlink(at("private"), &link).expect("linked");
    std::os::unix::fs::lchown(&link, Some(12), None).expect("root may");
    let (from, dir, within) = (word(&path), word(&link), link.join("out"));
    let within = word(&within);
    let tree = ["gen", "tree", "--files", "3", "--size", "1", "-o"];
    for words in [
        vec!["cp", from, dir],
        vec!["cp", from, within],
        vec!["mirror", from, "--into", dir],
        vec!["manifest", from, "-o", within],
        vec!["compress", from, dir],
        vec!["compress", from, within],
        vec!["gen", "bytes", "1kB", "-o", within],
        [&tree[..], &[dir]].concat(),
        [&tree[..], &[within]].concat(),
        vec!["study", "fib", "3", "-o", within],
        vec!["sum", from, "--timeline", within],
    ] {
        let output = run(&words);
        assert_eq!(code(&output), 2, "{words:?}: {output:?}");
        let said = stderr(&output);
        assert!(said.contains("Permission denied") && said.contains("try: "), "{said}");
        let made = std::fs::read_dir(at("private")).expect("there").count();
        assert_eq!(made, 0, "{words:?}");
    }
    std::os::unix::fs::lchown(&link, Some(0), None).expect("root may");
    assert_eq!(code(&run(["cp", from, dir])), 0, "one's own is followed");
    assert!(at("private/input").exists());
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
    assert!(stderr(&output).contains("try: use `swath cat`"), "{output:?}");
}

#[test]
fn what_cannot_be_copied_is_2_and_says_why_and_leaves_the_old_file() {
    let (folder, path, copy) = setting(10);
    std::fs::write(&copy, b"old").expect("room");
    let missing = folder.path().join("missing");
    for (words, says) in [
        (["cp", "--no-clobber", word(&path), word(&copy)], "File exists"),
        (["cp", "--durability=full", word(&copy), word(&copy)], "is the same file as"),
        (["cp", "--durability=full", word(folder.path()), word(&missing)], "Is a directory"),
        (["cp", "--durability=full", word(&missing), word(&copy)], "No such file"),
        (["cp", "--durability=full", "/etc/hostname/x", word(&copy)], "Not a directory"),
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

#[test]
fn times_and_mode_are_kept_if_requested() {
    let (_folder, path, copy) = setting(100_000);
    let time = UNIX_EPOCH + Duration::new(981_158_400, 123_456_789);
    let file = std::fs::File::options().write(true).open(&path).expect("mine");
    file.set_modified(time).expect("mine");
    file.set_permissions(Permissions::from_mode(0o604)).expect("mine");
    let facts = || {
        let facts = copy.metadata().expect("there");
        (facts.modified().expect("known"), facts.permissions().mode() & 0o777)
    };
    for flag in ["-p", "--preserve"] {
        let output = run(["cp", flag, word(&path), word(&copy)]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{output:?}");
        assert_eq!((facts(), read(&copy)), ((time, 0o604), read(&path)));
        std::fs::write(&copy, b"other").expect("room");
        std::fs::set_permissions(&copy, Permissions::from_mode(0o600)).expect("mine");
    }
    assert_eq!(code(&run(["cp", word(&path), word(&copy)])), 0);
    assert!(facts().0 != time && facts().1 == 0o600, "{:?}", facts());
}
