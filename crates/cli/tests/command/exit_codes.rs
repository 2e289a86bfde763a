//! 0 done; 1 done, but bytes differ or something was skipped; 2 not done. Errors say what could
//! not be done to what, and what to try.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::child::{code, file_of, is_root, run, shell, stderr, stdout, word};
use crate::study::earlier_study;

/// The commands that read one path.
const READERS: [&[&str]; 6] = [
    &["read"],
    &["read", "--engine", "map"],
    &["sum"],
    &["sum", "--hash", "blake3"],
    &["scan"],
    &["cat"],
];

fn run_reader(reader: &[&str], path: &OsStr) -> std::process::Output {
    run(reader.iter().map(OsStr::new).chain([path]))
}

#[test]
fn a_missing_path_is_2_and_says_which_and_what_to_try() {
    for reader in READERS {
        let output = run_reader(reader, "/nonexistent/data.bin".as_ref());
        assert_eq!(code(&output), 2, "{reader:?}");
        assert_eq!(
            stderr(&output),
            "swath: cannot open /nonexistent/data.bin: No such file or directory (os error 2); \
             try: check the path\n",
            "{reader:?}"
        );
        assert!(output.stdout.is_empty(), "{reader:?}");
    }
}

#[test]
fn a_folder_is_2_and_says_so() {
    for reader in READERS {
        let folder = tempfile::tempdir().expect("a folder");
        let output = run_reader(reader, folder.path().as_os_str());
        let text = stderr(&output);
        assert_eq!(code(&output), 2, "{reader:?}");
        assert!(text.starts_with("swath: cannot ") && text.contains("irectory"), "{text}");
        assert!(text.contains(word(folder.path())) && text.contains("; try: "), "{text}");
    }
}

#[test]
fn a_file_without_permission_is_2_and_says_so() {
    let (folder, path) = file_of(b"secret");
    let none = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, none).expect("set");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open.clone()).expect("set");
    // The superuser may read it; the copy of the command runs as nobody.
    let program = folder.path().join("swath");
    std::fs::copy(env!("CARGO_BIN_EXE_swath"), &program).expect("copied");
    for reader in READERS {
        let mut command = Command::new(&program);
        command.args(reader).arg(&path);
        if is_root() {
            command.uid(65_534).gid(65_534);
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                return swath_reference::skip(
                    "root",
                    format!("cannot become another user: {error}"),
                );
            }
        };
        assert_eq!(code(&output), 2, "{reader:?} {output:?}");
        let text = stderr(&output);
        let wanted = format!("cannot open {}: Permission denied", path.display());
        assert!(
            text.contains(&wanted) && text.contains("try: check the permissions"),
            "{text}"
        );
    }
}

#[test]
fn a_loop_of_symbolic_links_is_2_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("loop");
    std::os::unix::fs::symlink(&path, &path).expect("linked");
    for reader in READERS {
        let output = run_reader(reader, path.as_os_str());
        assert_eq!(code(&output), 2, "{reader:?}");
        let text = stderr(&output);
        assert!(text.contains("Too many levels of symbolic links"), "{text}");
        assert!(text.contains("points back to itself"), "{text}");
    }
}

#[test]
fn some_skipped_is_1_and_none_done_is_2() {
    let (_folder, path) = file_of(b"a\nb\n");
    for verb in [&["sum"][..], &["sum", "--hash", "crc32c"], &["scan"]] {
        let some = run(verb.iter().copied().chain(["/nonexistent", word(&path)]));
        assert_eq!(code(&some), 1, "{some:?}");
        assert!(stdout(&some).contains(word(&path)) && !some.stderr.is_empty(), "{some:?}");
        let none = run(verb.iter().copied().chain(["/nonexistent", "/nonexistent/2"]));
        assert_eq!((code(&none), stderr(&none).lines().count()), (2, 2), "{none:?}");
    }
}

