//! The kernel's file system, with a hook around each of its calls.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use swath::sink::{Facts, FileTimes, Fs, FsFile, FsFolder, LocalFs, Located, Lock};
use swath_os::access::Access;

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Locate,
    Look,
    Lock,
    CreateNameless,
    Create,
    Open,
    Link,
    Rename,
    RenameNew,
    Remove,
    CreateFolder,
    RemoveFolder,
    List,
    FolderMode,
    SyncFolder,
    Read,
    Write,
    SetLen,
    Allocate,
    Clone,
    Copy,
    Attributes,
    FileMode,
    Times,
    Hole,
    Sync,
    Flush,
}

/// The events around calls.
pub(crate) trait Hook: Send + Sync + Debug {
    /// Runs before each call; an error is returned by the call, which is then not made.
    ///
    /// # Errors
    ///
    /// Any error that the call is to return.
    fn before(&self, call: Call) -> io::Result<()>;

    /// Runs after each call, however it ended.
    fn after(&self, _call: Call) {}

    /// Returns the contents of the locked file, where a lock keeps out the programs of one machine only.
    fn far_lock(&self) -> Option<&Arc<Mutex<String>>> {
        None
    }

    /// Whether files expose their descriptors.
    fn shows_descriptors(&self) -> bool {
        true
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Hooked(pub(crate) Arc<dyn Hook>);

#[derive(Debug)]
struct HookedFolder(Arc<dyn FsFolder>, Hooked);

/// A lock that keeps out nothing on other machines.
#[derive(Debug)]
struct FarLock(u32, Arc<Mutex<String>>);

impl Lock for FarLock {
    fn owner(&self) -> u32 {
        self.0
    }

    fn exchange(&self, suffix: &str, _made: Vec<OsString>) -> io::Result<Option<String>> {
        let mut left = self.1.lock().expect("no panic");
        Ok(Some(std::mem::replace(&mut *left, suffix.to_owned())))
    }
}

#[derive(Debug)]
struct HookedFile(Arc<dyn FsFile>, Hooked);

/// The file itself. Sources of a copy have no hooks.
fn inner(file: &dyn FsFile) -> &dyn FsFile {
    file.as_any().downcast_ref::<HookedFile>().map_or(file, |file| &*file.0)
}

impl Hooked {
    fn call<T>(&self, call: Call, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.0.before(call)?;
        let done = act();
        self.0.after(call);
        done
    }

    fn file(
        &self,
        call: Call,
        act: impl FnOnce() -> io::Result<Arc<dyn FsFile>>,
    ) -> io::Result<Arc<dyn FsFile>> {
        Ok(Arc::new(HookedFile(self.call(call, act)?, self.clone())))
    }

    fn folder(
        &self,
        call: Call,
        act: impl FnOnce() -> io::Result<Arc<dyn FsFolder>>,
    ) -> io::Result<Arc<dyn FsFolder>> {
        Ok(Arc::new(HookedFolder(self.call(call, act)?, self.clone())))
    }
}

impl Fs for Hooked {
    fn locate(&self, path: &Path) -> io::Result<Located> {
        let Located { folder, name } = self.call(Call::Locate, || LocalFs.locate(path))?;
        Ok(Located { folder: Arc::new(HookedFolder(folder, self.clone())), name })
    }
}

impl FsFolder for HookedFolder {
    fn own_facts(&self) -> io::Result<Facts> {
        self.1.call(Call::Look, || self.0.own_facts())
    }

    fn access(&self) -> io::Result<Access> {
        self.0.access()
    }

    fn is_in_place(&self) -> io::Result<bool> {
        self.1.call(Call::Look, || self.0.is_in_place())
    }

    fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        self.1.call(Call::Look, || self.0.facts(name))
    }

    fn may_write(&self, name: &OsStr) -> io::Result<()> {
        self.1.call(Call::Look, || self.0.may_write(name))
    }

    fn hold(&self) -> bool {
        self.0.hold()
    }

    fn release(&self) {
        self.0.release();
    }

    fn lock(&self, name: &OsStr, user: Option<u32>) -> io::Result<Option<Box<dyn Lock>>> {
        let Some(file) = self.1.0.far_lock() else {
            return self.1.call(Call::Lock, || self.0.lock(name, user));
        };
        let owner = self.0.own_facts()?.owner;
        Ok(Some(Box::new(FarLock(owner, Arc::clone(file)))))
    }

    fn create_nameless(&self) -> io::Result<Arc<dyn FsFile>> {
        self.1.file(Call::CreateNameless, || self.0.create_nameless())
    }

    fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<Arc<dyn FsFile>> {
        self.1.file(Call::Create, || self.0.create_new(name, mode))
    }

    fn open(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.1.file(Call::Open, || self.0.open(name))
    }

    fn open_to_write(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        self.1.file(Call::Open, || self.0.open_to_write(name))
    }

    fn link(&self, file: &dyn FsFile, name: &OsStr) -> io::Result<()> {
        self.1.call(Call::Link, || self.0.link(inner(file), name))
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.1.call(Call::Rename, || self.0.rename(from, to))
    }

    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.1.call(Call::RenameNew, || self.0.rename_new(from, to))
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.1.call(Call::Remove, || self.0.remove(name))
    }

