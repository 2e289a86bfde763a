//! Serial-append: strands write in parallel; the file equals that of the serial program.
//!
//! A program forks and joins; every branch writes through its own [`Writer`]. For any number of
//! threads and any pattern of steals, the file is byte for byte the one that the branches would
//! write if they ran one after the other. It appears under its name, complete, at the commit.
//!
//! ```text
//! create ─ scope(|w| ..) ─ w.join(a, b) ─ commit        strands on rayon
//!        ─ fork() ─ Fork: Write ─ finish                owned handles for threads of your own
//! ordered ─ ticket() ─ Ticket: Write ─ done ─ commit    bounded memory, back-pressure, streams
//! open ─ Read, Seek, read_at                            committed outputs
//! ```
//!
//! ```
//! use std::io::Write;
//! use swath::append::{self, AppendOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("out");
//! let out = append::create(&path)?;            // nothing visible yet
//! out.scope(|w| {
//!     w.write_all(b"head ")?;
//!     w.join(|w| w.write_all(b"left "), |w| w.write_all(b"right "))?; // in parallel
//!     w.write_all(b"tail")
//! })?;
//! out.commit()?;                                                      // complete and durable
//! assert_eq!(std::fs::read(&path)?, b"head left right tail");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: study E, *Fast Serial-Append* (PLIO). The semantics are the same, but PLIO's rule for
//! the place of a stolen strand loses the order of bytes written after a join. Here a handle is a
//! rope of extents, and the owner of a fork concatenates the ropes in serial order.

mod commit;
mod extent_sums;
mod fork;
mod iter;
mod manifest;
mod opened;
mod options;
mod ordered;
mod output;
mod pool;
mod sequence;
mod spawn;
mod start_offset;
mod strand;
mod unplaced;
mod writer;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::result;
use std::sync::Arc;

pub use commit::Committed;
pub use fork::Fork;
pub use iter::{AppendTo, Out};
pub use opened::Opened;
pub use options::{AppendOptions, ExtentChecksums, Mode};
pub use ordered::{
    Direct, Ordered, OrderedOptions, OrderedReport, Ticket, ordered, ordered_to,
};
pub use spawn::Scope;
pub use swath_plan::segment::index::Index as ExtentIndex;
pub use writer::Writer;

use crate::append::commit::Root;
use crate::append::fork::fork;
use crate::append::manifest::Entries;
use crate::append::output::{AppendOutput, AppendTarget, to_io};
use crate::append::sequence::Sequence;
use crate::append::start_offset::StartOffset;
use crate::append::strand::Strand;
use crate::append::writer::lend;
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::{Mutex, MutexGuard};
use crate::sink::{Draft, DraftBase, FileKind, Folder, LocalFs, move_range, not_in_place};

/// Begins an output that is committed to `path`, replacing an existing one.
///
/// Nothing is visible at `path` before the [commit](Append::commit).
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("log");
/// let mut out = swath::append::create(&path)?;
/// writeln!(out, "first line")?;
/// assert!(!path.exists());
/// out.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"first line\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Reason::Busy`] if another writer has the target open; an error if `path` names something
/// that cannot be replaced (a folder where a file is to be written, a device), or if its folder
/// is not writable.
pub fn create(path: impl AsRef<Path>) -> Result<Append> {
    AppendOptions::new().create(path)
}

/// Begins an output that starts with the bytes of the committed one at `path`; new bytes go
/// after them. If nothing is at `path`, this is [`create`].
///
/// Until the commit, `path` is unchanged. The old bytes of a plain file are shared as blocks where
/// the file system can, otherwise copied; segments are reused as they are.
///
/// A lock keeps other Swath writers out. Changes by other programs are detected at the commit
/// and at checkpoints ([`Reason::Changed`]); the file is not replaced then.
///
/// ```
/// use std::io::Write;
/// use swath::append;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("log");
/// std::fs::write(&path, "old\n")?;
/// let mut out = append::append_to_existing(&path)?;
/// writeln!(out, "new")?;
/// out.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"old\nnew\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`create`], and those of reading the old output.
pub fn append_to_existing(path: impl AsRef<Path>) -> Result<Append> {
    AppendOptions::new().append_to_existing(path)
}

