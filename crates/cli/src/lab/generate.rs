//! `swath gen`: generates a reproducible input.

mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use swath::OutputOptions;
use swath::append::{Ordered, OrderedOptions};
use swath::sink::Durability;
use swath_study::workload::graph::{Rmat, Text};
use swath_study::workload::{
    FileContent, Generated, Recipe, Style, Table, contracts, generate_file, generate_stream,
};

use self::tree::Tree;
use crate::args::{
    Files, ForceFlag, InPlaceFlag, OutFlag, TimelineArgs, count, input, parse_size, whole,
};
use crate::command::target::{Target, refused};
use crate::command::{Command, Outcome};
use crate::failure::Refused;
use crate::input::Input;
use crate::report::{PathJson, ReportName, bytes_per_s, object, size_text, time_and_speed};

/// `swath gen`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  swath gen bytes 2GiB data.bin
  swath gen letters 64MiB --seed 7 letters.txt
  swath gen csv-numbers 1GB -o numbers.csv
  swath gen csv 500MB --columns 8 --decimals 6 -o table.csv
  swath gen mtx --scale 22 graph.mtx
  swath gen options 2500000 options.txt
  swath gen tree --files 100000 --size 10kB tree/
  swath gen bytes 1GiB -o - | ssh host 'cat > data.bin'")]
pub struct Gen {
    /// The kind of input.
    #[command(subcommand)]
    pub what: InputKind,
}

/// The kind of input.
#[derive(Debug, Subcommand)]
pub enum InputKind {
    /// Random bytes
    Bytes(Bytes),
    /// Letters A to Z
    Letters(Bytes),
    /// Lines of 1,024 numbers, separated by commas
    CsvNumbers(Bytes),
    /// A table of numbers, separated by commas
    Csv(Csv),
    /// A random graph as Matrix Market: R-MAT, with degrees like those of the web
    Mtx(Graph),
    /// The random graph as a list of edges
    Edges(Graph),
    /// Option contracts for `swath price`, each with its correct price
    Options(Contracts),
    /// Many text files, a thousand in each folder
    Tree(Tree),
}

/// A random graph.
#[derive(Debug, Args)]
pub struct Graph {
    /// Vertices: 2 to this power
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<u32>(1..=32))]
    pub scale: u32,

    /// Edges [default: 16 for each vertex]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u64>(0..=u64::MAX))]
    pub edges: Option<u64>,

    /// Its output and its seed.
    #[command(flatten)]
    pub made: MadeArgs,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// Option contracts.
#[derive(Debug, Args)]
pub struct Contracts {
    /// How many; they repeat after a thousand
    #[arg(value_name = "COUNT", value_parser = whole::<u64>(0..=u64::MAX))]
    pub count: u64,

    /// Its output and its seed.
    #[command(flatten)]
    pub made: MadeArgs,

    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// An input of a given size.
#[derive(Debug, Args)]
pub struct Bytes {
    /// Size; text ends after the last complete line
    #[arg(value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: u64,

    /// Its output and its seed.
    #[command(flatten)]
    pub made: MadeArgs,
}

/// A table of numbers.
#[derive(Debug, Args)]
pub struct Csv {
    /// Numbers in a line
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = whole::<u32>(1..=10_000_000))]
    pub columns: u32,

    /// The kind of numbers: whole, between 0 and 1, or between -1,000 and 1,000
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = NumberStyle::Fixed)]
    pub style: NumberStyle,

    /// Digits after the decimal point [default: 6, and 17 for fractions]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=60))]
    pub decimals: Option<u16>,

    /// Its size and its output.
    #[command(flatten)]
    pub bytes: Bytes,
}

/// The kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NumberStyle {
    /// From 0 to 65,535
    Integers,
    /// From 0 to 1
    Fractions,
    /// From -1,000 to 1,000
    Fixed,
}

/// The flags of every kind that is one file.
#[derive(Debug, Args)]
pub struct MadeArgs {
    /// The file to make, or `-` for standard output; it appears in one step, once it is complete
    #[arg(value_name = "OUT", value_parser = input(), value_hint = ValueHint::FilePath, required_unless_present = "output")]
    pub to: Option<Input>,

    /// The word OUT as a flag.
    #[command(flatten)]
    pub flag: OutFlag,

    /// Whether it may exist.
    #[command(flatten)]
    pub existing: ForceFlag,

    /// Whether it is written where it is.
    #[command(flatten)]
    pub place: InPlaceFlag,

    /// Another seed makes another input
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX), default_value_t = 0)]
    pub seed: u64,

    /// Threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Print JSON, with units in its keys; to standard error if OUT is standard output
    #[arg(long)]
    pub json: bool,
}

impl MadeArgs {
    /// Returns the target.
    fn target(&self) -> Result<Target> {
        let Some(Input::Path(path)) = self.flag.or(&self.to) else { return Ok(Target::Stdout) };
        Ok(Target::at(path.clone())?)
    }

    /// Returns the library's options for a file at `path`.
    fn file_options(&self, path: &Path) -> OutputOptions {
        OutputOptions::new()
            .with_durability(durability(path))
            .with_replace(self.place.or(self.existing.replace()))
    }

