//! `create_shared` and `open_shared`: several processes write one file, and the commit knows what they
//! wrote.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::drafts::{DraftReceipt, DraftToken, SharedDraft};
use swath::sink::{Durability, Replace};
use swath::{CancelToken, Extent, Operation, OutputOptions, Reason, WriteOptions};

const ROLE: &str = "SWATH_SHARED_ROLE";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("listed");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("UTF-8");
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from(index * 31 % 251).expect("below 251")).collect()
}

fn begin(path: &Path, len: u64) -> SharedDraft {
    WriteOptions::new().create_shared(path, len).expect("begun")
}

fn write(draft: &SharedDraft, bytes: &[u8], offset: u64) -> DraftReceipt {
    let out = WriteOptions::new().open_shared(draft.token()).expect("it is being written");
    out.write_at(bytes, offset).expect("room");
    out.finish().expect("finished")
}

fn receipt(draft: &SharedDraft, extents: &str) -> DraftReceipt {
    let id = draft.token().id();
    let text = format!("{{\"draft\":\"{id}\",\"extents\":{extents}}}");
    DraftReceipt::from_json(&text).expect("a receipt")
}

#[test]
fn every_way_to_divide_it_gives_the_bytes_and_no_other_file() {
    let place = Place::new();
    let path = place.path("out");
    for len in [0, 1, 4096, 4097, 300_001] {
        let bytes = bytes(len);
        for writers in [1, 2, 5] {
            let options = WriteOptions::new().with_chunk_size(50_000).with_output(
                OutputOptions::new().with_durability(match writers {
                    1 => Durability::Full,
                    _ => Durability::None,
                }),
            );
            let draft = options.create_shared(&path, len as u64).expect("begun");
            assert_eq!((draft.len(), draft.is_empty()), (len as u64, len == 0));
            let size = len.div_ceil(writers).max(1);
            let parts: Vec<_> = bytes.chunks(size).enumerate().collect();
            let receipts = std::thread::scope(|scope| {
                let write = |(index, part): &(usize, &[u8])| {
                    let out = options.open_shared(draft.token()).expect("begun");
                    let (one, two) = part.split_at(part.len() / 3);
                    let offset = (index * size) as u64;
                    out.write_at(two, offset + one.len() as u64).expect("room");
                    out.write_at(one, offset).expect("room");
                    out.finish().expect("finished")
                };
                let threads: Vec<_> =
                    parts.iter().map(|part| scope.spawn(move || write(part))).collect();
                threads.into_iter().map(|it| it.join().expect("no panic")).collect::<Vec<_>>()
            });
            assert_eq!(receipts.iter().map(DraftReceipt::bytes).sum::<u64>(), len as u64);
            draft.commit(&receipts).expect("committed");
            assert!(fs::read(&path).expect("there") == bytes, "{len} {writers}");
            assert_eq!(place.names(), ["out"]);
        }
    }
}

#[test]
fn a_writer_that_writes_here_and_there_says_exactly_where() {
    let place = Place::new();
    let draft = begin(&place.path("out"), 100_000);
    let out = WriteOptions::new().open_shared(draft.token()).expect("begun");
    // Many pieces, each apart from the one before.
    for index in (0..10_000).rev() {
        out.write_at(b"12345", index * 10).expect("room");
    }
    out.write_at(b"", 50_005).expect("nothing to do");
    out.write_at(b"123456789012", 0).expect("over what is there");
    let receipt = out.finish().expect("finished");
    let again = DraftReceipt::from_json(&receipt.to_json()).expect("its own text");
    assert_eq!(again, receipt);
    let extents: Vec<Extent> = receipt.extents().collect();
    assert_eq!(extents[0], Extent::between(0, 15));
    assert_eq!(
        extents[1..],
        (2..10_000).map(|at| Extent::between(at * 10, at * 10 + 5)).collect::<Vec<_>>()
    );
    assert_eq!(receipt.bytes(), 15 + 9_998 * 5);
    draft.commit_with_gaps(&[receipt]).expect("committed");
    let found = fs::read(place.path("out")).expect("there");
    assert_eq!((found.len(), &found[..22]), (100_000, &b"123456789012345\0\0\0\0\x0012"[..]));
    assert_eq!(&found[99_985..], b"\0\0\0\0\x0012345\0\0\0\0\0");
}

