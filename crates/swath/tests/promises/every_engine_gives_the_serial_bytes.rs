//! Each engine × chunk size × worker count gives the serial reader's bytes, at sizes around
//! every boundary, through every way of calling.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use swath::maps::Guard;
use swath::reading::Schedule;
use swath::{BufferPool, Engine, PageCache, ReadOptions};
use swath_reference::battery::Battery;

const MIB: usize = 1 << 20;
const CHUNK_SIZES: [usize; 8] = [0, 1, 511, 512, 4095, 4096, 4097, MIB];
const WORKERS: [usize; 5] = [0, 1, 2, 7, 64];
const ENGINES: [Engine; 4] = [Engine::Auto, Engine::Serial, Engine::Pool, Engine::Ring];

/// Around the units of the plan: pages, the small-file limit, leases, populated blocks, windows.
fn sizes() -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 510, 511, 512, 513];
    for edge in [4096, 64 << 10, MIB, 2 * MIB] {
        sizes.extend([edge - 1, edge, edge + 1]);
    }
    sizes.push(16 * MIB + 4097);
    sizes
}

fn file_of(len: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
    let bytes = swath_reference::bytes(len as u64, len);
    let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR"));
    let file_ref = file.as_mut().expect("a temporary file");
    file_ref.write_all(&bytes).expect("room on disk");
    file_ref.as_file().sync_all().expect("room on disk");
    (file.expect("made above"), bytes)
}

fn evict(path: &Path) {
    let file = File::open(path).expect("it is there");
    let all = rustix::fs::Advice::DontNeed;
    rustix::fs::fadvise(&file, 0, None, all).expect("a regular file");
}

/// One-byte chunks are for small files: one call each.
fn sensible(chunk_size: usize, len: usize) -> bool {
    chunk_size == 0 || chunk_size >= 511 || len <= 4097
}

fn assert_same(loaded: &[u8], bytes: &[u8], what: &str) {
    assert_eq!(loaded.len(), bytes.len(), "{what}");
    // Not `assert_eq`: it would print 16 MiB.
    assert!(loaded == bytes, "bytes differ: {what}");
}

#[test]
fn every_engine_chunk_size_and_worker_count_gives_the_serial_bytes() {
    for len in sizes() {
        let (file, bytes) = file_of(len);
        let whole = swath_reference::read(file.path(), 0, None).expect("the oracle reads");
        assert_same(&whole, &bytes, "the oracle itself");
        assert_same(&swath::read(file.path()).expect("read"), &bytes, "swath::read");
        let sizes = CHUNK_SIZES.into_iter().chain([len + 1]);
        let sizes = sizes.filter(|&chunk_size| sensible(chunk_size, len));
        let all = sizes.flat_map(|size| ENGINES.map(|engine| (engine, size)));
        let all = all.flat_map(|(engine, size)| WORKERS.map(|workers| (engine, size, workers)));
        for (engine, chunk_size, workers) in Battery::of_list("combinations", 60, all) {
            let options = ReadOptions::new()
                .with_engine(engine)
                .with_chunk_size(chunk_size as u64)
                .with_workers(workers);
            check(&options, file.path(), &bytes);
        }
    }
}

fn check(options: &ReadOptions, path: &Path, bytes: &[u8]) {
    for schedule in [Schedule::Dynamic, Schedule::Static] {
        let options = options.clone().with_schedule(schedule);
        let loaded = options.read(path).expect("read");
        let what = format!("{} of {options:?}", bytes.len());
        assert_same(&loaded.buffer, bytes, &what);
        assert_eq!(loaded.report.bytes, bytes.len() as u64, "{what}");
    }
}

