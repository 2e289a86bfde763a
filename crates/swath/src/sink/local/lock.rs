//! Locked files: flock(2).
//!
//! Only its owner can open a lock file, so no other user can hold it. It is removed while it is
//! still locked, so a process that opened it in the meantime sees that it no longer has a name.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::process::geteuid;
use swath_os::file_system::is_remote;
use swath_os::names;

use super::{facts_of, unsupported};
use crate::locks::{Condvar, Mutex, MutexGuard};
use crate::sink::fs::{CLOSED, Facts, FileKind, Lock};

/// How often a lock file may vanish before it is locked; each time another writer has made progress.
const ATTEMPTS: usize = 1000;
/// As [`ATTEMPTS`], on a file system that reports removed names of other machines for seconds.
const REMOTE_ATTEMPTS: usize = 16;
/// The longest end of a name.
const LONGEST_SUFFIX: usize = 32;
/// Bytes in a lock file of a writer through a mount or on another machine: a dot and 16 digits.
const SUFFIX: u64 = 17;

/// See the [module](self).
#[derive(Debug)]
pub(super) struct LocalLock {
    file: File,
    facts: Facts,
    place: Arc<LockPlace>,
    /// Whether it may keep out only the programs of this machine.
    is_remote: bool,
}

/// The place of a lock file.
#[derive(Debug)]
struct LockPlace {
    folder: Arc<File>,
    name: OsString,
    identity: (u64, u64),
    /// The holder's files under names that no other writer looks for.
    made: Mutex<Vec<OsString>>,
    /// The contents of the file, if its holder wrote to it: on FUSE, another writer's file of this name
    /// seems to be the same file.
    suffix: Mutex<String>,
}

/// The lock files that this process has created since [`Locks::watch`]. They are removed only under this lock
/// and while they are locked, so another writer's file is never removed.
static HELD: Mutex<Vec<Arc<LockPlace>>> = Mutex::new(Vec::new());
/// Set by the command only: in a library, a fork could leave [`HELD`] locked.
static ARE_WATCHED: AtomicBool = AtomicBool::new(false);

/// Number of [`EndDelay`]s.
static DELAYS: Mutex<u64> = Mutex::new(0);
static ARE_FEWER: Condvar = Condvar::new();

fn delays() -> MutexGuard<'static, u64> {
    DELAYS.lock()
}

/// Delays [`Locks::remove`] until it is dropped: for steps that must not be left half done, such as creating a folder
/// under a hidden name, which only a sweep would find.
#[derive(Debug)]
pub struct EndDelay(());

impl EndDelay {
    /// Begins a delay, in a program that watches its [`Locks`]; `None` in others. Delays may overlap.
    #[must_use]
    pub fn begin() -> Option<Self> {
        // Relaxed: as in `Locks::watch`.
        if !ARE_WATCHED.load(Ordering::Relaxed) {
            return None;
        }
        *delays() += 1;
        Some(Self(()))
    }
}

impl Drop for EndDelay {
    fn drop(&mut self) {
        *delays() -= 1;
        ARE_FEWER.notify_all();
    }
}

fn held() -> MutexGuard<'static, Vec<Arc<LockPlace>>> {
    HELD.lock()
}

/// The lock files of this process's writers, for a program that removes them when a signal ends it.
///
/// A writer that is killed leaves an empty file `.NAME.swath-lock`, which locks out no other writer and
/// is removed by the next one. A program that receives the signal can remove it at once.
///
/// ```
/// let locks = swath::machine::Locks::watch(); // first thing in `main`
/// locks.remove(); // nothing is being written
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Locks(());

/// While it exists, threads of this process wait before they create or remove a lock file or begin an [`EndDelay`].
#[derive(Debug)]
pub struct NoLocks {
    _delays: MutexGuard<'static, u64>,
    _held: MutexGuard<'static, Vec<Arc<LockPlace>>>,
}

