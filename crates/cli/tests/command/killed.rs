//! Temporary files go with the process that made them, however that one ends.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::child::{code, ending_signals, is_root, run, stderr, swath, word};

const KINDS: [&str; 4] = ["bytes", "letters", "csv-numbers", "csv"];
const SIGNALS: [&str; 3] = ["KILL", "INT", "TERM"];

fn start(words: &[&str]) -> Child {
    let mut command = swath();
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the command starts")
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    // One that has ended already is not found, which is as well.
    let _ = Command::new("kill").args(["-s", signal, &id]).stderr(Stdio::null()).status();
}

/// The number of a signal, which a shell adds to 128.
fn number(signal: &str) -> Option<i32> {
    let all = [("HUP", 1), ("INT", 2), ("KILL", 9), ("TERM", 15)];
    all.iter().find(|(name, _)| *name == signal).map(|&(_, number)| number)
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("listed").file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_generator_that_is_killed_leaves_the_old_file_and_the_next_one_nothing_else() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("out");
    for (kind, wait) in KINDS.into_iter().zip([5, 20, 40, 60]) {
        for signal in SIGNALS {
            std::fs::write(&path, "old").expect("written");
            let mut child = start(&["gen", kind, "48MiB", "--force", "-o", word(&path)]);
            std::thread::sleep(Duration::from_millis(wait));
            send(signal, &child);
            let ended = child.wait().expect("it ends");
            let bytes = std::fs::read(&path).expect("there");
            if ended.success() {
                assert!(bytes.len() > 40 << 20, "{kind} {signal}: {}", bytes.len());
            } else {
                assert!(ended.signal().is_some(), "{kind} {signal}: {ended}");
                assert!(bytes == b"old" || bytes.len() > 40 << 20, "{kind} {signal}");
            }
            let next = run(["gen", kind, "100kB", "--force", "-o", word(&path)]);
            assert_eq!(code(&next), 0, "{kind} {signal}: {next:?}");
            assert_eq!(names(folder.path()), ["out"], "{kind} {signal}");
        }
    }
}

#[test]
fn what_is_generated_takes_the_place_of_a_file_as_any_output_does() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (path, link) = (folder.path().join("out"), folder.path().join("link"));
    std::fs::write(&path, "old").expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("ours");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    if is_root() {
        std::os::unix::fs::chown(&path, Some(1), Some(1)).expect("root may");
    }
    let before = path.metadata().expect("there");
    for kind in KINDS {
        let made = run(["gen", kind, "100kB", "--force", "-o", word(&link)]);
        assert_eq!(code(&made), 0, "{made:?}");
        let after = path.metadata().expect("there");
        assert!(after.len() > 90_000 && link.is_symlink(), "{kind}");
        let rights = |facts: &std::fs::Metadata| (facts.mode(), facts.uid(), facts.gid());
        assert_eq!(rights(&after), rights(&before), "{kind}");
    }
    std::fs::hard_link(&path, folder.path().join("other")).expect("linked");
    let old = std::fs::read(&path).expect("there");
    for kind in KINDS {
        let refused = run(["gen", kind, "1kB", "--force", "-o", word(&path)]);
        assert_eq!(code(&refused), 2, "{refused:?}");
        let said = stderr(&refused);
        assert!(said.contains(word(&path)) && said.contains("try: "), "{said}");
        assert!(std::fs::read(&path).expect("there") == old, "{kind}");
    }
    assert_eq!(names(folder.path()), ["link", "other", "out"]);
}

