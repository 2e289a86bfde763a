//! A failed write leaves no file, and names its cause.

use std::error::Error as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use arrow_array::{RecordBatch, record_batch};
use swath::{Output, OutputOptions};
use swath_formats::table::{BatchForm, BatchWriteOptions, write_batches};
use swath_formats::{Error, FormatReason};
use swath_reference::skip;

const NAMES: [&str; 6] = ["t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.zst", "t.arrow", "t.arrows"];

fn batch() -> RecordBatch {
    record_batch!(("a", Int64, [1, 2, 3]), ("b", Utf8, ["x", "y", "z"])).expect("one")
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn an_iterator_that_fails_leaves_no_file_and_its_error_is_the_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        for (good, workers) in [(0, 1), (1, 2), (1000, 4)] {
            let path = folder.path().join(name);
            let batches = (0..).map(|at| match at {
                at if at < good => Ok(batch()),
                _ => Err(io::Error::other("the source is gone")),
            });
            let output = OutputOptions::new().with_workers(workers);
            let options = BatchWriteOptions::new().with_output(output).with_block_size(1);
            let error = options.write_batches(&path, &batch().schema(), batches);
            let error = error.expect_err("it fails");
            assert_eq!((error.reason(), error.path()), (FormatReason::Source, &*path));
            let cause = error.source().expect("a cause").to_string();
            assert_eq!(cause, "the source is gone");
            assert!(is_empty(folder.path()), "{name}");
        }
    }
}

#[test]
fn errors_of_this_library_stay_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let missing = || swath_formats::table::read_batches("/nonexistent").expect_err("not there");
    let ours: [Result<RecordBatch, Error>; 2] = [Ok(batch()), Err(missing())];
    let error = write_batches(&path, &batch().schema(), ours).expect_err("it fails");
    assert_eq!(error.to_string(), missing().to_string());
    let lower: [Result<RecordBatch, swath::Error>; 1] =
        [Err(swath::read("/nonexistent").expect_err("not there"))];
    let error = write_batches(&path, &batch().schema(), lower).expect_err("it fails");
    assert!(error.library().is_some() && is_empty(folder.path()), "{error}");
}

#[test]
fn an_iterator_that_panics_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let path = folder.path().join(name);
        let batches = (0..).map(|at| if at < 3 { batch() } else { panic!("as planned") });
        let ran = catch_unwind(AssertUnwindSafe(|| {
            write_batches(&path, &batch().schema(), batches).map(drop)
        }));
        assert!(ran.is_err() && is_empty(folder.path()), "{name}");
    }
}

#[test]
fn an_old_file_stays_if_the_new_one_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "old").expect("room");
    let failing = [Ok(batch()), Err("no more")];
    write_batches(&path, &batch().schema(), failing).expect_err("it fails");
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "old");
}

#[test]
fn batches_of_another_schema_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = record_batch!(("a", Int64, [1]), ("b", Int64, [1])).expect("one");
    let fewer = record_batch!(("a", Int64, [1])).expect("one");
    for name in NAMES {
        let path = folder.path().join(name);
        for (odd, what) in [
            (&other, "column `b` of batch 3 is of type Int64, and in the schema of type Utf8"),
            (&fewer, "batch 3 has 1 columns, and the schema 2"),
        ] {
            let batches = [&batch(), &batch(), odd];
            let error =
                write_batches(&path, &batch().schema(), batches).expect_err("it differs");
            assert_eq!(error.reason(), FormatReason::Invalid, "{error}");
            assert!(error.to_string().contains(what) && is_empty(folder.path()), "{error}");
        }
    }
}

/// Takes some bytes, and then has no room.
struct Full(usize);

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_stream_that_is_full_ends_the_call() {
    for form in [BatchForm::Csv, BatchForm::JsonLines, BatchForm::Arrow] {
        for room in [0, 1000, 100_000] {
            let output = Output::stream(Full(room), "<stdout>");
            let options = BatchWriteOptions::new().with_form(form);
            let batches = std::iter::repeat_with(batch).take(1_000_000);
            let error = options.write_batches(output, &batch().schema(), batches);
            let error = error.expect_err("no room");
            assert!(error.library().is_some(), "{error}");
        }
    }
}

/// A small file system in memory.
struct Disk(tempfile::TempDir);

impl Disk {
    fn small() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(folder)),
            Ok(output) => {
                skip("root", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skip("root", error);
                None
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_no_file() {
    let Some(disk) = Disk::small() else { return };
    for name in NAMES {
        let path = disk.0.path().join(name);
        // Random text, so that it stays long when it is compressed.
        let mut next = swath_reference::splitmix(90);
        let batches = (0..3000).map(|_| {
            let text = |_| Some(format!("{:x}{:x}", next(), next()));
            let texts: arrow_array::StringArray = (0..100).map(text).collect();
            let texts: arrow_array::ArrayRef = std::sync::Arc::new(texts);
            RecordBatch::try_from_iter([("t", texts)]).expect("one")
        });
        let batches: Vec<RecordBatch> = batches.collect();
        let error = write_batches(&path, &batches[0].schema(), &batches).expect_err("no room");
        let number = error.library().and_then(swath::Error::raw_os_error);
        assert_eq!((number, is_empty(disk.0.path())), (Some(28), true), "{name}: {error}");
    }
}
