//! A profile changes how a file is read and never which bytes are read, and the report names it.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use swath::ingest::IngestOptions;
use swath::maps::Guard;
use swath::mirror::{Mirrored, SharedDevice};
use swath::reading::Reuse;
use swath::{Engine, Fallback, PageCache, Profile, ReadOptions, Report};
use swath_reference::battery::BatterySize;

const MIB: usize = 1 << 20;

fn file_of(len: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
    let bytes = swath_reference::bytes(len as u64, len);
    let mut file =
        tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    file.write_all(&bytes).expect("room on disk");
    file.as_file().sync_all().expect("room on disk");
    (file, bytes)
}

fn evict(path: &Path) {
    let file = File::open(path).expect("it is there");
    let all = rustix::fs::Advice::DontNeed;
    rustix::fs::fadvise(&file, 0, None, all).expect("a regular file");
}

fn profiles() -> impl Strategy<Value = Profile> {
    let count = || prop::sample::select(&[0_u64, 1, 3, 40, u64::MAX][..]);
    let size = || prop::sample::select(&[0_u64, 1, 4096, 70_001, 3 << 20, u64::MAX][..]);
    let numbers = (prop::array::uniform3(count()), prop::array::uniform4(size()));
    let words = (0..Engine::WORDS.len(), 0..PageCache::WORDS.len());
    (numbers, words, any::<bool>()).prop_map(|((counts, sizes), words, side_by_side)| {
        Profile::new("any")
            .with_warm_workers(counts[0])
            .with_cold_workers(counts[1])
            .with_direct_depth(counts[2])
            .with_warm_chunk_size(sizes[0])
            .with_cold_chunk_size(sizes[1])
            .with_direct_chunk_size(sizes[2])
            .with_small_file(sizes[3])
            .with_direct_engine(Engine::WORDS[words.0].1)
            .with_once(PageCache::WORDS[words.1].1)
            .with_files_workers(usize::try_from(counts[0]).unwrap_or(usize::MAX))
            .with_files_depth(u32::try_from(counts[1]).unwrap_or(u32::MAX))
            .with_shared_device(shared(side_by_side))
    })
}

fn cases() -> u32 {
    u32::try_from(BatterySize { slice: 24, full: 200 }.count()).expect("few")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Read, summed, streamed, scanned in pieces, ingested: the oracle's result, warm and cold.
    #[test]
    fn the_bytes_are_the_serial_bytes_whatever_the_profile_says(
        profile in profiles(), warm in any::<bool>(), once in any::<bool>(),
        len in prop::sample::select(&[0, 5, 65_537, MIB + 1, 5 * MIB + 77, 17 * MIB][..]),
    ) {
        let (file, bytes) = file_of(len);
        let path = file.path();
        let state = || if !warm { evict(path) };
        let reuse = if once { Reuse::Once } else { Reuse::Unknown };
        let options = ReadOptions::new().with_profile(profile.clone()).with_reuse(reuse);
        state();
        let serial = swath_reference::read(path, 0, None).expect("the oracle reads");
        state();
        let loaded = options.read(path).expect("read");
        prop_assert!(loaded.buffer[..] == serial[..], "{:?}", loaded.report);
        prop_assert_eq!(loaded.report.profile.as_deref(), Some("any"));
        state();
        prop_assert_eq!(options.sum(path).expect("sum").value, swath_reference::sum(&bytes));
        state();
        let opened = File::open(path).expect("there");
        let guard = Guard::install(&opened, path).expect("a guard");
        let summed = options.sum_mapped(guard, path).expect("sum");
        prop_assert_eq!(summed.value, swath_reference::sum(&bytes));
        // The chunk size of a scan is the caller's: folds see the same chunks.
        let lens = |options: &ReadOptions| {
            let fold = |chunk: swath::Chunk<'_>| vec![(chunk.offset, chunk.bytes.len())];
            options.scan(path, fold, |left, right| [left, right].concat()).expect("scan").value
        };
        prop_assert_eq!(lens(&options), lens(&ReadOptions::new()));
        state();
        let mut streamed = Vec::new();
        let mut reader = options.reader(path).expect("reader");
        std::io::Read::read_to_end(&mut reader, &mut streamed).expect("streamed");
        prop_assert!(streamed == serial);
        state();
        let files = swath::ingest::Files::paths([path, path]);
        let ingested = IngestOptions::new().with_read(ReadOptions::new().with_profile(profile)).ingest(files);
        let ingested = ingested.expect("ingested");
        prop_assert!(ingested.iter().all(|entry| entry.bytes == &serial[..]));
        prop_assert_eq!(ingested.report().profile.as_deref(), Some("any"));
    }
}

