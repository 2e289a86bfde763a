//! One target that nobody else writes meanwhile.
//!
//! ```text
//! out.bin                 the target: the old bytes, or nothing, until the commit
//! .out.bin.swath-lock     locked while somebody writes out.bin; without a lock on it, worthless
//! .out.bin.swath-tmp      the new bytes, for a moment or where files must have names
//! .out.bin.swath-tmp2     a spill file, for a moment
//! .out.bin.swath-tmp3     the copy that a checkpoint leaves, for a moment
//! ```
//!
//! The lock is beside the target, so it holds for all processes of one user that see this folder.
//! It belongs to its holder's open file and ends with it, also by a kill. Since only the holder
//! makes the other names, what is ours under them when the lock is taken was left by a run that
//! was killed, and is removed: three look-ups, and no listing of the folder.
//!
//! **Names that a neighbour has taken.** What another user has put under one of these names is
//! never locked, written, followed or removed. Names with a number that nobody can guess take
//! their place (`.out.bin.swath-lock.0123456789abcdef`); who uses them lists the folder, for other
//! writers of the same user and for what killed ones have left.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::error::{Common, Error, Operation, Reason, Result};
use crate::sink::fs::{FileKind, Fs, FsFolder, Located, Lock};
use crate::sink::names::{MANIFEST, Names, beside, is_of_a_folder};

/// A target under lock.
#[derive(Debug)]
pub(crate) struct Claim {
    /// As the caller named it, for errors.
    pub(crate) path: PathBuf,
    /// The folder that it is in.
    pub(crate) folder: Arc<dyn FsFolder>,
    /// Its name there.
    pub(crate) name: OsString,
    names: Names,
    /// Last, so that it is dropped last.
    lock: Option<Box<dyn Lock>>,
}

/// Opens the folder that `path` leads to.
///
/// # Errors
///
/// Those of [`Fs::locate`]; `Changed` if somebody swaps what is on the way.
pub(crate) fn locate(operation: Operation, path: &Path, fs: &dyn Fs) -> Result<Located> {
    fs.locate(path).map_err(|error| match error.kind() {
        ErrorKind::StaleNetworkFileHandle => Error::new(operation, Reason::Changed, path)
            .caused_by(error)
            .detail("a link on the way to it was replaced again and again")
            .hint("name the file that the link leads to"),
        ErrorKind::PermissionDenied => Error::io(operation, path, error).hint(
            "check the permissions of the folders above it, and whose the links on the way are",
        ),
        _ => Error::io(operation, path, error),
    })
}

impl Claim {
    /// Locks the target and removes what killed runs left beside it.
    ///
    /// Where a file system has no locks, names that nobody else uses are chosen instead: a second
    /// writer is then not told, and the last commit stands.
    pub(crate) fn take(path: &Path, located: Located) -> Result<Self> {
        let Located { folder, name } = located;
        let names = Names::of(path, &name)?;
        let failed = |error| cannot_begin(path, error);
        let (names, lock) = match folder.lock(&names.lock(), None) {
            Ok(Some(lock)) => {
                let names = remove_strays(&*folder, names, lock.owner()).map_err(failed)?;
                (names, Some(lock))
            }
            Ok(None) => return Err(busy(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let locked = lock_apart(&*folder, &names).map_err(failed)?;
                let (names, lock) = locked.ok_or_else(|| busy(path))?;
                (names, Some(lock))
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => (names.apart(), None),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path: path.to_owned(), folder, name, names, lock })
    }

    /// Whether other writers are kept out.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// The name of the new bytes until they have their own.
    pub(crate) fn hidden(&self) -> OsString {
        self.names.hidden()
    }

    /// The name of a spill file until it has none.
    pub(crate) fn scratch(&self) -> OsString {
        self.names.scratch()
    }

    /// The name of a checkpoint's bytes until they have their own.
    pub(crate) fn copy(&self) -> OsString {
        self.names.copy()
    }

    /// The name to take when `name` turned out to be taken: itself, if that was a stray of ours,
    /// else one beside it that nobody can guess.
    pub(crate) fn instead_of(&self, name: OsString) -> io::Result<OsString> {
        let is_free = match &self.lock {
            Some(lock) => remove_stray(&*self.folder, &name, lock.owner())?,
            None => false,
        };
        Ok(if is_free { name } else { beside(&name) })
    }

    pub(crate) fn error(&self, operation: Operation, error: io::Error) -> Error {
        Error::io(operation, &self.path, error)
    }

    /// Somebody else has done something to the target, or to what leads there.
    pub(crate) fn changed(&self, detail: &str) -> Error {
        Error::new(Operation::Commit, Reason::Changed, &self.path)
            .detail(detail)
            .hint("look at what stands there now, and write again")
    }

    /// Fails if what would be given a name could not be found under the path that was named.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        match self.folder.is_in_place() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.changed("its folder has been moved, removed or replaced")),
            Err(error) => Err(self.error(Operation::Inspect, error)),
        }
    }

    /// The name was, or may have been, given; what follows failed.
    pub(crate) fn outcome_unknown(&self, error: io::Error) -> Error {
        Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.path)
            .caused_by(error)
            .detail("the name leads to the new bytes, but a power cut might undo that")
            .hint("check the device, then read it back or write it again")
    }
}

