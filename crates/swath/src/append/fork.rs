//! An output that is being written: its root strand, owned forks, and the commit.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::path::Path;
use std::result;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::append::commit::{self, Committed, Root};
use crate::append::manifest::Entries;
use crate::append::options::AppendOptions;
use crate::append::output::{Output, Target, dropped, to_io};
use crate::append::sequence::{End, Ended, Sequence, Slot};
use crate::append::start_offset::StartOffset;
use crate::append::strand::Strand;
use crate::append::writer::{Writer, lend};
use crate::error::{Error, Operation, Reason, Result};

/// An output that is being written; nothing of it is visible before [`commit`](Self::commit).
///
/// Dropped without a commit, also by a panic, it leaves nothing behind.
pub struct Append {
    output: Arc<Output>,
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
    pub(super) fn new(
        options: &AppendOptions,
        path: &Path,
        target: Target,
        base: u64,
        entries: Entries,
    ) -> Self {
        let output = Output::new(options, path, target);
        let strand = Strand::new(&output, StartOffset::at(base));
        let root = Root { strand, sequence: Sequence::new(), entries };
        Self { output: Arc::new(output), root: Mutex::new(root) }
    }

    /// Calls `body` with the writer of the serial program. What it writes comes behind
    /// everything that was written before.
    ///
    /// # Errors
    ///
    /// That of `body`. [`Reason::Busy`] if another strand is writing to this output.
    pub fn scope<R, E, F>(&self, body: F) -> result::Result<R, E>
    where
        E: From<Error>,
        F: FnOnce(&mut Writer<'_>) -> result::Result<R, E>,
    {
        let mut root = self.root()?;
        lend(&self.output, &mut root.strand, body)
    }

    /// Takes a place in the serial order, here, for an owned handle that may be sent anywhere:
    /// what it writes comes behind everything written before this call, and before everything
    /// written after it, whenever that happens.
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

    /// Makes everything written so far, in serial order, durable under the output's name, and
    /// goes on writing behind it. A crash later leaves at least this.
    ///
    /// Cost: [`Mode::Segments`](crate::append::Mode::Segments) syncs what is new and writes a manifest.
    /// [`Mode::Plain`](crate::append::Mode::Plain) leaves a copy of the whole under the name: free where the
    /// file system shares blocks (XFS, btrfs), else as dear as copying; so prefer segments for
    /// logs.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a strand is writing or a fork is not finished; what makes a commit fail.
    pub fn checkpoint(&self) -> Result<Committed> {
        let mut root = self.root()?;
        self.no_open_forks(&root, "finish them first: nothing is lost")?;
        commit::checkpoint(&self.output, &mut root)
    }

    /// Ends writing: the output is complete, and durable if that was asked for, under its name,
    /// or, on an error, what was there before is still there.
    ///
    /// What was spilled lies in nameless files; many MiB of it are given back to the file system
    /// by another worker, maybe after this returns.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a fork is not finished: the output is discarded then, as with every
    /// error. [`Reason::Poisoned`] if one was dropped or a write failed before;
    /// [`Reason::OutcomeUnknown`] if the name was changed but the device did not confirm it; what
    /// made writing fail, such as a full disk.
    pub fn commit(self) -> Result<Committed> {
        let mut root = self.root()?;
        // Why something failed says more than what was left open because of it.
        if let Some(error) = self.output.failure() {
            return Err(error);
        }
        self.no_open_forks(&root, "finish them before the commit, and write the output again")?;
        commit::commit(&self.output, &mut root)
    }

    /// Bytes written so far by strands that have ended, behind what was there before.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a strand is writing.
    pub fn position(&self) -> Result<u64> {
        let root = self.root()?;
        Ok(root.strand.len())
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
        match self.root.try_lock() {
            Ok(root) => Ok(root),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            // To wait could be to wait for ever: it may be this very thread.
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(Operation::Write, Reason::Busy, &self.output.path)
                    .detail("another strand is writing to this output")
                    .hint("write through the writer that the scope passed, or fork"))
            }
        }
    }
}

