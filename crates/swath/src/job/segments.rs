//! The commit of a job whose folder is the output: writes a manifest, and moves nothing.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use swath_os::access::Access;
use swath_os::advise::{FileAdvice, advise_file};
use swath_plan::extent::Extent;
use swath_plan::segment::manifest::{Manifest, ManifestExtent, Segment};

use super::commit::CommittedJob;
use super::data::{Done, Form, bytes_of};
use super::files::{self, COMMITTED};
use super::folder::is_at;
use super::place::{PlacedBytes, other_bytes, sum_of};
use super::plan::Plan;
use crate::error::{Error, Operation, Reason, Result, counted};
use crate::sink::fs::FsFolder;
use crate::sink::permissions::mode_of_folder;
use crate::sink::{MANIFEST, read_manifest};

impl Plan {
    /// Returns the report of an earlier commit, if there was one.
    pub(super) fn committed(&self, folder: &dyn FsFolder) -> Result<Option<CommittedJob>> {
        if self.form == Form::File {
            let hint =
                "check whether the output is complete, then remove the folder of the job";
            return self.read_json(folder, COMMITTED, hint);
        }
        let Some(manifest) = self.manifest(folder)? else { return Ok(None) };
        let extents = manifest.extents().iter();
        let crc32c = extents.fold(0, |sum, it| {
            swath_simd::crc32c_combine(sum, it.crc32c.unwrap_or_default(), it.extent.len())
        });
        let parts = self.parts.len() as u64;
        Ok(Some(CommittedJob { bytes: manifest.len(), crc32c, parts, cloned: 0, copied: 0 }))
    }

    fn manifest_path(&self) -> PathBuf {
        self.folder.join(MANIFEST)
    }

    fn manifest(&self, folder: &dyn FsFolder) -> Result<Option<Manifest>> {
        let path = self.manifest_path();
        let Some(bytes) = read_manifest(folder, &path)? else { return Ok(None) };
        let manifest = Manifest::decode(&bytes, crc32c::crc32c_append);
        manifest.map(Some).map_err(|error| {
            Error::new(Operation::Read, Reason::Corrupt, &path).detail(error.to_string())
        })
    }

    pub(super) fn commit_segments(
        &self,
        folder: &Arc<dyn FsFolder>,
        done: &[Done],
    ) -> Result<CommittedJob> {
        let path = self.manifest_path();
        let chosen = self.choose(done)?;
        self.check_inputs()?;
        self.check_lens(&**folder, &chosen)?;
        self.check_bytes(&**folder, &chosen)?;
        let manifest = self.manifest_of(&chosen)?.encode(crc32c::crc32c_append);
        if self.is_durable {
            // Makes the names of the segments durable; their bytes are already.
            folder.sync().map_err(|error| Error::io(Operation::Sync, &path, error))?;
        }
        let bytes = bytes_of(&chosen);
        let created = self.output.hooks.commit(&self.folder, bytes, || {
            files::create(folder, MANIFEST, &manifest, self.is_durable)
                .map_err(|error| self.not_known(&**folder, error))
        })?;
        if !created {
            let taken = || Error::io(Operation::Commit, &path, Errno::EXIST.into());
            return self.committed(&**folder)?.ok_or_else(taken);
        }
        self.open_to_readers(&**folder)?;
        if !self.stands(&**folder) {
            return Err(Error::new(Operation::Commit, Reason::Changed, &self.folder)
                .detail("another program has put another folder in its place")
                .hint("move it back, then commit the job again"));
        }
        self.remove_segments(&**folder, &chosen);
        Ok(self.report(&chosen, PlacedBytes::default()))
    }

