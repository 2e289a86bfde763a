//! How a finished file gets its name.
//!
//! ```text
//! length, attributes of what is replaced, sync file
//!   nothing there:   link the name                         (refuses a taken one)
//!   something there: link a hidden name, rename it over    (one step for readers)
//! sync folder, sync file
//! ```
//!
//! Until the link or the rename, the target is what it was; from there on it is new and whole.
//! What a power cut leaves is one of the two as well, because bytes and length are on the device
//! before the name is given. The last sync is for XFS, which reports a lost rename only there.
//! Where files must have a name (no `O_TMPFILE`), the hidden name is there from the beginning,
//! with the attributes of what is replaced, so that nothing secret is readable meanwhile.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::draft::{DraftOptions, Replace, Sync, inspect, still_there, taken};
use crate::sink::fs::{Fs, FsFile};

/// How often the target may appear or vanish between two calls of one commit.
const ATTEMPTS: usize = 16;

/// A file that is to get the name of a target. Dropped before, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Candidate {
    file: Arc<dyn FsFile>,
    hidden: PathBuf,
    /// Whether the hidden name stands, or may stand, for the file.
    is_hidden: bool,
    fs: Arc<dyn Fs>,
}

impl Drop for Candidate {
    fn drop(&mut self) {
        if self.is_hidden {
            // What cannot be removed now is removed by the next writer of this target.
            let _ = self.fs.remove(&self.hidden);
        }
    }
}

impl Candidate {
    /// Makes an empty file beside the target: without a name, or under `hidden` where it must
    /// have one.
    ///
    /// # Errors
    ///
    /// That no file can be made there.
    pub(crate) fn make(claim: &Claim, hidden: PathBuf, fs: &Arc<dyn Fs>) -> Result<Self> {
        let (file, is_hidden) = match fs.create_nameless(claim.folder()) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                (fs.create_new(&hidden), true)
            }
            made => (made, false),
        };
        let file = file.map_err(|error| claim.error(Operation::Create, error))?;
        Ok(Self { file, hidden, is_hidden, fs: Arc::clone(fs) })
    }

    pub(crate) fn file(&self) -> &Arc<dyn FsFile> {
        &self.file
    }

    /// Takes the attributes of the target before the first byte, if others can see the file.
    ///
    /// # Errors
    ///
    /// Those of reading and setting them.
    pub(crate) fn take_attributes_early(&self, claim: &Claim) -> Result<()> {
        if self.is_hidden { self.take_attributes(claim).map(|_| ()) } else { Ok(()) }
    }

    /// Returns `false` if what was to be replaced has vanished.
    fn take_attributes(&self, claim: &Claim) -> Result<bool> {
        match self.file.copy_attributes(&claim.target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(claim.error(Operation::Commit, error)),
        }
    }

    /// Also if that is its length already: setting it gives back what was reserved behind it;
    /// but not if the file grows by it, so then it is set twice.
    fn cut(&self, len: u64) -> io::Result<()> {
        if self.file.facts()?.len < len {
            self.file.set_len(len)?;
        }
        self.file.set_len(len)
    }

    /// Gives a name that nothing has; `false` if something has appeared there that may be
    /// replaced.
    fn create(&mut self, claim: &Claim, replace: Replace) -> Result<bool> {
        let target = &claim.target;
        let mut given = if self.is_hidden {
            self.fs.rename_new(&self.hidden, target).map(|()| self.is_hidden = false)
        } else {
            self.fs.link(&*self.file, target)
        };
        if self.is_hidden && is_unsupported(&given) {
            // Both names for a moment; the hidden one goes when the candidate is dropped.
            given = self.fs.link(&*self.file, target);
        }
        if self.is_hidden && cannot_link(&given) && replace == Replace::Allowed {
            return self.replace(claim).map(|()| true);
        }
        match given {
            Ok(()) => Ok(true),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.not_named(claim, error))
            }
            // Possibly our own link: an answer that was lost, and the call made again.
            Err(error) if self.stands(claim).unwrap_or(true) => {
                Err(claim.outcome_unknown(error))
            }
            Err(_) if replace == Replace::Allowed => Ok(false),
            Err(_) => Err(taken(&claim.path)),
        }
    }

    /// Renames a hidden name over the target.
    fn replace(&mut self, claim: &Claim) -> Result<()> {
        if !self.is_hidden {
            // Before the answer, which may be lost: then the name is removed all the same.
            self.is_hidden = true;
            let linked = self.fs.link(&*self.file, &self.hidden);
            linked.map_err(|error| claim.error(Operation::Commit, error))?;
        }
        match self.fs.rename(&self.hidden, &claim.target) {
            Ok(()) => {
                self.is_hidden = false;
                Ok(())
            }
            Err(error) => Err(self.not_named(claim, error)),
        }
    }

    /// The error of a step that should have given the name.
    fn not_named(&self, claim: &Claim, error: io::Error) -> Error {
        match self.stands(claim) {
            Ok(false) => claim.error(Operation::Commit, error),
            // It says that it failed, and yet the name is given; or nobody knows.
            Ok(true) | Err(_) => claim.outcome_unknown(error),
        }
    }

    /// Whether the target is this file.
    fn stands(&self, claim: &Claim) -> io::Result<bool> {
        let there = self.fs.facts(&claim.target)?;
        let ours = self.file.facts()?.identity;
        Ok(there.is_some_and(|there| there.identity == ours))
    }

    /// The name, and then what only the file itself knows of it.
    fn settle(&self, claim: &Claim) -> Result<()> {
        let settled = self.fs.sync_folder(claim.folder()).and_then(|()| self.file.sync());
        settled.map_err(|error| claim.outcome_unknown(error))
    }
}

/// Cuts the candidate to `len` bytes and gives it the name of the claim's target.
///
/// # Errors
///
/// `OutcomeUnknown` if the name has been given but may not survive a power cut. With any other
/// error the target is what it was.
pub(crate) fn publish(
    candidate: &mut Candidate,
    claim: &Claim,
    options: &DraftOptions,
    len: u64,
) -> Result<()> {
    candidate.cut(len).map_err(|error| claim.error(Operation::Write, error))?;
    for _ in 0..ATTEMPTS {
        let there = inspect(&claim.path, &claim.target, options)?;
        if there.is_some() && !candidate.take_attributes(claim)? {
            continue;
        }
        if options.sync == Sync::Full {
            // Bytes and length, before anybody can see them. Never tried again if it fails.
            candidate.file.sync().map_err(|error| claim.error(Operation::Sync, error))?;
        }
        // Last, so that hardly any time is left in which it may change.
        still_there(claim, options)?;
        let is_named = match there {
            Some(_) => candidate.replace(claim).map(|()| true)?,
            None => candidate.create(claim, options.replace)?,
        };
        if is_named {
            return match options.sync {
                Sync::Full => candidate.settle(claim),
                Sync::None => Ok(()),
            };
        }
    }
    Err(Error::new(Operation::Commit, Reason::Changed, &claim.path)
        .detail("another program makes and removes it again and again"))
}

fn is_unsupported<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Unsupported)
}

/// File systems without hard links answer in either way.
fn cannot_link<T>(result: &io::Result<T>) -> bool {
    is_unsupported(result)
        || result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}
