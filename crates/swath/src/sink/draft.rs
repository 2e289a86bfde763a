//! One file that has no name yet, and its commit.
//!
//! ```text
//! begin       lock, remove strays; a nameless file in the target's folder
//! ...         whoever writes, writes to `file`; what it spills goes to `scratch`
//! checkpoint  a copy of it gets the name, as by a commit
//! commit      it gets the name: see `publish`
//! ```
//!
//! **Who else touches the target.** Another writer of the same user is kept out by the lock. Others
//! are not: what stands under the name is looked at again at commit. With [`Replace::Refused`] only
//! steps that the kernel makes fail on a taken name are used. With [`Replace::Allowed`], what
//! stands there at commit is replaced, with its attributes, and what has vanished is made new: as
//! with rename(2), the last one wins, whole. But what another user has put there meanwhile is an
//! error, `Changed`: he would lose it, and the new bytes might become readable to those whom he
//! chooses.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use swath_plan::fallback::Fallback;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::{Claim, locate};
use crate::sink::existing::{DraftOptions, Replace, inspect, look_at, taken};
use crate::sink::fs::{Facts, FileKind, Fs, FsFile};
use crate::sink::place::move_range;
use crate::sink::publish::{Candidate, create_closed, publish};

/// A file to be. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Draft {
    options: DraftOptions,
    /// What stood under the target at the first look, or what a checkpoint left there.
    before: Option<Facts>,
    existing: Option<Facts>,
    candidate: Candidate,
    /// A commit has failed: what is on the device is not known well enough for another.
    is_poisoned: bool,
    /// Held while a spill file has its name.
    naming: Mutex<()>,
    /// Last: the lock is given back when nothing of ours is left.
    claim: Claim,
}

