//! Damage is found where it was planted, and repaired only there.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swath::heal::HealOptions;
use swath::mirror::Verify;
use swath::{Extent, OutputOptions, ReadOptions, Reason, manifest};
use swath_reference::battery::{Battery, BatterySize};
use swath_reference::{bytes, mirror, splitmix};

use crate::before::BeforeCall;
use crate::hooked::{Call, Hook, Hooked};

const MIB: usize = 1 << 20;
const LEN: usize = 5 * MIB + 99;

fn copies(folder: &Path, right: &[u8]) -> Vec<PathBuf> {
    let paths: Vec<_> = ["a", "b", "c"].map(|name| folder.join(name)).to_vec();
    paths.iter().for_each(|path| std::fs::write(path, right).expect("room"));
    paths
}

fn flip(path: &Path, offset: usize) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).expect("there");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset as u64).expect("inside");
    file.write_all_at(&[byte[0] ^ 1], offset as u64).expect("room");
}

fn names(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn what_was_damaged_is_mended_and_the_rest_is_not_touched() {
    let right = bytes(21, LEN);
    for by_vote in [false, true] {
        for seed in Battery::new("combinations", BatterySize { slice: 4, full: 40 }) {
            let folder = tempfile::tempdir().expect("a folder");
            let paths = copies(folder.path(), &right);
            let against = match by_vote {
                true => Verify::Vote,
                false => Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable"))),
            };
            let mut next = splitmix(seed);
            let mut below =
                |bound: usize| usize::try_from(next() % bound as u64).expect("small");
            let victim = below(3);
            let mode = std::fs::Permissions::from_mode(0o604);
            std::fs::set_permissions(&paths[victim], mode).expect("ours");
            for _ in 0..below(4) {
                flip(&paths[victim], below(LEN));
            }
            if below(3) == 0 {
                let file = std::fs::OpenOptions::new().write(true).open(&paths[victim]);
                file.expect("there").set_len(below(2 * LEN) as u64).expect("room");
            }
            let damaged: mirror::Copy =
                std::fs::read(&paths[victim]).expect("there").into_iter().map(Some).collect();
            let expected: Vec<u64> = mirror::bad_chunks(&right, &damaged, MIB)
                .into_iter()
                .map(|index| (index * MIB) as u64)
                .collect();
            let healed = HealOptions::new().heal(&paths, &against).expect("two are good");
            let bad = |extent: &Extent| (extent.offset()..extent.end()).step_by(MIB);
            let found: Vec<u64> = healed.copies[victim].bad.iter().flat_map(bad).collect();
            assert_eq!(found, expected, "seed {seed}");
            let changed = damaged.len() != LEN || !expected.is_empty();
            for (index, copy) in healed.copies.iter().enumerate() {
                let is_victim = changed && index == victim;
                assert_eq!(copy.rewritten.is_some(), is_victim, "seed {seed}");
                assert!(std::fs::read(&copy.path).expect("there") == right, "seed {seed}");
            }
            let kept = std::fs::metadata(&paths[victim]).expect("there").permissions();
            assert_eq!(kept.mode() & 0o777, 0o604, "seed {seed}");
            assert_eq!(names(folder.path()), 3, "no other file remains");
        }
    }
}

/// Two files of the same XXH3: the lanes that differ are multiplied by zero, and their sum is the same.
fn of_one_checksum() -> [Vec<u8>; 2] {
    const KEYS: [u32; 2] = [0x396c_feb8, 0x2c81_017c];
    [0_u32, 1].map(|step| {
        let mut bytes = bytes(23, LEN);
        for (stripe, (key, other)) in KEYS.into_iter().zip([7 + step, 7 - step]).enumerate() {
            let place = stripe * 64;
            bytes[place..place + 4].copy_from_slice(&key.to_le_bytes());
            bytes[place + 4..place + 8].copy_from_slice(&other.to_le_bytes());
        }
        bytes
    })
}

#[test]
fn a_vote_is_on_bytes_also_where_checksums_are_the_same() {
    let [right, forged] = of_one_checksum();
    let folder = tempfile::tempdir().expect("a folder");
    let mut damaged = right.clone();
    damaged[9] ^= 1;
    let paths: Vec<PathBuf> = ["c", "a", "b", "d", "e"].map(|it| folder.path().join(it)).into();
    for (path, bytes) in paths.iter().zip([&forged, &damaged, &right, &right, &right]) {
        std::fs::write(path, bytes).expect("room on disk");
    }
    let sums = |path| manifest::of(path).expect("readable").chunk_at(0).map(|it| it.1);
    assert_eq!(sums(&paths[0]), sums(&paths[2]));
    let healed = HealOptions::new().heal(&paths, &Verify::Vote).expect("three are right");
    let rewritten: Vec<bool> = healed.copies.iter().map(|it| it.rewritten.is_some()).collect();
    assert_eq!(rewritten, [true, true, false, false, false]);
    for path in &paths {
        assert!(std::fs::read(path).expect("there") == right, "{}", path.display());
    }
}

#[test]
fn a_copy_that_is_made_anew_may_be_read_by_those_who_may_read_all_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(23, LEN));
    for modes in [[0o644, 0o600], [0o600, 0o644], [0o644, 0o644]] {
        for (path, mode) in paths.iter().zip(modes) {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("ours");
        }
        std::fs::remove_file(&paths[2]).expect("ours");
        HealOptions::new().heal(&paths, &Verify::Vote).expect("two are good");
        let made = std::fs::metadata(&paths[2]).expect("there").permissions();
        assert_eq!(made.mode() & 0o777, modes[0] & modes[1], "{modes:?}");
    }
}

