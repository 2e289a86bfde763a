//! Copies that are files.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use swath::mirror::{MirrorOptions, MirrorState, Mirrored, Verify};
use swath::{Extent, Fallback, OutputOptions, ReadOptions, Reason, Source, manifest};
use swath_reference::bytes;

use crate::mirrors::copies::texts;

const LEN: usize = (3 << 20) + 77;

fn three(folder: &tempfile::TempDir) -> (Vec<PathBuf>, Vec<u8>) {
    let right = bytes(11, LEN);
    let paths: Vec<_> = ["a", "b", "c"].map(|name| folder.path().join(name)).to_vec();
    paths.iter().for_each(|path| std::fs::write(path, &right).expect("room"));
    (paths, right)
}

#[test]
fn copies_that_share_one_device_are_told_and_only_one_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = three(&folder);
    let loaded = ReadOptions::new().read(Source::mirrored(&paths)).expect("all are good");
    assert!(loaded.buffer[..] == right[..]);
    let states: Vec<_> = loaded.report.mirrors.iter().map(|mirror| mirror.state).collect();
    assert_eq!(states, [MirrorState::Read, MirrorState::Spare, MirrorState::Spare]);
    assert_eq!(loaded.report.mirrors[0].bytes, LEN as u64);
    let told = texts(&loaded.report.fallbacks).join("\n");
    assert!(told.contains("share one device"), "{told}");
}

#[test]
fn one_file_under_two_names_is_one_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = three(&folder);
    std::fs::hard_link(&paths[0], folder.path().join("again")).expect("a second name");
    let named = [&paths[0], &folder.path().join("again")];
    let loaded = ReadOptions::new().read(Source::mirrored(named)).expect("readable");
    assert!(loaded.buffer[..] == right[..]);
    assert_eq!(loaded.report.mirrors[1].state, MirrorState::Unusable);
    let vote = Mirrored::new(named).with_verify(Verify::Vote);
    let error = ReadOptions::new().read(vote).expect_err("one file cannot agree with itself");
    assert_eq!(error.reason(), Reason::Invalid);
}

#[test]
fn a_copy_that_is_cut_off_while_it_is_read_is_left_for_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = three(&folder);
    let sums = Arc::new(manifest::of(&paths[2]).expect("readable"));
    for verify in [Verify::None, Verify::Manifest(sums)] {
        std::fs::write(&paths[0], &right).expect("room");
        let source = Mirrored::new(&paths).with_verify(verify);
        let mut reader = ReadOptions::new().reader(source).expect("opens");
        let file = std::fs::OpenOptions::new().write(true).open(&paths[0]).expect("there");
        file.set_len(100).expect("shorter");
        let mut through = Vec::new();
        std::io::copy(&mut reader, &mut through).expect("two are good");
        assert!(through == right);
    }
}

#[test]
fn a_copy_that_is_written_while_it_is_read_gives_no_byte_any_more() {
    use std::os::unix::fs::FileExt;
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, right) = three(&folder);
    let loaded = |change: &dyn Fn()| {
        let source = Source::mirrored(&paths);
        let mut reader = ReadOptions::new().reader(source).expect("opens");
        change();
        let mut through = Vec::new();
        std::io::copy(&mut reader, &mut through).map(|_| through)
    };
    let damage = |path: &PathBuf| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("there");
        file.write_all_at(&[b'#'; 64], (LEN - 64) as u64).expect("room");
    };
    assert!(loaded(&|| damage(&paths[0])).expect("two are as they were") == right);
    let error = loaded(&|| paths.iter().for_each(damage)).expect_err("all have changed");
    let inner = error.into_inner().expect("holds the typed error");
    let text = format!("{:?}", inner.downcast::<swath::Error>().expect("of our type"));
    assert!(text.contains("while it was read"), "{text}");
}

#[test]
fn a_manifest_finds_every_damaged_chunk_and_says_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let (paths, mut right) = three(&folder);
    let sums = folder.path().join("sums");
    manifest::save(&sums, &manifest::of(&paths[0]).expect("readable")).expect("room");
    let sums = manifest::load(&sums).expect("just written");
    assert!(manifest::check(&paths[1], &sums).expect("readable").is_right());
    right[(1 << 20) + 5] ^= 1;
    right.push(0);
    std::fs::write(&paths[1], &right).expect("room");
    let found = manifest::check(&paths[1], &sums).expect("readable");
    assert_eq!(found.bad, [Extent::between(1 << 20, 2 << 20)]);
    assert_eq!((found.len, found.expected_len), (LEN as u64 + 1, LEN as u64));
    assert!(!found.is_right());
    std::fs::write(folder.path().join("sums"), b"SWATHSUM").expect("room");
    let endless = manifest::load("/dev/zero").expect_err("it would take all memory");
    assert_eq!(endless.reason(), Reason::Corrupt);
    let error = manifest::load(folder.path().join("sums")).expect_err("cut off");
    assert_eq!(error.reason(), Reason::Corrupt);
    let of_nothing = manifest::of("/dev/null").expect("no byte");
    assert_eq!((of_nothing.len(), of_nothing.count()), (0, 0));
}

#[test]
fn made_copies_are_equal_and_share_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for len in [0, 1, 1 << 20, LEN] {
        let (file, right) = (folder.path().join("file"), bytes(12, len));
        std::fs::write(&file, &right).expect("room");
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(&file, mode).expect("ours");
        let targets = ["one", "two"].map(|name| folder.path().join(name));
        let made = MirrorOptions::new().mirror(&file, &targets).expect("room");
        assert_eq!(made.checksums.len(), len as u64);
        for target in &targets {
            assert!(std::fs::read(target).expect("there") == right);
            let facts = std::fs::metadata(target).expect("there");
            assert_eq!(facts.permissions().mode() & 0o777, 0o640);
            assert_eq!(facts.nlink(), 1);
        }
        assert!(len == 0 || matches!(made.notes[..], [Fallback::MirrorsShareDevice { .. }]));
        for wrong in [&file, &targets[0]] {
            let twice = [targets[0].clone(), wrong.clone()];
            let error = MirrorOptions::new().mirror(&file, &twice).expect_err("the same file");
            assert_eq!(error.reason(), Reason::Invalid);
        }
        targets.iter().for_each(|target| std::fs::remove_file(target).expect("there"));
    }
}

/// As through two names of one folder, which cannot be recognised on every file system.
#[test]
fn a_copy_whose_place_changes_while_another_is_written_is_refused() {
    for was_there in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, bytes(12, LEN)).expect("room");
        let targets = ["one", "two"].map(|name| folder.path().join(name));
        if was_there {
            std::fs::write(&targets[1], b"old").expect("room");
        }
        let other = targets[1].clone();
        let output = OutputOptions::new()
            .with_progress(move |_| std::fs::write(&other, b"another").expect("room"));
        let options = MirrorOptions::new().with_output(output);
        let error = options.mirror(&file, &targets).expect_err("it has changed");
        assert_eq!((error.reason(), error.path()), (Reason::Changed, &*targets[1]), "{error}");
        assert_eq!(std::fs::read(&targets[1]).expect("there"), b"another");
    }
}
