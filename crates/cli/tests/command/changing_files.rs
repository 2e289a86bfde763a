//! A file that is truncated and rewritten while it is read: an error or the bytes of one moment,
//! never a signal.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::child::{code, file_of, run, stderr, stdout, word};

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
        let output = std::thread::scope(|scope| {
            let words = slow.into_iter().chain(["--follow-size", follow, word(&path)]);
            let sum = scope.spawn(move || run(words));
            std::thread::sleep(std::time::Duration::from_millis(200));
            let mut file = File::options().append(true).open(&path).expect("there");
            std::io::Write::write_all(&mut file, b"more").expect("appended");
            sum.join().expect("no panic")
        });
        assert_eq!(code(&output), wanted, "{follow} {output:?}");
        if wanted == 0 {
            // What the run before appended is there; what this one appends is not.
            assert!(stdout(&output).starts_with(&format!("{sum}  ")), "{output:?}");
        }
    }
}
