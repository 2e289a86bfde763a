//! Dirty pages that are to reach the device soon.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Has the kernel begin to write back the dirty pages of an extent, without waiting for them.
///
/// Promises nothing about what is on the device: a later fsync(2) does, and then has less to wait
/// for. What does not fit the kernel's own range of offsets is left out.
///
/// # Errors
///
/// Those of sync_file_range(2): `ESPIPE` for what is no file.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::os::unix::fs::FileExt;
///
/// let file = tempfile::tempfile()?;
/// file.write_all_at(&[1; 1 << 16], 0)?;
/// swath_os::writeback::begin(&file, 0, 1 << 16)?;
/// file.sync_all()?; // some of it is on its way already
/// # Ok(())
/// # }
/// ```
pub fn begin(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let (Ok(offset), Ok(len)) = (i64::try_from(offset), i64::try_from(len)) else {
        return Ok(());
    };
    // For the kernel, 0 means to the end.
    if len == 0 {
        return Ok(());
    }
    // SAFETY: the kernel is given a descriptor that is open, and numbers.
    let status = unsafe {
        libc::sync_file_range(file.as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;

    #[test]
    fn any_extent_of_a_file_may_be_begun_with() {
        let file = tempfile::tempfile().expect("a temporary file");
        for (offset, len) in [(0, 0), (0, 1), (1 << 40, 1 << 40), (u64::MAX, 1), (1, u64::MAX)]
        {
            begin(&file, offset, len).expect("advice");
        }
    }

    #[test]
    fn a_pipe_is_an_error() {
        let (_read, write) = io::pipe().expect("a pipe");
        let pipe = File::from(OwnedFd::from(write));
        assert_eq!(begin(&pipe, 0, 1).unwrap_err().raw_os_error(), Some(libc::ESPIPE));
    }
}
