//! A timeline shows what was done: each byte read once, by some lane, at some time, and no spans
//! of one lane overlap partly.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::append::{AppendOptions, OrderedOptions};
use swath::classes::ClassPlan;
use swath::copy::{CopyOptions, Reflink};
use swath::ingest::{Files, IngestOptions};
use swath::maps::Guard;
use swath::mirror::MirrorOptions;
use swath::timeline::{Activity, Span};
use swath::{
    CancelToken, Engine, OutputOptions, PageCache, ReadAt, ReadOptions, Source, SourceFacts,
    Timeline, WriteOptions,
};

const MIB: usize = 1 << 20;
const SIZES: [usize; 5] = [1, 4097, 64 << 10, MIB + 1, 9 * MIB + 4097];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn file_of(folder: &Path, len: usize) -> PathBuf {
    let path = folder.join(format!("{len}.bin"));
    std::fs::write(&path, swath_reference::bytes(len as u64, len)).expect("room on disk");
    path
}

fn of(spans: &[Span], activity: Activity) -> Vec<Span> {
    spans.iter().filter(|span| span.activity == activity).copied().collect()
}

fn bytes_of(spans: &[Span], activity: Activity) -> u64 {
    of(spans, activity).iter().map(|span| span.bytes).sum()
}

/// Spans of one lane are inside each other or after each other, and none ends before it begins
/// or after now.
fn check(timeline: &Timeline, spans: &[Span], what: &str) {
    let now = u64::try_from(timeline.began().elapsed().as_nanos()).expect("not so long");
    let mut around: Vec<Span> = Vec::new();
    for span in spans {
        around.retain(|open| open.lane == span.lane && open.end_ns() > span.start_ns);
        let fits = around.last().is_none_or(|open| span.end_ns() <= open.end_ns());
        assert!(fits, "{what}: {span:?} overlaps {:?}", around.last());
        assert!(span.end_ns() <= now, "{what}: {span:?} ends after now");
        assert!(timeline.path(span.source).is_some(), "{what}: {span:?} has no file");
        around.push(*span);
    }
    assert_eq!(timeline.dropped(), 0, "{what}");
}

/// The spans of one activity cover each byte of `0 .. len` exactly once.
fn check_tiles(spans: &[Span], activity: Activity, len: usize, what: &str) {
    let mut parts: Vec<_> =
        of(spans, activity).iter().map(|span| (span.offset, span.bytes)).collect();
    parts.sort_unstable();
    let mut at = 0;
    for (offset, bytes) in parts {
        assert_eq!(offset, at, "{what}: {activity} has a gap or an overlap");
        at += bytes;
    }
    assert_eq!(at, len as u64, "{what}: {activity}");
}

#[test]
fn every_engine_reads_each_byte_in_one_span() {
    let folder = folder();
    for len in SIZES {
        let path = file_of(folder.path(), len);
        for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring, Engine::Map] {
            for page_cache in [PageCache::Keep, PageCache::Bypass, PageCache::Drop] {
                for (workers, chunk_size) in [(1, 0), (2, 4096), (5, 100_000), (0, MIB)] {
                    let timeline = Timeline::new();
                    let options = ReadOptions::new()
                        .with_engine(engine)
                        .with_page_cache(page_cache)
                        .with_workers(workers)
                        .with_chunk_size(chunk_size as u64)
                        .with_timeline(timeline.clone());
                    let what = format!("{len}, {options:?}");
                    read(&options, engine, &path);
                    let spans = timeline.spans();
                    check(&timeline, &spans, &what);
                    check_tiles(&spans, Activity::Read, len, &what);
                    timeline.take();
                    sum(&options, engine, &path);
                    let spans = timeline.spans();
                    check(&timeline, &spans, &what);
                    check_tiles(&spans, Activity::Read, len, &what);
                    check_tiles(&spans, Activity::Compute, len, &what);
                    let name = timeline.path(spans[0].source);
                    assert_eq!(name.as_deref(), Some(&*path), "{what}");
                }
            }
        }
    }
}

fn read(options: &ReadOptions, engine: Engine, path: &Path) {
    let loaded = match engine {
        Engine::Map => {
            let file = std::fs::File::open(path).expect("it is there");
            let guard = Guard::install(&file, path).expect("a guard");
            options.read_mapped(guard, path)
        }
        _ => options.read(path),
    };
    loaded.expect("it can be read");
}

fn sum(options: &ReadOptions, engine: Engine, path: &Path) {
    let scanned = match engine {
        Engine::Map => {
            let file = std::fs::File::open(path).expect("it is there");
            let guard = Guard::install(&file, path).expect("a guard");
            options.sum_mapped(guard, path)
        }
        _ => options.sum(path),
    };
    scanned.expect("it can be read");
}

