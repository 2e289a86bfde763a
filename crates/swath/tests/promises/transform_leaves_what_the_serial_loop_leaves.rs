//! A transform writes the bytes of the serial loop, or nothing, however it is run.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex};

use swath::append::OrderedOptions;
use swath::sink::{Durability, HardLinks};
use swath::{
    CancelToken, Cut, Engine, Output, OutputOptions, Pattern, ReadAt, ReadOptions, Reason,
    Source, SourceFacts, records_of, transform,
};
use swath_reference::battery::Battery;
use swath_reference::{records as plain, splitmix};

fn text(seed: u64, len: usize) -> Vec<u8> {
    println!("seed {seed}");
    let mut next = splitmix(seed);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let long = if next().is_multiple_of(16) { 700 } else { 20 };
        for _ in 0..next() % long {
            bytes.push(b'a' + next().to_le_bytes()[0] % 26);
        }
        bytes.push(b'\n');
    }
    bytes.truncate(len);
    bytes
}

/// Drops some lines, doubles some, and lengthens some a lot.
fn change(line: &[u8], out: &mut Vec<u8>) {
    match line.len() % 7 {
        0 => {}
        1 => out.extend_from_slice(&line.repeat(30)),
        2 => out.extend_from_slice(&[line, b"|", line, b"\n"].concat()),
        _ => out.extend(line.iter().rev().chain(b"\n")),
    }
}

fn serial(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in plain::split(bytes, plain::Cut::Byte(b'\n')).expect("lines have no faults") {
        change(line.strip_suffix(b"\n").unwrap_or(line), &mut out);
    }
    out
}

fn changed(line: &[u8], out: &mut Vec<u8>) -> swath::Result<()> {
    change(line, out);
    Ok(())
}

fn workers(count: usize) -> ReadOptions {
    ReadOptions::new().with_engine(Engine::Pool).with_workers(count)
}

/// A stream that takes a few bytes at a time.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(3000);
        self.0.lock().expect("no panic").extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pipe(bytes: Vec<u8>) -> Source {
    let (reader, mut writer) = io::pipe().expect("a pipe");
    std::thread::spawn(move || {
        for part in bytes.chunks(777) {
            // A transform that fails closes the pipe.
            if writer.write_all(part).is_err() {
                return;
            }
        }
    });
    Source::file(std::fs::File::from(OwnedFd::from(reader)), "<pipe>")
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn files_and_streams_at_every_size_and_worker_count_are_those_of_the_serial_loop() {
    let bytes = text(1, 60_000);
    let wanted = serial(&bytes);
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, &bytes).expect("written");
    for count in Battery::of_list("combinations", 3, (1..=8).chain([64])) {
        for size in [1, 13, 64, 1000, 70_000] {
            let sources = [Source::from(&input), pipe(bytes.clone())];
            for source in sources.into_iter().filter(|_| size > 13 || count < 4) {
                let records = workers(count).records(source).with_block_size(size);
                let quick = OutputOptions::new().with_durability(Durability::None);
                let records = records.with_output(quick);
                let done = records.transform(&output, changed).expect("transformed");
                assert!(std::fs::read(&output).expect("committed") == wanted, "{count} {size}");
                let lines = plain::split(&bytes, plain::Cut::Byte(b'\n')).expect("lines");
                assert_eq!(done.records, Some(lines.len() as u64));
                assert_eq!(done.read.bytes, bytes.len() as u64);
                assert_eq!(done.written.bytes, wanted.len() as u64);
            }
            let sink = Sink::default();
            let records = workers(count).records(&input).with_block_size(size);
            let out = Output::stream(sink.clone(), "sink");
            records.transform(out, changed).expect("transformed");
            assert!(*sink.0.lock().expect("no panic") == wanted, "{count} {size}");
        }
    }
}

