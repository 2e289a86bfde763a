//! Which attempts count after a commit that was refused, failed, or was killed.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use swath::job::{self, Done, Form, JobOptions, Plan, State};
use swath::sink::{Fs, HardLinks, Replace};
use swath::{OutputOptions, Reason};

use crate::hooked::{Call, Hook, Hooked};
use crate::jobs::{Bench, all, attempt, lines, serial};

/// Another attempt of part `index`, with bytes of its own.
fn other(plan: &Plan, index: usize, bytes: &str) -> Done {
    let mut out = plan.part(index).expect("it exists").writer().expect("begun");
    out.write_all(bytes.as_bytes()).expect("written");
    out.finish().expect("finished")
}

/// Its receipt before all others, as the newest is.
fn with(newest: &Done, done: &[Done]) -> Vec<Done> {
    [std::slice::from_ref(newest), done].concat()
}

fn refusing() -> OutputOptions {
    OutputOptions::new().with_replace(Replace::Refused)
}

fn state(plan: &Plan) -> State {
    job::status(plan.folder()).expect("read").state
}

#[test]
fn attempts_count_that_end_after_a_commit_was_refused() {
    let bench = Bench::new("a\nb\n");
    let refused = |plan: &Plan, done: &[Done]| {
        let error = plan.commit(done).expect_err("it is refused");
        assert_eq!(state(plan), State::Complete, "{error}");
        assert!(!plan.folder().join("CHOSEN").exists(), "{error}");
        error
    };
    // The target exists.
    let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(refusing()));
    let done = all(&plan);
    fs::write(bench.output(), "of another program").expect("written");
    assert_eq!(refused(&plan, &done).io_kind(), ErrorKind::AlreadyExists);
    fs::remove_file(bench.output()).expect("there");
    plan.commit(&with(&other(&plan, 0, "corrected\n"), &done)).expect("committed");
    let right = [b"corrected\n".to_vec(), serial("b\n")].concat();
    assert_eq!(fs::read(bench.output()).expect("read"), right);
    // It has hard links.
    fs::hard_link(bench.output(), bench.path("link")).expect("linked");
    let output = OutputOptions::new().with_hard_links(HardLinks::Refused);
    let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(output));
    let done = all(&plan);
    refused(&plan, &done);
    fs::remove_file(bench.path("link")).expect("there");
    plan.commit(&with(&other(&plan, 1, "more\n"), &done)).expect("committed");
    assert!(fs::read(bench.output()).expect("read").ends_with(b"more\n"));
}

/// A disk that is full at some calls, after the first of them.
#[derive(Debug)]
struct Full {
    calls: &'static [Call],
    spared: u64,
    seen: AtomicU64,
}

impl Hook for Full {
    fn before(&self, call: Call) -> io::Result<()> {
        let is_full = self.calls.contains(&call)
            && self.seen.fetch_add(1, Ordering::Relaxed) >= self.spared;
        if is_full { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

fn full_at(calls: &'static [Call], spared: u64) -> Arc<dyn Fs> {
    Arc::new(Hooked(Arc::new(Full { calls, spared, seen: AtomicU64::new(0) })))
}

#[test]
fn attempts_count_that_end_after_the_disk_was_full() {
    let cases: [(&[Call], u64); 5] = [
        (&[Call::Allocate], 0),
        (&[Call::Clone, Call::Copy, Call::Write], 1),
        (&[Call::CreateNameless], 0),
        // Of the choice; of the target.
        (&[Call::Link], 0),
        (&[Call::Link], 1),
    ];
    for (calls, spared) in cases {
        let bench = Bench::new("a\nb\n");
        let plan = bench.plan(&JobOptions::new().with_parts(2));
        let done = all(&plan);
        let full =
            plan.clone().with_output(OutputOptions::new().with_fs(full_at(calls, spared)));
        let error = full.commit(&done).expect_err("the disk is full");
        assert_eq!(error.io_kind(), ErrorKind::StorageFull, "{calls:?}: {error}");
        assert!(!plan.folder().join("CHOSEN").exists(), "{calls:?}");
        assert!(!bench.output().exists());
        plan.commit(&with(&other(&plan, 0, "corrected\n"), &done)).expect("committed");
        assert!(fs::read(bench.output()).expect("read").starts_with(b"corrected\n"));
    }
}

/// Leaves the files of a commit that was killed.
fn killed(plan: &Plan, chosen: &[Done]) {
    let chosen = serde_json::to_string(chosen).expect("plain data");
    fs::write(plan.folder().join("CHOSEN"), chosen).expect("written");
}

/// Changes bytes, and then the last four so that their CRC-32C is what it was.
fn forged(right: &[u8]) -> Vec<u8> {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |it, _| (it >> 1) ^ if it & 1 == 1 { 0x82f6_3b78 } else { 0 })
        })
        .collect();
    let (body, _) = right.split_at(right.len() - 4);
    let mut bytes = body.to_ascii_lowercase();
    assert_ne!(bytes, body);
    let mut reached = !crc32c::crc32c(right);
    let steps: Vec<u32> = (0..4)
        .map(|_| {
            let at = (0..256_u32).find(|&at| table[at as usize] >> 24 == reached >> 24);
            let at = at.expect("each high byte is there once");
            reached = (reached ^ table[at as usize]) << 8;
            at
        })
        .collect();
    let mut sum = !crc32c::crc32c(&bytes);
    for &at in steps.iter().rev() {
        bytes.push((sum ^ at).to_le_bytes()[0]);
        sum = (sum >> 8) ^ table[at as usize];
    }
    assert_eq!(crc32c::crc32c(&bytes), crc32c::crc32c(right));
    bytes
}

