//! A reader that has read enough is not an error.

use std::process::Stdio;

use crate::child::{file_of, shell, stderr, stdout, swath, word};

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
