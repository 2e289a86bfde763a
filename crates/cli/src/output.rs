//! Standard output and standard error, without a panic when nobody listens.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use thiserror::Error;

/// Standard output did not take what was written.
#[derive(Debug, Error)]
#[error("cannot write to standard output")]
pub(crate) struct OutputError(#[from] io::Error);

impl OutputError {
    /// Whether the reader has gone away, which is no error: it has read enough.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Writes `text`, at once.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref())?;
    Ok(out.flush()?)
}

/// Writes `value` as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(print(line)?)
}

/// What became of the report of `path`, which has been written: if it cannot be printed, nobody is to
/// take that for a failure to write.
pub(crate) fn wrote<T, E: Into<anyhow::Error>>(
    path: impl AsRef<Path>,
    reported: Result<T, E>,
) -> Result<T> {
    wrote_all([path], reported)
}

/// The same of several files; of none, nothing was written.
pub(crate) fn wrote_all<P: AsRef<Path>, T, E: Into<anyhow::Error>>(
    paths: impl IntoIterator<Item = P>,
    reported: Result<T, E>,
) -> Result<T> {
    reported.map_err(|error| {
        let paths = paths.into_iter().map(|path| path.as_ref().display().to_string());
        match paths.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => error.into(),
            paths => error.into().context(format!("wrote {paths}, but cannot report it")),
        }
    })
}

/// Returns standard output without a buffer of its own, for large writes.
pub(crate) fn unbuffered() -> Result<File, OutputError> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Says `what` on standard error, behind the program's name.
pub(crate) fn complain(what: impl Display) {
    // If standard error is gone too, nobody is left to tell.
    let _ = writeln!(io::stderr(), "swath: {what}");
}
