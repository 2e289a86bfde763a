//! `write` and `create`: each size × chunk size × worker count writes all the bytes under the
//! name, and no other file remains.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use swath::sink::Durability;
use swath::{CancelToken, Extent, Fallback, Operation, OutputOptions, Reason, WriteOptions};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("listed");
        entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect()
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from(index * 31 % 251).expect("below 251")).collect()
}

#[test]
fn every_size_chunk_and_worker_count_gives_the_bytes() {
    let place = Place::new();
    let path = place.path("out");
    for len in [0, 1, 2, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 3_000_000] {
        let bytes = bytes(len);
        for chunk_size in [0, 1 + len / 7, 4096, 1 << 30] {
            for workers in [0, 1, 2, 7] {
                let options = WriteOptions::new()
                    .with_output(
                        OutputOptions::new()
                            .with_durability(Durability::None)
                            .with_workers(workers),
                    )
                    .with_chunk_size(chunk_size as u64);
                let written = options.write(&path, &bytes).expect("written");
                assert_eq!(written.bytes, len as u64);
                assert!(written.workers >= 1 && written.workers <= 7);
                assert!(
                    fs::read(&path).expect("there") == bytes,
                    "{len} {chunk_size} {workers}"
                );
            }
        }
    }
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn a_large_buffer_is_written_by_several_workers_and_durably() {
    let place = Place::new();
    let bytes = bytes(40 << 20);
    let seen = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&seen);
    let alone = WriteOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .write(place.path("out"), &bytes);
    // A local file system lets one thread at a time write to a file.
    assert_eq!(alone.expect("written").workers, 1);
    let options = WriteOptions::new().with_output(
        OutputOptions::new().with_workers(3).with_progress(move |progress| {
            assert_eq!(progress.total, Some(40 << 20));
            counted.fetch_max(progress.bytes, Ordering::SeqCst);
        }),
    );
    let written = options.write(place.path("out"), &bytes).expect("written");
    assert_eq!((written.workers, seen.load(Ordering::SeqCst)), (3, 40 << 20));
    assert!(fs::read(place.path("out")).expect("there") == bytes);
}

#[test]
fn too_many_workers_are_fewer_and_it_is_said() {
    let place = Place::new();
    let options = WriteOptions::new()
        .with_output(OutputOptions::new().with_workers(5000).with_durability(Durability::None))
        .with_chunk_size(1);
    let written = options.write(place.path("out"), [1; 3]);
    let written = written.expect("written");
    assert_eq!(written.workers, 3);
    let too_many = Fallback::TooMany { what: "workers", asked: 5000, used: 1024 };
    assert_eq!(written.fallbacks, [too_many]);
}

