//! Too few descriptors or too little memory: an error or a reported fall-back, never a signal.

use std::ffi::OsStr;

use swath_reference::battery::Battery;

use crate::child::{code, file_of, shell, stderr, stdout, word};

#[test]
fn too_few_descriptors_give_the_right_bytes_or_an_error_that_says_so() {
    let bytes = swath_reference::bytes(8, 1 << 20);
    let (_folder, path) = file_of(&bytes);
    let mut errors = 0;
    // Below 4 not even the program's own libraries can be opened.
    for limit in 4..12 {
        for words in ["read --verify", "read --engine ring", "read --engine map", "sum", "cat"]
        {
            let line = format!(r#"ulimit -n {limit}; exec "$0" {words} "$1""#);
            let output = shell(&line, &[path.as_os_str()]);
            match code(&output) {
                0 if words == "cat" => assert!(output.stdout == bytes, "{limit} {words}"),
                0 => assert!(stdout(&output).contains(word(&path)), "{limit} {words}"),
                _ => {
                    let text = stderr(&output);
                    assert!(text.contains("Too many open files"), "{limit} {words}: {text}");
                    assert!(text.contains("try: raise the limit on open files"), "{text}");
                    errors += 1;
                }
            }
        }
    }
    assert!(errors > 0, "a limit of 4 is too few for a map");
}

#[test]
fn what_can_be_read_with_few_descriptors_is_summed_and_counted_with_as_few() {
    let (_folder, path) = file_of(&swath_reference::bytes(8, 1 << 20));
    let run = |limit: u32, words: &str| {
        let line = format!(r#"ulimit -n {limit}; exec "$0" {words} "$1""#);
        shell(&line, &[path.as_os_str()])
    };
    for limit in 4..7 {
        for words in ["read", "sum", "scan", "scan --engine pool", "sum --hash crc32c"] {
            let few = run(limit, words);
            assert_eq!((code(&few), stderr(&few).as_str()), (0, ""), "{limit} {words}");
            if words != "read" {
                assert_eq!(few.stdout, run(64, words).stdout, "{limit} {words}");
            }
        }
    }
    assert_eq!(code(&run(4, "scan --engine map")), 2, "it is what was requested");
}

/// All of its files are open together, so that none of them can be replaced while the others are read.
#[test]
fn a_table_of_more_files_than_the_soft_limit_is_read_and_above_the_hard_one_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (days, out) = (folder.path().join("days"), folder.path().join("out.csv"));
    std::fs::create_dir(&days).expect("room");
    for day in 0..100 {
        std::fs::write(days.join(format!("{day}.csv")), format!("a\n{day}\n")).expect("room");
    }
    let words = [days.as_os_str(), out.as_os_str()];
    let refused = shell(r#"ulimit -n 64; exec "$0" convert "$1" "$2""#, &words);
    assert_eq!(code(&refused), 2, "{refused:?}");
    assert!(stderr(&refused).contains("try: raise the limit on open files"), "{refused:?}");
    assert!(!out.exists());
    let converted = shell(r#"ulimit -Sn 64; exec "$0" convert "$1" "$2""#, &words);
    assert_eq!(code(&converted), 0, "{converted:?}");
    let wanted: String = (0..100).map(|day| format!("{day}\n")).collect();
    assert_eq!(std::fs::read_to_string(&out).expect("there"), format!("a\n{wanted}"));
}

#[test]
fn a_job_that_cannot_be_planned_with_few_descriptors_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("it is there");
        entries.map(|it| it.expect("an entry").file_name()).collect::<Vec<_>>()
    };
    for limit in 4..12 {
        let line = format!(
            r#"ulimit -n {limit}; cd "$1"; exec "$0" job plan out --parts 2 --folder j"#
        );
        let output = shell(&line, &[folder.path().as_os_str()]);
        match code(&output) {
            0 => {
                assert_eq!(names(), ["j"], "{limit}");
                std::fs::remove_dir_all(folder.path().join("j")).expect("removed");
            }
            _ => {
                let text = stderr(&output);
                assert!(text.contains("Too many open files"), "{limit}: {text}");
                assert_eq!(names(), [""; 0], "{limit}: {text}");
            }
        }
    }
}

#[test]
fn too_little_memory_is_an_error_and_not_an_abort() {
    let (_folder, path) = file_of(b"");
    let file = std::fs::File::options().write(true).open(&path).expect("it is there");
    file.set_len(4 << 30).expect("a sparse file");
    for words in ["read", "read --engine serial", "read --engine ring", "read --engine map"] {
        // 1 GiB of address space for 4 GiB of bytes.
        let line = format!(r#"ulimit -v 1048576; exec "$0" {words} "$1""#);
        let output = shell(&line, &[path.as_os_str()]);
        assert_eq!(code(&output), 2, "{words} {output:?}");
        let text = stderr(&output);
        assert!(text.starts_with("swath: cannot "), "{words} {text}");
        assert!(text.contains("memory") && text.contains("try: "), "{words} {text}");
    }
}

/// Their libraries panic where they cannot allocate.
#[test]
fn a_codec_without_memory_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("letters");
    std::fs::write(&path, swath_reference::bytes(8, 3 << 20)).expect("room");
    let run = |words: &str| shell(&format!(r#"{words} "$1""#), &[path.as_os_str()]);
    for format in ["gzip", "bzip2"] {
        let words = format!(r#"exec "$0" compress --format {format}"#);
        assert_eq!(code(&run(&words)), 0, "{words}");
    }
    let sums = |mib: &usize| {
        let line = format!("ulimit -v {}; \"$0\" sum \"$1\" || exit 1", mib << 10);
        code(&shell(&line, &[path.as_os_str()])) == 0
    };
    // Threads begin in another order each time, so that one try may need more.
    let least = (16..1024).step_by(4).find(|mib| (0..3).any(|_| sums(mib)));
    let least = least.expect("a gibibyte is enough");
    // Below, there is no memory for the program itself.
    let more = [14, 16, 20, 26, 32, 48, 64, 96, 128, 192, 256, 384];
    let (mut errors, mut done) = (0, 0);
    for mib in std::iter::once(10).chain(Battery::of_list("limits", 2, more)) {
        for words in [
            "compress --format gzip --level 12 -f",
            "compress --format bzip2 --workers 16 -f",
            "decompress -fo /dev/null --workers 4",
        ] {
            for end in if words.starts_with('d') { &[".gz", ".bz2"][..] } else { &[""] } {
                let limit =
                    format!("ulimit -v {}; export RUST_BACKTRACE=1", (least + mib) << 10);
                let output = shell(
                    &format!(r#"{limit}; exec timeout 60 "$0" {words} "$1{end}""#),
                    &[path.as_os_str()],
                );
                match code(&output) {
                    0 => done += 1,
                    2 => errors += 1,
                    _ => panic!("{mib} {words} {end}: {output:?}"),
                }
            }
        }
    }
    assert!(errors > 0 && done > 0, "{errors} errors, {done} done");
}

#[test]
fn a_scan_needs_little_memory_whatever_the_size() {
    let (_folder, path) = file_of(b"");
    let file = std::fs::File::options().write(true).open(&path).expect("it is there");
    file.set_len(1 << 30).expect("a sparse file");
    let line = r#"ulimit -v 524288; exec "$0" scan --engine pool --workers 2 "$1""#;
    let output = shell(line, &[path.as_os_str()]);
    assert_eq!(stdout(&output), format!("0  {}\n", word(&path)), "{output:?}");
}

#[test]
fn closed_standard_streams_are_no_panic() {
    let (_folder, path) = file_of(b"abc");
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let line = format!(r#"exec "$0" sum "$1" /nonexistent {closed}"#);
        let words: [&OsStr; 1] = [path.as_os_str()];
        let output = shell(&line, &words);
        assert!(code(&output) <= 2, "{closed} {output:?}");
    }
}
