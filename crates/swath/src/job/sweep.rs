//! Removes folders of finished and abandoned jobs.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::data::Form;
use super::files::{self, FolderLock};
use super::folder::FolderPlace;
use super::plan::Plan;
use super::status::last_change;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::OutputOptions;
use crate::sink::fs::{FileKind, FsFolder};

/// A job's folder that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The folder.
    pub folder: PathBuf,
    /// Whether the job's output had been committed; it stays.
    pub was_committed: bool,
}

/// The report of [`sweep`]: folders that were removed, and those that could not be.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Sweep {
    /// The folders that were removed, in the order of their paths.
    pub removed: Vec<Swept>,
    /// The errors of the others, each with its path, in the same order.
    pub failed: Vec<Error>,
}

impl Plan {
    /// Gives the job up: removes its folder and all segments, or nothing if the folder contains a
    /// file that is not of the job. The target is unchanged. Running attempts end with an error.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if the job is committed, or a file in the folder is not of the job;
    /// [`Reason::Busy`] if a commit is running; those of removing.
    pub fn abort(&self) -> Result<()> {
        let folder = self.open_folder()?;
        let lock = files::lock(&*folder, &self.folder)?;
        if self.committed(&*folder)?.is_some() {
            return Err(Error::new(Operation::Remove, Reason::Invalid, &self.folder)
                .detail("the job is committed")
                .hint("use `remove` to remove its folder, or remove the output"));
        }
        self.remove_folder(&*folder, lock)
    }

    /// Removes the folder of a committed job whose output is a file, or nothing if the folder
    /// contains a file that is not of the job. A folder of segments is the output, and stays.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if the job is not committed, or a file in the folder is not of the job;
    /// those of removing.
    pub fn remove(&self) -> Result<()> {
        let folder = self.open_folder()?;
        let lock = files::lock(&*folder, &self.folder)?;
        if self.committed(&*folder)?.is_none() {
            return Err(Error::new(Operation::Remove, Reason::Invalid, &self.folder)
                .detail("the job is not committed")
                .hint("commit it, or use `abort` to give it up"));
        }
        match self.form {
            Form::File => self.remove_folder(&*folder, lock),
            Form::Segments => Ok(()),
        }
    }

    fn remove_folder(&self, folder: &dyn FsFolder, lock: FolderLock) -> Result<()> {
        FolderPlace::of(&*self.output.draft.fs, &self.folder)?.remove(
            folder,
            lock,
            self.is_durable,
        )
    }
}

/// Removes the folders of jobs in `parent` in which nothing has changed for `older_than`, 0 for any
/// age: also those of clients that were killed while they created or removed a folder. Committed
/// outputs stay, including folders of segments; so do jobs that another process is committing,
/// folders of other users, and everything else in `parent`. If a folder has a file that is not of
/// the job, nothing of it is removed.
///
/// Choose an age that no attempt reaches: running attempts cannot always be detected.
///
/// ```
/// use std::time::Duration;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let parent = folder.path();
/// let swept = swath::job::sweep(parent, Duration::from_secs(7 * 24 * 3600))?;
/// assert!(swept.removed.is_empty() && swept.failed.is_empty());
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// The errors of listing `parent`. Folders that cannot be removed are in [`Sweep::failed`], after all
/// others were tried.
pub fn sweep(parent: impl AsRef<Path>, older_than: Duration) -> Result<Sweep> {
    Sweep::run(parent.as_ref(), older_than, &OutputOptions::new())
}

impl Sweep {
    /// As [`sweep`], on the file system of `output`.
    ///
    /// # Errors
    ///
    /// As [`sweep`].
    pub fn run(parent: &Path, older_than: Duration, output: &OutputOptions) -> Result<Self> {
        let fs = &output.draft.fs;
        let opened = fs.locate(parent).and_then(|at| at.folder.open_folder(&at.name));
        let opened = opened.map_err(|error| {
            Error::io(Operation::Open, parent, error)
                .hint("pass the folder that jobs were planned in")
        })?;
        let failed = |error| Error::io(Operation::Inspect, parent, error);
        let mut names = opened.list().map_err(failed)?;
        names.sort();
        let mut sweep = Self::default();
        for name in names {
            let path = parent.join(&name);
            let swept = JobCandidate::open(&opened, &name, &path).and_then(|it| match it {
                Some(it) if it.is_older(older_than) => it.remove(output),
                _ => Ok(None),
            });
            match swept {
                Ok(None) => {}
                Ok(Some(was_committed)) => {
                    sweep.removed.push(Swept { folder: path, was_committed });
                }
                Err(error) => sweep.failed.push(error),
            }
        }
        Ok(sweep)
    }
}