#[test]
fn direct_reads_of_a_ring_are_in_flight_beside_each_other() {
    let folder = folder();
    let len = 16 * MIB;
    let path = file_of(folder.path(), len);
    std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("a disk");
    let timeline = Timeline::new();
    let options = ReadOptions::new()
        .with_engine(Engine::Ring)
        .with_page_cache(PageCache::Bypass)
        .with_queue_depth(4)
        .with_timeline(timeline.clone());
    let report = options.read(&path).expect("it can be read").report;
    let spans = timeline.spans();
    check(&timeline, &spans, "ring");
    check_tiles(&spans, Activity::Read, len, "ring");
    if report.engine != Engine::Ring || report.direct_bytes == 0 {
        return swath_reference::skip("io-uring", "no ring, or no direct reads, here");
    }
    let read = of(&spans, Activity::Read);
    let lanes = read.iter().filter(|span| span.lane.is_in_flight());
    let most = lanes.clone().map(|span| span.lane.index()).max();
    assert!(lanes.count() > 4 && most > Some(0) && most < Some(4), "{most:?}");
}

#[test]
fn one_timeline_takes_several_calls_and_nothing_is_recorded_without_it() {
    let folder = folder();
    let (first, second) = (file_of(folder.path(), 3 * MIB), file_of(folder.path(), 5 * MIB));
    let timeline = Timeline::new();
    let options = ReadOptions::new().with_workers(3).with_timeline(timeline.clone());
    std::thread::scope(|scope| {
        for path in [&first, &second] {
            let options = &options;
            scope.spawn(move || options.read(path).expect("it can be read"));
        }
    });
    options.read(&first).expect("it can be read");
    let spans = timeline.spans();
    check(&timeline, &spans, "three calls");
    assert_eq!(bytes_of(&spans, Activity::Read), 11 * MIB as u64);
    let of_second = spans.iter().filter(|span| {
        span.activity == Activity::Read && timeline.path(span.source).as_ref() == Some(&second)
    });
    assert_eq!(of_second.map(|span| span.bytes).sum::<u64>(), 5 * MIB as u64);
    let lanes = spans.iter().map(|span| span.lane.index()).max();
    assert!(lanes < Some(6), "lanes are reused: {lanes:?}");
    options.clone().with_timeline(None).read(&first).expect("it can be read");
    ReadOptions::new().read(&first).expect("it can be read");
    assert_eq!(timeline.spans(), spans);
}

/// Fails from some byte on, or is cancelled there.
struct Breaking {
    len: u64,
    from: u64,
    token: Option<CancelToken>,
}

impl ReadAt for Breaking {
    fn facts(&self) -> std::io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.len)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> std::io::Result<usize> {
        if offset >= self.from {
            match &self.token {
                Some(token) => token.cancel(),
                None => return Err(std::io::Error::from_raw_os_error(5)),
            }
        }
        target.fill(7);
        Ok(target.len())
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("breaking")
    }
}

#[test]
fn failed_and_cancelled_reads_leave_valid_spans_of_what_came() {
    for is_cancelled in [false, true] {
        let token = is_cancelled.then(CancelToken::new);
        let len = 8 * MIB as u64;
        let from = 3 * MIB as u64;
        let source = Breaking { len, from, token: token.clone() };
        let timeline = Timeline::new();
        let options = ReadOptions::new()
            .with_workers(2)
            .with_chunk_size(64 << 10)
            .with_cancel(token.unwrap_or_default())
            .with_timeline(timeline.clone());
        options.read(Source::custom(Arc::new(source))).expect_err("it breaks");
        let spans = timeline.spans();
        check(&timeline, &spans, "broken");
        let read = of(&spans, Activity::Read);
        let failed = read.iter().filter(|span| span.bytes == 0).count();
        assert_eq!(failed > 0, !is_cancelled, "{read:?}");
        let came: u64 = read.iter().map(|span| span.bytes).sum();
        assert!(came > 0 && came < len, "{came}");
        let is_before = |span: &&Span| span.offset < from || span.bytes == 0 || is_cancelled;
        assert!(read.iter().all(|span| is_before(&span)), "{read:?}");
    }
}