    /// Begins to write the file, in order.
    fn ordered(&self, target: &Target, timeline: &TimelineArgs) -> Result<Ordered> {
        let stream = OutputOptions::new().with_timeline(timeline.handle());
        let file = match target {
            Target::Path(path) => self.file_options(path).with_timeline(timeline.handle()),
            Target::Stdout => OutputOptions::new(),
        };
        target.ordered(OrderedOptions::new(), file, stream)
    }
}

impl Command for Gen {
    fn run(&self) -> Result<Outcome> {
        match &self.what {
            InputKind::Bytes(bytes) => make_bytes(FileContent::Bytes, bytes),
            InputKind::Letters(bytes) => make_bytes(FileContent::Letters, bytes),
            InputKind::CsvNumbers(bytes) => make_bytes(FileContent::CsvNumbers, bytes),
            InputKind::Mtx(graph) => make_graph(graph, Text::MatrixMarket),
            InputKind::Edges(graph) => make_graph(graph, Text::Edges),
            InputKind::Options(contracts) => make_contracts(contracts),
            InputKind::Tree(tree) => tree.run(),
            InputKind::Csv(csv) => make_bytes(FileContent::Csv(table(csv)), &csv.bytes),
        }
    }

    fn timeline(&self) -> Option<Files<'_>> {
        let (timeline, made) = match &self.what {
            InputKind::Mtx(graph) | InputKind::Edges(graph) => (&graph.timeline, &graph.made),
            InputKind::Options(contracts) => (&contracts.timeline, &contracts.made),
            _ => return None,
        };
        Some(Files::beside(timeline).inputs(made.flag.or(&made.to)))
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

fn make_bytes(kind: FileContent, bytes: &Bytes) -> Result<Outcome> {
    let args = &bytes.made;
    let start = Instant::now();
    let recipe = Recipe { kind, size: bytes.size, seed: args.seed };
    let target = args.target()?;
    if kind == FileContent::Bytes {
        target.refuse_terminal("random bytes", Some(args.existing))?;
    }
    let made = match &target {
        Target::Path(path) if !target.is_stream() => make_file(recipe, args, path)?,
        _ => {
            let output = args.ordered(&target, &TimelineArgs::default())?;
            generate_stream(recipe, args.workers, output)?
        }
    };
    report(args, &target, start.elapsed(), made.bytes, made.lines, Some(made.sum))
}

/// Generates a file; all workers write blocks at their places.
fn make_file(recipe: Recipe, args: &MadeArgs, path: &Path) -> Result<Generated> {
    let made = generate_file(recipe, path, args.workers, args.file_options(path));
    made.map_err(|error| match error.io_kind() {
        io::ErrorKind::NotFound => {
            let what = format!("cannot make {}: its folder does not exist", path.shown());
            Refused::new(what, "make the folder first").into()
        }
        io::ErrorKind::AlreadyExists => refused(error.into(), path),
        kind => Refused::hinted(error.into(), hint(kind)),
    })
}

fn make_graph(graph: &Graph, text: Text) -> Result<Outcome> {
    const DEGREE: u64 = 16;
    let (args, target) = (&graph.made, graph.made.target()?);
    let start = Instant::now();
    let edges = graph.edges.unwrap_or(DEGREE << graph.scale);
    let made = Rmat::new(graph.scale, edges).with_seed(args.seed);
    let output = args.ordered(&target, &graph.timeline)?;
    let written = made.write(text, args.workers, output)?;
    let head = if text == Text::MatrixMarket { 2 } else { 1 };
    report(args, &target, start.elapsed(), written.bytes, edges + head, None)
}

fn make_contracts(contracts: &Contracts) -> Result<Outcome> {
    let (args, target) = (&contracts.made, contracts.made.target()?);
    let start = Instant::now();
    let output = args.ordered(&target, &contracts.timeline)?;
    let written = contracts::generate(contracts.count, args.seed, args.workers, output)?;
    report(args, &target, start.elapsed(), written.bytes, contracts.count + 1, None)
}

/// Returns no durability for a new file, which can be generated again. A file that replaces another
/// one must be durable: a rename that is not synced may lose both.
fn durability(path: &Path) -> Durability {
    if path.exists() { Durability::Full } else { Durability::None }
}

fn report(
    args: &MadeArgs,
    target: &Target,
    elapsed: Duration,
    bytes: u64,
    lines: u64,
    sum: Option<u64>,
) -> Result<Outcome> {
    let speed = bytes_per_s(bytes, elapsed);
    let label = target.label();
    let json = object! {
        #[serde(flatten)]
        path: PathJson::from(&label),
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
        "{}: {}, {lines} newlines{sum}, in {}\n",
        PathBuf::from(label).shown(),
        size_text(bytes),
        time_and_speed(bytes, elapsed),
    );
    target.tell(args.json, &json, &text)?;
    Ok(Outcome::Done)
}

/// Returns a hint, where the library has none.
fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose another folder with -o"
        }
        io::ErrorKind::FileTooLarge => "choose a smaller size",
        _ => "name a regular file with -o",
    }
}
