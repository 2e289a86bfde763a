//! The commit of a job: each part once, in order.
//!
//! ```text
//! file       lock → draft → CHOSEN → segments to their places → the name → COMMITTED → remove segments
//! segments   lock → sync folder → MANIFEST → remove other segments
//! ```
//!
//! After any kill, the next commit begins again from the segments. CHOSEN lists the output that may
//! be at the target already: if its bytes are there, its attempts are taken again; otherwise no
//! reader has seen it, and the commit chooses again. A commit that fails, and knows that the target
//! is unchanged, removes CHOSEN under its lock. Nothing is removed before the output is durable.

use std::io::ErrorKind;
use std::sync::Arc;

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::data::{Done, Form, bytes_of};
use super::files::{self, CHOSEN, COMMITTED};
use super::place::{self, PlacedBytes};
use super::plan::Plan;
use crate::error::{Error, Operation, Reason, Result, counted};
use crate::sink::claim::Claim;
use crate::sink::fs::{Facts, FileKind, FsFolder};
use crate::sink::{Draft, not_in_place};

/// The report of a job's commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommittedJob {
    /// Bytes of the output.
    pub bytes: u64,
    /// The CRC-32C of the bytes.
    pub crc32c: u32,
    /// Parts of the output.
    pub parts: u64,
    /// Bytes that were moved to their places by sharing blocks.
    pub cloned: u64,
    /// Bytes that were copied to their places.
    pub copied: u64,
}

impl Plan {
    /// Joins the parts, in order, into the output, and makes it visible in one step.
    ///
    /// `done` are the receipts that the parts' attempts returned, in any order. If a part has
    /// several, the first counts. The receipts from [`done`](Self::done) are enough.
    ///
    /// It may be called again after a failure or a kill, by another process too, and returns the
    /// same result if the job is committed. Attempts that ended after a failed commit count in the
    /// next one. After a commit that was killed they count, unless the target already has the bytes
    /// that it chose: then those stay. With [`Form::File`], the segments of the parts are removed at
    /// the end; [`remove`](Self::remove) removes the folder.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if a part is missing, with its index, or a receipt is of another job; [`Reason::Changed`] if an input
    /// has changed since the job was planned, or if the job is committed and its output is gone or
    /// has another length; [`Reason::Busy`] if another process commits the job, or writes the
    /// target; [`Reason::Corrupt`] if the bytes of a part are not those of its receipt, with part
    /// and bytes: do this part again; those of writing the target, which is then unchanged, unless
    /// the reason is [`Reason::OutcomeUnknown`].
    pub fn commit(&self, done: &[Done]) -> Result<CommittedJob> {
        self.check_receipts(done)?;
        let folder = self.open_folder()?;
        let _lock = files::lock(&*folder, &self.folder)?;
        match (self.form, self.committed(&*folder)?) {
            (Form::File, Some(committed)) => {
                self.check_target(&committed)?;
                self.remove_segments(&*folder, &[]);
                Ok(committed)
            }
            (Form::File, None) => self.commit_file(&folder, done),
            (Form::Segments, Some(committed)) => {
                self.commit_segments_again(&folder).map(|()| committed)
            }
            (Form::Segments, None) => self.commit_segments(&folder, done),
        }
    }

    /// Returns the report of the commit, `None` before it has ended. Looks up two names at most.
    ///
    /// # Errors
    ///
    /// The errors of reading the folder.
    pub fn outcome(&self) -> Result<Option<CommittedJob>> {
        self.committed(&*self.open_folder()?)
    }

    fn commit_file(&self, folder: &Arc<dyn FsFolder>, done: &[Done]) -> Result<CommittedJob> {
        let earlier = self.chosen(&**folder)?;
        let found = match &earlier {
            Some(chosen) => self.found_at_target(&**folder, chosen)?,
            None => None,
        };
        let chosen = match (found, &earlier) {
            // A killed commit has placed them: a reader may have seen these bytes.
            (Some(_), Some(chosen)) => chosen.clone(),
            // For a part without a receipt, the earlier choice is as good.
            (_, earlier) => self.choose(done.iter().chain(earlier.iter().flatten()))?,
        };
        self.check_inputs()?;
        let committed = match found {
            Some(found) => {
                // The commit that named the target was killed, perhaps before it removed its lock.
                Claim::sweep(&self.target, &*self.output.draft.fs);
                self.settle_target().map(|()| found)?
            }
            None => {
                self.check_lens(&**folder, &chosen)?;
                self.make(folder, earlier.as_deref(), &chosen)?
            }
        };
        self.create_json(folder, COMMITTED, &committed)
            .map_err(|error| self.not_recorded(std::io::Error::other(error)))?;
        self.remove_segments(&**folder, &[]);
        Ok(committed)
    }

