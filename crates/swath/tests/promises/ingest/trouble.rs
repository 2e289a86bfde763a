//! Files that vanish, change, are not files; what the policies do with them, and their totals.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use swath::ingest::{Content, Failures, Files, IngestOptions};
use swath::{CancelToken, Extent, Operation, ReadOptions, Reason};
use swath_reference::battery::BatterySize;
use swath_reference::ingest::{first_not_utf8, read_all};

use crate::ingest::trees::{folder, plant};

fn mkfifo(path: &Path) -> bool {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    let made = made.is_ok_and(|status| status.success());
    if !made {
        swath_reference::skip("mkfifo", "no such command");
    }
    made
}

/// Good and bad files alternating, one of each kind.
fn mixed(folder: &Path) -> Vec<PathBuf> {
    let mut paths = plant(folder, 31, 60);
    paths.insert(7, folder.join("missing"));
    paths.insert(20, folder.to_owned());
    paths.insert(40, PathBuf::new());
    let fifo = folder.join("fifo");
    if mkfifo(&fifo) {
        paths.insert(50, fifo);
    }
    paths
}

#[test]
fn the_policies_fail_skip_or_collect_with_exact_totals() {
    let folder = folder();
    let paths = mixed(folder.path());
    let bad_count = paths.len() as u64 - 60;
    for workers in [1, 2, 8] {
        let options = IngestOptions::new().with_read(ReadOptions::new().with_workers(workers));
        let error = options.ingest(paths.clone()).expect_err("some are missing");
        assert_eq!(error.path(), folder.path().join("missing"), "the first of them");
        let kept = options.clone().with_failures(Failures::Collect);
        let kept = kept.ingest(paths.clone()).expect("collected");
        let report = kept.report();
        assert_eq!((report.files, report.failed, report.skipped), (60, bad_count, 0));
        for (entry, (path, expected)) in kept.iter().zip(read_some(&paths)) {
            assert_eq!(entry.path, path);
            match expected {
                Some(bytes) => assert!(entry.error.is_none() && entry.bytes == bytes),
                None => {
                    let error = entry.error.expect("it cannot be read");
                    assert_eq!((error.path(), entry.len), (path.as_path(), 0));
                }
            }
        }
        let skipped = options.with_failures(Failures::Skip).ingest(paths.clone());
        let skipped = skipped.expect("left out");
        let report = skipped.report();
        assert_eq!((report.files, report.failed, report.skipped), (60, 0, bad_count));
        assert_eq!(skipped.len(), 60);
        let good =
            read_some(&paths).into_iter().filter_map(|(path, bytes)| Some((path, bytes?)));
        for (entry, (path, bytes)) in skipped.iter().zip(good) {
            assert!(entry.path == path && entry.bytes == bytes);
        }
    }
}

#[test]
fn the_first_failure_in_input_order_is_told_whichever_comes_first() {
    let folder = folder();
    let good = plant(folder.path(), 33, 400);
    for round in 0..60 {
        let mut paths = good.clone();
        // A name that was never looked up takes longer than those that are known to be wrong.
        let first = folder.path().join(format!("never looked for {round}"));
        paths.insert(10, first.clone());
        for place in [11, 40, 75, 300] {
            paths.insert(place, folder.path().to_owned());
        }
        let options =
            IngestOptions::new().with_read(ReadOptions::new().with_workers(1 + round % 8));
        let error = options.ingest(paths.clone()).expect_err("five of them");
        assert_eq!(error.path(), first, "round {round}: {error}");
        let mut came = 0;
        let error = options
            .stream(paths, |part| {
                assert!(part.error.is_none());
                came += usize::from(part.is_last);
                Ok::<(), swath::Error>(())
            })
            .expect_err("five of them");
        assert_eq!((error.path(), came), (first.as_path(), 10), "round {round}: {error}");
    }
}

/// As `read_all`, but no pipe is opened: that would wait for its other end.
fn read_some(paths: &[PathBuf]) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let read = |path: &PathBuf| {
        let bytes = path.is_file().then(|| read_all(std::slice::from_ref(path)).remove(0).1);
        (path.clone(), bytes.and_then(Result::ok))
    };
    paths.iter().map(read).collect()
}

#[test]
fn each_kind_of_trouble_has_an_error_that_says_what_it_is() {
    let folder = folder();
    let fails = |path: &Path| {
        let error = swath::ingest(Files::paths([path])).expect_err("no file");
        assert_eq!(error.path(), path);
        error
    };
    let missing = fails(&folder.path().join("missing"));
    assert_eq!((missing.operation(), missing.raw_os_error()), (Operation::Open, Some(2)));
    let no_file = fails(folder.path());
    assert_eq!((no_file.operation(), no_file.raw_os_error()), (Operation::Read, Some(21)));
    let fifo = folder.path().join("fifo");
    if mkfifo(&fifo) {
        let pipe = fails(&fifo);
        assert!(pipe.to_string().contains("a pipe"), "{pipe}");
    }
    let device = fails(Path::new("/dev/zero"));
    assert!(device.to_string().contains("a device"), "{device}");
    let link = folder.path().join("loop");
    std::os::unix::fs::symlink("loop", &link).expect("room");
    assert_eq!(fails(&link).raw_os_error(), Some(40));
    let closed = folder.path().join("closed");
    fs::write(&closed, "secret").expect("room");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o0))
        .expect("ours");
    if fs::read(&closed).is_err() {
        assert_eq!(fails(&closed).raw_os_error(), Some(13));
    } else {
        swath_reference::skip("no-root", "root may read everything");
    }
}