impl Locks {
    /// Begins to track this process's lock files. Not for programs that fork without exec(3).
    #[must_use]
    pub fn watch() -> Self {
        // Relaxed: it guards nothing.
        ARE_WATCHED.store(true, Ordering::Relaxed);
        Self(())
    }

    /// Removes the lock files, after waiting for each [`EndDelay`], but not for writers. An output that is committed
    /// after this call is whole, but no longer protected from another writer: end the program at once, and keep the
    /// returned value until then. On FUSE and file servers, this also removes the writers' unfinished files, and no
    /// output is committed.
    pub fn remove(self) -> NoLocks {
        let mut delays = delays();
        while *delays > 0 {
            delays = ARE_FEWER.wait(delays);
        }
        let mut held = held();
        for place in held.drain(..) {
            let made = place.made.lock();
            let removed = made.iter().map(|name| names::remove(&place.folder, name));
            let removed: Vec<_> = removed.collect();
            let is_left = |it: &io::Result<()>| {
                it.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
            };
            // Only the lock has the name of a folder of segments that is left to the next writer, or of a hidden
            // file that a thread is about to create.
            let is_made = removed.first().is_none_or(Result::is_ok);
            if is_made && !removed.iter().any(is_left) {
                place.remove();
            }
        }
        NoLocks { _delays: delays, _held: held }
    }
}

impl LockPlace {
    /// Whether the name still refers to the file.
    fn is_there(&self) -> io::Result<bool> {
        let there = names::look(&self.folder, &self.name)?.as_ref().map(facts_of);
        Ok(there.is_some_and(|there| there.identity == self.identity))
    }

    /// Whether the file under the name has the bytes of its holder, if it has any.
    fn is_unchanged(&self) -> bool {
        let suffix = self.suffix.lock();
        let mut bytes = [0; LONGEST_SUFFIX];
        let file = || names::open_to_read(&self.folder, &self.name);
        suffix.is_empty()
            || file()
                .and_then(|file| file.read_at(&mut bytes, 0))
                .is_ok_and(|len| bytes[..len] == *suffix.as_bytes())
    }

    /// Whether none of the holder's files is left. Where no other writer looks for them, only the lock has their
    /// names; a server may fail to remove them.
    fn is_alone(&self) -> bool {
        let made = self.made.lock();
        made.iter().all(|name| matches!(names::look(&self.folder, name), Ok(None)))
    }

    /// Removes the file if it is still there.
    fn remove(&self) {
        if self.is_there().unwrap_or(false) && self.is_unchanged() {
            let _ = names::remove(&self.folder, &self.name);
        }
    }
}

impl Lock for LocalLock {
    fn owner(&self) -> u32 {
        self.facts.owner
    }

    fn exchange(&self, suffix: &str, made: Vec<OsString>) -> io::Result<Option<String>> {
        // A writer on another machine, or through a mount, has written to the lock file.
        let is_shared = self.is_remote || self.file.metadata()?.len() > 0;
        if !is_shared {
            return Ok(None);
        }
        let mut left = [0; LONGEST_SUFFIX];
        let len = self.file.read_at(&mut left, 0)?;
        *self.place.made.lock() = made;
        self.file.write_all_at(suffix.as_bytes(), 0)?;
        suffix.clone_into(&mut self.place.suffix.lock());
        swath_os::descriptors::flush(&self.file)?;
        Ok(Some(String::from_utf8_lossy(&left[..len]).into_owned()))
    }
}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // Relaxed: as in `watch`.
        let mut held = ARE_WATCHED.load(Ordering::Relaxed).then(held);
        if let Some(held) = &mut held {
            held.retain(|place| !Arc::ptr_eq(place, &self.place));
        }
        // A remaining lock file keeps out no writer: it can be opened and locked again.
        if self.place.is_alone() {
            self.place.remove();
        }
        // Before the close: a child that was just forked may hold the descriptor.
        let _ = self.file.unlock();
    }
}

