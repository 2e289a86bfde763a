//! What `swath gen` makes: one word for each kind of input.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use swath_study::many::tree::Spread;

use super::size::parse_size;
use super::timeline::TimelineArgs;
use super::words::words;

/// `swath gen`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath gen bytes 2GiB -o data.bin
  swath gen letters 64MiB --seed 7 -o letters.txt
  swath gen csv-numbers 1GB -o numbers.csv
  swath gen csv 500MB --columns 8 --decimals 6 -o table.csv
  swath gen mtx --scale 22 -o graph.mtx
  swath gen options 2500000 -o options.txt
  swath gen tree --files 100000 --size 10kB -o tree/")]
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
    /// A table of numbers with commas between
    Csv(Csv),
    /// A random graph as Matrix Market: R-MAT, degrees as those of the web
    Mtx(Graph),
    /// The same graph as a list of edges
    Edges(Graph),
    /// Option contracts for `swath price`, each with its right price
    Options(Contracts),
    /// Many files of text in folders of a thousand
    Tree(Tree),
}

/// A tree of files.
#[derive(Debug, Args)]
pub struct Tree {
    /// How many files
    #[arg(long, value_name = "N")]
    pub files: u64,

    /// How long each is; with a power law, the mean
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: u64,

    /// Files of one size, or few large and many small ones
    #[arg(long, value_name = "SPREAD", value_parser = words(SPREADS), default_value = "even")]
    pub spread: Spread,

    /// The folder; made if it is not there, refused if it holds something
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Another seed makes other files
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys
    #[arg(long)]
    pub json: bool,
}

const SPREADS: &[(&str, Spread)] = &[("even", Spread::Even), ("powerlaw", Spread::PowerLaw)];

/// A random graph.
#[derive(Debug, Args)]
pub struct Graph {
    /// Vertices: 2 to this power
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub scale: u32,

    /// Edges [default: 16 for each vertex]
    #[arg(long, value_name = "COUNT")]
    pub edges: Option<u64>,

    /// Where, and from which seed.
    #[command(flatten)]
    pub made: MadeArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// Option contracts.
#[derive(Debug, Args)]
pub struct Contracts {
    /// How many; they repeat after a thousand
    #[arg(value_name = "COUNT")]
    pub count: u64,

    /// Where, and from which seed.
    #[command(flatten)]
    pub made: MadeArgs,

    /// What to record.
    #[command(flatten)]
    pub timeline: TimelineArgs,
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

/// A table of numbers.
#[derive(Debug, Args)]
pub struct Csv {
    /// Numbers in a line
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub columns: u32,

    /// What a number looks like: whole, between 0 and 1, or between -1,000 and 1,000
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = NumberStyle::Fixed)]
    pub style: NumberStyle,

    /// Digits behind the point [default: 6, and 17 for fractions]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=60))]
    pub decimals: Option<u16>,

    /// How long, and where.
    #[command(flatten)]
    pub bytes: Bytes,
}

/// What a number looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NumberStyle {
    /// From 0 to 65,535
    Integers,
    /// From 0 to 1
    Fractions,
    /// From -1,000 to 1,000
    Fixed,
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
