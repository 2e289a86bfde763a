//! The files in a job's folder, and the writing of small ones.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use swath_os::umask::umask;

use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::sink::fs::{CLOSED, Facts, Fs, FsFile, FsFolder, OTHERS_WRITE, write_all_at};
use crate::sink::names::is_kept_open;
use crate::sink::{cannot_link, read_exact_at, read_whole, stem, unique_number};
use crate::together::threads;

/// The version of everything in a folder.
pub(super) const VERSION: u32 = 5;
/// The plan.
pub(super) const PLAN: &str = "JOB";
/// Name of the list of attempts that the commit takes.
pub(super) const CHOSEN: &str = "CHOSEN";
/// Name of the file that records that the output is durable.
pub(super) const COMMITTED: &str = "COMMITTED";
/// Name of the file that a commit or a removal locks.
pub(super) const LOCK: &str = ".JOB.swath-lock";
/// The end of the names of incomplete files, where files must have names.
const HIDDEN: &str = ".swath-tmp";
/// The end of the name of a job's folder while it is created or removed.
const HIDDEN_FOLDER: &str = ".swath-job";
/// The text before the number at the end of a job folder's default name.
const NUMBERED: &str = ".job-";
/// A plan of a million parts is shorter; a longer file is not a plan.
const LONGEST: usize = 1 << 30;

/// Returns a number that no other job has.
pub(super) fn new_id() -> String {
    format!("{:016x}", unique_number())
}

/// Returns the default folder of a job.
pub(super) fn folder_next_to(target: &Path, id: &str) -> PathBuf {
    let mut name = stem(target.file_name().unwrap_or(OsStr::new("out")));
    name.push(format!("{NUMBERED}{}", id.get(..8).unwrap_or(id)));
    target.with_file_name(name)
}

/// A job's folder as it was created: a copy is another one, and may hold the plan of another user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderOrigin {
    inode: u64,
    /// Nanoseconds since 1970.
    created: u64,
}

impl FolderOrigin {
    /// Returns `None` where the file system keeps no time of creation, as most of FUSE.
    pub(super) fn of(folder: &dyn FsFolder) -> Option<Self> {
        let inode = folder.own_facts().ok()?.identity.1;
        Some(Self { inode, created: folder.created()? })
    }
}

/// A job's folder by its plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedFolder<'p> {
    pub(super) path: &'p Path,
    pub(super) origin: Option<FolderOrigin>,
}

/// Refuses a job's folder in another place than it was planned for, or one that was not created for it, if other users
/// can move it there and another job's folder away.
pub(super) fn check_place(
    fs: &dyn Fs,
    folder: &dyn FsFolder,
    path: &Path,
    by_plan: PlannedFolder<'_>,
) -> Result<()> {
    let PlannedFolder { path: planned, origin } = by_plan;
    let at = |path: &Path| {
        let at = fs.locate(path)?;
        Ok((at.folder.own_facts()?.identity, at.name, at.folder.is_by_stranger()))
    };
    let here = at(path).map_err(|error| Error::io(Operation::Inspect, path, error))?;
    let there: io::Result<_> = at(planned);
    let now = FolderOrigin::of(folder);
    let is_original = now.is_none() || now == origin;
    let is_ours = is_original && !here.2;
    let is_there = there.as_ref().is_ok_and(|there| (there.0, &there.1) == (here.0, &here.1));
    if (is_ours && is_there) || !can_be_moved(fs, path) {
        return Ok(());
    }
    // On another machine, the planned path may never have existed.
    let is_its_name = planned.file_name() == Some(&here.1);
    if is_ours && is_its_name && there.is_err() && !can_be_moved(fs, planned) {
        return Ok(());
    }
    let refused = Error::new(Operation::Open, Reason::Invalid, path);
    let why = match is_original {
        true => format!(
            "it was planned as {}, and other users can move folders here, other jobs' too",
            planned.display()
        ),
        false => String::from(
            "it is a copy of a job's folder, and other users can move here what they made",
        ),
    };
    Err(refused.detail(why).hint("move it back, or into a folder that only you can write to"))
}

/// Whether users other than this one and root can move the file at `path`, or a folder above it.
fn can_be_moved(fs: &dyn Fs, path: &Path) -> bool {
    let user = geteuid().as_raw();
    let mut above: Vec<&Path> =
        path.ancestors().filter(|it| it.file_name().is_some()).collect();
    above.reverse();
    above.into_iter().fold(false, |can, path| {
        let Ok(facts) = fs.locate(path).and_then(|at| at.folder.own_facts()) else {
            return can;
        };
        can || !facts.keeps_names_of(user)
    })
}

