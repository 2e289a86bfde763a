//! Recognises files by their first bytes that a reader does not take, and says which reader does.

use std::path::Path;

use crate::compressed::Format;
use crate::error::{Error, FormatReason};

/// This many first bytes show what a file is.
pub(crate) const HEAD: u64 = 18;

/// How a file begins, what it is, and what to try.
type Sign = (&'static [u8], &'static str, &'static str);

/// Files that are not text.
const KINDS: [Sign; 7] = [
    (b"\xfd7zXZ\0", "an xz file", "decompress it first: xz -d <OLD >NEW"),
    (
        b"\x93NUMPY",
        "a NumPy array (.npy)",
        "read it with `npy::read` (Python: `swath.read_npy`)",
    ),
    (b"ARROW1", "an Arrow file", "read it with `arrow::read` (Python: `swath.read_arrow`)"),
    (b"PAR1", "a Parquet file", "convert it to CSV or .arrow first"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "convert it to CSV, .mtx or .npy first"),
    (
        b"PK\x03\x04",
        "a zip archive (such as .npz or .xlsx)",
        "unpack it first, save a sheet as CSV, or read SciPy's .npz with `npz::read`",
    ),
    (b"PK\x05\x06", "an empty zip archive", "pass another file"),
];

const UTF_16: &str = "convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 <OLD >NEW";
const UTF_32: &str = "convert it to UTF-8 first: iconv -f UTF-32 -t UTF-8 <OLD >NEW";

/// Text in other encodings.
const ENCODINGS: [Sign; 3] = [
    (b"\xff\xfe\0\0", "text in UTF-32", UTF_32),
    (b"\xff\xfe", "text in UTF-16", UTF_16),
    (b"\xfe\xff", "text in UTF-16", UTF_16),
];

/// Returns the error for a file that is not UTF-8 text, if its first bytes show that.
pub(crate) fn refused(path: &Path, head: &[u8]) -> Option<Error> {
    let begins = |(sign, ..): &&Sign| head.starts_with(sign);
    let kind = KINDS.iter().find(begins).map(|kind| (kind, "text"));
    let (&(_, what, hint), wanted) =
        kind.or_else(|| Some((ENCODINGS.iter().find(begins)?, "UTF-8")))?;
    let detail = format!("this is {what}, not {wanted}");
    Some(Error::reading(path, FormatReason::UnknownFormat, detail).at(0).hint(hint))
}

/// The same for a reader that takes UTF-16 too.
#[cfg(feature = "arrow")]
pub(crate) fn refused_unless_utf_16(path: &Path, head: &[u8]) -> Option<Error> {
    let is_utf_16 = |sign: &[u8]| sign == b"\xff\xfe" || sign == b"\xfe\xff";
    let found = ENCODINGS.iter().find(|(sign, ..)| head.starts_with(sign));
    match found {
        Some((sign, ..)) if is_utf_16(sign) => None,
        _ => refused(path, head),
    }
}

/// Returns the error for a file that is not `wanted`, and says what it is if its first bytes show that.
pub(crate) fn not(path: &Path, wanted: &str, head: &[u8]) -> Error {
    let unknown = |detail| Error::reading(path, FormatReason::UnknownFormat, detail).at(0);
    if Format::detect(head).is_some() {
        let error = unknown(format!("this is a compressed file, not {wanted}"));
        return error.hint("decompress it first with `swath decompress`");
    }
    match KINDS.iter().find(|(sign, ..)| head.starts_with(sign)) {
        Some(&(_, what, hint)) => unknown(format!("this is {what}, not {wanted}")).hint(hint),
        None if is_market(head) => {
            unknown(format!("this is a Matrix Market file, not {wanted}")).hint(MARKET)
        }
        None => unknown(format!("this is not {wanted}")),
    }
}

/// The hint for Matrix Market where something else is read.
pub(crate) const MARKET: &str = "read it with `matrix::read` (Python: `swath.read_mtx`)";

const BANNER: &[u8] = b"%%MatrixMarket";

/// Whether the first bytes of a file are a Matrix Market banner, in any case, possibly after a byte
/// order mark.
pub(crate) fn is_market(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    text.get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER))
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

    #[test]
    fn what_a_file_is_and_its_reader_are_named() {
        for (head, says, reader) in [
            (
                &b"\x93NUMPY\x01\0"[..],
                "this is a NumPy array (.npy), not an Arrow file",
                "npy::read",
            ),
            (
                b"%%matrixmarket matrix",
                "this is a Matrix Market file, not an Arrow",
                "read_mtx",
            ),
            (b"\x28\xb5\x2f\xfd", "this is a compressed file, not an Arrow file", "decompress"),
            (b"1,2\n", "this is not an Arrow file", "swath info"),
        ] {
            let error = not(Path::new("a"), "an Arrow file", head);
            assert_eq!(
                (error.reason(), error.offset()),
                (FormatReason::UnknownFormat, Some(0))
            );
            assert!(error.to_string().contains(says), "{error}");
            assert!(error.what_to_try().contains(reader), "{error}");
        }
    }
}
