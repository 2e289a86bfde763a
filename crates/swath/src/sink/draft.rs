//! One file that has no name yet, and its commit.
//!
//! ```text
//! begin    lock, remove strays; a nameless file in the target's folder
//! ...      whoever writes, writes to `file`
//! commit   length, attributes of what is replaced, sync file
//!            nothing there:   link the name                         (refuses a taken one)
//!            something there: link a hidden name, rename it over    (one step for readers)
//!          sync folder, sync file
//! ```
//!
//! Until the link or the rename, the target is what it was; from there on it is new and whole.
//! What a power cut leaves is one of the two as well, because bytes and length are on the device
//! before the name is given. The last sync is for XFS, which reports a lost rename only there.
//! Where files must have a name (no `O_TMPFILE`), the hidden name is there from the beginning,
//! with the attributes of what is replaced, so that nothing secret is readable meanwhile.
//!
//! **Who else touches the target.** Another writer of Swath is kept out by the lock. Others are
//! not: what stands under the name is looked at again at commit. With [`Replace::Refused`] only
//! steps that the kernel makes fail on a taken name are used. With [`Replace::Allowed`], what
//! stands there at commit is replaced, with its attributes, and what has vanished is made new: as
//! with rename(2), the last one wins, whole.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use crate::error::{Error, Operation, Reason, Result};
use crate::sink::claim::Claim;
use crate::sink::fs::{Facts, Fs, FsFile, Kind};
use crate::sink::local::LocalFs;
use crate::sink::place::move_range;

/// How often the target may appear or vanish between two calls of one commit.
const ATTEMPTS: usize = 16;

/// How sure to be, at commit, that a power cut does not undo it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sync {
    /// The device has bytes and name when commit returns.
    #[default]
    Full,
    /// The kernel has them, and will write them when it likes: readers see all or nothing, but
    /// after a power cut the target may be old, empty or damaged.
    None,
}

/// What to do if the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Replace {
    /// It is replaced, in one step; mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed,
    /// That is an error, and the file is never touched.
    Refused,
}

/// What to do if the target has further names (hard links), which would keep the old bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HardLinks {
    /// That is an error.
    #[default]
    Refused,
    /// This name gets the new bytes; the others keep the old ones.
    Broken,
}

/// How to leave something behind.
#[derive(Clone, Debug)]
pub(crate) struct DraftOptions {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) replace: Replace,
    pub(crate) hard_links: HardLinks,
    pub(crate) sync: Sync,
}

impl Default for DraftOptions {
    fn default() -> Self {
        Self {
            fs: Arc::new(LocalFs),
            replace: Replace::default(),
            hard_links: HardLinks::default(),
            sync: Sync::default(),
        }
    }
}

/// A file to be. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Draft {
    options: DraftOptions,
    existing: Option<Facts>,
    file: Arc<dyn FsFile>,
    /// Whether the hidden name stands, or may stand, for `file`.
    is_hidden: bool,
    /// Held while a spill file has its name.
    naming: Mutex<()>,
    claim: Claim,
}