    fn create_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        self.1.folder(Call::CreateFolder, || self.0.create_folder(name))
    }

    fn open_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        self.1.folder(Call::Open, || self.0.open_folder(name))
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.1.call(Call::RemoveFolder, || self.0.remove_folder(name))
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        self.1.call(Call::List, || self.0.list())
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.1.call(Call::FolderMode, || self.0.set_mode(mode))
    }

    fn sync(&self) -> io::Result<()> {
        self.1.call(Call::SyncFolder, || self.0.sync())
    }

    /// The kernel's own.
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

impl FsFile for HookedFile {
    /// Writes half of it, to test that short writes are continued.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let half = &bytes[..bytes.len().div_ceil(2)];
        self.1.call(Call::Write, || self.0.write_at(half, offset))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.1.call(Call::Read, || self.0.read_at(into, offset))
    }

    fn facts(&self) -> io::Result<Facts> {
        self.1.call(Call::Read, || self.0.facts())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.call(Call::SetLen, || self.0.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.1.call(Call::Allocate, || self.0.allocate(offset, len))
    }

    fn make_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        self.1.call(Call::Hole, || self.0.make_hole(offset, len))
    }

    fn clone_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<()> {
        self.1.call(Call::Clone, || self.0.clone_range(inner(from), at, to, len))
    }

    fn copy_range(&self, from: &dyn FsFile, at: u64, to: u64, len: u64) -> io::Result<u64> {
        self.1.call(Call::Copy, || self.0.copy_range(inner(from), at, to, len))
    }

    fn copy_attributes(
        &self,
        folder: &dyn FsFolder,
        name: &OsStr,
        seen: &Facts,
    ) -> io::Result<bool> {
        self.1.call(Call::Attributes, || self.0.copy_attributes(folder, name, seen))
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.1.call(Call::FileMode, || self.0.set_mode(mode))
    }

    fn access(&self) -> io::Result<Access> {
        self.0.access()
    }

    fn copy_attributes_of(&self, from: &dyn FsFile) -> io::Result<()> {
        self.1.call(Call::Attributes, || self.0.copy_attributes_of(inner(from)))
    }

    fn set_times(&self, times: FileTimes) -> io::Result<()> {
        self.1.call(Call::Times, || self.0.set_times(times))
    }

    fn sync(&self) -> io::Result<()> {
        self.1.call(Call::Sync, || self.0.sync())
    }

    fn flush(&self) -> io::Result<()> {
        self.1.call(Call::Flush, || self.0.flush())
    }

    fn descriptor(&self) -> Option<&File> {
        self.0.descriptor().filter(|_| self.1.0.shows_descriptors())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