#[test]
fn parts_are_written_one_behind_the_other() {
    let place = Place::new();
    let path = place.path("out");
    let bytes = bytes(2_000_000);
    for lens in [&[0, 0][..], &[8, 0, 100], &[8, 700_000, 1, 1_200_000], &[999; 2000]] {
        let mut rest = &bytes[..];
        let cut = |&len: &usize| {
            let (part, after) = rest.split_at(len);
            rest = after;
            part
        };
        let parts: Vec<&[u8]> = lens.iter().map(cut).collect();
        for (chunk_size, workers) in [(0, 0), (4096, 3), (1 << 20, 2), (999, 1)] {
            let last = Arc::new(AtomicU64::new(0));
            let told = Arc::clone(&last);
            let options = WriteOptions::new()
                .with_output(
                    OutputOptions::new()
                        .with_durability(Durability::None)
                        .with_workers(workers)
                        .with_progress(move |progress| {
                            told.fetch_max(progress.bytes, Ordering::Relaxed);
                        }),
                )
                .with_chunk_size(chunk_size);
            let written = options.write_parts(&path, &parts).expect("written");
            let all = parts.concat();
            assert_eq!(
                (written.bytes, last.load(Ordering::Relaxed)),
                (all.len() as u64, written.bytes)
            );
            assert!(fs::read(&path).expect("there") == all, "{lens:?} {chunk_size} {workers}");
        }
    }
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn a_cancelled_write_leaves_the_old_file() {
    let place = Place::new();
    swath::write(place.path("out"), b"old").expect("written");
    let token = CancelToken::new();
    let at_once = token.clone();
    let options = WriteOptions::new().with_chunk_size(4096).with_output(
        OutputOptions::new().with_progress(move |_| at_once.cancel()).with_cancel(token),
    );
    let error = options.write(place.path("out"), bytes(1 << 20)).expect_err("cancelled");
    assert_eq!((error.reason(), error.operation()), (Reason::Cancelled, Operation::Write));
    assert_eq!(fs::read(place.path("out")).expect("there"), b"old");
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn a_panic_of_the_progress_callback_leaves_nothing() {
    let place = Place::new();
    let path = place.path("out");
    let write = || {
        let output = OutputOptions::new().with_workers(2);
        let output = output.with_progress(|_| panic!("by the caller"));
        let options = WriteOptions::new().with_output(output).with_chunk_size(4096);
        let _ = options.write(&path, bytes(1 << 20));
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).expect_err("it panics");
    assert!(place.names().is_empty());
}

#[test]
fn many_threads_write_where_they_like() {
    let place = Place::new();
    let path = place.path("out");
    let wanted = bytes(1 << 20);
    let out = WriteOptions::new().create(&path, 1 << 20).expect("created");
    assert_eq!((out.len(), out.is_empty()), (1 << 20, false));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (out, wanted) = (&out, &wanted);
            scope.spawn(move || {
                for (index, piece) in wanted.chunks(1000).enumerate().rev() {
                    if index % 4 == thread {
                        out.write_at(piece, index as u64 * 1000).expect("written");
                    }
                }
            });
        }
    });
    assert!(!path.exists());
    out.commit().expect("committed");
    assert!(fs::read(&path).expect("there") == wanted);
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn progress_of_writes_by_position_is_told_chunk_by_chunk() {
    let place = Place::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let options = WriteOptions::new().with_chunk_size(1000).with_output(
        OutputOptions::new()
            .with_progress(move |progress| notes.lock().expect("quick").push(progress)),
    );
    let out = options.create(place.path("out"), 2500).expect("created");
    let wanted = bytes(2500);
    out.write_at(&wanted, 0).expect("written");
    out.write_at(b"", 7).expect("nothing to write");
    out.commit().expect("committed");
    assert!(fs::read(place.path("out")).expect("there") == wanted);
    let seen = seen.lock().expect("quick");
    assert_eq!(seen.iter().map(|told| told.bytes).collect::<Vec<_>>(), [1000, 2000, 2500]);
    assert!(seen.iter().all(|told| told.total == Some(2500)));
}

