//! The kernel's file systems behind the trait that all writing goes through.

use std::any::Any;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;
use swath_os::copy::{self, Transfer};
use swath_os::file_system::{FileSystem, file_system};
use swath_os::{allocate, attributes, limits, nameless, names};

use crate::sink::fs::{Facts, Fs, FsFile, Kind, Lock};

/// As many as the kernel itself follows.
const MOST_LINKS: usize = 40;
/// How often a lock file may vanish under our hands; each time somebody else has got further.
const LOCK_ATTEMPTS: usize = 1000;

/// The file systems of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFs;

#[derive(Debug)]
struct LocalFile {
    file: File,
    writable: bool,
    /// Space was reserved, perhaps behind the end: setting the length gives it back.
    has_reserved: AtomicBool,
}

/// A lock file; it is removed while it is still locked, so whoever opened it meanwhile sees that
/// it has no name any more.
#[derive(Debug)]
struct LocalLock {
    file: File,
    path: PathBuf,
}

impl Lock for LocalLock {}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // A lock file that stays locks nobody out: it is opened and locked again.
        if names_this(&self.path, &self.file).unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
        // Before it is closed: a child that was forked a moment ago may hold the descriptor.
        let _ = self.file.unlock();
    }
}

/// Calls again for as long as a signal interrupts.
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

fn facts_of(metadata: &Metadata, writable: bool) -> Facts {
    let kind = if metadata.is_file() {
        Kind::File
    } else if metadata.is_dir() {
        Kind::Folder
    } else {
        Kind::Special
    };
    let identity = (metadata.dev(), metadata.ino());
    let modified = Some((metadata.mtime(), metadata.mtime_nsec()));
    let (len, links) = (metadata.len(), metadata.nlink());
    Facts { kind, len, links, identity, writable, modified }
}

