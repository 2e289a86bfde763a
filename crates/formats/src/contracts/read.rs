//! A whole file into columns.

use std::io::{Seek, SeekFrom, sink};
use std::path::PathBuf;

use swath::append::{Ordered, ordered_to};
use swath::machine::Mutex;
use swath::{ReadOptions, Reader, Source};

use super::columns::{Contracts, Part};
use super::line;
use super::supply::{LineBlock, LineSupply};
use crate::error::{Error, FormatReason, Result};
use crate::setters::setters;
use crate::share::workers;
use crate::spare::Spare;

/// Bytes that a worker parses at a time.
const BLOCK_SIZE: usize = 256 << 10;

/// Reads all contracts of `source` into columns, in the order of the file.
///
/// ```
/// use swath_formats::contracts::{self, ContractKind};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("options");
/// std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.7594\n")?;
/// let contract = contracts::read(&path)?.get(0).ok_or("one contract")?;
/// assert_eq!((contract.strike, contract.kind), (40.0, ContractKind::Call));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A file is read twice, first only to count its lines, so the memory needed is that of the columns
/// and a few blocks. A stream can be read only once: its columns are concatenated at the end.
///
/// # Errors
///
/// The errors of [`PriceOptions::price`](super::PriceOptions::price).
pub fn read(source: impl Into<Source>) -> Result<Contracts> {
    ContractOptions::new().read(source)
}

/// How to read contracts. Every setter returns the options; none can fail.
///
/// ```
/// use swath::ReadOptions;
/// use swath_formats::contracts::ContractOptions;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("options");
/// # std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.7594\n")?;
/// let options = ContractOptions::new().with_read(ReadOptions::new().with_workers(2));
/// assert_eq!(options.read(&path)?.references(), [4.7594]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContractOptions {
    read: ReadOptions,
}

impl ContractOptions {
    /// Defaults: one worker per core, everything else chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// How to read the contracts, and which bytes of them. Its workers parse.
        with_read(read: ReadOptions);
    }

    /// Like [`read`], with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`read`].
    pub fn read(&self, source: impl Into<Source>) -> Result<Contracts> {
        self.read_from(source.into())
    }

    fn read_from(&self, source: Source) -> Result<Contracts> {
        let input = swath::Input::open(source)?;
        let mut reader = self.read.reader(&input)?;
        let is_file = reader.seek(SeekFrom::End(0)).and_then(|_| reader.rewind()).is_ok();
        let path = reader.path().to_owned();
        // Nothing is written: the output only puts errors in order.
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
    fn parse(&self, block: LineBlock, part: &mut Part<'_>) -> Result<()> {
        let parsed = line::parse(block.text(), part);
        parsed.map_err(|wrong| block.error(&self.path, wrong, 0, 0))?;
        self.spare.put(block.into_buffer());
        Ok(())
    }

    /// Parses each block into its part of the columns; the file has this many newlines.
    fn in_place(&self, reader: Reader, lines: u64) -> Result<Contracts> {
        let mut supply = LineSupply::new(reader, &self.spare, BLOCK_SIZE).peekable();
        let declared = match supply.peek() {
            Some(Ok(first)) => first.declared.unwrap_or(0),
            // Reported below.
            Some(Err(_)) | None => 0,
        };
        // Contracts that line 1 declares beyond the number of lines are never reached.
        let room = usize::try_from(declared.min(lines)).unwrap_or(usize::MAX);
        let mut contracts = Contracts::zeroed(room)?;
        let mut rest = contracts.part_mut();
        let blocks = supply.map(|block| {
            let block = block?;
            if block.contracts > rest.len() {
                let what = "the file was written to while it was read";
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

    /// Parses each block into columns of its own.
    fn in_pieces(&self, reader: Reader) -> Result<Contracts> {
        let pieces = Mutex::new(Vec::new());
        let supply = LineSupply::new(reader, &self.spare, BLOCK_SIZE);
        self.order.map_ordered(supply, self.workers, |block, ticket| -> Result<()> {
            let block = block?;
            let mut piece = Contracts::zeroed(block.contracts)?;
            self.parse(block, &mut piece.part_mut())?;
            let mut pieces = pieces.lock();
            pieces.push((ticket.index(), piece));
            Ok(())
        })?;
        let mut pieces = pieces.into_inner();
        pieces.sort_unstable_by_key(|&(index, _)| index);
        let pieces: Vec<Contracts> = pieces.into_iter().map(|(_, piece)| piece).collect();
        Contracts::concat(&pieces)
    }
}
