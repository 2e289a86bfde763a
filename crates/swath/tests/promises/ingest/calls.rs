//! System calls: few, and as counted.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use swath::ReadOptions;
use swath::ingest::{IngestOptions, OpenedBy};

use crate::ingest::trees::folder;

const FOLDER: &str = "SWATH_TEST_CALLS_FOLDER";

/// Many small files with change times old enough for one `fstat` to be proof.
fn plant_old(folder: &Path, files: usize) {
    for index in 0..files {
        fs::write(folder.join(format!("{index:05}")), vec![7; 3000]).expect("room");
    }
    // Change times cannot be set.
    std::thread::sleep(Duration::from_secs(5));
}

#[test]
fn a_file_in_the_page_cache_takes_three_calls_and_few_more() {
    // In a process of its own: other tests open files in between, and take the numbers.
    if std::env::var_os(FOLDER).is_none() {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "--exact",
                "ingest::calls::a_file_in_the_page_cache_takes_three_calls_and_few_more",
            ])
            .arg("--nocapture")
            .env(FOLDER, "")
            .output()
            .expect("started");
        swath_reference::assert_one_passed(&child);
        return;
    }
    let folder = folder();
    plant_old(folder.path(), 4000);
    swath::ingest(folder.path()).expect("into the page cache");
    let ingested = IngestOptions::new()
        .with_read(ReadOptions::new().with_workers(1))
        .ingest(folder.path())
        .expect("read");
    let report = ingested.report();
    if report.misses > 0 {
        return swath_reference::skip("page-cache", "files were dropped in between");
    }
    let calls = report.calls;
    assert!(calls.open <= 4010 && calls.read <= 4010 && calls.stat <= 4010, "{calls:?}");
    assert_eq!(report.checked_twice, 0);
    if calls.close > 4000 {
        return swath_reference::skip("close-range", "the kernel has none");
    }
    assert!(calls.close <= 400, "{calls:?}");
    assert!(report.calls_per_file() < 3.2, "{calls:?}");
}

#[test]
fn a_file_that_is_not_in_the_page_cache_is_opened_once() {
    const COUNT: u64 = 12;
    let folder = folder();
    plant_old(folder.path(), usize::try_from(COUNT).expect("small"));
    for depth in [1, 64] {
        for entry in fs::read_dir(folder.path()).expect("listed") {
            let file = fs::File::open(entry.expect("listed").path()).expect("there");
            file.sync_all().expect("durable, thus clean");
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
        let read = ReadOptions::new().with_workers(1).with_queue_depth(depth);
        let options = IngestOptions::new().with_read(read).with_opened_by(OpenedBy::Worker);
        let ingested = options.ingest(folder.path()).expect("read");
        let report = ingested.report();
        if report.misses < COUNT {
            return swath_reference::skip("page-cache", "files were not dropped");
        }
        // And the folder.
        assert!(report.calls.open <= COUNT + 2, "depth {depth}: {:?}", report.calls);
    }
}

#[test]
fn the_calls_that_are_counted_are_those_that_are_made() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let ingested = swath::ingest(Path::new(&folder)).expect("read");
        let calls = ingested.report().calls;
        println!("COUNTED {} {} {}", calls.open, calls.read, calls.ring);
        return;
    }
    let folder = folder();
    plant_old(folder.path(), 1000);
    let log = folder.path().with_extension("log");
    let traced = Command::new("strace")
        .args(["-f", "-c", "-e", "trace=openat,openat2,preadv2,pread64,io_uring_enter", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "ingest::calls::the_calls_that_are_counted_are_those_that_are_made"])
        .args(["--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .output();
    let traced = match traced {
        Ok(output) if output.status.success() => output,
        _ => return swath_reference::skip("tracing", "strace cannot run here"),
    };
    let told = String::from_utf8_lossy(&traced.stdout);
    let line = told.lines().find_map(|line| line.split_once("COUNTED ")).expect("a line").1;
    let counted: Vec<u64> =
        line.split(' ').map(|number| number.parse().expect("a number")).collect();
    let table = fs::read_to_string(&log).expect("a summary");
    let _ = fs::remove_file(&log);
    let of = |names: &[&str]| -> u64 {
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row.last().is_some_and(|name| names.contains(name)))
            .map(|row| row[3].parse::<u64>().expect("a number"))
            .sum()
    };
    // The program itself looks for its libraries, perhaps in many folders, and reads a few
    // files.
    let (opened, read) = (of(&["openat", "openat2"]), of(&["preadv2", "pread64"]));
    assert!(
        opened >= counted[0] && opened <= counted[0] + 300,
        "{opened} {counted:?}\n{table}"
    );
    assert!(read >= counted[1] && read <= counted[1] + 300, "{read} {counted:?}\n{table}");
}
