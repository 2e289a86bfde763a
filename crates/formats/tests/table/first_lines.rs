//! First lines that are no header, and files that are no text: each is told in words of its own.

use swath_formats::Reason;
use swath_formats::table::TableOptions;

use super::arrays::file;

/// Reads as columns, and returns the error.
fn refused(text: &[u8], options: &TableOptions) -> swath_formats::Error {
    let read = options.read_columns(file(text).path());
    read.map(|table| panic!("{table:?}: {}", text.escape_ascii())).expect_err("no table")
}

#[test]
fn a_file_that_is_no_text_is_named_with_what_to_try() {
    for (head, says, to_try) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "compressed by xz", "xz -d"),
        (b"\xff\xfea\0,\0b\0\n\0", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff\0a\0,\0b\0\n", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        (b"\xff\xfe\0\0a\0\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8"),
        (b"PK\x03\x04xxxx", "a zip archive", "unpack it first"),
    ] {
        let error = refused(head, &TableOptions::new());
        assert_eq!((error.reason(), error.offset()), (Reason::UnknownFormat, Some(0)));
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.what_to_try().contains(to_try), "{error}");
    }
}
