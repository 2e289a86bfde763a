//! Fault sets, scripted and random, against the reference.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use swath::manifest::Checksums;
use swath::mirror::{MirrorState, Mirrored, Verify};
use swath::{Engine, Fallback, ReadOptions, Reason, Source, manifest};
use swath_reference::battery::{Battery, BatterySize, is_full};
use swath_reference::{bytes, mirror, splitmix};

use crate::mirrors::copies::{Faults, Faulty, texts};

const CHUNK: usize = 4096;
/// Not a multiple of the chunk size.
const LEN: usize = 40 * CHUNK + 123;

fn right() -> Arc<Vec<u8>> {
    Arc::new(bytes(5, LEN))
}

fn sums(right: &[u8], chunk_size: usize) -> Arc<Checksums> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), right).expect("room");
    let sums = ReadOptions::new().checksums(file.path(), chunk_size as u64).expect("readable");
    Arc::new(sums.value)
}

/// The ways to read that must all return the same.
fn ways() -> Vec<ReadOptions> {
    let pool = |workers, chunk_size| {
        let options = ReadOptions::new().with_engine(Engine::Pool).with_workers(workers);
        options.with_chunk_size(chunk_size as u64)
    };
    let mut ways = vec![ReadOptions::new(), ReadOptions::new().with_engine(Engine::Serial)];
    for workers in [1, 2, 3, 5, 8, 64] {
        ways.extend([1000, CHUNK, 3 * CHUNK].map(|chunk_size| pool(workers, chunk_size)));
    }
    ways
}

#[test]
fn a_single_fault_of_any_kind_changes_no_byte() {
    let right = right();
    let sums = sums(&right, CHUNK);
    let all: Vec<usize> = (0..=LEN / CHUNK).collect();
    let faults = [
        Faults { missing: true, ..Faults::default() },
        Faults { len: Some(LEN / 2), ..Faults::default() },
        Faults { len: Some(LEN / 2), lies: true, ..Faults::default() },
        Faults { len: Some(0), lies: true, ..Faults::default() },
        Faults { unreadable: vec![0, 7, 40], ..Faults::default() },
        Faults { unreadable: all.clone(), ..Faults::default() },
        Faults { wrong: vec![0, 7, 40], ..Faults::default() },
        Faults { wrong: all, ..Faults::default() },
    ];
    let some = Battery::of_list("combinations", 3, faults.into_iter().enumerate());
    for (number, fault) in some {
        for damaged in 0..3 {
            for verify in [Verify::None, Verify::Manifest(Arc::clone(&sums)), Verify::Vote] {
                if matches!(verify, Verify::None) && !fault.wrong.is_empty() {
                    continue; // undecidable
                }
                for options in ways() {
                    let copies: Vec<_> = (0..3)
                        .map(|index| match index == damaged {
                            true => Faulty::new(index, &right, CHUNK, fault.clone()),
                            false => Faulty::new(index, &right, CHUNK, Faults::default()),
                        })
                        .collect();
                    let source = Mirrored::new(copies.iter().map(Faulty::source));
                    let source = source.with_verify(verify.clone());
                    let loaded = options.read(source).expect("two copies are good");
                    let what = format!("fault {number} of copy {damaged}");
                    assert!(loaded.buffer[..] == right[..], "{what}");
                    let told = &loaded.report.mirrors[damaged];
                    if fault.missing {
                        assert_eq!(told.state, MirrorState::Unusable, "{what}");
                        let told = &loaded.report.fallbacks;
                        let is_said =
                            |it: &Fallback| matches!(it, Fallback::MirrorNotRead { .. });
                        assert!(told.iter().any(is_said), "{what}: {told:?}");
                    }
                }
            }
        }
    }
}

