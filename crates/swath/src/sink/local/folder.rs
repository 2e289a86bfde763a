//! Names in an open folder of this machine.

use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use rustix::fs::{OFlags, fstat};
use swath_os::access::Access;
use swath_os::file_system::is_remote;
use swath_os::{links, nameless, names};

use super::lock::LocalLock;
use super::{LocalFile, facts_of, uninterrupted, unsupported};
use crate::sink::existing::explained;
use crate::sink::fs::{Facts, FileKind, FsFile, FsFolder, Lock};

/// Permissions before the umask is applied.
const CLOSED_FOLDER: u32 = 0o700;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct LocalFolder {
    file: Arc<File>,
    /// The path through which it was opened.
    path: PathBuf,
    is_by_stranger: bool,
}

impl LocalFolder {
    pub(super) fn new(file: File, path: PathBuf, is_by_stranger: bool) -> Self {
        Self { file: Arc::new(file), path, is_by_stranger }
    }

    /// Opens the file `name`, if it is the file of `seen`.
    pub(super) fn hold(
        &self,
        name: &OsStr,
        seen: &Facts,
        open: fn(&File, &OsStr) -> io::Result<File>,
    ) -> io::Result<Option<File>> {
        let held = match open(&self.file, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            held => held?,
        };
        Ok(facts_of(&fstat(&held)?).are_of_one_file(seen).then_some(held))
    }
}

/// Returns `file`, or an error unless it is a regular file.
fn regular(file: File) -> io::Result<File> {
    match facts_of(&fstat(&file)?).kind {
        FileKind::File => Ok(file),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

fn made(file: io::Result<File>) -> io::Result<Arc<dyn FsFile>> {
    Ok(Arc::new(LocalFile::new(file?)))
}

impl FsFolder for LocalFolder {
    fn own_facts(&self) -> io::Result<Facts> {
        Ok(facts_of(&fstat(&*self.file)?))
    }

    fn access(&self) -> io::Result<Access> {
        Access::of(&self.file)
    }

    fn created(&self) -> Option<u64> {
        let since =
            self.file.metadata().ok()?.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    }

    fn is_remote(&self) -> bool {
        is_remote(&self.file)
    }

    fn is_by_stranger(&self) -> bool {
        self.is_by_stranger
    }

    fn is_in_place(&self) -> io::Result<bool> {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        let held = fstat(&*self.file)?;
        let there = match uninterrupted(|| fs::metadata(&self.path)) {
            // The path is longer than the kernel takes in one call.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                let folder = links::open_long(&self.path, OFlags::PATH);
                folder.map_err(io::Error::from).and_then(|it| File::from(it).metadata())
            }
            there => there,
        };
        match there {
            Ok(there) => Ok((there.dev(), there.ino()) == facts_of(&held).identity),
            Err(error)
                if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        Ok(names::look(&self.file, name)?.as_ref().map(facts_of))
    }

    fn may_write(&self, name: &OsStr) -> io::Result<()> {
        names::may_write(&self.file, name)
    }

    fn why_not_replaced(&self, name: &OsStr) -> Option<io::Error> {
        names::why_not_replaced(&self.file, name).map(Into::into)
    }

    fn lock(&self, name: &OsStr, user: Option<u32>) -> io::Result<Option<Box<dyn Lock>>> {
        let lock = LocalLock::take(&self.file, name, user)?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn Lock>))
    }

    fn hold(&self) -> bool {
        !matches!(self.file.try_lock(), Err(TryLockError::WouldBlock))
    }

    fn release(&self) {
        let _ = self.file.unlock();
    }

    fn create_nameless(&self) -> io::Result<Arc<dyn FsFile>> {
        made(nameless::create_nameless(&self.file))
    }

    fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<Arc<dyn FsFile>> {
        made(names::create_file(&self.file, name, mode))
    }

    fn open(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        made(names::open_to_read(&self.file, name).and_then(regular))
    }

    fn open_to_write(&self, name: &OsStr) -> io::Result<Arc<dyn FsFile>> {
        made(names::open_to_write_only(&self.file, name).and_then(regular))
    }

    fn link(&self, file: &dyn FsFile, name: &OsStr) -> io::Result<()> {
        nameless::link_file(file.descriptor().ok_or_else(unsupported)?, &self.file, name)
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        names::rename_over(&self.file, from, to)
    }

    fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        names::rename_new(&self.file, from, to)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        names::remove(&self.file, name)
    }

    fn create_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        names::create_folder(&self.file, name, CLOSED_FOLDER)?;
        self.open_folder(name).map_err(|error| {
            // Only if it is still empty: one with files is another process's.
            let _ = names::remove_folder(&self.file, name);
            match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    let what = "a new folder belongs to another user, as with sshfs without `-o idmap=user`";
                    explained(&error, what)
                }
                _ => error,
            }
        })
    }

    fn open_folder(&self, name: &OsStr) -> io::Result<Arc<dyn FsFolder>> {
        let folder = names::open_folder(&self.file, name)?;
        Ok(Arc::new(Self::new(folder, self.path.join(name), self.is_by_stranger)))
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        names::remove_folder(&self.file, name)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        names::list(&self.file)
    }

    fn set_mode(&self, mode: u32) -> io::Result<()> {
        // Inherited from the parent folder: new files get its group.
        const SET_GROUP: u32 = 0o2000;
        let kept = self.own_facts()?.mode & SET_GROUP;
        self.file.set_permissions(Permissions::from_mode(mode | kept))
    }

    fn sync(&self) -> io::Result<()> {
        names::sync_folder(&self.file)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
