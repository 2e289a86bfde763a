//! One target, locked against other writers.
//!
//! ```text
//! out.bin                 the target: the old bytes, or nothing, until the commit
//! .out.bin.swath-lock     locked while out.bin is being written; meaningless if no lock is held
//! .out.bin.swath-tmp      the new bytes, for a moment or where files must have names
//! .out.bin.swath-tmp2     a spill file, for a moment
//! .out.bin.swath-tmp3     the copy made by a checkpoint, for a moment
//! ```
//!
//! The lock file is in the target's folder, so it works for all processes of one user that see
//! this folder. The lock belongs to its holder's open file and ends with it, even by a kill.
//! Only the holder creates the other names; so files that exist under them when the lock is taken
//! are strays of a killed run, and are removed: three look-ups, and no listing of the folder.
//!
//! **Names taken by another user.** A file that another user has put under one of these names is
//! never locked, written, followed or removed. Names with an unguessable number are used instead
//! (`.out.bin.swath-lock.0123456789abcdef`); a writer that uses them lists the folder, to find
//! other writers of the same user and strays of killed ones.
//!
//! **Other machines.** On FUSE and some servers, locks keep out only the programs of one machine. There the new
//! bytes have unguessable names too, so that two writers never write one file; the locked file contains these
//! names, so the next writer finds the strays of a killed one without a listing.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::umask::umask;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::{CLOSED, FOR_ALL, FileKind, Fs, FsFile, FsFolder, Located, Lock};
use crate::sink::names::{MANIFEST, Names, beside, is_of_a_folder};
use crate::sink::permissions::close_to;

/// The permissions of new files in a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModesHere {
    /// Those of a file that is created for all.
    pub(crate) usual: u32,
    /// Whether they can be changed later.
    pub(crate) can_change: bool,
    /// Whether a change shows: some mounts show the same permissions for all files (`umask=`).
    pub(crate) are_shown: bool,
}

/// A target under lock.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The path as the caller named it, for errors.
    pub(crate) path: PathBuf,
    /// The folder of the target.
    pub(crate) folder: Arc<dyn FsFolder>,
    /// The target's name in the folder.
    pub(crate) name: OsString,
    names: Names,
    /// Last, so that it is dropped last.
    lock: Option<Box<dyn Lock>>,
}

/// Opens the folder that `path` leads to.
///
/// # Errors
///
/// The errors of [`Fs::locate`]; `Changed` if links on the path are swapped.
pub(crate) fn locate(operation: Operation, path: &Path, fs: &dyn Fs) -> Result<Located> {
    fs.locate(path).map_err(|error| match error.kind() {
        ErrorKind::StaleNetworkFileHandle => Error::new(operation, Reason::Changed, path)
            .caused_by(error)
            .detail("a link on the way to it kept being replaced")
            .hint("pass the path of the file that the link leads to"),
        ErrorKind::PermissionDenied => Error::io(operation, path, error).hint(
            "check the permissions of the folders above it, and who owns the links on the way",
        ),
        _ => Error::io(operation, path, error),
    })
}

impl Claim {
    /// Locks the target and removes strays of killed runs from its folder.
    ///
    /// On a file system without locks, chooses names that no other writer uses: a second writer is
    /// then not detected, and the last commit wins.
    pub(crate) fn take(path: &Path, located: Located) -> Result<Self> {
        let Located { folder, name } = located;
        let names = Names::of(path, &name)?;
        let failed = |error| cannot_begin(path, error);
        let (names, lock) = match folder.lock(&names.lock(), None) {
            Ok(Some(lock)) => {
                let names = remove_strays(&*folder, names, lock.owner());
                let names = names.and_then(|names| without_others(&*folder, names, &*lock));
                (names.map_err(failed)?, Some(lock))
            }
            Ok(None) => return Err(busy(path)),
            Err(error) if is_taken(&error) => {
                let locked = lock_apart(&*folder, &names).map_err(failed)?;
                let (names, lock) = locked.ok_or_else(|| busy(path))?;
                (names, Some(lock))
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => (names.apart(), None),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path: path.to_owned(), folder, name, names, lock })
    }

    /// Claims the target without a lock, to write it in place in a folder without write permission.
    pub(crate) fn without_lock(path: &Path, located: Located) -> Result<Self> {
        let Located { folder, name } = located;
        let names = Names::of(path, &name)?.apart();
        Ok(Self { path: path.to_owned(), folder, name, names, lock: None })
    }

    /// Removes the strays of a killed writer of `path`, its lock last; creates no file if there are none. A lock
    /// that is held is another writer's. Strays that cannot be removed now are left to the next writer.
    pub(crate) fn sweep(path: &Path, fs: &dyn Fs) {
        let Ok(located) = fs.locate(path) else { return };
        let Ok(names) = Names::of(path, &located.name) else { return };
        let mut all = names.made().into_iter().chain([names.lock()]);
        if all.any(|name| matches!(located.folder.facts(&name), Ok(Some(_)))) {
            drop(Self::take(path, located));
        }
    }

