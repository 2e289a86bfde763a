//! The end of a job's folder.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::commit::Committed;
use super::data::Form;
use super::files;
use super::plan::Plan;
use super::status::{State, last_change};
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::OutputOptions;
use crate::sink::fs::{FileKind, FsFolder};

/// How often attempts that are still running may put something into a folder that is removed.
const ATTEMPTS: usize = 16;

/// A job's folder that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The folder.
    pub folder: PathBuf,
    /// Whether the job's output had been committed; it stays.
    pub was_committed: bool,
}

impl Plan {
    /// Gives the job up: removes its folder and everything that parts wrote. The target stays as
    /// it was. Attempts that are still running end with an error.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if the job is committed; [`Reason::Busy`] if a commit is running;
    /// those of removing.
    pub fn abort(&self) -> Result<()> {
        let folder = self.open_folder()?;
        let lock = files::lock(&*folder, &self.folder)?;
        if self.committed(&*folder)?.is_some() {
            return Err(Error::new(Operation::Remove, Reason::Invalid, &self.folder)
                .detail("the job is committed")
                .hint("use `remove` to remove its folder, or remove the output"));
        }
        self.remove_folder(&*folder)?;
        drop(lock);
        Ok(())
    }

    /// Removes the folder of a job whose output is a file and is committed. A folder of segments
    /// is the output, and stays.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if the job is not committed; those of removing.
    pub fn remove(&self) -> Result<()> {
        let folder = self.open_folder()?;
        let lock = files::lock(&*folder, &self.folder)?;
        if self.committed(&*folder)?.is_none() {
            return Err(Error::new(Operation::Remove, Reason::Invalid, &self.folder)
                .detail("the job is not committed")
                .hint("commit it, or use `abort` to give it up"));
        }
        if self.form == Form::File {
            self.remove_folder(&*folder)?;
        }
        drop(lock);
        Ok(())
    }

    fn remove_folder(&self, folder: &dyn FsFolder) -> Result<()> {
        let failed = |error| Error::io(Operation::Remove, &self.folder, error);
        let located = self.output.draft.fs.locate(&self.folder).map_err(failed)?;
        for attempt in 1.. {
            let mut names = folder.list().map_err(failed)?;
            let is_over = names.iter().any(|name| name == files::COMMITTED);
            names.retain(|name| name != files::COMMITTED);
            names.sort_by_key(|name| name == files::PLAN);
            for name in names {
                self.remove_one(folder, &name)?;
            }
            if is_over {
                // Only after the plan, also on the device: a plan without it would be taken for a
                // job with missing parts.
                if self.is_durable {
                    folder.sync().map_err(failed)?;
                }
                self.remove_one(folder, files::COMMITTED.as_ref())?;
            }
            match located.folder.remove_folder(&located.name) {
                Err(error)
                    if error.kind() == ErrorKind::DirectoryNotEmpty && attempt < ATTEMPTS => {}
                removed => return removed.map_err(failed),
            }
        }
        Ok(())
    }

    fn remove_one(&self, folder: &dyn FsFolder, name: &OsStr) -> Result<()> {
        if !files::is_ours(name) {
            return Err(Error::new(Operation::Remove, Reason::Invalid, &self.folder)
                .detail(format!("{} in it is not of the job", name.display()))
                .hint("move that file away, then remove the folder"));
        }
        match folder.remove(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed
                .map_err(|error| Error::io(Operation::Remove, &self.folder.join(name), error)),
        }
    }
}

/// Removes the folders of jobs in `parent` in which nothing has changed for `older_than`: what
/// clients left that were killed. Committed outputs stay, also folders of segments; so do jobs
/// that another process is committing, folders of other users, and everything else in `parent`.
///
/// Choose an age that no attempt takes: one that is running cannot always be seen.
///
/// ```
/// use std::time::Duration;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let parent = folder.path();
/// let swept = swath::job::sweep(parent, Duration::from_secs(7 * 24 * 3600))?;
/// assert_eq!(swept, []);
/// # Ok::<(), swath::Error>(())
/// ```
///
/// # Errors
///
/// Those of listing `parent`; those of the first folder that cannot be removed, after all others
/// were tried.
pub fn sweep(parent: impl AsRef<Path>, older_than: Duration) -> Result<Vec<Swept>> {
    sweep_in(parent.as_ref(), older_than)
}

