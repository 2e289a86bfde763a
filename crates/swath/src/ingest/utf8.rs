//! Checks UTF-8, and finds the first wrong byte.

use std::path::Path;

use swath_plan::extent::Extent;

use crate::error::{Error, Operation, Reason, Result};

/// Checks `bytes`, which begin at `offset` of the file.
///
/// # Errors
///
/// [`Reason::Corrupt`] with the byte where it stops being UTF-8.
pub(super) fn check(path: &Path, offset: u64, bytes: &[u8]) -> Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(broken(path, offset + error.valid_up_to() as u64)),
    }
}

/// Checks bytes that may end inside a character; returns the bytes of that character at the end.
///
/// # Errors
///
/// As [`check`].
pub(super) fn check_part(
    path: &Path,
    offset: u64,
    bytes: &[u8],
    is_last: bool,
) -> Result<usize> {
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(0),
        Err(error) if error.error_len().is_none() && !is_last => {
            Ok(bytes.len() - error.valid_up_to())
        }
        Err(error) => Err(broken(path, offset + error.valid_up_to() as u64)),
    }
}

fn broken(path: &Path, at: u64) -> Error {
    Error::new(Operation::Read, Reason::Corrupt, path)
        .at(Extent::between(at, at.saturating_add(1)))
        .detail(format!("byte {at} is not UTF-8"))
        .hint("read it as bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_is_not_utf_8_is_named() {
        let at = |bytes: &[u8]| {
            let error = check(Path::new("a"), 100, bytes).expect_err("no UTF-8");
            assert_eq!(error.reason(), Reason::Corrupt);
            error.extent().map(Extent::offset)
        };
        assert_eq!(at(b"abc\xff"), Some(103));
        assert_eq!(at("aé".as_bytes().split_last().expect("not empty").1), Some(101));
        assert_eq!(at(b"\x80"), Some(100));
        check(Path::new("a"), 0, "äöü €𝄞".as_bytes()).expect("text");
    }

    #[test]
    fn a_character_may_go_on_in_the_next_part_unless_there_is_none() {
        let text = "a𝄞b".as_bytes();
        let path = Path::new("a");
        for (end, begun) in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 0), (6, 0)] {
            assert_eq!(check_part(path, 0, &text[..end], false).expect("so far"), begun);
            assert_eq!(check_part(path, 0, &text[..end], true).is_ok(), begun == 0, "{end}");
        }
        check_part(path, 0, b"a\xf0\x28", false).expect_err("never");
    }
}
