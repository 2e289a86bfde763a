//! How to plan a job: every option, with its default.

use std::fs;
use std::num::NonZeroU64;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use swath_plan::extent::Extent;
use swath_plan::parts::{Division, Piece, divide};
use swath_plan::setters;

use super::data::{Form, Part};
use super::files;
use super::folder;
use super::input::JobInput;
use super::layout::MOST_PARTS;
use super::lines;
use super::plan::Plan;
use super::target::TargetPlace;
use crate::error::{Error, Operation, Reason, Result, counted};
use crate::sink::claim::locate;
use crate::sink::{Durability, HardLinks, OutputOptions, Replace, not_in_place};

/// Bytes of a part by default.
const PART_SIZE: u64 = 64 << 20;
/// Plans a job with the default options; see [`JobOptions::plan`].
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.txt"));
/// # std::fs::write(&input, "one\ntwo\n").unwrap();
/// let plan = swath::job::plan([&input], &output)?;
/// assert_eq!(plan.parts().count(), 1);
/// plan.abort()?;
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// As [`JobOptions::plan`].
pub fn plan(
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    target: impl AsRef<Path>,
) -> Result<Plan> {
    JobOptions::new().plan(inputs, target)
}

fn look_at_inputs(inputs: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Vec<JobInput>> {
    let paths: Vec<_> = inputs.into_iter().map(|it| it.as_ref().to_owned()).collect();
    files::at_once(paths.len(), |index| JobInput::of(&paths[index]))
}

/// How to plan a job. No setter can fail; 0 means "choose for me".
///
/// ```
/// use swath::job::{Form, JobOptions};
///
/// let options = JobOptions::new().with_part_size(16 << 20).with_form(Form::Segments);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    parts: usize,
    part_size: u64,
    division: Division,
    form: Form,
    folder: Option<PathBuf>,
    output: OutputOptions,
}

impl JobOptions {
    /// The defaults: parts of 64 MiB, which have the records that begin in their bytes; one durable
    /// file.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Maximum number of parts: no part is empty, so there are fewer if the inputs have fewer bytes or
        /// fewer records of a width, or lines longer than a part. Default 0: by
        /// [`with_part_size`](Self::with_part_size). Inputs that are all empty are one part. With
        /// [`Division::Inputs`] each input that has bytes is a part, and the number is ignored. A job
        /// without inputs has exactly this many parts, 1 by default.
        fn with_parts(parts: usize);

        /// Bytes of input of a part. Default 0: 64 MiB. The number of parts, if set, takes precedence;
        /// with [`Division::Inputs`] it is ignored.
        fn with_part_size(part_size: u64);

        /// Where inputs may be divided, which decides the contents of a part. Default: [`Division::Records`].
        ///
        /// Only with [`Division::Records`] does the reader decide where a part begins and ends, so the same
        /// reader must do all parts of such a job; the command `swath job` cannot do them. With every other
        /// division the plan has the bytes of each part, and any program can do it.
        fn with_division(division: Division);

