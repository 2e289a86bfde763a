//! Standard output and standard error, without a panic when they are closed.

use std::fmt::Display;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use anyhow::Result;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use serde::Serialize;
use swath::machine::escaped;
use swath_os::locks::Mutex;
use swath_os::pipe::wait_until_writable;
use thiserror::Error;

use crate::report::ReportName;

/// The error of a failed write to standard output.
#[derive(Debug, Error)]
#[error("cannot write to standard output")]
pub(crate) struct OutputError(#[from] io::Error);

impl OutputError {
    /// Whether the reader has closed the pipe, which is not an error: it has read enough.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }

    /// Whether standard output was closed from the start: the caller does not want reports.
    fn was_never_open(&self) -> bool {
        self.0.raw_os_error() == Some(NOT_OPEN)
    }
}

/// `EBADF`, which has no [`io::ErrorKind`].
const NOT_OPEN: i32 = 9;

/// Fails if standard output was closed from the start. Writes to it would be lost, and the standard
/// library does not report that.
fn check_open() -> Result<(), OutputError> {
    match swath_os::streams::stdout_was_closed() {
        true => Err(OutputError(io::Error::from_raw_os_error(NOT_OPEN))),
        false => Ok(()),
    }
}

/// Writes `text` and flushes.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<(), OutputError> {
    Ok(unbuffered()?.write_all(text.as_ref())?)
}

/// Writes help or a version.
pub(crate) fn print_answer(answer: &clap::Error) -> Result<(), OutputError> {
    check_open()?;
    answer.print()?;
    Ok(io::stdout().flush()?)
}

/// Writes `value` as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(print(line)?)
}

/// Writes the report of a command: `json` for programs, or else `text` for people. If its reader has left, the exit
/// status still has the outcome of the command.
pub(crate) fn tell(is_json: bool, json: &impl Serialize, text: impl AsRef<[u8]>) -> Result<()> {
    let told = if is_json { print_json(json) } else { print(text).map_err(Into::into) };
    match told {
        Err(error) if error.downcast_ref().is_some_and(OutputError::is_closed) => Ok(()),
        told => told,
    }
}

/// The files that the command has written.
static WRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The file that is being written in place.
static TRUNCATED: Mutex<Option<String>> = Mutex::new(None);

/// Records that the file at `path` was truncated, to be written in place.
pub(crate) fn truncated(path: &Path) {
    *TRUNCATED.lock() = Some(path.shown());
}

/// Reports, after the error `text`, that a file written in place may hold a part of the new bytes, unless the error
/// says so.
pub(crate) fn complain_of_part(text: &str) {
    const PART: &str = "may hold a part of the new bytes";
    let truncated = TRUNCATED.lock().take();
    if let Some(path) = truncated.filter(|_| !text.contains(PART)) {
        complain(format!("note: {path} was written in place, and {PART} now"));
    }
}

/// Returns a sentence with the files written since the last call; `None` if there are none.
pub(crate) fn written() -> Option<String> {
    let mut written = WRITTEN.lock();
    let paths = std::mem::take(&mut *written).join(", ");
    (!paths.is_empty()).then(|| format!("wrote {paths}"))
}

/// Adds to an error of reporting on `path` that the file itself was written. If standard output was closed from
/// the start, there is no error.
pub(crate) fn wrote(path: impl AsRef<Path>, reported: Result<()>) -> Result<()> {
    wrote_all([path], reported)
}

/// Ignores the error of a report if standard output was closed from the start: the work is done, and only
/// its report is left out.
pub(crate) fn left_out(reported: Result<()>) -> Result<()> {
    match reported {
        Err(error) if error.downcast_ref().is_some_and(OutputError::was_never_open) => Ok(()),
        reported => reported,
    }
}

/// As [`wrote`], for any number of files.
pub(crate) fn wrote_all<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    reported: Result<()>,
) -> Result<()> {
    let paths = paths.into_iter().map(|path| path.as_ref().shown());
    *TRUNCATED.lock() = None;
    WRITTEN.lock().extend(paths);
    let Err(error) = left_out(reported) else { return Ok(()) };
    Err(match written() {
        None => error,
        Some(wrote) => error.context(format!("{wrote}, but cannot report it")),
    })
}

/// Standard output without a buffer, for large writes. If another program that shares it, such as ssh or node, has
/// made it non-blocking, writes wait. It is not a copy of the descriptor: closing a copy would take the error that a
/// file server has for [`check_taken`].
pub(crate) struct StandardOutput(BorrowedFd<'static>);

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(self.0, bytes) {
                Err(Errno::WOULDBLOCK) => wait_until_writable(self.0)?,
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for StandardOutput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0
    }
}

/// Returns standard output.
pub(crate) fn unbuffered() -> Result<StandardOutput, OutputError> {
    check_open()?;
    Ok(StandardOutput(rustix::stdio::stdout()))
}

/// Fails if standard output is a file that has not stored all bytes: sshfs and NFS report that only at a close.
pub(crate) fn check_taken() -> Result<(), OutputError> {
    let Ok(StandardOutput(file)) = unbuffered() else { return Ok(()) };
    match fstat(file) {
        Ok(facts) if FileType::from_raw_mode(facts.st_mode).is_file() => {
            Ok(swath_os::descriptors::flush(file)?)
        }
        Ok(_) => Ok(()),
        // The server is gone.
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// Prints `what` on standard error, after the program's name. File names in it may come from other users.
pub(crate) fn complain(what: impl Display) {
    // If standard error is closed too, there is nowhere to report to.
    let _ = writeln!(io::stderr(), "swath: {}", harmless(&what.to_string()));
}

/// Returns lines with control characters escaped.
pub(crate) fn harmless(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}
