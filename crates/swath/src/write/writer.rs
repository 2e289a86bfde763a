//! The writer of a draft in another process.

use std::fmt;
use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::io::Errno;
use rustix::process::geteuid;
use swath_plan::extent::Extent;
use swath_plan::extents::merged;

use super::placing::WritePlacing;
use super::token::{DraftReceipt, DraftToken};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::observe::Observer;
use crate::sink::claim::locate;
use crate::sink::fs::{FsFile, FsFolder};
use crate::sink::names::Names;
use crate::sink::{Durability, OutputOptions, read_exact_at};

/// Number of extents from which a growing receipt is merged.
const MANY: usize = 4096;

/// Writes to a draft that this or another process has begun, from
/// [`WriteOptions::open_shared`](crate::WriteOptions::open_shared).
///
/// Several threads may write at once. If it is dropped, or its process dies, before
/// [`finish`](Self::finish), the commit does not count its bytes.
pub struct DraftWriter {
    file: Arc<dyn FsFile>,
    token: DraftToken,
    placing: WritePlacing,
    written: Mutex<Vec<Extent>>,
}

impl DraftWriter {
    pub(super) fn open(
        token: &DraftToken,
        output: &OutputOptions,
        chunk_size: NonZeroU64,
    ) -> Result<Self> {
        token.check()?;
        let (path, hidden) = (&token.target, token.hidden.as_os_str());
        let located = locate(Operation::Open, path, &*output.draft.fs)?;
        if !Names::of(path, &located.name)?.is_hidden(hidden) {
            return Err(Error::new(Operation::Open, Reason::Corrupt, path)
                .detail(format!("no draft of it has the name {}", hidden.display()))
                .hint("pass the token as the draft gave it"));
        }
        let file =
            located.folder.open_to_write(hidden).map_err(|error| cannot_open(path, error))?;
        if !is_of(token, &*file, &*located.folder)? {
            return Err(over(Operation::Open, path));
        }
        let placing = WritePlacing {
            path: path.clone(),
            len: token.len,
            chunk_size,
            observer: Observer::new(output.hooks.clone(), None),
            is_eager: token.is_durable,
            is_poisoned: AtomicBool::new(false),
        };
        let (token, written) = (token.clone(), Mutex::default());
        Ok(Self { file, token, placing, written })
    }

    /// Length that the file will have, in bytes.
    pub fn len(&self) -> u64 {
        self.token.len
    }

    /// Whether it will be empty.
    pub fn is_empty(&self) -> bool {
        self.token.len == 0
    }

