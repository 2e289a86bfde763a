//! Tests the bytes, their places, and the refusals.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use swath::append::{self, AppendOptions, OrderedOptions};
use swath::sink::Durability;
use swath::{OutputOptions, Reason, WriteOptions};
use swath_study::cheerio::{self, Output, Writer};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Returns the names in the folder, including hidden ones.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("it is a folder");
        let mut names: Vec<String> = entries
            .map(|it| it.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

type Begin = fn(&Path) -> Output;

fn global(path: &Path) -> Output {
    cheerio::global(
        path,
        OrderedOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None)),
    )
    .expect("created")
}

fn local(path: &Path) -> Output {
    local_of(path, 4096)
}

fn local_of(path: &Path, len: u64) -> Output {
    let options =
        WriteOptions::new().with_output(OutputOptions::new().with_durability(Durability::None));
    cheerio::local(path, len, &options).expect("created")
}

fn local_files(path: &Path) -> Output {
    cheerio::local_files(
        path,
        AppendOptions::new()
            .with_output(OutputOptions::new().with_durability(Durability::None)),
    )
    .expect("created")
}

const MODES: [(&str, Begin); 3] =
    [("global", global), ("local", local), ("local-files", local_files)];

fn read_back(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    append::open(path).expect("committed").read_to_end(&mut bytes).expect("readable");
    bytes
}

/// Writes the lines from `from` on in a tree of forks.
fn lines(w: &mut Writer, from: u32, to: u32) -> io::Result<()> {
    if to - from <= 3 {
        return (from..to).try_for_each(|number| writeln!(w, "line {number}"));
    }
    let middle = from + (to - from) / 2;
    w.join(|w| lines(w, from, middle), |w| lines(w, middle, to)).map(|_| ())
}

#[test]
fn nothing_is_visible_before_the_commit_and_nothing_is_left_without_one() {
    for (mode, begin) in MODES {
        let place = Place::new();
        let out = begin(&place.path()).with_buffer_size(8);
        let mut w = out.writer();
        lines(&mut w, 0, 100).expect("written");
        assert!(!place.path().exists(), "{mode}");
        drop((w, out));
        assert_eq!(place.names(), [""; 0], "{mode}");

        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let out = begin(&place.path());
            let mut w = out.writer();
            w.write_all(b"a prefix").expect("written");
            std::panic::resume_unwind(Box::new("planned"));
        }));
        assert!(panicked.is_err());
        assert_eq!(place.names(), [""; 0], "{mode} after a panic");
    }
}

#[test]
fn a_writer_of_an_output_that_is_gone_says_so_and_holds_nothing() {
    type End = fn(Output);
    let dropped: End = drop;
    let failed: End = |out| {
        assert_eq!(out.commit().expect_err("open").kind(), ErrorKind::ResourceBusy);
    };
    for (mode, begin) in MODES {
        for end in [dropped, failed] {
            let place = Place::new();
            let out = begin(&place.path());
            let root = out.writer();
            let (first, mut second) = (root.fork(), root.fork());
            let (third, fourth) = (root.fork(), root.fork());
            second.write_all(b"a little").expect("nothing is wrong yet");
            let nested = fourth.fork();
            end(out);
            // The lock is released, and no file is left.
            assert_eq!(place.names(), [""; 0], "{mode}");
            drop(begin(&place.path()));
            let gone = |error: io::Error| {
                assert!(error.to_string().contains("dropped or committed"), "{mode}: {error}");
            };
            gone(second.write_all(b"more").expect_err("it is gone"));
            gone(second.write_all(&[1; 4 << 20]).expect_err("it is gone"));
            for writer in [root, first, second, third, nested, fourth] {
                gone(writer.finish().expect_err("it is gone"));
            }
            assert_eq!(place.names(), [""; 0], "{mode}");
        }
    }
}

#[test]
fn global_mode_keeps_records_whole_in_some_order() {
    let place = Place::new();
    let out = global(&place.path()).with_buffer_size(64);
    let long = "x".repeat(100);
    let record = |w: &mut Writer, number: u32| {
        w.record(|w| {
            write!(w, "{number}:")?;
            w.write_all(&long.as_bytes()[..number as usize % 100])?;
            w.write_all(b"\n")
        })
    };
    (0..2000_u32).into_par_iter().try_for_each_init(|| out.writer(), record).expect("written");
    let mut w = out.writer();
    w.join(|w| writeln!(w, "{}:{long}", 5000), |w| writeln!(w, "{}:{long}", 5001))
        .expect("written");
    w.finish().expect("written");
    out.commit().expect("committed");
    let text = fs::read_to_string(place.path()).expect("text");
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let (number, rest) = line.split_once(':').expect("a whole record");
        let number: usize = number.parse().expect("a number");
        let len = if number < 2000 { number % 100 } else { 100 };
        assert_eq!(rest, &long[..len], "record {number}");
        assert!(seen.insert(number), "record {number} twice");
    }
    assert_eq!(seen.len(), 2002);
}

