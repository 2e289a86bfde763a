//! Blocks of lines: one worker reads, parses, prices and formats each; they are written in order.
//!
//! ```text
//! worker A   |read 0|parse price format|…|write 0|read 2|parse
//! worker B          |read 1|parse price format|…|write 1|read 3|
//! ```
//!
//! Within a block, a few hundred contracts at a time go through all steps, so that their columns
//! and prices stay in the first-level cache.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use swath::Source;
use swath::append::{Ordered, Ticket};
use swath::machine::Mutex;

use super::columns::Contracts;
use super::line::{self, LineFault};
use super::pricing::{Difference, format_prices, price};
use super::supply::{LineBlock, LineSupply};
use super::{PriceJob, PricingOutcome};
use crate::error::Result;
use crate::number::format::push_u64;
use crate::spare::Spare;

/// Number of contracts that go through all steps together.
const BATCH: usize = 256;

/// State that the workers share.
struct PriceState {
    path: PathBuf,
    texts: Spare<Vec<u8>>,
    desks: Spare<Desk>,
    done: Mutex<PricingOutcome>,
}

/// The buffers of one worker.
struct Desk {
    contracts: Contracts,
    prices: Vec<f64>,
}

/// The times of one block.
#[derive(Default)]
struct Times {
    read: Duration,
    compute: Duration,
}

pub(super) fn run(
    job: &PriceJob<'_>,
    source: Source,
    output: &Ordered,
) -> Result<PricingOutcome> {
    let reader = job.read.reader(source)?;
    let shared = PriceState {
        path: reader.path().to_owned(),
        texts: Spare::new(),
        desks: Spare::new(),
        done: Mutex::default(),
    };
    let mut supply = LineSupply::new(reader, &shared.texts, job.block_size);
    let blocks = std::iter::from_fn(|| {
        let start = Instant::now();
        let block = supply.next()?;
        shared.done.lock().read += start.elapsed();
        Some(block)
    });
    output.map_ordered(blocks, job.workers, |block, ticket| shared.block(block?, ticket))?;
    Ok(shared.done.into_inner())
}

impl PriceState {
    fn path(&self) -> &Path {
        &self.path
    }

    fn block(&self, block: LineBlock, ticket: &mut Ticket) -> Result<()> {
        let mut desk = match self.desks.take() {
            Some(desk) => desk,
            None => Desk { contracts: Contracts::zeroed(BATCH)?, prices: vec![0.0; BATCH] },
        };
        let out = ticket.buffer();
        if let Some(declared) = block.declared {
            push_u64(out, declared);
            out.push(b'\n');
        }
        let mut times = Times::default();
        let mut difference = Difference::default();
        let (mut index, mut at) = (0, 0);
        while index < block.contracts {
            let count = BATCH.min(block.contracts - index);
            let text = &block.text()[at..];
            let (len, apart) = self
                .batch(&mut desk, text, count, out, &mut times)
                .map_err(|wrong| block.error(self.path(), wrong, index, at))?;
            difference = difference.and(apart);
            index += count;
            at += len;
        }
        let mut done = self.done.lock();
        done.contracts += block.contracts as u64;
        done.bytes_in += block.len();
        done.read += times.read;
        done.compute += times.compute;
        done.difference = done.difference.and(difference);
        drop(done);
        self.desks.put(desk);
        self.texts.put(block.into_buffer());
        Ok(())
    }

    /// Takes `count` contracts of `text` through all steps; returns their length in bytes.
    fn batch(
        &self,
        desk: &mut Desk,
        text: &[u8],
        count: usize,
        out: &mut Vec<u8>,
        times: &mut Times,
    ) -> std::result::Result<(usize, Difference), LineFault> {
        let start = Instant::now();
        let len = line::parse(text, &mut desk.contracts.part_mut().take(count))?;
        let parsed = Instant::now();
        let prices = &mut desk.prices[..count];
        let apart = price(&desk.contracts, prices);
        let priced = Instant::now();
        format_prices(prices, out);
        times.read += parsed - start;
        times.compute += priced - parsed;
        Ok((len, apart))
    }
}