#[test]
fn missing_bytes_are_an_error_with_their_place() {
    let place = Place::new();
    let path = place.path("out");
    fs::write(&path, "old").expect("room");
    let draft = begin(&path, 10);
    let receipts = [write(&draft, b"0123", 0), write(&draft, b"89", 8)];
    let error = draft.commit(&receipts).expect_err("four are missing");
    assert_eq!((error.reason(), error.operation()), (Reason::Invalid, Operation::Commit));
    assert_eq!(error.extent(), Some(Extent::between(4, 8)));
    assert!(error.to_string().contains("4 of its 10 bytes were not written"), "{error}");
    assert_eq!(
        (fs::read(&path).expect("there"), place.names()),
        (b"old".to_vec(), vec!["out".into()])
    );
    // The bytes count, and not how often they were written.
    let draft = begin(&path, 10);
    let receipts = [write(&draft, b"01234567", 0), write(&draft, b"56789", 5)];
    draft.commit(&receipts).expect("all are there");
    assert_eq!(fs::read(&path).expect("there"), b"0123456789");
}

#[test]
fn receipts_of_another_draft_and_nonsense_are_refused() {
    let place = Place::new();
    let other = begin(&place.path("other"), 4);
    let of_other = write(&other, b"abcd", 0);
    let draft = begin(&place.path("out"), 4);
    let error = draft.commit(&[of_other]).expect_err("of another draft");
    assert_eq!(error.reason(), Reason::Invalid, "{error}");
    let draft = begin(&place.path("out"), 4);
    // Past every file: nothing of it counts.
    let wild = receipt(&draft, "[[18446744073709551615,5],[9,18446744073709551610],[2,2]]");
    let error = draft.commit(&[wild]).expect_err("bytes are missing");
    assert_eq!(error.extent(), Some(Extent::between(0, 2)));
    for text in [
        "",
        "{}",
        "[]",
        "{\"draft\":3,\"extents\":[]}",
        "{\"draft\":\"a\",\"extents\":[[-1,2]]}",
    ] {
        let error = DraftReceipt::from_json(text).expect_err("not a receipt");
        assert_eq!(error.reason(), Reason::Corrupt, "{text}: {error}");
    }
    assert_eq!(place.names(), [".other.swath-lock", ".other.swath-tmp"]);
}

#[test]
fn bytes_past_the_length_are_refused_and_spoil_the_writer() {
    let place = Place::new();
    let draft = begin(&place.path("out"), 10);
    for (len, offset) in [(11, 0), (1, 10), (2, 9), (1, u64::MAX)] {
        let out = WriteOptions::new().open_shared(draft.token()).expect("begun");
        let error = out.write_at(&bytes(len), offset).expect_err("past the length");
        assert_eq!((error.reason(), error.operation()), (Reason::Invalid, Operation::Write));
        assert_eq!(out.finish().expect_err("a write failed").reason(), Reason::Poisoned);
    }
    let hidden = place.path(".out.swath-tmp");
    let mark = fs::read(&hidden).expect("there");
    assert!(
        mark.len() > 10 && mark[..10] == [0; 10] && mark[10..].starts_with(b"swath draft ")
    );
    assert_eq!(fs::metadata(&hidden).expect("there").mode() & 0o777, 0o600);
    let receipt = write(&draft, &bytes(10), 0);
    draft.commit(&[receipt]).expect("committed");
    assert_eq!(fs::read(place.path("out")).expect("there"), bytes(10));
}

/// How a draft at a path ends.
type End = fn(SharedDraft, &Path);