#[test]
fn a_file_that_is_shorter_than_asked_for_is_2() {
    let (_folder, path) = file_of(&[1; 100]);
    for reader in READERS {
        let words = reader.iter().copied().chain(["--offset", "90", "--length", "11"]);
        let output = run(words.chain([word(&path)]));
        assert_eq!(code(&output), 2, "{reader:?}");
        let text = stderr(&output);
        assert!(text.contains("at bytes 90..101") && text.contains("; try: "), "{text}");
    }
}

#[test]
fn words_that_make_no_sense_are_2() {
    for (words, wanted) in [
        (&["heal"][..], "required"),
        (&["cp", "x"], "required"),
        (&["read", "--workers", "x", "y"], "expected a whole number, such as 4"),
        (&["read", "a", "b"], "use 'swath ingest'"),
        (&["-v"], "use 'swath -V'"),
        (&["read", "--engine", "warp", "x"], "auto, serial, pool, ring, map"),
        (&["read", "--chunk-size", "64q", "x"], "use B, K or KiB, M or MiB"),
        (&["read", "--chunk-size", "-1", "x"], "cannot be negative"),
        (&["read", "--length", "99999999999999999999", "x"], "too large"),
        (&["read", "--repeat", "0", "x"], "0 is not in 1.."),
        (&["read", "s3://bucket/key"], "pipe it in"),
        (&["read", ""], "cannot be empty"),
        (&["fly"], "unrecognized subcommand"),
    ] {
        let output = run(words);
        assert_eq!(code(&output), 2, "{words:?}");
        assert!(stderr(&output).contains(wanted), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn a_full_device_is_2() {
    let (_folder, path) = file_of(b"text");
    for verb in ["read", "sum", "scan", "cat"] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let mut command = crate::child::swath();
        let output = command.arg(verb).arg(&path).stdout(full).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{verb} {output:?}");
        let text = stderr(&output);
        assert!(text.contains("standard output: No space left"), "{text}");
        assert!(text.contains("try: free some space"), "{text}");
    }
    for line in ["sum", "sum --hash xxh3", "scan --json", "info", "sum --hash crc32c --check"] {
        let list = path.with_file_name("list");
        let sum = format!("e3069283  {}\n", word(&path));
        std::fs::write(&list, sum.repeat(3)).expect("room");
        let inputs = if line.contains("check") { "\"$2\"" } else { "\"$1\" \"$1\" /missing" };
        let words = [path.as_os_str(), list.as_os_str()];
        let output = shell(&format!("\"$0\" {line} {inputs} > /dev/full"), &words);
        let said = stderr(&output);
        assert_eq!((code(&output), said.lines().count()), (2, 1), "{line}: {said}");
        assert!(said.contains("standard output: No space left"), "{said}");
    }
    for words in [&["--help"][..], &["-h"], &["--version"], &["sum", "--help"], &["help"]] {
        let output = shell(&format!("\"$0\" {} > /dev/full", words.join(" ")), &[]);
        assert_eq!(code(&output), 2, "{words:?} {output:?}");
        let text = stderr(&output);
        assert!(text.contains("standard output: No space left"), "{words:?}: {text}");
    }
}

/// The standard library replaces a closed stream with one that takes everything.
#[test]
fn without_a_standard_output_only_what_was_to_go_there_is_2() {
    let (folder, path) = file_of(b"text");
    for words in
        ["cat \"$1\"", "sum \"$1\"", "read --json \"$1\"", "--help", "man", "compress \"$1\" -"]
    {
        let output = shell(&format!("\"$0\" {words} >&-"), &[path.as_os_str()]);
        assert_eq!(code(&output), 2, "{words}: {output:?}");
        let text = stderr(&output);
        assert!(text.contains("standard output: Bad file descriptor"), "{words}: {text}");
        let output = shell(&format!("\"$0\" {words} 1< /dev/null"), &[path.as_os_str()]);
        assert_eq!(code(&output), 2, "{words}, open for reading only: {output:?}");
        // As services and their like do, who mean it.
        for null in ["> /dev/null", "<> /dev/null 1>&0"] {
            let output = shell(&format!("\"$0\" {words} {null}"), &[path.as_os_str()]);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{words} {null}");
        }
    }
    let (manifest, study) = (folder.path().join("sums"), folder.path().join("study"));
    earlier_study(&study, 1.8);
    for line in [
        "manifest \"$1\" \"$2\"",
        "heal --verify-against manifest=\"$2\" \"$1\"",
        "heal --verify-against manifest=\"$2\" \"$1\" --json",
        "study report \"$3\"",
        "XDG_CONFIG_HOME=\"$3\" tune --clear",
    ] {
        let (before, line) = match line.split_once(" tune") {
            Some((before, _)) => (before, "tune --clear"),
            None => ("", line),
        };
        let words = [path.as_os_str(), manifest.as_os_str(), study.as_os_str()];
        let output = shell(&format!("{before} \"$0\" {line} >&-"), &words);
        assert_eq!(code(&output), 0, "{line}: {output:?}");
    }
    let output = shell(
        "\"$0\" heal --dry-run --verify-against manifest=\"$2\" \"$1\" >&-",
        &[path.as_os_str(), manifest.as_os_str()],
    );
    assert_eq!(code(&output), 2, "it only reports: {output:?}");
    let copy = folder.path().join("copy");
    let output = shell("\"$0\" cp \"$1\" \"$2\" >&-", &[path.as_os_str(), copy.as_os_str()]);
    assert_eq!(
        (code(&output), stderr(&output).as_str()),
        (0, ""),
        "without a standard output there is no report"
    );
    assert_eq!(std::fs::read(copy).expect("copied"), b"text");
}

#[test]
fn without_a_standard_input_nothing_is_read_as_empty() {
    let (folder, _) = file_of(b"text");
    let out = folder.path().join("out");
    for words in ["sum -", "sum --hash blake3 -", "cat -", "compress - \"$1\"", "read -"] {
        let output = shell(&format!("\"$0\" {words} <&-"), &[out.as_os_str()]);
        assert_eq!(code(&output), 2, "{words}: {output:?}");
        let text = stderr(&output);
        assert!(text.contains("standard input is closed"), "{words}: {text}");
        assert!(!out.exists(), "{words}");
        let output = shell(&format!("\"$0\" {words} < /dev/null"), &[out.as_os_str()]);
        assert_eq!(code(&output), 0, "{words}: {output:?}");
        let _ = std::fs::remove_file(&out);
    }
}

/// As in `/tmp`: a default name that another user has taken.
#[test]
fn a_pipe_of_another_user_in_a_shared_folder_is_no_output() {
    if !is_root() {
        return swath_reference::skip("root", "it takes another user");
    }
    let (folder, path) = file_of(b"secret");
    let shared = std::fs::Permissions::from_mode(0o1777);
    std::fs::set_permissions(folder.path(), shared).expect("set");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).uid(65_534).gid(65_534).status();
    assert!(made.expect("coreutils").success());
    let [path, pipe] = [&path, &pipe].map(|path| word(path));
    for mode in [0o1777, 0o777, 0o2775] {
        let shared = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), shared).expect("set");
        for verb in [
            &["compress", path, "-o", pipe][..],
            &["gen", "bytes", "10", pipe],
            &["sum", path, "--timeline", pipe],
        ] {
            let output = run(verb);
            assert_eq!(code(&output), 2, "{verb:?} {output:?}");
            assert!(stderr(&output).contains("a named pipe of another user"), "{output:?}");
        }
    }
    // In a folder of its owner's, which its owner can have put there.
    let shared = std::fs::Permissions::from_mode(0o1777);
    std::fs::set_permissions(folder.path(), shared).expect("set");
    let own = folder.path().join("own");
    let made = Command::new("mkdir").arg(&own).uid(65_534).gid(65_534).status();
    assert!(made.expect("coreutils").success());
    std::fs::rename(pipe, own.join("pipe")).expect("root may");
    let output = run(["compress", path, "-o", word(&own.join("pipe"))]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr(&output).contains("a named pipe of another user"), "{output:?}");
}