impl AppendOptions {
    /// As [`create`], with these options.
    ///
    /// # Errors
    ///
    /// As [`create`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Append> {
        let path = path.as_ref();
        let target = self.begin(path)?;
        Ok(Append::new(self, path, target, 0, Entries::default()))
    }

    /// As [`append_to_existing`], with these options.
    ///
    /// # Errors
    ///
    /// As [`append_to_existing`].
    pub fn append_to_existing(&self, path: impl AsRef<Path>) -> Result<Append> {
        self.to_existing(path.as_ref())
    }

    fn to_existing(&self, path: &Path) -> Result<Append> {
        if self.mode == Mode::Plain {
            self.output.draft.refuse_in_place(path, "a file that is appended to")?;
        }
        let mut target = self.begin(path).map_err(not_in_place)?;
        let (base, entries) = match &mut target {
            AppendTarget::Folder(folder) => match folder.old_manifest()? {
                Some(bytes) => {
                    let shown = path.join(swath_plan::segment::manifest::FILE_NAME);
                    let old = opened::decode_manifest(&shown, &bytes)?;
                    folder.adopt(&manifest::names(&old))?;
                    (old.len(), Entries::after(old))
                }
                None => (0, Entries::default()),
            },
            AppendTarget::File(draft) => match draft.existing() {
                Some(facts) if facts.kind == FileKind::File => {
                    (take_over(path, draft)?, Entries::default())
                }
                _ => (0, Entries::default()),
            },
        };
        Ok(Append::new(self, path, target, base, entries))
    }

    fn begin(&self, path: &Path) -> Result<AppendTarget> {
        Ok(match self.mode {
            Mode::Plain => AppendTarget::File(self.output.begin(path)?),
            Mode::Segments => AppendTarget::Folder(Folder::begin(path, &self.output.draft)?),
        })
    }
}

/// Copies the old file into the draft and returns its length.
fn take_over(path: &Path, draft: &mut Draft) -> Result<u64> {
    let told = |error| Error::io(Operation::Read, path, error);
    let old = draft.open_existing().map_err(told)?;
    let before = old.facts().map_err(told)?;
    move_range(&**draft.file(), &*old, 0, 0, before.len).map_err(told)?;
    let after = old.facts().map_err(told)?;
    if after == before {
        draft.build_on(DraftBase::File(before));
        Ok(before.len)
    } else {
        Err(Error::new(Operation::Read, Reason::Changed, path)
            .detail("it changed while it was being copied"))
    }
}

/// An output that is being written. Nothing of it is visible before [`commit`](Self::commit).
///
/// If it is dropped without a commit, also by a panic, no file remains.
pub struct Append {
    output: Arc<AppendOutput>,
    root: Mutex<Root>,
}

impl fmt::Debug for Append {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Append")
            .field("path", &self.output.path)
            .field("mode", &self.output.mode)
            .finish_non_exhaustive()
    }
}

impl Append {
    fn new(
        options: &AppendOptions,
        path: &Path,
        target: AppendTarget,
        base: u64,
        entries: Entries,
    ) -> Self {
        let output = AppendOutput::new(options, path, target);
        let strand = Strand::new(&output, StartOffset::at(base));
        let root = Root { strand, sequence: Sequence::new(), entries };
        Self { output: Arc::new(output), root: Mutex::new(root) }
    }

    /// Calls `body` with a writer for the next place in the serial order: its bytes follow
    /// everything written before.
    ///
    /// # Errors
    ///
    /// The errors of `body`; [`Reason::Busy`] if another strand is writing to this output.
    pub fn scope<R, E, F>(&self, body: F) -> result::Result<R, E>
    where
        E: From<Error>,
        F: FnOnce(&mut Writer<'_>) -> result::Result<R, E>,
    {
        let mut root = self.root()?;
        lend(&self.output, &mut root.strand, body)
    }

    /// Reserves this place in the serial order for a handle that can be sent to any thread. What the handle writes goes after everything written before this call and before
    /// everything written after it, whenever it is written.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if another strand is writing to this output.
    ///
    /// ```
    /// use std::io::Write;
    /// use swath::append::{self, AppendOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("out");
    /// let mut out = append::create(&path)?;
    /// let mut first = out.fork()?;
    /// let second = out.fork()?;
    /// let other = std::thread::spawn(move || {
    ///     let mut second = second;
    ///     second.write_all(b"second")?;
    ///     second.finish().map_err(std::io::Error::from)
    /// });
    /// first.write_all(b"first ")?;
    /// first.finish()?;
    /// other.join().expect("it does not panic")?;
    /// out.commit()?;
    /// assert_eq!(std::fs::read(&path)?, b"first second");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fork(&self) -> Result<Fork> {
        let mut root = self.root()?;
        let Root { strand, sequence, .. } = &mut *root;
        Ok(fork(&self.output, strand, sequence))
    }

