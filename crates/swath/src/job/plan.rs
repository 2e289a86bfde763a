//! A plan: what every process of a job agrees on.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use swath_plan::extent::Extent;
use swath_plan::parts::{Division, Piece};

use super::data::{DivisionText, Done, Form, Part, PartPiece};
use super::files::{self, VERSION};
use super::input::JobInput;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::fs::{Facts, FileKind, FsFolder};
use crate::sink::{Durability, OutputOptions, Replace, path_text};

/// A job: its inputs, its parts, and where the output goes.
///
/// Plain data, apart from the options of its output: copies of it, in other processes too, are the
/// same job. Dropping it changes nothing on the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub(super) version: u32,
    pub(super) id: String,
    #[serde(with = "path_text")]
    pub(super) folder: PathBuf,
    #[serde(with = "path_text")]
    pub(super) target: PathBuf,
    pub(super) form: Form,
    #[serde(rename = "durable")]
    pub(super) is_durable: bool,
    #[serde(rename = "replace")]
    pub(super) may_replace: bool,
    #[serde(with = "DivisionText", default)]
    pub(super) division: Division,
    pub(super) inputs: Vec<JobInput>,
    pub(super) parts: Vec<Vec<PlanPiece>>,
    #[serde(skip)]
    pub(super) output: OutputOptions,
}

/// An extent of an input: `[input, offset, length]` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlanPiece(usize, u64, u64);

impl From<&Piece> for PlanPiece {
    fn from(piece: &Piece) -> Self {
        Self(piece.input, piece.extent.offset(), piece.extent.len())
    }
}

impl PlanPiece {
    /// The index of its input.
    pub(super) fn input(self) -> usize {
        self.0
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
/// Those of opening the folder and reading the plan; [`Reason::Corrupt`] if it is damaged.
pub fn open(folder: impl AsRef<Path>) -> Result<Plan> {
    Plan::open_with(folder.as_ref(), OutputOptions::new())
}

/// The receipts among the files of a job's folder, newest first for each part.
pub(super) fn receipts(entries: &[(OsString, Facts)]) -> Vec<Done> {
    let receipt = |(name, facts): &(OsString, Facts)| {
        let done = name.to_str().and_then(Done::of_file_name)?;
        // A power cut may have cut what was never synced.
        let is_whole = facts.kind == FileKind::File && facts.len == done.len;
        is_whole.then_some((done, Reverse(facts.modified)))
    };
    let mut found: Vec<_> = entries.iter().filter_map(receipt).collect();
    found.sort_by_key(|(done, newest)| (done.part, *newest));
    found.into_iter().map(|(done, _)| done).collect()
}

impl Plan {
    /// As [`open`], with options for the commit: file system, progress, cancellation. Durability
    /// and what may be replaced stay as they were planned.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn open_with(folder: &Path, output: OutputOptions) -> Result<Self> {
        let opened = files::open_folder(&*output.draft.fs, folder)?;
        let path = folder.join(files::PLAN);
        let bytes = files::read(&*opened, files::PLAN)
            .map_err(|error| Error::io(Operation::Read, &path, error))?;
        let bytes = bytes.ok_or_else(|| {
            Error::io(Operation::Open, &path, ErrorKind::NotFound.into())
                .hint("pass the folder of a job, which contains a file `JOB`")
        })?;
        let mut plan = Self::parse(&bytes, &path)?;
        // It may have been moved, or be seen under another path here.
        let absolute = std::path::absolute(folder)
            .map_err(|error| Error::io(Operation::Open, folder, error))?;
        if plan.form == Form::Segments {
            plan.target.clone_from(&absolute);
        }
        plan.folder = absolute;
        plan.output = output;
        Ok(plan)
    }

    /// Reads a plan from the text that [`to_json`](Self::to_json) gives.
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
        let corrupt = |detail: String| {
            Error::new(Operation::Read, Reason::Corrupt, path)
                .detail(detail)
                .hint("plan the job again, in another folder")
        };
        let plan: Self = serde_json::from_slice(bytes)
            .map_err(|error| corrupt(format!("it is not the plan of a job: {error}")))?;
        if plan.version != VERSION {
            return Err(corrupt(format!("it has version {}", plan.version)));
        }
        let is_good = |it: &PlanPiece| {
            let extent = Extent::new(it.1, it.2);
            let input = plan.inputs.get(it.0);
            extent.zip(input).is_some_and(|(it, input)| it.end() <= input.state.input_len)
        };
        let bad = plan.parts.iter().position(|part| !part.iter().all(is_good));
        match bad {
            _ if plan.parts.is_empty() => Err(corrupt(String::from("it has no parts"))),
            Some(part) => Err(corrupt(format!("part {part} reads bytes that no input has"))),
            None => Ok(plan),
        }
    }