/// A folder that may be that of a job.
struct JobCandidate<'p> {
    place: FolderPlace<'p>,
    folder: Arc<dyn FsFolder>,
    owner: u32,
    /// Its creation or removal was interrupted by a kill.
    is_rest: bool,
    is_committed: bool,
    changed: Option<SystemTime>,
}

impl<'p> JobCandidate<'p> {
    /// `None` if it cannot be the folder of a job, or cannot be opened: then it is not ours to judge.
    fn open(parent: &Arc<dyn FsFolder>, name: &OsStr, path: &'p Path) -> Result<Option<Self>> {
        let own = parent.facts(name);
        let own = own.map_err(|error| Error::io(Operation::Inspect, path, error))?;
        let Some(own) = own.filter(|own| own.kind == FileKind::Folder) else { return Ok(None) };
        let Ok(folder) = parent.open_folder(name) else { return Ok(None) };
        // Another user may have exchanged the folder in between.
        if !folder.own_facts().is_ok_and(|opened| opened.are_of_one_file(&own)) {
            return Ok(None);
        }
        let Ok(entries) = files::entries(&*folder) else { return Ok(None) };
        let has = |name: &str| entries.iter().any(|(it, _)| it == name);
        let is_rest =
            files::is_hidden_folder(name) && entries.iter().all(|(it, _)| files::is_ours(it));
        if !is_rest && !has(files::PLAN) {
            return Ok(None);
        }
        let place = FolderPlace { parent: Arc::clone(parent), name: name.to_owned(), path };
        let changed = last_change(&own, &entries);
        let is_committed = has(files::COMMITTED);
        Ok(Some(Self { place, folder, owner: own.owner, is_rest, is_committed, changed }))
    }

    /// Whether the last change was at least `age` ago; `false` if its time is unknown or in the future.
    fn is_older(&self, age: Duration) -> bool {
        let since = self.changed.and_then(|last| SystemTime::now().duration_since(last).ok());
        age.is_zero() || since.is_some_and(|since| since >= age)
    }

    /// Removes the folder; returns whether the job was committed, `None` if the folder stays.
    fn remove(&self, output: &OutputOptions) -> Result<Option<bool>> {
        let path = self.place.path;
        // After the check of the age: a lock changes the folder.
        let Ok(lock) = files::lock(&*self.folder, path) else { return Ok(None) };
        if lock.as_ref().is_some_and(|lock| lock.owner() != self.owner) {
            return Ok(None);
        }
        if self.is_rest {
            drop(lock);
            self.place.empty(&*self.folder, &self.place.name)?;
            return Ok(Some(self.is_committed));
        }
        // A file of this name may be anything: only its first bytes are read. Of another user, it may be one that
        // opens late.
        if !files::has_plan(&*self.folder).unwrap_or(false) {
            return Ok(None);
        }
        let plan = match Plan::open_with(path, output.clone()) {
            Ok(plan) => plan,
            // Damaged, just removed, or of another user.
            Err(error)
                if error.reason() == Reason::Corrupt
                    || [ErrorKind::NotFound, ErrorKind::PermissionDenied]
                        .contains(&error.io_kind()) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if files::is_of_job(&*self.folder, plan.id()).ok() != Some(Some(true)) {
            return Ok(None);
        }
        let is_committed = plan.committed(&*self.folder)?.is_some();
        if is_committed && plan.form() == Form::Segments {
            return Ok(None);
        }
        self.place.remove(&*self.folder, lock, plan.is_durable)?;
        Ok(Some(is_committed))
    }
}
