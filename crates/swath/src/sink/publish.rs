//! Gives a finished file its name.
//!
//! ```text
//! length, times, attributes of the replaced file or a new file's mode, sync file
//!   nothing there:   link the name                         (refuses a taken one)
//!   something there: link a hidden name, check again, rename it over    (one step for readers)
//! sync folder, sync file
//! ```
//!
//! Until the link or the rename, the target is unchanged; then it is new and complete. After a power
//! cut it is also one of the two: bytes and length are on the device before the name is given. The
//! last sync is for XFS, which reports a lost rename only there. Where files must have a name (no
//! `O_TMPFILE`), the hidden name exists from the start, and until the commit only its owner can open it.
//!
//! A target written in place already has its name, and is only cut and synced.
//!
//! Another process that may write to the folder can swap files between two calls. So attributes are
//! copied from the very file that was inspected, which must still be there just before the rename;
//! and after a rename the name must lead to the new file.

mod attributes;
mod naming;

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::sync::Arc;

use swath_plan::fallback::Fallback;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::existing::{
    DraftBase, DraftOptions, Durability, inspect, is_new_there, is_no_length, still_there,
};
use crate::sink::fs::{Facts, FsFile, FsFolder};
use crate::source::FileTimes;

/// How often the target may appear or vanish between two calls of one commit.
const ATTEMPTS: usize = 16;

/// A file that will get the name of a target. If it is dropped before, no file remains.
#[derive(Debug)]
pub(crate) struct Candidate {
    file: Arc<dyn FsFile>,
    hidden: OsString,
    /// Whether the hidden name refers to the file, or may.
    is_hidden: bool,
    /// Its length, as it was set last.
    len: Option<u64>,
    /// Whether it is the target itself.
    is_in_place: bool,
    /// Whether a server or a program stores the file; determined before it gets its name.
    is_remote: bool,
    /// Whether permissions cannot be changed: then the file is created with the final ones.
    is_fixed: bool,
    /// Whether the mount shows the permissions that files have.
    are_modes_shown: bool,
    /// The mode of a new target; `None`: the file has it already.
    mode: Option<u32>,
    /// The file whose attributes this one gets, even if it replaces another.
    model: Option<Arc<dyn FsFile>>,
    /// The times that the file gets instead of those of its last read and write.
    times: Option<FileTimes>,
    folder: Arc<dyn FsFolder>,
}

impl Drop for Candidate {
    fn drop(&mut self) {
        if !self.is_hidden {
            return;
        }
        if self.stands_under(&self.hidden).unwrap_or(true) {
            // If it cannot be removed now, the next writer of this target removes it.
            let _ = self.folder.remove(&self.hidden);
        }
    }
}

