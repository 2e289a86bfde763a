//! The verb `records`: many workers split sources into blocks of whole records; results are in
//! file order.
//!
//! ```text
//! file     |        |        |        |        |     leases of whole blocks, read by position
//! worker A  read, find ends, map      read, find …
//! worker B           read, find ends, map
//! stream   =====> read by one worker at a time, split and mapped by all
//! results  in file order, whichever worker made them
//! ```
//!
//! A block is read once, into memory that stays in the second-level cache of the core that
//! processes it; only a closure's result for it is kept. A record is never split, and
//! results depend neither on the block size nor on the number of workers. Source: study C, whose
//! parser had one thread.

pub(crate) mod consume;
mod count;
mod extents;
mod file;
mod mapped;
mod plan;
pub(crate) mod runs;
mod starting;
mod stream;

use std::path::PathBuf;

use swath_os::map::Permit;
use swath_plan::extent::Extent;

use crate::error::Error;
use crate::options::ReadOptions;
use crate::records::{Block, Cut};
use crate::report::{Report, Scanned};
use crate::sink::OutputOptions;
use crate::source::Source;

use consume::{Collect, Each, Fold, InTurn, Reduce};
use plan::VerbWords;

/// Sources, and how they are split into records; see [`records`].
#[derive(Debug)]
#[must_use = "nothing is read before a verb is called"]
pub struct Records<'f> {
    pub(crate) sources: Vec<Source>,
    permit: Option<(Permit<'f>, PathBuf)>,
    pub(crate) options: ReadOptions,
    pub(crate) output: OutputOptions,
    cut: Cut,
    starting_in: Option<Extent>,
    block_size: u64,
    record_limit: u64,
    words: VerbWords,
}

/// Processes the records of a file: lines, unless [`with_cut`](Records::with_cut) says
/// otherwise.
///
/// ```
/// let blocks = swath::records("/etc/passwd").map_blocks(|block| -> swath::Result<usize> {
///     Ok(block.records().count())
/// })?;
/// assert!(blocks.iter().sum::<usize>() > 0);
/// # Ok::<(), swath::Error>(())
/// ```
pub fn records(source: impl Into<Source>) -> Records<'static> {
    ReadOptions::new().records(source)
}

/// Processes the records of several sources, one source after the other in the order given. No
/// record continues from one source into the next.
///
/// ```
/// let lines = swath::records_of(["/etc/passwd", "/etc/group"])
///     .map_reduce(|block| -> swath::Result<_> { Ok(block.lines().count()) }, |a, b| a + b)?;
/// assert!(lines.value > Some(1));
/// # Ok::<(), swath::Error>(())
/// ```
pub fn records_of<S: Into<Source>>(sources: impl IntoIterator<Item = S>) -> Records<'static> {
    ReadOptions::new().records_of(sources)
}

impl ReadOptions {
    /// As [`records`], with these options; the first record begins at the offset of the options.
    ///
    /// Pipes and other streams are read by one worker at a time and processed by all. A block of
    /// a stream is full, unless it is the last.
    pub fn records(&self, source: impl Into<Source>) -> Records<'static> {
        self.records_of([source])
    }

    /// As [`records_of`], with these options; offset and length are those in each source.
    pub fn records_of<S: Into<Source>>(
        &self,
        sources: impl IntoIterator<Item = S>,
    ) -> Records<'static> {
        let sources = sources.into_iter().map(Into::into).collect();
        Records { sources, ..self.nothing() }
    }

    /// As [`records`], without a copy where that is faster: through a map, if `permit` is a
    /// promise ([`Frozen`](crate::maps::Frozen)) and the file is in the page cache, or if the
    /// engine is [`Engine::Map`](crate::Engine::Map). With a guard the file is read instead: the
    /// bytes of a guarded map may change during use, which Rust forbids for a slice. `name` is
    /// for messages.
    pub fn records_mapped<'f>(
        &self,
        permit: impl Into<Permit<'f>>,
        name: impl Into<PathBuf>,
    ) -> Records<'f> {
        Records { permit: Some((permit.into(), name.into())), ..self.nothing() }
    }

    fn nothing<'f>(&self) -> Records<'f> {
        Records {
            sources: Vec::new(),
            permit: None,
            options: self.clone(),
            output: OutputOptions::new(),
            cut: Cut::Byte(b'\n'),
            starting_in: None,
            block_size: 0,
            record_limit: u64::MAX,
            words: VerbWords::RECORDS,
        }
    }
}

