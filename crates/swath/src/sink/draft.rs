//! One file that has no name yet, and its commit.
//!
//! ```text
//! begin       lock, remove strays; an unnamed file in the target's folder, or a hidden one
//! ...         bytes are written to `file`; spilled ones to `scratch`
//! checkpoint  a copy of it gets the name, as by a commit
//! commit      it gets the name: see `publish`
//! ```
//!
//! **Other access to the target.** The lock keeps out other writers of the same user, but no other
//! process, so the name is inspected again at commit. With [`Replace::Refused`], only operations
//! are used that the kernel fails if the name is taken. With [`Replace::Allowed`], a file that
//! exists at commit is replaced and its attributes are kept, and one that has vanished is created:
//! as with rename(2), the last writer wins, with a whole file. But a file that another user has
//! put there since the draft began is an error, `Changed`: that user would lose it, and the new
//! bytes might become readable to users of that user's choice.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::access::Access;
use swath_os::umask::umask;
use swath_plan::fallback::Fallback;

use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::sink::claim::{Claim, locate};
use crate::sink::existing::{
    DraftBase, DraftOptions, Replace, access_of, check_replaceable, inspect, irreplaceable,
    is_new_there, look_at, mounted, not_in_place, taken,
};
use crate::sink::fs::{CLOSED, Facts, FileKind, Fs, FsFile, Located};
use crate::sink::permissions::{mode_in, mode_of_copy};
use crate::sink::place::move_range;
use crate::sink::publish::{Candidate, publish};
use crate::source::FileTimes;

/// A file that is being written. If it is dropped without a commit, no file remains.
#[derive(Debug)]
pub(crate) struct Draft {
    options: DraftOptions,
    /// The file at the target when it was first inspected, or the one that a checkpoint put there.
    before: Option<Facts>,
    existing: Option<Facts>,
    candidate: Candidate,
    /// A commit has failed: the state of the device is not known well enough for another.
    is_poisoned: bool,
    /// Held while a spill file has its name.
    naming: Mutex<()>,
    /// Last: the lock is released when no file of this draft is left.
    claim: Claim,
}

impl Draft {
    /// Creates an unnamed file in the folder of `path`, and locks `path` against other writers.
    ///
    /// # Errors
    ///
    /// `Busy` if it has another writer; the errors of [`inspect`]; if no file can be created there.
    pub(crate) fn begin(path: &Path, options: &DraftOptions) -> Result<Self> {
        Self::begin_as(path, options, Candidate::make)
    }

