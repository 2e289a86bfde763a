//! Files that this crate does not read, recognised by their first bytes.

use std::path::Path;

use crate::error::{Error, FormatReason};

/// How a file begins, what it is, and what to try.
const SIGNS: [(&[u8], &str, &str); 6] = [
    (
        b"\xfd7zXZ\0",
        "this is an xz file, and xz is not supported",
        "decompress it first: xz -d <OLD >NEW",
    ),
    (
        b"PK\x03\x04",
        "this is a zip archive (such as .xlsx or .npz), not text",
        "unpack it first, read an .npz with `matrix::npz`, or save a sheet as CSV",
    ),
    (b"PK\x05\x06", "this is an empty zip archive, not text", "pass another file"),
    (b"\xff\xfe\0\0", "this text is UTF-32, and only UTF-8 is read", UTF_32),
    (b"\xff\xfe", "this text is UTF-16, and only UTF-8 is read", UTF_16),
    (b"\xfe\xff", "this text is UTF-16, and only UTF-8 is read", UTF_16),
];

const UTF_16: &str = "convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 <OLD >NEW";
const UTF_32: &str = "convert it to UTF-8 first: iconv -f UTF-32 -t UTF-8 <OLD >NEW";

/// Returns the error for a file that begins like one of the formats that are not read here.
pub(crate) fn refused(path: &Path, head: &[u8]) -> Option<Error> {
    let (_, detail, hint) = SIGNS.iter().find(|(sign, ..)| head.starts_with(sign))?;
    Some(Error::reading(path, FormatReason::UnknownFormat, *detail).at(0).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_not_refused() {
        for head in [&b""[..], b"PK", b"PK,1", b"PK\x01", b"\xef\xbb\xbfa", b"7zXZ", b"\xff"] {
            assert!(refused(Path::new("a"), head).is_none(), "{head:?}");
        }
    }
}