#[test]
fn another_file_of_the_same_length_and_checksum_is_not_what_was_committed() {
    let bench = Bench::new("a\nb\nc\nd\n");
    let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(refusing()));
    let done = all(&plan);
    killed(&plan, &done);
    let right = serial("a\nb\nc\nd\n");
    fs::write(bench.output(), forged(&right)).expect("written");
    let error = plan.commit(&done).expect_err("another program has put it there");
    assert_eq!(error.io_kind(), ErrorKind::AlreadyExists, "{error}");
    fs::write(bench.output(), &right).expect("written");
    assert_eq!(plan.commit(&done).expect("found").bytes, right.len() as u64);
}

/// As on sshfs, where times are whole seconds.
#[test]
fn of_attempts_with_the_same_time_the_later_counts() {
    for _ in 0..20 {
        let bench = Bench::new("a\nb\n");
        let plan = bench.plan(&JobOptions::new().with_parts(1));
        for text in ["old\n", "new\n"] {
            std::thread::sleep(std::time::Duration::from_micros(10));
            other(&plan, 0, text);
        }
        for entry in fs::read_dir(plan.folder()).expect("a folder") {
            let file = fs::File::open(entry.expect("listed").path()).expect("mine");
            file.set_modified(std::time::UNIX_EPOCH).expect("mine");
        }
        plan.commit(&plan.done().expect("listed")).expect("committed");
        assert_eq!(fs::read(bench.output()).expect("read"), b"new\n");
    }
}

/// It could be given other bytes after it was looked at.
#[test]
fn a_neighbours_file_with_the_bytes_of_a_commit_that_was_killed_is_not_its_output() {
    if !rustix::process::geteuid().is_root() {
        return swath_reference::skip("root", "only root has another user for a neighbour");
    }
    let bench = Bench::new("a\nb\n");
    let plan = bench.plan(&JobOptions::new());
    let done = all(&plan);
    killed(&plan, &done);
    fs::write(bench.output(), serial("a\nb\n")).expect("written");
    let planted = fs::File::open(bench.output()).expect("there");
    chown(bench.output(), Some(65534), None).expect("as root");
    plan.commit(&done).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial("a\nb\n"));
    let inode = |facts: std::io::Result<fs::Metadata>| facts.expect("there").ino();
    assert_ne!(inode(fs::metadata(bench.output())), inode(planted.metadata()));
}

#[test]
fn attempts_count_that_end_after_a_commit_was_killed_before_it_placed_its_own() {
    for replace in [Replace::Allowed, Replace::Refused] {
        let bench = Bench::new("a\nb\n");
        let output = OutputOptions::new().with_replace(replace);
        let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(output));
        let done = all(&plan);
        killed(&plan, &done);
        if replace == Replace::Allowed {
            // Of the same length as what was chosen.
            fs::write(bench.output(), "OLD\n").expect("written");
        }
        let newest = other(&plan, 0, "corrected\n");
        let again = job::open(plan.folder()).expect("opened");
        again.commit(&with(&newest, &done)).expect("committed");
        assert!(fs::read(bench.output()).expect("read").starts_with(b"corrected\n"));
        // Also without receipts of the other parts: what was chosen is as good.
        let plan = JobOptions::new().with_parts(2).plan([bench.input()], bench.path("more"));
        let plan = plan.expect("planned");
        let done = all(&plan);
        killed(&plan, &done);
        plan.commit(&[other(&plan, 1, "second\n")]).expect("committed");
        assert!(fs::read(bench.path("more")).expect("read").ends_with(b"second\n"));
    }
}

