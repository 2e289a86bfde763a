//! The commit of a job: each part once, in order.
//!
//! ```text
//! file       lock → CHOSEN → segments to their places → the name → COMMITTED → remove segments
//! segments   lock → sync folder → MANIFEST → remove what was not chosen
//! ```
//!
//! Whatever is killed, the next commit begins again from the segments, with the attempts that were
//! chosen before. Nothing is removed before the output is durable.

use std::io::ErrorKind;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use swath_plan::extent::Extent;
use swath_plan::segment::manifest::{Manifest, ManifestExtent, Segment};

use super::data::{Done, Form, bytes_of};
use super::files::{self, CHOSEN, COMMITTED};
use super::place::{self, Placed};
use super::plan::Plan;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::FsFolder;
use crate::sink::{MANIFEST, mode_of_folder, read_manifest};

/// How many parts an error names.
const NAMED: usize = 5;

/// What a job's commit wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Committed {
    /// Bytes of the output.
    pub bytes: u64,
    /// Their CRC-32C.
    pub crc32c: u32,
    /// Parts it consists of.
    pub parts: u64,
    /// Bytes that were moved to their places by sharing blocks.
    pub cloned: u64,
    /// Bytes that were copied to their places.
    pub copied: u64,
}

impl Plan {
    /// Makes the output of the parts, in order, and makes it visible in one step.
    ///
    /// `done` are the receipts that the parts' attempts returned, in any order. If a part has
    /// several, the first counts, unless an earlier call has chosen already. Those of
    /// [`done`](Self::done) are enough.
    ///
    /// It may be called again after a failure or a kill, by another process too, and returns the
    /// same result if the job is committed. With [`Form::File`], everything that the parts wrote
    /// is removed at the end; [`remove`](Self::remove) removes the folder.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if a part is missing, with its index; [`Reason::Changed`] if an input
    /// has changed since the job was planned; [`Reason::Busy`] if another process commits the
    /// job, or writes the target; [`Reason::Corrupt`] if the bytes of a part are not those of its
    /// receipt, with part and bytes: do this part again; those of writing the target, which is
    /// then unchanged, unless the reason is [`Reason::OutcomeUnknown`].
    pub fn commit(&self, done: &[Done]) -> Result<Committed> {
        let folder = self.open_folder()?;
        let _lock = files::lock(&*folder, &self.folder)?;
        match self.form {
            Form::File => self.commit_file(&folder, done),
            Form::Segments => self.commit_segments(&folder, done),
        }
    }

    /// Returns what the commit wrote, `None` before it has ended. Looks at two names at most.
    ///
    /// # Errors
    ///
    /// Those of reading the folder.
    pub fn outcome(&self) -> Result<Option<Committed>> {
        self.committed(&*self.open_folder()?)
    }

    fn commit_file(&self, folder: &Arc<dyn FsFolder>, done: &[Done]) -> Result<Committed> {
        if let Some(committed) = self.committed(&**folder)? {
            self.remove_segments(&**folder, &[]);
            return Ok(committed);
        }
        let earlier: Option<Vec<Done>> = self.read_json(&**folder, CHOSEN)?;
        let was_begun = earlier.is_some();
        let chosen = match earlier {
            Some(chosen) => self.choose(&chosen)?,
            None => self.choose(done)?,
        };
        self.check_inputs()?;
        self.check_lens(&**folder, &chosen).inspect_err(|_| self.choose_again(&**folder))?;
        if !was_begun {
            self.create_json(folder, CHOSEN, &chosen)?;
        }
        let committed = match self.place_all(folder, &chosen) {
            Err(error)
                if was_begun
                    && !self.may_replace
                    && error.io_kind() == ErrorKind::AlreadyExists =>
            {
                // Possibly by the commit that was killed.
                self.found_at_target(&chosen)?.ok_or(error)?
            }
            placed => placed.inspect_err(|error| {
                if [Reason::Corrupt, Reason::Truncated].contains(&error.reason()) {
                    self.choose_again(&**folder);
                }
            })?,
        };
        self.create_json(folder, COMMITTED, &committed)
            .map_err(|error| self.not_recorded(std::io::Error::other(error)))?;
        self.remove_segments(&**folder, &[]);
        Ok(committed)
    }

    /// Copies all parts into a draft, and commits that.
    fn place_all(&self, folder: &Arc<dyn FsFolder>, chosen: &[Done]) -> Result<Committed> {
        let output = self.output();
        let draft = output.begin(&self.target)?;
        let placed = place::place(
            folder,
            &self.folder,
            chosen,
            place::Output { draft: &draft, output: &output },
        )?;
        let bytes = bytes_of(chosen);
        output.hooks.commit(&self.target, bytes, || draft.commit(bytes))?;
        Ok(self.report(chosen, placed))
    }