/// Returns a name for a job's folder while it is created or removed, which no other process chooses.
pub(super) fn hidden_folder(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(stem(name));
    hidden.push(format!(".{:016x}{HIDDEN_FOLDER}", unique_number()));
    hidden
}

/// Whether a folder of this name was being created or removed.
pub(super) fn is_hidden_folder(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let digits = name
        .strip_suffix(HIDDEN_FOLDER.as_bytes())
        .and_then(|it| it.rsplit(|&it| it == b'.').next());
    name.starts_with(b".")
        && digits.is_some_and(|it| it.len() == 16 && it.iter().all(u8::is_ascii_hexdigit))
}

/// Opens the folder of a job.
pub(super) fn open_folder(fs: &dyn Fs, path: &Path) -> Result<Arc<dyn FsFolder>> {
    let opened = fs.locate(path).and_then(|at| at.folder.open_folder(&at.name));
    let folder = opened.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::io(Operation::Open, path, error)
            .hint("check the path; the folder of a finished job is removed"),
        ErrorKind::NotADirectory => Error::io(Operation::Open, path, error)
            .hint("pass the folder of a job, which contains a file `JOB`"),
        _ => Error::io(Operation::Open, path, error),
    })?;
    let facts = folder.own_facts();
    let facts = facts.map_err(|error| Error::io(Operation::Inspect, path, error))?;
    check_keeper(&*folder, path, &facts)?;
    Ok(folder)
}

/// Refuses a folder or plan that another user has put there or may change: a plan decides which file is
/// replaced, and which files are read. Files of root are accepted.
pub(super) fn check_keeper(folder: &dyn FsFolder, path: &Path, facts: &Facts) -> Result<()> {
    let is_kept =
        |user: u32, writers: u32| [0, user].contains(&facts.owner) && facts.mode & writers == 0;
    if is_kept(geteuid().as_raw(), OTHERS_WRITE) {
        return Ok(());
    }
    // A file server may map users, and a file system may have no modes: a new file shows both.
    let name = OsString::from(format!(".keeper.{:016x}{HIDDEN}", unique_number()));
    if let Ok(new) = folder.create_new(&name, CLOSED) {
        let shown = new.facts();
        let _ = folder.remove(&name);
        if shown.is_ok_and(|it| is_kept(it.owner, OTHERS_WRITE & !it.mode)) {
            return Ok(());
        }
    }
    let refused = |why: String| {
        Error::io(Operation::Open, path, io::Error::new(ErrorKind::PermissionDenied, why))
    };
    Err(match facts.mode & OTHERS_WRITE {
        0 => refused(format!("it is of user {}, who may have put it there", facts.owner))
            .hint("plan the job again, in a folder where others cannot rename files"),
        _ => refused(String::from("other users may write to it, and change what the job does"))
            .hint("take that right away from them: chmod go-w"),
    })
}

/// The lock during a commit or a removal; `None` where the file system has no locks.
pub(super) type FolderLock = Option<Box<dyn crate::sink::Lock>>;

/// Takes the lock of a job.
pub(super) fn lock(folder: &dyn FsFolder, path: &Path) -> Result<FolderLock> {
    match folder.lock(LOCK.as_ref(), None) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(Error::new(Operation::Lock, Reason::Busy, path)
            .detail("another process is committing or removing this job")
            .hint("wait until it is done, then commit again: the result is the same")),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(Error::io(Operation::Lock, path, error)),
    }
}

/// Takes the lock of a job in a folder that no other process should know yet.
pub(super) fn lock_new(folder: &dyn FsFolder) -> io::Result<FolderLock> {
    match folder.lock(LOCK.as_ref(), None) {
        Ok(None) => Err(Errno::BUSY.into()),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        locked => locked,
    }
}