    /// Returns the user ID that this process's files have here, if the target is locked.
    pub(crate) fn owner(&self) -> Option<u32> {
        self.lock.as_ref().map(|lock| lock.owner())
    }

    /// Whether the target is locked.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Returns the name of the new bytes until they have their own.
    pub(crate) fn hidden(&self) -> OsString {
        self.names.hidden()
    }

    /// Returns the name of a spill file until that is removed.
    pub(crate) fn scratch(&self) -> OsString {
        self.names.scratch()
    }

    /// Returns the name of a checkpoint's bytes until they have their own.
    pub(crate) fn copy(&self) -> OsString {
        self.names.copy()
    }

    /// Returns the name to use if `name` is taken: the same, if it was a stray of this user, otherwise
    /// an unguessable one.
    pub(crate) fn instead_of(&self, name: OsString) -> io::Result<OsString> {
        let is_free = match &self.lock {
            Some(lock) => remove_stray(&*self.folder, &name, lock.owner())?,
            None => false,
        };
        Ok(if is_free { name } else { beside(&name) })
    }

    /// Creates a file under `name`, or under the name to use instead; returns that name too.
    pub(crate) fn create(
        &self,
        name: OsString,
        mode: u32,
    ) -> io::Result<(Arc<dyn FsFile>, OsString)> {
        match self.folder.create_new(&name, mode) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let name = self.instead_of(name)?;
                self.folder.create_new(&name, mode).map(|file| (file, name))
            }
            made => made.map(|file| (file, name)),
        }
    }

    /// Creates a file for this user only, where permissions can be changed: some mounts give new files more.
    pub(crate) fn create_hidden(
        &self,
        name: OsString,
        can_change: bool,
    ) -> io::Result<(Arc<dyn FsFile>, OsString)> {
        if !can_change {
            return self.create(name, FOR_ALL);
        }
        let (file, name) = self.create(name, CLOSED)?;
        match close_to(&*file, CLOSED) {
            Ok(()) => Ok((file, name)),
            Err(error) => self.folder.remove(&name).and(Err(error)),
        }
    }

    /// Returns the permissions of a new file here, from an empty file that it creates. The umask, the folder's default
    /// access list and servers influence them.
    pub(crate) fn modes_here(&self) -> io::Result<ModesHere> {
        let (file, name) = self.create(self.scratch(), FOR_ALL)?;
        let shown = || file.facts().map(|facts| facts.mode & 0o777);
        let found = shown().map(|usual| {
            let can_change = file.set_mode(usual ^ 0o100).is_ok();
            let are_shown = !can_change || shown().is_ok_and(|mode| mode != usual);
            let given = || FOR_ALL & !umask().unwrap_or(0o077);
            ModesHere { usual: if are_shown { usual } else { given() }, can_change, are_shown }
        });
        self.folder.remove(&name)?;
        found
    }

    pub(crate) fn error(&self, operation: Operation, error: io::Error) -> Error {
        Error::io(operation, &self.path, error)
    }

    /// Returns the error for a change by another process to the target, or to its path.
    pub(crate) fn changed(&self, detail: &str) -> Error {
        Error::new(Operation::Commit, Reason::Changed, &self.path)
            .detail(detail)
            .hint("check what is at this path now, then write again")
    }

    /// Fails if a file named now would not be found under the caller's path.
    pub(crate) fn check_folder(&self) -> Result<()> {
        match self.folder.is_in_place() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.changed("its folder has been moved, removed or replaced")),
            Err(error) => Err(self.error(Operation::Inspect, error)),
        }
    }

    /// Returns the error for a call that gives the name and whose reply was lost.
    pub(crate) fn answer_lost(&self, error: io::Error) -> Error {
        self.outcome_unknown(error)
            .detail("the connection was lost while it got its name")
            .hint("look at what has this name now; if it is what was there before, write again")
    }

    /// Returns the error for a failure after the name was given, or may have been.
    pub(crate) fn outcome_unknown(&self, error: io::Error) -> Error {
        Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.path)
            .caused_by(error)
            .detail("the name leads to the new bytes, but a power cut might undo that")
            .hint("check the device, then read the file back or write it again")
    }
}

/// Whether a lock could not be created because its name is taken. A server may report that this is not permitted.
fn is_taken(error: &io::Error) -> bool {
    let refused = Errno::PERM.raw_os_error();
    error.kind() == ErrorKind::AlreadyExists || error.raw_os_error() == Some(refused)
}

/// Returns the error of preparing to write a target.
fn cannot_begin(path: &Path, error: io::Error) -> Error {
    Error::io(Operation::Create, path, error)
}

