//! Owned places in the serial order.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use crate::append::output::{AppendOutput, dropped, to_io};
use crate::append::sequence::{End, EndedStrand, Sequence, Slot};
use crate::append::strand::Strand;
use crate::append::writer::{Writer, lend};
use crate::error::{Error, Operation, Reason, Result};

/// Takes the place at the end of `current`; `current` continues after it.
pub(super) fn fork(
    output: &Arc<AppendOutput>,
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
/// If it is dropped before it is [finished](Self::finish), also by a panic, it poisons the
/// output: later bytes have no place, so the commit fails. Once the output itself has
/// been dropped, or its commit has failed, writing and finishing fail with [`Reason::Poisoned`].
pub struct Fork {
    output: Arc<AppendOutput>,
    slot: Arc<Slot<Infallible>>,
    /// `None` once it is finished.
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

    /// Takes a place for another handle, at this point of this one's output.
    pub fn fork(&mut self) -> Fork {
        let mut strand = self.take_strand();
        let forked = fork(&self.output, &mut strand, &mut self.sequence);
        self.strand = Some(strand);
        forked
    }

    /// Checks whether [`finish`](Self::finish) would find everything forked from this handle
    /// finished; unlike `finish` it does not consume the handle.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a handle forked from this one is not finished.
    pub fn check_forks(&self) -> Result<()> {
        match self.sequence.open() {
            0 => Ok(()),
            open => Err(Error::new(Operation::Write, Reason::Busy, &self.output.path)
                .detail(format!("handles forked from this one are still writing: {open}"))
                .hint("finish those handles first")),
        }
    }

    /// Declares that everything is written.
    ///
    /// # Errors
    ///
    /// [`Reason::Busy`] if a handle forked from this one is not finished; [`Reason::Poisoned`]
    /// if one was dropped, or the output itself was: it cannot be committed then.
    pub fn finish(mut self) -> Result<()> {
        self.check_forks()?;
        self.check_output()?;
        let strand = self.take_strand();
        let closed = self.sequence.close(&self.output, strand);
        let (mut strand, end) = closed.inspect_err(|_| {
            // Dropping this stand-in records that the fork was not finished.
            self.strand = Some(Strand::stand_in(&self.output));
        })?;
        strand.settle(&self.output);
        if let Err(error) = self.output.check() {
            self.strand = Some(strand);
            return Err(error);
        }
        if matches!(end, End::Well) {
            self.slot.fill(EndedStrand { strand, end });
            Ok(())
        } else {
            self.strand = Some(strand);
            Err(dropped(&self.output))
        }
    }

    /// Fails once the output can no longer be committed; the bytes of this fork are then discarded.
    fn check_output(&mut self) -> Result<()> {
        self.output.check().inspect_err(|_| {
            // Dropping this stand-in records that the fork was not finished.
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
            self.slot.fill(EndedStrand { strand, end: End::Dropped });
        }
    }
}