#[test]
fn local_mode_gives_each_strand_its_own_position() {
    let place = Place::new();
    let out = local_of(&place.path(), 24);
    let write = |w: &mut Writer| {
        w.write_all(b"head")?;
        w.join(
            |w| {
                assert_eq!(w.position(), 4);
                w.write_all(b"LEFT")
            },
            |w| {
                assert_eq!(w.position(), 4, "a copy of the position at the fork");
                w.seek_to(10)?;
                w.write_all(b"RIGHT")
            },
        )?;
        assert_eq!(w.position(), 4, "and there again after the join");
        w.seek_to(20)?;
        w.write_all(b"tail")
    };
    let mut w = out.writer();
    write(&mut w).expect("written");
    w.finish().expect("written");
    assert_eq!(out.commit().expect("committed").bytes, 24);
    assert_eq!(read_back(&place.path()), b"headLEFT\0\0RIGHT\0\0\0\0\0tail");

    for begin in [global, local_files] {
        let place = Place::new();
        let out = begin(&place.path());
        let error = out.writer().seek_to(1).expect_err("the order of arrival decides");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("try: make it with `local`"), "{error}");
    }
}

#[test]
fn local_files_hold_every_strands_bytes() {
    let place = Place::new();
    let out = local_files(&place.path()).with_buffer_size(32);
    let mut w = out.writer();
    lines(&mut w, 0, 500).expect("written");
    w.finish().expect("written");
    out.commit().expect("committed");
    let mut lines: Vec<String> = String::from_utf8(read_back(&place.path()))
        .expect("text")
        .lines()
        .map(String::from)
        .collect();
    lines.sort();
    let mut expected: Vec<String> = (0..500).map(|number| format!("line {number}")).collect();
    expected.sort();
    assert_eq!(lines, expected);
}

#[test]
fn empty_outputs_and_empty_strands_cost_nothing() {
    for (mode, begin) in MODES {
        let place = Place::new();
        let out =
            if mode == "local" { local_of(&place.path(), 0) } else { begin(&place.path()) };
        let mut w = out.writer();
        w.join(|_| Ok::<(), io::Error>(()), |w| w.write_all(b"")).expect("nothing to do");
        let spawned = w.fork();
        rayon::scope(|scope| scope.spawn(|_| spawned.finish().expect("nothing to do")));
        w.finish().expect("nothing to do");
        let committed = out.commit().expect("committed");
        assert_eq!(committed.bytes, 0, "{mode}");
        assert_eq!(read_back(&place.path()), b"", "{mode}");
    }
}

#[test]
fn a_record_that_panics_is_gone_and_later_ones_are_not() {
    struct Panics;
    impl fmt::Display for Panics {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            std::panic::resume_unwind(Box::new("planned"))
        }
    }
    for (mode, begin) in MODES.into_iter().filter(|it| it.0 != "local") {
        let place = Place::new();
        let out = begin(&place.path());
        let mut w = out.writer();
        w.write_all(b"A ").expect("written");
        let panicked = catch_unwind(AssertUnwindSafe(|| write!(w, "torn {Panics}")));
        assert!(panicked.is_err());
        write!(w, "B ").expect("written");
        w.finish().expect("written");
        out.commit().expect("committed");
        assert_eq!(read_back(&place.path()), b"A B ", "{mode}");
    }
}

#[test]
fn a_position_beyond_the_file_is_an_error() {
    let place = Place::new();
    let out = local(&place.path());
    let mut w = out.writer();
    w.seek_to(u64::MAX - 1).expect("nothing was written yet");
    w.write_all(b"four").expect("it is in the buffer");
    let error = w.finish().expect_err("beyond its length");
    let error = error.downcast::<swath::Error>().expect("of the library");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(out.commit().is_err());
}

#[test]
fn a_writer_that_ends_hands_its_records_on() {
    for (mode, begin) in MODES.into_iter().filter(|it| it.0 != "local") {
        let place = Place::new();
        let out = begin(&place.path()).with_buffer_size(50);
        let mut first = out.writer();
        first.write_all(b"first;").expect("written");
        let failed = first.record(|w| {
            w.write_all(b"torn")?;
            Err::<(), _>(io::Error::other("planned"))
        });
        assert!(failed.is_err());
        drop(first);
        let mut second = out.writer();
        second.write_all(b"second;").expect("written");
        second.finish().expect("written");
        assert_eq!(out.commit().expect("committed").bytes, 13);
        assert_eq!(read_back(&place.path()), b"first;second;", "{mode}");
    }
}