fn sweep_in(parent: &Path, older_than: Duration) -> Result<Vec<Swept>> {
    let output = OutputOptions::new();
    let fs = &output.draft.fs;
    let opened = fs.locate(parent).and_then(|at| at.folder.open_folder(&at.name));
    let opened = opened.map_err(|error| {
        Error::io(Operation::Open, parent, error)
            .hint("pass the folder that jobs were planned in")
    })?;
    let failed = |error| Error::io(Operation::Inspect, parent, error);
    let (mut swept, mut failure) = (Vec::new(), None);
    for name in opened.list().map_err(failed)? {
        let path = parent.join(&name);
        let is_folder = opened.facts(&name).map_err(failed)?;
        if !is_folder.is_some_and(|facts| facts.kind == FileKind::Folder) {
            continue;
        }
        match sweep_one(&path, older_than) {
            Ok(None) => {}
            Ok(Some(was_committed)) => swept.push(Swept { folder: path, was_committed }),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    swept.sort_by(|one, other| one.folder.cmp(&other.folder));
    failure.map_or(Ok(swept), Err)
}

/// Whether the job was committed, if its folder was removed.
fn sweep_one(path: &Path, older_than: Duration) -> Result<Option<bool>> {
    let plan = match Plan::open_with(path, OutputOptions::new()) {
        Ok(plan) => plan,
        Err(error) if error.io_kind() == ErrorKind::NotFound => {
            return sweep_rest(path, older_than);
        }
        // What cannot be opened is not ours to judge.
        Err(_) => return Ok(None),
    };
    let status = plan.status()?;
    if !is_older(status.changed, older_than) {
        return Ok(None);
    }
    let folder = plan.open_folder()?;
    // After the look at the age: a lock changes the folder.
    let owner = match files::lock(&*folder, path) {
        Ok(lock) => lock.map(|lock| lock.owner()),
        Err(_) => return Ok(None),
    };
    if owner.is_some_and(|owner| folder.own_facts().is_ok_and(|facts| facts.owner != owner)) {
        return Ok(None);
    }
    let is_committed = status.state == State::Committed;
    if is_committed && plan.form == Form::Segments {
        return Ok(None);
    }
    let removed = if is_committed { plan.remove() } else { plan.abort() };
    match removed {
        Ok(()) => Ok(Some(is_committed)),
        Err(error) if error.reason() == Reason::Busy => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the last change was at least `older_than` ago; not if that is unknown, or in the future.
fn is_older(changed: Option<SystemTime>, older_than: Duration) -> bool {
    let age = changed.and_then(|last| SystemTime::now().duration_since(last).ok());
    age.is_some_and(|age| age >= older_than)
}

/// Removes what is left of a folder whose removal was killed after the plan was gone.
fn sweep_rest(path: &Path, older_than: Duration) -> Result<Option<bool>> {
    let failed = |error| Error::io(Operation::Remove, path, error);
    let fs = OutputOptions::new().draft.fs;
    let Ok(folder) = files::open_folder(&*fs, path) else { return Ok(None) };
    let (Ok(own), Ok(entries)) = (folder.own_facts(), files::entries(&*folder)) else {
        return Ok(None);
    };
    let [(name, facts)] = &entries[..] else { return Ok(None) };
    let is_rest = name == files::COMMITTED
        && facts.owner == own.owner
        && files::read(&*folder, files::COMMITTED)
            .ok()
            .flatten()
            .is_some_and(|bytes| serde_json::from_slice::<Committed>(&bytes).is_ok());
    if !is_rest || !is_older(last_change(&own, &entries), older_than) {
        return Ok(None);
    }
    folder.remove(name).map_err(failed)?;
    let located = fs.locate(path).map_err(failed)?;
    located.folder.remove_folder(&located.name).map_err(failed)?;
    Ok(Some(true))
}