/// Reads a whole file of the folder at `path`; `None` if it does not exist.
pub(super) fn read(folder: &dyn FsFolder, path: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let path = path.join(name);
    let failed = |error| Error::io(Operation::Read, &path, error);
    let file = match folder.open(name.as_ref()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    check_keeper(folder, &path, &file.facts().map_err(failed)?)?;
    let bytes = read_whole(&*file, LONGEST).map_err(failed)?;
    bytes.map(Some).ok_or_else(|| failed(Errno::FBIG.into()))
}

/// Makes calls that wait for a file server rather than compute, several at a time; returns their
/// results in order, or the first failure in order. This thread alone makes few calls.
pub(super) fn at_once<T: Send, E: Send>(
    count: usize,
    call: impl Fn(usize) -> std::result::Result<T, E> + Sync,
) -> std::result::Result<Vec<T>, E> {
    /// Fewer calls are not worth a thread.
    const GROUP: usize = 16;
    const THREADS: usize = 10;
    let found = Mutex::new(BTreeMap::new());
    let work = |(): &mut (), group: usize| {
        let calls = group * GROUP..((group + 1) * GROUP).min(count);
        let results = calls.map(&call).collect::<std::result::Result<Vec<T>, E>>()?;
        found.lock().insert(group, results);
        Ok(())
    };
    threads(count.div_ceil(GROUP), THREADS, || (), work)?;
    let found = found.into_inner();
    Ok(found.into_values().flatten().collect())
}

/// Has the next list of names ask the server: sshfs keeps one for seconds, without names from other machines, until a name
/// is added here.
pub(super) fn refresh(folder: &dyn FsFolder) {
    let name = OsString::from(format!(".fresh.{:016x}{HIDDEN}", unique_number()));
    if folder.is_remote() && folder.create_new(&name, CLOSED).is_ok() {
        let _ = folder.remove(&name);
    }
}

/// Returns the entries of a folder: names, and the facts about each.
pub(super) fn entries(folder: &dyn FsFolder) -> io::Result<Vec<(OsString, Facts)>> {
    let names = folder.list()?;
    let facts = at_once(names.len(), |index| folder.facts(&names[index]))?;
    // Some may have vanished.
    Ok(names.into_iter().zip(facts).filter_map(|(name, facts)| Some((name, facts?))).collect())
}

/// Removes files, several at a time. Continues after a failure; the error is the first in order, with
/// the index of its name.
pub(super) fn remove_all(
    folder: &dyn FsFolder,
    names: &[OsString],
) -> std::result::Result<(), (usize, io::Error)> {
    let removed = at_once(names.len(), |index| {
        Ok::<_, Infallible>(match folder.remove(&names[index]) {
            Err(error) if error.kind() != ErrorKind::NotFound => Some((index, error)),
            _ => None,
        })
    });
    let Ok(removed) = removed;
    removed.into_iter().flatten().next().map_or(Ok(()), Err)
}

/// A file that gets its name when it is complete. If it is dropped before, no file remains.
#[derive(Debug)]
pub(super) struct NewFile {
    folder: Arc<dyn FsFolder>,
    file: Arc<dyn FsFile>,
    /// The name until then, where files must have one.
    hidden: Option<OsString>,
}

impl NewFile {
    pub(super) fn begin(folder: &Arc<dyn FsFolder>, stem: &str) -> io::Result<Self> {
        let folder = Arc::clone(folder);
        match folder.create_nameless() {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                let hidden =
                    OsString::from(format!(".{stem}.{:016x}{HIDDEN}", unique_number()));
                let file = folder.create_new(&hidden, CLOSED)?;
                Ok(Self { folder, file, hidden: Some(hidden) })
            }
            made => made.map(|file| Self { folder, file, hidden: None }),
        }
    }

    pub(super) fn file(&self) -> &Arc<dyn FsFile> {
        &self.file
    }

    /// Returns the permissions of a new file. With a hidden name, it can be opened by its owner only.
    pub(super) fn usual_mode(&self) -> io::Result<u32> {
        match self.hidden {
            Some(_) => Ok(0o666 & !umask().unwrap_or(0)),
            None => Ok(self.file.facts()?.mode & 0o777),
        }
    }

    /// Whether the mount does not allow changes of permissions.
    pub(super) fn is_fixed(&self) -> bool {
        let changed =
            || self.file.set_mode(CLOSED | 0o100).and_then(|()| self.file.set_mode(CLOSED));
        self.hidden.is_some() && changed().is_err()
    }

    /// Sets these permissions. Where permissions cannot be changed, an empty file is created again with them.
    pub(super) fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        let facts = self.file.facts()?;
        if facts.mode & 0o777 == mode {
            return Ok(());
        }
        match (self.file.set_mode(mode), &self.hidden) {
            (Err(error), Some(hidden))
                if matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::Unsupported
                ) && facts.len == 0 =>
            {
                self.folder.remove(hidden)?;
                self.file = self.folder.create_new(hidden, mode)?;
                Ok(())
            }
            (set, _) => set,
        }
    }

    /// Gives the file a free name; returns `false` if the name is taken.
    pub(super) fn name(&mut self, name: &OsStr) -> io::Result<bool> {
        let named = match &self.hidden {
            None => self.folder.link(&*self.file, name),
            Some(hidden) => match self.folder.rename_new(hidden, name) {
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    self.folder.link(&*self.file, name).or_else(|error| {
                        if !cannot_link(&error) {
                            return Err(error);
                        }
                        // Names of attempts are used once, and other names are given under a lock.
                        match self.folder.facts(name)? {
                            Some(_) => Err(Errno::EXIST.into()),
                            None => self.folder.rename(hidden, name),
                        }
                    })
                }
                renamed => renamed,
            },
        };
        match named {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Possibly this file: the reply was lost, and the call repeated.
                let ours = self.file.facts()?.identity;
                let there = self.folder.facts(name)?;
                Ok(there.is_some_and(|there| there.identity == ours))
            }
            named => named.map(|()| true),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // If it cannot be removed now, it is removed with the job's folder.
            let _ = self.folder.remove(hidden);
        }
    }
}

