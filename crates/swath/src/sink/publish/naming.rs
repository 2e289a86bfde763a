//! How a candidate gets its name: a free one, or that of what it replaces.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};

use rustix::io::Errno;

use super::{Candidate, other_len};
use crate::error::{Error, Operation, Result};
use crate::sink::claim::Claim;
use crate::sink::existing::{
    KEPT, Replace, cannot_link, explained, is_kept_by_its_owner, is_unsupported, mounted, taken,
};
use crate::sink::fs::Facts;
use crate::source::is_lost;

impl Candidate {
    /// Whether nothing has happened because the file system gives a file no second name. Some programs of FUSE answer
    /// with errors that mean something else, and leave all names as they were.
    fn is_without_links(&self, name: &OsStr, error: &io::Error) -> bool {
        let is_odd = error.kind() == ErrorKind::NotFound
            || Errno::from_io_error(error) == Some(Errno::IO);
        cannot_link(error)
            || is_odd
                && self.file.is_remote()
                && self.stands_under(&self.hidden).unwrap_or(false)
                && matches!(self.folder.facts(name), Ok(None))
    }

    /// Fails where the commit could give no name that is free; finds out with another name.
    pub(crate) fn check_new_name(&self, claim: &Claim) -> Result<()> {
        let other = claim.scratch();
        if !self.is_hidden {
            return Ok(());
        }
        let is_moved = |moved: &io::Result<()>| {
            moved.is_ok() || self.stands_under(&other).is_ok_and(|is_there| is_there)
        };
        let mut given = self.folder.rename_new(&self.hidden, &other);
        if is_unsupported(&given) {
            given = self.folder.link(&*self.file, &other);
            if is_moved(&given) {
                given = self.folder.remove(&other).and(given);
            } else if given.as_ref().is_err_and(|error| self.is_without_links(&other, error)) {
                return given.map_err(|error| self.no_new_name(claim, &error));
            }
        } else if is_moved(&given) {
            // Spilled bytes may get that name.
            given = self.folder.rename(&other, &self.hidden).and(given);
        }
        match given {
            // Another user's file is under the name of the test.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            given => given.map_err(|error| claim.error(Operation::Create, error)),
        }
    }

    fn no_new_name(&self, claim: &Claim, error: &io::Error) -> Error {
        let what = "here a file cannot get a name only if it is free: no hard links, or none to files of other users";
        let hint = "allow what is there to be replaced (`--force`, or no `--no-clobber`), or mount it so that new files are yours (sshfs: `-o idmap=user`)";
        self.not_named(claim, explained(error, what)).hint(hint)
    }