    /// As [`begin`](Self::begin), but the file has a hidden name from the beginning, under which
    /// other processes of the same user can open it.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    pub(crate) fn begin_named(path: &Path, options: &DraftOptions) -> Result<Self> {
        options.refuse_in_place(path, "a draft that several processes write")?;
        Self::begin_as(path, options, Candidate::make_named).map_err(not_in_place)
    }

    fn begin_as(
        path: &Path,
        options: &DraftOptions,
        make: fn(&Claim, OsString) -> Result<Candidate>,
    ) -> Result<Self> {
        let fs = &options.fs;
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(no_name_of_a_file(path, &**fs));
        }
        let located = locate(Operation::Create, path, &**fs)?;
        // First without a lock, so that no lock file is created for a device or folder; other names
        // and refusals later, when strays of a killed run have been removed.
        let before = look_at(path, &*located.folder, &located.name)?;
        let access = |found: &Facts| access_of(&*located.folder, &located.name, found);
        let mut readers = before.as_ref().map(access);
        let claim = match Claim::take(path, located.clone()) {
            Err(error) if before.is_some() && error.reason() != Reason::Busy => {
                claim_of_existing(error, located, path, options.replace)?
            }
            claim => claim?,
        };
        let existing = inspect(&claim, options)?;
        let (mut options, naming) = (options.clone(), Mutex::new(()));
        let mut candidate = match &existing {
            Some(facts) if options.replace == Replace::InPlace => {
                options.refuse_input(path, facts)?;
                Candidate::in_place(&claim, before.as_ref())?
            }
            Some(_) => match claim.folder.why_not_replaced(&claim.name) {
                Some(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(claim.error(Operation::Create, error));
                }
                Some(error) => return Err(mounted(path, &error)),
                None => make(&claim, claim.hidden())?,
            },
            None => make(&claim, claim.hidden())?,
        };
        if let Some(facts) = &existing {
            if !candidate.is_in_place() {
                check_replaceable(&claim, &**candidate.file())?;
            }
            if is_new_there(facts, before.as_ref()) {
                let there = access_of(&*claim.folder, &claim.name, facts);
                readers = Some(readers.map_or(there, |readers| readers.and(there)));
            }
        }
        if let Some(readers) = readers.filter(|_| !candidate.is_in_place()) {
            // If another program removes it before the commit, the new file must not be readable to users who could
            // not read it, or could not read the file that was first inspected.
            let made = candidate.usual_mode();
            let made = made.map_err(|error| claim.error(Operation::Create, error))?;
            let group = mode_in(readers, &**candidate.file());
            let readers = group.map_err(|error| claim.error(Operation::Inspect, error))?;
            candidate.give_mode(&claim, made & readers)?;
        }
        if let Some(existing) = existing.as_ref().filter(|_| !candidate.is_in_place()) {
            // Before the first byte: some mounts ignore the permissions of a hidden file.
            candidate.refuse_wider(&claim, Operation::Create, existing)?;
        }
        if options.replace == Replace::Refused {
            candidate.check_new_name(&claim)?;
        }
        if !candidate.is_in_place() && options.replace == Replace::InPlace {
            options.replace = Replace::Allowed;
        }
        Ok(Self { options, before, existing, candidate, is_poisoned: false, naming, claim })
    }

    /// Returns the file to write to.
    pub(crate) fn file(&self) -> &Arc<dyn FsFile> {
        self.candidate.file()
    }

    /// Returns the name of the file until the commit, if it has one.
    pub(crate) fn hidden(&self) -> &OsStr {
        self.candidate.hidden()
    }

    /// Returns the target as the caller named it, for errors.
    pub(crate) fn path(&self) -> &Path {
        &self.claim.path
    }

    /// Returns the facts about the file that will be replaced.
    pub(crate) fn existing(&self) -> Option<&Facts> {
        self.existing.as_ref()
    }

    /// Opens the file that will be replaced.
    ///
    /// # Errors
    ///
    /// The errors of open(2).
    pub(crate) fn open_existing(&self) -> io::Result<Arc<dyn FsFile>> {
        self.claim.folder.open(&self.claim.name)
    }

    /// Returns the default permissions of a new file: less the umask, or according to the folder's
    /// access list.
    ///
    /// # Errors
    ///
    /// The errors of inspecting the file.
    pub(crate) fn usual_mode(&self) -> io::Result<u32> {
        self.candidate.usual_mode()
    }

    /// Sets the permissions of the file if it is new. A file that is replaced keeps its own
    /// mode.
    ///
    /// # Errors
    ///
    /// The errors of creating the file again, where permissions cannot be changed.
    pub(crate) fn give_mode(&mut self, mode: u32) -> Result<()> {
        self.candidate.give_mode(&self.claim, mode)
    }

    /// Gives a new target these permissions, less the umask; in another group, or with an access control list of its
    /// folder, less those that its group would add. If a file is still there to be replaced, the commit keeps its
    /// permissions.
    pub(crate) fn give_access(&mut self, access: Access) -> Result<()> {
        let modes =
            self.usual_mode().and_then(|made| Ok((made, mode_in(access, &**self.file())?)));
        let failed = |error| Error::io(Operation::Create, self.path(), error);
        let (made, source) = modes.map_err(failed)?;
        let mode = mode_of_copy(source, made, umask().unwrap_or(0));
        if mode == made { Ok(()) } else { self.give_mode(mode) }
    }

    /// Gives the file mode, owner (where allowed) and extended attributes of `model`, even if it
    /// replaces another file.
    pub(crate) fn give_attributes_of(&mut self, model: Arc<dyn FsFile>) {
        self.candidate.give_attributes_of(model);
    }

    /// Sets the times that the file gets at its commit.
    pub(crate) fn give_times(&mut self, times: FileTimes) {
        self.candidate.give_times(times);
    }

    /// Makes the commit fail unless it finds `base` at the target.
    pub(crate) fn build_on(&mut self, base: DraftBase) {
        self.options.base = base;
    }

    /// Returns fallbacks for services that this file system lacks.
    pub(crate) fn fallbacks(&self) -> Vec<Fallback> {
        Vec::from_iter((!self.claim.is_locked()).then_some(Fallback::NoLocks))
    }

    /// Creates another file in the same folder, which never gets a final name and vanishes when it is dropped.
    ///
    /// # Errors
    ///
    /// If no file can be created there.
    pub(crate) fn scratch(&self) -> Result<Arc<dyn FsFile>> {
        let folder = &self.claim.folder;
        let failed = |error| self.claim.error(Operation::Create, error);
        match folder.create_nameless() {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            made => return made.map_err(failed),
        }
        // One at a time: there is one such name. A panic under the lock leaves no partial state.
        let _naming = self.naming.lock();
        let (file, name) = self.claim.create(self.claim.scratch(), CLOSED).map_err(failed)?;
        folder.remove(&name).map_err(failed)?;
        Ok(file)
    }

    /// Cuts the file to `len` bytes and gives it its name.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if the name has been given but may not survive a power cut. After any other
    /// error the target is unchanged, or is another process's file.
    pub(crate) fn commit(self, len: u64) -> Result<()> {
        self.commit_with_notes(len).map(drop)
    }

    /// As [`commit`](Self::commit). Returns the given attributes that were not kept.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub(crate) fn commit_with_notes(mut self, len: u64) -> Result<Vec<Fallback>> {
        self.check()?;
        let before = self.before.as_ref();
        publish(&mut self.candidate, &self.claim, &self.options, before, len)
    }

    /// Puts a copy of the first `len` bytes under the name, as a commit would, and keeps the
    /// file open for writing. The copy shares blocks where the file system can.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit), and of copying. After one, no commit is possible.
    pub(crate) fn checkpoint(&mut self, len: u64) -> Result<()> {
        self.check()?;
        self.options.refuse_in_place(self.path(), "a checkpoint")?;
        self.is_poisoned = true;
        let claim = &self.claim;
        let mut copy = Candidate::make(claim, claim.copy())?;
        copy.give_mode_of(&self.candidate);
        let moved = move_range(&**copy.file(), &**self.candidate.file(), 0, 0, len);
        moved.map_err(|error| claim.error(Operation::Write, error))?;
        publish(&mut copy, claim, &self.options, self.before.as_ref(), len)?;
        // The file there is ours, whichever user owns it.
        self.options.replace = Replace::Allowed;
        let facts = copy.file().facts();
        // The file is there, even if it cannot be inspected.
        self.before = facts.as_ref().ok().copied().or(self.before);
        if self.options.base != DraftBase::Any {
            let facts = facts.map_err(|error| claim.error(Operation::Inspect, error))?;
            // On a server, the reported time may still change.
            self.options.base = DraftBase::File(Facts { modified: None, ..facts });
        }
        self.is_poisoned = false;
        Ok(())
    }

    /// Whether the target itself is written, not a file that replaces it.
    pub(crate) fn is_in_place(&self) -> bool {
        self.candidate.is_in_place()
    }

    /// Returns the error of a failed write, which says so if the target may hold a part of the new bytes.
    pub(crate) fn failed(&self, error: Error) -> Error {
        if self.candidate.is_in_place() { error.partial(self.path()) } else { error }
    }

    fn check(&self) -> Result<()> {
        if !self.is_poisoned {
            return Ok(());
        }
        Err(Error::new(Operation::Commit, Reason::Poisoned, self.path())
            .detail("an earlier checkpoint of this output failed")
            .hint("write the output again from the start"))
    }
}