pub(crate) fn busy(path: &Path) -> Error {
    Error::new(Operation::Lock, Reason::Busy, path)
        .detail("another process or thread is writing it")
        .hint("wait until it is done, or write to another name")
}

/// Locks an unguessable name, because the usual one is another user's; `None` if another writer
/// of this user has locked one.
///
/// Every writer locks first and then checks, so if two begin at one time, at least one notices the
/// other.
fn lock_apart(
    folder: &dyn FsFolder,
    names: &Names,
) -> io::Result<Option<(Names, Box<dyn Lock>)>> {
    let apart = names.apart();
    let Some(lock) = folder.lock(&apart.lock(), None)? else { return Ok(None) };
    for name in listed(folder)? {
        let is_lock = name == names.lock() || names.is_lock_apart(&name);
        if !is_lock || name == apart.lock() {
            continue;
        }
        match folder.lock(&name, Some(lock.owner())) {
            // A lock without a holder; dropping it removes it.
            Ok(Some(stray)) => drop(stray),
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    remove_strays_apart(folder, names, lock.owner())?;
    Ok(Some((apart, lock)))
}

/// Returns names that a writer on another machine does not use either, in case the lock does not keep it out.
/// Removes files of the last holder under such names; if that one is still writing, its commit fails.
fn without_others(folder: &dyn FsFolder, names: Names, lock: &dyn Lock) -> io::Result<Names> {
    let apart = names.apart();
    let Some(left) = lock.exchange(apart.suffix(), apart.made().to_vec())? else {
        return Ok(names);
    };
    for name in names.ending_in(&left).iter().flat_map(Names::made) {
        remove_stray(folder, &name, lock.owner())?;
    }
    Ok(apart)
}

/// Removes strays of killed runs of `user` under these names, and returns names that are free.
fn remove_strays(folder: &dyn FsFolder, names: Names, user: u32) -> io::Result<Names> {
    let mut are_free = true;
    for name in names.made() {
        are_free &= remove_stray(folder, &name, user)?;
    }
    if are_free {
        return Ok(names);
    }
    remove_strays_apart(folder, &names, user)?;
    Ok(names.apart())
}

fn remove_strays_apart(folder: &dyn FsFolder, names: &Names, user: u32) -> io::Result<()> {
    for name in listed(folder)?.iter().filter(|name| names.is_made_apart(name)) {
        remove_stray(folder, name, user)?;
    }
    Ok(())
}

/// Returns the names in a folder; none for a drop box, which this user may write to but not list.
fn listed(folder: &dyn FsFolder) -> io::Result<Vec<OsString>> {
    match folder.list() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(Vec::new()),
        listed => listed,
    }
}

/// Removes a stray; returns whether the name is free. Does not touch the file of another user, or
/// one that no writer creates.
fn remove_stray(folder: &dyn FsFolder, name: &OsStr, user: u32) -> io::Result<bool> {
    let Some(facts) = folder.facts(name)? else { return Ok(true) };
    match facts.kind {
        _ if facts.owner != user => Ok(false),
        FileKind::Special => Ok(false),
        FileKind::Folder => remove_stray_folder(folder, name, user),
        FileKind::File => match folder.remove(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            removed => removed.map(|()| true),
        },
    }
}

/// As [`remove_stray`], for a folder of segments; one with anything else in it is kept.
///
/// In a folder in which other users can move files, a folder with a manifest may be a committed
/// output that was moved here, and is kept too.
fn remove_stray_folder(folder: &dyn FsFolder, name: &OsStr, user: u32) -> io::Result<bool> {
    let stray = match folder.open_folder(name) {
        // It is no longer a folder.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) =>
        {
            return Ok(false);
        }
        opened => opened?,
    };
    // If it was renamed, another writer of this user may still be writing to it.
    if stray.own_facts()?.owner != user || !stray.hold() {
        return Ok(false);
    }
    let names = stray.list()?;
    // A folder of this user that was moved to this name.
    if !names.iter().all(|name| is_of_a_folder(name)) {
        return Ok(false);
    }
    let may_be_committed = names.iter().any(|name| name == MANIFEST);
    if may_be_committed && !folder.own_facts()?.keeps_names_of(user) {
        return Ok(false);
    }
    remove_contents(&*stray)?;
    folder.remove_folder(name).map(|()| true)
}

/// Removes the files of a folder of segments, as far as possible: NFS refuses to remove files kept for a reader.
pub(crate) fn remove_contents(folder: &dyn FsFolder) -> io::Result<()> {
    let names = folder.list()?;
    let removed =
        names.iter().filter(|name| is_of_a_folder(name)).map(|name| folder.remove(name));
    removed.fold(Ok(()), io::Result::and)
}
