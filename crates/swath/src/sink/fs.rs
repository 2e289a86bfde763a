//! Every call that changes a file system, as three small traits.
//!
//! ```text
//! Fs        a path -> an open folder, and the name in it; links are followed only here
//! FsFolder  names in that folder, each one component; links under them are not followed
//! FsFile    bytes, and everything else of one open file
//! ```
//!
//! The writing code calls nothing else. So a simulator in the tests can fail, or crash, at every
//! k-th call and show the possible states of the disk, and a neighbour can act between any two
//! calls.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use swath_os::access::Access;
use swath_os::file_system::is_remote;

pub use super::facts::{Facts, FileKind};
pub(crate) use super::facts::{OTHERS_WRITE, STICKY};
use crate::error::Operation;
use crate::source::FileTimes;

/// The permissions of a new file that all may open.
pub(crate) const FOR_ALL: u32 = 0o666;
/// The permissions of a new file that only its owner can open.
pub(crate) const CLOSED: u32 = 0o600;

/// Held while one target is written; dropping it lets the next writer in.
pub trait Lock: Send + Sync + fmt::Debug {
    /// Returns the owner of the locked file: the user ID that this process has on this file system.
    fn owner(&self) -> u32;

    /// Where the lock may keep out only the programs of this machine, stores `suffix`, the end of the names `made` that
    /// the holder uses, for the next holder, and returns that of the last holder. Elsewhere, and by default, returns
    /// `None`.
    ///
    /// # Errors
    ///
    /// The errors of reading and writing the locked file.
    fn exchange(&self, suffix: &str, made: Vec<OsString>) -> io::Result<Option<String>> {
        let _ = (suffix, made);
        Ok(None)
    }
}

/// One open file.
///
/// Its calls are positional, and may come from many threads at a time. None returns `Interrupted`.
pub trait FsFile: Send + Sync + fmt::Debug {
    /// Writes a prefix of `bytes` at `offset` and returns its length.
    ///
    /// # Errors
    ///
    /// The errors of pwrite(2); `EFBIG` instead of a signal at the file size limit.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Reads bytes at `offset` and returns their number; 0 means that the file ends there.
    ///
    /// # Errors
    ///
    /// The errors of pread(2).
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the facts about the file.
    ///
    /// # Errors
    ///
    /// The errors of fstat(2).
    fn facts(&self) -> io::Result<Facts>;

    /// Truncates the file, or extends it with a hole.
    ///
    /// # Errors
    ///
    /// The errors of ftruncate(2).
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Reserves space without changing length or bytes.
    ///
    /// # Errors
    ///
    /// The errors of fallocate(2); `Unsupported` if the file system cannot.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;

    /// Frees the space of bytes that are zeros, without changing length or bytes.
    ///
    /// # Errors
    ///
    /// The errors of fallocate(2); `Unsupported` if it cannot, and by default.
    fn make_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        let _ = (offset, len);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Copies `len` bytes of `from` by sharing their blocks (reflink).
    ///
    /// # Errors
    ///
    /// `Unsupported` if the file system or the alignment does not allow it; nothing has changed
    /// then.
    fn clone_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<()>;

    /// Copies up to `len` bytes of `from` inside the kernel and returns their number.
    ///
    /// # Errors
    ///
    /// The errors of copy_file_range(2); `Unsupported` if it cannot: then read and write.
    fn copy_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<u64>;

    /// Gives the file mode, owner (where allowed), and extended attributes of the file under `name`,
    /// without the bits and attributes that give a program the rights of another user. Returns
    /// `false`, and changes nothing, if that is not the file of `seen`.
    ///
    /// # Errors
    ///
    /// The errors of fchmod(2) and fsetxattr(2), except for changes that the caller has no right to make.
    fn copy_attributes(
        &self,
        folder: &dyn FsFolder,
        name: &OsStr,
        seen: &Facts,
    ) -> io::Result<bool>;

    /// Sets the permissions.
    ///
    /// # Errors
    ///
    /// The errors of fchmod(2).
    fn set_mode(&self, mode: u32) -> io::Result<()>;

    /// Returns who may use the file. Default: its mode, for an unknown group, so that copies grant the group no more
    /// than all others.
    ///
    /// # Errors
    ///
    /// The errors of fstat(2) and fgetxattr(2).
    fn access(&self) -> io::Result<Access> {
        Ok(Access::of_unknown_group(self.facts()?.mode))
    }

