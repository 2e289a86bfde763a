//! Direct reads and writes, which bypass the page cache: the requirements of `O_DIRECT`, and how to
//! turn it on.
//!
//! [`direct_alignment`] returns how offsets, lengths and memory must be aligned;
//! [`reopen_direct`] and [`reopen_direct_to_write`] return a second descriptor of the same file,
//! so that the first one can still be used for buffered calls on the unaligned rest. Bounce
//! buffers are left to the caller.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::{AtFlags, OFlags, StatxFlags, statx};
use rustix::io::Errno;

/// The units of direct reads of a file, in bytes: all three numbers must be multiples of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// The unit of the memory's address.
    pub memory: u32,
    /// The unit of the offset in the file, and of the length.
    pub offset: u32,
}

/// Returns the alignment that direct reads of `file` need.
///
/// `None` if it is not reported: before Linux 6.1, and on file systems that do not fill it in. Some
/// of those read directly anyway, with the device's block size or a page as alignment. Also `None`
/// if the file system reports that this file cannot be read directly.
///
/// # Errors
///
/// The errors of statx(2), except that a kernel without it gives `None`.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// if let Some(alignment) = swath_os::direct::direct_alignment(&tempfile::tempfile()?)? {
///     assert!(alignment.offset.is_power_of_two());
/// }
/// # Ok(())
/// # }
/// ```
pub fn direct_alignment(file: &File) -> io::Result<Option<DirectAlignment>> {
    let facts = match statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(facts) => facts,
        Err(Errno::NOSYS) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let told = facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    let (memory, offset) = (facts.stx_dio_mem_align, facts.stx_dio_offset_align);
    Ok((told && memory > 0 && offset > 0).then_some(DirectAlignment { memory, offset }))
}

/// Opens `file` a second time, read-only and with `O_DIRECT`.
///
/// Goes through `/proc/self/fd`, so it also finds a file that has been renamed or unlinked. The new
/// descriptor has its own position, and is closed on exec(2).
///
/// # Errors
///
/// `InvalidInput` (`EINVAL`) if the file system has no direct reads, and for anything but a regular
/// file or a block device; `NotFound` if `/proc` is not mounted; `PermissionDenied` if the file may
/// not, or no longer, be opened for reading.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// match swath_os::direct::reopen_direct(&tempfile::tempfile()?) {
///     Ok(direct) => assert_eq!(direct.metadata()?.len(), 0),
///     Err(refused) => eprintln!("no direct reads here: {refused}"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn reopen_direct(file: &File) -> io::Result<File> {
    reopen(file, OpenOptions::new().read(true))
}

/// Like [`reopen_direct`], but opens `file` write-only.
///
/// Buffered writes of other bytes of the same file may continue, as long as no unit of the device
/// is written both ways at the same time.
///
/// # Errors
///
/// As [`reopen_direct`]; `PermissionDenied` if the file may not, or no longer, be written to.
pub fn reopen_direct_to_write(file: &File) -> io::Result<File> {
    reopen(file, OpenOptions::new().write(true))
}

fn reopen(file: &File, options: &mut OpenOptions) -> io::Result<File> {
    let wanted = file.metadata()?;
    // On a pipe, `O_DIRECT` would succeed with another meaning: packets.
    if !wanted.is_file() && !wanted.file_type().is_block_device() {
        let what = "only regular files and block devices have direct reads and writes";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let direct = options
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // A user who controls the mount at /proc could substitute another file.
    if !is_same(&wanted, &direct.metadata()?) {
        return Err(io::Error::other("/proc/self/fd led to another file"));
    }
    Ok(direct)
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::FileExt;

    #[test]
    fn an_unlinked_file_is_reopened_and_its_direct_flag_is_set() {
        let mut named = tempfile::NamedTempFile::new().expect("a temporary file");
        named.write_all(&[1; 4096]).expect("written");
        let (file, path) = named.into_parts();
        path.close().expect("unlinked");
        let direct = match reopen_direct(&file) {
            Ok(direct) => direct,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                return eprintln!("skipped: no direct reads here: {error}");
            }
        };
        let flags = rustix::fs::fcntl_getfl(&direct).expect("flags");
        assert!(flags.contains(OFlags::DIRECT));
        let flags = rustix::io::fcntl_getfd(&direct).expect("flags");
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        let (ours, theirs) = (file.metadata().expect("ours"), direct.metadata().expect("its"));
        assert!(is_same(&ours, &theirs));
    }

    #[test]
    fn what_is_written_directly_is_read_through_the_cache() {
        let file = tempfile::tempfile().expect("a temporary file");
        let direct = match reopen_direct_to_write(&file) {
            Ok(direct) => direct,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
                return swath_reference::skip("direct-io", error);
            }
        };
        let mut bytes = vec![7; 3 * 4096];
        let start = bytes.as_ptr().align_offset(4096);
        bytes[start..start + 4096].fill(9);
        direct.write_all_at(&bytes[start..start + 4096], 4096).expect("a whole page");
        let mut back = [1; 8192];
        file.read_exact_at(&mut back, 0).expect("there");
        assert!(back[..4096].iter().all(|&byte| byte == 0));
        assert!(back[4096..].iter().all(|&byte| byte == 9));
        assert!(direct.read_at(&mut back, 0).is_err(), "it is open for writing only");
    }

    #[test]
    fn alignments_are_powers_of_two() {
        let file = tempfile::tempfile().expect("a temporary file");
        let Some(alignment) = direct_alignment(&file).expect("statx") else {
            return eprintln!("skipped: neither kernel nor file system tells the alignment");
        };
        assert!(alignment.memory.is_power_of_two(), "{alignment:?}");
        assert!(alignment.offset.is_power_of_two(), "{alignment:?}");
    }

    #[test]
    fn proc_files_have_no_alignment_and_refuse() {
        let file = File::open("/proc/self/status").expect("procfs");
        assert_eq!(direct_alignment(&file).expect("statx"), None);
        assert_eq!(reopen_direct(&file).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_pipe_is_refused_by_name() {
        let (read, _write) = io::pipe().expect("a pipe");
        let error = reopen_direct(&File::from(OwnedFd::from(read))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let text = "only regular files and block devices have direct reads and writes";
        assert_eq!(error.to_string(), text);
    }
}
