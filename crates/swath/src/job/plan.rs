//! A plan: the shared data of all processes of a job.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use swath_os::access::Access;
use swath_plan::parts::Division;

use super::data::{DivisionText, Done, Form, Part, PartPiece, PlanPiece, is_number};
use super::files::{self, FolderOrigin, PlannedFolder, VERSION};
use super::input::JobInput;
use super::layout;
use super::target::TargetPlace;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::{Facts, FileKind, FsFolder};
use crate::sink::{Durability, OutputOptions, Replace, path_text};

/// A job: its inputs, its parts, and its target.
///
/// Plain data, apart from the options of its output: copies, in other processes too, are the same
/// job. Dropping it changes nothing on the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Plan {
    pub(super) version: u32,
    pub(super) id: String,
    #[serde(with = "path_text")]
    pub(super) folder: PathBuf,
    #[serde(with = "path_text")]
    pub(super) target: PathBuf,
    /// Where the path led at planning; absent in plans of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<TargetPlace>,
    /// Of the folder; absent where the file system keeps no time of creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<FolderOrigin>,
    pub(super) form: Form,
    #[serde(rename = "durable")]
    pub(super) is_durable: bool,
    #[serde(rename = "replace")]
    pub(super) may_replace: bool,
    #[serde(with = "DivisionText")]
    pub(super) division: Division,
    pub(super) inputs: Vec<JobInput>,
    pub(super) parts: Vec<Vec<PlanPiece>>,
    /// The CRC-32C of the JSON of the fields above; empty while it is computed.
    pub(super) crc32c: String,
    #[serde(skip)]
    pub(super) output: OutputOptions,
}

/// An unchecked plan, as read from a file.
#[derive(Deserialize)]
struct Unchecked {
    version: u32,
    id: String,
    #[serde(with = "path_text")]
    folder: PathBuf,
    #[serde(with = "path_text")]
    target: PathBuf,
    #[serde(default)]
    at: Option<TargetPlace>,
    #[serde(default)]
    origin: Option<FolderOrigin>,
    form: Form,
    durable: bool,
    replace: bool,
    #[serde(with = "DivisionText")]
    division: Division,
    inputs: Vec<JobInput>,
    parts: Vec<Vec<PlanPiece>>,
    #[serde(default)]
    crc32c: String,
}

impl TryFrom<Unchecked> for Plan {
    type Error = String;

    fn try_from(it: Unchecked) -> std::result::Result<Self, String> {
        if it.version != VERSION {
            return Err(format!(
                "it has version {}, and this is version {VERSION}",
                it.version
            ));
        }
        if !is_number(&it.id) {
            return Err(format!("its number is {:?}", it.id));
        }
        let paths = it.inputs.iter().map(|input| &input.path);
        if let Some(path) = paths.chain([&it.folder, &it.target]).find(|it| !it.is_absolute()) {
            return Err(format!("its path {} is not absolute", path.display()));
        }
        layout::check(&it.inputs, &it.parts, it.division)?;
        let plan = Self {
            version: it.version,
            id: it.id,
            folder: it.folder,
            target: it.target,
            at: it.at,
            origin: it.origin,
            form: it.form,
            is_durable: it.durable,
            may_replace: it.replace,
            division: it.division,
            inputs: it.inputs,
            parts: it.parts,
            crc32c: String::new(),
            output: OutputOptions::new(),
        }
        .sealed();
        if plan.crc32c == it.crc32c {
            Ok(plan)
        } else {
            let (has, wanted) = (&plan.crc32c, &it.crc32c);
            Err(format!("what it says has the CRC-32C {has}, and it names {wanted:?}"))
        }
    }
}

/// Opens the plan of a job that another process has begun.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
/// # std::fs::write(&input, "one\ntwo\n").unwrap();
/// let plan = swath::job::plan([&input], &output)?;
/// let again = swath::job::open(plan.folder())?;
/// assert_eq!(again.id(), plan.id());
/// # plan.abort()?;
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// The errors of opening the folder and reading the plan; [`Reason::Corrupt`] if it is damaged.
pub fn open(folder: impl AsRef<Path>) -> Result<Plan> {
    Plan::open_with(folder.as_ref(), OutputOptions::new())
}

