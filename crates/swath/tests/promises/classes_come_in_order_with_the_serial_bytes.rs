//! Reads by priority class: every chunk's bytes are the oracle's, whatever the plan, the window,
//! the chunk size and the workers; classes are complete when they say so, and in order.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use swath::classes::{ClassPlan, RowLayout};
use swath::reading::Schedule;
use swath::{Engine, Extent, PageCache, ReadOptions, Reason};
use swath_reference::battery::Battery;
use swath_reference::classes::{self, Chunk};
use swath_reference::splitmix;

struct Files {
    _folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
    bytes: Vec<Vec<u8>>,
}

fn files(lens: &[usize]) -> Files {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (mut paths, mut all) = (Vec::new(), Vec::new());
    for (index, &len) in lens.iter().enumerate() {
        let bytes = swath_reference::bytes(index as u64 + 1, len);
        let path = folder.path().join(format!("file-{index}"));
        let mut file = std::fs::File::create(&path).expect("a new file");
        file.write_all(&bytes).expect("room on disk");
        file.sync_all().expect("room on disk");
        paths.push(path);
        all.push(bytes);
    }
    Files { _folder: folder, paths, bytes: all }
}

fn plan_of(chunks: &[Chunk]) -> ClassPlan {
    let mut plan = ClassPlan::new();
    for chunk in chunks {
        plan.push_in(chunk.file, chunk.start as u64..chunk.end as u64, chunk.class);
    }
    plan
}

/// Numbers from a seed.
struct Dice(Box<dyn FnMut() -> u64>);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        usize::try_from((self.0)() % below.max(1) as u64).expect("below a length")
    }
}

/// Chunks anywhere: holes, overlaps, duplicates, empty ones, gaps in the class numbers.
fn anywhere(lens: &[usize], dice: &mut Dice) -> Vec<Chunk> {
    let count = dice.roll(60);
    let mut plan = Vec::new();
    for _ in 0..count {
        let file = dice.roll(lens.len());
        let (one, other) = (dice.roll(lens[file] + 1), dice.roll(lens[file] + 1));
        let class = u32::try_from(dice.roll(7) * 1000).expect("small");
        plan.push(Chunk { file, start: one.min(other), end: one.max(other), class });
    }
    plan
}

fn check(files: &Files, chunks: &[Chunk], options: &ReadOptions, window: usize, what: &str) {
    let called: Arc<Mutex<Vec<u32>>> = Arc::default();
    let seen: Arc<Mutex<BTreeSet<usize>>> = Arc::default();
    let (calls, marks) = (Arc::clone(&called), Arc::clone(&seen));
    let (bytes, listed) = (files.bytes.clone(), chunks.to_vec());
    let plan = plan_of(chunks)
        .with_window(window)
        .with_class_callback(move |class| {
            calls.lock().expect("no panic").push(class.class());
            let wanted = classes::of_class(&bytes, &listed, class.class());
            let came: Vec<_> = class.chunks().map(|chunk| (chunk.index, chunk.bytes)).collect();
            assert!(came == wanted, "class {} differs", class.class());
        })
        .with_chunk_callback(move |chunk| {
            assert!(marks.lock().expect("no panic").insert(chunk.index), "twice");
        });
    let reading = options.read_prioritised_files(&files.paths, plan).expect(what);
    for class in classes::classes(chunks) {
        let class = reading.wait(class).expect(what);
        for chunk in class.chunks() {
            let Chunk { file, start, end, .. } = chunks[chunk.index];
            assert!(chunk.bytes == &files.bytes[file][start..end], "{what}");
        }
    }
    let loaded = reading.finish().expect(what);
    for (file, wanted) in classes::whole(&files.bytes, chunks).iter().enumerate() {
        assert!(loaded.file(file) == &wanted[..], "file {file} differs: {what}");
    }
    let report = &loaded.report;
    let listed = classes::classes(chunks);
    let reported: Vec<_> = report.classes.iter().map(|time| time.class).collect();
    assert_eq!(reported, listed, "{what}");
    assert!(report.max_skew <= report.window, "{what}: {report:?}");
    let mut called = called.lock().expect("no panic").clone();
    called.sort_unstable();
    assert_eq!(called, listed, "each class once: {what}");
    let full = chunks.iter().enumerate().filter(|(_, chunk)| chunk.start < chunk.end);
    let full: BTreeSet<_> = full.map(|(line, _)| line).collect();
    assert_eq!(*seen.lock().expect("no panic"), full, "each chunk once: {what}");
}

