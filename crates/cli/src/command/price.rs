//! `swath price`: reads contracts, writes prices.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueHint};
use serde::Serialize;
use swath::ReadOptions;
use swath::append::OrderedOptions;
use swath_formats::contracts::{PriceOptions, Priced, TOLERANCE};

use super::target::{Target, note_all};
use super::{Command, Outcome};
use crate::args::{Files, OutputArgs, ProfileArgs, count, input, parse_size};
use crate::input::Input;
use crate::output::complain;
use crate::report::{PathJson, ReportName, counted, object, size_text, texts, time_text};

/// `swath price`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath price options.txt prices.txt
  swath price options.txt -o prices.txt --check     exit 1 if a price is off
  swath price options.txt prices.txt --workers 4 --force --json
  zcat options.txt.gz | swath price | head

The input has the format of PARSEC's Blackscholes: a line with the count, then a line for each contract:
  S K r q volatility T C|P dividends reference
The output is the count, then a line for each price, with 18 decimals. It is the same for every
number of workers.")]
pub struct Price {
    /// The contracts; `-` is standard input
    #[arg(value_name = "IN", default_value = "-", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The prices, a folder for them, or `-` for standard output [default: IN with the ending
    /// .prices; standard output if IN is standard input]
    ///
    /// The file appears in one step, once it is complete.
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Option<Input>,

    /// Compare with the last field of each line: exit 1 if a price differs by 0.0001 or more
    #[arg(long)]
    pub check: bool,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Bytes of contracts that a worker takes at a time; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub block_size: u64,

    /// Where to write it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Command for Price {
    fn run(&self) -> Result<Outcome> {
        let named = |path: &Path| path.file_name().map(|_| path.with_extension("prices"));
        let target = Target::choose(&self.from, self.output.flag.or(&self.to), named)?;
        let price = |read, input: &_, to| Ok(self.options(read).price(input, to)?);
        let priced = target.filled(
            &self.output,
            self.profile,
            &self.from,
            OrderedOptions::new(),
            price,
        )?;
        note_all(&self.from, &priced.fallbacks);
        target.report(&self.output, &json(&target, self, &priced), &text(&target, &priced))?;
        if !self.check || priced.off == 0 {
            return Ok(Outcome::Done);
        }
        let (from, off) = (&self.from, counted(priced.off, "price"));
        complain(format!("{from}: {off} of {} off by {TOLERANCE} or more", priced.contracts));
        Ok(Outcome::Differs)
    }

    fn timeline(&self) -> Option<Files<'_>> {
        Some(Files::of_output(&self.output, &self.to).input(&self.from))
    }
}

impl Price {
    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> PriceOptions {
        PriceOptions::new()
            .with_block_size(self.block_size)
            .with_read(read.with_workers(self.workers))
    }
}

/// Returns the contracts per second.
fn speed(priced: &Priced) -> f64 {
    priced.contracts as f64 / priced.elapsed.as_secs_f64().max(1e-9)
}

fn json(target: &Target, args: &Price, priced: &Priced) -> impl Serialize {
    let [read_share, compute_share, write_share] = priced.phases.shares();
    object! {
        #[serde(flatten)]
        path: PathJson::from(&target.label()),
        source: PathJson::from(args.from.label()),
        contracts: priced.contracts,
        workers: priced.workers,
        bytes_in: priced.bytes_in,
        bytes_out: priced.bytes_out,
        elapsed_s: priced.elapsed.as_secs_f64(),
        contracts_per_s: speed(priced),
        // Summed over all working threads.
        read_s: priced.phases.read.as_secs_f64(),
        compute_s: priced.phases.compute.as_secs_f64(),
        write_s: priced.phases.write.as_secs_f64(),
        // Shares of 1.
        read_share,
        compute_share,
        write_share,
        // Prices that differ from those in the file by the tolerance or more.
        off: priced.off,
        tolerance: TOLERANCE,
        largest_difference: priced.largest_difference,
        fallbacks: texts(&priced.fallbacks),
    }
}

fn text(target: &Target, priced: &Priced) -> String {
    let [read, compute, write] = priced.phases.shares().map(|share| share * 100.0);
    format!(
        "{}: {} from {}, in {}, {:.2} M contracts/s\n  \
         {}: read {read:.0} %, compute {compute:.0} %, write {write:.0} %\n  \
         largest difference from the file's own prices {:.1e}, {} off by {TOLERANCE} or more\n",
        Path::new(&target.label()).shown(),
        counted(priced.contracts, "price"),
        size_text(priced.bytes_in),
        time_text(priced.elapsed),
        speed(priced) / 1e6,
        counted(priced.workers as u64, "worker"),
        priced.largest_difference,
        priced.off,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        price: Price,
    }

    fn parsed(words: &[&str]) -> Result<Price, clap::Error> {
        let words = ["only", "a", "-o", "b"].iter().chain(words);
        Only::try_parse_from(words).map(|only| only.price)
    }

    #[test]
    fn nothing_said_leaves_every_choice_to_the_library() {
        let ours = parsed(&[]).expect("known words").options(ReadOptions::new());
        assert_eq!(format!("{ours:?}"), format!("{:?}", PriceOptions::new()));
    }

    #[test]
    fn every_word_is_an_option_of_the_library() {
        let words = ["--workers", "5", "--block-size", "4KiB"];
        let ours = parsed(&words).expect("known words").options(ReadOptions::new());
        let library = PriceOptions::new()
            .with_read(ReadOptions::new().with_workers(5))
            .with_block_size(4096);
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }
}