/// Random faults in all copies at once: right where the reference has bytes, otherwise an error.
#[test]
fn whatever_is_good_somewhere_comes_out_and_nothing_else() {
    let right = right();
    let sums = sums(&right, CHUNK);
    let chunks = LEN / CHUNK + 1;
    let (mut came, mut failed) = (0, 0);
    let mut battery = Battery::new("combinations", BatterySize { slice: 25, full: 300 });
    for seed in battery.by_ref() {
        let mut next = splitmix(seed);
        let mut below = |bound: usize| usize::try_from(next() % bound as u64).expect("small");
        let count = 1 + below(4);
        let copies: Vec<_> = (0..count)
            .map(|index| {
                let share = 1 + below(12);
                let mut pick = || (0..chunks).filter(|_| below(share * 3) == 0).collect();
                let (unreadable, wrong) = (pick(), pick());
                let len = (below(5) == 0).then(|| below(LEN));
                let faults = Faults {
                    missing: below(8) == 0,
                    len,
                    lies: below(2) == 0,
                    unreadable,
                    wrong,
                    ..Faults::default()
                };
                Faulty::new(index, &right, CHUNK, faults)
            })
            .collect();
        let bytes: Vec<_> = copies.iter().map(|copy| copy.bytes()).collect();
        let expected = mirror::is_readable_by_manifest(&right, &bytes, CHUNK);
        let workers = 1 + below(8);
        let options = ReadOptions::new().with_engine(Engine::Pool).with_workers(workers);
        let source = Mirrored::new(copies.iter().map(Faulty::source))
            .with_verify(Verify::Manifest(Arc::clone(&sums)));
        match options.read(source) {
            Ok(loaded) => {
                assert!(expected, "seed {seed}");
                assert!(loaded.buffer[..] == right[..], "seed {seed}");
                came += 1;
            }
            Err(error) => {
                assert!(!expected, "seed {seed}: {error:?}");
                failed += 1;
            }
        }
    }
    let least = battery.tried() / if is_full() { 8 } else { 20 };
    assert!(came > least && failed > least, "both happen: {came} {failed}");
}

#[test]
fn a_vote_gives_what_more_than_half_agree_on() {
    let right = right();
    let chunks = LEN / CHUNK + 1;
    let (mut came, mut failed) = (0, 0);
    let mut battery = Battery::new("combinations", BatterySize { slice: 20, full: 200 });
    for seed in battery.by_ref() {
        let mut next = splitmix(1000 + seed);
        let mut below = |bound: usize| usize::try_from(next() % bound as u64).expect("small");
        let count = 2 + below(4);
        let copies: Vec<_> = (0..count)
            .map(|index| {
                let share = 1 + below(60);
                let mut pick = || (0..chunks).filter(|_| below(share * 4) == 0).collect();
                let (unreadable, wrong) = (pick(), pick());
                let faults =
                    Faults { missing: below(10) == 0, unreadable, wrong, ..Faults::default() };
                Faulty::new(index, &right, CHUNK, faults)
            })
            .collect();
        // Wrong bytes are the same everywhere: two damaged copies may well agree. The vote
        // decides chunk by chunk; here it makes no difference whether the file's chunks are
        // decided together, because pieces of a vote are larger than this file.
        let bytes: Vec<_> = copies.iter().map(|copy| copy.bytes()).collect();
        let expected = mirror::by_vote(&bytes, LEN, LEN);
        let source = Mirrored::new(copies.iter().map(Faulty::source)).with_verify(Verify::Vote);
        let options = ReadOptions::new().with_engine(Engine::Serial).with_chunk_size(1 << 20);
        match (options.read(source), expected) {
            (Ok(loaded), Some(expected)) => {
                assert!(loaded.buffer[..] == expected[..], "seed {seed}");
                came += 1;
            }
            (Err(_), None) => failed += 1,
            (Ok(_), None) => panic!("seed {seed}: no majority, and yet bytes"),
            (Err(error), Some(_)) => panic!("seed {seed}: {error:?}"),
        }
    }
    let least = battery.tried() / if is_full() { 10 } else { 50 };
    assert!(came > least && failed > least, "both happen: {came} {failed}");
}