#[test]
fn study_as_plan_gives_the_serial_bytes_for_every_worker_count_window_and_chunk_size() {
    let len = (5 << 20) + 77;
    let files = files(&[len]);
    for workers in Battery::of_list("combinations", 3, [1, 2, 3, 4, 5, 6, 7, 8, 64]) {
        for window in [0, 1, 3, 1000] {
            for (chunk_size, (count, of)) in
                [(0, (1000, 50)), (4097, (7, 7)), (511, (2, 1)), (1 << 20, (333, 3))]
            {
                let chunks = classes::by_position(len, count, of);
                let plan = ClassPlan::by_position(
                    len as u64,
                    count as u64,
                    u32::try_from(of).expect("small"),
                );
                assert_eq!(plan.len(), chunks.len());
                let what = format!("{workers} workers, window {window}, {count} of {of}");
                let options =
                    ReadOptions::new().with_workers(workers).with_chunk_size(chunk_size);
                check(&files, &chunks, &options, window, &what);
                let loaded =
                    options.read_prioritised(&files.paths[0], plan.with_window(window));
                let loaded = loaded.expect(&what).finish().expect(&what);
                assert!(loaded.into_buffer()[..] == files.bytes[0][..], "{what}");
            }
        }
    }
}

#[test]
fn any_plan_of_several_files_gives_the_bytes_that_it_lists() {
    let lens = [300_000, 1, 0, 70_001, 3 << 20];
    let files = files(&lens);
    let first: u64 = 20_261_122;
    for seed in first..first + 60 {
        let mut dice = Dice(Box::new(splitmix(seed)));
        let chunks = anywhere(&lens, &mut dice);
        let (window, workers) = (dice.roll(4), 1 + dice.roll(8));
        let options = ReadOptions::new().with_engine(Engine::Pool).with_workers(workers);
        let page_cache = [PageCache::Keep, PageCache::Drop, PageCache::Bypass][dice.roll(3)];
        let what = format!("seed {seed}, {page_cache}, window {window}, {workers} workers");
        check(&files, &chunks, &options.with_page_cache(page_cache), window, &what);
    }
}

#[test]
fn strict_classes_are_called_back_in_order_and_none_is_missing() {
    let files = files(&[4 << 20]);
    // Interleaved: every class is spread over the whole file.
    let plan = ClassPlan::by_position(4 << 20, 2048, 1)
        .with_classes(|chunk, _| u32::try_from(chunk % 100).expect("small"))
        .with_window(1);
    let called: Arc<Mutex<Vec<u32>>> = Arc::default();
    let calls = Arc::clone(&called);
    let plan = plan.with_class_callback(move |class| {
        calls.lock().expect("no panic").push(class.class());
    });
    let options = ReadOptions::new().with_workers(8);
    let reading = options.read_prioritised(&files.paths[0], plan).expect("started");
    let loaded = reading.finish().expect("read");
    assert_eq!(*called.lock().expect("no panic"), (0..100).collect::<Vec<_>>());
    assert_eq!((loaded.report.window, loaded.report.max_skew), (1, 1));
    let times = &loaded.report.classes;
    assert!(times.is_sorted_by_key(|time| time.elapsed), "in the order of classes");
    assert!(loaded.buffer()[..] == files.bytes[0][..]);
}

#[test]
fn a_plan_for_whole_files_takes_their_lengths_and_what_the_options_say() {
    let files = files(&[5000, 10_001]);
    let plan = || ClassPlan::of_whole(10, 5);
    let loaded = swath::classes::read_prioritised_files(&files.paths, plan()).expect("started");
    let loaded = loaded.finish().expect("read");
    assert!(loaded.file(0) == &files.bytes[0][..] && loaded.file(1) == &files.bytes[1][..]);
    let last: Vec<_> = loaded.class(4).expect("listed").chunks().collect();
    assert_eq!((last.len(), last[3].file, last[3].range.clone()), (4, 1, 9000..10_001));
    let options = ReadOptions::new().with_offset(100).with_len(33);
    let loaded = options.read_prioritised(&files.paths[1], plan()).expect("started");
    assert!(loaded.finish().expect("read").into_buffer()[..] == files.bytes[1][100..133]);
    let error = options.with_len(50_000).read_prioritised(&files.paths[1], plan());
    assert_eq!(error.expect_err("too long").reason(), Reason::Truncated);
}

#[test]
fn a_plan_of_more_chunks_than_fit_into_memory_is_refused() {
    let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    file.set_len(1 << 42).expect("a hole");
    let plan = ClassPlan::of_whole(u64::MAX, u32::MAX);
    let error = swath::classes::read_prioritised(file, plan).expect_err("trillions of chunks");
    assert_eq!(error.reason(), Reason::OutOfMemory);
    assert!(error.to_string().contains("fewer chunks"), "{error}");
}

