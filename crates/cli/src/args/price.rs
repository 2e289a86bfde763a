//! What `swath price` takes.

use clap::{Args, ValueHint};
use swath::ReadOptions;
use swath_formats::contracts::PriceOptions;

use super::compress::OutputArgs;
use super::read::ProfileArgs;
use super::size::parse_size;
use super::verbs::input;
use crate::input::Input;

/// `swath price`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath price options.txt -o prices.txt
  swath price options.txt -o prices.txt --check     exit 1 if a price is off
  swath price options.txt -o prices.txt --workers 4 --force --json
  zcat options.txt.gz | swath price - -o - | head

The input is that of PARSEC's Blackscholes: a line with the count, then a line for each contract:
  S K r q volatility T C|P dividends reference
The output is the count, and a line for each price, with 18 decimals. It is the same for every
number of workers.")]
pub struct Price {
    /// The contracts; `-` is standard input
    #[arg(value_name = "OPTIONS", value_parser = input(), value_hint = ValueHint::FilePath)]
    pub from: Input,

    /// The prices, a folder for them, or `-` for standard output
    ///
    /// They appear in one step when all of them are there.
    #[arg(short = 'o', long = "output", value_name = "PRICES", value_parser = input(), value_hint = ValueHint::AnyPath)]
    pub to: Input,

    /// Compare with the last field of each line: exit 1 if a price is 0.0001 or more away from it
    #[arg(long)]
    pub check: bool,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Bytes of contracts that a worker takes at a time; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub block_size: u64,

    /// Where to leave it.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Whether what was measured is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Price {
    /// Returns the library's options for these words.
    pub fn options(&self, read: ReadOptions) -> PriceOptions {
        PriceOptions::new()
            .with_block_size(self.block_size)
            .with_read(read.with_workers(self.workers))
    }
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