#[test]
fn records_that_contain_a_pattern_are_counted_and_transformed_as_by_the_serial_loop() {
    let bytes = text(5, 60_000);
    let lines = plain::split(&bytes, plain::Cut::Byte(b'\n')).expect("lines have no faults");
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, &bytes).expect("written");
    for needle in [&b"xy"[..], b"q", b"", b"x\n", b"not there"] {
        let pattern = Pattern::new(needle);
        let has = |line: &&[u8]| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            needle.is_empty() || line.windows(needle.len()).any(|part| part == needle)
        };
        let found: Vec<&[u8]> = lines.iter().copied().filter(has).collect();
        let wanted = serial(&found.concat());
        for count in [1, 2, 7] {
            for size in [14, 1000, 70_000] {
                for source in [Source::from(&input), pipe(bytes.clone())] {
                    let quick = OutputOptions::new().with_durability(Durability::None);
                    let records = workers(count).records(source).with_block_size(size);
                    let done = records
                        .with_output(quick)
                        .transform_containing(&pattern, &output, changed)
                        .expect("transformed");
                    assert!(std::fs::read(&output).expect("committed") == wanted);
                    assert_eq!(done.records, Some(found.len() as u64));
                }
                let records = || workers(count).records(&input).with_block_size(size);
                let counted = records().count(Some(&pattern)).expect("counted").value;
                assert_eq!(counted, found.len() as u64);
                assert_eq!(records().count(None).expect("counted").value, lines.len() as u64);
            }
        }
    }
}

#[test]
fn small_windows_and_many_workers_do_not_hang() {
    let bytes = text(2, 60_000);
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    for window in [1, 2, 3] {
        let options = OrderedOptions::new().with_window(window).with_chunk_size(10);
        let output = options.ordered(&output).expect("begun");
        let records = workers(8).records(pipe(bytes.clone())).with_block_size(100);
        let done = records.transform(output, changed).expect("transformed");
        assert!(done.written.buffers <= window as u64, "{:?}", done.written);
        assert!(std::fs::read(folder.path().join("out")).expect("there") == serial(&bytes));
    }
}