/// Returns whether `path` is still a name of `file`.
fn names_this(path: &Path, file: &File) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl FsFile for LocalFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        // At the limit of file sizes the kernel would raise a signal that ends the process.
        let allowed = limits::within_file_size_limit(offset, bytes.len() as u64)?;
        // No more than `bytes.len()`, so it fits.
        let allowed = usize::try_from(allowed).unwrap_or(bytes.len());
        uninterrupted(|| self.file.write_at(&bytes[..allowed], offset))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        uninterrupted(|| self.file.read_at(into, offset))
    }

    fn facts(&self) -> io::Result<Facts> {
        Ok(facts_of(&self.file.metadata()?, self.writable))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        if limits::file_size_limit().is_some_and(|limit| len > limit) && len > before {
            return Err(too_large());
        }
        // XFS writes all that is dirty to the device before it sets a length, even the same one.
        // Relaxed: whoever reserved is done with it before the length is set for good.
        if len == before && !self.has_reserved.load(Ordering::Relaxed) {
            return Ok(());
        }
        uninterrupted(|| self.file.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        // There it gains nothing: it reserves by itself, and giving back waits for the device.
        if matches!(file_system(&self.file), Ok(FileSystem::Xfs)) {
            return Err(unsupported());
        }
        self.has_reserved.store(true, Ordering::Relaxed);
        allocate::reserve(&self.file, offset, len)
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

    fn copy_attributes(&self, other: &Path) -> io::Result<()> {
        attributes::copy_attributes(other, &self.file)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn descriptor(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl LocalFs {
    /// A file that is open already, to be read: what is copied from it need not pass through
    /// this process.
    pub(crate) fn readable(file: File) -> Arc<dyn FsFile> {
        Arc::new(LocalFile { file, writable: false, has_reserved: AtomicBool::new(false) })
    }

    fn wrap(file: File) -> Arc<dyn FsFile> {
        Arc::new(LocalFile { file, writable: true, has_reserved: AtomicBool::new(false) })
    }
}

/// Follows the links at the end of an absolute path.
fn follow(path: PathBuf) -> io::Result<PathBuf> {
    let mut at = path.clone();
    for _ in 0..=MOST_LINKS {
        let is_link = match fs::symlink_metadata(&at) {
            Ok(metadata) => metadata.is_symlink(),
            // A link that leads nowhere, and yet can be followed: one of the kernel's own, to a
            // pipe or a file without a name. The link itself is what stands there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(if fs::metadata(&path).is_ok() { path } else { at });
            }
            Err(error) => return Err(error),
        };
        if !is_link {
            return Ok(at);
        }
        let target = fs::read_link(&at)?;
        at = at.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    Err(Errno::LOOP.into())
}

/// Opens a lock file, made if need be.
fn open_lock(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let existing =
        |write| OpenOptions::new().read(true).write(write).custom_flags(flags).open(path);
    // Some file systems lock only what may be written; another user's may only be read.
    let opened = match existing(true) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => existing(false),
        opened => opened,
    };
    match opened {
        // Not with `create` alone: in shared folders the kernel refuses that for files of others.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        }
        opened => opened,
    }
}

impl Fs for LocalFs {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        follow(std::path::absolute(path)?)
    }

    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        let metadata = match uninterrupted(|| fs::symlink_metadata(path)) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let writable = match names::is_writable(path) {
            // A link that leads nowhere, or a file that has gone since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            asked => asked?,
        };
        Ok(Some(facts_of(&metadata, writable)))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        for _ in 0..LOCK_ATTEMPTS {
            let file = match open_lock(path) {
                Ok(file) => file,
                // Made, or removed, by another writer between two of our calls.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR) => continue,
                    Some(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {
                        return Err(unsupported());
                    }
                    _ => return Err(error),
                },
            }
            if names_this(path, &file)? {
                return Ok(Some(Box::new(LocalLock { file, path: path.to_owned() })));
            }
        }
        Ok(None)
    }

    fn create_nameless(&self, folder: &Path) -> io::Result<Arc<dyn FsFile>> {
        Ok(Self::wrap(nameless::create_nameless(folder)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Self::wrap(file))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            let what = "not an ordinary file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Arc::new(LocalFile { file, writable: false, has_reserved: AtomicBool::new(false) }))
    }

    fn link(&self, file: &dyn FsFile, path: &Path) -> io::Result<()> {
        nameless::link_file(file.descriptor().ok_or_else(unsupported)?, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        names::rename_over(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        names::rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        uninterrupted(|| fs::remove_file(path))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        uninterrupted(|| fs::create_dir(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        uninterrupted(|| fs::remove_dir(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        names::sync_folder(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn links_are_followed_to_a_name_that_may_not_exist_yet() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        symlink("b", path("a")).expect("linked");
        symlink(path("c"), path("b")).expect("linked");
        assert_eq!(LocalFs.resolve(&path("a")).expect("followed"), path("c"));
        fs::write(path("c"), b"").expect("written");
        assert_eq!(LocalFs.resolve(&path("a")).expect("followed"), path("c"));
        symlink("loop", path("loop")).expect("linked");
        let error = LocalFs.resolve(&path("loop")).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
    }

    #[test]
    fn a_link_of_the_kernel_to_a_pipe_is_special() {
        let (read, _write) = io::pipe().expect("a pipe");
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&read));
        let resolved = LocalFs.resolve(Path::new(&path)).expect("resolved");
        let facts = LocalFs.facts(&resolved).expect("known").expect("there");
        assert_eq!(facts.kind, Kind::Special);
    }

    #[test]
    fn the_second_holder_is_told_and_the_file_goes_with_the_first() {
        let folder = folder();
        let path = folder.path().join("lock");
        let first = LocalFs.lock(&path).expect("asked").expect("free");
        assert!(LocalFs.lock(&path).expect("asked").is_none());
        let other = std::thread::scope(|scope| {
            scope.spawn(|| LocalFs.lock(&path).expect("asked").is_none()).join()
        });
        assert!(other.expect("no panic"));
        drop(first);
        assert!(!path.exists());
        assert!(LocalFs.lock(&path).expect("asked").is_some());
    }

    #[test]
    fn a_lock_file_without_a_holder_locks_nobody_out() {
        let folder = folder();
        let path = folder.path().join("lock");
        fs::write(&path, b"").expect("left by a killed run");
        drop(LocalFs.lock(&path).expect("asked").expect("free"));
        assert!(!path.exists());
    }

    #[test]
    fn only_one_of_many_threads_holds_a_lock_at_a_time() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = folder();
        let path = folder.path().join("lock");
        let (inside, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Some(lock) = LocalFs.lock(&path).expect("asked") else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        held.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(held.into_inner() > 0);
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_that_is_a_link_is_refused() {
        let folder = folder();
        let path = folder.path().join("lock");
        symlink("elsewhere", &path).expect("linked");
        assert!(LocalFs.lock(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }

    #[test]
    fn what_is_opened_is_an_ordinary_file() {
        let folder = folder();
        assert!(LocalFs.open(folder.path()).is_err());
        assert!(LocalFs.open(Path::new("/dev/null")).is_err());
        let path = folder.path().join("file");
        fs::write(&path, b"bytes").expect("written");
        let file = LocalFs.open(&path).expect("ordinary");
        assert!(!file.facts().expect("known").writable);
        let mut bytes = [0; 8];
        assert_eq!(file.read_at(&mut bytes, 1).expect("read"), 4);
    }
}
