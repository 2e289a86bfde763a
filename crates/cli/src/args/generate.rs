//! What `swath gen` makes: one word for each kind of input.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::size::parse_size;

/// `swath gen`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath gen bytes 2GiB -o data.bin
  swath gen letters 64MiB --seed 7 -o letters.txt
  swath gen csv-numbers 1GB -o numbers.csv")]
pub struct Gen {
    /// What it consists of.
    #[command(subcommand)]
    pub what: What,
}

/// What an input consists of.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Random bytes
    Bytes(Bytes),
    /// Letters A to Z
    Letters(Bytes),
    /// Lines of 1,024 numbers with commas between
    CsvNumbers(Bytes),
}

/// So many bytes of something.
#[derive(Debug, Args)]
pub struct Bytes {
    /// How long it is; lines end with the last whole one
    #[arg(value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: u64,

    /// Where, and from which seed.
    #[command(flatten)]
    pub made: MadeArgs,
}

/// What every kind takes.
#[derive(Debug, Args)]
pub struct MadeArgs {
    /// Where to write it; an existing file is replaced once the new one is complete
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Another seed makes another input
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}
