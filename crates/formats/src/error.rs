//! Errors: the fault of a stream, and its place.

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

use swath::machine::Mutex;

/// The result of every fallible function in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, for programs that branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormatReason {
    /// Reading or writing failed; [`Error::library`] returns the cause.
    Library,
    /// The bytes are damaged, or were crafted to do harm.
    Corrupt,
    /// The stream ends before it is complete.
    Truncated,
    /// Not one of the formats that this crate reads.
    UnknownFormat,
    /// Valid, but cannot be decoded here: a dictionary is missing, or it needs too much memory.
    Unsupported,
    /// The options contradict each other, the format or the stream.
    Invalid,
    /// The text does not follow its format.
    Malformed,
    /// A number or a count does not fit its type.
    TooLarge,
    /// There is not enough memory.
    OutOfMemory,
    /// There is no index, so reading cannot start in the middle.
    NoIndex,
    /// The caller's source ended with an error of its own, which is the cause.
    Source,
}

/// The action that failed, its file, the place in it, and the reason.
///
/// ```
/// use swath_formats::{FormatReason, compressed};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("notes.txt");
/// std::fs::write(&path, "not compressed")?;
/// let error = compressed::decompress(&path, folder.path().join("out")).unwrap_err();
/// assert_eq!(error.reason(), FormatReason::UnknownFormat);
/// assert_eq!((error.path(), error.offset()), (path.as_path(), Some(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Inner);

#[derive(Debug, thiserror::Error)]
enum Inner {
    #[error(transparent)]
    Library(swath::Error),
    #[error(transparent)]
    Stream(Box<StreamFault>),
}