#[test]
fn every_page_cache_way_gives_the_bytes_warm_and_cold() {
    let ways = [PageCache::Auto, PageCache::Keep, PageCache::Drop, PageCache::Bypass];
    for len in sizes() {
        let (file, bytes) = file_of(len);
        for engine in ENGINES {
            for page_cache in ways {
                let options =
                    ReadOptions::new().with_engine(engine).with_page_cache(page_cache);
                for cold in [true, false] {
                    if cold {
                        evict(file.path());
                    }
                    let loaded = options.read(file.path()).expect("read");
                    let what = format!("{len} {engine} {page_cache} cold: {cold}");
                    assert_same(&loaded.buffer, &bytes, &what);
                    let scanned = options.sum(file.path()).expect("scan");
                    assert_eq!(scanned.value, swath_reference::sum(&bytes), "{what}");
                }
            }
        }
    }
}

#[test]
fn extents_and_callers_memory_get_exactly_the_bytes_asked_for() {
    let (file, bytes) = file_of(3 * MIB + 777);
    let edges = [0, 1, 511, 4096, MIB - 1, MIB, 2 * MIB + 3, bytes.len()];
    for engine in ENGINES {
        for page_cache in [PageCache::Keep, PageCache::Bypass] {
            let options = ReadOptions::new().with_engine(engine).with_page_cache(page_cache);
            for (from, to) in edges.iter().flat_map(|&from| edges.map(|to| (from, to))) {
                let Some(len) = to.checked_sub(from) else { continue };
                let part = options.clone().with_offset(from as u64).with_len(len as u64);
                let what = format!("{from}..{to} {engine} {page_cache}");
                let loaded = part.read(file.path()).expect("read");
                assert_same(&loaded.buffer, &bytes[from..to], &what);
                // At an odd address, with a border that must not change.
                let mut target = vec![0xEE; len + 2];
                part.read_into(file.path(), &mut target[1..=len]).expect("read");
                assert_same(&target[1..=len], &bytes[from..to], &what);
                assert_eq!((target[0], target[len + 1]), (0xEE, 0xEE), "{what}");
                let count = part.count(file.path(), b'\n').expect("scan").value;
                assert_eq!(count, swath_reference::count(&bytes[from..to], b'\n'), "{what}");
            }
        }
    }
}

#[test]
fn a_guarded_map_gives_the_same_bytes_sums_and_counts() {
    for len in sizes() {
        let (file, bytes) = file_of(len);
        let opened = File::open(file.path()).expect("it is there");
        let guard = Guard::install(&opened, file.path()).expect("a handler");
        for (offset, workers) in [(0, 0), (0, 7), (len / 2, 2), (len.saturating_sub(1), 1)] {
            let options = ReadOptions::new()
                .with_engine(Engine::Map)
                .with_workers(workers)
                .with_offset(offset as u64);
            let rest = &bytes[offset..];
            let loaded = options.read_mapped(guard.clone(), file.path()).expect("read");
            assert_same(&loaded.buffer, rest, &format!("{len} from {offset}"));
            let sum = options.sum_mapped(guard.clone(), file.path()).expect("sum").value;
            assert_eq!(sum, swath_reference::sum(rest));
            let auto = options.clone().with_engine(Engine::Auto);
            let count = auto.count_mapped(guard.clone(), file.path(), 7).expect("count");
            assert_eq!(count.value, swath_reference::count(rest, 7));
        }
    }
}

#[test]
fn a_long_cached_file_is_read_and_mapped_in_turns_and_each_byte_counts_once() {
    let (file, bytes) = file_of(65 * MIB + 77);
    let opened = File::open(file.path()).expect("it is there");
    let guard = Guard::install(&opened, file.path()).expect("a handler");
    for (offset, workers, chunk_size) in [(0, 1, 0), (1, 2, 0), (99, 7, 100_001)] {
        let options = ReadOptions::new()
            .with_workers(workers)
            .with_chunk_size(chunk_size)
            .with_offset(offset as u64);
        let rest = &bytes[offset..];
        let summed = options.sum_mapped(guard.clone(), file.path()).expect("sum");
        assert_eq!(summed.value, swath_reference::sum(rest));
        let report = summed.report;
        assert_eq!(report.bytes, rest.len() as u64);
        let is_mapped = report.reason.ends_with("for a worker: mapped");
        assert!(is_mapped || report.reason.ends_with("for a worker: read"), "{report:?}");
        assert_eq!(report.engine == Engine::Map, is_mapped);
        let count = options.count_mapped(guard.clone(), file.path(), 7).expect("count");
        assert_eq!(count.value, swath_reference::count(rest, 7));
    }
}

