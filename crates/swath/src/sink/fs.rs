//! Every call that changes a file system, as one small trait.
//!
//! Code that writes calls nothing else, so a simulator in the tests can fail, or crash, at every
//! k-th call and show what could then be on the disk.

use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A device, pipe or socket.
    Special,
}

/// What is known about a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes.
    pub len: u64,
    /// How many names it has.
    pub links: u64,
    /// Device and inode: the same file has the same.
    pub identity: (u64, u64),
    /// Whether this process may write to it; for an open file, whether it was opened for that.
    pub writable: bool,
    /// When its bytes were last changed, in seconds and nanoseconds since 1970, if that is known.
    pub modified: Option<(i64, i64)>,
}

impl Facts {
    /// Whether both are one file with the same bytes, as far as can be told without reading them.
    pub(crate) fn are_of_one_state(&self, other: &Self) -> bool {
        let same_time =
            self.modified.zip(other.modified).is_none_or(|(one, other)| one == other);
        self.identity == other.identity && self.len == other.len && same_time
    }
}

/// Held while one target is written; dropping it lets the next writer in.
pub trait Lock: Send + Sync + fmt::Debug {}

/// One open file.
///
/// Positional and callable from many threads at one time. `Interrupted` is not returned.
pub trait FsFile: Send + Sync + fmt::Debug {
    /// Writes a prefix of `bytes` at `offset` and returns its length.
    ///
    /// # Errors
    ///
    /// Those of pwrite(2); `EFBIG` instead of a signal at the limit of file sizes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Reads bytes at `offset`; 0 means that the file ends there.
    ///
    /// # Errors
    ///
    /// Those of pread(2).
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns what is known about it.
    ///
    /// # Errors
    ///
    /// Those of fstat(2).
    fn facts(&self) -> io::Result<Facts>;

    /// Cuts it or lengthens it with a hole.
    ///
    /// # Errors
    ///
    /// Those of ftruncate(2).
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Reserves space without changing length or bytes.
    ///
    /// # Errors
    ///
    /// Those of fallocate(2); `Unsupported` where the file system cannot.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;

    /// Copies `len` bytes of `from` by sharing their blocks (reflink).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the file system or the alignment forbids it; nothing has changed then.
    fn clone_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<()>;

    /// Copies up to `len` bytes of `from` inside the kernel and returns how many.
    ///
    /// # Errors
    ///
    /// Those of copy_file_range(2); `Unsupported` where it cannot: then read and write.
    fn copy_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<u64>;

    /// Gives it mode, owner (where allowed), and extended attributes of `other`.
    ///
    /// # Errors
    ///
    /// Those of fchmod(2) and fsetxattr(2), except for what the caller may not do.
    fn copy_attributes(&self, other: &Path) -> io::Result<()>;

    /// Returns once the device has its bytes and its length: fsync(2).
    ///
    /// A failed sync is never to be tried again: the kernel may have dropped the bytes.
    ///
    /// # Errors
    ///
    /// Those of fsync(2).
    fn sync(&self) -> io::Result<()>;

    /// The descriptor behind it, if there is one: for direct writes and faster reads.
    fn descriptor(&self) -> Option<&File> {
        None
    }

    /// For file systems to find their own kind of file again.
    fn as_any(&self) -> &dyn Any;
}

/// A file system to leave results on.
///
/// The paths it is given are resolved: no symbolic link is left at their end.
pub trait Fs: Send + Sync + fmt::Debug {
    /// Follows symbolic links at the end of `path`, also to a name that does not exist yet.
    ///
    /// # Errors
    ///
    /// Those of readlink(2): a loop, a folder that may not be searched.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns what stands under `path`, `None` if nothing does. A symbolic link is `Special`.
    ///
    /// # Errors
    ///
    /// Those of lstat(2), except that nothing is there.
    fn facts(&self, path: &Path) -> io::Result<Option<Facts>>;

    /// Locks the name `path`, a file made for this, until the lock is dropped, also by a kill.
    /// `None` if another process, or another writer of this one, holds it.
    ///
    /// # Errors
    ///
    /// Those of open(2) and flock(2); `Unsupported` where the file system has no locks.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;

    /// Makes a file without a name in `folder`, readable and writable.
    ///
    /// # Errors
    ///
    /// Those of open(2); `Unsupported` where the file system has no `O_TMPFILE`.
    fn create_nameless(&self, folder: &Path) -> io::Result<Arc<dyn FsFile>>;

    /// Makes a file under a name that is free.
    ///
    /// # Errors
    ///
    /// Those of open(2), `AlreadyExists` among them.
    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn FsFile>>;

    /// Opens a file to read it.
    ///
    /// # Errors
    ///
    /// Those of open(2).
    fn open(&self, path: &Path) -> io::Result<Arc<dyn FsFile>>;

    /// Gives a nameless file a name that is free.
    ///
    /// # Errors
    ///
    /// Those of linkat(2), `AlreadyExists` among them.
    fn link(&self, file: &dyn FsFile, path: &Path) -> io::Result<()>;

    /// Renames a file, replacing what `to` named.
    ///
    /// # Errors
    ///
    /// Those of rename(2).
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file or folder to a name that is free.
    ///
    /// # Errors
    ///
    /// Those of renameat2(2), `AlreadyExists` among them; `Unsupported` where the file system
    /// cannot promise it.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes the name of a file.
    ///
    /// # Errors
    ///
    /// Those of unlink(2).
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder under a name that is free.
    ///
    /// # Errors
    ///
    /// Those of mkdir(2), `AlreadyExists` among them.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// Those of rmdir(2).
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a folder, in no order.
    ///
    /// # Errors
    ///
    /// Those of getdents(2).
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>>;

    /// Returns once the device has the names in `folder`.
    ///
    /// # Errors
    ///
    /// Those of fsync(2).
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// Writes all of `bytes` at `offset`.
///
/// # Errors
///
/// Those of [`FsFile::write_at`], with how many bytes were written before; `WriteZero` if it takes
/// none.
pub(crate) fn write_all_at(
    file: &dyn FsFile,
    bytes: &[u8],
    offset: u64,
) -> Result<(), (io::Error, u64)> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], offset + done as u64) {
            Ok(0) => return Err((io::ErrorKind::WriteZero.into(), done as u64)),
            Ok(written) => done += written,
            Err(error) => return Err((error, done as u64)),
        }
    }
    Ok(())
}
