//! Reserves space for bytes before they are written.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, retry_on_intr};

/// Reserves space for `len` bytes of `file` at `offset`, without changing its length or a byte.
///
/// Space reserved past the end is freed when the length is set. A `len` of 0 reserves nothing.
///
/// # Errors
///
/// `Unsupported` if the file system cannot; `StorageFull` or `QuotaExceeded` if there is no
/// space, better now than when the last byte is written; otherwise those of fallocate(2).
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let file = tempfile::tempfile()?;
/// match swath_os::allocate::reserve(&file, 0, 1 << 20) {
///     Ok(()) => assert_eq!(file.metadata()?.len(), 0),
///     Err(refused) => eprintln!("nothing reserved: {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn reserve(file: &File, offset: u64, len: u64) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    fallocate_here(file, FallocateFlags::KEEP_SIZE, offset, len)
}

/// Calls fallocate(2); `Unsupported` if the file system or a sandbox, which answers EPERM, does not have it.
pub(crate) fn fallocate_here(
    file: &File,
    how: FallocateFlags,
    offset: u64,
    len: u64,
) -> io::Result<()> {
    match retry_on_intr(|| fallocate(file, how, offset, len)) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn room_is_taken_and_the_length_kept() {
        let file = tempfile::tempfile().expect("a temporary file");
        reserve(&file, 0, 0).expect("nothing to do");
        match reserve(&file, 0, 1 << 20) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                return swath_reference::skip("fallocate", error);
            }
        }
        let facts = file.metadata().expect("known");
        assert_eq!(facts.len(), 0);
        assert!(facts.blocks() >= 2048, "{} blocks", facts.blocks());
    }

    #[test]
    fn more_than_any_disk_has_is_an_error() {
        let file = tempfile::tempfile().expect("a temporary file");
        let error = reserve(&file, 0, 1 << 62).unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::Interrupted);
        assert!(reserve(&file, u64::MAX, 1).is_err());
    }
}
