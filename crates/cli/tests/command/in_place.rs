//! `--in-place`: an existing output is written where it is, for files that no other can take the place of.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::child::{code, run, stderr, word};

fn identity(path: &Path) -> (u64, u64, u64) {
    let facts = fs::metadata(path).expect("there");
    (facts.ino(), facts.nlink(), u64::from(facts.mode()))
}

#[test]
fn every_command_writes_in_place_what_it_writes_to_a_new_file() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (source, packed, table) = (path("source"), path("source.zst"), path("table.csv"));
    assert_eq!(code(&run(["gen", "bytes", "3MiB", word(&source)])), 0);
    assert_eq!(code(&run(["compress", word(&source), word(&packed)])), 0);
    assert_eq!(code(&run(["gen", "csv", "100kB", word(&table)])), 0);
    let commands: [&[&str]; 9] = [
        &["cp", word(&source)],
        &["cp", "--reflink", "never", "--workers", "3", word(&source)],
        &["compress", "--workers", "3", word(&source)],
        &["decompress", "--workers", "3", word(&packed)],
        &["convert", "--to", "npy", word(&table)],
        &["convert", "--to", "arrow", word(&table)],
        &["manifest", word(&source)],
        &["gen", "bytes", "2MiB", "--workers", "3"],
        &["gen", "csv-numbers", "2MiB", "--workers", "3"],
    ];
    for (number, words) in commands.into_iter().enumerate() {
        let (new, old, other) = (path("new"), path(&format!("old{number}")), path("other"));
        let output = run(words.iter().copied().chain(["-o", word(&new)]));
        assert_eq!(code(&output), 0, "{words:?}: {output:?}");
        for len in [0, 5_000_000] {
            fs::write(&old, vec![b'x'; len]).expect("room");
            fs::hard_link(&old, &other).expect("linked");
            let before = identity(&old);
            let output = run(words.iter().copied().chain(["--in-place", "-o", word(&old)]));
            assert_eq!(code(&output), 0, "{words:?}: {output:?}");
            assert!(
                fs::read(&old).expect("there") == fs::read(&new).expect("there"),
                "{words:?}"
            );
            assert_eq!(identity(&old), before, "{words:?}");
            fs::remove_file(&other).expect("there");
        }
        fs::remove_file(&new).expect("there");
    }
}

#[test]
fn an_input_is_not_written_in_place() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (path, link) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    let text = "a,b\n1,2\n";
    fs::write(&path, text).expect("room");
    fs::hard_link(&path, &link).expect("linked");
    for words in [&["cp"][..], &["compress"], &["convert", "--to", "csv"], &["manifest"]] {
        let refused =
            run(words.iter().copied().chain(["--in-place", word(&path), word(&link)]));
        assert_eq!(code(&refused), 2, "{words:?}: {refused:?}");
        assert!(stderr(&refused).contains("try: "), "{words:?}: {refused:?}");
        assert_eq!(fs::read_to_string(&path).expect("there"), text, "{words:?}");
    }
}

#[test]
fn a_file_of_the_folder_that_is_copied_is_not_written_in_place() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (segments, link) = (folder.path().join("segments"), folder.path().join("link"));
    let made = run(["study", "fib", "9", "--mode", "segments", "-o", word(&segments)]);
    assert_eq!(code(&made), 0, "{made:?}");
    let whole = run(["cat", word(&segments)]).stdout;
    for entry in fs::read_dir(&segments).expect("listed") {
        fs::hard_link(entry.expect("there").path(), &link).expect("linked");
        let refused = run(["cp", "--in-place", word(&segments), word(&link)]);
        assert_eq!(code(&refused), 2, "{refused:?}");
        assert!(stderr(&refused).contains("a part of it"), "{refused:?}");
        assert!(run(["cat", word(&segments)]).stdout == whole);
        fs::remove_file(&link).expect("there");
    }
}

#[test]
fn an_error_says_that_a_part_may_be_there() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (source, packed, out) = (path("source"), path("source.zst"), path("out"));
    fs::write(&source, vec![b'x'; 100_000]).expect("room");
    assert_eq!(code(&run(["compress", word(&source), word(&packed)])), 0);
    let bytes = fs::read(&packed).expect("there");
    fs::write(&packed, &bytes[..bytes.len() - 3]).expect("room");
    fs::write(&out, "old").expect("room");
    // An input that cannot be opened leaves the old bytes.
    let output = run(["decompress", "--in-place", word(&path("missing")), word(&out)]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert_eq!(fs::read(&out).expect("there"), b"old");
    let output = run(["decompress", "--in-place", word(&packed), word(&out)]);
    assert_eq!(code(&output), 2, "{output:?}");
    let note = format!("note: {} was written in place, and may hold a part", out.display());
    assert!(stderr(&output).contains(&note), "{output:?}");
    let both = run(["cp", "--in-place", "--no-clobber", word(&source), word(&out)]);
    assert_eq!(code(&both), 2, "{both:?}");
}
