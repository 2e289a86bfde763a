//! A job's folder, which appears and vanishes in one step each.
//!
//! ```text
//! making     .NAME.NUMBER.swath-job → JOB in it → NAME
//! removal    NAME → .NAME.NUMBER.swath-job → its files → the folder
//! ```
//!
//! So a folder under its own name always has a plan, and if two processes create the same folder,
//! the kernel refuses one. A killed process leaves a folder with a hidden name, under which
//! [`sweep`](super::sweep) finds it.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use super::data::Form;
use super::files::{self, FolderLock, FolderOrigin, PLAN};
use super::plan::Plan;
use crate::error::{Error, Operation, Reason, Result};
use crate::sink::EndDelay;
use crate::sink::claim::locate;
use crate::sink::fs::{CLOSED, Fs, FsFolder, Located};
use crate::sink::permissions::mode_of_folder;

/// How often running attempts may add a file to a folder that is being removed.
const ATTEMPTS: usize = 16;

/// Creates the plan's folder with the plan in it, and returns that; of several processes, exactly one succeeds.
pub(super) fn make(plan: Plan) -> Result<Plan> {
    let path = plan.folder.clone();
    let failed = |error| Error::io(Operation::Create, &path, error);
    let Located { folder: parent, name } =
        locate(Operation::Create, &path, &*plan.output.draft.fs)?;
    let hidden = files::hidden_folder(&name);
    let made = match parent.facts(&name) {
        Ok(None) => make_hidden(&*parent, [&hidden, &name], plan),
        Ok(Some(_)) => Err(Errno::EXIST.into()),
        Err(error) => Err(error),
    };
    made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => {
            failed(error).hint("choose a folder that does not exist")
        }
        _ => failed(error),
    })
}

fn make_hidden(
    parent: &dyn FsFolder,
    [hidden, name]: [&OsString; 2],
    plan: Plan,
) -> io::Result<Plan> {
    let _whole = EndDelay::begin();
    let folder = parent.create_folder(hidden)?;
    let plan = Plan { origin: FolderOrigin::of(&*folder), ..plan }.sealed();
    let is_durable = plan.is_durable;
    // Locked, so that a sweep of folders of any age does not take it for a stray.
    let lock = files::lock_new(&*folder);
    let named = lock.and_then(|lock| {
        // Another user could swap it between creation and opening.
        let owner = folder.own_facts()?.owner;
        let is_ours = lock.as_ref().is_none_or(|lock| lock.owner() == owner);
        if !is_ours || folder.list()?.iter().any(|name| name != files::LOCK) {
            return Err(io::Error::other(
                "another program has put another folder in its place",
            ));
        }
        if plan.form == Form::Segments {
            // The commit opens it to the readers of its files, unless permissions cannot be changed.
            folder.set_mode(mode_of_folder(CLOSED))?;
        }
        if !files::create(&folder, PLAN, plan.to_json().as_bytes(), is_durable)? {
            return Err(Errno::EXIST.into());
        }
        let lock = lock.filter(|_| can_stay_open(&*folder));
        give_name(parent, &*folder, [hidden, name]).map(|()| lock)
    });
    let _lock = named.inspect_err(|_| {
        // Unless the folder has its name after all.
        if is_at(parent, hidden, &*folder).unwrap_or(false) {
            discard(parent, &*folder, hidden);
        }
    })?;
    let settled = if is_durable { parent.sync() } else { Ok(()) };
    settled.inspect_err(|error| {
        // A parent that this user may not list cannot be synced at all.
        let synced = || error.kind() == ErrorKind::PermissionDenied || parent.sync().is_ok();
        // Otherwise the name may be back after a power cut, so the folder must stay whole.
        if parent.rename(name, hidden).is_ok() && synced() {
            discard(parent, &*folder, hidden);
        }
    })?;
    Ok(plan)
}

/// Whether a file in the folder may be open while the folder gets another name: sshfs with several connections loses its
/// mount by that.
fn can_stay_open(folder: &dyn FsFolder) -> bool {
    !folder.is_remote()
}

/// Returns the names in the folder that jobs use.
fn ours(folder: &dyn FsFolder) -> io::Result<Vec<OsString>> {
    Ok(folder.list()?.into_iter().filter(|name| files::is_ours(name)).collect())
}

/// Removes the folder; if that fails, it is swept later.
fn discard(parent: &dyn FsFolder, folder: &dyn FsFolder, hidden: &OsStr) {
    let _ = files::remove_all(folder, &ours(folder).unwrap_or_default());
    let _ = parent.remove_folder(hidden);
}

