//! The one parser of inputs: a path, `-`, or a `file://` URI.
//!
//! ```text
//! data.bin  ./a://b  \xff    any path, UTF-8 or not
//! -                          standard input; a file of that name is ./-
//! file:///tmp/a%20file       /tmp/a file
//! folder/                    segments that `append` has written, as one file
//! s3://…  https://…          refused, with a hint
//! ```

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use swath::append::{self, Opened};
use swath::{Buffer, ReadAt, ReadOptions, Reader, Source, SourceFacts};
use swath_os::locks::Mutex;
use thiserror::Error;

use crate::failure::Refused;
use crate::report::ReportName;

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file.
    Path(PathBuf),
}

/// The reason why a word is not an input, with the form to write instead.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InputError {
    /// An empty name.
    #[error("a path cannot be empty; use `-` for standard input or output")]
    Empty,
    /// A URI that is not of a file.
    #[error(
        "`{0}://` cannot be read; fetch it first, or pipe it in: `… | swath read -` (a file of this name is ./{0}:…)"
    )]
    Scheme(String),
    /// A `file://` URI of another machine.
    #[error("`{0}` is another machine; write file:///path for a file of this one")]
    Host(String),
    /// A `file://` URI that is malformed.
    #[error("it is not a file URI: {0}")]
    Uri(&'static str),
}

impl Input {
    /// Parses a word of the command line.
    ///
    /// # Errors
    ///
    /// [`InputError`]; nothing is opened yet.
    pub fn parse(word: &OsStr) -> Result<Self, InputError> {
        let bytes = word.as_bytes();
        if bytes.is_empty() {
            return Err(InputError::Empty);
        }
        if bytes == b"-" {
            return Ok(Self::Stdin);
        }
        match scheme(bytes) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => file_uri(rest),
            Some((scheme, _)) => Err(InputError::Scheme(scheme.to_owned())),
            None => Ok(Self::Path(PathBuf::from(word))),
        }
    }

    /// Returns its name in messages.
    pub fn name(&self) -> &Path {
        match self {
            Self::Stdin => Path::new("<stdin>"),
            Self::Path(path) => path,
        }
    }

    /// Returns its path, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::Path(path) => Some(path),
        }
    }

    /// Returns its name in results, as the standard tools print it.
    pub fn label(&self) -> &OsStr {
        match self {
            Self::Stdin => OsStr::new("-"),
            Self::Path(path) => path.as_os_str(),
        }
    }

    /// Opens the input.
    ///
    /// # Errors
    ///
    /// The errors of open(2), or of dup(2) for standard input.
    pub fn open(&self) -> io::Result<File> {
        match self {
            Self::Stdin => {
                Source::stdin()?;
                io::stdin().as_fd().try_clone_to_owned().map(File::from)
            }
            Self::Path(path) => File::open(path),
        }
    }

    /// Returns the library's form. Paths are opened later, by the verb that reads. A folder of segments is
    /// opened here, compared with its checksums, and reads as the one file that it represents.
    ///
    /// # Errors
    ///
    /// If there is no standard input, or if a folder of segments cannot be read.
    pub fn source(&self) -> io::Result<Source> {
        match self {
            Self::Stdin => Source::stdin(),
            Self::Path(path) => match self.segments()? {
                Some(opened) => {
                    // Reads by position cannot compare checksums.
                    opened.verify()?;
                    Ok(Source::custom(Arc::new(opened)))
                }
                None => Ok(Source::from(path)),
            },
        }
    }

    /// Opens the input for readers that need its length and read it several times. Reads a pipe into memory.
    ///
    /// # Errors
    ///
    /// The errors of [`source`](Self::source) and of reading; a device, which may never end, is refused.
    pub fn seekable(&self) -> Result<swath::Input> {
        let input = swath::Input::open(self.source()?)?;
        if input.len().is_some() {
            return Ok(input);
        }
        let (name, hint) = match self {
            Self::Stdin => {
                ("standard input".into(), "name a file, or pipe in the bytes you need")
            }
            Self::Path(_) => (self.to_string(), "copy the bytes you need to a file first"),
        };
        let what = || format!("cannot read all of {name}: it is a device, which may never end");
        ensure!(!input.is_device(), Refused::new(what(), hint));
        let bytes = ReadOptions::new().read(&input)?.buffer;
        let memory = PipeBytes { bytes, name: self.name().to_owned() };
        Ok(swath::Input::open(Source::custom(Arc::new(memory)))?)
    }

    /// Opens a file that was found in a folder, without waiting if it has become a pipe.
    ///
    /// # Errors
    ///
    /// The errors of [`source`](Self::source); anything but a file is refused.
    pub(crate) fn regular(&self) -> Result<swath::Input> {
        let input = swath::Input::open_at_once(self.source()?)?;
        let what = || format!("cannot read {self}: it is a pipe or a device");
        ensure!(input.len().is_some(), Refused::new(what(), "name the files to read"));
        Ok(input)
    }

    /// Opens the input, and returns its first bytes, up to `len`. A pipe can still be read in order from its
    /// start.
    ///
    /// # Errors
    ///
    /// The errors of [`source`](Self::source) and of reading.
    pub(crate) fn peeked(&self, len: usize) -> Result<Peeked> {
        Self::peeked_of(&swath::Input::open(self.source()?)?, len)
    }

    /// As [`peeked`](Self::peeked), of an open input.
    pub(crate) fn peeked_of(input: &swath::Input, len: usize) -> Result<Peeked> {
        if let Some(whole) = input.len() {
            let wanted = whole.min(len as u64);
            let head = ReadOptions::new().with_workers(1).with_len(wanted).read(input)?;
            let head = head.buffer.to_vec();
            return Ok(Peeked { head, source: Source::from(input) });
        }
        if input.is_device() {
            // A device may never end, and reading it is refused.
            return Ok(Peeked { head: Vec::new(), source: Source::from(input) });
        }
        let mut rest = ReadOptions::new().reader(input)?;
        let mut head = Vec::new();
        Read::by_ref(&mut rest).take(len as u64).read_to_end(&mut head)?;
        let (name, rest) = (input.name().to_owned(), Mutex::new(rest));
        let begun = Begun { head: head.clone(), rest, name };
        Ok(Peeked { head, source: Source::custom(Arc::new(begun)) })
    }

    /// Opens the input if it is a folder of segments that `append` has committed.
    ///
    /// # Errors
    ///
    /// If the manifest or a segment is damaged or cannot be opened.
    pub fn segments(&self) -> io::Result<Option<Opened>> {
        match self {
            Self::Path(path) if path.is_dir() && path.join("MANIFEST").exists() => {
                Ok(Some(append::open(path)?))
            }
            Self::Stdin | Self::Path(_) => Ok(None),
        }
    }
}

