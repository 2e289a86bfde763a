//! The handle of one strand: writing, forking and joining.

use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use swath_os::handoff;

use crate::append::output::{AppendOutput, BranchOffer, Counters, lost, to_io};
use crate::append::pool;
use crate::append::sequence::{End, EndedStrand};
use crate::append::start_offset::StartOffset;
use crate::append::strand::Strand;
use crate::error::{Error, Operation, Reason, Result};
use crate::failures::caught;

/// The handle through which one strand of a parallel program writes.
///
/// It is passed explicitly, and exactly one strand runs on it. Its bytes go where the serial
/// program would have put them: those of the left branch of a [`join`](Self::join) before those
/// of the right one, and both before those written after the join.
///
/// Writing copies into a buffer of the strand; no lock is taken. It never waits for another
/// strand, so it cannot deadlock, on any pool.
///
/// ```
/// use std::io::Write;
/// use swath::append::{self, AppendOptions, Writer};
///
/// fn count(w: &mut Writer<'_>, from: u32, to: u32) -> std::io::Result<()> {
///     if to - from == 1 {
///         return writeln!(w, "{from}");
///     }
///     let middle = from + (to - from) / 2;
///     w.join(|w| count(w, from, middle), |w| count(w, middle, to))?;
///     Ok(())
/// }
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers");
/// let out = append::create(&path)?;
/// out.scope(|w| count(w, 0, 100))?;
/// out.commit()?;
/// let numbers: String = (0..100).map(|number| format!("{number}\n")).collect();
/// assert_eq!(std::fs::read_to_string(&path)?, numbers);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<'a> {
    output: &'a AppendOutput,
    /// `None` only while a join runs, when this handle is not accessible.
    strand: Option<Box<Strand>>,
}

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("path", &self.output.path).finish_non_exhaustive()
    }
}

/// The shared state of the two branches of one join, on the owner's stack.
struct Branches<'a> {
    output: &'a AppendOutput,
    left_is_well: AtomicBool,
    /// The start of a stolen right branch, once there is one.
    stolen: OnceLock<Arc<StartOffset>>,
}

/// When dropped, after both branches have ended, puts the strand of a stolen right branch after
/// that of the left one.
struct Rejoin<'j, 'a> {
    owner: &'j mut Writer<'a>,
    branches: &'j Branches<'a>,
    offer: BranchOffer,
    right: handoff::Slot<Box<Strand>>,
}

impl Drop for Rejoin<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(right) = self.right.remove() {
            // Relaxed: the branches have been joined.
            let is_well = self.branches.left_is_well.load(Ordering::Relaxed);
            self.owner.rejoin(*right, is_well);
        }
        self.branches.output.end_offer(self.offer);
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(output: &'a AppendOutput, strand: Box<Strand>) -> Self {
        Self { output, strand: Some(strand) }
    }

    pub(super) fn output(&self) -> &'a AppendOutput {
        self.output
    }

    /// Takes the strand out for good.
    pub(super) fn into_strand(mut self) -> Box<Strand> {
        self.take_strand()
    }

    /// Takes the strand out. If a panic has lost it, poisons the output.
    pub(super) fn take_strand(&mut self) -> Box<Strand> {
        self.strand.take().unwrap_or_else(|| {
            self.output.fail_untold(lost(self.output));
            Strand::stand_in(self.output)
        })
    }

    pub(super) fn put_strand(&mut self, strand: Box<Strand>) {
        self.strand = Some(strand);
    }

    #[inline]
    fn strand(&mut self) -> Result<&mut Strand> {
        match &mut self.strand {
            Some(strand) => Ok(strand),
            None => Err(Error::new(Operation::Write, Reason::Poisoned, &self.output.path)),
        }
    }

    /// Runs both closures, in parallel if another worker of the current rayon pool is idle, and
    /// returns both results. The bytes of `b` go after those of `a`.
    ///
    /// The file is that of the serial program (`a(w)?; b(w)?`): if `a` fails or panics, it has
    /// nothing of `b`, although `b` may have run; if `b` does, it has the bytes that `b` wrote before
    /// that. It costs about as much as [`rayon::join`]. If no thread can be started, the closures run
    /// one after the other; so they do in a pool of more than two threads for each processor while two
    /// second branches for each processor have not ended.
    ///
    /// # Errors
    ///
    /// That of `a`, otherwise that of `b`. A failure to write or spill is returned by the next
    /// write that meets it, and by the commit.
    pub fn join<A, B, RA, RB, E>(&mut self, a: A, b: B) -> std::result::Result<(RA, RB), E>
    where
        A: FnOnce(&mut Writer<'a>) -> std::result::Result<RA, E> + Send,
        B: FnOnce(&mut Writer<'a>) -> std::result::Result<RB, E> + Send,
        RA: Send,
        RB: Send,
        E: Send,
    {
        pool::enter();
        self.count_fork();
        let offer = self.output.offer();
        if offer == BranchOffer::Refused {
            return Ok((a(self)?, b(self)?));
        }
        let branches = &Branches {
            output: self.output,
            left_is_well: AtomicBool::new(false),
            stolen: OnceLock::new(),
        };
        let mut rejoin = Rejoin { owner: self, branches, offer, right: handoff::Slot::new() };
        let (left, right) = {
            // If the left branch has ended, the right one continues with its writer.
            let mut writer = handoff::Slot::<Option<&mut Writer<'a>>>::new();
            let (put, take) = writer.ends();
            let (put_right, _) = rejoin.right.ends();
            let owner = &mut *rejoin.owner;

            let left = move || {
                let result = a(owner);
                let is_well = result.is_ok();
                if is_well {
                    branches.left_ended_well(owner);
                }
                put.put(is_well.then_some(owner));
                result
            };
            let right = move || match take.take() {
                Some(Some(writer)) => Some(Ok(b(writer))),
                // The left branch failed: the serial program would not begin the right one.
                Some(None) => None,
                None => Some(branches.run_stolen(put_right, b)),
            };
            rayon::join(left, right)
        };
        drop(rejoin);
        let left = left?;
        match right {
            Some(Ok(right)) => Ok((left, right?)),
            Some(Err(panic)) => resume_unwind(panic),
            None => unreachable!("the right branch is skipped only if the left one failed"),
        }
    }

    #[inline]
    fn count_fork(&mut self) {
        if let Some(strand) = &mut self.strand {
            strand.count_fork();
        }
    }

    /// After a steal, puts the thief's strand after the owner's, unless the left branch failed.
    #[cold]
    fn rejoin(&mut self, right: Strand, left_is_well: bool) {
        let output = self.output;
        if !left_is_well {
            return right.discard(output);
        }
        let mut left = self.take_strand();
        if let Err(error) = left.absorb(output, right) {
            output.fail_untold(error);
        }
        self.strand = Some(left);
    }

    /// Bytes that this strand has written.
    pub fn position(&self) -> u64 {
        self.strand.as_ref().map_or(0, |strand| strand.len())
    }

    #[inline]
    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let output = self.output;
        self.strand().and_then(|strand| strand.write(output, bytes)).map_err(to_io)
    }
}