/// Gives the new folder its name, if the name is free.
fn give_name(
    parent: &dyn FsFolder,
    folder: &dyn FsFolder,
    [hidden, name]: [&OsString; 2],
) -> io::Result<()> {
    let given = match parent.rename_new(hidden, name) {
        // rename(2) replaces only an empty folder, and a job's folder has a plan.
        Err(error) if error.kind() == ErrorKind::Unsupported => match parent.facts(name)? {
            Some(_) => Err(Errno::EXIST.into()),
            None => parent.rename(hidden, name),
        },
        given => given,
    };
    // The reply may have been lost, and the call repeated; or another folder had the hidden name.
    match (given, is_at(parent, name, folder)) {
        (_, Ok(true)) => Ok(()),
        (Ok(()), Ok(false)) => {
            Err(io::Error::other("another program has put another folder in its place"))
        }
        (given, _) => given,
    }
}

pub(super) fn is_at(
    parent: &dyn FsFolder,
    name: &OsStr,
    folder: &dyn FsFolder,
) -> io::Result<bool> {
    let ours = folder.own_facts()?.identity;
    Ok(parent.facts(name)?.is_some_and(|there| there.identity == ours))
}

/// The place of a job's folder.
pub(super) struct FolderPlace<'p> {
    pub(super) parent: Arc<dyn FsFolder>,
    pub(super) name: OsString,
    pub(super) path: &'p Path,
}

impl<'p> FolderPlace<'p> {
    pub(super) fn of(fs: &dyn Fs, path: &'p Path) -> Result<Self> {
        let Located { folder: parent, name } = locate(Operation::Remove, path, fs)?;
        Ok(Self { parent, name, path })
    }

    /// Removes the folder, or nothing of it if a file in it is not of the job. Releases the lock once the
    /// folder has lost its name: NFS and FUSE keep an open file, and with it the folder.
    pub(super) fn remove(
        &self,
        folder: &dyn FsFolder,
        lock: FolderLock,
        is_durable: bool,
    ) -> Result<()> {
        self.check_ours(folder)?;
        let _whole = EndDelay::begin();
        let hidden = files::hidden_folder(&self.name);
        let lock = lock.filter(|_| can_stay_open(folder));
        self.hide(folder, &hidden)?;
        // The name goes first, also on the device: a folder without some of its files would look
        // like a job with missing parts.
        let settled = if is_durable { self.parent.sync() } else { Ok(()) };
        let settled = settled.map_err(|error| self.failed(error));
        settled.and_then(|()| self.check_ours(folder)).inspect_err(|_| {
            let _ = give_name(&*self.parent, folder, [&hidden, &self.name]);
        })?;
        drop(lock);
        self.empty(folder, &hidden)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(Operation::Remove, self.path, error)
    }

    fn check_ours(&self, folder: &dyn FsFolder) -> Result<()> {
        let names = folder.list().map_err(|error| self.failed(error))?;
        match names.iter().find(|name| !files::is_ours(name)) {
            None => Ok(()),
            Some(name) => Err(Error::new(Operation::Remove, Reason::Invalid, self.path)
                .detail(format!("{} in it is not of the job", name.display()))
                .hint("move that file away, then remove the folder")),
        }
    }

    /// Renames the folder that was opened, and no other.
    fn hide(&self, folder: &dyn FsFolder, hidden: &OsString) -> Result<()> {
        let renamed = self.parent.rename(&self.name, hidden);
        match is_at(&*self.parent, hidden, folder) {
            // Even if the reply was lost.
            Ok(true) => Ok(()),
            Ok(false) => Err(renamed.map_or_else(
                |error| self.failed(error),
                |()| {
                    let _ = self.parent.rename_new(hidden, &self.name);
                    Error::new(Operation::Remove, Reason::Changed, self.path)
                        .detail("another program has put another folder in its place")
                },
            )),
            Err(error) => {
                let _ = self.parent.rename(hidden, &self.name);
                Err(self.failed(error))
            }
        }
    }

    /// Removes a folder under its hidden name.
    pub(super) fn empty(&self, folder: &dyn FsFolder, hidden: &OsStr) -> Result<()> {
        let path = self.path.with_file_name(hidden);
        let failed = |path: &Path, error| {
            Error::io(Operation::Remove, path, error)
                .hint("run a sweep of the folder that it is in: it removes what is left")
        };
        for attempt in 1.. {
            let names = ours(folder).map_err(|error| failed(&path, error))?;
            let of = |index: usize| -> PathBuf { path.join(&names[index]) };
            files::remove_all(folder, &names)
                .map_err(|(index, error)| failed(&of(index), error))?;
            match self.parent.remove_folder(hidden) {
                Err(error)
                    if error.kind() == ErrorKind::DirectoryNotEmpty && attempt < ATTEMPTS => {}
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(failed(&path, error));
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}