#[test]
fn reused_buffers_hold_the_new_bytes_only() {
    let options = ReadOptions::new().with_pool(BufferPool::new(64 * MIB));
    for len in [5 * MIB + 1, 3 * MIB, 5 * MIB, 4 * MIB - 1] {
        let (file, bytes) = file_of(len);
        for page_cache in [PageCache::Keep, PageCache::Bypass] {
            evict(file.path());
            let options = options.clone().with_page_cache(page_cache);
            let loaded = options.read(file.path()).expect("read");
            assert_same(&loaded.buffer, &bytes, "reused");
        }
    }
}

/// A sum whose result depends on the order of the additions.
fn bracketed(bytes: &[u8]) -> f64 {
    bytes.iter().map(|&byte| f64::from(byte) * 0.1).sum()
}

#[test]
fn a_scan_brackets_floating_point_sums_alike_at_every_worker_count() {
    let (file, bytes) = file_of(5 * MIB + 4321);
    let sizes = [511, 4096, 100_000, MIB, 8 * MIB];
    for chunk_size in Battery::of_list("combinations", 2, sizes) {
        let chunk = NonZeroUsize::new(chunk_size).expect("positive").get();
        let serial = bytes
            .chunks(chunk)
            .map(bracketed)
            .reduce(|left, right| left + right)
            .expect("some");
        for workers in WORKERS {
            for page_cache in [PageCache::Keep, PageCache::Bypass] {
                evict(file.path());
                let options = ReadOptions::new()
                    .with_chunk_size(chunk_size as u64)
                    .with_workers(workers)
                    .with_page_cache(page_cache);
                let fold = |chunk: swath::Chunk<'_>| bracketed(chunk.bytes);
                let scanned = options.scan(file.path(), fold, |left, right| left + right);
                let value = scanned.expect("scan").value.expect("not empty");
                assert_eq!(value.to_bits(), serial.to_bits(), "{chunk_size} {workers}");
            }
        }
    }
}

#[test]
fn a_reader_gives_the_bytes_in_order_and_seeks_anywhere() {
    for len in sizes() {
        let (file, bytes) = file_of(len);
        let both = [PageCache::Keep, PageCache::Bypass];
        for (page_cache, is_ahead) in both.into_iter().flat_map(|it| [(it, false), (it, true)])
        {
            evict(file.path());
            let options = ReadOptions::new().with_page_cache(page_cache);
            let mut reader = options.reader(file.path()).expect("open");
            if is_ahead {
                reader.keep_ahead();
            }
            let mut all = Vec::new();
            reader.read_to_end(&mut all).expect("read");
            assert_same(&all, &bytes, &format!("{len} {page_cache}"));
            let mut random = swath_reference::splitmix(len as u64);
            for _ in 0..20 {
                let at = usize::try_from(random() % (len as u64 + 1)).expect("small");
                let position = reader.seek(SeekFrom::Start(at as u64)).expect("seek");
                assert_eq!((position, reader.position()), (at as u64, at as u64));
                let mut some = vec![0; (len - at).min(1000)];
                reader.read_exact(&mut some).expect("read");
                assert_same(&some, &bytes[at..at + some.len()], &format!("{len} at {at}"));
            }
            assert_eq!(reader.seek(SeekFrom::End(5)).expect("seek"), len as u64 + 5);
            assert_eq!(reader.read(&mut [0; 9]).expect("past the end"), 0);
            let before = -i64::try_from(len).expect("small") - 1;
            reader.seek(SeekFrom::End(before)).expect_err("before the start");
        }
    }
}
