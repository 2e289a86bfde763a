//! Option contracts, priced after Black and Scholes: study C's program, PARSEC's Blackscholes.
//!
//! ```text
//! 2                                                        2
//! 42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.7594…    →    4.759422997128208266
//! 42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.8085…         0.808599977156768901
//! S     K     r      q    vol  T           reference
//! ```
//!
//! The first line says how many contracts follow. Lines end with `\n` or `\r\n`, the last one need
//! not; fields are apart by blanks and tabs; behind the last contract lines may be blank. q is the
//! continuous dividend yield; the dividends behind the kind must be 0, as the formula has none. The
//! last field is the right price, to compare with.
//!
//! With however many workers, in blocks however large, the bytes that come out are the same.
//!
//! ```
//! use swath_formats::contracts;
//!
//! # let folder = tempfile::tempdir()?;
//! # let (path, prices) = (folder.path().join("options"), folder.path().join("prices"));
//! std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532\n")?;
//! let report = contracts::price(path.as_path(), &prices)?;
//! assert_eq!((report.contracts, report.off), (1, 0));
//! assert!(std::fs::read_to_string(prices)?.starts_with("1\n4.75942"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod fused;
mod header;
mod line;
mod pricing;
mod read;
mod supply;

use std::time::{Duration, Instant};

use swath::{Fallback, Output, OutputOptions, ReadOptions, Source};

use crate::error::Result;
use crate::setters::setters;
use crate::share::workers;

pub use columns::{Contract, ContractKind, Contracts};
pub use pricing::{TOLERANCE, format_prices};
pub use read::{ContractOptions, read};

/// Prices the contracts of `source` into `output`.
///
/// # Errors
///
/// As [`PriceOptions::price`].
pub fn price(source: impl Into<Source>, output: impl Into<Output>) -> Result<Priced> {
    PriceOptions::new().price(source, output)
}

/// How to price. Every setter returns the options, none can fail; 0 means "choose for me".
#[derive(Clone, Debug, Default)]
pub struct PriceOptions {
    block_size: u64,
    read: ReadOptions,
    output: OutputOptions,
}

/// How a pricing went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Priced {
    /// Contracts, and prices.
    pub contracts: u64,
    /// Threads that priced.
    pub workers: usize,
    /// Bytes of contracts.
    pub bytes_in: u64,
    /// Bytes of prices.
    pub bytes_out: u64,
    /// From the call to the end of the commit.
    pub elapsed: Duration,
    /// What that was spent on.
    pub phases: Phases,
    /// Prices that differ from the last field of their lines by [`TOLERANCE`] or more.
    pub off: u64,
    /// The largest difference from the last field.
    pub largest_difference: f64,
    /// Wishes about the output that could not be granted, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

/// The time that threads spent on each phase, summed over them: together it is the elapsed time of
/// all that were at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// Reading and parsing.
    pub read: Duration,
    /// Computing prices.
    pub compute: Duration,
    /// Formatting, writing, and waiting for either.
    pub write: Duration,
}

impl Phases {
    /// Read, compute and write as shares of 1.
    pub fn shares(&self) -> [f64; 3] {
        let parts = [self.read, self.compute, self.write].map(|part| part.as_secs_f64());
        let total = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        parts.map(|part| part / total)
    }
}

impl PriceOptions {
    /// One worker for each core.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Bytes of contracts that a worker takes at a time. Default 0: 256 KiB, which stay in the
        /// second-level cache with what becomes of them.
        with_block_size(block_size: u64);

        /// How the contracts are read, and which bytes of them. Its workers price: 0 are one for each core.
        with_read(read: ReadOptions);

        /// How the prices are written. An output that was begun before keeps its own options.
        with_output(output: OutputOptions);
    }

    /// Prices the contracts of `source` into `output`, and commits that. Nothing but a few blocks is
    /// in memory, so both may be pipes.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong in the order of the file, with its line and byte: of the kind
    /// [`Malformed`](crate::FormatReason::Malformed), [`TooLarge`](crate::FormatReason::TooLarge) where a number
    /// or a price is infinite, [`Unsupported`](crate::FormatReason::Unsupported) for dividends,
    /// [`Truncated`](crate::FormatReason::Truncated) if contracts are missing; else what reading and
    /// writing say. Then there is no output; into a stream, what was right before it may have gone.
    pub fn price(
        &self,
        source: impl Into<Source>,
        output: impl Into<Output>,
    ) -> Result<Priced> {
        self.price_to(source.into(), output.into())
    }

    fn price_to(&self, source: Source, output: Output) -> Result<Priced> {
        let start = Instant::now();
        let output = output.open(self.output.clone())?;
        let job = Job {
            workers: workers(self.read.workers()),
            block_size: match usize::try_from(self.block_size).unwrap_or(usize::MAX) {
                0 => BLOCK_SIZE,
                size => size,
            },
            read: &self.read,
        };
        let done = fused::run(&job, source, &output)?;
        let written = output.commit()?;
        let elapsed = start.elapsed();
        let total = elapsed * u32::try_from(job.workers).unwrap_or(u32::MAX);
        let (read, compute) = (done.read, done.compute);
        let write = total.saturating_sub(read + compute);
        Ok(Priced {
            contracts: done.contracts,
            workers: job.workers,
            bytes_in: done.bytes_in,
            bytes_out: written.bytes,
            elapsed,
            phases: Phases { read, compute, write },
            off: done.difference.off,
            largest_difference: done.difference.largest,
            fallbacks: written.fallbacks,
        })
    }
}

/// Of contracts; a third of it is what they become.
const BLOCK_SIZE: usize = 256 << 10;

/// What is to be done.
struct Job<'j> {
    workers: usize,
    block_size: usize,
    read: &'j ReadOptions,
}

/// What was done.
#[derive(Debug, Default)]
struct Done {
    contracts: u64,
    bytes_in: u64,
    read: Duration,
    compute: Duration,
    difference: pricing::Difference,
}