#[test]
fn files_of_the_kernel_are_read_whatever_length_they_claim() {
    let paths = ["/proc/self/mountinfo", "/proc/cpuinfo", "/proc/sys/kernel/ostype"];
    let ingested = swath::ingest(Files::paths(paths)).expect("read");
    for entry in ingested.iter() {
        assert!(!entry.bytes.is_empty(), "{:?}", entry.path);
    }
    assert_eq!(ingested.get(2).expect("the third").bytes, b"Linux\n");
}

/// Files are truncated and rewritten while they are read: the result is the file as it was at
/// one moment, so first what was written and then what was there before, or an error.
#[test]
fn files_that_change_give_their_bytes_or_an_error() {
    let folder = folder();
    for len in [3_000, 200_000, 3 << 20] {
        let paths: Vec<_> = (0..4).map(|n| folder.path().join(format!("{len}-{n}"))).collect();
        for path in &paths {
            fs::write(path, vec![b'a'; len]).expect("room");
        }
        let stop = Arc::new(AtomicBool::new(false));
        let writer = {
            let (paths, stop) = (paths.clone(), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    for path in &paths {
                        let file = OpenOptions::new().write(true).open(path).expect("there");
                        file.set_len(len as u64 / 3).expect("shorter");
                        (&file).write_all(&vec![b'b'; len / 2]).expect("room");
                    }
                }
            })
        };
        let options = IngestOptions::new().with_failures(Failures::Collect);
        let (mut errors, enough) = (0, BatterySize { slice: 5, full: 100 }.count());
        for round in 0..100_000 {
            // Until some of them have met the writer.
            if errors > enough || (errors > 0 && round >= 2000) {
                break;
            }
            let ingested = options.ingest(paths.clone()).expect("collected");
            for entry in ingested.iter() {
                match entry.error {
                    Some(error) => {
                        let reason = error.reason();
                        assert!(
                            matches!(reason, Reason::Changed | Reason::Truncated),
                            "{error:?}"
                        );
                        errors += 1;
                    }
                    None => {
                        // A write in progress is seen up to where it is.
                        let written =
                            entry.bytes.iter().take_while(|&&byte| byte == b'b').count();
                        let before = &entry.bytes[written..];
                        let other = before.iter().find(|&&byte| byte != b'a');
                        assert_eq!(other, None, "torn: after {written} of {len} bytes");
                        assert!(entry.bytes.len() <= len);
                    }
                }
            }
        }
        stop.store(true, Ordering::SeqCst);
        writer.join().expect("the writer writes");
        assert!(errors > 0, "no round met the writer: the test shows nothing");
    }
}

#[test]
fn text_that_is_none_is_an_error_with_its_byte() {
    let folder = folder();
    let mut paths = Vec::new();
    let mut next = swath_reference::splitmix(41);
    for index in 0..80_usize {
        let len = [10, 5_000, 70_000, (1 << 20) + 50][index % 4];
        let mut bytes: Vec<u8> = "aé€𝄞\n".bytes().cycle().take(len).collect();
        while std::str::from_utf8(&bytes).is_err() {
            bytes.pop();
        }
        if index % 3 == 0 {
            let at = usize::try_from(next() % bytes.len() as u64).expect("below");
            bytes[at] = 0xff;
        }
        let path = folder.path().join(index.to_string());
        fs::write(&path, &bytes).expect("room");
        paths.push(path);
    }
    let options = IngestOptions::new()
        .with_content(Content::Text)
        .with_failures(Failures::Collect)
        .with_part_size(65_536);
    let ingested = options.ingest(paths.clone()).expect("collected");
    for (entry, (path, bytes)) in ingested.iter().zip(read_all(&paths)) {
        let bytes = bytes.expect("there");
        match first_not_utf8(&bytes) {
            None => assert!(entry.error.is_none() && entry.bytes == bytes, "{path:?}"),
            Some(at) => {
                let error = entry.error.expect("no text");
                assert_eq!(error.reason(), Reason::Corrupt);
                assert_eq!(error.extent(), Extent::new(at as u64, 1), "{path:?}");
            }
        }
    }
}

#[test]
fn a_cancelled_ingest_says_so_and_one_that_is_cancelled_midway_ends() {
    let folder = folder();
    let paths = plant(folder.path(), 51, 300);
    let token = CancelToken::new();
    token.cancel();
    let options = IngestOptions::new().with_read(ReadOptions::new().with_cancel(token));
    let error = options.ingest(paths.clone()).expect_err("cancelled");
    assert_eq!(error.reason(), Reason::Cancelled);
    let error = options.ingest(folder.path()).expect_err("cancelled in the walk");
    assert_eq!(error.reason(), Reason::Cancelled);

    let token = CancelToken::new();
    let inner = token.clone();
    let options = IngestOptions::new().with_read(
        ReadOptions::new().with_cancel(token).with_progress(move |_| inner.cancel()),
    );
    let error = options.ingest(paths).expect_err("cancelled by the first progress");
    assert_eq!(error.reason(), Reason::Cancelled);
}
