//! The kernel's file system, at leisure: calls that give names take longer, so that a kill falls
//! between them more often; and files must have names, if that is asked.

use std::any::Any;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use swath::sink::{Facts, Fs, FsFile, LocalFs, Lock};

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowFs {
    pub(crate) nameless: bool,
}

#[derive(Debug)]
struct SlowFile(Arc<dyn FsFile>);

fn linger() {
    sleep(Duration::from_micros(300));
}

fn inner(file: &dyn FsFile) -> &dyn FsFile {
    file.as_any().downcast_ref::<SlowFile>().map_or(file, |slow| &*slow.0)
}

fn slow(file: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
    Arc::new(SlowFile(file))
}

/// Calls, and lets some time pass before and behind.
fn slowly<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    linger();
    let done = call();
    linger();
    done
}

impl FsFile for SlowFile {
    /// In two halves.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(&bytes[..bytes.len().div_ceil(2)], offset)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }

    fn facts(&self) -> io::Result<Facts> {
        self.0.facts()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.0.allocate(offset, len)
    }

    fn clone_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<()> {
        self.0.clone_range(inner(from), at, to, len)
    }

    fn copy_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<u64> {
        self.0.copy_range(inner(from), at, to, len)
    }

    fn copy_attributes(&self, other: &Path) -> io::Result<()> {
        self.0.copy_attributes(other)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn descriptor(&self) -> Option<&File> {
        self.0.descriptor()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Fs for SlowFs {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        LocalFs.resolve(path)
    }

    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        LocalFs.facts(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        slowly(|| LocalFs.lock(path))
    }

    fn create_nameless(&self, folder: &Path) -> io::Result<Arc<dyn FsFile>> {
        if self.nameless {
            LocalFs.create_nameless(folder).map(slow)
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        slowly(|| LocalFs.create_new(path).map(slow))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        LocalFs.open(path).map(slow)
    }

    fn link(&self, file: &dyn FsFile, path: &Path) -> io::Result<()> {
        slowly(|| LocalFs.link(inner(file), path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        slowly(|| LocalFs.rename(from, to))
    }

    /// Only in the long way: two names for a moment.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.nameless {
            slowly(|| LocalFs.rename_new(from, to))
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        slowly(|| LocalFs.remove(path))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        slowly(|| LocalFs.create_folder(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        slowly(|| LocalFs.remove_folder(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        LocalFs.list(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        LocalFs.sync_folder(folder)
    }
}