/// One copy is damaged a little before 3 MiB, another one a little after it: the fourth chunk is
/// right in the first copy, the third one in the second, and both are in the third.
#[test]
fn a_vote_gives_the_same_bytes_wherever_reads_begin_and_end() {
    const MIB: usize = 1 << 20;
    const STEP: usize = 1 << 10;
    let right = Arc::new(bytes(8, 8 * MIB));
    let damaged_at = |at: usize| Faults { wrong: vec![at / STEP], ..Faults::default() };
    let source = || {
        let all = [damaged_at(3 * MIB - 100), damaged_at(3 * MIB + 2000), Faults::default()];
        let copies = (0..)
            .zip(all)
            .map(|(index, faults)| Faulty::new(index, &right, STEP, faults).source());
        Mirrored::new(copies).with_verify(Verify::Vote)
    };
    let chunk_sizes = [100_000, 777_777, MIB, MIB + 1, 3 * MIB, 8 * MIB];
    let all = chunk_sizes.into_iter().flat_map(|size| [1, 3, 8].map(|workers| (size, workers)));
    for (chunk_size, workers) in Battery::of_list("combinations", 5, all) {
        let options =
            ReadOptions::new().with_workers(workers).with_chunk_size(chunk_size as u64);
        for (offset, len) in [(0, 8 * MIB), (3 * MIB - 150, 3000), (2_500_001, 3_000_003)] {
            let options = options.clone().with_offset(offset as u64).with_len(len as u64);
            let loaded = options.read(source()).expect("two are right everywhere");
            let expected = &right[offset..offset + len];
            assert!(loaded.buffer[..] == *expected, "{offset} {len} {chunk_size}");
        }
        let mut through = Vec::new();
        let mut reader = options.reader(source()).expect("opens");
        std::io::copy(&mut reader, &mut through).expect("two are right everywhere");
        assert!(through == right[..], "{chunk_size} {workers}");
    }
}

#[test]
fn every_verb_reads_around_a_fault() {
    let right = Arc::new(bytes(6, 3 << 20));
    let chunk = 64 << 10;
    let sums = sums(&right, chunk);
    let source = || -> Source {
        let faults = |unreadable: &[usize], wrong: &[usize]| Faults {
            unreadable: unreadable.to_vec(),
            wrong: wrong.to_vec(),
            ..Faults::default()
        };
        let copies = [faults(&[1, 20], &[47]), faults(&[3], &[2, 30])];
        let copies = (0..)
            .zip(copies)
            .map(|(index, faults)| Faulty::new(index, &right, chunk, faults).source());
        Mirrored::new(copies).with_verify(Verify::Manifest(Arc::clone(&sums))).into()
    };
    let options = ReadOptions::new();
    let plain_sum: u64 = right.iter().map(|&byte| u64::from(byte)).sum();
    let summed = options.sum(source()).expect("readable");
    assert_eq!(summed.value, plain_sum);
    assert!(summed.report.mirrors.iter().any(|mirror| mirror.fail_overs > 0));
    let mut target = vec![0; 100_000];
    let report =
        options.clone().with_offset(60_001).read_into(source(), &mut target).expect("readable");
    assert!(target[..] == right[60_001..160_001] && report.bytes == 100_000);
    let small = options.clone().with_offset(65_530).with_len(12).read(source());
    assert!(small.expect("readable").buffer[..] == right[65_530..65_542]);
    let mut through = Vec::new();
    std::io::copy(&mut options.reader(source()).expect("opens"), &mut through)
        .expect("readable");
    assert!(through[..] == right[..]);
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    swath::copy(source(), &copy).expect("readable");
    assert!(std::fs::read(&copy).expect("there") == right[..]);
    let found = manifest::check(&copy, &sums).expect("readable");
    assert!(found.is_right());
    let sizes = swath::records_of([source()])
        .map_blocks(|block| Ok::<_, swath::Error>(block.bytes.len()));
    let sizes = sizes.expect("readable");
    assert_eq!(sizes.iter().sum::<usize>(), right.len());
    let plan = swath::classes::ClassPlan::of_whole(100, 10);
    let loaded = swath::classes::read_prioritised(source(), plan).expect("readable").finish();
    let loaded = loaded.expect("readable");
    assert!(loaded.bytes(0, 0..right.len() as u64).expect("all of it") == &right[..]);
    assert!(loaded.report.read.mirrors.iter().any(|mirror| mirror.fail_overs > 0));
}

