//! The promises of `append` in addition to the order: modes, handles, checkpoints, reading back.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rayon::iter::IntoParallelIterator;
use swath::append::{self, AppendOptions, AppendTo, ExtentChecksums, Mode, Writer};
use swath::sink::{Durability, Replace};
use swath::{Extent, Operation, OutputOptions, Reason};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Names in the folder, including hidden ones.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("it is a folder");
        let mut names: Vec<String> = entries
            .map(|it| it.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn quick() -> AppendOptions {
    AppendOptions::new().with_output(OutputOptions::new().with_durability(Durability::None))
}

fn read_back(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    append::open(path).expect("committed").read_to_end(&mut bytes).expect("readable");
    bytes
}

/// Writes lines from `from` on, forking.
fn lines(w: &mut Writer<'_>, from: u32, to: u32) -> io::Result<()> {
    if to - from <= 3 {
        return (from..to).try_for_each(|number| writeln!(w, "line {number}"));
    }
    let middle = from + (to - from) / 2;
    w.join(|w| lines(w, from, middle), |w| lines(w, middle, to)).map(|_| ())
}

fn expected_lines(to: u32) -> Vec<u8> {
    (0..to).flat_map(|number| format!("line {number}\n").into_bytes()).collect()
}

#[test]
fn nothing_is_visible_before_the_commit_and_nothing_is_left_without_one() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let out = quick().with_mode(mode).with_buffer_size(8).create(place.path());
        let out = out.expect("it can be created");
        out.scope(|w| lines(w, 0, 100)).expect("written");
        assert!(!place.path().exists(), "{mode:?}");
        drop(out);
        assert_eq!(place.names(), [""; 0], "{mode:?}");

        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let out = quick().with_mode(mode).create(place.path()).expect("created");
            out.scope(|w| {
                w.write_all(b"a prefix")?;
                std::panic::resume_unwind(Box::new("planned"));
                #[allow(unreachable_code, reason = "for its type")]
                Ok::<(), io::Error>(())
            })
            .expect("it panics");
        }));
        assert!(panicked.is_err());
        assert_eq!(place.names(), [""; 0], "{mode:?} after a panic");
    }
}

#[test]
fn what_was_there_stays_whole_until_the_commit_replaces_it() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let write = |text: &[u8], commit: bool| {
            let out = quick().with_mode(mode).with_buffer_size(4).create(place.path());
            let mut out = out.expect("created");
            out.write_all(text).expect("written");
            if commit {
                out.commit().expect("committed");
            }
        };
        write(b"the first version", true);
        write(b"the second, abandoned", false);
        assert_eq!(read_back(&place.path()), b"the first version", "{mode:?}");
        write(b"the third", true);
        assert_eq!(read_back(&place.path()), b"the third", "{mode:?}");
        assert_eq!(place.names(), ["out"]);
        if mode == Mode::Segments {
            let names = fs::read_dir(place.path()).expect("a folder").count();
            assert_eq!(names, 2, "a manifest and one segment: old ones are gone");
        }
    }
}

#[test]
fn the_second_writer_of_a_target_is_told() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let first = quick().with_mode(mode).create(place.path()).expect("created");
        let second = quick().with_mode(mode).create(place.path());
        assert_eq!(second.expect_err("the first is writing").reason(), Reason::Busy);
        first.commit().expect("committed");
        quick().with_mode(mode).create(place.path()).expect("the first is done");
        let refused = quick()
            .with_mode(mode)
            .with_output(OutputOptions::new().with_replace(Replace::Refused))
            .create(place.path());
        let error = refused.expect_err("it exists");
        assert_eq!(error.io_kind(), io::ErrorKind::AlreadyExists, "{error:?}");
    }
}

#[test]
fn a_handle_within_its_own_scope_is_busy_not_stuck() {
    let place = Place::new();
    let out = quick().create(place.path()).expect("created");
    let error = out
        .scope(|_| out.scope(|w| w.write_all(b"never").map_err(|_| unreachable())))
        .expect_err("another strand is writing");
    assert_eq!((error.operation(), error.reason()), (Operation::Write, Reason::Busy));
    (&out).write_all(b"after").expect("now it is free");
    out.commit().expect("committed");
    assert_eq!(read_back(&place.path()), b"after");
}

