//! The kernel's file systems, as implementations of the traits that all writing uses.
//!
//! ```text
//! local    open files
//! folder   names in an open folder
//! lock     locked files
//! ```

mod folder;
mod lock;

use std::any::Any;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use swath_os::access::Access;
use swath_os::copy::{self, Transfer};
use swath_os::file_system::{FileSystem, file_system, is_remote};
use swath_os::{allocate, attributes, holes, limits, links, names};

use crate::sink::fs::{Facts, FileKind, Fs, FsFile, FsFolder, Located};
use crate::source::{FileTimes, stat_of};
use folder::LocalFolder;
pub use lock::{EndDelay, Locks, NoLocks};

/// The file systems of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFs;

#[derive(Debug)]
struct LocalFile {
    file: File,
    /// Space was reserved, perhaps past the end, where setting the length frees it.
    has_reserved: AtomicBool,
}

/// Repeats a call as long as a signal interrupts it.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn too_large() -> io::Error {
    Errno::FBIG.into()
}

fn unsupported() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// Converts a field of a `Stat`: types differ between machines; all values fit.
fn number<T: Default>(field: impl TryInto<T>) -> T {
    field.try_into().unwrap_or_default()
}

fn facts_of(stat: &Stat) -> Facts {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        _ => FileKind::Special,
    };
    Facts {
        kind,
        len: number(stat.st_size),
        links: number(stat.st_nlink),
        identity: (number(stat.st_dev), number(stat.st_ino)),
        owner: stat.st_uid,
        mode: stat.st_mode & 0o7777,
        modified: Some((number(stat.st_mtime), number(stat.st_mtime_nsec))),
    }
}

impl FsFile for LocalFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        // Past the file size limit, the kernel would raise a signal that ends the process.
        let allowed = limits::within_file_size_limit(offset, bytes.len() as u64)?;
        // At most `bytes.len()`, so it fits.
        let allowed = usize::try_from(allowed).unwrap_or(bytes.len());
        uninterrupted(|| self.file.write_at(&bytes[..allowed], offset))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        uninterrupted(|| self.file.read_at(into, offset))
    }

    fn facts(&self) -> io::Result<Facts> {
        Ok(facts_of(&stat_of(&self.file)?))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        if limits::file_size_limit().is_some_and(|limit| len > limit) && len > before {
            return Err(too_large());
        }
        // XFS writes all dirty data to the device before it sets a length, even the same length.
        // Relaxed: reservations are finished before the final length is set.
        if len == before && !self.has_reserved.load(Ordering::Relaxed) {
            return Ok(());
        }
        uninterrupted(|| self.file.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        // No gain on XFS: it reserves by itself, and freeing waits for the device.
        if matches!(file_system(&self.file), Ok(FileSystem::Xfs)) {
            return Err(unsupported());
        }
        self.has_reserved.store(true, Ordering::Relaxed);
        match allocate::reserve(&self.file, offset, len) {
            // A union such as mergerfs moves a full file to another disk only when it is written to.
            Err(error)
                if error.kind() == io::ErrorKind::StorageFull && is_remote(&self.file) =>
            {
                Err(unsupported())
            }
            reserved => reserved,
        }
    }

    fn make_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        holes::make_hole(&self.file, offset, len)
    }

    fn clone_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<()> {
        let from = from.descriptor().ok_or_else(unsupported)?;
        if limits::within_file_size_limit(to_offset, len)? < len {
            return Err(too_large());
        }
        copy::clone_range(from, &self.file, Transfer { from_offset, to_offset, len })
    }

    fn copy_range(
        &self,
        from: &dyn FsFile,
        from_offset: u64,
        to_offset: u64,
        len: u64,
    ) -> io::Result<u64> {
        let from = from.descriptor().ok_or_else(unsupported)?;
        let len = limits::within_file_size_limit(to_offset, len)?;
        copy::copy_range(from, &self.file, Transfer { from_offset, to_offset, len })
    }

    fn copy_attributes(
        &self,
        folder: &dyn FsFolder,
        name: &OsStr,
        seen: &Facts,
    ) -> io::Result<bool> {
        let folder = folder.as_any().downcast_ref::<LocalFolder>().ok_or_else(unsupported)?;
        let Some(old) = folder.hold(name, seen, names::hold)? else { return Ok(false) };
        match attributes::copy_attributes(&old, &self.file) {
            // Without `/proc`, attributes are only accessible on a readable file.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BADF) => {}
            copied => return copied.map(|()| true),
        }
        let Some(old) = folder.hold(name, seen, names::open_to_read)? else { return Ok(false) };
        attributes::copy_attributes(&old, &self.file).map(|()| true)
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        attributes::set_mode(&self.file, mode)
    }

    fn access(&self) -> io::Result<Access> {
        Access::of(&self.file)
    }

    fn copy_attributes_of(&self, from: &dyn FsFile) -> io::Result<()> {
        let from = from.descriptor().ok_or_else(unsupported)?;
        attributes::copy_attributes(from, &self.file)
    }

    fn set_times(&self, times: FileTimes) -> io::Result<()> {
        let FileTimes { accessed, modified } = times;
        let times = std::fs::FileTimes::new().set_accessed(accessed).set_modified(modified);
        uninterrupted(|| self.file.set_times(times))?;
        if self.file.metadata()?.modified()? == modified {
            return Ok(());
        }
        Err(io::Error::other("this file system stores another time"))
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn flush(&self) -> io::Result<()> {
        swath_os::descriptors::flush(&self.file)
    }

    fn descriptor(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl LocalFile {
    fn new(file: File) -> Self {
        Self { file, has_reserved: AtomicBool::new(false) }
    }
}

impl LocalFs {
    /// Wraps a file that is open for reading: copies from it need not pass through this process.
    pub(crate) fn readable(file: File) -> Arc<dyn FsFile> {
        Arc::new(LocalFile::new(file))
    }
}

impl Fs for LocalFs {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        let absolute = match std::path::absolute(path) {
            // The current folder's path is too long for the C library.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                Path::new(".").join(path)
            }
            absolute => absolute?,
        };
        let links::Located { folder, name, path, is_by_stranger } = links::locate(&absolute)?;
        Ok(Located { folder: Arc::new(LocalFolder::new(folder, path, is_by_stranger)), name })
    }
}

#[cfg(test)]
mod tests;