impl Draft {
    /// Makes a file without a name beside `path`, which nobody else may write from now on.
    ///
    /// # Errors
    ///
    /// `Busy` if another writer has it; what [`inspect`] finds; that no file can be made there.
    pub(crate) fn begin(path: &Path, options: &DraftOptions) -> Result<Self> {
        let fs = &options.fs;
        let failed = |error| Error::io(Operation::Create, path, error);
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(failed(Errno::ISDIR.into()));
        }
        let target = fs.resolve(path).map_err(failed)?;
        // First without a lock, so that no device or folder gets a lock file beside it; further
        // names and refusals later, when what a killed run left has been removed.
        let is_there = look_at(path, &target, fs)?.is_some();
        let claim = Claim::take(path, target, fs).map_err(|error| {
            let is_taken = is_there && options.replace == Replace::Refused;
            if is_taken && error.reason() != Reason::Busy { taken(path) } else { error }
        })?;
        let existing = inspect(path, &claim.target, options)?;
        let (file, is_hidden) = match fs.create_nameless(claim.folder()) {
            Ok(file) => (file, false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                (fs.create_new(&claim.hidden()).map_err(failed)?, true)
            }
            Err(error) => return Err(failed(error)),
        };
        let options = options.clone();
        let draft = Self { options, existing, file, is_hidden, naming: Mutex::new(()), claim };
        if is_hidden && existing.is_some() {
            draft.take_attributes()?;
        }
        Ok(draft)
    }

    /// Where to write.
    pub(crate) fn file(&self) -> &Arc<dyn FsFile> {
        &self.file
    }

    /// The target as the caller named it, for errors.
    pub(crate) fn path(&self) -> &Path {
        &self.claim.path
    }

    /// What will be replaced.
    pub(crate) fn existing(&self) -> Option<&Facts> {
        self.existing.as_ref()
    }

    /// What this file system cannot do, and what follows.
    pub(crate) fn fallbacks(&self) -> Vec<String> {
        let unlocked = "this file system has no locks: a second writer would not be told";
        Vec::from_iter((!self.claim.is_locked()).then(|| String::from(unlocked)))
    }

    /// Another file in the same folder that never has a name; gone when it is dropped.
    ///
    /// # Errors
    ///
    /// That no file can be made there.
    pub(crate) fn scratch(&self) -> Result<Arc<dyn FsFile>> {
        let fs = &self.options.fs;
        let failed = |error| self.claim.error(Operation::Create, error);
        match fs.create_nameless(self.claim.folder()) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            made => return made.map_err(failed),
        }
        // One at a time: there is one such name. A panic while it is held leaves nothing torn.
        let _naming = self.naming.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.claim.scratch();
        let file = fs.create_new(&name).map_err(failed)?;
        fs.remove(&name).map_err(failed)?;
        Ok(file)
    }

    /// Cuts the file to `len` bytes and gives it its name.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if the name has been given but may not survive a power cut. With any other
    /// error the target is what it was.
    pub(crate) fn commit(mut self, len: u64) -> Result<()> {
        self.publish(len)
    }

    /// Leaves a copy of the first `len` bytes under the name, as a commit would, and keeps the
    /// file to be written on. The copy shares blocks where the file system can.
    ///
    /// # Errors
    ///
    /// Those of [`commit`](Self::commit), and of copying.
    pub(crate) fn checkpoint(&mut self, len: u64) -> Result<()> {
        let fs = Arc::clone(&self.options.fs);
        let copy = match fs.create_nameless(self.claim.folder()) {
            Err(error) if is_unsupported_kind(&error) => {
                return Err(self.claim.error(Operation::Commit, error));
            }
            made => made.map_err(|error| self.claim.error(Operation::Create, error))?,
        };
        let moved = move_range(&*copy, &*self.file, (0, 0), len);
        moved.map_err(|error| self.claim.error(Operation::Write, error))?;
        let file = std::mem::replace(&mut self.file, copy);
        let published = self.publish(len);
        self.file = file;
        if published.is_ok() {
            // What stands there now is ours.
            self.options.replace = Replace::Allowed;
        }
        published
    }

    fn publish(&mut self, len: u64) -> Result<()> {
        self.cut(len).map_err(|error| self.claim.error(Operation::Write, error))?;
        for _ in 0..ATTEMPTS {
            let there = inspect(&self.claim.path, &self.claim.target, &self.options)?;
            if there.is_some() && !self.take_attributes()? {
                continue;
            }
            self.sync()?;
            let named = if there.is_some() { self.replace()? } else { self.create()? };
            if named {
                return self.settle();
            }
        }
        let path = &self.claim.path;
        Err(Error::new(Operation::Commit, Reason::Changed, path)
            .detail("another program makes and removes it again and again"))
    }

    /// Also if that is its length already: setting it gives back what was reserved behind it;
    /// but not if the file grows by it, so then it is set twice.
    fn cut(&self, len: u64) -> io::Result<()> {
        if self.file.facts()?.len < len {
            self.file.set_len(len)?;
        }
        self.file.set_len(len)
    }

    /// Returns `false` if what was to be replaced has vanished.
    fn take_attributes(&self) -> Result<bool> {
        match self.file.copy_attributes(&self.claim.target) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.claim.error(Operation::Commit, error)),
        }
    }

    /// Bytes and length, before anybody can see them. Never tried again if it fails.
    fn sync(&self) -> Result<()> {
        match self.options.sync {
            Sync::Full => {
                self.file.sync().map_err(|error| self.claim.error(Operation::Sync, error))
            }
            Sync::None => Ok(()),
        }
    }

    /// Gives a name that nothing has; `false` if something has appeared there that may be
    /// replaced.
    fn create(&mut self) -> Result<bool> {
        let fs = Arc::clone(&self.options.fs);
        let (hidden, target) = (self.claim.hidden(), self.claim.target.clone());
        let mut given = if self.is_hidden {
            fs.rename_new(&hidden, &target).map(|()| self.is_hidden = false)
        } else {
            fs.link(&*self.file, &target)
        };
        if self.is_hidden && is_unsupported(&given) {
            // Both names for a moment; the hidden one goes when the draft is dropped.
            given = fs.link(&*self.file, &target);
        }
        if self.is_hidden && cannot_link(&given) && self.options.replace == Replace::Allowed {
            return self.replace();
        }
        match given {
            Ok(()) => Ok(true),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.not_named(error))
            }
            // Possibly our own link: an answer that was lost, and the call made again.
            Err(error) if self.stands().unwrap_or(true) => {
                Err(self.claim.outcome_unknown(error))
            }
            Err(_) if self.options.replace == Replace::Allowed => Ok(false),
            Err(_) => Err(taken(&self.claim.path)),
        }
    }

    /// Renames a hidden name over the target.
    fn replace(&mut self) -> Result<bool> {
        let fs = Arc::clone(&self.options.fs);
        let hidden = self.claim.hidden();
        if !self.is_hidden {
            // Before the answer, which may be lost: then the name is removed all the same.
            self.is_hidden = true;
            let linked = fs.link(&*self.file, &hidden);
            linked.map_err(|error| self.claim.error(Operation::Commit, error))?;
        }
        match fs.rename(&hidden, &self.claim.target) {
            Ok(()) => {
                self.is_hidden = false;
                Ok(true)
            }
            Err(error) => Err(self.not_named(error)),
        }
    }

    /// The error of a step that should have given the name.
    fn not_named(&self, error: io::Error) -> Error {
        match self.stands() {
            Ok(false) => self.claim.error(Operation::Commit, error),
            // It says that it failed, and yet the name is given; or nobody knows.
            Ok(true) | Err(_) => self.claim.outcome_unknown(error),
        }
    }

    /// Whether the target is this file.
    fn stands(&self) -> io::Result<bool> {
        let there = self.options.fs.facts(&self.claim.target)?;
        let ours = self.file.facts()?.identity;
        Ok(there.is_some_and(|there| there.identity == ours))
    }

    /// The name, and then what only the file itself knows of it.
    fn settle(&self) -> Result<()> {
        if self.options.sync == Sync::None {
            return Ok(());
        }
        let fs = &self.options.fs;
        let settled = fs.sync_folder(self.claim.folder()).and_then(|()| self.file.sync());
        settled.map_err(|error| self.claim.outcome_unknown(error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_hidden {
            // What cannot be removed now is removed by the next writer of this target.
            let _ = self.options.fs.remove(&self.claim.hidden());
        }
    }
}

fn is_unsupported<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_err_and(is_unsupported_kind)
}

