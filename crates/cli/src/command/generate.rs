//! `swath gen`: makes a reproducible input.

mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use swath::OutputOptions;
use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath_study::workload::graph::{Rmat, Text};
use swath_study::workload::{Kind, Recipe, Style, Table, contracts, generate_synced};

use self::tree::Tree;
use super::{Command, Outcome};
use crate::args::{Files, TimelineArgs, parse_size};
use crate::failure::Refused;
use crate::output::{tell, wrote};
use crate::report::{PathJson, bytes_per_s, object, size_text, time_text};

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

impl Command for Gen {
    fn run(&self) -> Result<Outcome> {
        match &self.what {
            What::Bytes(bytes) => make_bytes(Kind::Bytes, bytes),
            What::Letters(bytes) => make_bytes(Kind::Letters, bytes),
            What::CsvNumbers(bytes) => make_bytes(Kind::CsvNumbers, bytes),
            What::Mtx(graph) => make_graph(graph, Text::MatrixMarket),
            What::Edges(graph) => make_graph(graph, Text::Edges),
            What::Options(contracts) => make_contracts(contracts),
            What::Tree(tree) => tree.run(),
            What::Csv(csv) => make_bytes(Kind::Csv(table(csv)), &csv.bytes),
        }
    }

    fn timeline(&self) -> Option<Files<'_>> {
        let (timeline, made) = match &self.what {
            What::Mtx(graph) | What::Edges(graph) => (&graph.timeline, &graph.made),
            What::Options(contracts) => (&contracts.timeline, &contracts.made),
            _ => return None,
        };
        Some(Files::beside(timeline).path(&made.output))
    }
}

fn table(csv: &Csv) -> Table {
    let decimals = |default| csv.decimals.map_or(default, usize::from);
    let style = match csv.style {
        NumberStyle::Integers => Style::Integers,
        NumberStyle::Fractions => Style::Fractions(decimals(17)),
        NumberStyle::Fixed => Style::Fixed(decimals(6)),
    };
    Table { columns: usize::try_from(csv.columns).unwrap_or(usize::MAX), style }
}

fn make_bytes(kind: Kind, bytes: &Bytes) -> Result<Outcome> {
    let args = &bytes.made;
    let start = Instant::now();
    let recipe = Recipe { kind, size: bytes.size, seed: args.seed };
    let made = generate_synced(recipe, &args.output, args.workers, durability(&args.output));
    let made = made.map_err(|error| match error.io_kind() {
        io::ErrorKind::NotFound => {
            let what =
                format!("cannot make {}: its folder is not there", args.output.display());
            Refused::new(what, "make the folder first").into()
        }
        kind => Refused::hinted(error.into(), hint(kind)),
    })?;
    report(args, start.elapsed(), made.bytes, made.lines, Some(made.sum))
}

fn make_graph(graph: &Graph, text: Text) -> Result<Outcome> {
    const DEGREE: u64 = 16;
    let args = &graph.made;
    let start = Instant::now();
    let edges = graph.edges.unwrap_or(DEGREE << graph.scale);
    let output = output_to(&args.output).with_timeline(graph.timeline.handle());
    let made = Rmat::new(graph.scale, edges).with_seed(args.seed);
    let output = OrderedOptions::new().with_output(output).ordered(&args.output)?;
    let written = made.write(text, args.workers, output)?;
    let head = if text == Text::MatrixMarket { 2 } else { 1 };
    report(args, start.elapsed(), written.bytes, edges + head, None)
}

fn make_contracts(contracts: &Contracts) -> Result<Outcome> {
    let args = &contracts.made;
    let start = Instant::now();
    let output = output_to(&args.output).with_timeline(contracts.timeline.handle());
    let output = OrderedOptions::new().with_output(output).ordered(&args.output)?;
    let written = contracts::generate(contracts.count, args.seed, args.workers, output)?;
    report(args, start.elapsed(), written.bytes, contracts.count + 1, None)
}

fn output_to(path: &Path) -> OutputOptions {
    OutputOptions::new().with_durability(durability(path))
}

/// What is made again in no time need not survive a power cut. What it takes the place of must: a
/// rename that is not synced may leave neither.
fn durability(path: &Path) -> Durability {
    if path.exists() { Durability::Full } else { Durability::None }
}

fn report(
    args: &MadeArgs,
    elapsed: Duration,
    bytes: u64,
    lines: u64,
    sum: Option<u64>,
) -> Result<Outcome> {
    let speed = bytes_per_s(bytes, elapsed);
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(&args.output),
        bytes,
        lines,
        #[serde(flatten)]
        sum: sum.map(|sum| object! { sum }),
        seed: args.seed,
        elapsed_s: elapsed.as_secs_f64(),
        bytes_per_s: speed,
    };
    let sum = sum.map_or_else(String::new, |sum| format!(", byte sum {sum}"));
    let text = format!(
        "{}: {}, {lines} newlines{sum}, in {}, {:.2} GB/s\n",
        args.output.display(),
        size_text(bytes),
        time_text(elapsed),
        speed / 1e9
    );
    wrote(&args.output, tell(args.json, &json, text))?;
    Ok(Outcome::Done)
}

/// What to try, where the library does not say it.
fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "another folder with -o"
        }
        io::ErrorKind::FileTooLarge => "a smaller size",
        _ => "the name of a regular file with -o",
    }
}
