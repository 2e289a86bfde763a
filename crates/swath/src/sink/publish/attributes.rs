//! Mode, owner, attributes and times of a finished file, set before it gets its name.

use std::io::{self, ErrorKind};

use rustix::io::Errno;
use rustix::process::geteuid;
use swath_plan::fallback::Fallback;

use super::Candidate;
use crate::error::{Operation, Result};
use crate::sink::claim::Claim;
use crate::sink::existing::{access_of, explained};
use crate::sink::fs::{CLOSED, Facts};
use crate::sink::permissions::{WIDER, beyond};

impl Candidate {
    /// Sets the requested times. Returns a fallback if that fails.
    ///
    /// # Errors
    ///
    /// The errors of writes that the file system has deferred.
    pub(super) fn take_times(&self) -> io::Result<Option<Fallback>> {
        let Some(times) = self.times else { return Ok(None) };
        // Setting times may write, and would report the error of a deferred write as its own, once.
        self.file.flush()?;
        let refused = self.file.set_times(times).err();
        Ok(refused.map(|why| Fallback::TimesNotKept { why: why.to_string() }))
    }

    /// Sets the attributes of the model, of the replaced file or, without either, of a new file.
    /// Returns `false` if the file to be replaced is no longer there.
    pub(super) fn take_attributes(
        &self,
        claim: &Claim,
        replaced: Option<&Facts>,
    ) -> Result<bool> {
        let taken = match (&self.model, replaced, self.mode) {
            (Some(model), ..) => self.file.copy_attributes_of(&**model).map(|()| true),
            (None, Some(seen), _) => {
                let copied = self.file.copy_attributes(&*self.folder, &claim.name, seen);
                // The old permissions are unknown: perhaps only its owner might read the old file.
                match copied {
                    Ok(true) if !self.are_modes_shown => {
                        self.file.set_mode(CLOSED).map(|()| true)
                    }
                    copied => copied,
                }
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

    /// Sets the permissions to replace a file that was not there at the beginning: another user may have chosen
    /// which of this user's files it is. So the new one lets in only users that the candidate, that file and the
    /// file that was there `before`, if any, let in.
    pub(super) fn take_least(
        &self,
        claim: &Claim,
        there: &Facts,
        before: Option<&Facts>,
    ) -> Result<bool> {
        // sshfs may show the same file as another one: its permissions are kept.
        let is_remote = self.is_remote;
        if (self.model.is_some() || is_remote) && !self.take_attributes(claim, Some(there))? {
            return Ok(false);
        }
        let most = match before {
            _ if self.model.is_some() => return Ok(true),
            Some(before) if is_remote && there.mode & 0o777 & !before.mode == 0 => {
                return Ok(true);
            }
            Some(before) if is_remote => Ok(before.mode & 0o777),
            _ => self.usual_mode(),
        };
        let old = access_of(&*self.folder, &claim.name, there).in_group(None);
        let taken = most.and_then(|mode| self.file.set_mode(mode & old));
        taken.map_err(|error| self.failed(claim, Operation::Commit, error)).map(|()| true)
    }

    /// Fails if the file lets in users whom the replaced file keeps out: some mounts and servers change the
    /// permissions and the owner that a file is given.
    pub(crate) fn refuse_wider(
        &self,
        claim: &Claim,
        operation: Operation,
        replaced: &Facts,
    ) -> Result<()> {
        // Files without a name at first are the kernel's, with reliable permissions.
        if !self.is_hidden {
            return Ok(());
        }
        let own = self.file.facts().map_err(|error| claim.error(Operation::Inspect, error))?;
        let users = [replaced.owner, geteuid().as_raw()];
        // Its new owner may read it, and could not read the replaced file.
        let is_given_away = !users.contains(&own.owner) && replaced.mode & 0o004 == 0;
        if !is_given_away && beyond(own.mode, replaced.mode) == 0 {
            return Ok(());
        }
        let refused = explained(&Errno::PERM.into(), WIDER);
        Err(claim.error(operation, refused).hint("write to another name"))
    }

    /// Returns a note if the file lets in more users than its model or the caller allowed.
    pub(super) fn note_mode(
        &self,
        claim: &Claim,
        replaced: Option<&Facts>,
    ) -> Result<Option<Fallback>> {
        let failed = |error| claim.error(Operation::Inspect, error);
        let given = match (&self.model, replaced, self.mode) {
            _ if !self.is_hidden => return Ok(None),
            (None, Some(_), _) if !self.are_modes_shown => {
                return Ok(Some(Fallback::ModeNotShown));
            }
            (Some(model), ..) => model.facts().map_err(failed)?.mode & 0o777,
            (None, None, Some(mode)) => mode,
            (None, ..) => return Ok(None),
        };
        let shown = self.file.facts().map_err(failed)?.mode;
        // A mount that gives all files one mode lets their readers and writers in, and makes programs of them.
        let all = if self.are_modes_shown { shown } else { shown & 0o666 };
        let wider = beyond(all, given);
        Ok((wider != 0).then_some(Fallback::ModeNotKept { given, wider }))
    }
}
