//! `ingest` reads many files: from folders, lists and patterns, with exact totals of what failed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{code, run, run_with_input, shell, stderr, stdout, swath, word};
use crate::trees::files_below;

/// A tree of this many files.
fn tree_of(files: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tree");
    let count = files.to_string();
    let words =
        ["gen", "tree", "--files", &count, "--size", "500B", "--spread", "powerlaw", "-o"];
    let output = run(words.into_iter().chain([word(&path)]));
    assert_eq!(code(&output), 0, "{output:?}");
    (folder, path)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Returns the output of `sum` for the same files, one by one.
fn sums(paths: &[PathBuf]) -> Vec<String> {
    let words = ["sum", "--hash", "xxh3"].map(OsStr::new).into_iter();
    sorted(&stdout(&run(words.chain(paths.iter().map(|path| path.as_os_str())))))
}

fn paths_below(folder: &Path) -> Vec<PathBuf> {
    files_below(folder).into_keys().map(|path| folder.join(path)).collect()
}

#[test]
fn a_folder_is_read_whole_and_its_totals_are_exact() {
    let (_folder, path) = tree_of(1200);
    let bytes: usize = files_below(&path).values().map(Vec::len).sum();
    for words in [
        &[][..],
        &["--keep"],
        &["--workers", "3", "--queue-depth", "7"],
        &["--keep", "--workers", "3", "--queue-depth", "7"],
        &["--text"],
        &["--text", "--keep"],
    ] {
        let words = ["ingest", "--json", word(&path)].into_iter().chain(words.iter().copied());
        let output = run(words);
        assert_eq!(code(&output), 0, "{output:?}");
        let value = parsed(&stdout(&output));
        assert_eq!(
            (&value["files"], &value["bytes"]),
            (&1200.into(), &bytes.into()),
            "{value}"
        );
        assert_eq!((&value["failed"], &value["skipped"]), (&0.into(), &0.into()), "{value}");
        for key in
            ["elapsed_s", "bytes_per_s", "files_per_s", "workers", "reason", "calls_per_file"]
        {
            assert!(!value[key].is_null(), "{key} in {value}");
        }
    }
    let text = stdout(&run(["ingest", word(&path)]));
    assert!(text.contains("1200 files") && text.contains(&format!("{bytes} bytes")), "{text}");
}

#[test]
fn files_are_kept_in_memory_on_request_only() {
    let (_folder, path) = tree_of(50);
    let populated = |words: &[&str]| {
        let words = ["ingest", "--json", word(&path)].into_iter().chain(words.iter().copied());
        parsed(&stdout(&run(words)))["populated_bytes"].as_u64()
    };
    let bytes: usize = files_below(&path).values().map(Vec::len).sum();
    assert_eq!(populated(&[]), Some(0));
    for words in [&["--keep"][..], &["--order", "inode"]] {
        assert!(populated(words) >= Some(bytes as u64), "{words:?}");
    }
    let both = run(["ingest", "--keep", "--hash", "xxh3", word(&path)]);
    assert_eq!((code(&both), stdout(&both).as_str()), (2, ""), "{both:?}");
}

#[test]
fn checksums_are_those_of_the_files_one_by_one() {
    let (_folder, path) = tree_of(300);
    std::fs::write(path.join("large"), swath_reference::bytes(1, 5 << 20)).expect("written");
    std::fs::write(path.join("empty"), "").expect("written");
    let wanted = sums(&paths_below(&path));
    for words in [
        &[][..],
        &["--completion-order", "--workers", "4"],
        &["--memory-limit", "4MiB"],
        &["--order", "inode"],
        &["--order", "extent"],
        &["--order", "path", "--queue-depth", "1", "--workers", "1"],
    ] {
        let words =
            ["ingest", "--hash", "xxh3", word(&path)].into_iter().chain(words.iter().copied());
        let output = run(words.clone());
        assert_eq!(code(&output), 0, "{output:?}");
        assert_eq!(sorted(&stdout(&output)), wanted, "{:?}", words.collect::<Vec<_>>());
    }
}

#[test]
fn checksums_come_in_the_order_of_the_paths_whatever_the_order_of_the_reads() {
    let (_folder, path) = tree_of(100);
    let mut paths = paths_below(&path);
    paths.reverse();
    let list: Vec<u8> =
        paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\n"].concat()).collect();
    for order in ["given", "path", "inode"] {
        let words = ["ingest", "--hash", "xxh3", "--list", "-", "--order", order];
        let text = stdout(&run_with_input(&words, &list));
        let named: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
        let wanted: Vec<&str> = paths.iter().map(|path| word(path)).collect();
        assert_eq!(named, wanted, "{order}");
    }
}

#[test]
fn a_list_may_hold_any_name_and_lines_stay_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let odd = folder.path().join(OsStr::from_bytes(b"a\n\xff\\b"));
    std::fs::write(&odd, "x").expect("written");
    let list = [odd.as_os_str().as_bytes(), b"\0"].concat();
    let words = ["ingest", "--hash", "xxh3", "--list", "-", "-0"];
    let output = run_with_input(&words, &list);
    assert_eq!(code(&output), 0, "{output:?}");
    let sum =
        run([OsStr::new("sum"), OsStr::new("--hash"), OsStr::new("xxh3"), odd.as_os_str()]);
    assert_eq!(output.stdout, sum.stdout);
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
    let json =
        run_with_input(&["ingest", "--json", "--hash", "xxh3", "--list", "-", "-0"], &list);
    let first = String::from_utf8(json.stdout).expect("JSON is UTF-8");
    let first: Value = serde_json::from_str(first.lines().next().unwrap_or("")).expect("JSON");
    assert!(
        first["path_hex"].as_str().is_some_and(|hex| hex.ends_with("610aff5c62")),
        "{first}"
    );
    let empty = run_with_input(&words, b"");
    assert_eq!((code(&empty), stdout(&empty).as_str()), (0, ""));
    let zero = run_with_input(&["ingest", "--list", "-"], b"a\0b\n");
    assert_eq!(code(&zero), 2, "{zero:?}");
}

