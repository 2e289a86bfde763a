//! Parallel iterators whose items write to the output in order.

use std::panic::resume_unwind;
use std::result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::IndexedParallelIterator;
use rayon::iter::plumbing::{Consumer, Folder, Reducer};

use crate::append::Append;
use crate::append::output::{AppendOutput, lost};
use crate::append::sequence::{End, EndedStrand};
use crate::append::start_offset::StartOffset;
use crate::append::strand::Strand;
use crate::append::writer::Writer;
use crate::error::Error;
use crate::failures::caught;

/// Writes the items of a parallel iterator in their order.
///
/// Implemented for indexed iterators only: the place of their items does not depend on the
/// threads. To filter, write nothing for an item. Adapters that lose the order do not compile:
///
/// ```compile_fail,E0277
/// use rayon::prelude::*;
/// use swath::append::{self, AppendOptions, AppendTo};
///
/// let out = append::create("numbers")?;
/// (0..100).par_bridge().append_to(&out, |number, w| std::io::Write::write_all(w, b"."))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait AppendTo: IndexedParallelIterator {
    /// Calls `write` for each item, in parallel. The output is in the order of the items and
    /// follows everything written to `out` before.
    ///
    /// `out` is an [`Append`] or a [`Writer`]. The file gets what the serial loop would have
    /// written: if an item fails or panics, it contains nothing of later items.
    ///
    /// # Errors
    ///
    /// The errors of the first item, in order, that fails.
    ///
    /// ```
    /// use rayon::prelude::*;
    /// use std::io::Write;
    /// use swath::append::{self, AppendOptions, AppendTo};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("even");
    /// let out = append::create(&path)?;
    /// (0..1000).into_par_iter().append_to(&out, |number, w| match number % 2 {
    ///     0 => writeln!(w, "{number}"),
    ///     _ => Ok(()),
    /// })?;
    /// out.commit()?;
    /// assert!(std::fs::read_to_string(&path)?.starts_with("0\n2\n4\n6\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn append_to<O, F, E>(self, mut out: O, write: F) -> result::Result<(), E>
    where
        O: Out,
        F: Fn(Self::Item, &mut Writer<'_>) -> result::Result<(), E> + Sync + Send,
        E: From<Error> + Send,
    {
        out.with(|w| drive(self, w, &write))
    }
}

impl<I: IndexedParallelIterator> AppendTo for I {}

/// A target of [`append_to`](AppendTo::append_to): `&Append`, `&mut Writer`.
pub trait Out: sealed::Sealed {
    /// Calls `body` with a writer for the next bytes.
    ///
    /// # Errors
    ///
    /// The errors of `body`; [`Reason::Busy`](crate::Reason::Busy) if another strand is writing.
    #[doc(hidden)]
    fn with<E, F>(&mut self, body: F) -> result::Result<(), E>
    where
        E: From<Error>,
        F: FnOnce(&mut Writer<'_>) -> result::Result<(), E>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &crate::append::Append {}
    impl Sealed for &mut crate::append::writer::Writer<'_> {}
}

impl Out for &Append {
    fn with<E, F>(&mut self, body: F) -> result::Result<(), E>
    where
        E: From<Error>,
        F: FnOnce(&mut Writer<'_>) -> result::Result<(), E>,
    {
        self.scope(body)
    }
}

impl Out for &mut Writer<'_> {
    fn with<E, F>(&mut self, body: F) -> result::Result<(), E>
    where
        E: From<Error>,
        F: FnOnce(&mut Writer<'_>) -> result::Result<(), E>,
    {
        body(self)
    }
}

fn drive<'a, I, F, E>(items: I, w: &mut Writer<'a>, write: &F) -> result::Result<(), E>
where
    I: IndexedParallelIterator,
    F: Fn(I::Item, &mut Writer<'a>) -> result::Result<(), E> + Sync + Send,
    E: Send,
{
    let output = w.output();
    let strand = w.take_strand();
    let failed_from = AtomicUsize::new(usize::MAX);
    let loop_ = AppendLoop { output, write, failed_from: &failed_from };
    // `Writing` catches panics of items and of code that produces them. A panic from elsewhere
    // in the iterator loses the strand: then the output cannot be committed.
    let lost = Lost { output, is_lost: true };
    let start = InOrder { run: loop_, start: PartStart::Here(strand), end: None, index: 0 };
    let ended = items.drive(start);
    lost.found();
    w.put_strand(ended.strand);
    match ended.end {
        End::Well | End::Dropped => Ok(()),
        End::Failed(error) => Err(error),
        End::Panicked(panic) => resume_unwind(panic),
    }
}

/// Poisons the output if a panic drops it while the strand is lost.
struct Lost<'a> {
    output: &'a AppendOutput,
    is_lost: bool,
}

impl Lost<'_> {
    fn found(mut self) {
        self.is_lost = false;
    }
}

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        if self.is_lost {
            self.output.fail_untold(lost(self.output));
        }
    }
}

