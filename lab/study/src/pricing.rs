//! Study C's program in its original form, line by line, and its optimised form, in bulk; and Swath's form.
//!
//! ```text
//! lines    one thread reads line by line | all price | one thread writes line by line
//! bulk     one read; one thread finds the fields, all parse | all price | all format; one write
//! swath    block by block: each worker reads, parses, prices and formats its block
//! ```
//!
//! All forms write the same bytes. Whichever form finds a fault, the error is the library's.
//!
//! ```
//! use swath::append::{OrderedOptions, ordered};
//! use swath_study::pricing::{Form, Pricing};
//!
//! let folder = tempfile::tempdir()?;
//! let (path, to) = (folder.path().join("options"), folder.path().join("prices"));
//! std::fs::write(&path, "1\n42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759422392871532\n")?;
//! let output = ordered(&to)?;
//! let priced = Pricing::new(Form::Bulk).with_workers(2).price(&path, output)?;
//! assert_eq!((priced.contracts, priced.off), (1, 0));
//! # anyhow::Ok(())
//! ```

mod bulk;
mod columns;
mod lines;
mod row;

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use swath::append::Ordered;
use swath::{Fallback, ReadOptions};
use swath_formats::contracts::{ContractOptions, PriceOptions};

use self::columns::Difference;

/// The form of the program. The prices do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Study C's original program.
    Lines,
    /// Study C's optimised form.
    Bulk,
    /// The library's form.
    Swath,
}

/// One form, and its number of threads.
#[derive(Clone, Debug)]
pub struct Pricing {
    form: Form,
    workers: usize,
    read: ReadOptions,
}

/// The report of a pricing.
#[derive(Clone, Debug)]
pub struct Priced {
    /// The number of contracts, which is that of prices.
    pub contracts: u64,
    /// Bytes of contracts.
    pub bytes_in: u64,
    /// Bytes of prices.
    pub bytes_out: u64,
    /// The shares of the time, of 1: reading and parsing, computing, formatting and writing.
    pub shares: [f64; 3],
    /// The number of prices that differ from the last field of their line by the tolerance or more.
    pub off: u64,
    /// The largest difference from the last field.
    pub largest_difference: f64,
    /// Requests for the output that could not be granted, and their replacements.
    pub fallbacks: Vec<Fallback>,
}

/// The report of the study's forms.
struct FormReport {
    contracts: u64,
    bytes_in: u64,
    read: Duration,
    compute: Duration,
    difference: Difference,
}

impl Pricing {
    /// Returns a form with a thread for each core.
    pub fn new(form: Form) -> Self {
        Self { form, workers: 0, read: ReadOptions::new() }
    }

    /// Sets the number of threads, including the caller's; fewer run if they cannot be started. Default 0: one
    /// for each core.
    pub fn with_workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// Sets the options for reading the contracts.
    pub fn with_read(self, read: ReadOptions) -> Self {
        Self { read, ..self }
    }

    /// Prices the contracts of the file `from` into `output`, and commits that.
    ///
    /// # Errors
    ///
    /// The library's error for the first fault in file order; the errors of reading and writing. After an
    /// error there is no output.
    pub fn price(&self, from: &Path, output: Ordered) -> Result<Priced> {
        let start = Instant::now();
        let done = match self.form {
            Form::Lines => lines::run(self, from, &output)?,
            Form::Bulk => bulk::run(self, from, &output)?,
            Form::Swath => return self.by_library(from, output),
        };
        let Some(done) = done else { return Err(self.refused(from)) };
        let written = output.commit()?;
        let parts = [done.read, done.compute, start.elapsed() - done.read - done.compute];
        let total = start.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        Ok(Priced {
            contracts: done.contracts,
            bytes_in: done.bytes_in,
            bytes_out: written.bytes,
            shares: parts.map(|part| part.as_secs_f64() / total),
            off: done.difference.off,
            largest_difference: done.difference.largest,
            fallbacks: written.fallbacks,
        })
    }

    fn by_library(&self, from: &Path, output: Ordered) -> Result<Priced> {
        let read = self.read.clone().with_workers(self.workers);
        let priced = PriceOptions::new().with_read(read).price(from, output)?;
        Ok(Priced {
            contracts: priced.contracts,
            bytes_in: priced.bytes_in,
            bytes_out: priced.bytes_out,
            shares: priced.phases.shares(),
            off: priced.off,
            largest_difference: priced.largest_difference,
            fallbacks: priced.fallbacks,
        })
    }

    /// Returns the library's error for a text that a form refused.
    fn refused(&self, from: &Path) -> anyhow::Error {
        let read = self.read.clone().with_workers(1);
        match ContractOptions::new().with_read(read).read(from) {
            Err(error) => error.into(),
            Ok(_) => {
                anyhow!("{}: the library takes what {:?} refused", from.display(), self.form)
            }
        }
    }

    fn workers(&self) -> usize {
        match self.workers {
            0 => available_parallelism().map_or(1, NonZero::get),
            workers => workers,
        }
    }
}