#[test]
fn blocks_and_several_inputs_come_in_order() {
    let parts: Vec<Vec<u8>> = (0..20).map(|seed| text(seed, 3000)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    let sources = parts.iter().enumerate().map(|(number, part)| {
        let path = folder.path().join(number.to_string());
        std::fs::write(&path, part).expect("written");
        if number % 4 == 0 { pipe(part.clone()) } else { Source::from(path) }
    });
    let records = workers(4).records_of(sources).with_block_size(500);
    let done = records.transform_blocks(&output, |block, out| -> swath::Result<()> {
        out.extend_from_slice(block.bytes);
        Ok(())
    });
    assert_eq!(done.expect("transformed").records, None);
    assert!(std::fs::read(&output).expect("there") == parts.concat());
}

#[test]
fn the_output_may_be_the_input() {
    let bytes = text(3, 200_000);
    let folder = tempfile::tempdir().expect("a folder");
    let (path, link) = (folder.path().join("file"), folder.path().join("link"));
    for output in [&path, &link] {
        std::fs::write(&path, &bytes).expect("written");
        let _ = std::os::unix::fs::symlink("file", &link);
        let records = workers(2).records(&path).with_block_size(1000);
        records.transform(output, changed).expect("transformed");
        assert!(std::fs::read(&path).expect("there") == serial(&bytes));
    }
    let hard = folder.path().join("hard");
    std::fs::write(&path, &bytes).expect("written");
    std::fs::hard_link(&path, &hard).expect("a link");
    let error =
        transform(&path, &hard, changed).expect_err("the other name would keep the old");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(std::fs::read(&path).expect("there") == bytes);
    let allowed = OutputOptions::new().with_hard_links(HardLinks::Broken);
    let records = swath::records(&path).with_output(allowed);
    records.transform(&hard, changed).expect("transformed");
    assert!(std::fs::read(&hard).expect("there") == serial(&bytes));
    assert!(std::fs::read(&path).expect("there") == bytes, "the other name keeps its bytes");
}

#[test]
fn the_first_error_leaves_nothing_and_what_was_there_before() {
    #[derive(Debug, PartialEq)]
    enum Fault {
        Line(usize),
        Other,
    }
    impl From<swath::Error> for Fault {
        fn from(_: swath::Error) -> Self {
            Fault::Other
        }
    }
    let lines: Vec<u8> = (0..5000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, &lines).expect("written");
    for count in [1, 2, 8] {
        for before in [None, Some(b"before")] {
            let _ = std::fs::remove_file(&output);
            if let Some(before) = before {
                std::fs::write(&output, before).expect("written");
            }
            let names = entries(folder.path());
            for source in [Source::from(&input), pipe(lines.clone())] {
                let records = workers(count).records(source).with_block_size(100);
                let error = records.transform(&output, |line, out| {
                    let number = std::str::from_utf8(line).expect("digits").parse();
                    let number: usize = number.expect("a number");
                    out.extend_from_slice(line);
                    if number >= 2500 { Err(Fault::Line(number)) } else { Ok(()) }
                });
                assert_eq!(error.expect_err("it failed"), Fault::Line(2500));
                let panicked = std::panic::catch_unwind(|| {
                    let records = workers(count).records(&input).with_block_size(100);
                    records.transform(&output, |line, _| -> swath::Result<()> {
                        assert!(line != b"3000", "line 3000");
                        Ok(())
                    })
                });
                let panic = panicked.expect_err("a panic");
                assert_eq!(panic.downcast_ref(), Some(&"line 3000"));
                assert_eq!(entries(folder.path()), names);
                assert_eq!(std::fs::read(&output).ok(), before.map(|before| before.to_vec()));
            }
        }
    }
}

/// Fails after its first half.
struct Half;

impl ReadAt for Half {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(100_000)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset + target.len() as u64 > 50_000 {
            return Err(io::ErrorKind::Other.into());
        }
        target.fill(b'\n');
        Ok(target.len())
    }
}

#[test]
fn failures_of_reading_and_writing_and_cancellation_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    for count in [1, 2, 8] {
        let records = || workers(count).records(Source::custom(Arc::new(Half)));
        let error = records().with_block_size(100).transform(&output, changed);
        assert_eq!(error.expect_err("half").reason(), Reason::Io);
        let quoted = Cut::Quoted { quote: b'"', delimiter: b'\n' };
        let records = records().with_cut(quoted).with_block_size(100);
        assert_eq!(records.transform(&output, changed).expect_err("half").reason(), Reason::Io);

        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let records = workers(count).records(pipe(text(4, 300_000))).with_block_size(100);
        let error = records.transform(Output::stream(writer, "<pipe>"), changed);
        assert_eq!(error.expect_err("closed").io_kind(), io::ErrorKind::BrokenPipe);

        let token = CancelToken::new();
        let options = workers(count).with_cancel(token.clone());
        let records = options.records(pipe(text(5, 300_000))).with_block_size(100);
        let error = records.transform(&output, |_, _| -> swath::Result<()> {
            token.cancel();
            Ok(())
        });
        assert_eq!(error.expect_err("cancelled").reason(), Reason::Cancelled);
    }
    let error = records_of(["/no such file"]).transform(&output, changed).expect_err("missing");
    assert_eq!(error.raw_os_error(), Some(2));
    assert!(entries(folder.path()).is_empty(), "{:?}", entries(folder.path()));
}

#[test]
fn an_empty_input_gives_an_empty_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, b"").expect("written");
    for source in [Source::from(&input), pipe(Vec::new())] {
        let done = records_of([source]).transform(&output, changed).expect("transformed");
        assert_eq!((done.records, done.written.bytes), (Some(0), 0));
        assert_eq!(std::fs::read(&output).expect("there"), b"");
        std::fs::remove_file(&output).expect("there");
    }
}