/// The state that all parts of one loop share.
struct AppendLoop<'l, 'a, F> {
    output: &'a AppendOutput,
    write: &'l F,
    /// Index of the first item of the leftmost failed part: later parts need not begin.
    failed_from: &'l AtomicUsize,
}

impl<F> Clone for AppendLoop<'_, '_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for AppendLoop<'_, '_, F> {}

/// The start of a part.
enum PartStart {
    /// The end of this strand: for the leftmost part.
    Here(Box<Strand>),
    /// The end of the part before it.
    After(Arc<StartOffset>),
}

/// One part of the items, before its first item.
struct InOrder<'l, 'a, F> {
    run: AppendLoop<'l, 'a, F>,
    start: PartStart,
    /// Where the next part begins; `None` after the last.
    end: Option<Arc<StartOffset>>,
    /// The index of its first item.
    index: usize,
}

impl<'a, F, T, E> Consumer<T> for InOrder<'_, 'a, F>
where
    F: Fn(T, &mut Writer<'a>) -> result::Result<(), E> + Sync + Send,
    E: Send,
{
    type Folder = Writing<Self, E>;
    type Reducer = InSeries<'a>;
    type Result = EndedStrand<E>;

    fn split_at(self, index: usize) -> (Self, Self, InSeries<'a>) {
        let middle = StartOffset::unknown();
        let run = self.run;
        let right_start = PartStart::After(Arc::clone(&middle));
        let right =
            InOrder { run, start: right_start, end: self.end, index: self.index + index };
        let left = InOrder { run, start: self.start, end: Some(middle), index: self.index };
        (left, right, InSeries { output: run.output })
    }

    fn into_folder(self) -> Writing<Self, E> {
        Writing { consumer: self, strand: None, end: End::Well }
    }

    fn full(&self) -> bool {
        false
    }
}

/// One part of the items, being written.
struct Writing<C, E> {
    consumer: C,
    strand: Option<Box<Strand>>,
    end: End<E>,
}

impl<'l, 'a, F, E> Writing<InOrder<'l, 'a, F>, E> {
    fn fail(&mut self, end: End<E>) {
        self.end = end;
        // Relaxed: a worker that sees it late only does work that is discarded.
        let from = self.consumer.run.failed_from;
        from.fetch_min(self.consumer.index, Ordering::Relaxed);
    }

    fn take_strand(&mut self) -> Box<Strand> {
        if let Some(strand) = self.strand.take() {
            return strand;
        }
        let run = self.consumer.run;
        let nowhere = PartStart::After(StartOffset::unknown());
        match std::mem::replace(&mut self.consumer.start, nowhere) {
            PartStart::Here(strand) => strand,
            PartStart::After(start) => Strand::new(run.output, start),
        }
    }
}

impl<'a, F, T, E> Folder<T> for Writing<InOrder<'_, 'a, F>, E>
where
    F: Fn(T, &mut Writer<'a>) -> result::Result<(), E>,
    E: Send,
{
    type Result = EndedStrand<E>;

    fn consume(mut self, item: T) -> Self {
        let run = self.consumer.run;
        let mut w = Writer::new(run.output, self.take_strand());
        let result = caught(|| (run.write)(item, &mut w));
        self.strand = Some(w.into_strand());
        match result {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(End::Failed(error)),
            Err(panic) => self.fail(End::Panicked(panic)),
        }
        self
    }

    /// Treats a panic in code that produces an item as one of the loop's body.
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let mut items = items.into_iter();
        while !self.full() {
            match caught(|| items.next()) {
                Ok(Some(item)) => self = self.consume(item),
                Ok(None) => break,
                Err(panic) => {
                    self.fail(End::Panicked(panic));
                    break;
                }
            }
        }
        self
    }

    fn complete(mut self) -> EndedStrand<E> {
        let run = self.consumer.run;
        let mut strand = self.take_strand();
        strand.settle(run.output);
        if let (End::Well, Some(next)) = (&self.end, &self.consumer.end) {
            next.follow(strand.start(), strand.len());
        }
        EndedStrand { strand, end: self.end }
    }

    fn full(&self) -> bool {
        let failed_from = self.consumer.run.failed_from.load(Ordering::Relaxed);
        !matches!(self.end, End::Well) || failed_from < self.consumer.index
    }
}

/// Puts the right part after the left one, unless the left one failed.
struct InSeries<'a> {
    output: &'a AppendOutput,
}

impl<E> Reducer<EndedStrand<E>> for InSeries<'_> {
    fn reduce(self, mut left: EndedStrand<E>, right: EndedStrand<E>) -> EndedStrand<E> {
        if matches!(left.end, End::Well) {
            if let Err(error) = left.strand.absorb(self.output, *right.strand) {
                self.output.fail_untold(error);
            }
            left.end = right.end;
        } else {
            right.strand.discard(self.output);
        }
        left
    }
}
