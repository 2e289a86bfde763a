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
//! The lock is beside the target, so it holds for all processes that see this folder. It belongs
//! to its holder's open file and ends with it, also by a kill. Since only the holder makes the
//! other names, whatever stands under them when the lock is taken was left by a run that was
//! killed, and is removed: three look-ups, and no listing of the folder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::{Fs, Kind, Lock};
use crate::sink::names::{Names, is_of_a_folder};

/// A target under lock.
#[derive(Debug)]
pub(crate) struct Claim {
    /// As the caller named it, for errors.
    pub(crate) path: PathBuf,
    /// What it leads to: absolute, no link at its end.
    pub(crate) target: PathBuf,
    names: Names,
    /// Last, so that it is dropped last.
    lock: Option<Box<dyn Lock>>,
}

impl Claim {
    /// Locks the target and removes what killed runs left beside it.
    ///
    /// Where a file system has no locks, names that nobody else uses are chosen instead: a second
    /// writer is then not told, and the last commit stands.
    pub(crate) fn take(path: &Path, target: PathBuf, fs: &Arc<dyn Fs>) -> Result<Self> {
        let names = Names::of(path, &target)?;
        let failed = |error| Error::io(Operation::Create, path, error);
        let (names, lock) = match fs.lock(&names.lock()) {
            Ok(Some(lock)) => {
                remove_strays(fs, &names).map_err(failed)?;
                (names, Some(lock))
            }
            Ok(None) => {
                return Err(Error::new(Operation::Lock, Reason::Busy, path)
                    .detail("another writer is writing it")
                    .hint("wait until that one is done, or write to another name"));
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => (names.unique(), None),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path: path.to_owned(), target, names, lock })
    }

    /// Whether other writers are kept out.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// The folder that the target is in.
    pub(crate) fn folder(&self) -> &Path {
        self.names.folder()
    }

    /// The name of the new bytes until they have their own.
    pub(crate) fn hidden(&self) -> PathBuf {
        self.names.hidden()
    }

    /// The name of a spill file until it has none.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.names.scratch()
    }

    /// The name of a checkpoint's bytes until they have their own.
    pub(crate) fn copy(&self) -> PathBuf {
        self.names.copy()
    }

    pub(crate) fn error(&self, operation: Operation, error: io::Error) -> Error {
        Error::io(operation, &self.path, error)
    }

    /// The name was, or may have been, given; what follows failed.
    pub(crate) fn outcome_unknown(&self, error: io::Error) -> Error {
        Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.path)
            .caused_by(error)
            .detail("the name leads to the new bytes, but a power cut might undo that")
            .hint("check the device, then read it back or write it again")
    }
}

fn remove_strays(fs: &Arc<dyn Fs>, names: &Names) -> io::Result<()> {
    for path in [names.hidden(), names.scratch(), names.copy()] {
        match fs.facts(&path)?.map(|facts| facts.kind) {
            None => {}
            Some(Kind::Folder) => remove_folder_of_ours(fs, &path)?,
            Some(Kind::File | Kind::Special) => fs.remove(&path)?,
        }
    }
    Ok(())
}

/// Removes a folder of segments; anything else in it is kept, and is then an error.
pub(crate) fn remove_folder_of_ours(fs: &Arc<dyn Fs>, folder: &Path) -> io::Result<()> {
    for name in fs.list(folder)?.iter().filter(|name| is_of_a_folder(name)) {
        fs.remove(&folder.join(name))?;
    }
    fs.remove_folder(folder)
}
