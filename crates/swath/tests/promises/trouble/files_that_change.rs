//! Files that are truncated, grow or are replaced while they are read: an error with path and
//! extent, never a signal, never silently short data.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use swath::reading::Growth;
use swath::{Engine, PageCache, Progress, ReadOptions, Reason};

use crate::trouble::inputs::file;

const LEN: usize = 24 << 20;

/// Does `change` once, in the middle of the read: when progress is first reported.
fn in_the_middle(
    options: &ReadOptions,
    path: &Path,
    change: impl Fn(&Path) + Send + Sync + 'static,
) -> ReadOptions {
    let (done, path) = (AtomicBool::new(false), path.to_owned());
    options.clone().with_progress(move |_: Progress| {
        if !done.swap(true, Ordering::SeqCst) {
            change(&path);
        }
    })
}

fn ways() -> Vec<ReadOptions> {
    let mut ways = Vec::new();
    for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring] {
        for page_cache in [PageCache::Keep, PageCache::Drop, PageCache::Bypass] {
            let options = ReadOptions::new().with_engine(engine).with_page_cache(page_cache);
            ways.push(options);
        }
    }
    ways
}

fn truncate(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.set_len(5000).expect("shorter");
}

fn append(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).expect("it is there");
    file.write_all(b"more").expect("room");
}

fn replace(path: &Path) {
    let new = path.with_extension("new");
    std::fs::write(&new, vec![9; LEN]).expect("room");
    std::fs::rename(&new, path).expect("same folder");
}

fn overwrite(path: &Path) {
    let mut file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all(b"other").expect("room");
}

#[test]
fn a_file_that_is_truncated_while_it_is_read_is_an_error_in_every_way() {
    for options in ways() {
        let file = file(LEN);
        let options = in_the_middle(&options, file.path(), truncate);
        let error = options.read(file.path()).expect_err("truncated");
        let reason = error.reason();
        assert!(matches!(reason, Reason::Truncated | Reason::Changed), "{error} {options:?}");
        assert!(error.extent().is_some() && error.path() == file.path());
    }
}

#[test]
fn growth_is_an_error_unless_the_first_length_is_followed() {
    for options in ways() {
        let file = file(LEN);
        let strict = in_the_middle(&options, file.path(), append);
        let error = strict.read(file.path()).expect_err("it grew");
        assert_eq!(error.reason(), Reason::Changed);
        assert!(error.to_string().contains(&format!("from {LEN} to {}", LEN + 4)), "{error}");
        let following = options.with_growth(Growth::Ignored);
        let following = in_the_middle(&following, file.path(), append);
        let loaded = following.read(file.path()).expect("the first length");
        assert_eq!(loaded.buffer.len(), LEN + 4);
        assert!(loaded.buffer[..LEN].iter().all(|&byte| byte == 7));
    }
}

#[test]
fn a_file_that_is_overwritten_or_replaced_is_an_error() {
    for change in [overwrite, replace] {
        let file = file(LEN);
        let options = in_the_middle(&ReadOptions::new(), file.path(), change);
        for error in [
            options.read(file.path()).expect_err("changed"),
            in_the_middle(&ReadOptions::new(), file.path(), change)
                .sum(file.path())
                .expect_err("changed"),
        ] {
            assert_eq!(error.reason(), Reason::Changed, "{error}");
        }
    }
}

#[test]
fn a_reader_says_at_the_latest_at_the_end_that_the_file_changed() {
    for change in [truncate, append, overwrite] {
        let file = file(LEN);
        let mut reader = swath::reader(file.path()).expect("opens");
        reader.read_exact(&mut [0; 100]).expect("the beginning");
        change(file.path());
        let mut rest = Vec::new();
        let error = reader.read_to_end(&mut rest).expect_err("it changed");
        let error = error.into_inner().expect("typed").downcast::<swath::Error>();
        let reason = error.expect("of our type").reason();
        assert!(matches!(reason, Reason::Truncated | Reason::Changed));
    }
}

#[test]
fn a_file_that_somebody_keeps_rewriting_gives_its_bytes_or_an_error() {
    let file = file(LEN);
    let (path, stop) = (file.path().to_owned(), Arc::new(AtomicBool::new(false)));
    let writer = {
        let (path, stop) = (path.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                let file = File::create(&path).expect("truncated to nothing");
                (&file).write_all(&vec![7; LEN / 4]).expect("room");
            }
        })
    };
    let mut errors = 0;
    for round in 0.. {
        // Every way several times, and until one of them has met the writer.
        if round >= 60 && (errors > 0 || round == 20_000) {
            break;
        }
        let options = ways().swap_remove(round % 12);
        match options.read(&path) {
            Ok(loaded) => {
                assert!(loaded.buffer.len() <= LEN);
                assert!(loaded.buffer.iter().all(|&byte| byte == 7), "torn data");
            }
            Err(error) => {
                let reason = error.reason();
                assert!(matches!(reason, Reason::Truncated | Reason::Changed), "{error:?}");
                errors += 1;
            }
        }
    }
    stop.store(true, Ordering::SeqCst);
    writer.join().expect("the writer writes");
    assert!(errors > 0, "no round met the writer: the test shows nothing");
}

#[test]
fn following_the_first_length_still_refuses_a_rewrite_of_the_same_length() {
    let file = file(LEN);
    let following = ReadOptions::new().with_growth(Growth::Ignored);
    let options = in_the_middle(&following, file.path(), overwrite);
    assert_eq!(options.read(file.path()).expect_err("rewritten").reason(), Reason::Changed);
}

#[test]
fn a_reader_checks_before_it_hands_out_the_last_bytes_and_after_every_seek() {
    let file = file(LEN);
    let mut reader = swath::reader(file.path()).expect("opens");
    std::io::copy(&mut reader, &mut std::io::sink()).expect("unchanged");
    overwrite(file.path());
    std::io::Seek::rewind(&mut reader).expect("seek");
    std::io::copy(&mut reader, &mut std::io::sink()).expect_err("changed since it was opened");

    let mut reader = swath::reader(file.path()).expect("opens");
    reader.read_exact(&mut [0; 100]).expect("the beginning");
    std::thread::sleep(Duration::from_millis(20));
    overwrite(file.path());
    let mut rest = vec![0; LEN - 100];
    reader.read_exact(&mut rest).expect_err("changed, and nothing is read past the end");
}