impl Records<'_> {
    /// Returns the records with the words of a scan, whose chunks are blocks.
    pub(crate) fn for_a_scan(self) -> Self {
        Self { words: VerbWords::SCAN, ..self }
    }

    /// Where records end. Default: after newlines.
    pub fn with_cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }

    /// Selects the records that begin in `extent` of each source; the last one is passed whole,
    /// even if it ends after the extent. If several extents together cover a file, each record
    /// begins in exactly one of them. Offsets count from the start of the source, even if the
    /// options say where the first record begins. Default: all.
    ///
    /// If quotes matter for finding records, the quotes before the extent are counted first: at
    /// memory speed, if those bytes are in the page cache. A source that can only be read in
    /// order is read from its start to the end of the extent.
    ///
    /// ```
    /// use swath::Extent;
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # let path = file.path();
    /// std::fs::write(path, "one\ntwo\nthree\nfour\n").unwrap();
    /// let lines = |extent| {
    ///     swath::records(path).with_starting_in(extent).map_blocks(|block| -> swath::Result<String> {
    ///         Ok(String::from_utf8_lossy(block.bytes).into_owned())
    ///     })
    /// };
    /// assert_eq!(lines(Extent::between(0, 5))?.concat(), "one\ntwo\n");
    /// assert_eq!(lines(Extent::between(5, 19))?.concat(), "three\nfour\n");
    /// # Ok::<(), swath::Error>(())
    /// ```
    pub fn with_starting_in(self, extent: Extent) -> Self {
        Self { starting_in: Some(extent), ..self }
    }

    /// Returns the bytes of these records in each source: the extent that begins with the first
    /// record and ends with the last one. Empty if there is no record.
    ///
    /// Only the ends of the extents are searched, so it costs a few small reads per source. If
    /// quotes matter, they are counted as [`with_starting_in`](Self::with_starting_in) says.
    /// The records themselves are not checked. To read the extent afterwards from the same file
    /// even if its name is replaced, open it as an [`Input`](crate::Input) first.
    ///
    /// ```
    /// use swath::{Extent, Input, ReadOptions};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # let path = file.path();
    /// std::fs::write(path, "one\ntwo\nthree\n").unwrap();
    /// let input = Input::open(path)?;
    /// let part = swath::records(&input).with_starting_in(Extent::between(1, 5)).extents()?[0];
    /// let lines = ReadOptions::new().with_offset(part.offset()).with_len(part.len()).read(&input)?;
    /// assert_eq!(lines.buffer[..], *b"two\n");
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a source cannot be opened or read, is shorter than the options say, or is a stream,
    /// which has no extents.
    pub fn extents(self) -> Result<Vec<Extent>, Error> {
        extents::extents(self)
    }

    /// How [`transform`](Self::transform) writes. Default: durably, through the page cache.
    pub fn with_output(self, output: OutputOptions) -> Self {
        Self { output, ..self }
    }

    /// Bytes between cuts; results do not depend on it. Default 0: the chunk size of the
    /// options, or 1 MiB. A block of that size is still in the core's cache when it is parsed,
    /// and the kernel copies it a tenth faster than blocks of half the size.
    pub fn with_block_size(self, bytes: u64) -> Self {
        Self { block_size: bytes, ..self }
    }

    /// Longest accepted record, in bytes. A longer one, often a sign of a missing delimiter, is an
    /// error. Values below the block size count as the block size. Default 0: as much as fits into
    /// the available memory.
    pub fn with_record_limit(self, bytes: u64) -> Self {
        Self { record_limit: if bytes == 0 { u64::MAX } else { bytes }, ..self }
    }

    /// Calls `map` for every block, from any worker, and returns the results in file order.
    ///
    /// # Errors
    ///
    /// The first one in file order, from reading or from `map`; after the first error no further
    /// block is begun. As [`read`](crate::read); also for a last record without an end and for
    /// one that is too long, each with its bytes.
    ///
    /// # Panics
    ///
    /// If `map` panics: with its panic, once all workers have ended.
    pub fn map_blocks<R: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        Ok(self.collect_blocks(map)?.value)
    }

    /// As [`map_blocks`](Self::map_blocks), with a report.
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks).
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks).
    pub fn collect_blocks<R: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> Result<R, E> + Sync,
    ) -> Result<Scanned<Vec<R>>, E> {
        let collect = Collect::new(map);
        let report = runs::run(self, &collect)?;
        Ok(Scanned { value: collect.end()?, report })
    }

    /// As [`map_blocks`](Self::map_blocks), for results that depend on earlier blocks: for example
    /// the position of a block's records in a table that all blocks fill, in one pass over the
    /// file.
    ///
    /// `look` sees every block, from any worker. `turn` receives its result, one block at a time
    /// and in file order. `map` sees the block again, which is still in the cache, together with
    /// the result of `turn`, again from any worker. So `turn` should be short: a sum, or
    /// splitting off part of a slice.
    ///
    /// ```
    /// let mut lines = 0;
    /// let numbered = swath::records("/etc/passwd").with_block_size(100).map_blocks_in_turn(
    ///     |block| Ok(block.records().count()),
    ///     |count| {
    ///         lines += count;
    ///         Ok(lines - count)
    ///     },
    ///     |block, before| -> swath::Result<Vec<String>> {
    ///         let number = |(at, line)| format!("{} {}", before + at, String::from_utf8_lossy(line));
    ///         Ok(block.records().enumerate().map(number).collect())
    ///     },
    /// )?;
    /// for (at, line) in numbered.concat().iter().enumerate() {
    ///     assert!(line.starts_with(&format!("{at} ")));
    /// }
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks), also of `look` and `turn`. `turn` may have seen
    /// blocks after the one that failed in `map`, but none after one that failed before its
    /// turn.
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks), also for `look` and `turn`.
    pub fn map_blocks_in_turn<A, B, R: Send, E: From<Error> + Send>(
        self,
        look: impl Fn(Block<'_>) -> Result<A, E> + Sync,
        turn: impl FnMut(A) -> Result<B, E> + Send,
        map: impl Fn(Block<'_>, B) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let in_turn = InTurn::new(look, turn, map);
        runs::run(self, &in_turn)?;
        in_turn.end()
    }

    /// Calls `f` for every block, from any worker and in any order.
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks). `f` may have seen blocks after the one that failed.
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks).
    pub fn for_each_block<E: From<Error> + Send>(
        self,
        f: impl Fn(Block<'_>) -> Result<(), E> + Sync,
    ) -> Result<Report, E> {
        let each = Each::new(f);
        let report = runs::run(self, &each)?;
        each.end()?;
        Ok(report)
    }

    /// Combines the results of `map` for all blocks, from left to right in file order; `None` if
    /// there is no record. Few values exist at a time.
    ///
    /// The result of `combine` may depend on where blocks end, as a floating-point sum does;
    /// with one block size it is the same for every number of workers.
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks).
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks), also for `combine`.
    pub fn map_reduce<T: Send, E: From<Error> + Send>(
        self,
        map: impl Fn(Block<'_>) -> Result<T, E> + Sync,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<Scanned<Option<T>>, E> {
        let reduce = Reduce::new(map, combine, self.options.wishes.workers);
        let report = runs::run(self, &reduce)?;
        Ok(Scanned { value: reduce.end()?, report })
    }

    /// Folds every block into a value with `fold`, from any worker and in any order, and
    /// combines the values with `combine`. `init` makes the initial value: one for each worker,
    /// not one for each block, so that large values, such as a table with a row for each key,
    /// are combined only a few times.
    ///
    /// Which blocks are folded into one value, and in which order, differs from call to call.
    /// Use [`map_reduce`](Self::map_reduce) for results that depend on it, such as
    /// floating-point sums. If there is no record, the value is the result of `init`.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # let path = file.path();
    /// std::fs::write(path, "a\nb\na\n").unwrap();
    /// let counted = swath::records(path).fold_reduce(
    ///     HashMap::new,
    ///     |counts, block| -> swath::Result<()> {
    ///         for line in block.lines() {
    ///             *counts.entry(line.to_vec()).or_insert(0) += 1;
    ///         }
    ///         Ok(())
    ///     },
    ///     |mut counts, more| {
    ///         for (line, count) in more {
    ///             *counts.entry(line).or_insert(0) += count;
    ///         }
    ///         counts
    ///     },
    /// )?;
    /// assert_eq!(counted.value[&b"a"[..]], 2);
    /// # Ok::<(), swath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`map_blocks`](Self::map_blocks). Blocks after the one that failed may have been
    /// folded.
    ///
    /// # Panics
    ///
    /// As [`map_blocks`](Self::map_blocks), also for `init` and `combine`.
    pub fn fold_reduce<T: Send, E: From<Error> + Send>(
        self,
        init: impl Fn() -> T + Sync,
        fold: impl Fn(&mut T, Block<'_>) -> Result<(), E> + Sync,
        combine: impl Fn(T, T) -> T,
    ) -> Result<Scanned<T>, E> {
        let folded = Fold::new(&init, fold);
        let report = runs::run(self, &folded)?;
        let value = folded.end()?.into_iter().reduce(combine);
        Ok(Scanned { value: value.unwrap_or_else(init), report })
    }
}