fn unreachable() -> swath::Error {
    unreachable!("nothing is written")
}

#[test]
fn owned_forks_keep_their_places_in_any_order_of_finishing() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let options = quick().with_mode(mode).with_buffer_size(16);
        let mut out = options.create(place.path()).expect("created");
        let mut forks = Vec::new();
        for number in 0..50 {
            write!(out, "<{number}>").expect("written");
            forks.push((number, out.fork().expect("free")));
        }
        out.write_all(b"end").expect("written");
        std::thread::scope(|threads| {
            for (number, mut fork) in forks.into_iter().rev() {
                threads.spawn(move || {
                    write!(fork, "{number} begins,").expect("written");
                    let mut inner = fork.fork();
                    write!(fork, "{number} ends").expect("written");
                    inner.with(|w| lines(w, 0, number % 7)).expect("written");
                    inner.finish().expect("finished");
                    fork.finish().expect("finished");
                });
            }
        });
        out.commit().expect("committed");
        let mut expected = Vec::new();
        for number in 0..50 {
            expected.extend(format!("<{number}>{number} begins,").into_bytes());
            expected.extend(expected_lines(number % 7));
            expected.extend(format!("{number} ends").into_bytes());
        }
        expected.extend(b"end");
        assert_eq!(read_back(&place.path()), expected);
    }
}

#[test]
fn an_open_fork_is_busy_and_a_dropped_one_poisons() {
    let place = Place::new();
    let out = quick().create(place.path()).expect("created");
    let open = out.fork().expect("free");
    assert_eq!(out.checkpoint().expect_err("a fork is open").reason(), Reason::Busy);
    assert_eq!(out.commit().expect_err("a fork is open").reason(), Reason::Busy);
    drop(open);

    let out = quick().create(place.path()).expect("created");
    drop(out.fork().expect("free"));
    let error = out.commit().expect_err("what follows the fork has no place");
    assert_eq!(error.reason(), Reason::Poisoned);
    let out = quick().create(place.path()).expect("created");
    let mut outer = out.fork().expect("free");
    drop(outer.fork());
    assert_eq!(outer.finish().expect_err("an inner one").reason(), Reason::Poisoned);
    assert_eq!(out.commit().expect_err("so it is").reason(), Reason::Poisoned);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn new_segments_of_an_old_folder_are_closed_until_the_commit_and_then_as_open_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("segments");
    let modes = || {
        let entries = std::fs::read_dir(&path).expect("a folder").map(|it| it.expect("listed"));
        let mode =
            |it: std::fs::DirEntry| it.metadata().expect("there").permissions().mode() & 0o777;
        entries
            .filter(|it| !it.file_name().as_encoded_bytes().starts_with(b"."))
            .map(mode)
            .collect::<Vec<_>>()
    };
    let write = |bytes: &[u8], look: &dyn Fn()| {
        let out = quick().with_mode(Mode::Segments).create(&path).expect("begun");
        let written = out.scope(|writer| {
            writer.write_all(bytes)?;
            writer.flush()?;
            look();
            Ok::<(), io::Error>(())
        });
        written.expect("written");
        out.commit().expect("committed");
    };
    write(b"old", &|| {});
    for mode in [0o600, 0o640, 0o644, 0o664] {
        for entry in std::fs::read_dir(&path).expect("a folder") {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(entry.expect("listed").path(), mode).expect("mine");
        }
        write(&vec![b'n'; 3 << 20], &|| {
            let now = modes();
            let new = now.iter().filter(|&&it| it != mode).collect::<Vec<_>>();
            assert!(new.iter().all(|&&it| it == 0o600), "{mode:o}: {now:?}");
            assert!(mode == 0o600 || !new.is_empty(), "a new segment is there");
        });
        assert!(modes().iter().all(|&it| it == mode), "{mode:o}: {:?}", modes());
    }
}

