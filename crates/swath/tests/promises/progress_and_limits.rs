//! Progress, cancellation, the rate limit, usage, and memory that stays bounded.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use swath::{BufferPool, CancelToken, Engine, PageCache, ReadOptions, Reason};

const LEN: usize = (9 << 20) + 17;

fn file() -> tempfile::NamedTempFile {
    let mut file =
        tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    file.write_all(&swath_reference::bytes(1, LEN)).expect("room on disk");
    file
}

#[test]
fn progress_ends_at_the_whole_and_never_exceeds_it() {
    let file = file();
    for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let options = ReadOptions::new()
            .with_engine(engine)
            .with_progress(move |progress| notes.lock().expect("quick").push(progress));
        options.read(file.path()).expect("read");
        let seen = seen.lock().expect("all done");
        assert!(seen.len() > 3, "{engine}: {} calls", seen.len());
        assert!(seen.iter().all(|progress| progress.total == Some(LEN as u64)));
        assert_eq!(seen.iter().map(|progress| progress.bytes).max(), Some(LEN as u64));
    }
}

#[test]
fn a_cancelled_read_ends_with_its_own_reason_in_every_engine() {
    let file = file();
    for engine in [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring] {
        let token = CancelToken::new();
        let cancel = token.clone();
        let options = ReadOptions::new()
            .with_engine(engine)
            .with_workers(2)
            .with_chunk_size(64 << 10)
            .with_queue_depth(1)
            .with_progress(move |_| cancel.cancel())
            .with_cancel(token);
        let error = options.read(file.path()).expect_err("cancelled");
        assert_eq!(error.reason(), Reason::Cancelled, "{engine}");
    }
}

#[test]
fn a_cancelled_reader_and_scan_end_too() {
    let file = file();
    let token = CancelToken::new();
    let options = ReadOptions::new().with_cancel(token.clone());
    let mut reader = options.reader(file.path()).expect("opens");
    reader.read_exact(&mut [0; 10]).expect("not cancelled yet");
    token.cancel();
    let error = reader.read_to_end(&mut Vec::new()).expect_err("cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert_eq!(options.sum(file.path()).expect_err("cancelled").reason(), Reason::Cancelled);
}

#[test]
fn a_reader_reports_one_progress_from_the_first_block_to_the_last() {
    let file = file();
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let options = ReadOptions::new().with_progress(move |progress| {
        assert_eq!(progress.total, Some(LEN as u64));
        seen.fetch_max(progress.bytes, Ordering::SeqCst);
    });
    let mut reader = options.reader(file.path()).expect("opens");
    std::io::copy(&mut reader, &mut std::io::sink()).expect("read");
    drop(reader); // its workers have ended, and reported
    assert_eq!(most.load(Ordering::SeqCst), LEN as u64);
}

#[test]
fn a_rate_limit_spaces_the_reads() {
    let file = file();
    let rate = 64 << 20;
    for engine in [Engine::Serial, Engine::Pool, Engine::Ring] {
        let options = ReadOptions::new().with_engine(engine).with_rate_bytes_per_s(rate);
        let report = options.read(file.path()).expect("read").report;
        let least = LEN as f64 / rate as f64 - 0.001;
        assert!(report.elapsed.as_secs_f64() >= least, "{engine}: {:?}", report.elapsed);
    }
}

#[test]
fn the_report_adds_up() {
    let file = file();
    let options = ReadOptions::new()
        .with_engine(Engine::Pool)
        .with_workers(3)
        .with_chunk_size(1 << 20)
        .with_pool(BufferPool::new(0))
        .with_costs(swath::reading::Costs::Process);
    let report = options.read(file.path()).expect("read").report;
    assert_eq!((report.bytes, report.workers, report.chunk_size), (LEN as u64, 3, 1 << 20));
    assert_eq!((report.chunks, report.calls, report.retries), (10, 10, 0), "{report:?}");
    assert!(report.populated_bytes >= LEN as u64, "{report:?}");
    assert_eq!(report.page_cache, PageCache::Keep);
    let usage = report.usage.expect("asked for");
    assert!(usage.peak_rss > LEN as u64, "{usage:?}");
    assert!(report.gb_per_s() > 0.0);
}

#[test]
fn reused_memory_is_not_populated_again() {
    let file = file();
    let options = ReadOptions::new().with_pool(BufferPool::new(64 << 20));
    let first = options.read(file.path()).expect("read").report;
    let second = options.read(file.path()).expect("read").report;
    assert!(first.populated_bytes > 0);
    assert_eq!(second.populated_bytes, 0);
}

#[test]
fn a_scan_holds_no_more_chunks_at_once_than_it_has_workers() {
    let file = file();
    let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let fold = |_: swath::Chunk<'_>| {
        let held = now.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(held, Ordering::SeqCst);
        std::thread::yield_now();
        now.fetch_sub(1, Ordering::SeqCst);
    };
    let options = ReadOptions::new().with_workers(3).with_chunk_size(4096);
    options.scan(file.path(), fold, |(), ()| ()).expect("scan");
    assert!((1..=3).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}