#[test]
fn a_pattern_finds_its_files() {
    let (_folder, path) = tree_of(30);
    std::fs::write(path.join("note.md"), "text").expect("written");
    let pattern = format!("{}/**/*.md", word(&path));
    let output = run(["ingest", "--json", "--glob", &pattern]);
    let value = parsed(&stdout(&output));
    assert_eq!((&value["files"], &value["bytes"]), (&1.into(), &4.into()), "{value}");
    let nothing = run(["ingest", "--json", "--glob", &format!("{}/*.none", word(&path))]);
    assert_eq!((code(&nothing), stdout(&nothing).as_str()), (2, ""), "{nothing:?}");
    let wanted = "/*.none: no file matches; try: check the pattern and the folder";
    assert!(stderr(&nothing).contains(wanted), "{nothing:?}");
    for flag in [&["--hash", "xxh3"][..], &["--on-error", "skip"]] {
        let words = [&["ingest", "--glob", "/dev/null/x*", "--glob", "*.none"], flag].concat();
        assert_eq!(code(&run(words)), 2, "{flag:?}");
    }
    // An empty folder has no files, which is not a mistake.
    let empty = tempfile::tempdir().expect("a folder");
    assert_eq!(code(&run(["ingest", word(empty.path())])), 0);
}

#[test]
fn hidden_files_count_and_links_do_as_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir(path.join(".hidden")).expect("made");
    std::fs::write(path.join(".hidden/.file"), "12345").expect("written");
    std::fs::write(path.join("target"), "123").expect("written");
    symlink("target", path.join("link")).expect("linked");
    let bytes = |words: &[&str]| {
        let words = ["ingest", "--json", word(path)].into_iter().chain(words.iter().copied());
        let value = parsed(&stdout(&run(words)));
        (value["files"].as_u64(), value["bytes"].as_u64())
    };
    assert_eq!(bytes(&["--symlinks", "skip"]), (Some(2), Some(8)));
    assert_eq!(bytes(&[]), (Some(3), Some(11)));
    symlink(".hidden", path.join("folder")).expect("linked");
    assert_eq!(bytes(&["--symlinks", "files"]), (Some(3), Some(11)));
    assert_eq!(bytes(&["--symlinks", "follow"]), (Some(4), Some(16)));
}