#[derive(Debug, thiserror::Error)]
struct StreamFault {
    doing: &'static str,
    reason: FormatReason,
    path: PathBuf,
    offset: Option<u64>,
    line: Option<u64>,
    detail: String,
    hint: &'static str,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.doing, self.path.display())?;
        if let Some(line) = self.line {
            write!(f, " on line {line}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.detail)?;
        match self.hint {
            "" => Ok(()),
            hint => write!(f, "; try: {hint}"),
        }
    }
}

/// A constructor for each verb that a message begins with.
macro_rules! doing {
    ($($(#[$said:meta])* $name:ident = $word:literal;)+) => {$(
        $(#[$said])*
        pub(crate) fn $name(
            path: &Path,
            reason: FormatReason,
            detail: impl Into<String>,
        ) -> Self {
            Self::stream($word, path, reason, detail.into())
        }
    )+};
}

impl Error {
    doing! {
        compressing = "compress";
        decompressing = "decompress";
        /// Reading text: numbers, lines, headers.
        reading = "read";
        /// Writing text.
        writing = "write";
    }

    fn stream(doing: &'static str, path: &Path, reason: FormatReason, detail: String) -> Self {
        let (path, offset, line, hint) = (path.to_owned(), None, None, hint_for(doing, reason));
        let stream =
            StreamFault { doing, reason, path, offset, line, detail, hint, source: None };
        Self(Inner::Stream(Box::new(stream)))
    }

    /// Changes the details of an error about a stream.
    fn saying(mut self, say: impl FnOnce(&mut StreamFault)) -> Self {
        if let Inner::Stream(stream) = &mut self.0 {
            say(stream);
        }
        self
    }

    /// Sets the byte of the compressed stream.
    pub(crate) fn at(self, offset: u64) -> Self {
        self.saying(|stream| stream.offset = Some(offset))
    }

    /// Sets the line, counted from 1.
    pub(crate) fn on_line(self, line: u64) -> Self {
        self.saying(|stream| stream.line = Some(line))
    }

    /// Sets the cause.
    #[cfg(feature = "arrow")]
    pub(crate) fn caused_by(self, cause: Box<dyn std::error::Error + Send + Sync>) -> Self {
        self.saying(|stream| stream.source = Some(cause))
    }

    /// Quotes the text at this place, unless it is empty.
    pub(crate) fn quoting(self, bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return self;
        }
        let more = if bytes.len() > MOST_SHOWN { " …" } else { "" };
        self.saying(|stream| {
            let _ = write!(stream.detail, ": `{}`{more}", shown(bytes));
        })
    }

    /// Replaces the hint; "" keeps the one for the reason.
    pub(crate) fn hint(self, hint: &'static str) -> Self {
        self.saying(|stream| {
            if !hint.is_empty() {
                stream.hint = hint;
            }
        })
    }

    /// Unwraps a library error that the standard traits have wrapped. The only stream read here is
    /// a `swath::Reader`, whose errors are the library's.
    pub(crate) fn from_io(error: io::Error, path: &Path) -> Self {
        Self::unwrapped(error, |text| Self::decompressing(path, FormatReason::Library, text))
    }

    /// Like [`from_io`](Self::from_io), for writing to `path`.
    pub(crate) fn from_writing(error: io::Error, path: &Path) -> Self {
        Self::unwrapped(error, |text| Self::writing(path, FormatReason::Library, text))
    }

    fn unwrapped(error: io::Error, other: impl FnOnce(String) -> Self) -> Self {
        let text = error.to_string();
        match error.into_inner().map(|inner| inner.downcast::<swath::Error>()) {
            Some(Ok(error)) => Self::from(*error),
            Some(Err(_)) | None => other(text),
        }
    }

    /// Returns the kind of the error.
    pub fn reason(&self) -> FormatReason {
        match &self.0 {
            Inner::Library(_) => FormatReason::Library,
            Inner::Stream(stream) => stream.reason,
        }
    }

    /// Returns the path of the stream; `<stdin>` for standard input.
    pub fn path(&self) -> &Path {
        match &self.0 {
            Inner::Library(error) => error.path(),
            Inner::Stream(stream) => &stream.path,
        }
    }

    /// Returns the byte of the error: in a text, the offending byte; in a compressed stream, the
    /// first byte of a frame, member or block.
    pub fn offset(&self) -> Option<u64> {
        match &self.0 {
            Inner::Library(error) => error.extent().map(swath::Extent::offset),
            Inner::Stream(stream) => stream.offset,
        }
    }

    /// Returns the line of the error in the text, counted from 1.
    pub fn line(&self) -> Option<u64> {
        match &self.0 {
            Inner::Library(_) => None,
            Inner::Stream(stream) => stream.line,
        }
    }

    /// Returns the library's error, if reading or writing failed.
    pub fn library(&self) -> Option<&swath::Error> {
        match &self.0 {
            Inner::Library(error) => Some(error),
            Inner::Stream(_) => None,
        }
    }

    /// Returns a hint that begins with a verb, or "".
    pub fn what_to_try(&self) -> &'static str {
        match &self.0 {
            Inner::Library(error) => error.what_to_try(),
            Inner::Stream(stream) => stream.hint,
        }
    }
}

/// Turns a library error about a source of this crate into the error of that source.
impl From<swath::Error> for Error {
    fn from(error: swath::Error) -> Self {
        let cause =
            std::error::Error::source(&error).and_then(|it| it.downcast_ref::<io::Error>());
        let told = cause.and_then(io::Error::get_ref).and_then(|it| it.downcast_ref::<Told>());
        match told.and_then(Told::take) {
            Some(told) => told,
            None => Self(Inner::Library(error)),
        }
    }
}

/// An error of a source of this crate, wrapped to pass through the library.
#[derive(Debug)]
struct Told {
    text: String,
    error: Mutex<Option<Error>>,
}

impl Told {
    fn take(&self) -> Option<Error> {
        self.error.lock().take()
    }
}

impl fmt::Display for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Told {}

impl Error {
    /// Wraps the error to pass through the library, which gets it from a source of this crate.
    #[cfg(feature = "arrow")]
    pub(crate) fn into_source(self) -> io::Error {
        let text = self.to_string();
        io::Error::other(Told { text, error: Mutex::new(Some(self)) })
    }
}

/// The most bytes that a message quotes.
const MOST_SHOWN: usize = 80;

/// Returns the first bytes of a text as shown in messages, cut between characters. Control
/// characters and bytes that are not UTF-8 are escaped.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(MOST_SHOWN);
    let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while end + 3 > MOST_SHOWN && is_inside(end) {
        end -= 1;
    }
    let mut text = String::new();
    for chunk in bytes[..end].utf8_chunks() {
        for sign in chunk.valid().chars() {
            // Characters that change the writing direction would make the message show a different
            // text.
            let is_turn = matches!(sign, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            match sign {
                _ if sign.is_control() || is_turn => text.extend(sign.escape_default()),
                _ => text.push(sign),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// For `Read` and `Write`: keeps the kind and the text.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.reason() {
            FormatReason::Corrupt
            | FormatReason::UnknownFormat
            | FormatReason::Malformed
            | FormatReason::TooLarge => io::ErrorKind::InvalidData,
            FormatReason::OutOfMemory => io::ErrorKind::OutOfMemory,
            FormatReason::Truncated => io::ErrorKind::UnexpectedEof,
            FormatReason::Unsupported | FormatReason::NoIndex => io::ErrorKind::Unsupported,
            FormatReason::Invalid => io::ErrorKind::InvalidInput,
            FormatReason::Library | FormatReason::Source => {
                error.library().map_or(io::ErrorKind::Other, swath::Error::io_kind)
            }
        };
        io::Error::new(kind, error)
    }
}

fn hint_for(doing: &str, reason: FormatReason) -> &'static str {
    match reason {
        FormatReason::UnknownFormat if doing != "decompress" => {
            "run `swath info` on it to see what it holds"
        }
        FormatReason::Corrupt => "fetch it again, or restore it from a backup",
        FormatReason::Truncated => "fetch the rest of the file",
        FormatReason::UnknownFormat => "pass a zstd, gzip or bzip2 file",
        FormatReason::NoIndex => "decompress the whole file, or write it with `swath compress`",
        FormatReason::Library
        | FormatReason::Unsupported
        | FormatReason::Invalid
        | FormatReason::Malformed
        | FormatReason::TooLarge
        | FormatReason::OutOfMemory
        | FormatReason::Source => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_to_what_at_which_byte_and_what_to_try() {
        let error =
            Error::decompressing(Path::new("a.zst"), FormatReason::Corrupt, "wrong checksum");
        let error = error.at(4096);
        assert_eq!(
            error.to_string(),
            "cannot decompress a.zst at byte 4096: wrong checksum; \
             try: fetch it again, or restore it from a backup"
        );
        assert_eq!((error.offset(), error.path()), (Some(4096), Path::new("a.zst")));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn text_is_shown_as_text_and_cut_between_characters() {
        for (bytes, text) in [
            (&b"0,Jos\xc3\xa9,\"O'Neil\""[..], "0,José,\"O'Neil\""),
            (b"a\0b\tc\x1b[1m", "a\\u{0}b\\tc\\u{1b}[1m"),
            (b"caf\xe9,\xff", "caf\\xe9,\\xff"),
            ("1\u{202e}2".as_bytes(), "1\\u{202e}2"),
        ] {
            assert_eq!(shown(bytes), text);
        }
        for lead in 0..4 {
            let long = "a".repeat(lead) + &"é€😀".repeat(20);
            let cut = shown(long.as_bytes());
            assert!(long.starts_with(&cut) && cut.len() > MOST_SHOWN - 4, "{cut}");
        }
        assert_eq!(shown(&[0x80; 200]).len(), (MOST_SHOWN - 3) * 4);
    }

    #[test]
    fn the_library_s_error_is_found_again() {
        let error = swath::read("/nonexistent/file").expect_err("it is not there");
        let wrapped = Error::from_io(io::Error::from(error), Path::new("x"));
        assert_eq!(wrapped.reason(), FormatReason::Library);
        assert_eq!(wrapped.library().and_then(swath::Error::raw_os_error), Some(2));
        assert_eq!(wrapped.path(), Path::new("/nonexistent/file"));
        assert_eq!(wrapped.what_to_try(), "check the path");
    }
}