/// The error of making room for a target.
fn cannot_begin(path: &Path, error: io::Error) -> Error {
    let is_stray = error.kind() == ErrorKind::DirectoryNotEmpty;
    let error = Error::io(Operation::Create, path, error);
    if is_stray { error.hint("remove that folder, or move it away") } else { error }
}

/// The error of a folder under a hidden name of ours, with something in it that no writer makes.
fn not_ours(name: &OsStr) -> io::Error {
    let name = name.display();
    let text = format!("the folder {name} beside it holds what no writer has made");
    Common { number: Errno::NOTEMPTY.raw_os_error(), text }.into()
}

fn busy(path: &Path) -> Error {
    Error::new(Operation::Lock, Reason::Busy, path)
        .detail("another writer is writing it")
        .hint("wait until that one is done, or write to another name")
}

/// Locks a name that nobody can guess, because the usual one is another user's; `None` if another
/// writer of this user has locked one.
///
/// Everybody locks first and looks then, so of two that begin at one time at least one is told.
fn lock_apart(
    folder: &dyn FsFolder,
    names: &Names,
) -> io::Result<Option<(Names, Box<dyn Lock>)>> {
    let apart = names.apart();
    let Some(lock) = folder.lock(&apart.lock(), None)? else { return Ok(None) };
    for name in folder.list()? {
        let is_lock = name == names.lock() || names.is_lock_apart(&name);
        if !is_lock || name == apart.lock() {
            continue;
        }
        match folder.lock(&name, Some(lock.owner())) {
            // Without a holder; dropping it removes it.
            Ok(Some(stray)) => drop(stray),
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    remove_strays_apart(folder, names, lock.owner())?;
    Ok(Some((apart, lock)))
}

/// Removes what killed runs of `user` left under these names, and returns names that are free.
fn remove_strays(folder: &dyn FsFolder, names: Names, user: u32) -> io::Result<Names> {
    let mut are_free = true;
    for name in [names.hidden(), names.scratch(), names.copy()] {
        are_free &= remove_stray(folder, &name, user)?;
    }
    if are_free {
        return Ok(names);
    }
    remove_strays_apart(folder, &names, user)?;
    Ok(names.apart())
}

fn remove_strays_apart(folder: &dyn FsFolder, names: &Names, user: u32) -> io::Result<()> {
    for name in folder.list()?.iter().filter(|name| names.is_made_apart(name)) {
        remove_stray(folder, name, user)?;
    }
    Ok(())
}

/// Returns whether the name is free; what another user has put there is left alone, and so is
/// what no writer makes.
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

/// As [`remove_stray`], of a folder of segments; anything else in it is kept, and is then an
/// error.
///
/// In a folder in which others may move things, what has a manifest may be a committed output that
/// somebody has moved here, and is kept too.
fn remove_stray_folder(folder: &dyn FsFolder, name: &OsStr, user: u32) -> io::Result<bool> {
    let stray = match folder.open_folder(name) {
        // It is one no more.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) =>
        {
            return Ok(false);
        }
        opened => opened?,
    };
    if stray.own_facts()?.owner != user {
        return Ok(false);
    }
    let names = stray.list()?;
    if !names.iter().all(|name| is_of_a_folder(name)) {
        return Err(not_ours(name));
    }
    let may_be_committed = names.iter().any(|name| name == MANIFEST);
    if may_be_committed && !folder.own_facts()?.keeps_names_of(user) {
        return Ok(false);
    }
    remove_contents(&*stray)?;
    folder.remove_folder(name).map(|()| true)
}

/// Removes what a folder of segments consists of.
pub(crate) fn remove_contents(folder: &dyn FsFolder) -> io::Result<()> {
    folder
        .list()?
        .iter()
        .filter(|name| is_of_a_folder(name))
        .try_for_each(|name| folder.remove(name))
}