/// The first bytes of an input.
pub(crate) struct Peeked {
    pub(crate) head: Vec<u8>,
    /// The whole input.
    pub(crate) source: Source,
}

/// A stream whose first bytes have been read, to be read in order.
struct Begun {
    head: Vec<u8>,
    rest: Mutex<Reader>,
    name: PathBuf,
}

impl ReadAt for Begun {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(None))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        match self.head.get(at..).filter(|head| !head.is_empty()) {
            Some(mut head) => head.read(target),
            None => self.rest.lock().read(target),
        }
    }

    fn name(&self) -> PathBuf {
        self.name.clone()
    }
}

/// The bytes of a pipe.
struct PipeBytes {
    bytes: Buffer,
    name: PathBuf,
}

impl ReadAt for PipeBytes {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(Some(self.bytes.len() as u64)))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let rest = &self.bytes[start..];
        let len = rest.len().min(target.len());
        target[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        self.name.clone()
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().shown())
    }
}

/// Splits `scheme://rest`, if it has that form.
fn scheme(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let at = bytes.windows(3).position(|signs| signs == b"://")?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    let is_scheme = name.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-.".contains(sign));
    is_scheme.then_some((name, &bytes[at + 3..]))
}

fn file_uri(rest: &[u8]) -> Result<Input, InputError> {
    let slash = rest.iter().position(|&byte| byte == b'/');
    let (host, path) = rest.split_at(slash.ok_or(InputError::Uri("it has no path"))?);
    if !host.is_empty() && !host.eq_ignore_ascii_case(b"localhost") {
        return Err(InputError::Host(String::from_utf8_lossy(host).into_owned()));
    }
    if path.iter().any(|byte| b"?#".contains(byte)) {
        return Err(InputError::Uri("`?` and `#` in a name are written %3F and %23"));
    }
    Ok(Input::Path(PathBuf::from(OsString::from_vec(percent_decoded(path)?))))
}

fn percent_decoded(path: &[u8]) -> Result<Vec<u8>, InputError> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path.iter();
    while let Some(&byte) = rest.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
        let value =
            digit(rest.next()).zip(digit(rest.next())).map(|(high, low)| high * 16 + low);
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(0) => return Err(InputError::Uri("a name cannot hold a zero byte")),
            Some(byte) => decoded.push(byte),
            None => return Err(InputError::Uri("`%` is followed by two hexadecimal digits")),
        }
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(word: &str) -> Result<Input, InputError> {
        Input::parse(OsStr::new(word))
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        for path in ["data.bin", "./-", "a:b", "./s3://x", "://x", "a b://c", "%41", "1a://x"] {
            assert_eq!(parsed(path), Ok(Input::Path(path.into())));
        }
        let odd = OsStr::from_bytes(b"\xff://\xfe");
        assert_eq!(Input::parse(odd), Ok(Input::Path(odd.into())));
    }

    #[test]
    fn a_dash_is_standard_input() {
        assert_eq!(parsed("-"), Ok(Input::Stdin));
        assert_eq!(Input::Stdin.label(), "-");
    }

    #[test]
    fn a_file_uri_is_a_path() {
        for (uri, path) in [
            ("file:///tmp/x", "/tmp/x"),
            ("FILE://localhost/tmp/x", "/tmp/x"),
            ("file:///a%20b%3f", "/a b?"),
        ] {
            assert_eq!(parsed(uri), Ok(Input::Path(path.into())));
        }
        let odd = OsString::from_vec(b"/\xff".to_vec());
        assert_eq!(parsed("file:///%fF"), Ok(Input::Path(odd.into())));
    }

    #[test]
    fn other_uris_are_refused_with_what_to_try() {
        let error = parsed("s3://bucket/key").expect_err("no object stores");
        assert_eq!(error, InputError::Scheme(String::from("s3")));
        assert!(error.to_string().contains("swath read -"));
        assert_eq!(parsed("file://other/x"), Err(InputError::Host(String::from("other"))));
        for wrong in
            ["file://", "file:///%", "file:///%4", "file:///%zz", "file:///%00", "file:///a?b"]
        {
            assert!(matches!(parsed(wrong), Err(InputError::Uri(_))), "{wrong}");
        }
        assert_eq!(parsed(""), Err(InputError::Empty));
    }
}