impl Draft {
    /// Makes a file without a name beside `path`, which nobody else may write from now on.
    ///
    /// # Errors
    ///
    /// `Busy` if another writer has it; what [`inspect`] finds; that no file can be made there.
    pub(crate) fn begin(path: &Path, options: &DraftOptions) -> Result<Self> {
        let fs = &options.fs;
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(no_name_of_a_file(path, &**fs));
        }
        let located = locate(Operation::Create, path, &**fs)?;
        // First without a lock, so that no device or folder gets a lock file beside it; further
        // names and refusals later, when what a killed run left has been removed.
        let before = look_at(path, &*located.folder, &located.name)?;
        let claim = Claim::take(path, located).map_err(|error| {
            let is_taken = before.is_some() && options.replace == Replace::Refused;
            if is_taken && error.reason() != Reason::Busy { taken(path) } else { error }
        })?;
        let existing = inspect(&claim, options)?;
        let candidate = Candidate::make(&claim, claim.hidden())?;
        let (options, naming) = (options.clone(), Mutex::new(()));
        Ok(Self { options, before, existing, candidate, is_poisoned: false, naming, claim })
    }

    /// Where to write.
    pub(crate) fn file(&self) -> &Arc<dyn FsFile> {
        self.candidate.file()
    }

    /// The target as the caller named it, for errors.
    pub(crate) fn path(&self) -> &Path {
        &self.claim.path
    }

    /// What will be replaced.
    pub(crate) fn existing(&self) -> Option<&Facts> {
        self.existing.as_ref()
    }

    /// Opens what will be replaced, as it stands there now.
    ///
    /// # Errors
    ///
    /// Those of open(2).
    pub(crate) fn open_existing(&self) -> io::Result<Arc<dyn FsFile>> {
        self.claim.folder.open(&self.claim.name)
    }

    /// Who may do what with a new file, unless something else is said: less the umask, or what
    /// the folder's list says.
    ///
    /// # Errors
    ///
    /// Those of looking at it.
    pub(crate) fn usual_mode(&self) -> io::Result<u32> {
        self.candidate.usual_mode()
    }

    /// Says who may do what with the file if it is new. One that is replaced keeps its own mode.
    pub(crate) fn give_mode(&mut self, mode: u32) {
        self.candidate.give_mode(mode);
    }

    /// Nothing but this, as it was then, is replaced.
    pub(crate) fn build_on(&mut self, base: Facts) {
        self.options.base = Some(base);
    }

    /// What this file system cannot do, and what follows.
    pub(crate) fn fallbacks(&self) -> Vec<Fallback> {
        Vec::from_iter((!self.claim.is_locked()).then_some(Fallback::NoLocks))
    }

    /// Another file in the same folder that never has a name; gone when it is dropped.
    ///
    /// # Errors
    ///
    /// That no file can be made there.
    pub(crate) fn scratch(&self) -> Result<Arc<dyn FsFile>> {
        let folder = &self.claim.folder;
        let failed = |error| self.claim.error(Operation::Create, error);
        match folder.create_nameless() {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            made => return made.map_err(failed),
        }
        // One at a time: there is one such name. A panic while it is held leaves nothing torn.
        let _naming = self.naming.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, name) = create_closed(&self.claim, self.claim.scratch()).map_err(failed)?;
        folder.remove(&name).map_err(failed)?;
        Ok(file)
    }

    /// Cuts the file to `len` bytes and gives it its name.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if the name has been given but may not survive a power cut. With any other
    /// error the target is what it was, or what somebody else has put there.
    pub(crate) fn commit(mut self, len: u64) -> Result<()> {
        self.check()?;
        let before = self.before.as_ref();
        publish(&mut self.candidate, &self.claim, &self.options, before, len)
    }

    /// Leaves a copy of the first `len` bytes under the name, as a commit would, and keeps the
    /// file to be written on. The copy shares blocks where the file system can.
    ///
    /// # Errors
    ///
    /// Those of [`commit`](Self::commit), and of copying. After one, no commit will be made.
    pub(crate) fn checkpoint(&mut self, len: u64) -> Result<()> {
        self.check()?;
        self.is_poisoned = true;
        let claim = &self.claim;
        let mut copy = Candidate::make(claim, claim.copy())?;
        copy.give_mode_of(&self.candidate);
        let moved = move_range(&**copy.file(), &**self.candidate.file(), 0, 0, len);
        moved.map_err(|error| claim.error(Operation::Write, error))?;
        publish(&mut copy, claim, &self.options, self.before.as_ref(), len)?;
        // What stands there now is ours, whoever owns it.
        self.options.replace = Replace::Allowed;
        let facts = copy.file().facts();
        // It stands there, also if it cannot be looked at.
        self.before = facts.as_ref().ok().copied().or(self.before);
        if self.options.base.is_some() {
            let facts = facts.map_err(|error| claim.error(Operation::Inspect, error))?;
            // Where a server keeps the time, what it says may come later.
            self.options.base = Some(Facts { modified: None, ..facts });
        }
        self.is_poisoned = false;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if !self.is_poisoned {
            return Ok(());
        }
        Err(Error::new(Operation::Commit, Reason::Poisoned, self.path())
            .detail("an earlier checkpoint of it failed")
            .hint("write it again from the start"))
    }
}

/// The error of a path that ends in `/`.
fn no_name_of_a_file(path: &Path, fs: &dyn Fs) -> Error {
    let there = fs.locate(path).and_then(|at| at.folder.facts(&at.name));
    let failed = |errno: Errno| Error::io(Operation::Create, path, errno.into());
    match there {
        Ok(None) => failed(Errno::NOENT)
            .hint("make this folder first, or name a file, without a `/` at its end"),
        Ok(Some(facts)) if facts.kind != FileKind::Folder => {
            failed(Errno::NOTDIR).hint("leave out the `/` at its end")
        }
        Ok(Some(_)) => failed(Errno::ISDIR),
        Err(error) => Error::io(Operation::Create, path, error),
    }
}

#[cfg(test)]
mod tests;
