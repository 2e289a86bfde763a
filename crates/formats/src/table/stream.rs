//! A table in bounded memory, batch by batch.
//!
//! ```text
//! types      one pass over all files, which keeps few values; none if all types are given
//! rounds     some blocks, parsed by all workers                   (rounds.rs)
//! caller             takes the batches of round 0, of round 1, …
//! own thread         parses round 1           , round 2, …        at most one ahead
//! ```

pub(in crate::table) mod ahead;
pub(in crate::table) mod pipe;
pub(in crate::table) mod rounds;

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use swath::Source;

use self::ahead::RoundAhead;
use self::rounds::{Made, Rounds};
use super::options::BatchOptions;
use crate::error::Result;
use crate::table::open::report::TableReport;

/// Record batches of one schema, in the order of the file; made by
/// [`stream_batches`](crate::table::stream_batches).
///
/// All workers parse a few blocks at a time. While the caller takes their batches, a thread parses
/// the blocks that follow: it starts when the first batch is requested, and is never more than one
/// round ahead. Dropping the stream ends that thread: at once, or, if it waits for a pipe, when the
/// pipe has more bytes. After an error the stream ends.
pub struct BatchStream {
    schema: SchemaRef,
    report: TableReport,
    ready: VecDeque<Made>,
    rest: RoundsRest,
}

/// The blocks that are still to be parsed.
enum RoundsRest {
    /// The caller parses the next round.
    Here(Box<Rounds>),
    Ahead(RoundAhead),
    Ended,
}

impl std::fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl BatchStream {
    pub(in crate::table) fn open(sources: Vec<Source>, options: &BatchOptions) -> Result<Self> {
        let (rounds, report) = Rounds::open(sources, options)?;
        let schema = rounds.schema().clone();
        let rest = RoundsRest::Here(Box::new(rounds));
        Ok(Self { schema, report, ready: VecDeque::new(), rest })
    }

    /// Returns the names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the report of the table. Its rows, missing values and records set aside are those of
    /// the batches returned up to now.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// Waits for the next round; returns whether there is one.
    fn round(&mut self) -> Result<bool> {
        let (rounds, made) = match std::mem::replace(&mut self.rest, RoundsRest::Ended) {
            RoundsRest::Here(mut rounds) => {
                let made = rounds.round();
                (rounds, made)
            }
            RoundsRest::Ahead(ahead) => ahead.wait()?,
            RoundsRest::Ended => return Ok(false),
        };
        let Some(made) = made? else { return Ok(false) };
        self.ready.extend(made);
        if !rounds.is_over() {
            self.rest = match RoundAhead::start(rounds) {
                Ok(ahead) => RoundsRest::Ahead(ahead),
                Err(rounds) => RoundsRest::Here(rounds),
            };
        }
        Ok(true)
    }
}