#[test]
fn a_token_of_a_draft_that_is_over_is_an_error_when_opened_and_when_written_to() {
    let ends: [(&str, End); 4] = [
        ("committed", |draft, _| draft.commit_with_gaps(&[]).expect("committed")),
        ("discarded", |draft, _| drop(draft)),
        ("followed by another", |draft, path| {
            drop(draft);
            std::mem::forget(begin(path, 8));
        }),
        ("cut", |draft, path| {
            let hidden = path.with_file_name(".out.swath-tmp");
            fs::File::options()
                .write(true)
                .open(hidden)
                .and_then(|it| it.set_len(3))
                .expect("there");
            let error = draft.commit_with_gaps(&[]).expect_err("it has changed");
            assert_eq!(error.reason(), Reason::Changed, "{error}");
        }),
    ];
    for (how, end) in ends {
        let place = Place::new();
        let path = place.path("out");
        let draft = begin(&path, 8);
        let token = DraftToken::from_json(&draft.token().to_json()).expect("its own text");
        let early = WriteOptions::new().open_shared(&token).expect("begun");
        end(draft, &path);
        let before = fs::read(&path).ok();
        let error = early.write_at(b"late", 0).expect_err("it is over");
        assert_eq!(
            (error.reason(), error.operation()),
            (Reason::Changed, Operation::Write),
            "{how}"
        );
        let error = WriteOptions::new().open_shared(&token).expect_err("it is over");
        assert_eq!(
            (error.reason(), error.operation()),
            (Reason::Changed, Operation::Open),
            "{how}"
        );
        assert!(error.what_to_try().starts_with("begin "), "{error:?}");
        let early = early.finish().expect_err("it is over");
        assert_eq!(early.reason(), Reason::Changed, "{how}");
        assert_eq!(fs::read(&path).ok(), before, "{how}");
    }
}

#[test]
fn a_finish_after_the_end_of_the_draft_gives_no_receipt() {
    let place = Place::new();
    let draft = begin(&place.path("out"), 4);
    let out = WriteOptions::new().open_shared(draft.token()).expect("begun");
    out.write_at(b"1234", 0).expect("room");
    drop(draft);
    assert_eq!(out.finish().expect_err("discarded").reason(), Reason::Changed);
}

/// The same name, and on many file systems the same inode, are soon another draft's.
#[test]
fn a_file_of_the_right_name_that_is_another_draft_is_not_written_to() {
    let place = Place::new();
    let path = place.path("out");
    let first = begin(&path, 8);
    let token = first.token().clone();
    drop(first);
    let second = begin(&path, 8);
    assert_eq!(token.len(), second.len());
    let error = WriteOptions::new().open_shared(&token).expect_err("another draft");
    assert_eq!(error.reason(), Reason::Changed, "{error}");
    // Nor a file that someone has put there, nor a link, a folder or a pipe.
    drop(second);
    let hidden = place.path(".out.swath-tmp");
    let refused = || WriteOptions::new().open_shared(&token).expect_err("not the draft");
    fs::write(&hidden, bytes(8 + 40)).expect("room");
    assert_eq!(refused().reason(), Reason::Changed);
    fs::remove_file(&hidden).expect("there");
    fs::write(place.path("victim"), "victim").expect("room");
    std::os::unix::fs::symlink("victim", &hidden).expect("room");
    assert_eq!(refused().operation(), Operation::Open);
    fs::remove_file(&hidden).expect("there");
    fs::create_dir(&hidden).expect("room");
    assert_eq!(refused().operation(), Operation::Open);
    assert_eq!(fs::read(place.path("victim")).expect("there"), b"victim");
}

