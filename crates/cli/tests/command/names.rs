//! Paths need not be UTF-8, and what a name looks like does not change what it means.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::child::{code, run, stdout};

#[test]
fn a_name_that_is_no_utf_8_is_read_and_printed_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(OsStr::from_bytes(b"a\xff\n\xfe"));
    std::fs::write(&path, b"abc\n").expect("written");
    for verb in ["read", "cat"] {
        assert_eq!(code(&run([OsStr::new(verb), path.as_os_str()])), 0, "{verb}");
    }
    let output = run([OsStr::new("scan"), path.as_os_str()]);
    let mut wanted = b"\\1  ".to_vec();
    wanted.extend_from_slice(folder.path().as_os_str().as_bytes());
    wanted.extend_from_slice(b"/a\xff\\n\xfe\n");
    assert_eq!(output.stdout, wanted);
    let json = run([OsStr::new("scan"), OsStr::new("--json"), path.as_os_str()]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert!(value["path_hex"].as_str().is_some_and(|hex| hex.ends_with("61ff0afe")), "{value}");
}

#[test]
fn a_missing_name_that_is_no_utf_8_is_an_error_like_any_other() {
    let path = OsString::from_vec(b"/nonexistent/\xff".to_vec());
    assert_eq!(code(&run([OsStr::new("sum"), &path])), 2);
}

#[test]
fn a_name_writes_no_line_of_its_own_into_an_error() {
    let output = run(["sum", "/nonexistent\nswath: all is lost\x1b[2J"]);
    let told = String::from_utf8(output.stderr).expect("text");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("nonexistent\\nswath: all is lost\\u{1b}[2J"), "{told}");
}

#[test]
fn a_file_uri_is_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a b"), b"abc").expect("written");
    let uri = format!("file://{}/a%20b", folder.path().display());
    assert_eq!(stdout(&run(["cat", &uri])), "abc");
}

#[test]
fn a_file_named_like_a_flag_or_a_scheme_is_read_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["-", "--json", "s3:"] {
        std::fs::write(folder.path().join(name), name).expect("written");
        let mut command = crate::child::swath();
        let path = format!("./{name}");
        let output = command.current_dir(folder.path()).args(["cat", &path]).output();
        assert_eq!(stdout(&output.expect("it starts")), name);
    }
}
