//! Option contracts, priced with Black and Scholes: study C's program, PARSEC's Blackscholes.
//!
//! ```text
//! 2                                                        2
//! 42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.7594…    →    4.759422997128208266
//! 42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.8085…         0.808599977156768901
//! S     K     r      q    vol  T           reference
//! ```
//!
//! The first line is the number of contracts. Lines end with `
//! ` or `\r
//! `, optional after the last one. Fields are separated by spaces and tabs; lines after the last
//! contract must be blank. q is the continuous dividend yield. The dividends after the kind must be
//! 0, since the formula has no discrete ones. The last field is the right price, for comparison.
//!
//! The output is the same for any number of workers and any block size.
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
use crate::share::{started, workers};

pub use columns::{Contract, ContractKind, Contracts};
pub use pricing::{TOLERANCE, format_prices};
pub use read::{ContractOptions, read};

/// Prices the contracts of `source` into `output`.
///
/// ```
/// use swath_formats::contracts;
///
/// # let folder = tempfile::tempdir()?;
/// # let (path, prices) = (folder.path().join("options"), folder.path().join("prices"));
/// std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.8085993729\n")?;
/// let report = contracts::price(path.as_path(), &prices)?;
/// assert_eq!((report.contracts, report.bytes_out), (1, std::fs::metadata(&prices)?.len()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`PriceOptions::price`].
pub fn price(source: impl Into<Source>, output: impl Into<Output>) -> Result<Priced> {
    PriceOptions::new().price(source, output)
}

/// How to price. Every setter returns the options; none can fail; 0 means "choose for me".
///
/// ```
/// use swath::ReadOptions;
/// use swath_formats::contracts::PriceOptions;
///
/// # let folder = tempfile::tempdir()?;
/// # let (path, prices) = (folder.path().join("options"), folder.path().join("prices"));
/// # std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 P 0.00 0.8085993729\n")?;
/// let options = PriceOptions::new().with_read(ReadOptions::new().with_workers(1));
/// let report = options.price(path.as_path(), &prices)?;
/// assert_eq!((report.workers, report.off), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PriceOptions {
    block_size: u64,
    read: ReadOptions,
    output: OutputOptions,
}

/// The result of a pricing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Priced {
    /// Number of contracts, and of prices.
    pub contracts: u64,
    /// Number of threads that priced.
    pub workers: usize,
    /// Length of the contracts in bytes.
    pub bytes_in: u64,
    /// Length of the prices in bytes.
    pub bytes_out: u64,
    /// Time from the call to the end of the commit.
    pub elapsed: Duration,
    /// The phases that took this time.
    pub phases: Phases,
    /// Number of prices that differ from the last field of their lines by [`TOLERANCE`] or more.
    pub off: u64,
    /// The largest difference from the last field.
    pub largest_difference: f64,
    /// Requests about the output that could not be granted, and what was done instead.
    pub fallbacks: Vec<Fallback>,
}

/// The time that threads spent on each phase, summed over all working threads.
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
    /// Returns read, compute and write as fractions of 1.
    pub fn shares(&self) -> [f64; 3] {
        let parts = [self.read, self.compute, self.write].map(|part| part.as_secs_f64());
        let total = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        parts.map(|part| part / total)
    }
}

impl PriceOptions {
    /// Defaults: one worker per core, everything else chosen automatically.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Bytes of contracts that a worker takes at a time. Default: 0, for 256 KiB, which fit in
        /// the second-level cache together with their results.
        with_block_size(block_size: u64);

        /// How to read the contracts, and which bytes of them. Its workers price, 0 for one per
        /// core.
        with_read(read: ReadOptions);

        /// How to write the prices. An existing `Output` keeps its own options.
        with_output(output: OutputOptions);
    }

    /// Prices the contracts of `source` into `output` and commits it. Only a few blocks are in
    /// memory at a time, so both may be pipes.
    ///
    /// # Errors
    ///
    /// The first error in the order of the file, with its line and byte:
    /// [`Malformed`](crate::FormatReason::Malformed); [`TooLarge`](crate::FormatReason::TooLarge)
    /// if a number or a price is infinite; [`Unsupported`](crate::FormatReason::Unsupported) for
    /// dividends; [`Truncated`](crate::FormatReason::Truncated) if contracts are missing; otherwise
    /// whatever reading and writing report. After an error there is no output, but a stream may
    /// have received the prices before it.
    pub fn price(
        &self,
        source: impl Into<Source>,
        output: impl Into<Output>,
    ) -> Result<Priced> {
        self.price_to(source.into(), output.into())
    }

    fn price_to(&self, source: Source, output: Output) -> Result<Priced> {
        let start = Instant::now();
        let output = output.open(self.output.clone().with_input(source.name()))?;
        let job = PriceJob {
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
        let workers = started(job.workers, &written.fallbacks);
        let total = elapsed * u32::try_from(workers).unwrap_or(u32::MAX);
        let (read, compute) = (done.read, done.compute);
        let write = total.saturating_sub(read + compute);
        Ok(Priced {
            contracts: done.contracts,
            workers,
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

/// The size of a block of contracts; their results take a third of it.
const BLOCK_SIZE: usize = 256 << 10;

/// One pricing.
struct PriceJob<'j> {
    workers: usize,
    block_size: usize,
    read: &'j ReadOptions,
}

/// The result of a pricing job.
#[derive(Debug, Default)]
struct PricingOutcome {
    contracts: u64,
    bytes_in: u64,
    read: Duration,
    compute: Duration,
    difference: pricing::Difference,
}
