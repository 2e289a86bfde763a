//! The mode, owner, attributes and times that a finished file takes over before it gets its name.

use std::io::ErrorKind;

use rustix::io::Errno;
use swath_plan::fallback::Fallback;

use super::Candidate;
use crate::error::{Operation, Result};
use crate::sink::claim::Claim;
use crate::sink::existing::{access_of, explained};
use crate::sink::fs::Facts;
use crate::sink::permissions::{WIDER, beyond};

impl Candidate {
    /// Takes the times that were given to it. Returns why it has others.
    pub(super) fn take_times(&self) -> Option<Fallback> {
        let refused = self.file.set_times(self.times?).err()?;
        Some(Fallback::TimesNotKept { why: refused.to_string() })
    }

    /// Takes the attributes of its model, of the file that is replaced, or of a new file without
    /// either. Returns `false` if the file that is replaced is no longer there.
    pub(super) fn take_attributes(
        &self,
        claim: &Claim,
        replaced: Option<&Facts>,
    ) -> Result<bool> {
        let taken = match (&self.model, replaced, self.mode) {
            (Some(model), ..) => self.file.copy_attributes_of(&**model).map(|()| true),
            (None, Some(seen), _) => {
                self.file.copy_attributes(&*self.folder, &claim.name, seen)
            }
            (None, None, Some(mode)) => self.file.set_mode(mode).map(|()| true),
            (None, None, None) => Ok(true),
        };
        taken.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied if self.is_hidden => {
                let what = "the permissions of a new file cannot be changed on this mount";
                claim.error(Operation::Commit, explained(&error, what)).hint(
                    "mount it so that new files are yours (sshfs: `-o idmap=user`), or write elsewhere",
                )
            }
            _ => self.failed(claim, Operation::Commit, error),
        })
    }

    /// Of a file that was not there at the beginning: another user may have chosen which of this user's files it
    /// is. So the new one lets in those whom both let in.
    pub(super) fn take_least(&self, claim: &Claim, there: &Facts) -> Result<bool> {
        if self.model.is_some() {
            return self.take_attributes(claim, Some(there));
        }
        let old = access_of(&*self.folder, &claim.name, there).in_group(None);
        let taken = self.usual_mode().and_then(|mode| self.file.set_mode(mode & old));
        taken.map_err(|error| self.failed(claim, Operation::Commit, error)).map(|()| true)
    }

    /// Fails if it lets in more users than the file that it replaces does. Returns a note if it lets in more than its
    /// model or the caller gave it: some mounts and servers change what they are given.
    pub(super) fn check_mode(
        &self,
        claim: &Claim,
        replaced: Option<&Facts>,
    ) -> Result<Option<Fallback>> {
        let failed = |error| claim.error(Operation::Inspect, error);
        let given = match (&self.model, replaced, self.mode) {
            // Where files have no name at first, their permissions are the kernel's.
            _ if !self.is_hidden => return Ok(None),
            (Some(model), ..) => model.facts().map_err(failed)?.mode & 0o777,
            (None, Some(there), _) => there.mode & 0o777,
            (None, None, Some(mode)) => mode,
            (None, None, None) => return Ok(None),
        };
        let wider = beyond(&*self.file, given).map_err(failed)?;
        match replaced {
            _ if wider == 0 => Ok(None),
            Some(_) if self.model.is_none() => {
                let refused = explained(&Errno::PERM.into(), WIDER);
                Err(claim.error(Operation::Commit, refused).hint("write to another name"))
            }
            _ => Ok(Some(Fallback::ModeNotKept { given, wider })),
        }
    }
}