/// Claims an existing file without a lock if `error` says that the folder is not writable and the file is written
/// in place.
fn claim_of_existing(
    error: Error,
    located: Located,
    path: &Path,
    replace: Replace,
) -> Result<Claim> {
    let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
    let is_closed = kinds.contains(&error.io_kind());
    match (replace, error.raw_os_error()) {
        (Replace::Refused, _) => Err(taken(path)),
        (Replace::InPlace, _) if is_closed => Claim::without_lock(path, located),
        (Replace::Allowed, Some(number)) if is_closed => {
            let error = io::Error::from_raw_os_error(number);
            Err(irreplaceable(path, &error, "no file can be made in its folder to replace it"))
        }
        _ => Err(error),
    }
}

/// Returns the error for a path that ends in `/`.
fn no_name_of_a_file(path: &Path, fs: &dyn Fs) -> Error {
    let there = fs.locate(path).and_then(|at| at.folder.facts(&at.name));
    let failed = |errno: Errno| Error::io(Operation::Create, path, errno.into());
    match there {
        Ok(None) => failed(Errno::NOENT)
            .hint("create this folder first, or pass a file path without a `/` at its end"),
        Ok(Some(facts)) if facts.kind != FileKind::Folder => {
            failed(Errno::NOTDIR).hint("remove the `/` at the end")
        }
        Ok(Some(_)) => failed(Errno::ISDIR),
        Err(error) => Error::io(Operation::Create, path, error),
    }
}

#[cfg(test)]
mod tests;
