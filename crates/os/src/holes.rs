//! The data and the holes of a file; holes read as zeros.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::fs::{FallocateFlags, SeekFrom, seek};
use rustix::io::{Errno, retry_on_intr};

use crate::allocate::fallocate_here;

/// Returns the first extent of data in `within`, cut to it; `None` if the rest is a hole.
///
/// Anything that is not known to be a hole counts as data: file systems without holes return all of
/// `within`. Moves the position of `file`, which positional reads and writes do not use.
///
/// # Errors
///
/// The errors of lseek(2); a pipe has no holes and no offsets.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::os::unix::fs::FileExt;
///
/// let file = tempfile::tempfile()?;
/// file.set_len(1 << 20)?;
/// file.write_all_at(b"data", 1 << 19)?;
/// let data = swath_os::holes::next_data(&file, 0..1 << 20)?;
/// assert!(data.is_some_and(|data| data.contains(&(1 << 19))));
/// # Ok(())
/// # }
/// ```
pub fn next_data(file: &File, within: Range<u64>) -> io::Result<Option<Range<u64>>> {
    if within.is_empty() {
        return Ok(None);
    }
    let start = match retry_on_intr(|| seek(file, SeekFrom::Data(within.start))) {
        Ok(start) if start < within.end => start,
        Ok(_) | Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some(within)),
        Err(error) => return Err(error.into()),
    };
    match retry_on_intr(|| seek(file, SeekFrom::Hole(start))) {
        Ok(end) => Ok(Some(start..end.min(within.end))),
        // The file became shorter a moment ago.
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes `len` bytes of `file` at `offset` a hole: they read as zeros, and their whole blocks take
/// no space. The length does not change.
///
/// # Errors
///
/// `Unsupported` if the file system cannot; otherwise those of fallocate(2), for a `len` of 0 too.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use std::os::unix::fs::FileExt;
///
/// let file = tempfile::tempfile()?;
/// file.write_all_at(b"data", 0)?;
/// match swath_os::holes::make_hole(&file, 0, 3) {
///     Ok(()) => assert_eq!(file.metadata()?.len(), 4),
///     Err(refused) => eprintln!("no hole: {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn make_hole(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate_here(file, how, offset, len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    #[test]
    fn data_between_holes_is_found_and_cut_to_what_was_asked() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(4 * MIB).expect("a hole");
        file.write_all_at(&[1; 65536], MIB).expect("written");
        file.write_all_at(&[1; 65536], 3 * MIB).expect("written");
        let first = next_data(&file, 0..4 * MIB).expect("asked").expect("data");
        if first == (0..4 * MIB) {
            return swath_reference::skip("holes", "this file system has none");
        }
        assert_eq!(first, MIB..MIB + 65536);
        let cut = next_data(&file, MIB + 1..MIB + 10).expect("asked");
        assert_eq!(cut, Some(MIB + 1..MIB + 10));
        let second = next_data(&file, first.end..4 * MIB).expect("asked");
        assert_eq!(second, Some(3 * MIB..3 * MIB + 65536));
        assert_eq!(next_data(&file, first.end..3 * MIB).expect("asked"), None);
        assert_eq!(next_data(&file, 3 * MIB + 65536..4 * MIB).expect("asked"), None);
    }

    #[test]
    fn a_hole_that_was_made_takes_no_space_and_reads_as_zeros() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.write_all_at(&[1; 65536], 0).expect("written");
        match make_hole(&file, 4096, 8192) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                return swath_reference::skip("holes", error);
            }
        }
        assert_eq!(file.metadata().expect("known").len(), 65536);
        let mut bytes = [2; 65536];
        file.read_exact_at(&mut bytes, 0).expect("read");
        let (before, after) = ([1; 4096], [1; 65536 - 12288]);
        assert_eq!(bytes[..], [&before[..], &[0; 8192], &after].concat()[..]);
        assert!(make_hole(&file, 0, 0).is_err());
    }

    #[test]
    fn nothing_and_behind_the_end_hold_no_data() {
        let file = tempfile::tempfile().expect("a temporary file");
        assert_eq!(next_data(&file, 0..0).expect("asked"), None);
        assert_eq!(next_data(&file, 0..10).expect("asked"), None);
        assert_eq!(next_data(&file, 5..10).expect("asked"), None);
    }

    #[test]
    fn a_pipe_is_an_error() {
        let (read, _write) = io::pipe().expect("a pipe");
        let file = File::from(std::os::fd::OwnedFd::from(read));
        assert!(next_data(&file, 0..10).is_err());
    }
}
