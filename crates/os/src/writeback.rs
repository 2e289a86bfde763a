//! Starts writing dirty bytes to the device before a sync waits for them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Makes the kernel start writing `len` bytes of `file` at `offset` to the device; 0 means to the
/// end.
///
/// Makes nothing durable: shortens a later fsync(2). Returns before the bytes are stored, but may
/// wait while the device's queue is full.
///
/// # Errors
///
/// The errors of sync_file_range(2): for numbers that are too large for the kernel, and for a pipe.
/// fsync(2) still reports a failed write to the device.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::os::unix::fs::FileExt;
///
/// let file = tempfile::tempfile()?;
/// file.write_all_at(&[1; 65536], 0)?;
/// swath_os::writeback::start_writeback(&file, 0, 65536)?;
/// // ... more work, then:
/// file.sync_all()?;
/// # Ok(())
/// # }
/// ```
pub fn start_writeback(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let number = |number| i64::try_from(number).map_err(|_| io::ErrorKind::InvalidInput);
    let (offset, len) = (number(offset)?, number(len)?);
    let flags = libc::SYNC_FILE_RANGE_WRITE;
    loop {
        // SAFETY: the call takes numbers and touches no memory.
        let status = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, flags) };
        match io::Error::last_os_error() {
            _ if status == 0 => return Ok(()),
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn it_takes_any_extent_of_a_file_and_no_pipe() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.write_all_at(&[1; 10000], 0).expect("written");
        for (offset, len) in [(0, 0), (0, 10000), (5000, 1), (1 << 40, 1 << 20)] {
            start_writeback(&file, offset, len).expect("begun");
        }
        assert!(start_writeback(&file, u64::MAX, 1).is_err());
        let (_read, write) = io::pipe().expect("a pipe");
        let pipe = File::from(std::os::fd::OwnedFd::from(write));
        assert!(start_writeback(&pipe, 0, 0).is_err());
    }
}
