//! Chooses the attempts of a commit, and records them in small files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::data::Done;
use super::files::{self, CHOSEN};
use super::plan::Plan;
use crate::error::{Error, Operation, Reason, Result, counted};
use crate::sink::fs::FsFolder;

/// Maximum number of parts that an error names.
const NAMED: usize = 5;

impl Plan {
    /// Returns the first receipt of each part, in the order of parts.
    pub(super) fn choose<'d>(
        &self,
        done: impl IntoIterator<Item = &'d Done>,
    ) -> Result<Vec<Done>> {
        let mut chosen: Vec<Option<&Done>> = vec![None; self.parts.len()];
        for it in done {
            let place = self.place_of(it)?;
            chosen[place] = chosen[place].or(Some(it));
        }
        let missing: Vec<usize> =
            (0..chosen.len()).filter(|&part| chosen[part].is_none()).collect();
        if !missing.is_empty() {
            return Err(self
                .cannot_commit(not_done(&missing))
                .hint("do these parts, then commit with the receipts of all"));
        }
        Ok(chosen.into_iter().flatten().cloned().collect())
    }

    /// Fails if a receipt cannot be of this job, which may be committed.
    pub(super) fn check_receipts(&self, done: &[Done]) -> Result<()> {
        done.iter().try_for_each(|it| self.place_of(it).map(drop))
    }

    /// Returns the index of the receipt's part.
    fn place_of(&self, done: &Done) -> Result<usize> {
        let Done { part, attempt, .. } = done;
        let place = usize::try_from(*part).ok().filter(|&place| place < self.parts.len());
        place.filter(|_| done.is_well_formed()).ok_or_else(|| {
            self.cannot_commit(format!("attempt {attempt:?} of part {part} is not of this job"))
                .hint("pass the receipts of this job only")
        })
    }

    fn cannot_commit(&self, detail: String) -> Error {
        Error::new(Operation::Commit, Reason::Invalid, &self.folder).detail(detail)
    }

    /// Returns the attempts that an earlier commit chose, if it was killed or its outcome is unknown.
    pub(super) fn chosen(&self, folder: &dyn FsFolder) -> Result<Option<Vec<Done>>> {
        const AGAIN: &str = "remove this file, then commit again";
        let Some(chosen) = self.read_json::<Vec<Done>>(folder, CHOSEN, AGAIN)? else {
            return Ok(None);
        };
        match self.choose(&chosen) {
            Ok(whole) if whole == chosen => Ok(Some(chosen)),
            _ => Err(Error::new(Operation::Read, Reason::Corrupt, &self.folder.join(CHOSEN))
                .detail("it does not have one attempt of each part of this job")
                .hint(AGAIN)),
        }
    }

    /// Records the segments of the output. Called under the lock of the job, before a file gets the
    /// name of the target.
    pub(super) fn record_choice(
        &self,
        folder: &Arc<dyn FsFolder>,
        earlier: Option<&[Done]>,
        chosen: &[Done],
    ) -> Result<()> {
        match earlier {
            Some(earlier) if earlier == chosen => return Ok(()),
            Some(_) => folder.remove(CHOSEN.as_ref()).map_err(|error| {
                Error::io(Operation::Commit, &self.folder.join(CHOSEN), error)
            })?,
            None => {}
        }
        match self.create_json(folder, CHOSEN, chosen)? {
            true => Ok(()),
            // Possible only where the file system has no locks.
            false => Err(Error::new(Operation::Commit, Reason::Busy, &self.folder)
                .detail("another process has begun to commit this job")
                .hint("wait until it is done, then commit again: the result is the same")),
        }
    }

    /// Fails early if a segment does not match its receipt.
    pub(super) fn check_lens(&self, folder: &dyn FsFolder, chosen: &[Done]) -> Result<()> {
        let check = |index: usize| {
            let done: &Done = &chosen[index];
            let name = done.file_name();
            let path = self.folder.join(&name);
            let facts = folder.facts(name.as_ref());
            let facts = facts.map_err(|error| Error::io(Operation::Inspect, &path, error))?;
            let len = match facts {
                Some(facts) if facts.len == done.len => return Ok(()),
                Some(facts) => format!("has {}, not {}", counted(facts.len, "byte"), done.len),
                None => String::from("is not there"),
            };
            Err(Error::new(Operation::Inspect, Reason::Corrupt, &path)
                .detail(format!(
                    "what attempt {} of part {} wrote {len}",
                    done.attempt, done.part
                ))
                .hint("do this part again, then commit with its new receipt"))
        };
        files::at_once(chosen.len(), check).map(drop)
    }

    /// Removes segments. One that cannot be removed stays until the folder is removed: the commit
    /// stands.
    pub(super) fn remove_segments(&self, folder: &dyn FsFolder, kept: &[Done]) {
        let kept: BTreeSet<String> = kept.iter().map(Done::file_name).collect();
        let is_done = |name: &OsString| {
            name.to_str().is_some_and(|name| {
                name == CHOSEN || files::is_segment(name) && !kept.contains(name)
            })
        };
        let mut names = folder.list().unwrap_or_default();
        names.retain(is_done);
        let _ = files::remove_all(folder, &names);
    }

    /// Reads a small file, `None` if it is not there; `hint` is for one that is damaged.
    pub(super) fn read_json<T: for<'de> Deserialize<'de>>(
        &self,
        folder: &dyn FsFolder,
        name: &str,
        hint: &'static str,
    ) -> Result<Option<T>> {
        let path = self.folder.join(name);
        let Some(bytes) = files::read(folder, &self.folder, name)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::new(Operation::Read, Reason::Corrupt, &path)
                .detail(format!("it is damaged: {error}"))
                .hint(hint)
        })
    }

    /// Writes a small file; returns `false` if its name is taken.
    pub(super) fn create_json<T: Serialize + ?Sized>(
        &self,
        folder: &Arc<dyn FsFolder>,
        name: &str,
        value: &T,
    ) -> Result<bool> {
        let text = serde_json::to_string(value).expect("numbers and texts");
        let created = files::create(folder, name, text.as_bytes(), self.is_durable);
        created.map_err(|error| Error::io(Operation::Commit, &self.folder.join(name), error))
    }
}

/// Returns a text such as `parts 3, 7 and 12 more are not done`.
fn not_done(missing: &[usize]) -> String {
    let named: Vec<String> = missing.iter().take(NAMED).map(usize::to_string).collect();
    let more = missing.len() - named.len();
    match (missing.len(), more) {
        (1, _) => format!("part {} is not done", named[0]),
        (_, 0) => {
            let (last, first) = named.split_last().expect("two or more");
            format!("parts {} and {last} are not done", first.join(", "))
        }
        _ => format!("parts {} and {more} more are not done", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parts_are_named_and_many_are_counted() {
        assert_eq!(not_done(&[3]), "part 3 is not done");
        assert_eq!(not_done(&[3, 7, 9]), "parts 3, 7 and 9 are not done");
        let many: Vec<usize> = (0..17).collect();
        assert_eq!(not_done(&many), "parts 0, 1, 2, 3, 4 and 12 more are not done");
    }
}