impl Drop for Append {
    fn drop(&mut self) {
        self.output.close();
    }
}

/// Writes behind everything that was written before, as one strand.
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

/// Writes behind everything that was written before, as one strand.
impl Write for Append {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn fork(
    output: &Arc<Output>,
    current: &mut Box<Strand>,
    sequence: &mut Sequence<Infallible>,
) -> Fork {
    let stand_in = Strand::stand_in(output);
    let forked = sequence.fork(output, mem::replace(current, stand_in));
    *current = forked.after;
    Fork {
        output: Arc::clone(output),
        slot: forked.slot,
        strand: Some(forked.branch),
        sequence: Sequence::new(),
    }
}

/// An owned place in the serial order: for threads, for C, for Python.
///
/// Dropped before it is [finished](Self::finish), also by a panic, it poisons the output: what
/// comes behind it has no place, so the commit fails. Once the output itself is dropped, or its
/// commit failed, writing and finishing fail with [`Reason::Poisoned`].
pub struct Fork {
    output: Arc<Output>,
    slot: Arc<Slot<Infallible>>,
    /// Gone once it is finished.
    strand: Option<Box<Strand>>,
    sequence: Sequence<Infallible>,
}

impl fmt::Debug for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork").field("path", &self.output.path).finish_non_exhaustive()
    }
}

impl Fork {
    /// Calls `body` with this handle's writer, to join, spawn or loop in parallel.
    pub fn with<R>(&mut self, body: impl FnOnce(&mut Writer<'_>) -> R) -> R {
        let home = self.strand.get_or_insert_with(|| Strand::stand_in(&self.output));
        lend(&self.output, home, body)
    }

    /// Takes a place for another handle, here, in the order of this one.
    pub fn fork(&mut self) -> Fork {
        let mut strand = self.take_strand();
        let forked = fork(&self.output, &mut strand, &mut self.sequence);
        self.strand = Some(strand);
        forked
    }

    /// Whether [`finish`](Self::finish) would find everything forked from this one finished: for
    /// those who would not lose the fork by asking too early.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a handle forked from this one is not finished.
    pub fn check_forks(&self) -> Result<()> {
        match self.sequence.open() {
            0 => Ok(()),
            open => Err(Error::new(Operation::Write, Reason::Busy, &self.output.path)
                .detail(format!("handles forked from this one are still writing: {open}"))
                .hint("finish them first")),
        }
    }

    /// Says that everything is written.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a handle forked from this one is not finished,
    /// [`Reason::Poisoned`] if one was dropped, or the output itself; it cannot be committed then.
    pub fn finish(mut self) -> Result<()> {
        self.check_forks()?;
        self.check_output()?;
        let strand = self.take_strand();
        let closed = self.sequence.close(&self.output, strand);
        let (mut strand, end) = closed.inspect_err(|_| {
            // Dropped, it says that it was not finished.
            self.strand = Some(Strand::stand_in(&self.output));
        })?;
        strand.settle(&self.output);
        if let Err(error) = self.output.check() {
            self.strand = Some(strand);
            return Err(error);
        }
        if matches!(end, End::Well) {
            self.slot.fill(Ended { strand, end });
            Ok(())
        } else {
            self.strand = Some(strand);
            Err(dropped(&self.output))
        }
    }

    /// Fails once nothing can be committed any more; what was written here goes then.
    fn check_output(&mut self) -> Result<()> {
        self.output.check().inspect_err(|_| {
            // Dropped, it says that it was not finished.
            self.strand = Some(Strand::stand_in(&self.output));
            self.sequence = Sequence::new();
        })
    }

    fn take_strand(&mut self) -> Box<Strand> {
        self.strand.take().unwrap_or_else(|| Strand::stand_in(&self.output))
    }
}

impl Write for Fork {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_output().map_err(to_io)?;
        let output = &self.output;
        let strand = self.strand.get_or_insert_with(|| Strand::stand_in(output));
        strand.write(output, bytes).map_err(to_io)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        if let Some(strand) = self.strand.take() {
            self.slot.fill(Ended { strand, end: End::Dropped });
        }
    }
}
