//! Runs the command as its users do.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, without a terminal.
pub(crate) fn swath() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swath"));
    // The user who runs the tests may have profiles.
    command.stdin(Stdio::null()).env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

/// The signals that end a command, with their numbers. Those that this program ignores, as under nohup(1),
/// are left out: its children ignore them too.
pub(crate) fn ending_signals() -> Vec<(&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("hexadecimal");
    let mut signals = vec![("INT", 2), ("TERM", 15), ("HUP", 1)];
    signals.retain(|(name, number)| {
        let is_ignored = ignored >> (number - 1) & 1 == 1;
        if is_ignored {
            swath_reference::skip("signals", format!("this program ignores SIG{name}"));
        }
        !is_ignored
    });
    signals
}

/// Runs `swath` with `words`.
pub(crate) fn run<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Output {
    ended(swath().args(words).output().expect("the command starts"))
}

/// Runs `swath` with `words` and `input` in a pipe.
pub(crate) fn run_with_input(words: &[&str], input: &[u8]) -> Output {
    let mut command = swath();
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut pipe = child.stdin.take().expect("it is piped");
    let writer = std::thread::scope(|scope| {
        let writer = scope.spawn(move || pipe.write_all(input));
        let output = child.wait_with_output().expect("it ends");
        // A command that refuses before it reads is free to close the pipe.
        let _ = writer.join().expect("no panic");
        output
    });
    ended(writer)
}

/// Runs a line of the shell; `"$0"` is the command.
pub(crate) fn shell(line: &str, words: &[&OsStr]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_swath")]).args(words).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    ended(command.output().expect("a shell starts"))
}

/// Whatever happens, it is neither a signal nor a panic.
fn ended(output: Output) -> Output {
    assert_eq!(output.status.signal(), None, "{output:?}");
    assert!(!stderr(&output).contains("panicked"), "{output:?}");
    assert!(output.status.code().is_some_and(|code| code <= 2 || code == 127), "{output:?}");
    output
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("not a signal")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A file of `bytes` in a folder that is removed with the first part of the pair.
pub(crate) fn file_of(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).expect("written");
    (folder, path)
}

/// `path` as a word of a command line that is UTF-8.
pub(crate) fn word(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// Whether this process is the superuser, whom no permission stops.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0)
}
