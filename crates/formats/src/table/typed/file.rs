//! A file of a table: opened once, in UTF-8.

use std::path::Path;

use swath::{ReadOptions, Source};

use super::encode;
use super::faults::Origin;
use super::options::{BatchOptions, Encoding};
use crate::error::Result;
use crate::input::Text;

/// A file of a table.
pub(super) struct File {
    /// Its text in UTF-8.
    pub(super) text: Text,
    /// Where the text begins, after a byte order mark.
    pub(super) begin: u64,
    /// Never [`Encoding::Auto`].
    pub(super) encoding: Encoding,
    /// Bytes of the file before the text.
    mark: u64,
    /// What came before the text, if it is a part of a pipe.
    pub(super) before: Origin,
}

/// Byte order marks.
const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::Utf8),
    (b"\xff\xfe", Encoding::Utf16Le),
    (b"\xfe\xff", Encoding::Utf16Be),
];

/// Returns the encoding of a text with these first bytes, and the length of its mark.
pub(super) fn encoding(head: &[u8], options: &BatchOptions) -> (Encoding, usize) {
    let marked = MARKS.iter().find(|(mark, _)| head.starts_with(mark));
    match (options.encoding, marked) {
        (Encoding::Auto, Some(&(mark, found))) => (found, mark.len()),
        (Encoding::Auto, None) => (Encoding::Utf8, 0),
        (given, Some(&(mark, found))) if found == given => (given, mark.len()),
        (given, _) => (given, 0),
    }
}

impl File {
    /// Opens a file, and decodes it if it is not in UTF-8.
    pub(super) fn open(source: Source, options: &BatchOptions) -> Result<Self> {
        Self::of(Text::open_encoded(source, &options.read)?, options)
    }

    /// Decodes a text if it is not in UTF-8.
    pub(super) fn of(text: Text, options: &BatchOptions) -> Result<Self> {
        let len = text.len().min(3);
        let head = ReadOptions::new().with_workers(1).with_len(len).read(text.source())?.buffer;
        let (encoding, mark) = encoding(&head, options);
        let (text, begin) = match encoding {
            Encoding::Utf8 => (text, mark as u64),
            other => (encode::decoded(&text, other, mark as u64)?, 0),
        };
        Ok(Self { text, begin, encoding, mark: mark as u64, before: Origin::default() })
    }

    /// Where its text is from.
    pub(super) fn origin(&self) -> Origin {
        let is_utf16 = matches!(self.encoding, Encoding::Utf16Le | Encoding::Utf16Be);
        let utf16 = is_utf16.then_some(self.mark);
        Origin { is_decoded: self.encoding != Encoding::Utf8, utf16, ..self.before }
    }

    /// The name in messages.
    pub(super) fn path(&self) -> &Path {
        self.text.path()
    }
}
