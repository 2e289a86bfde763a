//! A file that is truncated and rewritten while it is read: an error or the bytes of one moment,
//! never a signal.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::child::{code, file_of, run, stderr, stdout, swath, word};

const LEN: usize = 24 << 20;

/// Truncates and rewrites the file at `path` until told to stop.
fn rewrite(path: &Path, stop: &AtomicBool) {
    let file = File::options().write(true).open(path).expect("it is there");
    let bytes = vec![1; LEN];
    while !stop.load(Ordering::SeqCst) {
        file.set_len(LEN as u64 / 3).expect("truncated");
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).expect("rewritten");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Runs `words` 30 times while the file changes.
fn never_a_signal(words: &[&str]) {
    let (_folder, path) = file_of(&vec![1; LEN]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| rewrite(&path, &stop));
        let outputs: Vec<_> =
            (0..30).map(|_| run(words.iter().copied().chain([word(&path)]))).collect();
        stop.store(true, Ordering::SeqCst);
        for output in outputs {
            match code(&output) {
                0 => assert!(!output.stdout.is_empty()),
                2 => assert!(stderr(&output).starts_with("swath: cannot "), "{output:?}"),
                other => unreachable!("exit code {other} of {output:?}"),
            }
        }
    });
    assert_eq!(code(&run(words.iter().copied().chain([word(&path)]))), 0, "it is whole again");
}

#[test]
fn sum_through_a_map_never_ends_by_a_signal() {
    never_a_signal(&["sum", "--engine", "map"]);
}

#[test]
fn sum_as_it_likes_never_ends_by_a_signal() {
    never_a_signal(&["sum"]);
}

#[test]
fn read_through_a_map_never_ends_by_a_signal() {
    never_a_signal(&["read", "--engine", "map"]);
}

#[test]
fn a_file_that_grows_is_an_error_unless_its_first_length_is_wanted() {
    let (_folder, path) = file_of(&vec![1; 4 << 20]);
    // Slow enough that it grows during the read.
    let slow = ["sum", "--engine", "serial", "--rate", "4MiB/s", "--chunk-size", "64KiB"];
    for (follow, wanted) in [("strict", 2), ("first", 0)] {
        let sum = swath_reference::sum(&std::fs::read(&path).expect("there"));
        let mut command = swath();
        command.args(slow).args(["--follow-size", follow, word(&path)]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().expect("the command starts");
        wait_until_open(child.id(), &path);
        let mut file = File::options().append(true).open(&path).expect("there");
        std::io::Write::write_all(&mut file, b"more").expect("appended");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(code(&output), wanted, "{follow} {output:?}");
        if wanted == 0 {
            // What the run before appended is there; what this one appends is not.
            assert!(stdout(&output).starts_with(&format!("{sum}  ")), "{output:?}");
        }
    }
}

/// Waits until a process has opened a file, and looked at it.
fn wait_until_open(process: u32, path: &Path) {
    let start = std::time::Instant::now();
    let has_it = || {
        let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten();
        open.flatten().any(|it| std::fs::read_link(it.path()).is_ok_and(|it| it == path))
    };
    while !has_it() {
        assert!(start.elapsed().as_secs() < 60, "{} is not opened", path.display());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // Its length is asked for at once.
    std::thread::sleep(std::time::Duration::from_millis(100));
}

/// Returns the first byte from a pipe whose bytes are overwritten in the file while they are in the pipe.
fn first_bytes(words: &[&str]) -> (u8, std::process::ExitStatus) {
    let (_folder, path) = file_of(&vec![1; 16 << 20]);
    // A change in the same tick of the clock as the write could not be seen.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let (mut from, to) = std::io::pipe().expect("a pipe");
    let mut command = swath();
    command.arg("cat").args(words).arg(&path).stdout(to).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    // The end for writing is the child's alone.
    drop(command);
    // The rest of the first page is in the pipe then.
    std::io::Read::read_exact(&mut from, &mut [0]).expect("it begins");
    let file = File::options().write(true).open(&path).expect("it is there");
    std::os::unix::fs::FileExt::write_all_at(&file, &[2; 4096], 0).expect("overwritten");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut from, &mut bytes).expect("the pipe ends");
    (bytes[0], child.wait().expect("it ends"))
}

#[test]
fn bytes_that_are_copied_into_a_pipe_do_not_change_there() {
    let (byte, status) = first_bytes(&["--copy"]);
    assert_eq!((byte, status.code()), (1, Some(2)), "copied, and the file changed");
    let (_, status) = first_bytes(&[]);
    assert_eq!(status.code(), Some(2), "whether it was a page or a copy, the file changed");
}