impl LocalLock {
    /// Takes the lock; `None` if it is held.
    pub(super) fn take(
        folder: &Arc<File>,
        name: &OsStr,
        user: Option<u32>,
    ) -> io::Result<Option<Self>> {
        let is_remote = is_remote(folder);
        for _ in 0..if is_remote { REMOTE_ATTEMPTS } else { ATTEMPTS } {
            // Relaxed: as in `watch`. Held from before the file is created until it is listed, so that
            // `remove` finds every file. No call here waits for another writer.
            let mut held = ARE_WATCHED.load(Ordering::Relaxed).then(held);
            let (file, is_new) = match names::create_file(folder, name, CLOSED) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    (open(folder, name, user, is_remote)?, false)
                }
                made => (Some(made?), true),
            };
            // Another writer removed it between two calls.
            let Some(file) = file else { continue };
            let facts = match fstat(&file) {
                // Removed, on a file system that looks up open files by name.
                Err(Errno::NOENT | Errno::STALE) => continue,
                found => facts_of(&found?),
            };
            // Some mounts give new files more: another user could hold it. A default access control list of the folder
            // may give them less: the next writer could not open it.
            if is_new && facts.mode & 0o777 != CLOSED {
                let _ = swath_os::attributes::set_mode(&file, CLOSED);
            }
            let (folder, name) = (Arc::clone(folder), name.to_owned());
            let place = Arc::new(LockPlace {
                folder,
                name,
                identity: facts.identity,
                made: Mutex::default(),
                suffix: Mutex::default(),
            });
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    let errno = Errno::from_io_error(&error);
                    if errno == Some(Errno::INTR) {
                        continue;
                    }
                    if is_new {
                        place.remove();
                    }
                    let is_without = errno.is_some_and(is_without_locks);
                    return Err(if is_without { unsupported() } else { error });
                }
            }
            if place.is_there()? {
                if let Some(held) = &mut held {
                    held.push(Arc::clone(&place));
                }
                return Ok(Some(Self { file, facts, place, is_remote }));
            }
        }
        // As long as the name is reported, it cannot be locked: treated as another user's.
        if is_remote { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(None) }
    }
}

/// Whether the file system has no locks, or a sandbox refuses the call.
fn is_without_locks(errno: Errno) -> bool {
    matches!(errno, Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::PERM)
}

/// Opens an existing lock file; `None` if it is gone.
fn open(
    folder: &File,
    name: &OsStr,
    user: Option<u32>,
    is_remote: bool,
) -> io::Result<Option<File>> {
    let user = user.unwrap_or_else(|| geteuid().as_raw());
    // A lock has one name, and only the bytes of locks on file servers: another user may have moved any other file
    // here.
    let is_ours = |facts: &Facts| {
        (facts.kind, facts.owner, facts.links) == (FileKind::File, user, 1)
            && (is_remote || facts.len == 0 || (facts.mode == CLOSED && facts.len == SUFFIX))
    };
    let taken = || io::Error::from(io::ErrorKind::AlreadyExists);
    let Some(found) = names::look(folder, name)? else { return Ok(None) };
    // Before the open: opening a device, for example, may have effects.
    match facts_of(&found) {
        // It was removed while it was inspected.
        facts if facts.links == 0 => return Ok(None),
        facts if is_ours(&facts) => {}
        _ => return Err(taken()),
    }
    let file = match names::open_to_write(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A server's file, owned by another user there.
        Err(error) if is_remote && error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(taken());
        }
        opened => opened?,
    };
    let found = match fstat(&file) {
        Err(Errno::NOENT | Errno::STALE) => return Ok(None),
        found => found?,
    };
    match facts_of(&found) {
        // It was removed in the meantime.
        facts if facts.links == 0 => Ok(None),
        facts if is_ours(&facts) => Ok(Some(file)),
        _ => Err(taken()),
    }
}
