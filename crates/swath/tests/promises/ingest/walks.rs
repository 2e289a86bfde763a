//! Folders, links, lists, patterns.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use swath::ingest::{Failures, Files, IngestOptions, Symlinks};
use swath_reference::ingest::walk;

use crate::ingest::same::assert_same;
use crate::ingest::trees::{folder, plant};

fn names(options: &IngestOptions, files: impl Into<Files>, base: &Path) -> Vec<String> {
    let ingested = options.ingest(files).expect("read");
    let name = |path: &Path| path.strip_prefix(base).unwrap_or(path).display().to_string();
    ingested.iter().map(|entry| name(entry.path)).collect()
}

#[test]
fn a_walk_finds_what_a_serial_one_finds_in_its_order() {
    for seed in 20..24 {
        let folder = folder();
        println!("seed {seed}");
        plant(folder.path(), seed, 150);
        fs::create_dir(folder.path().join("empty")).expect("room");
        let odd = OsStr::from_bytes(b"no \xff text\n");
        fs::write(folder.path().join(odd), "odd").expect("room");
        let paths = walk(folder.path()).expect("listed");
        let ingested = swath::ingest(folder.path()).expect("read");
        assert_same(&ingested, &paths, "walk");
        assert!(ingested.report().calls.walk > 0);
    }
}

#[test]
fn many_folders_are_walked_by_several_threads_with_the_same_result() {
    let folder = folder();
    for outer in 0..40 {
        for inner in 0..5 {
            let path = folder.path().join(format!("d{outer}/e{inner}"));
            fs::create_dir_all(&path).expect("room");
            fs::write(path.join("f"), format!("{outer} {inner}")).expect("room");
        }
    }
    let paths = walk(folder.path()).expect("listed");
    assert_eq!(paths.len(), 200);
    for _ in 0..5 {
        assert_same(&swath::ingest(folder.path()).expect("read"), &paths, "walk");
    }
}

#[test]
fn links_are_left_out_read_or_followed_as_asked() {
    let folder = folder();
    let base = folder.path();
    fs::create_dir_all(base.join("real/deep")).expect("room");
    fs::write(base.join("real/deep/x"), "x").expect("room");
    fs::write(base.join("file"), "file").expect("room");
    symlink("file", base.join("link")).expect("room");
    symlink("real", base.join("way")).expect("room");
    let of = |symlinks| names(&IngestOptions::new().with_symlinks(symlinks), base, base);
    assert_eq!(of(Symlinks::Skip), ["file", "real/deep/x"]);
    assert_eq!(of(Symlinks::Files), ["file", "link", "real/deep/x"]);
    assert_eq!(of(Symlinks::Follow), ["file", "link", "real/deep/x", "way/deep/x"]);
    let report = IngestOptions::new().with_symlinks(Symlinks::Skip).ingest(base);
    assert_eq!(report.expect("read").report().left_out, 2);

    // Loops end, with an error; links to nothing are failures.
    symlink("..", base.join("real/up")).expect("room");
    symlink("nowhere", base.join("dangling")).expect("room");
    let options =
        IngestOptions::new().with_symlinks(Symlinks::Follow).with_failures(Failures::Collect);
    let ingested = options.ingest(base).expect("read");
    let errors: Vec<_> =
        ingested.iter().filter_map(|entry| entry.error?.raw_os_error()).collect();
    assert!(errors.contains(&40) && errors.contains(&2), "{errors:?}");
    assert!(ingested.len() < 20, "it ends: {}", ingested.len());
    swath::ingest(base).expect_err("a link to nothing");
}

#[test]
fn a_walk_leaves_out_what_is_no_file_and_counts_it() {
    let folder = folder();
    fs::write(folder.path().join("file"), "file").expect("room");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket"));
    let fifo = std::process::Command::new("mkfifo").arg(folder.path().join("fifo")).status();
    let expected = 1 + u64::from(fifo.is_ok_and(|status| status.success()));
    let ingested = swath::ingest(folder.path()).expect("the pipe is not opened");
    assert_eq!((ingested.len(), ingested.report().left_out), (1, expected));
}

#[test]
fn a_folder_that_cannot_be_listed_is_a_failure_of_its_own() {
    let missing = Files::folder("/no such folder");
    let error = swath::ingest(missing.clone()).expect_err("missing");
    assert_eq!((error.raw_os_error(), error.path()), (Some(2), Path::new("/no such folder/")));
    let options = IngestOptions::new().with_failures(Failures::Collect);
    let ingested = options.ingest(missing).expect("collected");
    assert_eq!((ingested.len(), ingested.report().failed), (1, 1));
}

#[test]
fn lists_and_patterns_name_files() {
    let folder = folder();
    let base = folder.path();
    for path in ["a/1.txt", "a/2.bin", "a/b/3.txt", ".h/4.txt", "5.txt"] {
        fs::create_dir_all(base.join(path).parent().expect("below")).expect("room");
        fs::write(base.join(path), path).expect("room");
    }
    let options = IngestOptions::new();
    let of = |pattern: &str| {
        names(&options, Files::glob(base.join(pattern).to_str().expect("text")), base)
    };
    assert_eq!(of("*.txt"), ["5.txt"]);
    assert_eq!(of("**/*.txt"), ["5.txt", ".h/4.txt", "a/1.txt", "a/b/3.txt"]);
    assert_eq!(of("a/[12].*"), ["a/1.txt", "a/2.bin"]);
    assert_eq!(of("a/**"), ["a/1.txt", "a/2.bin", "a/b/3.txt"]);
    assert_eq!(of("5.txt"), ["5.txt"]);
    assert!(of("nothing*").is_empty() && of("nothing").is_empty());
    let list: Vec<u8> = [base.join("5.txt"), base.join("a/1.txt")]
        .iter()
        .flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat())
        .collect();
    assert_eq!(names(&options, Files::list(list, 0), base), ["5.txt", "a/1.txt"]);
    let each: Vec<PathBuf> = vec![base.join("5.txt"), base.join("a")];
    assert_eq!(
        names(&options, Files::each(each), base),
        ["5.txt", "a/1.txt", "a/2.bin", "a/b/3.txt"]
    );
}

#[test]
fn a_list_with_carriage_returns_is_told_from_missing_files() {
    let told = |list: &[u8]| {
        let error = swath::ingest(Files::list(list.to_vec(), b'\n')).expect_err("missing");
        assert_eq!(error.raw_os_error(), Some(2));
        error.what_to_try()
    };
    assert!(told(b"/nowhere/a\r\n/nowhere/b\r\n").contains("carriage return"));
    assert!(!told(b"/nowhere/a\n/nowhere/b\n").contains("carriage return"));
}