#[test]
fn what_a_killed_run_left_beside_a_right_copy_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(23, LEN));
    let path = |name: &str| folder.path().join(name);
    for name in [".a.swath-lock", ".a.swath-tmp", ".b.swath-lock", ".d.swath-lock"] {
        std::fs::write(path(name), "").expect("left by a killed run");
    }
    // Not made as a lock: it has another name.
    std::fs::write(path(".c.swath-lock"), "").expect("room");
    std::fs::hard_link(path(".c.swath-lock"), path("other")).expect("linked");
    HealOptions::new().examine(&paths, &Verify::Vote).expect("readable");
    assert_eq!(names(folder.path()), 9, "looking changes nothing");
    let writer = swath::append::create(path("b")).expect("begun");
    let healed = HealOptions::new().heal(&paths, &Verify::Vote).expect("all are good");
    assert!(healed.copies.iter().all(|copy| copy.rewritten.is_none()));
    let left = ["a.swath-lock", "a.swath-tmp", "b.swath-lock", "c.swath-lock", "d.swath-lock"];
    let left = left.map(|name| path(&format!(".{name}")).exists());
    assert_eq!(left, [false, false, true, true, true], "what is held or of others is kept");
    drop(writer);
}

#[test]
fn a_missing_copy_is_made_and_looking_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(22, LEN));
    std::fs::remove_file(&paths[1]).expect("there");
    flip(&paths[2], 0);
    let sums = Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable")));
    let seen = HealOptions::new().examine(&paths, &sums).expect("readable");
    assert!(seen.copies.iter().all(|copy| copy.rewritten.is_none()));
    assert!(!paths[1].exists());
    assert_eq!(seen.copies[2].bad, [Extent::between(0, MIB as u64)]);
    assert!(seen.copies[1].trouble.is_some() && seen.copies[1].len_before.is_none());
    let healed = HealOptions::new().heal(&paths, &sums).expect("one is good");
    assert!(healed.copies[1].rewritten.is_some());
    for path in &paths {
        assert!(std::fs::read(path).expect("there") == bytes(22, LEN));
    }
    let again = HealOptions::new().heal(&paths, &Verify::Vote).expect("all are good");
    assert!(again.copies.iter().all(|copy| copy.rewritten.is_none()));
}