/// Starts a writer of `out` in `folder` that waits for its input, as `before` and `words` say.
fn writer_at_work(folder: &Path, before: &str, words: &str) -> Child {
    let line = format!("{before} exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_swath")]).current_dir(folder);
    command.env("XDG_CONFIG_HOME", "/nonexistent").stdin(Stdio::piped());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    let until = Instant::now() + Duration::from_secs(60);
    while !names(folder).iter().any(|name| name == ".out.swath-lock") {
        assert!(Instant::now() < until, "{words}: it locks nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

/// As with a default access control list of the folder that gives the owner nothing.
#[test]
fn a_lock_can_be_opened_by_its_owner_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut child = writer_at_work(folder.path(), "umask 0777;", "cp - out");
    let lock = folder.path().join(".out.swath-lock");
    let until = Instant::now() + Duration::from_secs(60);
    let mode = || lock.metadata().expect("locked").permissions().mode() & 0o777;
    while mode() != 0o600 {
        assert!(Instant::now() < until, "{:o}", mode());
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_writer_that_a_signal_ends_leaves_no_lock() {
    for words in ["compress - out", "cp - out", "price - out"] {
        for (signal, _) in ending_signals() {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
            let mut child = writer_at_work(folder.path(), "", words);
            send(signal, &child);
            // It does not wait for the end of its input.
            let input = child.stdin.take();
            let ended = child.wait().expect("it ends");
            assert_eq!(ended.signal(), number(signal), "{words} {signal}: {ended}");
            assert_eq!(names(folder.path()), [""; 0], "{words} {signal}");
            drop(input);
        }
    }
}

#[test]
fn a_plan_that_a_signal_ends_has_printed_its_folder_or_leaves_none() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (input, out) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, "a\n".repeat(1000)).expect("room");
    for round in 0..60_u64 {
        let mut command = swath();
        command.args(["job", "plan", word(&out), word(&input), "--parts", "200"]);
        let segments = ["--segments"].iter().take(usize::from(round % 2 == 0));
        command.args(segments).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().expect("the command starts");
        std::thread::sleep(Duration::from_micros(round * 211 % 12_000));
        send("TERM", &child);
        let ended = child.wait_with_output().expect("it ends");
        let printed = String::from_utf8(ended.stdout).expect("a path");
        let left: Vec<_> =
            names(folder.path()).into_iter().filter(|name| name != "in").collect();
        let is_printed =
            |name: &OsString| printed.trim_end().ends_with(&*name.to_string_lossy());
        assert!(left.iter().all(is_printed), "{round}: {left:?}, printed: {printed}");
        left.iter().for_each(|name| {
            std::fs::remove_dir_all(folder.path().join(name)).expect("ours");
        });
    }
}

/// Its folder is hidden while its files are removed, one after the other.
#[test]
fn a_removal_of_a_job_that_a_signal_ends_leaves_no_hidden_folder() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (input, job) = (folder.path().join("in"), folder.path().join("job"));
    std::fs::write(&input, "a\n").expect("room");
    let out = folder.path().join("out");
    let plan = ["job", "plan", word(&out), word(&input), "--folder", word(&job)];
    for signal in ["INT", "TERM", "HUP"] {
        assert_eq!(code(&run(plan)), 0, "{signal}");
        for attempt in 0..20_000 {
            let name = format!("part-000000.{attempt:016x}.0.00000000");
            std::fs::File::create(job.join(name)).expect("room");
        }
        let mut child = start(&["job", "abort", word(&job)]);
        let until = Instant::now() + Duration::from_secs(60);
        while job.exists() {
            assert!(Instant::now() < until, "{signal}: it removes nothing");
        }
        send(signal, &child);
        child.wait().expect("it ends");
        assert_eq!(names(folder.path()), ["in"], "{signal}");
    }
}

#[test]
fn a_timeline_that_a_signal_ends_leaves_no_lock() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let input = folder.path().join("in");
    std::fs::write(&input, vec![b'\n'; 64 << 20]).expect("room");
    let out = folder.path().join("out");
    for pause in 0..40 {
        let timeline = ["--timeline", word(&out), "--chunk-size", "4KiB"];
        let mut child = start(&[&["scan", word(&input)], &timeline[..]].concat());
        let until = Instant::now() + Duration::from_secs(60);
        while names(folder.path()).len() == 1 && child.try_wait().expect("known").is_none() {
            assert!(Instant::now() < until, "it writes nothing");
        }
        std::thread::sleep(Duration::from_millis(pause % 8));
        send("INT", &child);
        child.wait().expect("it ends");
        assert!(names(folder.path()).iter().all(|name| name == "in" || name == "out"));
    }
}

