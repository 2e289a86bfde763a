//! A FUSE file system that remembers attributes for a second, as mergerfs, sshfs and NFS do: what was just
//! written is read, replaced and committed at once.

use std::fs::{FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use swath_reference::fuse::BindMount;

use crate::child::{code, run, stderr, stdout, swath, word};

/// A folder that bindfs shows at another place.
struct ShownFolder {
    mount: BindMount,
    folder: tempfile::TempDir,
}

impl ShownFolder {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        BindMount::new(folder.path(), &[]).map(|mount| Self { mount, folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.mount.seen().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = self.path("").read_dir().expect("mounted");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("readable").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

fn done(words: &[&str]) -> String {
    let output = run(words);
    assert_eq!(code(&output), 0, "{words:?}: {output:?}");
    stdout(&output)
}

#[test]
fn what_was_just_written_is_read_and_replaced_at_once() {
    let Some(mounted) = ShownFolder::new() else { return };
    let source = mounted.folder.path().join("source.csv");
    std::fs::write(&source, "a,b\n1,2\n".repeat(100_000)).expect("room");
    let made = mounted.path("made.csv");
    let [from, to] = [&source, &made].map(|path| word(path));
    let sum = done(&["sum", "--hash", "xxh3", from]).replace(from, to);
    for verb in [
        &["cp", from, to][..],
        &["convert", "-f", "--from", "csv", "--to", "csv", from, to],
        &["gen", "letters", "-f", "800000", to],
    ] {
        for _ in 0..3 {
            done(verb);
            done(&["read", "--verify", to]);
            done(&["ingest", to]);
            if verb[0] == "cp" {
                assert_eq!(done(&["sum", "--hash", "xxh3", to]), sum);
            }
        }
    }
    let packed = mounted.path("made.csv.zst");
    for _ in 0..2 {
        done(&["compress", "-f", from, "-o", word(&packed)]);
        done(&["decompress", "-f", word(&packed), "-o", to]);
        assert_eq!(
            std::fs::read(&made).expect("there"),
            std::fs::read(&source).expect("there")
        );
    }
    assert_eq!(mounted.names(), ["made.csv", "made.csv.zst"]);
}

#[test]
fn a_job_is_committed_and_its_folder_removed() {
    let Some(mounted) = ShownFolder::new() else { return };
    let input = mounted.path("in");
    let lines: String = (0..50_000).map(|number| format!("{number}\n")).collect();
    std::fs::write(&input, &lines).expect("room");
    for _ in 0..2 {
        let out = mounted.path("out");
        let job = done(&["job", "plan", word(&out), word(&input), "--parts", "3", "--force"]);
        let job = job.trim_end();
        done(&["job", "run", job, "--all", "--", "cat"]);
        done(&["job", "commit", job]);
        assert!(!Path::new(job).exists());
        assert_eq!(std::fs::read_to_string(&out).expect("there"), lines);
    }
    assert_eq!(mounted.names(), ["in", "out"]);
}

#[test]
fn permissions_that_cannot_be_changed_are_those_of_the_inputs_from_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = BindMount::new(folder.path(), &["--chmod-deny"]) else { return };
    for mode in [0o600, 0o640, 0o644] {
        let path = |name: &str| mount.seen().join(format!("{name}-{mode:o}"));
        let below = mount.below().join(format!("in-{mode:o}"));
        std::fs::write(&below, "1\n2\n3\n").expect("room");
        std::fs::set_permissions(&below, Permissions::from_mode(mode)).expect("mine");
        let [input, copy, packed, out] = ["in", "cp", "zst", "out"].map(path);
        done(&["cp", word(&input), word(&copy)]);
        done(&["compress", word(&input), "-o", word(&packed)]);
        let job = done(&["job", "plan", word(&out), word(&input), "--parts", "2"]);
        let job = job.trim_end();
        // What is being written lies there under its hidden name.
        let modes = r#"find "$0" -name '.part-*' -printf '%m\n' >&2; exec cat"#;
        // One after the other: another part that begins is its owner's alone for a moment.
        let ran =
            run(["job", "run", job, "--all", "--workers", "1", "--", "sh", "-c", modes, job]);
        let told = stderr(&ran);
        assert!(code(&ran) == 0 && !told.is_empty(), "{ran:?}");
        assert!(told.lines().all(|line| line == format!("{mode:o}")), "{told}");
        done(&["job", "commit", job]);
        for made in [copy, packed, out] {
            let permissions = std::fs::metadata(&made).expect("there").permissions();
            assert_eq!(permissions.mode() & 0o777, mode, "{made:?}");
        }
    }
}

#[test]
fn a_file_with_the_time_of_its_source_is_read_and_replaced_at_once() {
    let Some(mount) = ShownFolder::new() else { return };
    let [from, packed, plain] =
        ["from", "from.zst", "plain"].map(|name| word(&mount.path(name)).to_owned());
    std::fs::write(&from, swath_reference::bytes(1, 100_000)).expect("room");
    let time = UNIX_EPOCH + Duration::new(981_158_400, 123_456_789);
    let file = std::fs::File::options().write(true).open(&from).expect("mine");
    // Both: bindfs takes one alone for the present time.
    file.set_times(FileTimes::new().set_accessed(time).set_modified(time)).expect("mine");
    drop(file);
    for _ in 0..2 {
        done(&["compress", "--force", &from]);
        done(&["read", &packed]);
        done(&["decompress", "--force", &packed, &plain]);
        done(&["read", &plain]);
        done(&["cp", "-p", &from, &plain]);
        done(&["read", &plain]);
    }
    for path in [&packed, &plain] {
        let modified = Path::new(path).metadata().and_then(|facts| facts.modified());
        assert_eq!(modified.expect("it is there"), time, "{path}");
    }
    assert_eq!(mount.names(), ["from", "from.zst", "plain"]);
}

#[test]
fn what_was_just_removed_below_is_written_anew() {
    let Some(mounted) = ShownFolder::new() else { return };
    let (from, made) = (mounted.folder.path().join("source"), mounted.path("made"));
    std::fs::write(&from, "bytes").expect("room");
    for _ in 0..5 {
        done(&["cp", word(&from), word(&made)]);
        std::fs::remove_file(mounted.mount.below().join("made")).expect("there");
        done(&["cp", word(&from), word(&made)]);
        assert_eq!(std::fs::read(mounted.mount.below().join("made")).expect("there"), b"bytes");
        assert!(!mounted.names().iter().any(|name| name.contains(".swath-")));
    }
}

/// The name of its hidden file ends in a number that only its lock has.
#[test]
fn what_a_killed_writer_left_through_the_mount_is_removed_by_the_next_one_below() {
    let Some(mounted) = ShownFolder::new() else { return };
    let (below, made) = (mounted.mount.below(), mounted.path("made"));
    let mut killed = swath();
    let mut killed = killed.args(["cp", "-", word(&made)]).stdin(Stdio::piped()).spawn();
    let killed = killed.as_mut().expect("started");
    let until = Instant::now() + Duration::from_secs(60);
    let strays = || {
        let names = below.read_dir().expect("there").map(|it| it.expect("read").file_name());
        names.filter(|name| name.to_string_lossy().contains("made.swath-tmp")).count()
    };
    while strays() == 0 {
        assert!(Instant::now() < until, "it makes no hidden file");
        std::thread::sleep(Duration::from_millis(1));
    }
    killed.kill().and_then(|()| killed.wait()).expect("killed");
    std::fs::write(below.join("from"), "bytes").expect("room");
    done(&["cp", word(&below.join("from")), word(&below.join("made"))]);
    let names = below.read_dir().expect("there").map(|it| it.expect("read").file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["from", "made"]);
}

/// The kernel remembers the length of the old file, and the new one is read.
#[test]
fn what_was_replaced_below_is_read_whole_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = BindMount::new(folder.path(), &["-o", "attr_timeout=30"]) else { return };
    let (below, seen) = (mount.below().join("in"), mount.seen().join("in"));
    for len in [5_000_000, 20_000_000, 4_000_000, 10] {
        let bytes = swath_reference::bytes(len as u64, len);
        std::fs::write(mount.below().join("new"), &bytes).expect("room");
        std::fs::rename(mount.below().join("new"), &below).expect("mine");
        let output = run(["cat", word(&seen)]);
        assert!(code(&output) == 0 && output.stdout == bytes, "{len}: {}", stderr(&output));
        let sum = done(&["sum", "--json", word(&seen)]);
        assert!(sum.contains(&format!("\"bytes\":{len},")), "{sum}");
    }
}

#[test]
fn a_mount_that_widens_permissions_lets_in_nobody_else_without_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = BindMount::new(folder.path(), &["--chmod-filter=go+r"]) else { return };
    let source = mount.below().join("source");
    std::fs::write(&source, "new").expect("room");
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    for (given, status) in [(0o600, 0), (0o640, 2), (0o644, 0)] {
        let target = mount.below().join(format!("old-{given:o}"));
        std::fs::write(&target, "old").expect("room");
        std::fs::set_permissions(&target, Permissions::from_mode(given)).expect("mine");
        let seen = mount.seen().join(format!("old-{given:o}"));
        let output = run(["cp", word(&source), word(&seen)]);
        assert_eq!((code(&output), mode(&target)), (status, given), "{output:?}");
        assert_eq!(stderr(&output).contains("let in more users"), status == 2, "{output:?}");
        assert_eq!(std::fs::read(&target).expect("there").len(), 3);
        std::fs::set_permissions(&source, Permissions::from_mode(given)).expect("mine");
        let seen = mount.seen().join(format!("new-{given:o}"));
        let report = done(&["cp", word(&source), word(&seen)]);
        let is_wider = report.contains("this file system adds 004");
        assert_eq!(is_wider, mode(&seen) != given, "{report}");
    }
}

/// rclone answers every question about attributes, and every request for a second name, as if its device had failed.
#[test]
fn rclone_is_read_and_written_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = BindMount::by(folder.path(), |below, seen| {
        let mut command = Command::new("rclone");
        command.args([
            "mount",
            "--daemon",
            "--vfs-cache-mode",
            "writes",
            "--vfs-write-back",
            "0s",
        ]);
        command.args(["--config", "/dev/null", "--cache-dir"]).arg(folder.path().join("cache"));
        command.args([below, seen]);
        command
    });
    let Some(mount) = mount else { return };
    let bytes = "0123456789\n".repeat(30_000);
    std::fs::write(folder.path().join("source"), &bytes).expect("room");
    std::fs::write(mount.below().join("there"), "old").expect("room");
    let path = |name: &str| String::from(word(&mount.seen().join(name)));
    let source = folder.path().join("source");
    for target in ["there", "new"] {
        done(&["cp", word(&source), &path(target)]);
        let back = folder.path().join("back");
        done(&["cp", &path(target), word(&back)]);
        assert_eq!(std::fs::read_to_string(&back).expect("there"), bytes, "{target}");
    }
}