fn is_unsupported_kind(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// File systems without hard links answer in either way.
fn cannot_link<T>(result: &io::Result<T>) -> bool {
    is_unsupported(result)
        || result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

fn taken(path: &Path) -> Error {
    Error::io(Operation::Create, path, Errno::EXIST.into())
        .hint("choose another name, or allow it to be replaced")
}

/// Returns what stands under the target.
///
/// # Errors
///
/// That it must not be replaced: what [`look_at`] finds, a file with further names, or any file if
/// that is not allowed.
fn inspect(path: &Path, target: &Path, options: &DraftOptions) -> Result<Option<Facts>> {
    let Some(facts) = look_at(path, target, &options.fs)? else { return Ok(None) };
    if options.replace == Replace::Refused {
        return Err(taken(path));
    }
    if facts.links > 1 && options.hard_links == HardLinks::Refused {
        let detail =
            format!("it has {} names, and the others would keep the old bytes", facts.links);
        return Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail(detail)
            .hint("write to another name, or allow hard links to be broken"));
    }
    Ok(Some(facts))
}

/// Returns what stands under the target.
///
/// # Errors
///
/// That it is no ordinary file, or one that may not be written.
fn look_at(path: &Path, target: &Path, fs: &Arc<dyn Fs>) -> Result<Option<Facts>> {
    let found = fs.facts(target);
    let Some(facts) = found.map_err(|error| Error::io(Operation::Inspect, path, error))? else {
        return Ok(None);
    };
    let refused = |errno: Errno| Error::io(Operation::Create, path, errno.into());
    match facts.kind {
        Kind::Folder => Err(refused(Errno::ISDIR)),
        Kind::Special => Err(Error::new(Operation::Create, Reason::Invalid, path)
            .detail("it is a device, pipe or socket, which cannot be replaced")
            .hint("name an ordinary file, or a new one")),
        Kind::File if !facts.writable => Err(refused(Errno::ACCESS)),
        Kind::File => Ok(Some(facts)),
    }
}

#[cfg(test)]
mod tests;
