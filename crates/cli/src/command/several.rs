//! Several inputs: an error on one goes on with the others.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use anyhow::Result;
use swath::Report;

use super::Outcome;
use crate::failure::{describe, is_closed_pipe};
use crate::input::Input;
use crate::output::{OutputError, complain, print_json};
use crate::report::{PathJson, object};

/// Calls `work` for each of `inputs`; the outcome says whether none, some or all of them were done.
pub(super) fn each(
    inputs: &[Input],
    json: bool,
    mut work: impl FnMut(&Input) -> Result<()>,
) -> Result<Outcome> {
    let mut done = 0;
    for input in inputs {
        match work(input) {
            Ok(()) => done += 1,
            // The other lines could not be written either.
            Err(error) if is_closed_pipe(&error) || error.is::<OutputError>() => {
                return Err(error);
            }
            Err(error) => {
                let error = describe(&error);
                complain(&error);
                if json {
                    print_json(&object! {
                        #[serde(flatten)]
                        path: PathJson::from(input.label()),
                        error,
                    })?;
                }
            }
        }
    }
    Ok(match done {
        0 => Outcome::NotDone,
        done if done < inputs.len() => Outcome::Differs,
        _ => Outcome::Done,
    })
}

/// Returns the line `value  path` as the standard tools print it: a path with a newline or a
/// backslash is escaped, and the line then starts with a backslash.
pub(super) fn line(value: &str, path: &OsStr) -> Vec<u8> {
    around(&format!("{value}  "), path, "")
}

/// Returns the line `NAME (path) = value`, with the same escapes.
pub(super) fn tagged_line(name: &str, value: &str, path: &OsStr) -> Vec<u8> {
    around(&format!("{name} ("), path, &format!(") = {value}"))
}

fn around(before: &str, path: &OsStr, after: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(before.len() + path.len() + after.len() + 2);
    if must_escape(path) {
        line.push(b'\\');
    }
    line.extend_from_slice(before.as_bytes());
    escape(path, &mut line);
    line.extend_from_slice(after.as_bytes());
    line.push(b'\n');
    line
}

/// Whether a path would break its line, or look as if it were escaped.
pub(super) fn must_escape(path: &OsStr) -> bool {
    path.as_bytes().iter().any(|byte| b"\n\r\\".contains(byte))
}

/// Appends a path, escaped where it must be.
pub(super) fn escape(path: &OsStr, line: &mut Vec<u8>) {
    for byte in path.as_bytes() {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\\' => line.extend_from_slice(b"\\\\"),
            &byte => line.push(byte),
        }
    }
}

/// Reports on standard error what was done differently than requested; standard output has the
/// results only.
pub(super) fn note_fallbacks(input: &Input, report: &Report) {
    for fallback in &report.fallbacks {
        complain(format!("note: {input}: {fallback}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_one_path_whatever_its_name() {
        assert_eq!(line("12", OsStr::new("plain name")), b"12  plain name\n");
        assert_eq!(line("12", OsStr::new("a\nb\\c")), b"\\12  a\\nb\\\\c\n");
        assert_eq!(line("12", OsStr::from_bytes(b"\xff")), b"12  \xff\n");
        assert_eq!(tagged_line("CRC32C", "12", OsStr::new("a)")), b"CRC32C (a)) = 12\n");
        assert_eq!(tagged_line("CRC32C", "12", OsStr::new("a\n")), b"\\CRC32C (a\\n) = 12\n");
    }

    #[test]
    fn some_skipped_is_1_and_all_skipped_is_2() {
        let inputs = [Input::Path("/nonexistent/a".into()), Input::Stdin];
        let refuse = |input: &Input| match input {
            Input::Stdin => Ok(()),
            Input::Path(_) => Err(anyhow::anyhow!("refused by this test")),
        };
        let outcome = |inputs| each(inputs, false, refuse).expect("nothing is printed");
        assert_eq!(outcome(&inputs), Outcome::Differs);
        assert_eq!(outcome(&inputs[..1]), Outcome::NotDone);
        assert_eq!(outcome(&inputs[1..]), Outcome::Done);
    }
}
