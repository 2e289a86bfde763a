//! The failure of an operation, and the bytes and the file that it concerns.
//!
//! There is one opaque [`Error`]. Its text says what could not be done to which path. The
//! kernel's own error is its [`source`](std::error::Error::source), to be printed with the chain
//! of causes; [`in_one_line`] does that and adds the hint.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use swath_plan::extent::Extent;

/// The result of all fallible functions of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Finding and opening the file.
    Open,
    /// Inspecting its type and length.
    Inspect,
    /// Reading bytes.
    Read,
    /// Mapping the file.
    Map,
    /// Allocating memory for the result.
    Allocate,
    /// Moving the position of a reader.
    Seek,
    /// Creating a file, a folder or a name to be written.
    Create,
    /// Locking the target against other writers.
    Lock,
    /// Writing bytes.
    Write,
    /// Waiting until the device has stored the bytes.
    Sync,
    /// Giving finished bytes their name.
    Commit,
    /// Removing files that are no longer needed.
    Remove,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Inspect => "inspect",
            Self::Read => "read",
            Self::Map => "map",
            Self::Allocate => "allocate memory for",
            Self::Seek => "seek in",
            Self::Create => "create",
            Self::Lock => "lock",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Commit => "commit",
            Self::Remove => "remove",
        })
    }
}

/// The reason of a failure, as far as a program can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel or the source reported an error; see [`Error::io_kind`].
    Io,
    /// The file ended before the requested bytes did.
    Truncated,
    /// The file changed, or was replaced, while it was read.
    Changed,
    /// The caller cancelled.
    Cancelled,
    /// Not enough memory is available.
    OutOfMemory,
    /// The options contradict each other or the file.
    Invalid,
    /// The target has another writer, or another strand is writing to its handle.
    Busy,
    /// A part of the output was abandoned, so later bytes have no place.
    Poisoned,
    /// The name was changed, but it is unknown whether that survives a power cut.
    OutcomeUnknown,
    /// A manifest, segment or compressed stream is damaged, or malicious.
    Corrupt,
}

/// A failed operation: its path, its bytes, and the reason.
pub struct Error(Box<ErrorDetails>);

struct ErrorDetails {
    operation: Operation,
    reason: Reason,
    path: PathBuf,
    extent: Option<Extent>,
    detail: String,
    hint: &'static str,
    /// The target, if it was written in place.
    partial: Option<PathBuf>,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(operation: Operation, reason: Reason, path: &Path) -> Self {
        Self(Box::new(ErrorDetails {
            operation,
            reason,
            path: path.to_owned(),
            extent: None,
            detail: String::new(),
            hint: "",
            partial: None,
            source: None,
        }))
    }

    /// Returns the error of a cancelled operation.
    pub(crate) fn cancelled(operation: Operation, path: &Path) -> Self {
        Self::new(operation, Reason::Cancelled, path).detail("cancelled")
    }

    pub(crate) fn io(operation: Operation, path: &Path, source: io::Error) -> Self {
        let reason = match source.kind() {
            io::ErrorKind::OutOfMemory => Reason::OutOfMemory,
            // The kernel's error for an invalid argument is not a contradiction in the caller's
            // options.
            io::ErrorKind::InvalidInput if source.raw_os_error().is_none() => Reason::Invalid,
            _ => Reason::Io,
        };
        let mut error = Self::new(operation, reason, path);
        error.0.hint = hint_for(&source);
        error.0.source = Some(source);
        error
    }

    /// Returns a copy of the error, for several callers.
    pub(crate) fn again(&self) -> Self {
        let ErrorDetails { operation, reason, extent, hint, ref partial, .. } = *self.0;
        let source = self.0.source.as_ref().map(|source| {
            match (source.raw_os_error(), common(source)) {
                (Some(number), _) => io::Error::from_raw_os_error(number),
                (None, Some(common)) => common.clone().into(),
                (None, None) => io::Error::new(source.kind(), source.to_string()),
            }
        });
        let (path, detail) = (self.0.path.clone(), self.0.detail.clone());
        let partial = partial.clone();
        let again =
            ErrorDetails { operation, reason, path, extent, detail, hint, partial, source };
        Self(Box::new(again))
    }