    /// Makes the job's folder with the plan in it.
    pub(super) fn create(&self) -> Result<()> {
        let failed = |error| Error::io(Operation::Create, &self.folder, error);
        let located = self.output.draft.fs.locate(&self.folder).map_err(failed)?;
        let (parent, name) = (located.folder, located.name);
        let folder = match parent.create_folder(&name) {
            // Of a client that was killed right here.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => parent
                .open_folder(&name)
                .ok()
                .filter(|there| files::are_leftovers(&**there))
                .ok_or_else(|| failed(error).hint("choose a folder that does not exist"))?,
            made => made.map_err(failed)?,
        };
        let written =
            files::create(&folder, files::PLAN, self.to_json().as_bytes(), self.is_durable)
                .and_then(|_| if self.is_durable { parent.sync() } else { Ok(()) });
        written.map_err(|error| {
            let _ = folder.remove(files::PLAN.as_ref());
            let _ = parent.remove_folder(&name);
            failed(error)
        })
    }

    /// The same job, with other options for the commit. Durability and what may be replaced stay as
    /// they were planned.
    #[must_use]
    pub fn with_output(mut self, output: OutputOptions) -> Self {
        self.output = output;
        self
    }

    /// The number that no other job has: 16 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder for what parts write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the output goes.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The form of the output.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Where the inputs were divided.
    pub fn division(&self) -> Division {
        self.division
    }

    /// The inputs, in order, as absolute paths.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.inputs.iter().map(|input| input.path.as_path())
    }

    /// Part `index`, `None` past the last.
    pub fn part(&self, index: usize) -> Option<Part> {
        let pieces = self.parts.get(index)?;
        Some(Part {
            job: self.id.clone(),
            folder: self.folder.clone(),
            index: index as u64,
            is_synced: self.is_durable && self.form == Form::Segments,
            pieces: pieces.iter().map(|piece| self.piece(*piece)).collect(),
        })
    }

    fn piece(&self, piece: PlanPiece) -> PartPiece {
        self.inputs[piece.0].piece(Extent::between(piece.1, piece.1.saturating_add(piece.2)))
    }

    /// All parts, in the order of the output.
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
        self.inputs.iter().try_for_each(JobInput::check)
    }

    /// Returns the receipts of all finished attempts that the folder has, newest first for each
    /// part: what a client needs that has lost its own.
    ///
    /// # Errors
    ///
    /// Those of listing the folder.
    pub fn done(&self) -> Result<Vec<Done>> {
        let folder = self.open_folder()?;
        let entries = files::entries(&*folder);
        let entries =
            entries.map_err(|error| Error::io(Operation::Inspect, &self.folder, error))?;
        Ok(receipts(&entries))
    }

    pub(super) fn open_folder(&self) -> Result<Arc<dyn FsFolder>> {
        files::open_folder(&*self.output.draft.fs, &self.folder)
    }

    /// The options of the commit.
    pub(super) fn output(&self) -> OutputOptions {
        let durability = if self.is_durable { Durability::Full } else { Durability::None };
        let replace = if self.may_replace { Replace::Allowed } else { Replace::Refused };
        self.output.clone().with_durability(durability).with_replace(replace)
    }
}
