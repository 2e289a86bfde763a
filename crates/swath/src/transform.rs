//! The verb `transform`: records in, bytes out, in the order of the input, parallel at both
//! ends.
//!
//! ```text
//! input     |block 0|block 1|block 2|block 3|     file, files or pipe
//! worker A  read, f, f, f, write 0      read …
//! worker B       read, f, f, write 1, write 2
//! output    |----0----|-1-|---2---|               file or stream: the serial loop's output
//! ```
//!
//! Each block's output goes to a [ticket](crate::append::Ticket) that was taken in the order of
//! the input, so it ends up where the serial loop would have put it. At most a window of blocks is
//! in memory, for input of any length. Source: study C, whose fastest form parsed in one
//! thread and collected all output before writing it.

mod output;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use swath_os::machine;

use crate::append::{Ordered, OrderedReport, Ticket};
use crate::blocks::consume::Consume;
use crate::blocks::{Records, runs};
use crate::error::Error;
use crate::failures::{Failing, FailureLog};
use crate::locks::AtomicU64;
use crate::options::ReadOptions;
use crate::records::piece::RecordPiece;
use crate::records::turns::Turns;
use crate::records::{Block, Pattern};
use crate::report::Report;
use crate::sink::OutputOptions;
use crate::source::Source;

pub use output::Output;

/// The report of a transform.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Transformed {
    /// Records that were passed to the closure; `None` if it received blocks.
    pub records: Option<u64>,
    /// The report of reading and processing the input.
    pub read: Report,
    /// The report of the output.
    pub written: OrderedReport,
    /// From the call until the output is complete under its name, or flushed.
    pub elapsed: Duration,
}

/// Calls `f` for each line of `input`, without its newline, and writes the bytes that the calls
/// append to `output`, in the order of the lines.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let (input, output) = (folder.path().join("in"), folder.path().join("out"));
/// # std::fs::write(&input, "3\n4\nfive\n").unwrap();
/// use std::io::Write;
/// let done = swath::transform(&input, &output, |line, out| -> std::io::Result<()> {
///     match std::str::from_utf8(line).ok().and_then(|text| text.parse::<u64>().ok()) {
///         Some(number) => writeln!(out, "{}", number * number),
///         None => writeln!(out, "?"),
///     }
/// })?;
/// assert_eq!(std::fs::read_to_string(&output)?, "9\n16\n?\n");
/// assert_eq!((done.records, done.written.bytes), (Some(3), 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `f` runs on several threads at once, each with one block of lines. It appends to the vector,
/// which holds the output of earlier lines of its block. For other delimiters, several inputs and
/// options see [`Records::transform`].
///
/// The result is the same for every number of workers and every block size. Memory is that of a
/// few blocks and their output. The output may be the same file as the input, unless it is written in
/// place: it is replaced when all of it has been read and written.
///
/// # Errors
///
/// The first one in the order of the input: of reading, of `f`, or of writing. No new file
/// remains then, and one that was there before is unchanged.
///
/// # Panics
///
/// If `f` panics: with its panic, once all workers have ended; no file remains.
pub fn transform<E: From<Error> + Send>(
    input: impl Into<Source>,
    output: impl Into<Output>,
    f: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
) -> Result<Transformed, E> {
    ReadOptions::new().transform(input, output, f)
}

impl ReadOptions {
    /// As [`transform`], with these options; [`Records::transform`] takes those of the output
    /// too.
    ///
    /// # Errors
    ///
    /// As [`transform`].
    ///
    /// # Panics
    ///
    /// As [`transform`].
    pub fn transform<E: From<Error> + Send>(
        &self,
        input: impl Into<Source>,
        output: impl Into<Output>,
        f: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
    ) -> Result<Transformed, E> {
        self.records(input).transform(output, f)
    }
}