#[test]
fn a_cancelled_file_is_neither_written_by_position_nor_committed() {
    let place = Place::new();
    fs::write(place.path("out"), b"old").expect("room on disk");
    let token = CancelToken::new();
    let options = WriteOptions::new()
        .with_output(OutputOptions::new().with_cancel(token.clone()))
        .with_chunk_size(100);
    // Cancelled before a write, between two chunks of one, and only before the commit.
    let between = token.child();
    let also = between.clone();
    let output = OutputOptions::new().with_cancel(between);
    let ended = options.clone().with_output(output.with_progress(move |_| also.cancel()));
    let ended = ended.create(place.path("out"), 1000).expect("created");
    let error = ended.write_at(&bytes(1000), 0).expect_err("cancelled");
    assert_eq!((error.reason(), error.extent()), (Reason::Cancelled, Extent::new(100, 100)));
    assert_eq!(ended.commit().expect_err("cancelled").reason(), Reason::Cancelled);
    let written = options.create(place.path("out"), 10).expect("created");
    written.write_at(&bytes(10), 0).expect("not cancelled yet");
    let begun = options.create(place.path("other"), 10).expect("created");
    token.cancel();
    let error = begun.write_at(b"no", 0).expect_err("cancelled");
    assert_eq!((error.reason(), error.operation()), (Reason::Cancelled, Operation::Write));
    for out in [written, begun] {
        let error = out.commit().expect_err("cancelled");
        assert_eq!((error.reason(), error.operation()), (Reason::Cancelled, Operation::Commit));
    }
    assert_eq!(fs::read(place.path("out")).expect("there"), b"old");
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn a_panic_of_progress_by_position_poisons_the_file() {
    let place = Place::new();
    let options = WriteOptions::new()
        .with_output(OutputOptions::new().with_progress(|_| panic!("by the caller")));
    let out = options.create(place.path("out"), 10).expect("created");
    let write = std::panic::AssertUnwindSafe(|| out.write_at(b"bytes", 0));
    std::panic::catch_unwind(write).expect_err("it panics");
    assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
    assert!(place.names().is_empty());
}

#[test]
fn what_nobody_writes_is_zero() {
    let place = Place::new();
    let out = WriteOptions::new().create(place.path("out"), 10).expect("created");
    out.write_at(b"ab", 3).expect("written");
    out.write_at(b"", 10).expect("nothing at the end");
    out.commit().expect("committed");
    assert_eq!(fs::read(place.path("out")).expect("there"), b"\0\0\0ab\0\0\0\0\0");
    let empty = WriteOptions::new().create(place.path("empty"), 0).expect("created");
    empty.commit().expect("committed");
    assert_eq!(fs::read(place.path("empty")).expect("there"), b"");
}

#[test]
fn a_write_beyond_the_length_is_an_error_and_nothing_is_committed() {
    let place = Place::new();
    for (offset, len) in [(10, 1), (9, 2), (0, 11), (u64::MAX, 1), (u64::MAX, 2)] {
        let out = WriteOptions::new().create(place.path("out"), 10).expect("created");
        let error = out.write_at(&vec![1; len], offset).expect_err("beyond");
        assert_eq!((error.reason(), error.operation()), (Reason::Invalid, Operation::Write));
        assert_eq!(out.commit().expect_err("poisoned").reason(), Reason::Poisoned);
        assert!(place.names().is_empty());
    }
}

#[test]
fn more_than_the_disk_has_is_known_before_a_byte_is_written() {
    let place = Place::new();
    match WriteOptions::new().create(place.path("out"), 1 << 50) {
        Ok(out) if !out.fallbacks().is_empty() => {
            swath_reference::skip("fallocate", format!("{:?}", out.fallbacks()));
        }
        Ok(_) => panic!("a petabyte"),
        Err(error) => {
            assert_eq!(error.extent(), Extent::new(0, 1 << 50));
            assert!(!error.what_to_try().is_empty(), "{error:?}");
        }
    }
    assert!(place.names().is_empty());
}

#[test]
fn of_two_writers_the_second_is_told_and_the_first_is_whole() {
    let place = Place::new();
    let path = place.path("out");
    let barrier = Barrier::new(2);
    let write = |byte: u8| {
        let out = WriteOptions::new().create(&path, 1 << 16);
        barrier.wait();
        let Ok(out) = out else { return Err(out.expect_err("told")) };
        out.write_at(&vec![byte; 1 << 16], 0).expect("written");
        out.commit().map(|()| byte)
    };
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| write(1));
        (write(2), other.join().expect("no panic"))
    });
    let (Ok(winner), Err(error)) = (if one.is_ok() { (one, two) } else { (two, one) }) else {
        panic!("one of them writes");
    };
    assert_eq!(error.reason(), Reason::Busy);
    assert_eq!(error.path(), path.as_path());
    assert_eq!(fs::read(&path).expect("there"), vec![winner; 1 << 16]);
    assert_eq!(place.names(), ["out"]);
}
