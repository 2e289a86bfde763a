//! Files that are no text that is read here, told by their first bytes.

use std::path::Path;

use crate::error::{Error, FormatReason};

/// How they begin, what they are, and what to try.
const SIGNS: [(&[u8], &str, &str); 6] = [
    (
        b"\xfd7zXZ\0",
        "it is compressed by xz, which is not read here",
        "decompress it first: xz -d <OLD >NEW",
    ),
    (
        b"PK\x03\x04",
        "it is a zip archive, as .xlsx and .npz files are, and no text",
        "unpack it first, or save a sheet as CSV",
    ),
    (b"PK\x05\x06", "it is a zip archive without files, and no text", "name another file"),
    (b"\xff\xfe\0\0", "it is text in UTF-32, and UTF-8 is read here", UTF_32),
    (b"\xff\xfe", "it is text in UTF-16, and UTF-8 is read here", UTF_16),
    (b"\xfe\xff", "it is text in UTF-16, and UTF-8 is read here", UTF_16),
];

const UTF_16: &str = "write it as UTF-8 first: iconv -f UTF-16 -t UTF-8 <OLD >NEW";
const UTF_32: &str = "write it as UTF-8 first: iconv -f UTF-32 -t UTF-8 <OLD >NEW";

/// The error for a file that begins like this, if it is known to be none that is read.
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