fn report_of(options: &ReadOptions, path: &Path) -> Report {
    options.read(path).expect("read").report
}

fn shared(side_by_side: bool) -> SharedDevice {
    if side_by_side { SharedDevice::SideBySide } else { SharedDevice::OneCopy }
}

#[test]
fn the_report_names_the_profile_that_it_was_decided_by() {
    let (file, _) = file_of(9 * MIB);
    let profile = Arc::new(Profile::new("ext4 on disk").with_warm_workers(1));
    let auto = ReadOptions::new().with_profile(Arc::clone(&profile));
    let tuned = report_of(&auto, file.path());
    assert_eq!(tuned.profile.as_deref(), Some("ext4 on disk"));
    assert_eq!((tuned.engine, tuned.workers), (Engine::Serial, 1));
    assert!(tuned.reason.ends_with("as tuned: workers"), "{}", tuned.reason);
    let plain = report_of(&ReadOptions::new(), file.path());
    assert_eq!(plain.profile, None);
    assert!(!plain.reason.contains("tuned"), "{}", plain.reason);
    // A requested engine leaves nothing to decide.
    let asked = report_of(&auto.clone().with_engine(Engine::Pool), file.path());
    assert_eq!(asked.profile, None);
    let pipe = auto.read("/proc/self/status").expect("generated by the kernel").report;
    assert_eq!(pipe.profile, None, "{}", pipe.reason);
    let blocks = auto.records(file.path()).for_each_block(|_| Ok::<(), swath::Error>(()));
    assert_eq!(blocks.expect("blocks").profile.as_deref(), Some("ext4 on disk"));
}

#[test]
fn what_the_caller_asks_for_comes_before_the_profile() {
    let (file, _) = file_of(9 * MIB);
    let profile = Profile::new("p").with_warm_workers(1).with_warm_chunk_size(4096);
    let options = ReadOptions::new().with_profile(profile).with_workers(2);
    let report = report_of(&options.with_chunk_size(MIB as u64), file.path());
    assert_eq!((report.workers, report.chunk_size), (2, MIB as u64));
    assert!(!report.reason.contains("tuned"), "{}", report.reason);
    assert_eq!(report.profile.as_deref(), Some("p"), "it was consulted, and changed nothing");
}

#[test]
fn numbers_that_nobody_can_mean_are_bounded_and_said() {
    let (file, _) = file_of(3 * MIB);
    let wild = Profile::new("wild").with_cold_workers(u64::MAX).with_small_file(u64::MAX);
    let report = report_of(&ReadOptions::new().with_profile(wild.clone()), file.path());
    let is_said = |it: &&Fallback| matches!(it, Fallback::OutOfRange { from: "profile", .. });
    let said = report.fallbacks.iter().filter(is_said).count();
    assert_eq!(said, 2, "{:?}", report.fallbacks);
    let wild = wild.with_files_workers(usize::MAX).with_files_depth(u32::MAX);
    let options = IngestOptions::new().with_read(ReadOptions::new().with_profile(wild));
    let report = options.ingest(file.path()).expect("ingested").report().clone();
    assert_eq!(report.fallbacks.len(), 2, "{:?}", report.fallbacks);
    assert!(report.workers <= 1024);
}

#[test]
fn copies_of_one_device_are_read_side_by_side_if_asked_for() {
    let (one, bytes) = file_of(8 * MIB);
    let two = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    std::fs::write(two.path(), &bytes).expect("written");
    let read = |side_by_side| {
        let copies =
            Mirrored::new([one.path(), two.path()]).with_shared_device(shared(side_by_side));
        let loaded = ReadOptions::new().read(copies).expect("read");
        assert!(loaded.buffer[..] == bytes[..]);
        loaded.report
    };
    let (spare, both) = (read(false), read(true));
    assert_eq!(spare.mirrors[1].bytes, 0, "{spare:?}");
    assert!(matches!(spare.fallbacks[..], [Fallback::MirrorsShareDevice { .. }]));
    assert!(both.mirrors.iter().all(|mirror| mirror.bytes > 0), "{both:?}");
    assert!(both.fallbacks.is_empty(), "{:?}", both.fallbacks);
}