/// Explains why a text cannot be read as a plan.
fn what_is_wrong(bytes: &[u8], error: &serde_json::Error) -> String {
    // Most plans have one line.
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').take(error.line().max(1) - 1);
    let at = lines.map(<[u8]>::len).sum::<usize>() + error.column();
    match error.classify() {
        Category::Eof | Category::Io => String::from("it ends too early"),
        Category::Syntax => format!("it is not JSON at byte {at}"),
        Category::Data => format!("what ends at byte {at} lacks a value, or has a wrong one"),
    }
}

/// Returns the receipts among the files of a job's folder, newest first for each part; at the same
/// time, the greatest number first. Leaves out receipts of parts that the job does not have.
pub(super) fn receipts(entries: &[(OsString, Facts)], parts: usize) -> Vec<Done> {
    let receipt = |(name, facts): &(OsString, Facts)| {
        let done = name.to_str().and_then(Done::of_file_name)?;
        // A power cut may have truncated an unsynced segment.
        let is_whole = facts.kind == FileKind::File && facts.len == done.len;
        let is_whole = is_whole && done.part < parts as u64;
        is_whole.then_some((done.part, Reverse((facts.modified, done.attempt.clone())), done))
    };
    let mut found: Vec<_> = entries.iter().filter_map(receipt).collect();
    found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    found.into_iter().map(|(_, _, done)| done).collect()
}

