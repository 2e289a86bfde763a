//! A reader that has read enough is not an error.

use std::process::Stdio;

use crate::child::{code, file_of, run, shell, stderr, stdout, swath, word};

#[test]
fn cat_into_head_is_quiet_and_0() {
    let (_folder, path) = file_of(&[b'x'; 4 << 20]);
    for option in ["", "--starting-in 0.."] {
        let line = format!(r#"{{ "$0" cat {option} "$1"; echo "code $?" >&2; }} | head -c 3"#);
        let output = shell(&line, &[path.as_os_str()]);
        let told = (stdout(&output), stderr(&output));
        assert_eq!(told, (String::from("xxx"), String::from("code 0\n")), "{option}");
    }
}

#[test]
fn every_command_that_prints_survives_a_closed_pipe() {
    let (_folder, path) = file_of(b"text\n");
    let path = path.to_str().expect("a plain name");
    for words in [
        &["read", path][..],
        &["read", "--json", path],
        &["sum", path, path],
        &["scan", path, path],
        &["cat", path],
        &["man"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut command = swath();
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        // It may have written before the pipe was closed: 0 either way.
        assert_eq!(output.status.code(), Some(0), "{words:?} {output:?}");
        assert_eq!(stderr(&output), "", "{words:?}");
    }
}

#[test]
fn a_check_whose_lines_are_not_read_still_fails() {
    let (_folder, path) = file_of(b"123456789");
    let list = path.with_file_name("list");
    let good = format!("e3069283  {}\n", word(&path));
    std::fs::write(&list, good.repeat(3_000) + "e3069283  /missing\n").expect("room");
    let line = r#"("$0" sum -c "$1" --hash crc32c; echo $? >&2) | head -n 1"#;
    let output = shell(line, &[list.as_os_str()]);
    assert_eq!(stdout(&output), format!("{}: OK\n", word(&path)));
    assert!(stderr(&output).ends_with("1 of 3001 files cannot be read\n1\n"), "{output:?}");
}

#[test]
fn a_verdict_that_is_not_read_is_still_the_exit_status() {
    let (_folder, path) = file_of(b"text\n");
    let (other, manifest) = (path.with_file_name("other"), path.with_file_name("manifest"));
    std::fs::write(&other, "test\n").expect("room");
    let made = run(["manifest", word(&path), word(&manifest)]);
    assert_eq!(code(&made), 0, "{made:?}");
    let [path, other, manifest] = [&path, &other, &manifest].map(|path| word(path));
    for (words, expected) in [
        (&["manifest", "--check", manifest, other][..], 1),
        (&["manifest", "--check", manifest, "--json", other], 1),
        (&["manifest", "--check", manifest, path], 0),
        (&["sum", "/missing", path], 1),
        (&["sum", "--json", "/missing", path], 1),
        (&["scan", "/missing", path, path], 1),
        (&["ingest", "--on-error", "skip", "/missing", path], 1),
        (&["ingest", "--on-error", "skip", "--json", "/missing", path], 1),
    ] {
        let mut command = swath();
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command.args(words).stdout(writer).output().expect("it starts");
        let allowed =
            if words[0] == "sum" || words[0] == "scan" { [1, 2] } else { [expected; 2] };
        let code = output.status.code().expect("no signal");
        assert!(allowed.contains(&code), "{words:?}: {output:?}");
        assert_eq!(output.stdout, b"");
    }
}

#[test]
fn a_fifo_whose_reader_leaves_is_as_standard_output() {
    let (_folder, path) = file_of(&[b'x'; 4 << 20]);
    let (packed, fifo) = (path.with_file_name("packed"), path.with_file_name("fifo"));
    let made = run(["compress", word(&path), word(&packed)]);
    assert_eq!(code(&made), 0, "{made:?}");
    for line in [
        r#""$0" decompress "$2" -o "$3""#,
        r#""$0" decompress "$2" -o "$3" --json"#,
        r#""$0" compress --format gzip --level 1 "$1" -o "$3""#,
        r#""$0" gen bytes 4MiB -o "$3""#,
        r#""$0" decompress "$2" - > "$3""#,
        r#""$0" cat "$1" > "$3""#,
    ] {
        let line = format!(
            r#"rm -f "$3"; mkfifo "$3"; head -c 3 "$3" > /dev/null & {{ {line}; }}; echo "code $?""#
        );
        let words = [path.as_os_str(), packed.as_os_str(), fifo.as_os_str()];
        let output = shell(&line, &words);
        assert_eq!(stderr(&output), "", "{line}");
        assert_eq!(stdout(&output).lines().last(), Some("code 0"), "{line} {output:?}");
    }
}