#[test]
fn a_forged_token_opens_nothing_else() {
    let place = Place::new();
    let path = place.path("out");
    fs::write(place.path("victim"), "victim").expect("room");
    let draft = begin(&path, 6);
    let good = draft.token().to_json();
    let id = draft.token().id();
    for (from, to) in [
        (".out.swath-tmp", "victim"),
        (".out.swath-tmp", "../x/.out.swath-tmp"),
        (".out.swath-tmp", ".other.swath-tmp"),
        (".out.swath-tmp", ".out.swath-lock"),
        (id, "0123"),
        (id, "0123456789ABCDEF"),
        ("\"version\":2", "\"version\":3"),
        ("\"mark\":6", "\"mark\":5"),
        ("\"mark\":6", "\"mark\":18446744073709551615"),
        ("\"target\":\"/", "\"target\":\""),
    ] {
        assert!(good.contains(from), "{good}");
        let token: DraftToken = serde_json_of(&good.replace(from, to));
        let error = WriteOptions::new().open_shared(&token).expect_err("forged");
        assert_eq!(error.reason(), Reason::Corrupt, "{to}: {error}");
    }
    for text in ["", "{}", "17", &good[..good.len() - 1]] {
        let error = DraftToken::from_json(text).expect_err("not a token");
        assert_eq!(error.reason(), Reason::Corrupt, "{text}: {error}");
    }
    let other_id = good.replace(id, "0123456789abcdef");
    let error =
        WriteOptions::new().open_shared(&serde_json_of(&other_id)).expect_err("no such");
    assert_eq!(error.reason(), Reason::Changed, "{error}");
    assert_eq!(fs::read(place.path("victim")).expect("there"), b"victim");
}

/// As a program that takes tokens with `serde`, and not with `from_json`.
fn serde_json_of(text: &str) -> DraftToken {
    serde_json::from_str(text).expect("plain data")
}

#[test]
fn progress_is_counted_and_a_cancelled_writer_gives_no_receipt() {
    let place = Place::new();
    let draft = begin(&place.path("out"), 100_000);
    let seen = Arc::new(AtomicU64::new(0));
    let (counted, token) = (Arc::clone(&seen), CancelToken::new());
    let cancel = token.clone();
    let output = OutputOptions::new().with_cancel(token).with_progress(move |progress| {
        if counted.fetch_max(progress.bytes, Ordering::SeqCst) > 20_000 {
            cancel.cancel();
        }
    });
    let options = WriteOptions::new().with_output(output).with_chunk_size(10_000);
    let out = options.open_shared(draft.token()).expect("begun");
    let error = out.write_at(&bytes(100_000), 0).expect_err("cancelled");
    assert_eq!((error.reason(), error.operation()), (Reason::Cancelled, Operation::Write));
    assert_eq!(seen.load(Ordering::SeqCst), 40_000);
    assert_eq!(out.finish().expect_err("cancelled").reason(), Reason::Cancelled);
}

#[test]
fn a_second_writer_of_the_target_is_busy_and_a_taken_name_is_kept() {
    let place = Place::new();
    let path = place.path("out");
    let draft = begin(&path, 1);
    let error = WriteOptions::new().create_shared(&path, 1).expect_err("it is being written");
    assert_eq!(error.reason(), Reason::Busy, "{error}");
    let receipt = write(&draft, b"1", 0);
    draft.commit(&[receipt]).expect("committed");
    let output = OutputOptions::new().with_replace(Replace::Refused);
    let options = WriteOptions::new().with_output(output);
    let error = options.create_shared(&path, 1).expect_err("it is there");
    assert_eq!(error.io_kind(), std::io::ErrorKind::AlreadyExists, "{error}");
    assert_eq!(place.names(), ["out"]);
}

/// A child: this program again, which runs only [`another_process`].
fn child(role: &str, words: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "shared_drafts::another_process", "--nocapture"]);
    command.env(ROLE, role).env("SWATH_SHARED_WORDS", words.join("\n"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("started")
}

/// Its line that begins with `said: `. The pipe stays open: the child has more to say.
fn said(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.as_mut().expect("piped")).lines();
    let line = lines.by_ref().map_while(Result::ok);
    let line = line.filter_map(|it| it.strip_prefix("said: ").map(String::from)).next();
    line.unwrap_or_else(|| {
        let mut text = String::new();
        let _ = child.stderr.take().map(|mut it| it.read_to_string(&mut text));
        panic!("it said nothing: {text}")
    })
}