#[test]
fn rows_and_named_ranges_are_plans_too() {
    let files = files(&[10_000]);
    let layout = RowLayout { offset: 100, len: 60, stride: 64, count: 100 };
    // Every fourth row first, then the rest.
    let plan = ClassPlan::rows(layout, |row| u32::from(row % 4 != 0));
    let reading = swath::classes::read_prioritised(&files.paths[0], plan).expect("started");
    let rows: Vec<_> = reading.wait(0).expect("read").chunks().collect();
    assert_eq!((rows.len(), rows[1].index), (25, 4));
    assert!(rows[1].bytes == &files.bytes[0][100 + 4 * 64..][..60]);
    drop(reading);
    let plan = ClassPlan::named([("index", 9000..10_000), ("head", 0..16)]);
    let head = plan.class_named("head").expect("listed");
    assert_eq!((plan.class_named("index"), plan.class_named("tail")), (Some(0), None));
    let reading = swath::classes::read_prioritised(&files.paths[0], plan).expect("started");
    let class = reading.wait(head).expect("read");
    assert!(class.chunks().next().expect("one").bytes == &files.bytes[0][..16]);
    assert!(reading.bytes(0, 16..17).is_none(), "in a hole");
    let loaded = reading.finish().expect("read");
    assert!(loaded.file(0)[..16] == files.bytes[0][..16] && loaded.file(0).len() == 1016);
    assert!(loaded.bytes(0, 9100..9200).expect("listed") == &files.bytes[0][9100..9200]);
    let huge = RowLayout { offset: 1, len: 1, stride: u64::MAX, count: 3 };
    assert_eq!(ClassPlan::rows(huge, |_| 0).len(), 1, "what does not fit is left out");
}

#[test]
fn empty_plans_and_empty_files_are_read_at_once() {
    let files = files(&[0, 5]);
    let none: [PathBuf; 0] = [];
    let loaded =
        swath::classes::read_prioritised_files(none, ClassPlan::new()).expect("started");
    assert!(loaded.finish().expect("nothing to read").buffer().is_empty());
    let plan = ClassPlan::by_position(0, 100, 10);
    let reading = swath::classes::read_prioritised(&files.paths[0], plan).expect("started");
    assert!(reading.wait(0).expect("nothing").is_empty());
    assert!(reading.finish().expect("nothing").report.classes.len() == 1);
    let mut plan = ClassPlan::new();
    plan.push_in(1, 3..3, 9).push_in(1, 1..2, 4);
    let reading = swath::classes::read_prioritised_files(&files.paths, plan).expect("started");
    assert_eq!(reading.wait(9).expect("empty").chunks().count(), 1);
    assert!(reading.wait(4).expect("one byte").chunks().next().expect("it").bytes.len() == 1);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_try() {
    let files = files(&[100]);
    let path = &files.paths[0];
    let mut beyond = ClassPlan::new();
    beyond.push(0..50, 0).push(90..101, 1);
    let error = swath::classes::read_prioritised(path, beyond.clone()).expect_err("too long");
    assert_eq!((error.reason(), error.extent()), (Reason::Truncated, Extent::new(90, 11)));
    let mut other = ClassPlan::new();
    other.push_in(1, 0..1, 0);
    let error = swath::classes::read_prioritised(path, other).expect_err("no such file");
    assert!(error.to_string().contains("file 1, there are 1"), "{error}");
    let plan = || ClassPlan::by_position(100, 4, 2);
    let error = ReadOptions::new().with_offset(1).read_prioritised(path, plan());
    assert_eq!(error.expect_err("an offset").reason(), Reason::Invalid);
    let error = ReadOptions::new().with_engine(Engine::Map).read_prioritised(path, plan());
    assert_eq!(error.expect_err("a map").reason(), Reason::Invalid);
    let error = swath::classes::read_prioritised("/dev/null", plan()).expect_err("a stream");
    assert!(error.to_string().contains("by position"), "{error}");
    let reading = swath::classes::read_prioritised(path, plan()).expect("started");
    let error = reading.wait(2).expect_err("no such class");
    assert!(error.to_string().contains("no class 2"), "{error}");
}

#[test]
fn engines_that_do_not_know_classes_are_reported() {
    let files = files(&[100_000]);
    let options = ReadOptions::new().with_engine(Engine::Ring).with_schedule(Schedule::Static);
    let plan = ClassPlan::by_position(100_000, 10, 2);
    let reading = options.read_prioritised(&files.paths[0], plan).expect("started");
    let loaded = reading.finish().expect("read");
    let fallbacks: String =
        loaded.report.read.fallbacks.iter().map(ToString::to_string).collect();
    assert!(fallbacks.contains("`ring`") && fallbacks.contains("`static`"), "{fallbacks}");
    assert_ne!(loaded.report.read.engine, Engine::Ring);
}

#[test]
fn memory_of_a_plan_comes_from_a_pool_and_goes_back() {
    let files = files(&[3 << 20]);
    let pool = swath::BufferPool::new(64 << 20);
    let options = ReadOptions::new().with_pool(pool.clone());
    let plan = || ClassPlan::by_position(3 << 20, 30, 3);
    drop(options.read_prioritised(&files.paths[0], plan()).expect("started").finish());
    assert!(pool.idle_bytes() >= 3 << 20);
}
