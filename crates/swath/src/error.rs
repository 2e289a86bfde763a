//! What failed, on which bytes of which file.
//!
//! One opaque [`Error`]. Its text says what could not be done to what, and what to try; the
//! kernel's own error is its [`source`](std::error::Error::source) and is printed by whoever
//! prints the chain: [`in_one_line`] does, and puts what to try behind it.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use swath_plan::extent::Extent;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Finding and opening the file.
    Open,
    /// Asking what kind of file it is, and how long.
    Inspect,
    /// Reading bytes.
    Read,
    /// Mapping it.
    Map,
    /// Getting memory for the result.
    Allocate,
    /// Moving the position of a reader.
    Seek,
    /// Making a file, a folder or a name that is to be written.
    Create,
    /// Making sure that nobody else writes the same target.
    Lock,
    /// Writing bytes.
    Write,
    /// Waiting until the device has them.
    Sync,
    /// Giving finished bytes their name.
    Commit,
    /// Removing what is no longer needed.
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

/// Why, as far as a program may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel or the source said so; see [`Error::io_kind`].
    Io,
    /// The file ended before the bytes that were to be read.
    Truncated,
    /// The file changed, or was replaced, while it was read.
    Changed,
    /// The caller cancelled.
    Cancelled,
    /// Not enough memory at hand.
    OutOfMemory,
    /// The options contradict each other or the file.
    Invalid,
    /// Somebody else is writing the same target, or another strand the same handle.
    Busy,
    /// Part of the output was abandoned, so what follows it has no place.
    Poisoned,
    /// The name was changed, but whether that survives a power cut is not known.
    OutcomeUnknown,
    /// A manifest, segment or compressed stream is damaged, or was made to harm.
    Corrupt,
}

/// An operation that was not done.
pub struct Error(Box<Inner>);

struct Inner {
    operation: Operation,
    reason: Reason,
    path: PathBuf,
    extent: Option<Extent>,
    detail: String,
    hint: &'static str,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(operation: Operation, reason: Reason, path: &Path) -> Self {
        Self(Box::new(Inner {
            operation,
            reason,
            path: path.to_owned(),
            extent: None,
            detail: String::new(),
            hint: "",
            source: None,
        }))
    }

    /// Of what somebody cancelled.
    pub(crate) fn cancelled(operation: Operation, path: &Path) -> Self {
        Self::new(operation, Reason::Cancelled, path).detail("cancelled")
    }

    pub(crate) fn io(operation: Operation, path: &Path, source: io::Error) -> Self {
        let reason = match source.kind() {
            io::ErrorKind::OutOfMemory => Reason::OutOfMemory,
            // What the kernel calls invalid is no contradiction in what the caller asked for.
            io::ErrorKind::InvalidInput if source.raw_os_error().is_none() => Reason::Invalid,
            _ => Reason::Io,
        };
        let mut error = Self::new(operation, reason, path);
        error.0.hint = hint_for(&source);
        error.0.source = Some(source);
        error
    }

    /// The same once more: a failure that several callers are to be told.
    pub(crate) fn again(&self) -> Self {
        let Inner { operation, reason, extent, hint, .. } = *self.0;
        let source = self.0.source.as_ref().map(|source| {
            match (source.raw_os_error(), common(source)) {
                (Some(number), _) => io::Error::from_raw_os_error(number),
                (None, Some(common)) => common.clone().into(),
                (None, None) => io::Error::new(source.kind(), source.to_string()),
            }
        });
        let (path, detail) = (self.0.path.clone(), self.0.detail.clone());
        Self(Box::new(Inner { operation, reason, path, extent, detail, hint, source }))
    }

    /// The kernel's error behind a reason of our own.
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

    /// What was being done.
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// Why it was not.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The file; for standard input `<stdin>`.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The bytes, if it was about bytes.
    pub fn extent(&self) -> Option<Extent> {
        self.0.extent
    }

    /// What to try, or "".
    pub fn what_to_try(&self) -> &'static str {
        self.0.hint
    }

    /// The kind of the kernel's error; for errors of our own the nearest one.
    pub fn io_kind(&self) -> io::ErrorKind {
        match (&self.0.source, self.0.reason) {
            (Some(source), _) => source.kind(),
            (None, Reason::Truncated) => io::ErrorKind::UnexpectedEof,
            (None, Reason::OutOfMemory) => io::ErrorKind::OutOfMemory,
            (None, Reason::Invalid) => io::ErrorKind::InvalidInput,
            (None, Reason::Busy) => io::ErrorKind::ResourceBusy,
            (None, Reason::Corrupt) => io::ErrorKind::InvalidData,
            // Not `Interrupted`: loops of the standard library would try again.
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

    /// The kernel's error number, if it was the kernel.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(number_of)
    }
}

/// What went wrong with several files, all of them for the same reason of the kernel's.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) number: i32,
    /// What is wrong with each.
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

/// What stands before what to try.
const TRY: &str = "; try: ";

/// Returns an error, its causes and `hint`, what to try, in one line: what the command prints, what
/// the C library keeps as its message and what Python's exceptions say.
///
/// What an error has quoted is not said twice; an empty hint is none. Control characters are
/// [escaped], whoever named the files.
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

/// Returns a message in which control characters are escaped: no name of a file writes lines of its
/// own into a log, or sequences to a terminal.
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

/// The kernel's number, also if it is that of several files.
fn number_of(source: &io::Error) -> Option<i32> {
    source.raw_os_error().or_else(|| Some(common(source)?.number))
}

fn common(source: &io::Error) -> Option<&Common> {
    source.get_ref()?.downcast_ref()
}

fn hint_for(source: &io::Error) -> &'static str {
    // Sources of the caller's may have numbers that no kernel has.
    let number = number_of(source).map(io::Error::from_raw_os_error);
    match number.and_then(|number| Errno::from_io_error(&number)) {
        Some(Errno::PERM) => "the file may be immutable (`lsattr`), or the call forbidden here",
        Some(Errno::NOENT) => "check the path",
        Some(Errno::ACCESS) => "check the permissions of the file and of the folders above it",
        Some(Errno::ISDIR) => "name a file in it",
        Some(Errno::LOOP) => "mend the symbolic link that points back to itself",
        Some(Errno::MFILE | Errno::NFILE) => "raise the limit of open files (`ulimit -n`)",
        Some(Errno::IO) => "the device or file system failed: look into the kernel's log",
        Some(Errno::NOMEM) => "read less at once, or `scan` without keeping",
        Some(Errno::FBIG) => {
            "raise the limit of file sizes (`ulimit -f`), or use another file system"
        }
        Some(Errno::NOSPC) => "free space on this file system, or write to another one",
        Some(Errno::ROFS) => "this file system is mounted read-only: write to another one",
        Some(Errno::NAMETOOLONG) => "choose a shorter name",
        Some(Errno::DQUOT) => "your quota is used up: free space, or ask for more",
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
        // The kernel's own words are the next link of the chain, and say more, unless the reason
        // is ours.
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

/// Keeps kind and text, for `Read` and friends; [`Error`] is found again by `downcast`.
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
            "cannot read data.bin: Input/output error (os error 5); try: the device or file \
             system failed: look into the kernel's log"
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