    fn report(&self, chosen: &[Done], placed: Placed) -> Committed {
        Committed {
            bytes: bytes_of(chosen),
            crc32c: crc_of(chosen),
            parts: chosen.len() as u64,
            cloned: placed.cloned,
            copied: placed.copied,
        }
    }

    /// What the commit wrote, if the target has it: looks at each byte.
    fn found_at_target(&self, chosen: &[Done]) -> Result<Option<Committed>> {
        let failed = |error| Error::io(Operation::Read, &self.target, error);
        let located = self.output.draft.fs.locate(&self.target).map_err(failed)?;
        let file = located.folder.open(&located.name).map_err(failed)?;
        let committed = self.report(chosen, Placed::default());
        if file.facts().map_err(failed)?.len != committed.bytes {
            return Ok(None);
        }
        let found = place::crc_of_file(&*file, committed.bytes).map_err(failed)?;
        Ok((found == committed.crc32c).then_some(committed))
    }

    fn commit_segments(&self, folder: &Arc<dyn FsFolder>, done: &[Done]) -> Result<Committed> {
        let path = self.folder.join(MANIFEST);
        let failed = |operation| {
            let path = &path;
            move |error| Error::io(operation, path, error)
        };
        if let Some(committed) = self.committed(&**folder)? {
            // The process that committed it may have been killed right after that.
            if self.is_durable {
                folder.sync().map_err(failed(Operation::Sync))?;
            }
            self.open_to_readers(&**folder)?;
            return Ok(committed);
        }
        let chosen = self.choose(done)?;
        self.check_inputs()?;
        self.check_lens(&**folder, &chosen)?;
        let manifest = self.manifest(&chosen)?.encode(crc32c::crc32c_append);
        if self.is_durable {
            // The names of the segments; their bytes are.
            folder.sync().map_err(failed(Operation::Sync))?;
        }
        let bytes = bytes_of(&chosen);
        let created = self.output.hooks.commit(&self.folder, bytes, || {
            files::create(folder, MANIFEST, &manifest, self.is_durable)
                .map_err(|error| self.not_known(&**folder, error))
        })?;
        if !created {
            return self
                .committed(&**folder)?
                .ok_or_else(|| failed(Operation::Commit)(ErrorKind::AlreadyExists.into()));
        }
        self.open_to_readers(&**folder)?;
        self.remove_segments(&**folder, &chosen);
        Ok(self.report(&chosen, Placed::default()))
    }