impl Records<'_> {
    /// As [`transform`], for these records, which are passed without their delimiters.
    ///
    /// # Errors
    ///
    /// As [`transform`].
    ///
    /// # Panics
    ///
    /// As [`transform`].
    pub fn transform<E: From<Error> + Send>(
        self,
        output: impl Into<Output>,
        f: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
    ) -> Result<Transformed, E> {
        self.counting(output, |block, out| of_each(block.records(), |record| f(record, out)))
    }

    /// As [`transform`](Self::transform), for the records that contain `pattern`: the others are skipped at the
    /// speed of a search, and `f` is not called for them.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    /// # std::fs::write(&input, "ok\nERROR 5\nok\n").unwrap();
    /// use swath::Pattern;
    ///
    /// let errors = Pattern::new(b"ERROR");
    /// swath::records(&input).transform_containing(&errors, &output, |line, out| -> swath::Result<()> {
    ///     out.extend_from_slice(line);
    ///     out.push(b'\n');
    ///     Ok(())
    /// })?;
    /// assert_eq!(std::fs::read_to_string(&output)?, "ERROR 5\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`transform`].
    ///
    /// # Panics
    ///
    /// As [`transform`].
    pub fn transform_containing<E: From<Error> + Send>(
        self,
        pattern: &Pattern,
        output: impl Into<Output>,
        f: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
    ) -> Result<Transformed, E> {
        self.counting(output, |block, out| {
            of_each(block.records_containing(pattern), |record| f(record, out))
        })
    }

    /// Transforms blocks and counts their records; `f` returns the number of records of a block.
    fn counting<E: From<Error> + Send>(
        self,
        output: impl Into<Output>,
        f: impl Fn(Block<'_>, &mut Vec<u8>) -> Result<u64, E> + Sync,
    ) -> Result<Transformed, E> {
        let count = AtomicU64::new(0);
        let by_block = |block: Block<'_>, out: &mut Vec<u8>| -> Result<(), E> {
            // Relaxed: read when all workers have ended.
            count.fetch_add(f(block, out)?, Ordering::Relaxed);
            Ok(())
        };
        let done = self.transform_blocks(output, by_block)?;
        Ok(Transformed { records: Some(count.into_inner()), ..done })
    }

    /// As [`transform`](Self::transform), a block of records at a time: for parsers that are
    /// faster with many records at once, or that keep state between them.
    ///
    /// # Errors
    ///
    /// As [`transform`].
    ///
    /// # Panics
    ///
    /// As [`transform`].
    pub fn transform_blocks<E: From<Error> + Send>(
        self,
        output: impl Into<Output>,
        f: impl Fn(Block<'_>, &mut Vec<u8>) -> Result<(), E> + Sync,
    ) -> Result<Transformed, E> {
        let started = Instant::now();
        let options = self.sources.iter().map(Source::name);
        let options = options.fold(self.output.clone(), OutputOptions::with_input);
        let output = output.into().open(options)?;
        let workers = usize::try_from(self.options.wishes.workers).unwrap_or(usize::MAX);
        output.widen(workers.clamp(machine::usable_cpus(), MOST_WORKERS));
        let failures = FailureLog::default();
        let consumer = Through { f, output: &output, turns: Turns::new(0, ()), failures };
        let read = runs::run(self, &consumer)?;
        output.end(&consumer.failures)?;
        let written = output.commit()?;
        Ok(Transformed { records: None, read, written, elapsed: started.elapsed() })
    }
}

/// Calls `f` for each record; returns the number of records.
fn of_each<'b, E>(
    records: impl Iterator<Item = &'b [u8]>,
    mut f: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut count = 0;
    for record in records {
        f(record)?;
        count += 1;
    }
    Ok(count)
}

/// Limits how much output can wait at a time, however many workers there are.
const MOST_WORKERS: usize = 64;

/// Writes a closure's output for each block.
struct Through<'o, F, E> {
    f: F,
    output: &'o Ordered,
    /// Makes workers take tickets in the order of pieces.
    turns: Turns<()>,
    failures: FailureLog<E>,
}

impl<F, E: From<Error> + Send> Through<'_, F, E> {
    /// Returns the ticket of piece `number`, if it has records; `None` once the transform has failed.
    fn ticket(
        &self,
        number: u64,
        has_records: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Option<Option<Ticket>> {
        self.turns.found(number);
        let mut line = self.turns.wait(number, 0, is_over)?;
        // May wait for a full window: threads that hold tickets do not depend on this one.
        let ticket =
            has_records.then(|| self.failures.attempt(number, || Ok(self.output.ticket()?)));
        if ticket.as_ref().is_some_and(Option::is_none) {
            drop(line);
            self.turns.lost(number);
            return None;
        }
        line.next += 1;
        self.turns.moved(line);
        Some(ticket.flatten())
    }
}

impl<F, E> Consume for Through<'_, F, E>
where
    F: Fn(Block<'_>, &mut Vec<u8>) -> Result<(), E> + Sync,
    E: From<Error> + Send,
{
    fn consume(&self, number: u64, piece: Option<RecordPiece<'_>>, is_over: &dyn Fn() -> bool) {
        let ticket = self.ticket(number, piece.is_some(), is_over);
        let Some((mut ticket, piece)) = ticket.flatten().zip(piece) else { return };
        self.failures.attempt(number, move || {
            for block in piece {
                (self.f)(block, ticket.buffer())?;
            }
            Ok(ticket.done()?)
        });
    }

    fn lost(&self, number: u64) {
        self.turns.lost(number);
    }

    fn failures(&self) -> &dyn Failing {
        &self.failures
    }
}