#[test]
fn a_fork_of_an_output_that_is_gone_says_so_and_holds_nothing() {
    type End = fn(append::Append);
    let dropped: End = drop;
    let failed: End = |out| {
        assert_eq!(out.commit().expect_err("forks are open").reason(), Reason::Busy);
    };
    for mode in [Mode::Plain, Mode::Segments] {
        for end in [dropped, failed] {
            let place = Place::new();
            let out = quick().with_mode(mode).create(place.path()).expect("created");
            let (first, mut second) = (out.fork().expect("free"), out.fork().expect("free"));
            let (third, mut fourth) = (out.fork().expect("free"), out.fork().expect("free"));
            second.write_all(b"a little").expect("nothing is wrong yet");
            let nested = fourth.fork();
            end(out);
            // Its lock is released, and what it had written is discarded.
            assert_eq!(place.names(), [""; 0], "{mode:?}");
            quick().with_mode(mode).create(place.path()).expect("it has no writer");
            let poisoned = |error: swath::Error| {
                assert_eq!(error.reason(), Reason::Poisoned, "{mode:?}: {error}");
                assert!(format!("{error:?}").contains("dropped or committed"), "{error:?}");
            };
            let told = second.write_all(b"more").expect_err("it is gone");
            poisoned(told.downcast::<swath::Error>().expect("of our type"));
            second.with(|w| w.write_all(&[1; 4 << 20])).expect_err("it is gone");
            for fork in [first, second, third, nested, fourth] {
                poisoned(fork.finish().expect_err("it is gone"));
            }
            assert_eq!(place.names(), [""; 0], "{mode:?}");
        }
    }
}

#[test]
fn a_fork_of_an_output_that_is_gone_gives_its_memory_back() {
    const MUCH: usize = 96 << 20;
    let resident = || {
        let pages = fs::read_to_string("/proc/self/statm").expect("procfs");
        let pages = pages.split(' ').nth(1).expect("the resident ones");
        pages.parse::<usize>().expect("a number") * rustix::param::page_size()
    };
    let place = Place::new();
    let out = quick().with_memory_limit(1 << 30).create(place.path()).expect("created");
    let (_first, mut second) = (out.fork().expect("free"), out.fork().expect("free"));
    second.write_all(&vec![7; MUCH]).expect("it waits in memory");
    let before = resident();
    drop(out);
    second.write_all(b"more").expect_err("it is gone");
    let after = resident();
    assert!(after + MUCH / 2 < before, "{before} bytes before, {after} after");
}

#[test]
fn appending_to_existing_puts_new_bytes_behind_old_ones() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        for round in 0..4_u32 {
            let options = quick().with_mode(mode).with_buffer_size(16);
            let out = options.append_to_existing(place.path()).expect("begun");
            out.scope(|w| lines(w, 100 * round, 100 * (round + 1))).expect("written");
            let committed = out.commit().expect("committed");
            let expected = expected_lines(100 * (round + 1));
            assert_eq!(committed.bytes, expected.len() as u64);
            assert_eq!(read_back(&place.path()), expected, "{mode:?} round {round}");
        }
        let out = quick().with_mode(mode).append_to_existing(place.path());
        let mut out = out.expect("begun");
        out.write_all(b"abandoned").expect("written");
        drop(out);
        assert_eq!(read_back(&place.path()), expected_lines(400), "{mode:?}");
    }
}

#[test]
fn the_position_is_where_the_next_byte_goes() {
    for mode in [Mode::Plain, Mode::Segments] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out");
        let mut first = quick().with_mode(mode).create(&path).expect("a draft");
        assert_eq!(first.position().expect("nobody writes"), 0);
        first.write_all(b"0123456789").expect("room");
        first.commit().expect("named");
        let mut append =
            quick().with_mode(mode).append_to_existing(&path).expect("it is there");
        let is_at = |append: &append::Append, at: u64| {
            assert_eq!(append.position().expect("nobody writes"), at, "{mode:?}");
        };
        is_at(&append, 10);
        append.write_all(b"abc").expect("room");
        is_at(&append, 13);
        append.scope(|w| w.write_all(b"defg")).expect("room");
        is_at(&append, 17);
        append.checkpoint().expect("named");
        is_at(&append, 17);
        let (mut left, mut right) =
            (append.fork().expect("idle"), append.fork().expect("idle"));
        append.write_all(b"z").expect("room");
        right.write_all(b"right").expect("room");
        right.finish().expect("kept");
        assert_eq!(append.position().expect_err("a fork").reason(), Reason::Busy);
        left.write_all(b"left").expect("room");
        left.finish().expect("kept");
        is_at(&append, 27);
        append.commit().expect("named");
        assert_eq!(read_back(&path), b"0123456789abcdefgleftrightz");
    }
}

