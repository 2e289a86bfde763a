//! `swath gen`: makes a reproducible input.

mod tree;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use swath::OutputOptions;

use anyhow::Result;
use serde::Serialize;
use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath_study::workload::graph::{Rmat, Text};
use swath_study::workload::{Kind, Recipe, Style, Table, contracts, generate_synced};

use super::Outcome;
use crate::args::generate::{Bytes, Contracts, Csv, Gen, Graph, MadeArgs, NumberStyle, What};
use crate::failure::Refused;
use crate::output::{print, print_json, wrote};
use crate::report::{PathJson, bytes_per_s, size_text, time_text};

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    path: PathJson,
    bytes: u64,
    lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u64>,
    seed: u64,
    elapsed_s: f64,
    bytes_per_s: f64,
}

pub(super) fn run(args: &Gen) -> Result<Outcome> {
    match &args.what {
        What::Bytes(bytes) => make_bytes(Kind::Bytes, bytes),
        What::Letters(bytes) => make_bytes(Kind::Letters, bytes),
        What::CsvNumbers(bytes) => make_bytes(Kind::CsvNumbers, bytes),
        What::Mtx(graph) => make_graph(graph, Text::MatrixMarket),
        What::Edges(graph) => make_graph(graph, Text::Edges),
        What::Options(contracts) => make_contracts(contracts),
        What::Tree(args) => tree::run(args),
        What::Csv(csv) => make_bytes(Kind::Csv(table(csv)), &csv.bytes),
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
    if args.json {
        let json = Json {
            path: args.output.as_os_str().into(),
            bytes,
            lines,
            sum,
            seed: args.seed,
            elapsed_s: elapsed.as_secs_f64(),
            bytes_per_s: speed,
        };
        wrote(&args.output, print_json(&json))?;
    } else {
        let sum = sum.map_or_else(String::new, |sum| format!(", byte sum {sum}"));
        let text = format!(
            "{}: {}, {lines} newlines{sum}, in {}, {:.2} GB/s\n",
            args.output.display(),
            size_text(bytes),
            time_text(elapsed),
            speed / 1e9
        );
        wrote(&args.output, print(text))?;
    }
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