    /// Places the chosen attempts, and gives the output its name. Foreseeable refusals come before
    /// the choice is recorded.
    fn make(
        &self,
        folder: &Arc<dyn FsFolder>,
        earlier: Option<&[Done]>,
        chosen: &[Done],
    ) -> Result<CommittedJob> {
        // Now its path always leads to the same folder.
        let output = self.output().in_same_folders(&[&self.target]);
        self.at.as_ref().map_or(Ok(()), |at| at.check(&self.target, &*output.draft.fs))?;
        let draft = output.begin(&self.target).map_err(not_in_place)?;
        place::reserve(&draft, bytes_of(chosen))?;
        self.record_choice(folder, earlier, chosen)?;
        self.place_all(folder, chosen, draft).inspect_err(|error| {
            // The target is unchanged: the next commit may take other attempts.
            if error.reason() != Reason::OutcomeUnknown {
                let _ = folder.remove(CHOSEN.as_ref());
            }
        })
    }

    /// Copies all parts into a draft, and commits the draft.
    fn place_all(
        &self,
        folder: &Arc<dyn FsFolder>,
        chosen: &[Done],
        draft: Draft,
    ) -> Result<CommittedJob> {
        let output = self.output();
        let into = place::JobOutput { draft: &draft, output: &output };
        let placed = place::place(folder, &self.folder, chosen, into)?;
        let bytes = bytes_of(chosen);
        output.hooks.commit(&self.target, bytes, || draft.commit(bytes))?;
        Ok(self.report(chosen, placed))
    }

    pub(super) fn report(&self, chosen: &[Done], placed: PlacedBytes) -> CommittedJob {
        CommittedJob {
            bytes: bytes_of(chosen),
            crc32c: crc_of(chosen),
            parts: chosen.len() as u64,
            cloned: placed.cloned,
            copied: placed.copied,
        }
    }

    /// Returns the report of the commit, if the target has its bytes: looks at each byte if the length is right.
    /// A file of another user is not ours: where a commit gave one to the owner of the file that it replaced, it is
    /// made again.
    fn found_at_target(
        &self,
        folder: &dyn FsFolder,
        chosen: &[Done],
    ) -> Result<Option<CommittedJob>> {
        let failed = |error| Error::io(Operation::Read, &self.target, error);
        let located = self.output.draft.fs.locate(&self.target).map_err(failed)?;
        let committed = self.report(chosen, PlacedBytes::default());
        let there = located.folder.facts(&located.name).map_err(failed)?;
        let owners = [geteuid().as_raw(), folder.own_facts().map_err(failed)?.owner];
        let is_ours = |it: &Facts| owners.contains(&it.owner);
        let is_it = |it: &Facts| it.kind == FileKind::File && it.len == committed.bytes;
        if !there.is_some_and(|there| is_it(&there) && is_ours(&there)) {
            return Ok(None);
        }
        let file = located.folder.open(&located.name).map_err(failed)?;
        let found = place::is_placed(folder, chosen, &*file).map_err(failed)?;
        Ok(found.then_some(committed))
    }

    /// Syncs the target and its name: the commit that gave the name was killed, perhaps before its syncs.
    fn settle_target(&self) -> Result<()> {
        if !self.is_durable {
            return Ok(());
        }
        let located = self.output.draft.fs.locate(&self.target);
        let synced = located.and_then(|at| {
            at.folder.open(&at.name)?.sync()?;
            at.folder.sync()
        });
        synced.map_err(|error| Error::io(Operation::Sync, &self.target, error))
    }

    /// Fails if the output of a committed job is gone, or has another length.
    fn check_target(&self, committed: &CommittedJob) -> Result<()> {
        let located = self.output.draft.fs.locate(&self.target);
        let there = match located.and_then(|at| at.folder.facts(&at.name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            there => {
                there.map_err(|error| Error::io(Operation::Inspect, &self.target, error))?
            }
        };
        let detail = match there {
            Some(it) if it.len == committed.bytes => return Ok(()),
            Some(it) => format!(
                "the job has committed {}, and the file has {} now",
                counted(committed.bytes, "byte"),
                it.len
            ),
            None => String::from("the job has committed it, and it is not there any more"),
        };
        Err(Error::new(Operation::Commit, Reason::Changed, &self.target).detail(detail).hint(
            "plan the job again, or remove the job's folder if the output was meant to change",
        ))
    }

    /// Returns the error for an output that exists but is not recorded in the folder.
    pub(super) fn not_recorded(&self, error: std::io::Error) -> Error {
        Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.folder)
            .caused_by(error)
            .detail("the output is complete, but the folder of the job could not be updated")
            .hint("commit the job again: it goes on from here")
    }
}

fn crc_of(chosen: &[Done]) -> u32 {
    chosen.iter().fold(0, |sum, done| swath_simd::crc32c_combine(sum, done.crc32c, done.len))
}