impl<'a> Branches<'a> {
    #[inline]
    fn left_ended_well(&self, owner: &Writer<'a>) {
        // Relaxed: read after the join.
        self.left_is_well.store(true, Ordering::Relaxed);
        if let (Some(start), Some(strand)) = (self.stolen.get(), &owner.strand) {
            start.follow(strand.start(), strand.len());
        }
    }

    /// Runs the right branch in parallel with the left one, on a strand of its own. Its panic is
    /// caught, and ignored if the left branch fails.
    #[cold]
    #[inline(never)]
    fn run_stolen<R>(
        &self,
        put: handoff::Put<'_, Box<Strand>>,
        branch: impl FnOnce(&mut Writer<'a>) -> R,
    ) -> thread::Result<R> {
        Counters::add(&self.output.counters.steals, 1);
        let start = StartOffset::unknown();
        // Set once: there is one right branch.
        let _ = self.stolen.set(Arc::clone(&start));
        let strand = Strand::new(self.output, start);
        let mut writer = Writer::new(self.output, strand);
        let result = caught(|| branch(&mut writer));
        put.put(writer.into_strand());
        result
    }
}

/// Lends the strand at `home` to a writer. It is returned even if `body` panics: the serial
/// program would have written its bytes too.
pub(super) fn lend<R>(
    output: &AppendOutput,
    home: &mut Box<Strand>,
    body: impl FnOnce(&mut Writer<'_>) -> R,
) -> R {
    struct Lent<'a> {
        writer: Writer<'a>,
        home: &'a mut Box<Strand>,
    }
    impl Drop for Lent<'_> {
        fn drop(&mut self) {
            *self.home = self.writer.take_strand();
        }
    }
    let strand = mem::replace(home, Strand::stand_in(output));
    let mut lent = Lent { writer: Writer::new(output, strand), home };
    body(&mut lent.writer)
}

/// Runs one closure on a strand and returns how it ended.
pub(super) fn run<'a, E>(
    output: &'a AppendOutput,
    strand: Box<Strand>,
    body: impl FnOnce(&mut Writer<'a>) -> std::result::Result<(), E>,
) -> EndedStrand<E> {
    let mut w = Writer::new(output, strand);
    let end = match caught(|| body(&mut w)) {
        Ok(Ok(())) => End::Well,
        Ok(Err(error)) => End::Failed(error),
        Err(panic) => End::Panicked(panic),
    };
    let mut strand = w.into_strand();
    strand.settle(output);
    EndedStrand { strand, end }
}

impl Write for Writer<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_bytes(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_bytes(bytes)
    }

    /// Does nothing: bytes are safe only once they are committed.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