    /// Makes all bytes written until now, in serial order, durable under the output's name. Later
    /// writes follow them. A crash afterwards loses at most the later writes.
    ///
    /// Cost: [`Mode::Segments`] syncs the new bytes and writes a manifest. [`Mode::Plain`] puts a
    /// copy of the whole output under the name: free where the file system shares blocks (XFS,
    /// btrfs), otherwise as expensive as copying. Prefer segments for logs.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a strand is writing or a fork is not finished; the errors of
    /// [`commit`](Self::commit).
    pub fn checkpoint(&self) -> Result<Committed> {
        let mut root = self.root()?;
        self.no_open_forks(&root, "finish the forks first; nothing is lost")?;
        commit::checkpoint(&self.output, &mut root)
    }

    /// Ends writing. The output is then complete under its name, and durable if that was
    /// requested; after an error, the previous output is still there.
    ///
    /// Spilled bytes are in unnamed files. A worker gives many MiB of them back to the file
    /// system, perhaps after this call has returned.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a fork is not finished: the output is then discarded, as after every
    /// error. [`Reason::Poisoned`] if a fork was dropped or a write failed before;
    /// [`Reason::OutcomeUnknown`] if the name was changed but the device did not confirm it;
    /// otherwise the error that made writing fail, such as a full disk.
    pub fn commit(self) -> Result<Committed> {
        let mut root = self.root()?;
        // The first failure is the cause; forks stayed open because of it.
        if let Some(error) = self.output.failure() {
            return Err(error);
        }
        self.no_open_forks(
            &root,
            "finish the forks before the commit, and write the output again",
        )?;
        commit::commit(&self.output, &mut root)
    }

    /// Returns the offset of the next byte: the bytes written until now, including checkpoints and
    /// the bytes of an existing output.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a strand is writing or a fork is not finished; [`Reason::Poisoned`] if one
    /// failed.
    pub fn position(&self) -> Result<u64> {
        let root = self.root()?;
        self.no_open_forks(&root, "finish the forks first; nothing is lost")?;
        commit::end(&self.output, &root)
    }

    fn no_open_forks(&self, root: &Root, hint: &'static str) -> Result<()> {
        match root.sequence.open() {
            0 => Ok(()),
            open => Err(Error::new(Operation::Commit, Reason::Busy, &self.output.path)
                .detail(format!("{open} forked handles are still writing"))
                .hint(hint)),
        }
    }

    fn root(&self) -> Result<MutexGuard<'_, Root>> {
        // Waiting could last for ever: the owner may be this very thread.
        self.root.try_lock().ok_or_else(|| {
            Error::new(Operation::Write, Reason::Busy, &self.output.path)
                .detail("another strand is writing to this output")
                .hint("write through the writer that the scope passes, or call `fork`")
        })
    }
}

impl Drop for Append {
    fn drop(&mut self) {
        self.output.close();
    }
}

/// Writes after everything that was written before, as one strand.
impl Write for &Append {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut root = self.root().map_err(to_io)?;
        root.strand.write(&self.output, bytes).map_err(to_io)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes after everything that was written before, as one strand.
impl Write for Append {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a committed output, a plain file or a folder of segments, for reading.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("out");
/// swath::write(&path, b"head tail")?;
/// let mut output = swath::append::open(&path)?;
/// output.seek(SeekFrom::Start(5))?;
/// let mut text = String::new();
/// output.read_to_string(&mut text)?;
/// assert_eq!(text, "tail");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If there is nothing at `path`; [`Reason::Corrupt`] for a manifest that is damaged or
/// malicious; [`Reason::Truncated`] for a segment that is shorter than the manifest says.
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    opened::open(path.as_ref(), &LocalFs)
}