#[test]
fn where_nothing_is_right_nothing_is_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(23, LEN));
    let sums = Verify::Manifest(Arc::new(manifest::of(&paths[0]).expect("readable")));
    paths.iter().for_each(|path| flip(path, 3 * MIB + 1));
    flip(&paths[0], 0);
    flip(&paths[1], 3 * MIB + 2);
    let before: Vec<_> = paths.iter().map(|path| std::fs::read(path).expect("there")).collect();
    for against in [&sums, &Verify::Vote] {
        let healed = HealOptions::new().heal(&paths, against);
        // By vote two copies agree on what is wrong: it cannot be detected.
        if matches!(against, Verify::Vote) {
            continue;
        }
        let error = healed.expect_err("one chunk is right nowhere");
        assert_eq!(error.reason(), Reason::Corrupt);
        assert_eq!(error.extent(), Extent::new(3 * MIB as u64, MIB as u64));
        let after: Vec<_> =
            paths.iter().map(|path| std::fs::read(path).expect("there")).collect();
        assert!(after == before);
    }
    assert!(HealOptions::new().heal(&paths, &Verify::None).is_err(), "against what?");
    let two = HealOptions::new().heal(&[&paths[0], &paths[0]], &Verify::Vote);
    assert_eq!(two.expect_err("one file").reason(), Reason::Invalid);
}

#[test]
fn hard_links_and_cancelling_are_those_of_every_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(24, LEN));
    flip(&paths[0], 7);
    let damaged = std::fs::read(&paths[0]).expect("there");
    let token = swath::CancelToken::new();
    token.cancel();
    let cancelled = HealOptions::new()
        .with_read(ReadOptions::new().with_cancel(token))
        .heal(&paths, &Verify::Vote);
    assert_eq!(cancelled.expect_err("cancelled").reason(), Reason::Cancelled);
    std::fs::hard_link(&paths[0], folder.path().join("other name")).expect("a second name");
    let refused = HealOptions::new().heal(&paths, &Verify::Vote).expect("others are good");
    let error = refused.failure().expect("two names");
    assert!(error.to_string().contains("names"), "{error}");
    assert!(std::fs::read(&paths[0]).expect("there") == damaged);
    let options = HealOptions::new()
        .with_output(OutputOptions::new().with_hard_links(swath::sink::HardLinks::Broken));
    options.heal(&paths, &Verify::Vote).expect("allowed");
    assert!(std::fs::read(&paths[0]).expect("there") == bytes(24, LEN));
    let plain = ReadOptions::new().read(&paths[0]).expect("there");
    assert!(plain.buffer[..] == bytes(24, LEN)[..]);
}

fn healing(hook: impl Hook + 'static) -> HealOptions {
    let output = OutputOptions::new().with_fs(Arc::new(Hooked(Arc::new(hook))));
    HealOptions::new().with_output(output)
}

#[test]
fn what_another_program_puts_there_meanwhile_is_not_replaced() {
    for is_renamed in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = copies(folder.path(), &bytes(25, LEN));
        flip(&paths[1], 7);
        let (path, other) = (paths[1].clone(), folder.path().join("other"));
        let once = std::sync::Once::new();
        let put = move || {
            once.call_once(|| {
                let first = if is_renamed { &other } else { &path };
                std::fs::write(first, "of another program").expect("room");
                if is_renamed {
                    std::fs::rename(first, &path).expect("mine");
                }
            })
        };
        let healed = healing(BeforeCall(Call::Write, put)).heal(&paths, &Verify::Vote);
        let healed = healed.expect("two are good");
        let error = healed.failure().expect("it is another file");
        assert_eq!(error.reason(), Reason::Changed, "{error:?}");
        assert_eq!(std::fs::read(&paths[1]).expect("there"), b"of another program");
        assert_eq!(names(folder.path()), 3);
    }
}