/// archivemount answers that it has renamed a file over another one, and has not.
#[test]
fn an_archive_that_replaces_nothing_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mount = BindMount::by(folder.path(), |below, seen| {
        std::fs::write(below.join("there"), "the old bytes").expect("room");
        let archive = folder.path().join("archive.tar");
        let mut pack = Command::new("tar");
        pack.arg("-cf").arg(&archive).arg("-C").arg(below).arg("there");
        assert!(pack.status().is_ok_and(|status| status.success()));
        let mut command = Command::new("archivemount");
        command.args([&archive, seen]);
        command
    });
    let Some(mount) = mount else { return };
    let source = folder.path().join("source");
    std::fs::write(&source, "new bytes").expect("room");
    let there = mount.seen().join("there");
    let output = run(["cp", word(&source), word(&there)]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("shows 13 bytes where 9 were written"), "{output:?}");
    done(&["cp", word(&source), word(&mount.seen().join("new"))]);
    assert_eq!(std::fs::read(mount.seen().join("new")).expect("there"), b"new bytes");
}

/// A folder that sshfs shows with these options, over a pipe; the file `number` in `folder` names its server's process.
fn by_sshfs(folder: &Path, options: &str) -> Option<BindMount> {
    let (server, number) = (folder.join("server"), folder.join("number"));
    BindMount::by(folder, |below, seen| {
        let line = format!("echo $$ > {}; exec /usr/lib/openssh/sftp-server", number.display());
        std::fs::write(&server, format!("#!/bin/sh\n{line}\n")).expect("room");
        std::fs::set_permissions(&server, Permissions::from_mode(0o755)).expect("mine");
        let mut command = Command::new("sshfs");
        command.args(["-o", options, "-o", &format!("ssh_command={}", server.display())]);
        command.args([format!("server:{}", below.display()).as_ref(), seen]);
        command
    })
}

