//! The state that the writers of one output share: its target, and idle buffers.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use swath::Positional;
use swath::append::{Append, Committed, Fork, Ordered};
use swath_os::locks::Mutex;

/// The target of the bytes.
#[derive(Debug)]
pub(super) enum Target {
    /// A writer with a full buffer takes a ticket at the end of the file.
    Global(Ordered),
    Local(Positional),
    Files(Files),
}

/// A folder, and its forks. A fork is lent to one writer at a time, so their number is the most writers
/// that were active at the same time.
#[derive(Debug)]
pub(super) struct Files {
    output: Append,
    idle: Mutex<Vec<Fork>>,
}

impl Files {
    pub(super) fn new(output: Append) -> Self {
        Self { output, idle: Mutex::default() }
    }

    fn leave(&self, bytes: &[u8]) -> io::Result<()> {
        let mut fork = self.take()?;
        // A fork that fails is dropped, which prevents the commit.
        fork.write_all(bytes)?;
        self.idle.lock().push(fork);
        Ok(())
    }

    /// Returns the fork that was returned last, so that a thread mostly gets its own again.
    fn take(&self) -> io::Result<Fork> {
        // Hold the lock: an output lets one thread fork at a time.
        let mut idle = self.idle.lock();
        idle.pop().map_or_else(|| Ok(self.output.fork()?), Ok)
    }

    fn commit(self) -> io::Result<Committed> {
        for fork in self.idle.into_inner() {
            fork.finish()?;
        }
        Ok(self.output.commit()?)
    }
}

impl Target {
    /// Writes `bytes` without a gap. Only local mode uses `place`.
    fn leave(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        match self {
            Self::Global(output) => {
                let mut ticket = output.ticket()?;
                ticket.write_all(bytes)?;
                Ok(ticket.done()?)
            }
            Self::Local(output) => Ok(output.write_at(bytes, place)?),
            Self::Files(files) => files.leave(bytes),
        }
    }

    fn commit(self) -> io::Result<Committed> {
        let mut committed = Committed::default();
        match self {
            Self::Global(output) => committed.bytes = output.commit()?.bytes,
            Self::Local(output) => {
                committed.bytes = output.len();
                output.commit()?;
            }
            Self::Files(files) => return files.commit(),
        }
        (committed.extents, committed.in_place) = (1, committed.bytes);
        Ok(committed)
    }
}

/// The target of an output, which its writers share.
#[derive(Debug)]
pub(super) struct SharedTarget {
    path: PathBuf,
    /// `None` once the output is gone.
    target: RwLock<Option<Target>>,
    /// Whether the output is gone; checked by writers that only fill a buffer.
    is_closed: AtomicBool,
    /// Whether each strand has a position.
    pub(super) is_local: bool,
    /// Unwritten records of writers that have ended; the next writer appends to them.
    idle: Mutex<Vec<Vec<u8>>>,
    pub(super) forks: AtomicU64,
    pub(super) steals: AtomicU64,
}

impl SharedTarget {
    pub(super) fn new(path: &Path, target: Target) -> Self {
        Self {
            path: path.to_owned(),
            is_local: matches!(target, Target::Local(_)),
            target: RwLock::new(Some(target)),
            is_closed: AtomicBool::new(false),
            idle: Mutex::default(),
            forks: AtomicU64::new(0),
            steals: AtomicU64::new(0),
        }
    }

    /// Fails if the output is gone.
    pub(super) fn check(&self) -> io::Result<()> {
        // Relaxed: a writer that reads an old value finds that the target is gone.
        if self.is_closed.load(Ordering::Relaxed) { Err(self.closed()) } else { Ok(()) }
    }

    pub(super) fn leave(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        let target = self.target.read().unwrap_or_else(PoisonError::into_inner);
        target.as_ref().ok_or_else(|| self.closed())?.leave(bytes, place)
    }

    pub(super) fn take_buffer(&self) -> Vec<u8> {
        self.idle.lock().pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        self.idle.lock().push(buffer);
    }

    /// Closes the output to writers; returns the target and the unwritten records.
    pub(super) fn close(&self) -> (Option<Target>, Vec<Vec<u8>>) {
        self.is_closed.store(true, Ordering::Relaxed);
        let target = self.target.write().unwrap_or_else(PoisonError::into_inner).take();
        (target, mem::take(&mut *self.idle.lock()))
    }

    pub(super) fn commit(&self) -> io::Result<Committed> {
        let (target, buffers) = self.close();
        let target = target.ok_or_else(|| self.closed())?;
        for records in buffers.iter().filter(|records| !records.is_empty()) {
            target.leave(records, 0)?;
        }
        let mut committed = target.commit()?;
        committed.forks = self.forks.load(Ordering::Relaxed);
        committed.steals = self.steals.load(Ordering::Relaxed);
        Ok(committed)
    }

    fn closed(&self) -> io::Error {
        let why = "it was dropped or committed while a writer was open; try: write it again";
        self.refused(ErrorKind::BrokenPipe, "write", why)
    }

    pub(super) fn refused(&self, kind: ErrorKind, verb: &str, why: &str) -> io::Error {
        io::Error::new(kind, format!("cannot {verb} {}: {why}", self.path.display()))
    }
}
