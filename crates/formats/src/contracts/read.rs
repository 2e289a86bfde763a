//! A whole file into columns.

use std::io::{Seek, SeekFrom, sink};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use swath::append::{Ordered, ordered_to};
use swath::{ReadOptions, Reader, Source};

use super::columns::{Contracts, Part};
use super::line;
use super::supply::{Block, Supply};
use crate::error::{Error, FormatReason, Result};
use crate::setters::setters;
use crate::share::workers;
use crate::spare::Spare;

/// Bytes that a worker parses at a time.
const BLOCK_SIZE: usize = 256 << 10;

/// Reads all contracts of `source` into columns, in file order.
///
/// A file is read twice, the first time only to count its lines, so that memory is what the columns
/// need and a few blocks. A stream cannot be: its columns are put together at the end.
///
/// # Errors
///
/// As [`PriceOptions::price`](super::PriceOptions::price).
pub fn read(source: impl Into<Source>) -> Result<Contracts> {
    ContractOptions::new().read(source)
}

/// How to read contracts. Every setter returns the options, none can fail.
#[derive(Clone, Debug, Default)]
pub struct ContractOptions {
    read: ReadOptions,
}

impl ContractOptions {
    /// Everything chosen, one worker for each core.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How the contracts are read, and which bytes of them. Its workers parse.
        with_read(read: ReadOptions);
    }

    /// As [`read`], with these options.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<Contracts> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<Contracts> {
        let input = swath::Input::open(source)?;
        let mut reader = self.read.reader(&input)?;
        let is_file = reader.seek(SeekFrom::End(0)).and_then(|_| reader.rewind()).is_ok();
        let path = reader.path().to_owned();
        // Nothing is written: of a sink, only the order of errors is wanted.
        let order = ordered_to(sink(), &path);
        let reading =
            Reading { path, spare: Spare::new(), order, workers: workers(self.read.workers()) };
        if is_file {
            let lines = self.read.count(&input, b'\n')?.value;
            reading.in_place(reader, lines)
        } else {
            reading.in_pieces(reader)
        }
    }
}

struct Reading {
    path: PathBuf,
    spare: Spare<Vec<u8>>,
    order: Ordered,
    workers: usize,
}

impl Reading {
    fn parse(&self, block: Block, part: &mut Part<'_>) -> Result<()> {
        let parsed = line::parse(block.text(), part);
        parsed.map_err(|wrong| block.error(&self.path, wrong, 0, 0))?;
        self.spare.put(block.into_buffer());
        Ok(())
    }

    /// Each block into its part of the columns; the file has so many newlines.
    fn in_place(&self, reader: Reader, lines: u64) -> Result<Contracts> {
        let mut supply = Supply::new(reader, &self.spare, BLOCK_SIZE).peekable();
        let declared = match supply.peek() {
            Some(Ok(first)) => first.declared.unwrap_or(0),
            // Said below.
            Some(Err(_)) | None => 0,
        };
        // Where line 1 promises more than there are lines, it does not get as far as to need them.
        let room = usize::try_from(declared.min(lines)).unwrap_or(usize::MAX);
        let mut contracts = Contracts::zeroed(room)?;
        let mut rest = contracts.part_mut();
        let blocks = supply.map(|block| {
            let block = block?;
            if block.contracts > rest.len() {
                let what = "it was written to while it was read";
                return Err(Error::reading(&self.path, FormatReason::Malformed, what));
            }
            let part = rest.take(block.contracts);
            Ok((block, part))
        });
        self.order.map_ordered(blocks, self.workers, |block, _| {
            let (block, mut part) = block?;
            self.parse(block, &mut part)
        })?;
        Ok(contracts)
    }

    /// Each block into columns of its own.
    fn in_pieces(&self, reader: Reader) -> Result<Contracts> {
        let pieces = Mutex::new(Vec::new());
        let supply = Supply::new(reader, &self.spare, BLOCK_SIZE);
        self.order.map_ordered(supply, self.workers, |block, ticket| -> Result<()> {
            let block = block?;
            let mut piece = Contracts::zeroed(block.contracts)?;
            self.parse(block, &mut piece.part_mut())?;
            let mut pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
            pieces.push((ticket.index(), piece));
            Ok(())
        })?;
        let mut pieces = pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
        pieces.sort_unstable_by_key(|&(index, _)| index);
        let pieces: Vec<Contracts> = pieces.into_iter().map(|(_, piece)| piece).collect();
        Contracts::concat(&pieces)
    }
}