    /// Gives the file mode, owner (where allowed) and extended attributes of `from`, as
    /// [`copy_attributes`](Self::copy_attributes) does.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_attributes`](Self::copy_attributes); by default `Unsupported`.
    fn copy_attributes_of(&self, from: &dyn FsFile) -> io::Result<()> {
        let _ = from;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the times.
    ///
    /// # Errors
    ///
    /// The errors of futimens(2); if the file system stores another time of the last write, such as
    /// one in whole seconds; by default `Unsupported`.
    fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let _ = times;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns once the device has stored bytes and length: fsync(2).
    ///
    /// A failed sync must never be retried: the kernel may have dropped the bytes.
    ///
    /// # Errors
    ///
    /// The errors of fsync(2).
    fn sync(&self) -> io::Result<()>;

    /// Returns once the file system has accepted the bytes: one that defers writes, as FUSE does, reports their errors
    /// only then.
    ///
    /// # Errors
    ///
    /// The errors of close(2); by default there are none.
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns the descriptor, if there is one: for direct writes and faster reads.
    fn descriptor(&self) -> Option<&File> {
        None
    }

    /// Returns the file for a downcast: file systems recognise their own kind of file.
    fn as_any(&self) -> &dyn Any;
}

/// The folder and the name to which a path leads.
#[derive(Clone, Debug)]
pub struct Located {
    /// The folder, open.
    pub folder: Arc<dyn FsFolder>,
    /// The name in it: one component; `.` if the path does not end in a name.
    pub name: OsString,
}

/// A file system to write results to.
pub trait Fs: Send + Sync + fmt::Debug {
    /// Opens the folder that `path` leads to. Symbolic links are followed, also at its end, and
    /// also to a name that does not exist yet.
    ///
    /// # Errors
    ///
    /// The errors of open(2): a loop, a folder without search permission, a link that must not be
    /// followed; `ESTALE` if links are swapped during the call.
    fn locate(&self, path: &Path) -> io::Result<Located>;
}

/// An open folder: it stays the same one, even if its path changes.
///
/// A name is one component. Symbolic links under a name are not followed.
pub trait FsFolder: Send + Sync + fmt::Debug {
    /// Returns the facts about the folder itself.
    ///
    /// # Errors
    ///
    /// The errors of fstat(2).
    fn own_facts(&self) -> io::Result<Facts>;

    /// Returns who may use the folder, as [`FsFile::access`].
    ///
    /// # Errors
    ///
    /// The errors of fstat(2) and fgetxattr(2).
    fn access(&self) -> io::Result<Access> {
        Ok(Access::of_unknown_group(self.own_facts()?.mode))
    }

    /// Returns the time at which the folder was created, in nanoseconds since 1970, if the file system keeps it.
    fn created(&self) -> Option<u64> {
        None
    }

    /// Whether the path that led here went through a link of another user, who may have put it there.
    fn is_by_stranger(&self) -> bool {
        false
    }

    /// Whether another machine or a FUSE program stores the folder.
    fn is_remote(&self) -> bool {
        false
    }

    /// Whether the original path still leads here.
    ///
    /// # Errors
    ///
    /// The errors of stat(2), except the ones that mean no.
    fn is_in_place(&self) -> io::Result<bool>;

    /// Returns the facts about the file `name`, `None` if there is none. A symbolic link is `Special`.
    ///
    /// # Errors
    ///
    /// The errors of fstatat(2), except `NotFound`.
    fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>>;

    /// Checks whether this process may write to the file `name`: for messages, not for security.
    ///
    /// # Errors
    ///
    /// The errors of faccessat(2): why not.
    fn may_write(&self, name: &OsStr) -> io::Result<()>;

    /// Returns why no other file can replace `name`: it is a mount point, or immutable.
    fn why_not_replaced(&self, name: &OsStr) -> Option<io::Error> {
        let _ = name;
        None
    }

    /// Locks the file `name`, which is created for this and inaccessible to other users, until the
    /// lock is dropped or the process ends. `None` if another process, or another writer of this
    /// one, holds it.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if something is there that is not a lock of `user`, by default the user
    /// of this process; those of open(2) and flock(2); `Unsupported` if the file system has no
    /// locks.
    fn lock(&self, name: &OsStr, user: Option<u32>) -> io::Result<Option<Box<dyn Lock>>>;