    /// The output is there, but the folder does not say so.
    fn not_recorded(&self, error: std::io::Error) -> Error {
        Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.folder)
            .caused_by(error)
            .detail("the output is complete, but the folder of the job could not be updated")
            .hint("commit the job again: it goes on from here")
    }

    /// The error of a manifest that could not be written, or may have been.
    fn not_known(&self, folder: &dyn FsFolder, error: std::io::Error) -> Error {
        match folder.facts(MANIFEST.as_ref()) {
            Ok(None) => Error::io(Operation::Commit, &self.folder, error),
            _ => Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.folder)
                .caused_by(error)
                .detail("the manifest is there, but a power cut might undo that")
                .hint("check the device, then commit the job again"),
        }
    }

    /// The folder was its owner's alone: now those may read it who may read its files.
    fn open_to_readers(&self, folder: &dyn FsFolder) -> Result<()> {
        let manifest = folder.facts(MANIFEST.as_ref());
        let opened = manifest.and_then(|facts| match facts {
            Some(facts) => folder.set_mode(mode_of_folder(facts.mode)),
            None => Ok(()),
        });
        opened.map_err(|error| self.not_recorded(error))
    }

    fn manifest(&self, chosen: &[Done]) -> Result<Manifest> {
        let mut segments = Vec::new();
        let mut extents = Vec::new();
        for done in chosen.iter().filter(|done| done.len > 0) {
            let segment = u32::try_from(segments.len()).unwrap_or(u32::MAX);
            let extent = Extent::between(0, done.len);
            extents.push(ManifestExtent { segment, extent, crc32c: Some(done.crc32c) });
            segments.push(Segment { name: done.file_name().into(), len: done.len });
        }
        Manifest::new(segments, extents).map_err(|error| {
            Error::new(Operation::Commit, Reason::Corrupt, &self.folder)
                .detail(format!("the manifest would be wrong: {error}"))
        })
    }

    /// What an earlier commit wrote, if there was one.
    pub(super) fn committed(&self, folder: &dyn FsFolder) -> Result<Option<Committed>> {
        if self.form == Form::File {
            return self.read_json(folder, COMMITTED);
        }
        let path = self.folder.join(MANIFEST);
        let Some(bytes) = read_manifest(folder, &path)? else { return Ok(None) };
        let manifest = Manifest::decode(&bytes, crc32c::crc32c_append).map_err(|error| {
            Error::new(Operation::Read, Reason::Corrupt, &path).detail(error.to_string())
        })?;
        let extents = manifest.extents().iter();
        let crc32c = extents.fold(0, |sum, it| {
            swath_simd::crc32c_combine(sum, it.crc32c.unwrap_or_default(), it.extent.len())
        });
        let parts = self.parts.len() as u64;
        Ok(Some(Committed { bytes: manifest.len(), crc32c, parts, cloned: 0, copied: 0 }))
    }

    /// One receipt for each part, in order.
    fn choose(&self, done: &[Done]) -> Result<Vec<Done>> {
        let mut chosen: Vec<Option<&Done>> = vec![None; self.parts.len()];
        let invalid = |detail: String| {
            Error::new(Operation::Commit, Reason::Invalid, &self.folder).detail(detail)
        };
        for it in done {
            let place = usize::try_from(it.part).ok().and_then(|part| chosen.get_mut(part));
            match place {
                Some(place) if it.is_well_formed() => *place = place.or(Some(it)),
                _ => {
                    let (part, attempt) = (it.part, &it.attempt);
                    let text = format!("attempt {attempt:?} of part {part} is not of this job");
                    return Err(invalid(text).hint("pass the receipts of this job only"));
                }
            }
        }
        let missing: Vec<usize> =
            (0..chosen.len()).filter(|&part| chosen[part].is_none()).collect();
        if !missing.is_empty() {
            return Err(invalid(not_done(&missing))
                .hint("do these parts, then commit with the receipts of all"));
        }
        Ok(chosen.into_iter().flatten().cloned().collect())
    }

    /// Fails early where a segment is not what its receipt says.
    fn check_lens(&self, folder: &dyn FsFolder, chosen: &[Done]) -> Result<()> {
        for done in chosen {
            let name = done.file_name();
            let path = self.folder.join(&name);
            let facts = folder.facts(name.as_ref());
            let facts = facts.map_err(|error| Error::io(Operation::Inspect, &path, error))?;
            let len = match facts {
                Some(facts) if facts.len == done.len => continue,
                Some(facts) => format!("has {} bytes, not {}", facts.len, done.len),
                None => String::from("is not there"),
            };
            return Err(Error::new(Operation::Inspect, Reason::Corrupt, &path)
                .detail(format!(
                    "what attempt {} of part {} wrote {len}",
                    done.attempt, done.part
                ))
                .hint("do this part again, then commit with its new receipt"));
        }
        Ok(())
    }

    /// Nothing was placed for good: the next commit may take another attempt.
    fn choose_again(&self, folder: &dyn FsFolder) {
        let _ = folder.remove(CHOSEN.as_ref());
    }

    /// What cannot be removed stays until the folder is: the commit stands.
    fn remove_segments(&self, folder: &dyn FsFolder, kept: &[Done]) {
        let kept: std::collections::BTreeSet<String> =
            kept.iter().map(Done::file_name).collect();
        for name in folder.list().unwrap_or_default() {
            let is_done =
                |name: &str| name == CHOSEN || files::is_segment(name) && !kept.contains(name);
            if name.to_str().is_some_and(is_done) {
                let _ = folder.remove(&name);
            }
        }
    }

    fn read_json<T: for<'de> Deserialize<'de>>(
        &self,
        folder: &dyn FsFolder,
        name: &str,
    ) -> Result<Option<T>> {
        let path = self.folder.join(name);
        let bytes = files::read(folder, name);
        let bytes = bytes.map_err(|error| Error::io(Operation::Read, &path, error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::new(Operation::Read, Reason::Corrupt, &path)
                .detail(error.to_string())
                .hint("remove this file, then commit again")
        })
    }

    fn create_json<T: Serialize>(
        &self,
        folder: &Arc<dyn FsFolder>,
        name: &str,
        value: &T,
    ) -> Result<()> {
        let text = serde_json::to_string(value).expect("numbers and texts");
        let created = files::create(folder, name, text.as_bytes(), self.is_durable);
        created
            .map(|_| ())
            .map_err(|error| Error::io(Operation::Commit, &self.folder.join(name), error))
    }
}

fn crc_of(chosen: &[Done]) -> u32 {
    chosen.iter().fold(0, |sum, done| swath_simd::crc32c_combine(sum, done.crc32c, done.len))
}

/// `parts 3, 7 and 12 more are not done`.
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