#[test]
fn readers_classes_and_records_say_what_they_read_and_who_took_it() {
    let folder = folder();
    let len = 6 * MIB + 5;
    let path = file_of(folder.path(), len);
    let timeline = Timeline::new();
    let options = ReadOptions::new().with_workers(2).with_timeline(timeline.clone());

    let mut reader = options.reader(&*path).expect("it can be opened");
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("it can be read");
    drop(reader);
    let spans = timeline.take();
    check(&timeline, &spans, "reader");
    check_tiles(&spans, Activity::Read, len, "reader");

    let plan = ClassPlan::of_whole(100, 4);
    options.read_prioritised(&*path, plan).and_then(|reading| reading.finish()).expect("read");
    let spans = timeline.take();
    check(&timeline, &spans, "classes");
    check_tiles(&spans, Activity::Read, len, "classes");

    let lines = folder.path().join("lines");
    let text = "some words in a line\n".repeat(300_000);
    std::fs::write(&lines, &text).expect("room on disk");
    let out = folder.path().join("upper");
    options
        .records_of([&*lines])
        .transform(&*out, |line, out| -> std::io::Result<()> {
            out.extend(line.iter().map(u8::to_ascii_uppercase));
            out.push(b'\n');
            Ok(())
        })
        .expect("it can be transformed");
    let spans = timeline.take();
    check(&timeline, &spans, "records");
    check_tiles(&spans, Activity::Parse, text.len(), "records");
    assert!(bytes_of(&spans, Activity::Read) >= text.len() as u64, "leases overlap a little");
}

#[test]
fn streams_are_read_in_spans_too_and_what_is_skipped_does_not_count() {
    let (from, mut to) = std::io::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || to.write_all(&vec![1; 300_000]).expect("read"));
    let timeline = Timeline::new();
    let options = ReadOptions::new().with_offset(100_000).with_timeline(timeline.clone());
    let from = std::fs::File::from(std::os::fd::OwnedFd::from(from));
    let scanned = options.sum(Source::file(from, "pipe")).expect("it can be read");
    writer.join().expect("it does not panic");
    assert_eq!(scanned.value, 200_000);
    let spans = timeline.spans();
    check(&timeline, &spans, "pipe");
    assert_eq!(bytes_of(&spans, Activity::Read), 200_000);
    assert_eq!(bytes_of(&spans, Activity::Compute), 200_000);
}

#[test]
fn many_files_are_a_span_each_with_their_names() {
    let folder = folder();
    let mut total = 0;
    let mut paths = Vec::new();
    for index in 0..300 {
        let len = if index == 17 { 20 * MIB } else { index * 37 };
        let path = folder.path().join(format!("{index:03}"));
        std::fs::write(&path, vec![b'x'; len]).expect("room on disk");
        total += len as u64;
        paths.push(path);
    }
    let timeline = Timeline::new();
    for workers in [1, 3] {
        let options = IngestOptions::new().with_read(
            ReadOptions::new().with_workers(workers).with_timeline(timeline.clone()),
        );
        let ingested = options.ingest(Files::paths(&paths)).expect("they can be read");
        drop(ingested);
        check_files(&timeline, &paths, total, "collected");
        options
            .stream(Files::paths(&paths), |_| Ok::<(), swath::Error>(()))
            .expect("they can be read");
        let spans = check_files(&timeline, &paths, total, "streamed");
        assert_eq!(bytes_of(&spans, Activity::Compute), total);
    }
}

#[test]
fn many_files_from_the_device_are_in_flight_beside_each_other() {
    let folder = folder();
    let mut paths = Vec::new();
    for index in 0..200 {
        let path = folder.path().join(format!("{index:03}"));
        std::fs::write(&path, vec![b'x'; 10_000]).expect("room on disk");
        let file = std::fs::File::open(&path).expect("it is there");
        file.sync_all().expect("a disk");
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("a file");
        paths.push(path);
    }
    let timeline = Timeline::new();
    let options = IngestOptions::new()
        .with_read(ReadOptions::new().with_queue_depth(16).with_timeline(timeline.clone()));
    let ingested = options.ingest(Files::paths(&paths)).expect("they can be read");
    let is_by_ring = ingested.report().calls.ring > 0;
    // Young files are checked twice, by their worker: then those in flight had no bytes.
    let spans = check_files(&timeline, &paths, 2_000_000, "from the device");
    if !is_by_ring {
        return swath_reference::skip("io-uring", "no file had to be waited for by a ring");
    }
    let lanes = of(&spans, Activity::Read).into_iter().filter(|span| span.lane.is_in_flight());
    assert!(lanes.count() > 0);
}

fn check_files(timeline: &Timeline, paths: &[PathBuf], total: u64, what: &str) -> Vec<Span> {
    let spans = timeline.take();
    check(timeline, &spans, what);
    assert_eq!(bytes_of(&spans, Activity::Read), total, "{what}");
    for path in paths {
        let len = std::fs::metadata(path).expect("it is there").len();
        let read = of(&spans, Activity::Read);
        let mine = read.iter().filter(|span| timeline.path(span.source).as_ref() == Some(path));
        assert_eq!(mine.map(|span| span.bytes).sum::<u64>(), len, "{what}: {}", path.display());
    }
    spans
}