#[test]
fn a_file_that_fails_is_2_1_or_told_at_the_end_as_asked_for() {
    let (_folder, path) = tree_of(20);
    let (gone, gone_too) = (path.join("gone"), path.join("gone too"));
    let ingest = |words: &[&str]| {
        let paths = [word(&gone), word(&path), word(&gone_too)];
        run(["ingest"].into_iter().chain(words.iter().copied()).chain(paths))
    };
    let fail = ingest(&["--on-error", "fail"]);
    assert_eq!(code(&fail), 2, "{fail:?}");
    assert!(stderr(&fail).contains("gone: No such file") && stderr(&fail).contains("; try: "));
    let kept = ingest(&["--on-error", "fail", "--keep"]);
    assert_eq!((code(&kept), stderr(&kept)), (2, stderr(&fail)));
    for (what, failed, skipped) in [("skip", 0, 2), ("collect", 2, 0)] {
        let output = ingest(&["--on-error", what, "--json"]);
        let kept = ingest(&["--on-error", what, "--json", "--keep"]);
        assert_eq!((code(&kept), stderr(&kept)), (1, stderr(&output)));
        assert_eq!(code(&output), 1, "{output:?}");
        let value = parsed(&stdout(&output));
        let lost = (&value["files"], &value["failed"], &value["skipped"]);
        assert_eq!(lost, (&20.into(), &failed.into(), &skipped.into()), "{value}");
        let hashes = ingest(&["--on-error", what, "--hash", "xxh3"]);
        assert_eq!((code(&hashes), stdout(&hashes).lines().count()), (1, 20), "{hashes:?}");
        for text in [stderr(&output), stderr(&hashes)] {
            let is_told =
                text.contains("gone: No such file") && text.contains("gone too: No such");
            assert_eq!(is_told, what == "collect", "{text}");
        }
    }
    let text = ingest(&["--on-error", "skip"]);
    let wanted = "of 22 files, 20 were read, 0 failed, 2 skipped";
    assert!(stdout(&text).contains(wanted), "{text:?}");
    let none = run(["ingest", "--on-error", "collect", "/nonexistent/a", "/nonexistent/b"]);
    assert_eq!(code(&none), 2, "{none:?}");
}

#[test]
fn text_that_is_no_utf_8_names_file_and_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("good"), "gut, schön").expect("written");
    let bad = [&[b'x'; 1234][..], b"\xff", b"rest"].concat();
    std::fs::write(folder.path().join("bad"), bad).expect("written");
    let output = run(["ingest", "--text", word(folder.path())]);
    assert_eq!(code(&output), 2, "{output:?}");
    let text = stderr(&output);
    assert!(text.contains("/bad") && text.contains("1234"), "{text}");
    let bytes = run(["ingest", word(folder.path())]);
    assert_eq!(code(&bytes), 0, "{bytes:?}");
}

#[test]
fn files_that_the_kernel_makes_are_read_whole() {
    let output = run(["ingest", "--hash", "xxh3", "/proc/version"]);
    assert_eq!(stdout(&output), stdout(&run(["sum", "--hash", "xxh3", "/proc/version"])));
}

#[test]
fn few_descriptors_are_enough() {
    let (_folder, path) = tree_of(2500);
    let wanted = sums(&paths_below(&path));
    let line = r#"ulimit -n 32; exec "$0" ingest --workers 8 --hash xxh3 "$1""#;
    let output = shell(line, &[path.as_os_str()]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert_eq!(sorted(&stdout(&output)), wanted);
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let (_folder, path) = tree_of(1000);
    let mut command = swath();
    command.args(["ingest", "--hash", "xxh3"]).arg(&path);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{output:?}");
}

#[test]
fn an_empty_folder_is_nothing_and_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(["ingest", word(folder.path())]);
    assert_eq!(code(&output), 0, "{output:?}");
    assert!(stdout(&output).contains("0 files"), "{output:?}");
}