#[test]
fn what_appears_where_a_copy_was_missing_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(27, LEN));
    std::fs::remove_file(&paths[2]).expect("mine");
    let (path, once) = (paths[2].clone(), std::sync::Once::new());
    let put = move || once.call_once(|| std::fs::write(&path, "newer").expect("room"));
    let healed = healing(BeforeCall(Call::Write, put)).heal(&paths, &Verify::Vote);
    healed.expect("two are good").failure().expect("it is there now");
    assert_eq!(std::fs::read(&paths[2]).expect("there"), b"newer");
}

#[test]
fn copies_go_into_the_folders_that_their_paths_led_to_at_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths = copies(folder.path(), &bytes(28, LEN));
    let against = Verify::Manifest(Arc::new(manifest::of(&paths[1]).expect("readable")));
    flip(&paths[0], 7);
    let (mount, moved) = (folder.path().join("mount"), folder.path().join("moved"));
    std::fs::create_dir(&mount).expect("room");
    paths.push(mount.join("d"));
    // The fate of the path when a mount ends, while the copy before is mended.
    let (once, path) = (std::sync::Once::new(), mount.clone());
    let end = move || {
        once.call_once(|| {
            std::fs::rename(&path, &moved).expect("mine");
            std::fs::create_dir(&path).expect("room");
        });
    };
    let healed = healing(BeforeCall(Call::Write, end)).heal(&paths, &against);
    let healed = healed.expect("two are good");
    let error = healed.failure().expect("its folder is gone");
    let text = swath::machine::in_one_line(&error, "");
    assert!(text.contains("another folder"), "{text}");
    assert_eq!((error.path(), names(&mount)), (&*paths[3], 0));
}

#[test]
fn a_copy_is_closed_before_another_file_takes_its_place() {
    // FUSE renames what is open first: for a moment there is no file of the name.
    let folder = tempfile::tempdir().expect("a folder");
    let paths = copies(folder.path(), &bytes(26, LEN));
    flip(&paths[1], 7);
    let (path, count) = (paths[1].clone(), Arc::new(AtomicUsize::new(0)));
    let renamed = Arc::clone(&count);
    let look = move || {
        renamed.fetch_add(1, Ordering::Relaxed);
        for descriptor in std::fs::read_dir("/proc/self/fd").expect("mounted") {
            let leads_to = std::fs::read_link(descriptor.expect("listed").path());
            assert_ne!(leads_to.ok().as_ref(), Some(&path));
        }
    };
    let healed = healing(BeforeCall(Call::Rename, look)).heal(&paths, &Verify::Vote);
    assert!(healed.expect("two are good").failure().is_none());
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert!(std::fs::read(&paths[1]).expect("there") == bytes(26, LEN));
}

#[test]
fn holes_stay_holes_in_what_is_healed_and_in_new_mirrors() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let paths: Vec<_> = ["a", "b", "c"].map(|name| folder.path().join(name)).to_vec();
    let (head, middle) = (bytes(41, 3000), bytes(42, 2 * MIB));
    for path in &paths {
        let file = std::fs::File::create(path).expect("room");
        file.write_all_at(&head, 0).expect("room");
        file.write_all_at(&middle, 30 * MIB as u64 + 5).expect("room");
        file.set_len(64 * MIB as u64 + 17).expect("a hole");
    }
    let taken = |path: &Path| std::fs::metadata(path).expect("there").blocks() * 512;
    if taken(&paths[0]) > 8 * MIB as u64 {
        return swath_reference::skip("holes", "this file system has none");
    }
    let right = std::fs::read(&paths[0]).expect("there");
    flip(&paths[1], 31 * MIB);
    let healed = HealOptions::new().heal(&paths, &Verify::Vote).expect("two are good");
    assert_eq!(healed.copies[1].bad, [Extent::between(31 * MIB as u64, 32 * MIB as u64)]);
    let fresh = folder.path().join("d");
    swath::mirror(&paths[0], &[&fresh]).expect("room");
    for path in [&paths[1], &fresh] {
        assert!(std::fs::read(path).expect("there") == right);
        assert!(taken(path) <= 8 * MIB as u64, "{} bytes of {}", taken(path), path.display());
    }
}