/// Writes a file under a free name, durably if `is_durable`; returns `false` if the name is taken.
pub(super) fn create(
    folder: &Arc<dyn FsFolder>,
    name: &str,
    bytes: &[u8],
    is_durable: bool,
) -> io::Result<bool> {
    let mut new = NewFile::begin(folder, name)?;
    new.set_mode(new.usual_mode()? & !OTHERS_WRITE)?;
    write_all_at(&**new.file(), bytes, 0).map_err(|(error, _)| error)?;
    new.file().store(is_durable).map_err(|(_, error)| error)?;
    let is_named = new.name(name.as_ref())?;
    if is_durable {
        folder.sync()?;
    }
    Ok(is_named)
}

/// Whether the folder is still that of this job: another job may have been planned in its place.
/// Reads only the beginning of the plan, which may be long.
pub(super) fn is_of_job(folder: &dyn FsFolder, id: &str) -> io::Result<Option<bool>> {
    let file = match folder.open(PLAN.as_ref()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let begun = plan_of(id);
    let mut bytes = vec![0; begun.len()];
    match read_exact_at(&*file, &mut bytes, 0) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Some(false)),
        read => read.map(|()| Some(bytes == begun.as_bytes())),
    }
}

pub(super) fn not_of_job(folder: &Path) -> Error {
    Error::new(Operation::Open, Reason::Invalid, folder)
        .detail("it is not the folder of this job, or the job is over")
        .hint("look at the output: another commit may have finished it; if not, plan the job again")
}

/// Whether the file with the name of a plan begins like one.
pub(super) fn has_plan(folder: &dyn FsFolder) -> io::Result<bool> {
    let begun = plan_of("");
    let begun = &begun.as_bytes()[..begun.len() - 2];
    let mut bytes = vec![0; begun.len()];
    read_exact_at(&*folder.open(PLAN.as_ref())?, &mut bytes, 0)?;
    Ok(bytes == begun)
}

/// Returns the beginning of a job's plan, in the order of the fields of `Plan`.
pub(super) fn plan_of(id: &str) -> String {
    format!("{{\"version\":{VERSION},\"id\":\"{id}\",")
}

/// Whether a name in a job's folder is one that jobs use.
pub(super) fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_hidden = name.starts_with('.') && name.ends_with(HIDDEN);
    let is_fixed = [PLAN, CHOSEN, COMMITTED, LOCK].contains(&name);
    is_fixed || is_hidden || is_segment(name) || is_kept_open(name.as_ref())
}

/// Whether the file is an attempt's output, complete or not.
pub(super) fn is_segment(name: &str) -> bool {
    let is_hidden = name.starts_with(".part-") && name.ends_with(HIDDEN);
    is_hidden || super::data::Done::of_file_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn many_calls_return_their_results_in_order_and_the_first_failure() {
        for count in [0, 1, 15, 16, 17, 1000] {
            let calls = AtomicUsize::new(0);
            let all = at_once(count, |index| {
                calls.fetch_add(1, Ordering::Relaxed);
                Ok::<_, usize>(index * 2)
            });
            let right: Vec<usize> = (0..count).map(|index| index * 2).collect();
            assert_eq!((all, calls.into_inner()), (Ok(right), count));
        }
        // All wait at the same time.
        let threads = at_once(200, |_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Ok::<_, Infallible>(std::thread::current().id())
        });
        let Ok(mut threads) = threads;
        threads.sort_by_key(|id| format!("{id:?}"));
        threads.dedup();
        assert!(threads.len() > 1);
        for _ in 0..20 {
            let failed = at_once(1000, |index| if index >= 333 { Err(index) } else { Ok(()) });
            assert_eq!(failed, Err(333));
        }
    }

    #[test]
    fn the_names_of_hidden_folders_are_known() {
        for name in ["out", "out.txt.job-12345678", &"x".repeat(255)] {
            let hidden = hidden_folder(name.as_ref());
            assert!(is_hidden_folder(&hidden) && hidden.len() < 143, "{hidden:?}");
        }
        for name in
            ["out", ".swath-job", ".out.swath-job", ".out.0123.swath-job", "out.swath-job"]
        {
            assert!(!is_hidden_folder(name.as_ref()), "{name}");
        }
    }
}