    /// Writes all of `bytes` at `offset`, straight from the caller's memory.
    ///
    /// Where two writes overlap, of one process or of two, each overlapping byte is from one or the
    /// other.
    ///
    /// # Errors
    ///
    /// [`Reason::Invalid`] if they extend past the length, in which case nothing of them is
    /// written; [`Reason::Changed`] if the draft is over: committed, or discarded by the process
    /// that began it; the kernel's errors of writing, with the bytes that are missing;
    /// [`Reason::Cancelled`]. After an error this writer gives no receipt.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.check_current(Operation::Write)?;
        self.placing.write_at(&*self.file, bytes, offset)?;
        let extent = Extent::between(offset, offset + bytes.len() as u64);
        // Only list entries change: a panic leaves no partial state.
        let mut written = self.written.lock();
        match written.last_mut() {
            Some(last) if last.end() == extent.offset() => {
                *last = Extent::between(last.offset(), extent.end());
            }
            _ => written.push(extent),
        }
        if written.len().is_power_of_two() && written.len() >= MANY {
            *written = merged(std::mem::take(&mut written));
        }
        Ok(())
    }

    /// Ends the writing and returns the receipt, which the process that began the draft needs for
    /// the commit. Waits for the device if the draft is durable.
    ///
    /// # Errors
    ///
    /// [`Reason::Poisoned`] after a failed write; [`Reason::Changed`] if the draft is over;
    /// [`Reason::Cancelled`]; those of the sync.
    pub fn finish(self) -> Result<DraftReceipt> {
        self.finish_with(Durability::Full)
    }

    /// As [`finish`](Self::finish). With [`Durability::None`] it does not wait for the device.
    ///
    /// A sync of a file waits for the writes of all processes of a machine. So one writer of each
    /// machine is enough, if it finishes last; on the machine of the commit, no writer has to sync.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_with(self, durability: Durability) -> Result<DraftReceipt> {
        let path = &self.placing.path;
        self.placing.check_whole()?;
        let all = Extent::between(0, self.token.len);
        self.placing.observer.hooks().check(Operation::Write, path, all)?;
        let is_synced = self.token.is_durable && durability == Durability::Full;
        // Only after a sync does a server have the bytes for other machines.
        let is_synced = is_synced || self.file.is_remote();
        let stored = self.file.store(is_synced);
        stored.map_err(|(operation, error)| Error::io(operation, path, error))?;
        self.check_current(Operation::Write)?;
        let written = self.written.into_inner();
        let extents = merged(written).iter().map(|it| (it.offset(), it.len())).collect();
        Ok(DraftReceipt { draft: self.token.id, extents })
    }

    /// Fails if the file is known to be no longer a draft: the commit cuts off the mark, and the next
    /// writer of the target removes the name.
    fn check_current(&self, operation: Operation) -> Result<()> {
        let path = &self.placing.path;
        let facts = self.file.facts();
        let facts = facts.map_err(|error| Error::io(Operation::Inspect, path, error))?;
        if facts.links == 0 || facts.len != self.token.draft_len() {
            return Err(over(operation, path));
        }
        Ok(())
    }
}

/// Whether a file is the draft of this token. Reads it through another descriptor: the one for writing
/// must not be able to read.
fn is_of(token: &DraftToken, file: &dyn FsFile, folder: &dyn FsFolder) -> Result<bool> {
    let path = &token.target;
    let failed = |error| Error::io(Operation::Open, path, error);
    let readable = match folder.open(token.hidden.as_os_str()) {
        Err(error) if is_of_something_else(&error) => return Ok(false),
        opened => opened.map_err(failed)?,
    };
    let facts = file.facts().map_err(failed)?;
    let is_same = readable.facts().map_err(failed)?.are_of_one_file(&facts);
    // The owner is the user who began it, by the number on this or on that machine.
    let is_ours = [token.owner, geteuid().as_raw()].contains(&facts.owner);
    if !is_same || !is_ours || facts.len != token.draft_len() {
        return Ok(false);
    }
    let mut mark = vec![0; token.mark_bytes().len()];
    match read_exact_at(&*readable, &mut mark, token.mark) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| mark == token.mark_bytes()).map_err(failed),
    }
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        _ if is_of_something_else(&error) => over(Operation::Open, path),
        ErrorKind::PermissionDenied => {
            Error::io(Operation::Open, path, error).hint("write to it as the user who began it")
        }
        _ => Error::io(Operation::Open, path, error),
    }
}

/// Whether the name has no file, or a link, a folder or a pipe instead of a draft.
fn is_of_something_else(error: &std::io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    let other = [Errno::NOENT, Errno::ISDIR, Errno::LOOP, Errno::NXIO];
    error.kind() == ErrorKind::InvalidInput || number.is_some_and(|it| other.contains(&it))
}

fn over(operation: Operation, path: &Path) -> Error {
    Error::new(operation, Reason::Changed, path)
        .detail("the draft of this token is over: it was committed or discarded")
        .hint("begin the output again, and pass the new token to all writers")
}

impl fmt::Debug for DraftWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DraftWriter")
            .field("path", &self.placing.path)
            .field("draft", &self.token.id)
            .finish_non_exhaustive()
    }
}
