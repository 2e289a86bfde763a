//! Copies bytes from one file to another without passing them through this process.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use rustix::fs::copy_file_range;
use rustix::io::{Errno, retry_on_intr};

/// One extent of one file, and its place in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Offset of the first byte to read.
    pub from_offset: u64,
    /// Offset at which to write it.
    pub to_offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// Copies a prefix of an extent inside the kernel and returns its length; 0 if `from` ends there.
///
/// The kernel may share blocks, let the server copy, or copy through the page cache. The caller
/// must check first whether `to` would exceed the file size limit: see [`crate::limits`].
///
/// # Errors
///
/// `Unsupported` if these two files cannot be copied in the kernel: then read and write;
/// otherwise those of copy_file_range(2).
pub fn copy_range(from: &File, to: &File, transfer: Transfer) -> io::Result<u64> {
    // The kernel copies fewer at a time anyway.
    let len = usize::try_from(transfer.len).unwrap_or(usize::MAX).min(1 << 30);
    let copied = retry_on_intr(|| {
        let (mut read_at, mut write_at) = (transfer.from_offset, transfer.to_offset);
        copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), len)
    });
    match copied {
        Ok(copied) => Ok(copied as u64),
        Err(Errno::XDEV | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Shares the blocks of an extent of `from` with `to` (reflink): no byte is copied until one of
/// the files is written to.
///
/// Offsets and length must be multiples of the file system's block size, except for a length
/// that extends to the end of `from`. All or nothing.
///
/// # Errors
///
/// `Unsupported` if the file system or the alignment does not allow it, or if the file systems
/// differ; otherwise those of ioctl_ficlonerange(2).
pub fn clone_range(from: &File, to: &File, transfer: Transfer) -> io::Result<()> {
    // For the kernel, 0 means to the end.
    if transfer.len == 0 {
        return Ok(());
    }
    let order = libc::file_clone_range {
        src_fd: i64::from(from.as_raw_fd()),
        src_offset: transfer.from_offset,
        src_length: transfer.len,
        dest_offset: transfer.to_offset,
    };
    loop {
        match clone_once(to.as_raw_fd(), &order).map_err(|error| error.raw_os_error()) {
            Ok(()) => return Ok(()),
            Err(Some(libc::EINTR)) => {}
            Err(Some(
                libc::EOPNOTSUPP | libc::EINVAL | libc::EXDEV | libc::ENOTTY | libc::ENOSYS,
            )) => return Err(io::ErrorKind::Unsupported.into()),
            Err(number) => {
                return Err(io::Error::from_raw_os_error(number.unwrap_or(libc::EIO)));
            }
        }
    }
}

fn clone_once(to: RawFd, order: &libc::file_clone_range) -> io::Result<()> {
    // SAFETY: the kernel reads one `file_clone_range` and writes to no memory of ours.
    let status = unsafe { libc::ioctl(to, libc::FICLONERANGE, std::ptr::from_ref(order)) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn two() -> (File, File) {
        let from = tempfile::tempfile().expect("a temporary file");
        from.write_all_at(&[7; 8192], 0).expect("written");
        (from, tempfile::tempfile().expect("a temporary file"))
    }

    #[test]
    fn a_range_is_copied_and_the_end_is_zero_bytes() {
        let (from, to) = two();
        let transfer = Transfer { from_offset: 1, to_offset: 3, len: 5000 };
        match copy_range(&from, &to, transfer) {
            Ok(copied) => assert_eq!(copied, 5000),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                return swath_reference::skip("copy-file-range", error);
            }
        }
        let mut bytes = [1; 5003];
        to.read_exact_at(&mut bytes, 0).expect("there");
        assert!(bytes[..3].iter().all(|&byte| byte == 0));
        assert!(bytes[3..].iter().all(|&byte| byte == 7));
        let past_end = Transfer { from_offset: 8192, ..transfer };
        assert_eq!(copy_range(&from, &to, past_end).expect("nothing there"), 0);
    }

    #[test]
    fn blocks_are_shared_or_it_is_said_that_they_cannot_be() {
        let (from, to) = two();
        let transfer = Transfer { from_offset: 0, to_offset: 4096, len: 8192 };
        match clone_range(&from, &to, transfer) {
            Ok(()) => assert_eq!(to.metadata().expect("known").len(), 12288),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                assert_eq!(to.metadata().expect("known").len(), 0, "nothing has changed");
            }
        }
        clone_range(&from, &to, Transfer { len: 0, ..transfer }).expect("nothing to do");
    }

    #[test]
    fn a_file_opened_to_be_read_only_is_an_error() {
        let (from, _) = two();
        let to = File::open("/proc/self/exe").expect("this program");
        let transfer = Transfer { from_offset: 0, to_offset: 0, len: 4096 };
        assert!(copy_range(&from, &to, transfer).is_err());
        assert!(clone_range(&from, &to, transfer).is_err());
    }
}