impl Candidate {
    /// Creates an empty file in the target's folder: without a name, or under `hidden` if it must
    /// have one.
    ///
    /// # Errors
    ///
    /// If no file can be made there.
    pub(crate) fn make(claim: &Claim, hidden: OsString) -> Result<Self> {
        let folder = Arc::clone(&claim.folder);
        let made = match folder.create_nameless() {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                return Self::make_named(claim, hidden);
            }
            made => made.map_err(|error| claim.error(Operation::Create, error))?,
        };
        Ok(Self::of(made, hidden, folder))
    }

    /// Opens the target, which must be the file that was there `before`, and truncates it.
    ///
    /// # Errors
    ///
    /// The errors of open(2) and ftruncate(2); `Changed` if it is now another file.
    pub(crate) fn in_place(claim: &Claim, before: Option<&Facts>) -> Result<Self> {
        let folder = Arc::clone(&claim.folder);
        let failed = |error| claim.error(Operation::Create, error);
        let file = folder.open_to_write(&claim.name).map_err(failed)?;
        if is_new_there(&file.facts().map_err(failed)?, before) {
            return Err(claim.changed("another program has put another file in its place"));
        }
        file.set_len(0).map_err(failed)?;
        let mut target = Self::of(file, claim.hidden(), folder);
        target.is_in_place = true;
        Ok(target)
    }

    /// Creates an empty file under `hidden` in the target's folder. Only its owner can open it, unless its
    /// permissions could not be changed later.
    ///
    /// # Errors
    ///
    /// If no file can be made there.
    pub(crate) fn make_named(claim: &Claim, hidden: OsString) -> Result<Self> {
        let made = claim.modes_here().and_then(|modes| {
            claim.create_hidden(hidden, modes.can_change).map(|made| (made, modes))
        });
        let ((file, hidden), modes) =
            made.map_err(|error| claim.error(Operation::Create, error))?;
        let folder = Arc::clone(&claim.folder);
        let mut made = Self::of(file, hidden, folder);
        (made.is_hidden, made.mode, made.is_fixed) =
            (true, Some(modes.usual), !modes.can_change);
        made.are_modes_shown = modes.are_shown;
        Ok(made)
    }

    fn of(file: Arc<dyn FsFile>, hidden: OsString, folder: Arc<dyn FsFolder>) -> Self {
        Self {
            file,
            hidden,
            is_hidden: false,
            is_in_place: false,
            is_remote: false,
            len: None,
            is_fixed: false,
            are_modes_shown: true,
            mode: None,
            model: None,
            times: None,
            folder,
        }
    }

    /// Whether the file is the target itself, not one that replaces it.
    pub(crate) fn is_in_place(&self) -> bool {
        self.is_in_place
    }

    /// Completes a target that was written in place.
    fn end_in_place(
        &mut self,
        claim: &Claim,
        durability: Durability,
        len: u64,
    ) -> Result<Vec<Fallback>> {
        self.cut(len).map_err(|error| claim.error(Operation::Write, error))?;
        if self.model.is_some() {
            self.take_attributes(claim, None)?;
        }
        let times = self.take_times();
        let times = times.map_err(|error| claim.error(Operation::Write, error))?;
        self.store(claim, durability)?;
        claim.check_folder()?;
        self.confirm(claim).map(|()| Vec::from_iter(times))
    }

    /// Returns once the device, or at least the file system, has the bytes.
    fn store(&self, claim: &Claim, durability: Durability) -> Result<()> {
        let stored = self.file.store(durability == Durability::Full);
        stored.map_err(|(operation, error)| self.failed(claim, operation, error))
    }

    /// Returns the name that the file has, or will have for a moment.
    pub(crate) fn hidden(&self) -> &OsStr {
        &self.hidden
    }

    pub(crate) fn file(&self) -> &Arc<dyn FsFile> {
        &self.file
    }

    /// Returns the mode of a new target, unless another is given.
    pub(crate) fn usual_mode(&self) -> io::Result<u32> {
        self.mode.map_or_else(|| Ok(self.file.facts()?.mode & 0o777), Ok)
    }

    pub(crate) fn give_mode(&mut self, claim: &Claim, mode: u32) -> Result<()> {
        if self.is_fixed && self.mode != Some(mode) {
            let removed = self.folder.remove(&self.hidden);
            let made = removed.and_then(|()| claim.create(self.hidden.clone(), mode));
            (self.file, self.hidden) =
                made.map_err(|error| claim.error(Operation::Create, error))?;
        }
        self.mode = Some(mode);
        Ok(())
    }

    pub(crate) fn give_attributes_of(&mut self, model: Arc<dyn FsFile>) {
        self.model = Some(model);
    }

    pub(crate) fn give_times(&mut self, times: FileTimes) {
        self.times = Some(times);
    }

    pub(crate) fn give_mode_of(&mut self, other: &Self) {
        self.mode = other.mode.or(self.mode);
    }

    /// Returns the error of a step before the file has its name.
    fn failed(&self, claim: &Claim, operation: Operation, error: io::Error) -> Error {
        match error.kind() {
            // A server that looks up open files by name.
            ErrorKind::NotFound | ErrorKind::StaleNetworkFileHandle if self.is_hidden => {
                claim.changed("another program has removed the temporary file")
            }
            _ => claim.error(operation, error),
        }
    }

    /// Sets its length, even if that is its length already: setting it frees what was reserved past it; but not
    /// if the file grows by it, so then it is set twice. Returns what was known before.
    fn cut(&mut self, len: u64) -> io::Result<Facts> {
        let facts = self.file.facts()?;
        if facts.len < len {
            self.file.set_len(len)?;
        }
        match self.file.set_len(len) {
            // A server that sets no length has reserved nothing past it.
            Err(error) if facts.len == len && is_no_length(&error) => {}
            set => set?,
        }
        self.len = Some(len);
        match self.is_remote.then(|| self.file.facts()).transpose()? {
            // As with s3fs, for a file that is open twice.
            Some(now) if now.len != len => Err(other_len(now.len, len)),
            _ => Ok(facts),
        }
    }

    /// Syncs the folder for the name, then the file, which may report that the name was lost.
    fn settle(&self, claim: &Claim) -> Result<()> {
        let settled = self.folder.sync().and_then(|()| self.file.sync());
        settled.map_err(|error| claim.outcome_unknown(error))
    }
}

