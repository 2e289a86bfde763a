//! The status of a job, from its folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use swath_plan::extent::Extent;
use swath_plan::words;

use super::data::bytes_of;
use super::data::{Done, Form};
use super::files;
use super::plan::{Plan, open, receipts};
use crate::error::{Error, Operation, Result};
use crate::sink::fs::Facts;

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Parts are missing.
    Running,
    /// Every part is done; no commit has begun.
    Complete,
    /// A commit has begun and not ended: run it again if its process is dead.
    Committing,
    /// The output is durable.
    Committed,
}

words!(State {
    Running = "running",
    Complete = "complete",
    Committing = "committing",
    Committed = "committed",
});

/// The status of a job, from its folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// The number that no other job has.
    pub id: String,
    /// The path of the output.
    pub target: PathBuf,
    /// The form of the output.
    pub form: Form,
    /// The progress of the job.
    pub state: State,
    /// Parts of the job.
    pub parts: u64,
    /// Parts that have a finished attempt. After the commit: all.
    pub done: u64,
    /// Finished attempts.
    pub attempts: u64,
    /// Bytes of the output; before the commit, of one attempt of each finished part.
    pub bytes: u64,
    /// Parts that are missing, as ranges of their indices.
    pub missing: Vec<Extent>,
    /// The time of the folder's last change, if known.
    pub changed: Option<SystemTime>,
}

/// Returns the status of a job, from its folder. Reads the plan and the names, but no segments.
///
/// ```
/// use swath::job;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
/// # std::fs::write(&input, "one\ntwo\n").unwrap();
/// let plan = job::JobOptions::new().with_parts(3).plan([&input], &output)?;
/// plan.part(1).unwrap().writer()?.finish()?;
/// let status = job::status(plan.folder())?;
/// assert_eq!((status.done, status.parts, status.state), (1, 3, job::State::Running));
/// # plan.abort()?;
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`open`](super::open); those of listing the folder.
pub fn status(folder: impl AsRef<Path>) -> Result<Status> {
    open(folder)?.status()
}

impl Plan {
    /// As [`status`].
    ///
    /// # Errors
    ///
    /// As [`status`].
    pub fn status(&self) -> Result<Status> {
        let folder = self.open_folder()?;
        let look = || Ok((folder.own_facts()?, files::entries(&*folder)?));
        let (own, entries) = look().map_err(|error| self.cannot_look(error))?;
        let mut done = receipts(&entries, self.parts.len());
        let parts = self.parts.len() as u64;
        let attempts = done.len() as u64;
        done.dedup_by_key(|done| done.part);
        let committed = self.committed(&*folder)?;
        let missing = match committed {
            Some(_) => Vec::new(),
            None => missing(&done, parts),
        };
        let is_chosen = entries.iter().any(|(name, _)| name == files::CHOSEN);
        let is_committing = self.form == Form::File && is_chosen;
        let state = match committed {
            Some(_) => State::Committed,
            None if is_committing => State::Committing,
            None if missing.is_empty() => State::Complete,
            None => State::Running,
        };
        Ok(Status {
            id: self.id.clone(),
            target: self.target.clone(),
            form: self.form,
            state,
            parts,
            done: if committed.is_some() { parts } else { done.len() as u64 },
            attempts,
            bytes: committed.map_or_else(|| bytes_of(&done), |committed| committed.bytes),
            missing,
            changed: last_change(&own, &entries),
        })
    }

    fn cannot_look(&self, error: std::io::Error) -> Error {
        Error::io(Operation::Inspect, &self.folder, error)
    }
}

/// Returns the ranges of indices below `parts` that no receipt has; `done` is in order.
fn missing(done: &[Done], parts: u64) -> Vec<Extent> {
    let mut missing = Vec::new();
    let mut next = 0;
    for part in done.iter().map(|done| done.part).chain([parts]) {
        if part > next {
            missing.push(Extent::between(next, part));
        }
        next = part + 1;
    }
    missing
}

/// Returns the time of the last write to the folder or its files.
pub(super) fn last_change(own: &Facts, entries: &[(OsString, Facts)]) -> Option<SystemTime> {
    let times = entries.iter().map(|(_, facts)| time_of(facts));
    times.fold(time_of(own), Option::max)
}

fn time_of(facts: &Facts) -> Option<SystemTime> {
    let (seconds, nanoseconds) = facts.modified?;
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parts_are_ranges() {
        let done = |parts: &[u64]| -> Vec<Done> {
            let done = |&part: &u64| Done { part, attempt: String::new(), len: 0, crc32c: 0 };
            parts.iter().map(done).collect()
        };
        let between = Extent::between;
        assert_eq!(missing(&done(&[]), 3), [between(0, 3)]);
        assert_eq!(missing(&done(&[0, 1, 2]), 3), []);
        assert_eq!(missing(&done(&[1, 4]), 6), [between(0, 1), between(2, 4), between(5, 6)]);
    }
}