        /// The form of the output. Default: [`Form::File`].
        fn with_form(form: Form);
    }

    /// The folder for the parts' output; it must not exist. Default: next to the target, with a name
    /// of its own (`TARGET.job-XXXXXXXX`). To share blocks instead of copying, it must be on the file
    /// system of the target. With [`Form::Segments`] the target is this folder.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    setters! {
        /// How the output is written. The plan stores durability and replacement; all other options
        /// apply to commits of the returned plan, not to plans that are opened again. Segments have
        /// their own durability: with [`Form::File`] they are copied soon, so they are never synced.
        fn with_output(output: OutputOptions);
    }

    /// Inspects the inputs, divides them into parts, and creates the folder of the job. Opens only
    /// inputs of length 0 and, with [`Division::Lines`], those that are cut; creates no file at the
    /// target. If several processes plan jobs with the same folder at once, one creates it, and the
    /// others get the error that it exists.
    ///
    /// Cost: one stat(2) for each input, and a folder with one file; with [`Division::Lines`] also a
    /// short read for each part, longer only for long lines.
    ///
    /// # Errors
    ///
    /// The errors of stat(2); [`Reason::Invalid`] if an input is not a regular file, has bytes but no
    /// length (`/proc`), or ends inside a record of the given width, with the bytes; if there would
    /// be more than 1,000,000 parts; if the target is not a file that may be replaced, or its folder
    /// does not exist, or if it is an input; if the job's folder is the target, or one contains the
    /// other or an input; with [`Form::Segments`], if the target exists.
    pub fn plan(
        &self,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
        target: impl AsRef<Path>,
    ) -> Result<Plan> {
        self.plan_then(inputs, target, || {})
    }

    /// Calls `planned` after inspecting the inputs and before creating the folder: from then, a signal must not
    /// end a program that will print the folder's name.
    #[doc(hidden)]
    pub fn plan_then(
        &self,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
        target: impl AsRef<Path>,
        planned: impl FnOnce(),
    ) -> Result<Plan> {
        let plan = self.plan_of(look_at_inputs(inputs)?, target.as_ref())?;
        planned();
        folder::make(plan)
    }

    /// Divides inputs into the same parts as [`plan`](Self::plan), without a job: for programs that
    /// only read. Such a part can check its inputs, and has no writer.
    ///
    /// ```
    /// use swath::job::JobOptions;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let input = folder.path().join("in.txt");
    /// # std::fs::write(&input, "one\ntwo\n").unwrap();
    /// let parts = JobOptions::new().with_parts(2).divide([&input])?;
    /// let lens: Vec<u64> = parts.iter().map(|part| part.pieces()[0].len).collect();
    /// assert_eq!(lens, [4, 4]);
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of stat(2); [`Reason::Invalid`] if an input is not a regular file, has bytes but no
    /// length (`/proc`), or ends inside a record of the given width, with the bytes; if there would
    /// be more than 1,000,000 parts.
    pub fn divide(
        &self,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Vec<Part>> {
        self.divide_inputs(&look_at_inputs(inputs)?)
    }

    fn divide_inputs(&self, inputs: &[JobInput]) -> Result<Vec<Part>> {
        let first = inputs.first().map_or(Path::new("the inputs"), |input| &input.path);
        let parts = self.cut(inputs, first)?;
        let part = |(index, pieces): (usize, Vec<Piece>)| {
            let piece = |it: Piece| inputs[it.input].piece(it.extent, self.division);
            let pieces = pieces.into_iter().map(piece).collect();
            Part::only_read(index as u64, self.division, pieces)
        };
        Ok(parts.into_iter().enumerate().map(part).collect())
    }

    fn plan_of(&self, inputs: Vec<JobInput>, target: &Path) -> Result<Plan> {
        let parts = self.cut(&inputs, target)?;
        let absolute = std::path::absolute(target)
            .map_err(|error| Error::io(Operation::Create, target, error))?;
        check_has_name(&absolute, target)?;
        let id = files::new_id();
        let folder = self.folder_for(&absolute, &id)?;
        if self.form == Form::File {
            self.check_apart(&inputs, &absolute, &folder)?;
        }
        self.check_target(&absolute)?;
        check_inputs_are_not(&inputs, &absolute)?;
        Ok(Plan {
            version: files::VERSION,
            id,
            folder,
            at: Some(TargetPlace::of(&absolute, &*self.output.draft.fs)?),
            origin: None,
            target: absolute,
            form: self.form,
            is_durable: self.output.draft.durability == Durability::Full,
            may_replace: self.output.draft.replace == Replace::Allowed,
            division: self.division,
            inputs,
            parts: parts
                .into_iter()
                .map(|part| part.iter().map(Into::into).collect())
                .collect(),
            crc32c: String::new(),
            output: self.output.clone(),
        }
        .sealed())
    }

    /// Returns the pieces of each part; an error names `path`.
    fn cut(&self, inputs: &[JobInput], path: &Path) -> Result<Vec<Vec<Piece>>> {
        if let Division::Width(width) = self.division {
            inputs.iter().try_for_each(|input| check_whole(input, width))?;
        }
        let lens: Vec<u64> = inputs.iter().map(|input| input.state.input_len).collect();
        let parts = match self.count(&lens) {
            count if count <= MOST_PARTS => divide(&lens, count, self.division),
            count => return Err(too_many(count, path)),
        };
        // Parts that are whole inputs have not been counted before.
        if parts.len() > MOST_PARTS {
            return Err(too_many(parts.len(), path));
        }
        match self.division {
            Division::Lines => lines::of_whole_lines(inputs, parts),
            _ => Ok(parts),
        }
    }

    fn count(&self, lens: &[u64]) -> usize {
        let size = NonZeroU64::new(self.part_size).map_or(PART_SIZE, NonZeroU64::get);
        let total: u128 = lens.iter().map(|&len| u128::from(len)).sum();
        let by_size = usize::try_from(total.div_ceil(u128::from(size))).unwrap_or(usize::MAX);
        match (self.parts, self.division) {
            (_, Division::Inputs) if !lens.is_empty() => 1,
            (0, _) => by_size.max(1),
            (parts, _) => parts,
        }
    }

    /// Fails if the folder is the target, if one contains the other, or if one contains an input: the
    /// commit or the end of the job would remove it.
    fn check_apart(&self, inputs: &[JobInput], target: &Path, folder: &Path) -> Result<()> {
        let fs = &self.output.draft.fs;
        let place = |path: &Path| {
            let at = fs.locate(path).ok()?;
            Some((at.folder.own_facts().ok()?.identity, at.name))
        };
        let is_around =
            |input: &JobInput| input.path != folder && input.path.starts_with(folder);
        let is_target = folder == target
            || place(folder).zip(place(target)).is_some_and(|(one, other)| one == other);
        let detail = if is_target {
            "it is the output too, and the job needs a folder of its own"
        } else if folder.starts_with(target) {
            "it is inside the output, which is a file"
        } else if target.starts_with(folder) {
            "the output is in it, and it is removed at the end"
        } else if inputs.iter().any(is_around) {
            "an input is in it, and it is removed at the end"
        } else {
            return Ok(());
        };
        Err(Error::new(Operation::Create, Reason::Invalid, folder)
            .detail(detail)
            .hint("choose a folder that does not exist, beside the output"))
    }

    /// Fails early if the commit would refuse the target: begins a file there, and removes it.
    fn check_target(&self, target: &Path) -> Result<()> {
        if self.form == Form::File {
            self.output.draft.refuse_in_place(target, "the output of a job")?;
            // The commit allows or refuses hard links.
            let output = self.output.clone().with_hard_links(HardLinks::Broken);
            return match output.begin(target).map_err(not_in_place) {
                // The target may be free at the commit.
                Err(error) if error.reason() == Reason::Busy => Ok(()),
                begun => begun.map(drop),
            };
        }
        let failed = |error| Error::io(Operation::Create, target, error);
        let located = locate(Operation::Create, target, &*self.output.draft.fs)?;
        match located.folder.facts(&located.name).map_err(failed)? {
            Some(_) => Err(Error::new(Operation::Create, Reason::Invalid, target)
                .detail("something is there, and segments need a new folder")
                .hint("choose another name for the output")),
            None => Ok(()),
        }
    }

    fn folder_for(&self, target: &Path, id: &str) -> Result<PathBuf> {
        match (&self.folder, self.form) {
            (_, Form::Segments) => Ok(target.to_owned()),
            (Some(folder), Form::File) => std::path::absolute(folder)
                .map_err(|error| Error::io(Operation::Create, folder, error)),
            (None, Form::File) => Ok(files::folder_next_to(target, id)),
        }
    }
}