#[test]
fn what_another_program_did_to_an_existing_file_is_not_replaced() {
    type Meddle = fn(&Path);
    let longer: Meddle = |path| {
        let file = fs::OpenOptions::new().append(true).open(path);
        file.and_then(|mut file| file.write_all(b"ZZZZ")).expect("writable");
    };
    let same_length: Meddle = |path| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let file = fs::OpenOptions::new().write(true).open(path);
        file.and_then(|mut file| file.write_all(b"X")).expect("writable");
    };
    let replaced: Meddle = |path| {
        fs::write(path.with_extension("new"), b"abc").expect("room");
        fs::rename(path.with_extension("new"), path).expect("same folder");
    };
    let removed: Meddle = |path| fs::remove_file(path).expect("it is there");
    for (meddle, after_a_checkpoint) in [
        (longer, false),
        (same_length, false),
        (replaced, false),
        (removed, false),
        (longer, true),
        (replaced, true),
    ] {
        let place = Place::new();
        fs::write(place.path(), b"abc").expect("room");
        let mut out = quick().append_to_existing(place.path()).expect("begun");
        out.write_all(b"def").expect("written");
        if after_a_checkpoint {
            out.checkpoint().expect("it is unchanged");
        }
        meddle(&place.path());
        let left = fs::read(place.path()).ok();
        let error = out.commit().expect_err("it is not what it was");
        assert_eq!((error.reason(), error.path()), (Reason::Changed, &*place.path()));
        assert_eq!(fs::read(place.path()).ok(), left, "{error}");
    }
}

#[test]
fn an_output_that_is_missing_is_told_as_the_kernel_does() {
    let error = append::open(Place::new().path()).expect_err("nothing there");
    assert_eq!(error.raw_os_error(), Some(2));
    assert!(error.what_to_try().contains("path"), "{error}");
}

#[test]
fn a_checkpoint_leaves_everything_before_it_and_writing_goes_on() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let options = AppendOptions::new().with_mode(mode).with_buffer_size(16);
        let out = options.create(place.path()).expect("created");
        for round in 0..4_u32 {
            out.scope(|w| lines(w, 50 * round, 50 * (round + 1))).expect("written");
            let fork = out.fork().expect("free");
            fork.finish().expect("finished");
            let committed = out.checkpoint().expect("durable");
            let expected = expected_lines(50 * (round + 1));
            assert_eq!(committed.bytes, expected.len() as u64);
            assert_eq!(read_back(&place.path()), expected, "{mode:?} round {round}");
            (&out).write_all(b"").expect("nothing");
        }
        (&out).write_all(b"lost with the drop").expect("written");
        drop(out);
        assert_eq!(read_back(&place.path()), expected_lines(200), "{mode:?}");
        assert_eq!(place.names(), ["out"]);
    }
}

