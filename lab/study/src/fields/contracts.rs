//! Reading, pricing and writing option contracts in study C's forms.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use swath::append::{Ordered, OrderedOptions};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};

use crate::cache;
use crate::measure::{Entrant, Input, Meter, Outcome, Stage};
use crate::pricing::{Form, Priced, Pricing};
use crate::results::State;
use crate::workload::Generated;
use crate::workload::contracts::generate;

/// Begins an ordered output that is not synced.
///
/// # Errors
///
/// If the output cannot be made.
pub fn unsynced(path: &Path) -> Result<Ordered> {
    let output = OutputOptions::new().with_durability(Durability::None);
    Ok(OrderedOptions::new().with_output(output).ordered(path)?)
}

/// Contracts, and the expected prices.
pub struct Contracts {
    /// The text of the contracts.
    pub input: Rc<Input>,
    contracts: u64,
    /// The bytes of the expected prices, and their sum.
    right: Outcome,
    output: PathBuf,
}

impl Contracts {
    /// Makes `contracts` contracts, and prices them once.
    ///
    /// # Errors
    ///
    /// If they cannot be written or priced.
    pub fn new(stage: &Stage, contracts: u64) -> Result<Rc<Self>> {
        let input = stage.made(&format!("contracts-{contracts}"), |path| {
            let bytes = generate(contracts, stage.seed, 0, unsynced(path)?)?.bytes;
            let sum = ReadOptions::new().sum(path)?.value;
            Ok(Generated { bytes, lines: contracts + 1, sum })
        })?;
        let output = stage.output("prices");
        // The slow, obvious form gives the expected prices.
        let pricing = Pricing::new(Form::Lines).with_workers(1);
        let (right, _) = price(&input, &output, pricing, &mut Meter::default())?;
        Ok(Rc::new(Self { input, contracts, right, output }))
    }

    /// Returns an entrant that prices the contracts in a form, with this many threads.
    pub fn entrant(
        self: &Rc<Self>,
        series: &str,
        form: Form,
        threads: usize,
        state: State,
    ) -> Entrant {
        let here = Rc::clone(self);
        let work = move |input: &Input, meter: &mut Meter| {
            let pricing = Pricing::new(form).with_workers(threads);
            let (outcome, priced) = price(input, &here.output, pricing, meter)?;
            ensure!(priced.contracts == here.contracts, "{} contracts", priced.contracts);
            ensure!(priced.off == 0, "{} prices are wrong", priced.off);
            ensure!(outcome == here.right, "{outcome:?} is not what one thread writes");
            let [read, compute, write] = priced.shares;
            meter.note("read_share", read);
            meter.note("compute_share", compute);
            meter.note("write_share", write);
            Ok(Outcome { bytes: priced.bytes_in, ..outcome })
        };
        // The study's optimised form holds the input in memory several times.
        let room = 4 * self.input.len();
        self.input
            .entrant(series, state, work)
            .giving(self.right.checksum)
            .with_before(move || cache::touch_memory(room).context("cannot touch memory"))
    }
}

/// Prices the contracts into a file, sums its bytes, and removes it.
fn price(
    input: &Input,
    output: &Path,
    pricing: Pricing,
    meter: &mut Meter,
) -> Result<(Outcome, Priced)> {
    let to = unsynced(output)?;
    let priced = meter.watch(|| pricing.price(&input.path, to))??;
    meter.fell_back(priced.fallbacks.clone());
    let checksum = ReadOptions::new().sum(output)?.value;
    fs::remove_file(output)?;
    Ok((Outcome { bytes: priced.bytes_out, checksum }, priced))
}