    /// Reads back the bytes of attempts where a server or a program stores them: it reports each error once, perhaps
    /// to a process that the writer has started.
    fn check_bytes(&self, folder: &dyn FsFolder, chosen: &[Done]) -> Result<()> {
        let written: Vec<&Done> = chosen.iter().filter(|done| done.len > 0).collect();
        let failed = |done: &Done, error| {
            Error::io(Operation::Read, &self.folder.join(done.file_name()), error)
        };
        let open = |done: &Done| {
            folder.open(done.file_name().as_ref()).map_err(|error| failed(done, error))
        };
        // All segments are on the file system of their folder, so one stands for all.
        let Some(first) = written.first() else { return Ok(()) };
        if !open(first)?.is_remote() {
            return Ok(());
        }
        let check = |index: usize| {
            let done = written[index];
            let file = open(done)?;
            // The kernel may have cached bytes that the server lacks.
            if let Some(descriptor) = file.descriptor() {
                let _ = advise_file(descriptor, 0, 0, FileAdvice::DontNeed);
            }
            let sum = sum_of(&*file, done.len).map_err(|error| failed(done, error))?;
            let is_right = sum == done.crc32c;
            let other = || other_bytes(&self.folder.join(done.file_name()), done);
            is_right.then_some(()).ok_or_else(other)
        };
        files::at_once(written.len(), check).map(drop)
    }

    /// Whether the path still leads to the folder, as far as can be determined.
    fn stands(&self, folder: &dyn FsFolder) -> bool {
        let located = self.output.draft.fs.locate(&self.folder);
        match located.and_then(|at| is_at(&*at.folder, &at.name, folder)) {
            Ok(is_there) => is_there,
            Err(error) => {
                ![ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind())
            }
        }
    }

    /// Completes an earlier commit, whose process may have been killed.
    pub(super) fn commit_segments_again(&self, folder: &Arc<dyn FsFolder>) -> Result<()> {
        let path = self.manifest_path();
        if let Some(manifest) = self.manifest(&**folder)? {
            self.check_segments(&**folder, &manifest)?;
        }
        if self.is_durable {
            folder.sync().map_err(|error| Error::io(Operation::Sync, &path, error))?;
        }
        self.open_to_readers(&**folder)
    }

    /// Fails if a segment of the output is gone, or has another length.
    fn check_segments(&self, folder: &dyn FsFolder, manifest: &Manifest) -> Result<()> {
        let segments = manifest.segments();
        let check = |index: usize| {
            let Segment { name, len } = &segments[index];
            let path = self.folder.join(&**name);
            let facts = folder.facts((**name).as_ref());
            let facts = facts.map_err(|error| Error::io(Operation::Inspect, &path, error))?;
            let detail = match facts {
                Some(it) if it.len >= *len => return Ok(()),
                Some(it) => {
                    format!(
                        "it had {} at the commit, and has {}",
                        counted(*len, "byte"),
                        it.len
                    )
                }
                None => String::from("the job has committed it, and it is not there any more"),
            };
            Err(Error::new(Operation::Commit, Reason::Changed, &path)
                .detail(detail)
                .hint("plan the job again, with another output"))
        };
        files::at_once(segments.len(), check).map(drop)
    }

    /// Returns the error of a manifest that was not written, or may have been.
    fn not_known(&self, folder: &dyn FsFolder, error: std::io::Error) -> Error {
        match folder.facts(MANIFEST.as_ref()) {
            Ok(None) => Error::io(Operation::Commit, &self.folder, error),
            _ => Error::new(Operation::Commit, Reason::OutcomeUnknown, &self.folder)
                .caused_by(error)
                .detail("the manifest is there, but a power cut might undo that")
                .hint("check the device, then commit the job again"),
        }
    }

    /// Opens the folder, until now its owner's alone, to the readers of its files.
    fn open_to_readers(&self, folder: &dyn FsFolder) -> Result<()> {
        let manifest = folder.facts(MANIFEST.as_ref());
        let opened = manifest.and_then(|facts| match facts {
            Some(facts) => {
                // Files need not have the group of their folder.
                let files = folder.open(MANIFEST.as_ref())?.access()?.group();
                let files = Access::new(facts.mode, files);
                let group = folder.access()?.group();
                let inputs = self.access_of_inputs().in_group(group);
                folder.set_mode(mode_of_folder(files.in_group(group) & inputs))
            }
            None => Ok(()),
        });
        opened.map_err(|error| self.not_recorded(error))
    }

    fn manifest_of(&self, chosen: &[Done]) -> Result<Manifest> {
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
}