/// Fails for `/`, and if the last name is `..`: both are folders.
fn check_has_name(absolute: &Path, target: &Path) -> Result<()> {
    match absolute.file_name() {
        Some(_) => Ok(()),
        None => Err(Error::new(Operation::Create, Reason::Invalid, target)
            .detail("it is a folder, and the output needs a name of its own")
            .hint("name a file in it")),
    }
}

fn too_many(count: usize, path: &Path) -> Error {
    Error::new(Operation::Create, Reason::Invalid, path)
        .detail(format!("{count} parts are more than the {MOST_PARTS} that a job can have"))
        .hint("request fewer or larger parts")
}

/// Fails if an input ends inside a record.
fn check_whole(input: &JobInput, width: NonZeroU64) -> Result<()> {
    let len = input.state.input_len;
    let rest = len % width;
    if rest == 0 {
        return Ok(());
    }
    Err(Error::new(Operation::Inspect, Reason::Invalid, &input.path)
        .at(Extent::between(len - rest, len))
        .detail(format!("its last record has {}, not {width}", counted(rest, "byte")))
        .hint("check the width of a record, or remove the bytes after the last whole one"))
}

/// Fails if the target is an input: the commit would replace it, and could not run again.
fn check_inputs_are_not(inputs: &[JobInput], target: &Path) -> Result<()> {
    let identity = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    let Some(there) = identity(target) else { return Ok(()) };
    match inputs.iter().any(|input| identity(&input.path) == Some(there)) {
        true => Err(Error::new(Operation::Create, Reason::Invalid, target)
            .detail("it is an input of the job")
            .hint("name another output")),
        false => Ok(()),
    }
}