    /// Adds the kernel's error as the cause of a reason of Swath's own.
    pub(crate) fn caused_by(mut self, source: io::Error) -> Self {
        self.0.source = Some(source);
        self
    }

    pub(crate) fn at(mut self, extent: Extent) -> Self {
        self.0.extent = Some(extent);
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = detail.into();
        self
    }

    pub(crate) fn hint(mut self, hint: &'static str) -> Self {
        self.0.hint = hint;
        self
    }

    /// Adds that the file `target` was being written in place.
    pub(crate) fn partial(mut self, target: &Path) -> Self {
        self.0.partial = Some(target.to_owned());
        self
    }

    /// Returns the operation that failed.
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// Returns the reason of the failure.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The path of the file; `<stdin>` for standard input.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The bytes concerned, if any.
    pub fn extent(&self) -> Option<Extent> {
        self.0.extent
    }

    /// Returns the hint, or "".
    pub fn what_to_try(&self) -> &'static str {
        self.0.hint
    }

    /// The kind of the kernel's error; for Swath's own errors the nearest kind.
    pub fn io_kind(&self) -> io::ErrorKind {
        match (&self.0.source, self.0.reason) {
            (Some(source), _) => source.kind(),
            (None, Reason::Truncated) => io::ErrorKind::UnexpectedEof,
            (None, Reason::OutOfMemory) => io::ErrorKind::OutOfMemory,
            (None, Reason::Invalid) => io::ErrorKind::InvalidInput,
            (None, Reason::Busy) => io::ErrorKind::ResourceBusy,
            (None, Reason::Corrupt) => io::ErrorKind::InvalidData,
            // Not `Interrupted`: loops of the standard library would retry.
            (
                None,
                Reason::Io
                | Reason::Changed
                | Reason::Cancelled
                | Reason::Poisoned
                | Reason::OutcomeUnknown,
            ) => io::ErrorKind::Other,
        }
    }

    /// The kernel's error number, if the kernel reported the error.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(number_of)
    }
}

/// The failures of several files, all with the same kernel error.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) number: i32,
    /// The fault of each file.
    pub(crate) text: String,
}

impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StdError for Common {}

impl From<Common> for io::Error {
    fn from(common: Common) -> Self {
        let kind = io::Error::from_raw_os_error(common.number).kind();
        io::Error::new(kind, common)
    }
}

/// Precedes the hint.
const TRY: &str = "; try: ";

/// Returns an error, its causes and `hint`, what to try, in one line: the message of the command,
/// the C library and Python's exceptions.
///
/// A cause that the text already contains is not repeated; an empty hint is left out. Control
/// characters are [escaped], from any file name.
///
/// ```
/// let error = swath::read("/no/such/file").expect_err("no such file");
/// let line = swath::machine::in_one_line(&error, error.what_to_try());
/// assert_eq!(
///     line,
///     "cannot open /no/such/file: No such file or directory (os error 2); try: check the path"
/// );
/// ```
pub fn in_one_line(error: &(dyn StdError + 'static), hint: &str) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let part = cause.to_string();
        if !text.ends_with(&part) {
            text = format!("{text}: {part}");
        }
        next = cause.source();
    }
    let has_all = hint.is_empty() || text.ends_with(hint);
    escaped(&if has_all { text } else { format!("{text}{TRY}{hint}") })
}