#[test]
fn a_fault_of_every_copy_is_an_error_that_names_them_all() {
    let right = right();
    let faults =
        |unreadable: &[usize]| Faults { unreadable: unreadable.to_vec(), ..Faults::default() };
    let copies = [faults(&[3, 9]), faults(&[9]), Faults { missing: true, ..Faults::default() }];
    let copies = (0..)
        .zip(copies)
        .map(|(index, faults)| Faulty::new(index, &right, CHUNK, faults).source());
    let error =
        ReadOptions::new().read(Source::mirrored(copies)).expect_err("chunk 9 is nowhere");
    let text = format!("{error:?}");
    for word in ["first", "second", "third", "no copy has these bytes", "os error 5"] {
        assert!(text.contains(word), "{text}");
    }
    let extent = error.extent().expect("it was about bytes");
    let (offset, len) = (extent.offset(), extent.len());
    assert!(offset <= 9 * CHUNK as u64 && 9 * (CHUNK as u64) < offset + len);
}

#[test]
fn copies_none_of_which_can_be_opened_are_an_error_that_says_why() {
    let error = ReadOptions::new().read(Source::mirrored(["/gone/a", "/gone/b"]));
    let text = format!("{:?}", error.expect_err("they are not there"));
    assert!(text.contains("/gone/a: No such file") && text.contains("/gone/b: No"), "{text}");
    let nothing: [&str; 0] = [];
    let error = ReadOptions::new().read(Source::mirrored(nothing)).expect_err("no copy");
    assert_eq!(error.reason(), Reason::Invalid);
}

#[test]
fn a_dead_copy_is_not_tried_again() {
    let right = right();
    let all = (0..=LEN / CHUNK).collect();
    let dead = Faulty::new(0, &right, CHUNK, Faults { unreadable: all, ..Faults::default() });
    let good = Faulty::new(1, &right, CHUNK, Faults::default());
    let sums = sums(&right, CHUNK);
    let source = Mirrored::new([dead.source(), good.source()]);
    let source = source.with_verify(Verify::Manifest(sums));
    let options = ReadOptions::new().with_engine(Engine::Serial);
    let loaded = options.read(source).expect("one copy is good");
    assert!(loaded.buffer[..] == right[..]);
    // A busy machine may hold up one of its answers: a copy that seems slow is asked even less.
    let calls = dead.calls.load(Ordering::Relaxed);
    assert!((1..=4).contains(&calls), "{calls} calls");
    assert_eq!(loaded.report.mirrors[0].fail_overs, calls);
    let is_given_up = loaded.report.mirrors[0].state == MirrorState::GivenUp;
    assert_eq!(is_given_up, calls == 4);
    assert_eq!(loaded.report.mirrors[1].bytes, LEN as u64);
}

#[test]
fn without_comparing_copies_of_another_length_are_left_out() {
    let right = right();
    let short = Faults { len: Some(LEN - 1), ..Faults::default() };
    let copies = [
        Faulty::new(0, &right, CHUNK, short),
        Faulty::new(1, &right, CHUNK, Faults::default()),
    ];
    let loaded = ReadOptions::new().read(Source::mirrored(copies.iter().map(Faulty::source)));
    let loaded = loaded.expect("the longer one is read");
    assert!(loaded.buffer[..] == right[..]);
    assert_eq!(copies[0].calls.load(Ordering::Relaxed), 0);
    let told = texts(&loaded.report.fallbacks).join("\n");
    assert!(told.contains("mirror first is not read: it has"), "{told}");
}

#[test]
fn a_vote_of_one_or_of_lengths_without_majority_is_refused() {
    let right = right();
    let read = |lens: &[usize]| {
        let copies = (0..).zip(lens).map(|(index, &len)| {
            let faults = Faults { len: Some(len), ..Faults::default() };
            Faulty::new(index, &right, CHUNK, faults).source()
        });
        ReadOptions::new().read(Mirrored::new(copies).with_verify(Verify::Vote))
    };
    assert_eq!(read(&[LEN]).expect_err("one").reason(), Reason::Invalid);
    assert_eq!(read(&[LEN, LEN - 1]).expect_err("one each").reason(), Reason::Corrupt);
    assert!(read(&[LEN, LEN - 1, LEN]).expect("two of three").buffer[..] == right[..]);
}