    /// Gives a name that is free; `false` if something has appeared there that may be replaced.
    pub(super) fn create(&mut self, claim: &Claim, replace: Replace) -> Result<bool> {
        let mut given = if self.is_hidden {
            self.folder.rename_new(&self.hidden, &claim.name)
        } else {
            self.folder.link(&*self.file, &claim.name)
        };
        if self.is_hidden && given.is_ok() {
            self.is_hidden = false;
            return self.confirm(claim).map(|()| true);
        }
        if self.is_hidden && is_unsupported(&given) {
            // Both names for a moment; the hidden one is removed when the candidate is dropped.
            given = self.folder.link(&*self.file, &claim.name);
        }
        let is_refused = |error: &io::Error| self.is_without_links(&claim.name, error);
        let is_without_links = self.is_hidden && given.as_ref().is_err_and(is_refused);
        match given {
            Ok(()) => Ok(true),
            Err(_) if is_without_links && replace == Replace::Allowed => {
                self.rename(claim).map(|()| true)
            }
            Err(error) if is_without_links => Err(self.no_new_name(claim, &error)),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(self.not_named(claim, error))
            }
            // Possibly our own link: the reply was lost, and the call repeated.
            Err(error) if self.stands(claim).unwrap_or(true) => {
                Err(claim.outcome_unknown(error))
            }
            // FUSE and file servers remember names that have been removed elsewhere.
            Err(_)
                if replace == Replace::Allowed
                    && self.is_hidden
                    && matches!(self.folder.facts(&claim.name), Ok(None)) =>
            {
                self.rename(claim).map(|()| true)
            }
            Err(_) if replace == Replace::Allowed => Ok(false),
            Err(_) => Err(taken(&claim.path)),
        }
    }

    /// Takes the place of `seen`; `false` if that is no longer there.
    pub(super) fn replace(&mut self, claim: &Claim, seen: &Facts) -> Result<bool> {
        if !self.is_hidden {
            self.hide(claim).map_err(|error| claim.error(Operation::Commit, error))?;
        }
        // Long after the first look, because of the sync. A file that appears between this look
        // and the rename is replaced.
        let there = self.folder.facts(&claim.name);
        let there = there.map_err(|error| claim.error(Operation::Inspect, error))?;
        if !there.is_some_and(|there| there.are_of_one_file(seen)) {
            return Ok(false);
        }
        let renamed = self.rename(claim);
        // Where the server replaces no file, sshfs moves the old one away first.
        let is_gone = || matches!(self.folder.facts(&claim.name), Ok(None));
        if self.is_remote && renamed.is_err() && is_gone() {
            return Err(claim.answer_lost(ErrorKind::NotFound.into()));
        }
        renamed.map(|()| true)
    }

    /// Renames the hidden name over the target.
    pub(super) fn rename(&mut self, claim: &Claim) -> Result<()> {
        match self.folder.rename(&self.hidden, &claim.name) {
            Ok(()) => {
                self.is_hidden = false;
                self.confirm(claim)
            }
            Err(error) => Err(self.not_named(claim, error)),
        }
    }

    /// Gives the hidden name, or the name to use instead.
    pub(super) fn hide(&mut self, claim: &Claim) -> io::Result<()> {
        // Before the reply, which may be lost: then the name is removed anyway.
        self.is_hidden = true;
        match self.folder.link(&*self.file, &self.hidden) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.hidden = claim.instead_of(std::mem::take(&mut self.hidden))?;
                self.folder.link(&*self.file, &self.hidden)
            }
            linked => linked,
        }
    }

    /// The renamed file is the one that was under the hidden name then.
    pub(super) fn confirm(&self, claim: &Claim) -> Result<()> {
        match self.own_under(&claim.name) {
            Ok(Some(there)) => match self.len.filter(|len| self.is_remote && *len != there.len)
            {
                // A program that has reported success and replaced nothing.
                Some(len) => Err(claim.outcome_unknown(other_len(there.len, len))),
                None => Ok(()),
            },
            Ok(None) => {
                Err(claim.changed("another program has put something else in its place"))
            }
            Err(error) => Err(claim.outcome_unknown(error)),
        }
    }

    /// The error of a step that should have given the name.
    fn not_named(&self, claim: &Claim, error: io::Error) -> Error {
        // sshfs takes a file for another one under a name that it has not given itself, and remembers names.
        if is_lost(&error) && self.is_remote {
            return claim.answer_lost(error);
        }
        match self.stands(claim) {
            Ok(false)
                if self.is_hidden
                    && (error.kind() == ErrorKind::NotFound
                        || !self.stands_under(&self.hidden).unwrap_or(true)) =>
            {
                claim.changed("another program has moved the temporary file")
            }
            Ok(false) if error.kind() == ErrorKind::ResourceBusy => {
                mounted(&claim.path, &error)
            }
            Ok(false)
                if error.kind() == ErrorKind::PermissionDenied
                    && is_kept_by_its_owner(claim, &*self.file) =>
            {
                claim.error(Operation::Commit, error).hint(KEPT)
            }
            Ok(false) if self.is_remote && Errno::from_io_error(&error) == Some(Errno::PERM) => {
                claim.error(Operation::Commit, error).hint(
                    "mount it with `-o workaround=rename` if it is sshfs: its server replaces no file by a rename",
                )
            }
            Ok(false) => claim.error(Operation::Commit, error),
            // It reported a failure although the name is given; or the result is unknown.
            Ok(true) | Err(_) => claim.outcome_unknown(error),
        }
    }

    /// Whether the target is this file.
    pub(super) fn stands(&self, claim: &Claim) -> io::Result<bool> {
        self.stands_under(&claim.name)
    }

    pub(super) fn stands_under(&self, name: &OsStr) -> io::Result<bool> {
        self.own_under(name).map(|there| there.is_some())
    }

    /// The facts of what is under `name`, if it is this file.
    fn own_under(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        let there = self.folder.facts(name)?;
        let ours = self.file.facts()?.identity;
        Ok(there.filter(|there| there.identity == ours))
    }
}
