//! Files that change, and files that claim more than they contain.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use swath::ReadOptions;
use swath_formats::FormatReason;
use swath_formats::safetensors::{TensorOptions, TensorOrder};

use super::{in_order, tensor};

/// Two shards that were written an hour ago.
fn two_shards() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["a", "b"].map(|name| {
        let path = folder.path().join(name);
        let tensors = [tensor(name, "U8", &[100_000], 1)];
        std::fs::write(&path, in_order(&tensors)).expect("written");
        let file = File::options().write(true).open(&path).expect("there");
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("set");
        path
    });
    (folder, paths.to_vec())
}

#[test]
fn a_shard_that_changes_after_its_header_was_read_is_an_error() {
    let (_folder, paths) = two_shards();
    let (second, is_done) = (paths[1].clone(), AtomicBool::new(false));
    // Called by the read of the first shard, before that of the second begins.
    let read = ReadOptions::new().with_workers(1).with_progress(move |_| {
        if !is_done.swap(true, Ordering::Relaxed) {
            let file = File::options().write(true).open(&second).expect("there");
            file.write_all_at(b"x", 200).expect("written");
        }
    });
    let options = TensorOptions::new().with_read(read);
    let error = options.read(&paths).expect_err("it changed");
    assert_eq!((error.reason(), error.path()), (FormatReason::Library, &*paths[1]), "{error}");
    assert!(error.to_string().contains("written to or replaced while it was read"), "{error}");
}

#[test]
fn a_name_that_is_given_to_another_file_changes_nothing() {
    let (folder, paths) = two_shards();
    let (first, second) = (paths[0].clone(), paths[1].clone());
    let other = folder.path().join("other");
    std::fs::write(&other, b"no tensors").expect("written");
    let read = ReadOptions::new().with_workers(1).with_progress(move |_| {
        // Another file, and this call has another read to make.
        let _ = std::fs::rename(&other, &second);
    });
    let options = TensorOptions::new().with_read(read);
    let before = std::fs::read(&paths[1]).expect("there");
    // Renaming a file changes its `ctime`: the same bytes, or an error that says so.
    match options.read([&first, &paths[1]]) {
        Ok(tensors) => assert!(before.ends_with(tensors.get("b").expect("there").bytes)),
        Err(error) => assert_eq!(error.path(), paths[1], "{error}"),
    }
    assert_eq!(std::fs::read(&paths[1]).expect("there"), b"no tensors");
}

/// A sparse file with a valid header: `len` bytes after a first tensor of one byte.
fn sparse(path: &Path, dtype: &str, len: u64) -> bool {
    let count = len / if dtype == "F64" { 8 } else { 1 };
    let header = format!(
        r#"{{"a":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}},"b":{{"dtype":"{dtype}","shape":[{count}],"data_offsets":[1,{}]}}}}"#,
        len + 1
    );
    std::fs::write(path, super::file(&header, b"")).expect("written");
    let file = File::options().write(true).open(path).expect("there");
    file.set_len(8 + header.len() as u64 + len + 1).is_ok()
}

#[test]
fn more_than_there_is_memory_for_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sparse");
    for dtype in ["U8", "F64"] {
        if !sparse(&path, dtype, 1 << 42) {
            println!("skipped: this file system has no files of 4 TiB");
            return;
        }
        let out_of_memory = |error: swath_formats::Error| {
            let reason = error.library().map(swath::Error::reason);
            assert_eq!(reason, Some(swath::Reason::OutOfMemory), "{error}");
        };
        let options = TensorOptions::new();
        out_of_memory(options.read([&path]).expect_err("too much"));
        out_of_memory(options.stream([&path], &TensorOrder::File).expect_err("too much"));
        // The little that is requested is there.
        let read = options.with_names(["a"]).read([&path]).expect("a byte");
        assert_eq!(read.get("a").expect("there").bytes, [0]);
    }
}