/// With `umask=`, all files are shown with the same permissions.
#[test]
fn a_mount_that_hides_permissions_opens_no_file_to_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = by_sshfs(folder.path(), "umask=022") else { return };
    let source = folder.path().join("source");
    std::fs::write(&source, "new").expect("room");
    let path = |name: &str| (mount.below().join(name), mount.seen().join(name));
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let (below, seen) = path("private");
    std::fs::write(&below, "old").expect("room");
    std::fs::set_permissions(&below, Permissions::from_mode(0o600)).expect("mine");
    let note = "permissions 600: this file system does not show those of the replaced file";
    assert!(done(&["cp", word(&source), word(&seen)]).contains(note));
    assert_eq!((mode(&below), std::fs::read(&below).expect("there").len()), (0o600, 3));
    for (umask, expected) in [("022", 0o644), ("077", 0o600)] {
        let (below, seen) = path(umask);
        let line = format!("umask {umask}; exec \"$0\" gen bytes 1kB \"$1\"");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_swath")]).arg(&seen);
        assert!(command.stdout(Stdio::null()).status().expect("it starts").success());
        assert_eq!(mode(&below), expected, "{umask}");
    }
}

/// After a lost connection, sshfs ends reads early, and the kernel may show zeros for the bytes that did not come.
#[test]
fn a_file_that_was_open_when_the_connection_was_lost_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = by_sshfs(folder.path(), "reconnect") else { return };
    std::fs::write(mount.below().join("in"), "some text\n".repeat(100_000)).expect("room");
    let path = mount.seen().join("in");
    let by_path = swath::Input::open(&path).expect("there");
    let own = std::fs::File::open(&path).expect("there");
    let by_descriptor = swath::Input::open(own).expect("there");
    for input in [&by_path, &by_descriptor] {
        input.check_unchanged().expect("connected");
    }
    let server = std::fs::read_to_string(folder.path().join("number")).expect("it was started");
    let killed = Command::new("kill").args(["-9", server.trim()]).status();
    assert!(killed.expect("it starts").success());
    let until = Instant::now() + Duration::from_secs(60);
    while std::fs::read(&path).is_err() {
        assert!(Instant::now() < until, "it does not reconnect");
        std::thread::sleep(Duration::from_millis(10));
    }
    for input in [&by_path, &by_descriptor] {
        let error = input.check_unchanged().expect_err("it was cut off");
        assert!(error.what_to_try().contains("lost its connection"), "{error:?}");
    }
    done(&["sum", word(&path)]);
}

/// sshfs is asked about the path of an open file, which may lead to another file when it answers.
#[test]
fn a_file_that_is_replaced_while_it_is_opened_is_read_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mount) = by_sshfs(folder.path(), "cache=no") else { return };
    let texts = ["short\n".repeat(50_000), "a longer file\n".repeat(40_000)];
    let (below, seen) = (mount.below().join("in"), mount.seen().join("in"));
    let put = |text: &str| {
        std::fs::write(mount.below().join("new"), text).expect("room");
        std::fs::rename(mount.below().join("new"), &below).expect("mine");
    };
    put(&texts[0]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0..2).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                put(&texts[turn]);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let torn = (0..200).map(|_| run(["cat", word(&seen)])).find(|output| {
            code(output) == 0 && texts.iter().all(|text| text.as_bytes() != output.stdout)
        });
        is_over.store(true, Ordering::Relaxed);
        assert!(torn.is_none(), "{} bytes", torn.map_or(0, |output| output.stdout.len()));
    });
}
