//! A file system that lacks what others have, for tests: the kernel's own, asked for less.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sink::fs::{Facts, Fs, FsFile, Lock};
use crate::sink::local::LocalFs;

/// What is missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LesserFs {
    pub(crate) no_nameless: bool,
    pub(crate) no_locks: bool,
    pub(crate) no_rename_new: bool,
    pub(crate) no_links: bool,
}

impl LesserFs {
    /// Files must have names: NFS, most of FUSE.
    pub(crate) const NAMED: Self =
        Self { no_nameless: true, no_locks: false, no_rename_new: false, no_links: false };
}

fn only_if<T>(is_there: bool, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if is_there { call() } else { Err(io::ErrorKind::Unsupported.into()) }
}

impl Fs for LesserFs {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        LocalFs.resolve(path)
    }

    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        LocalFs.facts(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        only_if(!self.no_locks, || LocalFs.lock(path))
    }

    fn create_nameless(&self, folder: &Path) -> io::Result<Arc<dyn FsFile>> {
        only_if(!self.no_nameless, || LocalFs.create_nameless(folder))
    }

    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        LocalFs.create_new(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        LocalFs.open(path)
    }

    fn link(&self, file: &dyn FsFile, path: &Path) -> io::Result<()> {
        only_if(!self.no_links, || LocalFs.link(file, path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        LocalFs.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        only_if(!self.no_rename_new, || LocalFs.rename_new(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        LocalFs.remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        LocalFs.create_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        LocalFs.remove_folder(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        LocalFs.list(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        LocalFs.sync_folder(folder)
    }
}
