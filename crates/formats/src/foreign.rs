//! Recognises files that a reader does not accept by their first bytes, and names the reader that
//! does.

use std::path::Path;

use crate::compressed::Format;
use crate::error::{Error, FormatReason};

/// The number of first bytes that show the kind of a file.
pub(crate) const HEAD: u64 = 18;

/// The kind of a file by its first bytes, and how to read it. Text, and numbers without a header,
/// have no known kind.
///
/// ```
/// use swath_formats::FileFormat;
///
/// let kind = FileFormat::detect(b"PAR1\x15\x04\x15\x10").expect("a known kind");
/// assert_eq!((kind.name, kind.hint), ("a Parquet file", "convert it to CSV or .arrow first"));
/// assert_eq!(FileFormat::detect(b"PAR1,PAR2\n"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFormat {
    /// The name, as in "this is a Parquet file".
    pub name: &'static str,
    /// The hint.
    pub hint: &'static str,
}

impl FileFormat {
    /// Tensors by name.
    pub const SAFETENSORS: Self = Self {
        name: "a safetensors file",
        hint: "read it with `safetensors::read` (Python: `swath.load_safetensors`)",
    };

    /// Returns the kind of a file that begins with `head`; 18 bytes are enough.
    #[must_use]
    pub fn detect(head: &[u8]) -> Option<Self> {
        // Two bytes alone may be a number.
        let is_gzip = head.starts_with(b"\x1f\x8b");
        if Format::is_certain(head) && (!is_gzip || head.get(2) == Some(&8)) {
            let hint = "decompress it first with `swath decompress`";
            return Some(Self { name: "a compressed file", hint });
        }
        if is_market(head) {
            return Some(Self { name: "a Matrix Market file", hint: MARKET });
        }
        Self::without_text(head)
    }

    /// Returns the kind if it is neither text nor compressed.
    fn without_text(head: &[u8]) -> Option<Self> {
        // A plausible length, then an object, perhaps after white space.
        let has_tensors = head.split_first_chunk::<8>().is_some_and(|(len, text)| {
            len.ends_with(&[0; 3]) && text.trim_ascii_start().starts_with(b"{\"")
        });
        if has_tensors {
            return Some(Self::SAFETENSORS);
        }
        let kind = KINDS.iter().find(|(sign, ..)| begins(head, sign));
        kind.map(|&(_, name, hint)| Self { name, hint })
    }
}

/// Whether `head` begins with `sign`. If the sign is letters, which could be text, a control byte
/// must follow.
fn begins(head: &[u8], sign: &[u8]) -> bool {
    let is_text = sign.iter().all(u8::is_ascii_graphic);
    let follows = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.strip_prefix(sign).is_some_and(|rest| !is_text || rest.first().is_some_and(follows))
}

/// The first bytes of a file, its kind, and a hint.
type Sign = (&'static [u8], &'static str, &'static str);

/// Files that are not text.
const KINDS: [Sign; 13] = [
    (b"\xfd7zXZ\0", "an xz file", "decompress it first: xz -d <OLD >NEW"),
    (b"\x04\x22\x4d\x18", "an LZ4 file", "decompress it first: lz4 -d <OLD >NEW"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (
        b"\x93NUMPY",
        "a NumPy array (.npy)",
        "read it with `npy::read` (Python: `swath.read_npy`)",
    ),
    (b"ARROW1", "an Arrow file", "read it with `arrow::batches` (Python: `swath.read_arrow`)"),
    (b"FEA1", "a Feather file of version 1", "save it as version 2, which is an Arrow file"),
    (b"PAR1", "a Parquet file", "convert it to CSV or .arrow first"),
    (b"Obj\x01", "an Avro file", "convert it to CSV or .arrow first"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "convert it to CSV, .mtx or .npy first"),
    (b"SQLite format 3\0", "an SQLite database", "export its table as CSV first"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an Excel file (.xls)",
        "save the sheet as CSV first",
    ),
    (
        b"PK\x03\x04",
        "a zip archive (such as .npz or .xlsx)",
        "unpack it first, save a sheet as CSV, or read .npz with `numpy.load`, SciPy's with `npz::read`",
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
    let encoding = || {
        let found = ENCODINGS.iter().find(|(sign, ..)| head.starts_with(sign));
        found.map(|&(_, name, hint)| (FileFormat { name, hint }, "UTF-8"))
    };
    let kind = FileFormat::without_text(head).map(|kind| (kind, "text"));
    let (FileFormat { name, hint }, wanted) = kind.or_else(encoding)?;
    let detail = format!("this is {name}, not {wanted}");
    Some(Error::reading(path, FormatReason::UnknownFormat, detail).at(0).hint(hint))
}

/// Returns the error for a file that a reader of UTF-8 and UTF-16 does not accept.
#[cfg(feature = "arrow")]
pub(crate) fn refused_unless_utf_16(path: &Path, head: &[u8]) -> Option<Error> {
    let is_utf_16 = |sign: &[u8]| sign == b"\xff\xfe" || sign == b"\xfe\xff";
    let found = ENCODINGS.iter().find(|(sign, ..)| head.starts_with(sign));
    match found {
        Some((sign, ..)) if is_utf_16(sign) => None,
        _ => refused(path, head),
    }
}

/// Returns the error for a file that is not `wanted`; it names the kind that the first bytes show.
pub(crate) fn not(path: &Path, wanted: &str, head: &[u8]) -> Error {
    let unknown = |detail| Error::reading(path, FormatReason::UnknownFormat, detail).at(0);
    match FileFormat::detect(head) {
        Some(FileFormat { name, hint }) => {
            unknown(format!("this is {name}, not {wanted}")).hint(hint)
        }
        None => unknown(format!("this is not {wanted}")),
    }
}

/// Refuses a name that promises another format: programs that read the file rely on the name.
#[cfg(feature = "arrow")]
pub(crate) fn check_name(path: &Path) -> crate::error::Result<()> {
    const OTHERS: [(&str, &str); 9] = [
        ("parquet", "a Parquet file"),
        ("pq", "a Parquet file"),
        ("orc", "an ORC file"),
        ("avro", "an Avro file"),
        ("xls", "an Excel file"),
        ("xlsx", "an Excel file"),
        ("h5", "an HDF5 file"),
        ("hdf5", "an HDF5 file"),
        ("sqlite", "an SQLite database"),
    ];
    let end = path.extension().unwrap_or_default();
    match OTHERS.iter().find(|(other, _)| end.eq_ignore_ascii_case(other)) {
        None => Ok(()),
        Some((_, other)) => {
            let detail = format!("its name is that of {other}, which is not written");
            let error = Error::writing(path, FormatReason::Unsupported, detail);
            Err(error.hint("choose a name that ends in .csv, .tsv, .jsonl, .arrow or .arrows"))
        }
    }
}

/// The hint for Matrix Market files given to other readers.
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
        for head in [
            &b""[..],
            b"PK",
            b"PK,1",
            b"PK\x01",
            b"\xef\xbb\xbfa",
            b"7zXZ",
            b"\xff",
            b"PAR1",
            b"PAR1,b\n",
            b"ARROW1\tFEA1\n",
        ] {
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