impl Iterator for BatchStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(mut made) = self.ready.pop_front() {
                made.report(&mut self.report);
                match made.batch {
                    Some(batch) => return Some(Ok(batch)),
                    None => continue,
                }
            }
            match self.round() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::panic::AssertUnwindSafe;
    use std::sync::Arc;
    use std::time::Duration;
    use swath::machine::{Condvar, Mutex};

    use swath::{ReadAt, ReadOptions, SourceFacts};

    use super::*;
    use crate::table::ColumnType;

    /// A text that records how far it was read.
    struct Watched {
        text: Vec<u8>,
        read: Mutex<u64>,
        more: Condvar,
        /// Reading panics from this offset on.
        panics_at: u64,
    }

    impl Watched {
        fn of_rows(rows: u64, panics_at: u64) -> Arc<Self> {
            let text: String = (0..rows).map(|row| format!("{row}\n")).collect();
            let (read, more) = (Mutex::new(0), Condvar::new());
            Arc::new(Self { text: format!("n\n{text}").into(), read, more, panics_at })
        }

        fn stream(self: &Arc<Self>, block_size: u64) -> BatchStream {
            let options = BatchOptions::new()
                .with_types([("n", ColumnType::I64)])
                .with_block_size(block_size)
                .with_read(ReadOptions::new().with_workers(2));
            let source: Arc<dyn ReadAt> = self.clone();
            let stream = BatchStream::open(vec![Source::custom(source)], &options);
            // Opening reads its first bytes.
            *self.read.lock() = 0;
            stream.expect("a table")
        }

        /// Waits until the text was read up to a byte; returns whether it was.
        fn is_read_to(&self, end: u64) -> bool {
            let read = self.read.lock();
            let wait = Duration::from_secs(60);
            let waited = self.more.wait_timeout_while(read, wait, |read| *read < end);
            !waited.1.timed_out()
        }
    }

    impl ReadAt for Watched {
        fn facts(&self) -> io::Result<SourceFacts> {
            Ok(SourceFacts::new(Some(self.text.len() as u64)))
        }

        fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
            // Its first bytes are read at one time.
            assert!(offset == 0 || offset < self.panics_at, "reading failed on purpose");
            let rest = &self.text[usize::try_from(offset).expect("small")..];
            let len = rest.len().min(target.len());
            target[..len].copy_from_slice(&rest[..len]);
            let mut read = self.read.lock();
            *read = (*read).max(offset + len as u64);
            self.more.notify_all();
            Ok(len)
        }
    }

    /// Bytes of a round.
    const ROUND: u64 = 8 * 1000;

    #[test]
    fn one_round_is_parsed_ahead_of_the_caller_and_no_more() {
        let text = Watched::of_rows(1_000_000, u64::MAX);
        let mut stream = text.stream(1000);
        assert_eq!(*text.read.lock(), 0, "nothing was requested");
        stream.next().expect("a batch").expect("rows");
        assert!(text.is_read_to(2 * ROUND), "the second round");
        let RoundsRest::Ahead(_) = &stream.rest else { panic!("it is parsed ahead") };
        let mut rows = 0;
        while !stream.ready.is_empty() {
            rows += stream.next().expect("a batch").expect("rows").num_rows() as u64;
        }
        assert!(rows > 0 && stream.report().rows > rows, "the first batch counts");
        // A lease covers several of these small blocks.
        let read = *text.read.lock();
        assert!(read < text.text.len() as u64 / 2, "{read} bytes, and no other round");
        assert!(stream.report().rows < 3000, "those of the first round");
        let rest: usize = stream.by_ref().map(|batch| batch.expect("rows").num_rows()).sum();
        assert!(rest > 900_000 && stream.report().rows == 1_000_000);
    }

    #[test]
    fn a_single_round_is_parsed_by_the_caller() {
        let text = Watched::of_rows(1000, u64::MAX);
        let mut stream = text.stream(1 << 20);
        assert_eq!(stream.next().expect("a batch").expect("rows").num_rows(), 1000);
        assert!(matches!(stream.rest, RoundsRest::Ended));
        assert!(stream.next().is_none());
    }

    #[test]
    fn a_stream_that_is_dropped_leaves_no_thread() {
        for rounds in 0..3 {
            let text = Watched::of_rows(100_000, u64::MAX);
            let mut stream = text.stream(1000);
            for _ in 0..rounds * 8 {
                stream.next().expect("a batch").expect("rows");
            }
            drop(stream);
            // Every thread that reads it has one.
            assert_eq!(Arc::strong_count(&text), 1);
        }
    }

    #[test]
    fn a_panic_ahead_is_one_of_the_caller_and_ends_the_stream() {
        let text = Watched::of_rows(100_000, 3 * ROUND);
        let mut stream = text.stream(1000);
        let mut rows = 0;
        let panic = std::panic::catch_unwind(AssertUnwindSafe(|| {
            for batch in stream.by_ref() {
                rows += batch.expect("rows").num_rows();
            }
        }));
        let panic = panic.expect_err("it was not read to its end");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"reading failed on purpose"));
        assert!((1500..3000).contains(&rows), "the round before: {rows}");
        assert!(stream.next().is_none());
    }

    #[test]
    fn few_values_are_kept_while_types_are_found() {
        for (block_size, are_kept) in [(0, true), (64, false)] {
            let text = Watched::of_rows(1000, u64::MAX);
            let source: Arc<dyn ReadAt> = text.clone();
            let options = BatchOptions::new().with_block_size(block_size);
            let stream = BatchStream::open(vec![Source::custom(source)], &options);
            *text.read.lock() = 0;
            let rows = stream.expect("a table").map(|batch| batch.expect("rows").num_rows());
            assert_eq!(rows.sum::<usize>(), 1000);
            assert_eq!(*text.read.lock() == 0, are_kept, "{block_size}");
        }
    }
}