#[test]
fn segments_are_read_by_position_and_seek_like_one_file() {
    let place = Place::new();
    let options = quick().with_mode(Mode::Segments).with_buffer_size(8);
    let out = options.create(place.path()).expect("created");
    out.scope(|w| lines(w, 0, 300)).expect("written");
    out.commit().expect("committed");
    let expected = expected_lines(300);
    let mut back = append::open(place.path()).expect("committed");
    assert_eq!(back.len(), expected.len() as u64);
    back.verify().expect("whole");
    for offset in (0..expected.len()).step_by(37) {
        let mut bytes = [0; 50];
        let read = back.read_at(&mut bytes, offset as u64).expect("readable");
        let end = (offset + 50).min(expected.len());
        assert_eq!(&bytes[..read], &expected[offset..end]);
        back.seek(SeekFrom::Start(offset as u64)).expect("within");
        let mut rest = Vec::new();
        back.read_to_end(&mut rest).expect("readable");
        assert_eq!(rest, &expected[offset..]);
    }
    assert!(back.seek(SeekFrom::End(-1_000_000)).is_err());
    assert_eq!(back.read_at(&mut [0; 4], 1 << 60).expect("past the end"), 0);
    let source = swath::Source::custom(std::sync::Arc::new(back));
    let all = swath::ReadOptions::new().read(source).expect("every verb reads it");
    assert_eq!(&all.buffer[..], expected);
}

#[test]
fn damage_to_segments_is_told_with_path_and_bytes() {
    let place = Place::new();
    let write = |checksums| {
        let options = quick().with_mode(Mode::Segments).with_checksums(checksums);
        let mut out = options.create(place.path()).expect("created");
        out.write_all(&expected_lines(100)).expect("written");
        out.commit().expect("committed");
        let names = fs::read_dir(place.path()).expect("a folder");
        names
            .map(|it| it.expect("readable").path())
            .find(|path| !path.ends_with("MANIFEST"))
            .expect("one segment")
    };
    let segment = write(ExtentChecksums::Extents);
    let mut bytes = fs::read(&segment).expect("readable");
    bytes[77] ^= 1;
    fs::write(&segment, &bytes).expect("writable");
    let back = append::open(place.path()).expect("its length is right");
    let error = back.verify().expect_err("one bit is wrong");
    assert_eq!(error.reason(), Reason::Corrupt);
    assert_eq!(error.path(), segment);
    assert_eq!(error.extent(), Extent::new(0, bytes.len() as u64));
    let error =
        back.clone().read_to_end(&mut Vec::new()).expect_err("reading all shows it too");
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    // In whatever pieces and by however many threads a verb reads it.
    let source = swath::Source::custom(std::sync::Arc::new(back));
    for (workers, size) in [(1, 0), (2, 100), (3, 7)] {
        let options = swath::ReadOptions::new().with_workers(workers).with_chunk_size(size);
        let error = options.read(source.clone()).expect_err("one bit is wrong");
        assert_eq!(error.io_kind(), io::ErrorKind::InvalidData, "{error:?}");
    }

    fs::write(&segment, &bytes[..500]).expect("writable");
    let error = append::open(place.path()).expect_err("it is too short");
    assert_eq!((error.reason(), error.path()), (Reason::Truncated, segment.as_path()));
    fs::remove_file(&segment).expect("removable");
    let error = append::open(place.path()).expect_err("it is gone");
    assert_eq!((error.io_kind(), error.path()), (io::ErrorKind::NotFound, segment.as_path()));

    let segment = write(ExtentChecksums::None);
    fs::write(&segment, bytes).expect("writable");
    append::open(place.path()).expect("whole").verify().expect("nothing to compare with");
    let manifest = place.path().join("MANIFEST");
    let mut bytes = fs::read(&manifest).expect("readable");
    bytes[20] ^= 4;
    fs::write(&manifest, bytes).expect("writable");
    let error = append::open(place.path()).expect_err("damaged");
    assert_eq!((error.reason(), error.path()), (Reason::Corrupt, manifest.as_path()));
    fs::remove_file(manifest).expect("removable");
    assert_eq!(
        append::open(place.path()).expect_err("no manifest").io_kind(),
        io::ErrorKind::NotFound
    );
}

#[test]
fn empty_outputs_and_empty_strands_cost_nothing() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let out = quick().with_mode(mode).create(place.path()).expect("created");
        out.scope(|w| {
            w.join(|_| Ok::<(), io::Error>(()), |w| w.write_all(b""))?;
            w.scope(|s| {
                s.spawn(|_| Ok(()));
                Ok::<(), io::Error>(())
            })
        })
        .expect("nothing to do");
        let committed = out.commit().expect("committed");
        assert_eq!(committed.bytes, 0, "{mode:?}");
        assert_eq!(read_back(&place.path()), b"", "{mode:?}");
    }
}

