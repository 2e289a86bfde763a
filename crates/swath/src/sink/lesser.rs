//! A file system that lacks what others have, for tests: the kernel's own, asked for less.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::sink::fs::{Facts, Fs, FsFile, FsFolder, Located, Lock};
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

#[derive(Debug)]
struct LesserFolder(Arc<dyn FsFolder>, LesserFs);

fn only_if<T>(is_there: bool, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if is_there { call() } else { Err(io::ErrorKind::Unsupported.into()) }
}

impl Fs for LesserFs {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        let Located { folder, name } = LocalFs.locate(path)?;
        Ok(Located { folder: Arc::new(LesserFolder(folder, *self)), name })
    }
}

impl FsFolder for LesserFolder {
    fn own_facts(&self) -> io::Result<Facts> {
        self.0.own_facts()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.0.is_in_place()
    }

    fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        self.0.facts(name)
    }

    fn may_write(&self, name: &OsStr) -> io::Result<()> {
        self.0.may_write(name)
    }

    fn lock(&self, name: &OsStr, user: Option<u32>) -> io::Result<Option<Box<dyn Lock>>> {
        only_if(!self.1.no_locks, || self.0.lock(name, user))
    }

    fn create_nameless(&self) -> io::Result<Arc<dyn FsFile>> {
        only_if(!self.1.no_nameless, || self.0.create_nameless())
    }

    fn create_new(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.0.create_new(name)
    }

    fn create_closed(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.0.create_closed(name)
    }

    fn open(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.0.open(name)
    }

    fn link(&self, file: &dyn FsFile, name: &OsStr) -> io::Result<()> {
        only_if(!self.1.no_links, || self.0.link(file, name))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        only_if(!self.1.no_rename_new, || self.0.rename_new(from, to))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.0.remove(name)
    }

    fn create_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        Ok(Arc::new(Self(self.0.create_folder(name)?, self.1)))
    }

    fn open_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        Ok(Arc::new(Self(self.0.open_folder(name)?, self.1)))
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.0.remove_folder(name)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.0.list()
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.0.set_mode(mode)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    /// The kernel's own: it is asked for what is not less.
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}