#[test]
fn a_choice_that_is_damaged_is_an_error_with_what_to_do() {
    let bench = Bench::new("a\nb\n");
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let done = all(&plan);
    let part = serde_json::to_string(&done[..1]).expect("plain data");
    for text in ["", "[", "{}", &part, r#"[{"part":7,"attempt":"x","len":1,"crc32c":1}]"#] {
        fs::write(plan.folder().join("CHOSEN"), text).expect("written");
        let error = plan.commit(&done).expect_err("it is damaged");
        assert_eq!(error.reason(), Reason::Corrupt, "{error}");
        assert_eq!(error.path(), plan.folder().join("CHOSEN"));
        assert_eq!(error.what_to_try(), "remove this file, then commit again");
    }
    fs::remove_file(plan.folder().join("CHOSEN")).expect("there");
    plan.commit(&done).expect("committed");
    fs::write(plan.folder().join("COMMITTED"), "?").expect("written");
    let error = plan.commit(&done).expect_err("it is damaged");
    assert!(error.what_to_try().contains("whether the output is complete"), "{error}");
}

#[test]
fn an_attempt_that_ends_after_the_commit_says_that_it_does_not_count() {
    for form in [Form::File, Form::Segments] {
        let bench = Bench::new(&lines(10));
        let plan = bench.plan(&JobOptions::new().with_parts(2).with_form(form));
        let running = plan.part(1).expect("it exists").writer().expect("begun");
        let done = all(&plan);
        plan.commit(&done).expect("committed");
        let ended = running.finish().expect_err("it does not count");
        let begun = plan.part(0).expect("it exists").writer().expect_err("nor does this");
        for error in [ended, begun] {
            assert_eq!(error.reason(), Reason::Invalid);
            assert!(error.to_string().contains("another attempt does not count"), "{error}");
        }
    }
}

#[test]
fn of_attempts_with_one_time_the_order_is_that_of_their_numbers() {
    let bench = Bench::new("a\n");
    let plan = bench.plan(&JobOptions::new());
    let mut attempts: Vec<Done> =
        (0..6).map(|_| attempt(&plan.part(0).expect("it exists"))).collect();
    let set = |at: &Path, seconds| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::open(at).and_then(|file| file.set_modified(time)).expect("set");
    };
    let path = |done: &Done| {
        let names = fs::read_dir(plan.folder()).expect("listed");
        let mut paths = names.map(|it| it.expect("an entry").path());
        paths.find(|it| it.to_string_lossy().contains(&done.attempt)).expect("there")
    };
    attempts.iter().for_each(|done| set(&path(done), 1000));
    attempts.sort_by(|one, other| other.attempt.cmp(&one.attempt));
    assert_eq!(plan.done().expect("listed"), attempts);
    let last = attempts.pop().expect("six");
    set(&path(&last), 1001);
    assert_eq!(plan.done().expect("listed"), with(&last, &attempts));
}

#[test]
fn a_committed_output_that_is_gone_or_shorter_is_told_by_the_next_commit() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let done = all(&plan);
    let bytes = plan.commit(&done).expect("committed").bytes;
    plan.commit(&[]).expect("the same");
    fs::write(bench.output(), "short").expect("written");
    let error = plan.commit(&done).expect_err("it is shorter");
    assert_eq!((error.reason(), error.path()), (Reason::Changed, &*bench.output()));
    let text = format!("the job has committed {bytes} bytes, and the file has 5 now");
    assert!(error.to_string().contains(&text), "{error}");
    fs::remove_file(bench.output()).expect("there");
    let error = plan.commit(&done).expect_err("it is gone");
    assert!(error.to_string().contains("it is not there any more"), "{error}");
    plan.remove().expect("its folder is not needed");

    let segments = JobOptions::new().with_parts(2).with_form(Form::Segments);
    let plan = segments.plan([bench.input()], bench.path("parts")).expect("planned");
    plan.commit(&all(&plan)).expect("committed");
    let is_segment = |path: &std::path::PathBuf| path.to_string_lossy().contains("/part-");
    let names = fs::read_dir(plan.folder()).expect("listed");
    let segment = names.map(|it| it.expect("an entry").path()).find(is_segment);
    let segment = segment.expect("there are two");
    let file = fs::File::options().write(true).open(&segment).expect("opened");
    file.set_len(1).expect("cut");
    let error = plan.commit(&[]).expect_err("it is shorter");
    assert_eq!((error.reason(), error.path()), (Reason::Changed, &*segment));
    fs::remove_file(&segment).expect("there");
    assert_eq!(plan.commit(&[]).expect_err("it is gone").reason(), Reason::Changed);
}