/// The children's part; does nothing unless the environment says so.
#[test]
fn another_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words = std::env::var("SWATH_SHARED_WORDS").expect("set with the role");
    let mut words = words.lines();
    let mut word = || words.next().expect("enough words");
    let say = |text: &str| {
        // libtest has begun a line.
        println!("\nsaid: {text}");
        std::io::stdout().flush().expect("the parent reads");
    };
    match role.as_str() {
        "write" => {
            let token = DraftToken::from_json(word()).expect("a token");
            let (offset, len): (u64, usize) =
                (word().parse().expect("a number"), word().parse().expect("a number"));
            let out = WriteOptions::new().open_shared(&token).expect("it is being written");
            let at = usize::try_from(offset).expect("small");
            out.write_at(&bytes(at + len)[at..], offset).expect("room");
            say(&out.finish().expect("finished").to_json());
        }
        "begin" => {
            let draft = begin(Path::new(word()), 1000);
            say(&draft.token().to_json());
            let _ = std::io::stdin().read(&mut [0]);
        }
        "open" => {
            let token = DraftToken::from_json(word()).expect("a token");
            if let Ok(user) = word().parse::<u32>() {
                let user = rustix::thread::Uid::from_raw(user);
                rustix::thread::set_thread_res_uid(user, user, user).expect("root may");
            }
            let error = WriteOptions::new().open_shared(&token).map(drop).err();
            say(&error.map_or_else(|| "opened".into(), |it| format!("{:?}", it.io_kind())));
        }
        other => panic!("no such role: {other}"),
    }
}

#[test]
fn processes_write_their_parts_and_the_first_one_commits() {
    let place = Place::new();
    let path = place.path("out");
    let draft = begin(&path, 1_000_000);
    let token = draft.token().to_json();
    let mut children: Vec<_> = (0..4_u64)
        .map(|part| child("write", &[&token, &(part * 250_000).to_string(), "250000"]))
        .collect();
    let receipts = children.iter_mut().map(|child| {
        let receipt = DraftReceipt::from_json(&said(child)).expect("a receipt");
        assert!(child.wait().expect("it ends").success());
        receipt
    });
    let receipts: Vec<_> = receipts.collect();
    draft.commit(&receipts).expect("committed");
    assert!(fs::read(&path).expect("there") == bytes(1_000_000));
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn after_a_killed_beginner_writers_write_into_nothing_and_the_next_one_cleans_up() {
    let place = Place::new();
    let path = place.path("out");
    fs::write(&path, "old").expect("room");
    let mut beginner = child("begin", &[path.to_str().expect("text")]);
    let token = DraftToken::from_json(&said(&mut beginner)).expect("a token");
    let out = WriteOptions::new().open_shared(&token).expect("begun");
    beginner.kill().expect("it waits");
    beginner.wait().expect("killed");
    assert_eq!(place.names(), [".out.swath-lock", ".out.swath-tmp", "out"]);
    out.write_at(&bytes(500), 0).expect("no other writer has come yet");
    swath::write(&path, b"next").expect("the lock is free");
    assert_eq!(place.names(), ["out"]);
    let error = out.write_at(&bytes(500), 500).expect_err("removed");
    assert_eq!(error.reason(), Reason::Changed, "{error}");
    assert_eq!(fs::read(&path).expect("there"), b"next");
}

#[test]
fn another_user_cannot_open_it() {
    if !rustix::process::geteuid().is_root() {
        return swath_reference::skip("root", "only root can become another user");
    }
    let folder = tempfile::tempdir().expect("where all users may look");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("its owner may");
    let draft = begin(&folder.path().join("out"), 10);
    let token = draft.token().to_json();
    for (user, expected) in [("65534", "PermissionDenied"), ("-", "opened")] {
        let mut child = child("open", &[&token, user]);
        assert_eq!(said(&mut child), expected, "{user}");
        assert!(child.wait().expect("it ends").success());
    }
}

/// A program of the same user that keeps to nothing: the commit notices what can be noticed.
#[test]
fn a_file_that_another_program_has_extended_is_not_committed() {
    let place = Place::new();
    let path = place.path("out");
    let draft = begin(&path, 4);
    let receipt = write(&draft, b"1234", 0);
    let hidden = fs::File::options().write(true).open(place.path(".out.swath-tmp"));
    hidden.and_then(|it| it.write_all_at(b"more", 1000)).expect("room");
    let error = draft.commit(&[receipt]).expect_err("it has changed");
    assert_eq!(error.reason(), Reason::Changed, "{error}");
    assert_eq!(place.names(), [""; 0]);
}