    /// Holds the folder for its writer, until this value is dropped or [`release`](Self::release)d; `false` if
    /// another writer holds it, and by default `true`.
    fn hold(&self) -> bool {
        true
    }

    /// Ends [`hold`](Self::hold), even if a forked child has a copy of the descriptor.
    fn release(&self) {}

    /// Creates a file without a name, readable and writable.
    ///
    /// # Errors
    ///
    /// The errors of open(2); `Unsupported` if the file system has no `O_TMPFILE`.
    fn create_nameless(&self) -> io::Result<Arc<dyn FsFile>>;

    /// Creates a file under a free name, with these permissions, less the umask.
    ///
    /// # Errors
    ///
    /// The errors of open(2), `AlreadyExists` among them.
    fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<Arc<dyn FsFile>>;

    /// Opens a regular file for reading.
    ///
    /// # Errors
    ///
    /// The errors of open(2).
    fn open(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>>;

    /// Opens a regular file for writing only.
    ///
    /// Without read access, a network file system writes exactly the given bytes: it does not read a
    /// page first and write it back whole, over bytes that another machine wrote next to them.
    ///
    /// # Errors
    ///
    /// The errors of open(2); `Unsupported` if the file system neither shares drafts between processes nor
    /// writes files in place.
    fn open_to_write(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        let _ = name;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives an unnamed file a free name.
    ///
    /// # Errors
    ///
    /// The errors of linkat(2), `AlreadyExists` among them.
    fn link(&self, file: &dyn FsFile, name: &OsStr) -> io::Result<()>;

    /// Renames a file, replacing the file `to`.
    ///
    /// # Errors
    ///
    /// The errors of rename(2).
    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Renames a file or folder to a free name.
    ///
    /// # Errors
    ///
    /// The errors of renameat2(2), `AlreadyExists` among them; `Unsupported` if the file system
    /// cannot guarantee it.
    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;

    /// Removes the name of a file.
    ///
    /// # Errors
    ///
    /// The errors of unlink(2).
    fn remove(&self, name: &OsStr) -> io::Result<()>;

    /// Creates a folder under a free name, which only its owner can open, and opens it.
    ///
    /// # Errors
    ///
    /// The errors of mkdir(2), `AlreadyExists` among them, and of open(2).
    fn create_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>>;

    /// Opens the folder `name`.
    ///
    /// # Errors
    ///
    /// The errors of open(2).
    fn open_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>>;

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// The errors of rmdir(2).
    fn remove_folder(&self, name: &OsStr) -> io::Result<()>;

    /// Returns the names in the folder, in no particular order.
    ///
    /// # Errors
    ///
    /// The errors of getdents(2).
    fn list(&self) -> io::Result<Vec<OsString>>;

    /// Sets its permissions.
    ///
    /// # Errors
    ///
    /// The errors of fchmod(2).
    fn set_mode(&self, mode: u32) -> io::Result<()>;

    /// Returns once the device has stored the folder's names.
    ///
    /// # Errors
    ///
    /// The errors of fsync(2).
    fn sync(&self) -> io::Result<()>;

    /// Returns the folder for a downcast: file systems recognise their own kind of folder.
    fn as_any(&self) -> &dyn Any;
}

impl dyn FsFile + '_ {
    /// Whether a server, another machine or a program stores the bytes.
    pub(crate) fn is_remote(&self) -> bool {
        self.descriptor().is_some_and(is_remote)
    }

    /// Returns once the file system has reported all errors and, if `is_durable`, the device has the bytes. An error
    /// comes with the operation that failed.
    pub(crate) fn store(&self, is_durable: bool) -> Result<(), (Operation, io::Error)> {
        if is_durable {
            self.sync().map_err(|error| (Operation::Sync, error))?;
        }
        // A FUSE program may have no sync, and report failed writes at a close.
        self.flush().map_err(|error| (Operation::Write, error))
    }
}
/// Writes all of `bytes` at `offset`.
///
/// # Errors
///
/// The errors of [`FsFile::write_at`], with the number of bytes written before; `WriteZero` if a
/// write takes no bytes.
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