#[test]
fn writes_and_commits_are_told() {
    let folder = folder();
    let len = 5 * MIB + 3;
    let bytes = swath_reference::bytes(5, len);
    let target = folder.path().join("target");
    let timeline = Timeline::new();

    let options = WriteOptions::new()
        .with_output(OutputOptions::new().with_workers(2).with_timeline(timeline.clone()));
    options.write(&target, &bytes).expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "write");
    check_tiles(&spans, Activity::Write, len, "write");
    check_tiles(&spans, Activity::Commit, len, "write");

    let out = options.create(&target, len as u64).expect("room on disk");
    out.write_at(&bytes[MIB..], MIB as u64).expect("room on disk");
    out.write_at(&bytes[..MIB], 0).expect("room on disk");
    out.commit().expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "positional");
    check_tiles(&spans, Activity::Write, len, "positional");
    check_tiles(&spans, Activity::Commit, len, "positional");

    let options =
        OrderedOptions::new().with_output(OutputOptions::new().with_timeline(timeline.clone()));
    let out = options.ordered(&target).expect("a file can be made");
    let chunks: Vec<&[u8]> = bytes.chunks(100_000).collect();
    out.map_ordered(chunks, 3, |chunk, ticket| ticket.write_all(chunk)).expect("room on disk");
    out.commit().expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "ordered");
    check_tiles(&spans, Activity::Write, len, "ordered");
    check_tiles(&spans, Activity::Commit, len, "ordered");
    assert_eq!(bytes_of(&spans, Activity::Compute), len as u64);

    let options =
        AppendOptions::new().with_output(OutputOptions::new().with_timeline(timeline.clone()));
    let out = options.create(&target).expect("a file can be made");
    out.scope(|writer| writer.write_all(&bytes)).expect("room on disk");
    out.commit().expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "append");
    check_tiles(&spans, Activity::Write, len, "append");
    check_tiles(&spans, Activity::Commit, len, "append");
}

#[test]
fn copies_and_mirrors_are_told() {
    let folder = folder();
    let len = 5 * MIB + 3;
    let from = file_of(folder.path(), len);
    let timeline = Timeline::new();
    let options = CopyOptions::new()
        .with_reflink(Reflink::Never)
        .with_read(ReadOptions::new().with_workers(2).with_timeline(timeline.clone()));
    let copied = options.copy(&*from, folder.path().join("copy")).expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "copy");
    if copied.how == swath::copy::How::ReadWrite {
        check_tiles(&spans, Activity::Read, len, "copy");
        check_tiles(&spans, Activity::Write, len, "copy");
    }
    check_tiles(&spans, Activity::Commit, len, "copy");

    let copy = folder.path().join("mirror");
    let options =
        MirrorOptions::new().with_read(ReadOptions::new().with_timeline(timeline.clone()));
    options.mirror(&from, &[&copy]).expect("room on disk");
    let spans = timeline.take();
    check(&timeline, &spans, "mirror");
    // Once for its checksums, once to be copied, and once from the copy.
    assert_eq!(bytes_of(&spans, Activity::Read), 3 * len as u64);
    check_tiles(&spans, Activity::Write, len, "mirror");

    let sums = swath::manifest::of(&*from).expect("it can be read");
    let options = ReadOptions::new().with_timeline(timeline.clone());
    let checked = options.check(&*copy, &sums).expect("it can be read");
    assert!(checked.is_right());
    let spans = timeline.take();
    check(&timeline, &spans, "check");
    check_tiles(&spans, Activity::Read, len, "check");
}

#[test]
fn what_is_in_the_page_cache_is_read_by_other_threads_if_a_reader_keeps_ahead() {
    let folder = folder();
    let path = file_of(folder.path(), 9 * MIB + 4097);
    for is_ahead in [false, true] {
        // Not by their lanes: that of a thread which has ended is the next one's.
        let (here, others) = (std::thread::current().id(), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&others);
        let options = ReadOptions::new().with_progress(move |_| {
            let is_other = std::thread::current().id() != here;
            seen.fetch_add(is_other.into(), Ordering::Relaxed);
        });
        let mut reader = options.reader(&path).expect("opens");
        if is_ahead {
            reader.keep_ahead();
        }
        let mut all = Vec::new();
        reader.read_to_end(&mut all).expect("read");
        assert!(all == swath_reference::bytes(all.len() as u64, 9 * MIB + 4097));
        let others = others.load(Ordering::Relaxed);
        if !is_ahead && others > 0 {
            swath_reference::skip("page-cache", "a file that was just written is not in it");
        }
        assert!(!is_ahead || others > 0, "this thread has read all of it");
    }
}