fn other_len(there: u64, len: u64) -> io::Error {
    io::Error::other(format!("the file system shows {there} bytes where {len} were written"))
}

/// Cuts the candidate to `len` bytes and gives it the name of the claim's target. `before` is
/// what was there when it was claimed. Returns which of its attributes were not kept, and why.
///
/// # Errors
///
/// `OutcomeUnknown` if the name has been given but may not survive a power cut. After any other
/// error the target is unchanged, or is another process's file.
pub(crate) fn publish(
    candidate: &mut Candidate,
    claim: &Claim,
    options: &DraftOptions,
    before: Option<&Facts>,
    len: u64,
) -> Result<Vec<Fallback>> {
    if candidate.is_in_place {
        let ended = candidate.end_in_place(claim, options.durability, len);
        return ended.map_err(|error| error.partial(&claim.path));
    }
    // Determined now: a server that looks up open files by name cannot tell later.
    candidate.is_remote = candidate.file.is_remote();
    let own = candidate.cut(len);
    let own = own.map_err(|error| candidate.failed(claim, Operation::Write, error))?;
    // After the last change of the bytes, and before the owner may change.
    let times = candidate.take_times();
    let times = times.map_err(|error| candidate.failed(claim, Operation::Write, error))?;
    for _ in 0..ATTEMPTS {
        let there = inspect(claim, options)?;
        let is_strange =
            |there: &Facts| there.owner != own.owner && is_new_there(there, before);
        if there.as_ref().is_some_and(is_strange) {
            return Err(claim.changed("another user has created a file there in the meantime"));
        }
        let taken = match &there {
            Some(there) if is_new_there(there, before) => {
                candidate.take_least(claim, there, before)?
            }
            there => candidate.take_attributes(claim, there.as_ref())?,
        };
        if !taken {
            continue;
        }
        if let Some(replaced) = there.as_ref().or(before) {
            candidate.refuse_wider(claim, Operation::Commit, replaced)?;
        }
        let note = candidate.note_mode(claim, there.as_ref())?;
        let notes = times.clone().into_iter().chain(note);
        // Stores bytes and length before they become visible. Never retried if it fails.
        candidate.store(claim, options.durability)?;
        if options.base != DraftBase::Any && candidate.is_remote {
            // sshfs caches attributes for many seconds, until the file is opened again.
            drop(claim.folder.open(&claim.name));
        }
        // Last, so that hardly any time is left for a change.
        claim.check_folder()?;
        still_there(claim, options)?;
        let is_named = match &there {
            Some(there) => candidate.replace(claim, there)?,
            None => candidate.create(claim, options.replace)?,
        };
        if is_named {
            if options.durability == Durability::Full {
                candidate.settle(claim)?;
            }
            return Ok(notes.collect());
        }
    }
    Err(Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program keeps creating and removing it"))
}
