//! The line of an error: the failed action and its file, the cause, and a hint.

use std::error::Error;
use std::io::{self, ErrorKind};

use anyhow::Chain;
use swath::Operation;
use swath_formats::table::{BatchOptions, Setting};
use thiserror::Error as DeriveError;

use crate::output::OutputError;

/// `EMFILE`, which has no [`io::ErrorKind`].
pub(crate) const TOO_MANY_FILES: i32 = 24;

/// An error of this program, not of the library.
#[derive(Debug, DeriveError)]
#[error("{text}")]
pub(crate) struct Refused {
    text: String,
    hint: &'static str,
    source: Option<io::Error>,
}

impl Refused {
    /// Returns the error with its text and a hint, which begins with a verb.
    pub(crate) fn new(text: impl Into<String>, hint: &'static str) -> Self {
        Self { text: text.into(), hint, source: None }
    }

    /// Adds a hint to an error of another library, if it has none.
    pub(crate) fn hinted(error: anyhow::Error, hint: &'static str) -> anyhow::Error {
        let has_hint = error.chain().any(|cause| !hint_of(cause).is_empty());
        if has_hint { error } else { Self::new(describe(&error), hint).into() }
    }

    /// Adds the kernel's reason.
    pub(crate) fn with_source(self, source: io::Error) -> Self {
        Self { source: Some(source), ..self }
    }
}

/// Returns the chain of causes as one line, followed by the hint.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    describe_error(error.as_ref())
}

/// As [`describe`], of a borrowed error.
pub(crate) fn describe_error(error: &(dyn Error + 'static)) -> String {
    let (what, hint) = parts(error);
    format!("{what}{}", with_flags(hint))
}

/// Returns the chain of causes as one line, up to the hint, and the hint, which may be empty.
fn parts(error: &(dyn Error + 'static)) -> (String, &'static str) {
    // The deepest cause has the best hint.
    let hint = Chain::new(error).map(hint_of).filter(|hint| !hint.is_empty()).last();
    let hint = hint.unwrap_or_default();
    let mut text = swath::machine::in_one_line(error, hint);
    text.truncate(text.len() - hint.len());
    (text, hint)
}

/// Returns the chain of causes as one line, without the hint.
pub(crate) fn without_hint(error: &anyhow::Error) -> String {
    parts(error.as_ref()).0.trim_end_matches("; try: ").to_owned()
}

/// Texts in hints of the library, and their names here.
const FLAGS: [(&str, &str); 8] = [
    ("`Replace::InPlace`", "--in-place"),
    ("`columns` or `--columns`", "--columns"),
    ("`missing_words` or `--missing-words`", "--null-values"),
    ("`types`", "--dtypes"),
    ("read it with `arrow::batches` (Python: `swath.read_arrow`)", "pass it alone"),
    ("read the form `fixed`", "pass --from fixed"),
    ("the delimiter, to blanks", "--delimiter, to blanks"),
    ("set another quote", "pass another one with --quote"),
];

/// Replaces options of the library in a hint by flags; an option of tables has its own word.
fn with_flags(hint: &str) -> String {
    let hint =
        FLAGS.iter().fold(hint.to_owned(), |hint, (option, flag)| hint.replace(option, flag));
    BatchOptions::settings().iter().fold(hint, |hint, Setting { word, .. }| {
        hint.replace(&format!("`{word}`"), &format!("--{}", word.replace('_', "-")))
    })
}

fn hint_of(cause: &(dyn Error + 'static)) -> &'static str {
    if let Some(error) = cause.downcast_ref::<swath::Error>() {
        return error.what_to_try();
    }
    if let Some(error) = cause.downcast_ref::<swath_formats::Error>() {
        return error.what_to_try();
    }
    if let Some(error) = cause.downcast_ref::<swath_profile::Error>() {
        return error.what_to_try();
    }
    if let Some(refused) = cause.downcast_ref::<Refused>() {
        return refused.hint;
    }
    let Some(error) = cause.downcast_ref::<io::Error>() else { return "" };
    match (error.get_ref(), error.kind(), error.raw_os_error()) {
        // An `io::Error` shows its inner error as itself, not as its source.
        (Some(inner), ..) => hint_of(inner),
        (_, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => {
            "free some space, or write less"
        }
        (_, _, Some(TOO_MANY_FILES)) => "raise the limit on open files (`ulimit -n`)",
        _ => "",
    }
}

/// Whether the reader of the output has closed its end.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let of_format = error.downcast_ref::<swath_formats::Error>();
    let written = of_format
        .and_then(|error| error.library())
        .or_else(|| error.downcast_ref::<swath::Error>())
        .filter(|error| error.operation() == Operation::Write);
    error.downcast_ref::<OutputError>().is_some_and(OutputError::is_closed)
        || written.is_some_and(|error| error.io_kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use std::io::Read;

    #[test]
    fn what_why_and_what_to_try_are_one_line() {
        let error = swath::read("/nonexistent/file").expect_err("it is not there");
        assert_eq!(
            describe(&error.into()),
            "cannot open /nonexistent/file: No such file or directory (os error 2); \
             try: check the path"
        );
    }

    #[test]
    fn the_hint_is_found_through_an_io_error() {
        let error = swath::read("/nonexistent/file").expect_err("it is not there");
        let error = anyhow::Error::from(io::Error::from(error)).context("cannot go on");
        assert_eq!(
            describe(&error),
            "cannot go on: cannot open /nonexistent/file: \
             No such file or directory (os error 2); try: check the path"
        );
    }

    #[test]
    fn a_hint_is_said_once() {
        let options = swath::ReadOptions::new().with_offset(1 << 40);
        let error = match options.reader("/proc/self/exe") {
            Ok(mut reader) => reader.read(&mut [0]).map(drop).context("read"),
            Err(error) => Err(error.into()),
        };
        let text = describe(&error.expect_err("no program is that large"));
        assert_eq!(text.matches("choose an offset before the end").count(), 1, "{text}");
        assert!(text.ends_with("; try: choose an offset before the end"), "{text}");
    }

    #[test]
    fn what_the_program_refuses_has_its_reason_between() {
        let refused = |code| {
            let cause = io::Error::from_raw_os_error(code);
            describe(
                &Refused::new("cannot write x", "choose another folder")
                    .with_source(cause)
                    .into(),
            )
        };
        assert_eq!(
            refused(13),
            "cannot write x: Permission denied (os error 13); try: choose another folder"
        );
        assert!(refused(28).ends_with("; try: free some space, or write less"), "known better");
    }
}