impl Plan {
    /// As [`open`], with options for the commit: file system, progress, cancellation. Durability and
    /// replacement stay as planned.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn open_with(folder: &Path, output: OutputOptions) -> Result<Self> {
        let opened = files::open_folder(&*output.draft.fs, folder)?;
        let path = folder.join(files::PLAN);
        let bytes = files::read(&*opened, folder, files::PLAN)?;
        let bytes = bytes.ok_or_else(|| {
            Error::io(Operation::Open, &path, Errno::NOENT.into())
                .hint("pass the folder of a job, which contains a file `JOB`")
        })?;
        let mut plan = Self::parse(&bytes, &path)?;
        // The folder may have been moved, or have another path here.
        let absolute = std::path::absolute(folder)
            .map_err(|error| Error::io(Operation::Open, folder, error))?;
        let by_plan = PlannedFolder { path: &plan.folder, origin: plan.origin };
        files::check_place(&*output.draft.fs, &*opened, &absolute, by_plan)?;
        if plan.form == Form::Segments {
            plan.target.clone_from(&absolute);
        }
        plan.folder = absolute;
        plan.output = output;
        Ok(plan.sealed())
    }

    /// Returns the plan with its checksum, which reveals later edits and damage.
    pub(super) fn sealed(mut self) -> Self {
        self.crc32c.clear();
        self.crc32c = format!("{:08x}", crc32c::crc32c(self.to_json().as_bytes()));
        self
    }

    /// Reads a plan from the text of [`to_json`](Self::to_json).
    ///
    /// # Errors
    ///
    /// [`Reason::Corrupt`] if it is not a plan.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::parse(text.as_bytes(), Path::new("plan"))
    }

    /// Returns the plan as one line of JSON.
    ///
    /// # Panics
    ///
    /// Never: it consists of numbers and texts.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string(self).expect("numbers and texts");
        debug_assert!(json.starts_with(&files::plan_of(&self.id)), "attempts look for it");
        json
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let found = serde_json::from_slice(bytes).map_err(|error| what_is_wrong(bytes, &error));
        found.and_then(|found: Unchecked| found.try_into()).map_err(|what| {
            Error::new(Operation::Read, Reason::Corrupt, path)
                .detail(format!(
                    "it is not the plan of a job, or was changed after it was planned: {what}"
                ))
                .hint("put it back as it was, or plan the job again, in another folder")
        })
    }

    /// Returns the job with other options for the commit. Durability and replacement stay as
    /// planned.
    #[must_use]
    pub fn with_output(mut self, output: OutputOptions) -> Self {
        self.output = output;
        self
    }

    /// The number that no other job has: 16 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder for the parts' output.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of the output.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The form of the output.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Where the inputs were divided, which decides the contents of a part.
    pub fn division(&self) -> Division {
        self.division
    }

    /// The inputs, in order, as absolute paths.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.inputs.iter().map(|input| input.path.as_path())
    }

    /// Returns part `index`; `None` past the last.
    pub fn part(&self, index: usize) -> Option<Part> {
        let pieces = self.parts.get(index)?;
        Some(Part {
            job: self.id.clone(),
            folder: self.folder.clone(),
            index: index as u64,
            is_synced: self.is_durable && self.form == Form::Segments,
            division: self.division,
            pieces: pieces.iter().map(|piece| self.piece(*piece)).collect(),
        })
    }

    fn piece(&self, piece: PlanPiece) -> PartPiece {
        let extent = piece.extent().expect("it was checked");
        self.inputs[piece.input()].piece(extent, self.division)
    }

    /// Returns all parts, in the order of the output.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Part> + '_ {
        (0..self.parts.len()).map(|index| self.part(index).expect("an index of a part"))
    }

    /// Fails if an input has changed since the job was planned. [`commit`](Self::commit) does
    /// this too.
    ///
    /// # Errors
    ///
    /// [`Reason::Changed`], those of stat(2).
    pub fn check_inputs(&self) -> Result<()> {
        files::at_once(self.inputs.len(), |index| self.inputs[index].check()).map(drop)
    }

    /// Returns the receipts of all finished attempts in the folder, newest first for each part: for
    /// a client that has lost its own.
    ///
    /// The newest is the one whose file was written last, by the time of the file. Among attempts
    /// with the same time, the one with the greatest number is first. So every process that sees the
    /// same files has the same order. Where several machines set the times of files by their own
    /// clocks, and attempts of one part differ, a client that has the receipts chooses better.
    ///
    /// # Errors
    ///
    /// The errors of listing the folder.
    pub fn done(&self) -> Result<Vec<Done>> {
        let folder = self.open_folder()?;
        files::refresh(&*folder);
        let entries = files::entries(&*folder);
        let entries =
            entries.map_err(|error| Error::io(Operation::Inspect, &self.folder, error))?;
        Ok(receipts(&entries, self.parts.len()))
    }

    /// Opens the folder, which must be that of this job: another user may have put another job's in its place.
    pub(super) fn open_folder(&self) -> Result<Arc<dyn FsFolder>> {
        let folder = files::open_folder(&*self.output.draft.fs, &self.folder)?;
        let failed = |error| Error::io(Operation::Open, &self.folder, error);
        match files::is_of_job(&*folder, &self.id).map_err(failed)? {
            Some(true) => Ok(folder),
            // Committed segments.
            None if self.form == Form::Segments => Ok(folder),
            _ => Err(files::not_of_job(&self.folder)),
        }
    }

    /// Returns the options of the commit. A new output gets the permissions that all inputs have, unless others
    /// were chosen.
    pub(super) fn output(&self) -> OutputOptions {
        let durability = if self.is_durable { Durability::Full } else { Durability::None };
        let replace = if self.may_replace { Replace::Allowed } else { Replace::Refused };
        let output = self.output.clone().with_durability(durability).with_replace(replace);
        match output.access {
            Some(_) => output,
            None => output.with_permissions(self.access_of_inputs()),
        }
    }

    /// Returns the access that all inputs allow: a user who may not read an input may not read the output.
    pub(super) fn access_of_inputs(&self) -> Access {
        let all = Access::new(0o666, None);
        self.inputs.iter().fold(all, |all, input| all.and(input.state.access()))
    }
}
