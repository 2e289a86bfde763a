//! Chunks of any length: what a manifest says about it is trusted only if a copy has that many
//! bytes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use swath::heal::HealOptions;
use swath::manifest::Checksums;
use swath::mirror::{Hedging, Mirrored, Verify};
use swath::{Extent, ReadOptions, Reason, Source, manifest};
use swath_reference::battery::Battery;
use swath_reference::bytes;

use crate::mirrors::copies::{Faults, Faulty};

const MIB: usize = 1 << 20;
/// Longer than what is held of a chunk at a time, and not a multiple of it.
const LONG: usize = 9 * MIB + 77;

/// The checksums of `right` in chunks of `LONG`, the last of which is shorter.
fn sums(folder: &Path, right: &[u8]) -> Arc<Checksums> {
    let path = folder.join("right");
    std::fs::write(&path, right).expect("room");
    let sums = ReadOptions::new().checksums(path.as_path(), LONG as u64).expect("readable");
    Arc::new(sums.value)
}

#[test]
fn a_chunk_that_reaches_past_the_end_of_every_copy_is_bad_without_being_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = Arc::new(bytes(31, 4377));
    let len = 1_u64 << 61;
    let known = Arc::new(Checksums::new(len, len, vec![7]).expect("one chunk"));
    let copy = Faulty::new(0, &right, 4096, Faults::default());
    let checked = manifest::check(copy.source(), &known).expect("it is there");
    assert_eq!((checked.bad, checked.len), (vec![Extent::between(0, len)], 4377));
    let against = Verify::Manifest(Arc::clone(&known));
    let mirrored = Mirrored::new([copy.source()]).with_verify(against.clone());
    let reading = ReadOptions::new().with_len(10).read(mirrored);
    let error = reading.expect_err("no copy has the chunk");
    assert!(format!("{error:?}").contains("it has 4377 bytes instead of"), "{error:?}");
    assert_eq!(copy.calls.load(Ordering::SeqCst), 0, "it was read");
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| std::fs::write(path, &right[..]).expect("room"));
    let healed = HealOptions::new().heal(&paths, &against);
    assert_eq!(healed.expect_err("no copy has the chunk").reason(), Reason::Corrupt);
    for path in &paths {
        assert!(std::fs::read(path).expect("there") == right[..]);
    }
}

#[test]
fn parts_of_long_chunks_are_the_bytes_of_a_copy_that_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = Arc::new(bytes(32, 2 * LONG + 1000));
    let known = sums(folder.path(), &right);
    let wrong = |at: usize| Faults { wrong: vec![at / MIB], ..Faults::default() };
    // Each chunk is right in only one of them; one is found to be wrong in its last step.
    let source = |hedging: Option<Hedging>| -> Source {
        let all = [wrong(8 * MIB), wrong(LONG + 5 * MIB)];
        let copies =
            (0..).zip(all).map(|(index, faults)| Faulty::new(index, &right, MIB, faults));
        let mirrored = Mirrored::new(copies.map(|copy| copy.source()))
            .with_verify(Verify::Manifest(Arc::clone(&known)));
        hedging.map_or(mirrored.clone(), |hedging| mirrored.with_hedging(hedging)).into()
    };
    for hedging in [None, Some(Hedging::permille(100))] {
        let parts = [(0, 1), (4 * MIB - 3, 6), (LONG - 1, 2), (2 * LONG - 5, 1005)];
        for (offset, len) in Battery::of_list("combinations", 1, parts) {
            let options = ReadOptions::new().with_offset(offset as u64).with_len(len as u64);
            let loaded = options.read(source(hedging)).expect("one is right everywhere");
            assert!(loaded.buffer[..] == right[offset..offset + len], "{offset} {len}");
        }
        let whole = ReadOptions::new().with_workers(2).read(source(hedging));
        assert!(whole.expect("one is right everywhere").buffer[..] == right[..]);
    }
}

#[test]
fn long_chunks_are_compared_and_healed_in_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = bytes(33, 2 * LONG + 1000);
    let known = sums(folder.path(), &right);
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    let mut damaged = right.clone();
    damaged[LONG + 5 * MIB] ^= 1;
    std::fs::write(&paths[0], &right).expect("room");
    std::fs::write(&paths[1], &damaged).expect("room");
    assert!(manifest::check(paths[0].as_path(), &known).expect("readable").is_right());
    let checked = manifest::check(paths[1].as_path(), &known).expect("readable");
    assert_eq!(checked.bad, [Extent::between(LONG as u64, 2 * LONG as u64)]);
    let healed =
        HealOptions::new().heal(&paths, &Verify::Manifest(known)).expect("one is good");
    let rewritten = healed.copies[1].rewritten.expect("it was damaged");
    assert_eq!(rewritten.healed_bytes, LONG as u64);
    for path in &paths {
        assert!(std::fs::read(path).expect("there") == right, "{}", path.display());
    }
}
