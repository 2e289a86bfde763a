//! A file that is locked: flock(2).
//!
//! Only its owner can open it, so no other user can hold it. It is removed while it is still
//! locked, so a process that opened it in the meantime sees that it has no name any more.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;

use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::process::geteuid;
use swath_os::names;

use super::{facts_of, unsupported};
use crate::sink::fs::{Facts, FileKind, Lock};

/// How often a lock file may vanish under our hands; each time another writer has got further.
const ATTEMPTS: usize = 1000;
const CLOSED: u32 = 0o600;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct LocalLock {
    file: File,
    facts: Facts,
    folder: Arc<File>,
    name: OsString,
}

impl Lock for LocalLock {
    fn owner(&self) -> u32 {
        self.facts.owner
    }
}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // A lock file that remains locks out no writer: it is opened and locked again.
        if is_name_of(&self.folder, &self.name, &self.facts).unwrap_or(false) {
            let _ = names::remove(&self.folder, &self.name);
        }
        // Before it is closed: a child that was forked a moment ago may hold the descriptor.
        let _ = self.file.unlock();
    }
}

impl LocalLock {
    /// `None` if it is held.
    pub(super) fn take(
        folder: &Arc<File>,
        name: &OsStr,
        user: Option<u32>,
    ) -> io::Result<Option<Self>> {
        for _ in 0..ATTEMPTS {
            let file = match names::create_file(folder, name, CLOSED) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    open(folder, name, user)?
                }
                made => Some(made?),
            };
            // Removed by another writer between two of our calls.
            let Some(file) = file else { continue };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => match Errno::from_io_error(&error) {
                    Some(Errno::INTR) => continue,
                    Some(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => {
                        return Err(unsupported());
                    }
                    _ => return Err(error),
                },
            }
            let facts = facts_of(&fstat(&file)?);
            if is_name_of(folder, name, &facts)? {
                let (folder, name) = (Arc::clone(folder), name.to_owned());
                return Ok(Some(Self { file, facts, folder, name }));
            }
        }
        Ok(None)
    }
}

/// Returns whether `name` still refers to the file of `held`.
fn is_name_of(folder: &File, name: &OsStr, held: &Facts) -> io::Result<bool> {
    let there = names::look(folder, name)?.as_ref().map(facts_of);
    Ok(there.is_some_and(|there| there.identity == held.identity))
}

/// Opens an existing lock file; `None` if it is gone.
fn open(folder: &File, name: &OsStr, user: Option<u32>) -> io::Result<Option<File>> {
    let user = user.unwrap_or_else(|| geteuid().as_raw());
    // A file with other names was not made as a lock.
    let is_ours =
        |facts: &Facts| (facts.kind, facts.owner, facts.links) == (FileKind::File, user, 1);
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    let Some(found) = names::look(folder, name)? else { return Ok(None) };
    // Before it is opened: opening a device, for example, may have effects.
    match facts_of(&found) {
        // It was removed while it was inspected.
        facts if facts.links == 0 => return Ok(None),
        facts if is_ours(&facts) => {}
        _ => return Err(taken()),
    }
    let file = match names::open_to_write(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match facts_of(&fstat(&file)?) {
        // It has been removed since.
        facts if facts.links == 0 => Ok(None),
        facts if is_ours(&facts) => Ok(Some(file)),
        _ => Err(taken()),
    }
}