#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut child = writer_at_work(folder.path(), "trap '' HUP INT;", "compress - out");
    for signal in ["HUP", "INT"] {
        send(signal, &child);
    }
    // The end of its input.
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(names(folder.path()), ["out"]);
}

/// A run that has begun to make its folder in `folder`.
fn at_work(folder: &Path, words: &[&str]) -> Child {
    let child = start(words);
    let until = Instant::now() + Duration::from_secs(60);
    while names(folder).is_empty() {
        assert!(Instant::now() < until, "it makes no folder");
        std::thread::sleep(Duration::from_millis(2));
    }
    // A handler of signals is there at about the same time.
    std::thread::sleep(Duration::from_millis(300));
    child
}

/// A run of `gen tree` that makes too many files to come to its end.
fn tree_at_work(folder: &Path, output: &Path) -> Child {
    let words = ["gen", "tree", "--files", "3000000", "--size", "1", "-o", word(output)];
    at_work(folder, &words)
}

#[test]
fn a_tree_stands_under_its_name_when_it_is_whole_and_not_before() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let new = folder.path().join("tree");
    for signal in SIGNALS {
        // Also into the folder itself, which is there and empty.
        for output in [&new, folder.path()] {
            let mut child = tree_at_work(folder.path(), output);
            assert!(!new.exists(), "{signal}: it is not whole");
            send(signal, &child);
            let ended = child.wait().expect("it ends");
            let left = names(folder.path());
            match signal {
                "KILL" => assert_eq!(left.len(), 1, "{left:?}"),
                _ => assert_eq!((ended.signal(), left), (number(signal), vec![]), "{signal}"),
            }
            let next = run(["gen", "tree", "--files", "3", "--size", "1", "-o", word(output)]);
            assert_eq!(code(&next), 0, "{signal}: {next:?}");
            let made = if *output == new { "tree" } else { "000000" };
            assert_eq!(names(folder.path()), [made], "{signal}");
            std::fs::remove_dir_all(folder.path().join(made)).expect("made");
        }
    }
}

/// A demo that has begun to make its input.
fn demo_at_work(folder: &Path) -> Child {
    at_work(folder, &["demo", "--size", "32MiB", "--dir", word(folder)])
}

#[test]
fn a_demo_that_is_told_to_end_removes_its_folder() {
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let mut child = demo_at_work(folder.path());
        send(signal, &child);
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.signal(), number(signal), "{signal}: {ended}");
        assert_eq!(names(folder.path()), [""; 0], "{signal}");
    }
}

#[test]
fn a_demo_that_was_killed_is_swept_by_the_next_and_one_that_lives_is_not() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut killed = demo_at_work(folder.path());
    send("KILL", &killed);
    killed.wait().expect("it ends");
    let [left] = &names(folder.path())[..] else { panic!("one folder is left") };
    let left = folder.path().join(left);
    // It is renamed before it is removed.
    let gone = left
        .with_file_name(format!("{}-gone", word(left.file_name().expect("a name").as_ref())));
    // Not ours: no mark, another kind.
    let others = ["swath-demo-notes", "swath-demons"].map(|name| folder.path().join(name));
    for other in &others {
        std::fs::create_dir(other).expect("made");
        std::fs::write(other.join("file"), "precious").expect("written");
    }
    let mut living = start(&["demo", "--size", "32MiB", "--dir", word(folder.path())]);
    let until = Instant::now() + Duration::from_secs(60);
    while left.exists() || gone.exists() {
        assert!(Instant::now() < until, "it is not swept");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut third = start(&["demo", "--size", "32MiB", "--dir", word(folder.path())]);
    std::thread::sleep(Duration::from_millis(400));
    assert!(
        living.try_wait().expect("ours").is_none_or(|ended| ended.success()),
        "it lives on"
    );
    for child in [&mut living, &mut third] {
        send("TERM", child);
        child.wait().expect("it ends");
    }
    assert!(others.iter().all(|other| other.join("file").exists()));
    assert_eq!(names(folder.path()), ["swath-demo-notes", "swath-demons"]);
}