/// Returns a message with its control characters escaped, so that a file name cannot write lines
/// of its own into a log or send sequences to a terminal.
///
/// ```
/// assert_eq!(swath::machine::escaped("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
/// ```
pub fn escaped(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Returns a count and its noun, in the plural if needed.
///
/// ```
/// assert_eq!(swath::machine::counted(1, "byte"), "1 byte");
/// assert_eq!(swath::machine::counted(0, "byte"), "0 bytes");
/// ```
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns the kernel's error number, even if several files share it.
fn number_of(source: &io::Error) -> Option<i32> {
    source.raw_os_error().or_else(|| Some(common(source)?.number))
}

fn common(source: &io::Error) -> Option<&Common> {
    source.get_ref()?.downcast_ref()
}

fn hint_for(source: &io::Error) -> &'static str {
    // The caller's own sources may return numbers that no kernel uses.
    let number = number_of(source).map(io::Error::from_raw_os_error);
    match number.and_then(|number| Errno::from_io_error(&number)) {
        Some(Errno::PERM) => {
            "check whether the file is immutable (`lsattr`), or the mount or a sandbox forbids the call"
        }
        Some(Errno::NOENT) => "check the path",
        Some(Errno::ACCESS) => "check the permissions of the file and of the folders above it",
        Some(Errno::ISDIR) => "name a file, not a folder",
        Some(Errno::LOOP) => {
            "name the file instead of a link: this one points back to itself, or is not to be followed here"
        }
        Some(Errno::MFILE | Errno::NFILE) => "raise the limit on open files (`ulimit -n`)",
        Some(Errno::IO) => {
            "check the kernel log (`dmesg`), or the server and its free space: the device or file system failed"
        }
        Some(
            Errno::NOTCONN
            | Errno::CONNABORTED
            | Errno::STALE
            | Errno::HOSTDOWN
            | Errno::SHUTDOWN,
        ) => "mount it again: the server or the program of this file system is gone",
        Some(Errno::NOMEM) => {
            "read less at a time, or use `scan`, which keeps nothing in memory"
        }
        Some(Errno::FBIG) => {
            "raise the limit on file sizes (`ulimit -f`), or use another file system"
        }
        Some(Errno::NOSPC) => "free space on this file system, or write to another one",
        Some(Errno::ROFS) => "write to another file system: this one is mounted read-only",
        Some(Errno::NAMETOOLONG) => "choose a shorter name",
        Some(Errno::DQUOT) => "free space, or have your disk quota raised: it is used up",
        _ => "",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        write!(f, "cannot {} {}", inner.operation, inner.path.display())?;
        if let Some(extent) = inner.extent {
            write!(f, " at bytes {extent}")?;
        }
        if let Some(target) = &inner.partial {
            write!(f, " ({} may hold a part of the new bytes now)", target.display())?;
        }
        // The kernel's message is the next link of the chain and more precise, unless the reason is
        // Swath's own.
        let is_last = inner.source.is_none();
        if !inner.detail.is_empty() && (is_last || inner.reason == Reason::OutcomeUnknown) {
            write!(f, ": {}", inner.detail)?;
        }
        if !inner.hint.is_empty() && is_last {
            write!(f, "{TRY}{}", inner.hint)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

/// Keeps kind and text, for `Read` and similar traits; `downcast` returns the [`Error`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        io::Error::new(error.io_kind(), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_kernel_has_gives_no_hint() {
        for number in [i32::MIN, -1, 0, 4096, i32::MAX] {
            let source = io::Error::from_raw_os_error(number);
            assert_eq!(Error::io(Operation::Read, Path::new("a"), source).what_to_try(), "");
        }
    }

    #[test]
    fn the_text_says_what_to_what_at_which_bytes() {
        let kernel = io::Error::from_raw_os_error(5);
        let error = Error::io(Operation::Read, Path::new("data.bin"), kernel)
            .at(Extent::between(4096, 8192));
        assert_eq!(error.to_string(), "cannot read data.bin at bytes 4096..8192");
        let chain = format!("{error:?}");
        assert_eq!(
            chain,
            "cannot read data.bin at bytes 4096..8192: Input/output error (os error 5)"
        );
        assert_eq!((error.raw_os_error(), error.extent()), (Some(5), Extent::new(4096, 4096)));
        let as_io = io::Error::from(error);
        assert!(as_io.get_ref().is_some_and(|inner| inner.is::<Error>()));
    }

    #[test]
    fn one_line_has_each_cause_and_what_to_try_once() {
        let path = Path::new("data.bin");
        let kernel = || io::Error::from_raw_os_error(5);
        let told = |error: &Error| in_one_line(error, error.what_to_try());
        assert_eq!(
            told(&Error::io(Operation::Read, path, kernel())),
            "cannot read data.bin: Input/output error (os error 5); try: check the kernel log \
             (`dmesg`), or the server and its free space: the device or file system failed"
        );
        let own = Error::new(Operation::Read, Reason::Changed, path).detail("shrank").hint("h");
        assert_eq!(told(&own), "cannot read data.bin: shrank; try: h");
        let forged = Error::new(Operation::Read, Reason::Changed, Path::new("a\nb\x1b[2Jé"));
        assert_eq!(told(&forged.hint("h")), "cannot read a\\nb\\u{1b}[2Jé; try: h");
        assert_eq!(own.to_string(), told(&own));
        let unknown = Error::new(Operation::Sync, Reason::OutcomeUnknown, path)
            .detail("it may be there")
            .hint("look")
            .caused_by(kernel());
        assert_eq!(
            told(&unknown),
            "cannot sync data.bin: it may be there: Input/output error (os error 5); try: look"
        );
        let wrapped = io::Error::from(own);
        assert_eq!(in_one_line(&wrapped, "h"), "cannot read data.bin: shrank; try: h");
        assert_eq!(in_one_line(&wrapped, ""), "cannot read data.bin: shrank; try: h");
    }

    #[test]
    fn what_the_kernel_calls_invalid_is_not_what_the_caller_asked_for() {
        let of = |source| Error::io(Operation::Read, Path::new("a"), source).reason();
        assert_eq!(
            of(io::Error::from_raw_os_error(rustix::io::Errno::INVAL.raw_os_error())),
            Reason::Io
        );
        assert_eq!(of(io::Error::new(io::ErrorKind::InvalidInput, "ours")), Reason::Invalid);
    }

    #[test]
    fn an_error_told_again_says_the_same() {
        let at = |error: Error| error.at(Extent::between(1, 3));
        for error in [
            at(Error::io(Operation::Write, Path::new("a"), io::Error::from_raw_os_error(32))),
            at(Error::io(Operation::Write, Path::new("a"), io::ErrorKind::WriteZero.into())),
            at(Error::new(Operation::Write, Reason::Poisoned, Path::new("a")).detail("b"))
                .hint("c"),
        ] {
            let again = error.again();
            assert_eq!(format!("{again:?}"), format!("{error:?}"));
            assert_eq!(again.raw_os_error(), error.raw_os_error());
            assert_eq!((again.io_kind(), again.extent()), (error.io_kind(), error.extent()));
            assert_eq!(again.reason(), error.reason());
            assert_eq!(again.what_to_try(), error.what_to_try());
        }
    }

    #[test]
    fn errors_of_our_own_carry_detail_and_hint() {
        let error = Error::new(Operation::Read, Reason::Truncated, Path::new("log"))
            .at(Extent::between(10, 20))
            .detail("the file ends at byte 12")
            .hint("read it again");
        assert_eq!(
            error.to_string(),
            "cannot read log at bytes 10..20: the file ends at byte 12; try: read it again"
        );
        assert_eq!(error.io_kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_unknown_outcome_says_so_beside_the_kernels_words() {
        let error = Error::new(Operation::Commit, Reason::OutcomeUnknown, Path::new("out"))
            .caused_by(io::Error::from_raw_os_error(5))
            .detail("it may not last");
        assert_eq!(
            format!("{error:?}"),
            "cannot commit out: it may not last: Input/output error (os error 5)"
        );
        assert_eq!((error.reason(), error.raw_os_error()), (Reason::OutcomeUnknown, Some(5)));
    }
}