#[test]
fn a_copied_folder_is_the_plain_file_and_damage_is_not_copied() {
    for checksums in [ExtentChecksums::Extents, ExtentChecksums::None] {
        let place = Place::new();
        let options =
            quick().with_mode(Mode::Segments).with_buffer_size(100).with_checksums(checksums);
        let out = options.create(place.path()).expect("created");
        out.scope(|w| lines(w, 0, 3000)).expect("written");
        let long = vec![b'x'; 40 << 20];
        (&out).write_all(&long).expect("written");
        out.commit().expect("committed");
        let plain = place.folder.path().join("plain");
        let len = copied(&place.path(), &plain).expect("copied");
        let expected = [expected_lines(3000), long].concat();
        assert_eq!(len, expected.len() as u64);
        assert!(fs::read(&plain).expect("readable") == expected);

        let segments = fs::read_dir(place.path()).expect("a folder");
        let longest = segments
            .map(|it| it.expect("readable").path())
            .max_by_key(|path| path.metadata().expect("there").len())
            .expect("segments");
        let mut bytes = fs::read(&longest).expect("readable");
        *bytes.last_mut().expect("long") ^= 1;
        fs::write(&longest, bytes).expect("writable");
        let other = place.folder.path().join("other");
        let copied = copied(&place.path(), &other);
        if checksums == ExtentChecksums::Extents {
            assert_eq!(copied.expect_err("one bit is wrong").reason(), Reason::Corrupt);
            assert!(!other.exists());
        }
    }
}

/// Copies a folder of segments into one plain file; returns its length.
fn copied(folder: &Path, to: &Path) -> swath::Result<u64> {
    let opened = append::open(folder)?;
    opened.verify()?;
    let source = swath::Source::custom(std::sync::Arc::new(opened));
    Ok(swath::copy::CopyOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None))
        .copy(source, to)?
        .bytes)
}

/// Panics at the fifth item, in the iterator and not in what it writes.
fn items(panics: bool) -> impl rayon::iter::IndexedParallelIterator<Item = u32> {
    use rayon::iter::ParallelIterator;
    (0..10_u32).into_par_iter().map(move |item| {
        if panics && item == 5 {
            std::panic::resume_unwind(Box::new("planned"));
        }
        item
    })
}

#[test]
fn a_panic_in_the_iterator_itself_keeps_what_the_serial_loop_would_have_written() {
    for mode in [Mode::Plain, Mode::Segments] {
        let place = Place::new();
        let mut old = quick().with_mode(mode).create(place.path()).expect("created");
        old.write_all(b"old,").expect("written");
        old.commit().expect("committed");
        let out = quick().with_mode(mode).append_to_existing(place.path());
        let mut out = out.expect("begun");
        out.write_all(b"new,").expect("written");
        out.checkpoint().expect("durable");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            items(true).append_to(&out, |item, w| write!(w, "{item},"))
        }));
        assert!(panicked.is_err());
        items(false).append_to(&out, |item, w| write!(w, "{item};")).expect("written");
        out.commit().expect("committed");
        assert_eq!(read_back(&place.path()), b"old,new,0,1,2,3,4,0;1;2;3;4;5;6;7;8;9;");
    }
}

#[test]
fn a_copy_into_the_folder_itself_is_refused() {
    let place = Place::new();
    let mut out = quick().with_mode(Mode::Segments).create(place.path()).expect("created");
    out.write_all(b"bytes").expect("written");
    out.commit().expect("committed");
    for entry in fs::read_dir(place.path()).expect("a folder") {
        let target = entry.expect("readable").path();
        let error = copied(&place.path(), &target).expect_err("it is what is read");
        assert_eq!(error.reason(), Reason::Invalid);
        assert!(error.to_string().contains("choose a path outside"), "{error}");
        assert!(copied(&place.path(), &place.path().join("new")).is_err());
    }
    assert_eq!(read_back(&place.path()), b"bytes");
}
