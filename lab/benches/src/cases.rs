//! The table of cases. Each group has a file.

mod appends;
mod cold;
mod compress;
mod copy;
mod files;
mod filter;
mod fork;
mod graph;
mod levels;
mod memory;
mod mirrors;
mod ordered;
mod reader;
mod small;
mod sum;
mod table;
mod texts;
mod timeline;
mod tuned;
mod waits;
mod warm;
mod workers;

use crate::args::Args;
use crate::bench::{Bench, Size};
use crate::case::Ran;
use crate::contestants::compress::Packing;
use crate::contestants::files::FilesSetting;
use crate::contestants::waits::Answering;
use anyhow::{Result, ensure};
use appends::LEAF;
use files::Shape;
use swath_study::fields::text::TextField;
use swath_study::measure::Entrants;
use swath_study::results::State;
use texts::Recipes;

use What::{File, Files, Own, Text};

/// Builds the entrants of a case on many files.
type OfFiles = fn(&FilesSetting<'_>) -> Result<Entrants>;

/// The input of a case, and its entrants.
#[derive(Clone, Copy)]
enum What {
    /// One file.
    File(Size, fn(&Bench, Size) -> Result<Entrants>),
    Text(Recipes, fn(&Bench, &TextField) -> Result<Entrants>),
    Files(Shape, State, OfFiles),
    /// An input of the case's own, with a label.
    Own(&'static str, fn(&Bench) -> Result<Entrants>),
}

/// One case: the name of its group, its input and its entrants.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    group: &'static str,
    what: What,
}

const fn case(group: &'static str, what: What) -> Entry {
    Entry { group, what }
}

const ALL: &[Entry] = &[
    case("small", File(Size::Small, small::build)),
    case("warm", File(Size::Medium, warm::build)),
    case("warm", File(Size::Large, warm::build)),
    case("cold", File(Size::Medium, cold::build)),
    case("cold", File(Size::Large, cold::build)),
    case("three-reads", File(Size::Medium, cold::build_three_reads)),
    case("three-reads", File(Size::Large, cold::build_three_reads)),
    case("reader-warm", File(Size::Medium, |b, s| reader::build(b, s, State::Warm))),
    case("reader-warm", File(Size::Large, |b, s| reader::build(b, s, State::Warm))),
    case("reader-cold", File(Size::Medium, |b, s| reader::build(b, s, State::Cold))),
    case("reader-cold", File(Size::Large, |b, s| reader::build(b, s, State::Cold))),
    case("sum", File(Size::Medium, sum::build)),
    case("sum", File(Size::Large, sum::build)),
    case("newlines", File(Size::Large, sum::build_newlines)),
    case("filter", File(Size::Large, filter::build)),
    case("ordered", File(Size::Large, ordered::build)),
    case("ordered-memory", File(Size::Medium, ordered::build_memory)),
    case("cp", File(Size::Large, copy::build)),
    case("mirrors", File(Size::Medium, mirrors::build)),
    case("mirrors-one-device", File(Size::Study, mirrors::build_device)),
    case("tuned-warm", File(Size::Large, |b, s| tuned::build(b, s, State::Warm))),
    case("tuned-cold", File(Size::Large, |b, s| tuned::build(b, s, State::Cold))),
    case("timeline", File(Size::Large, timeline::build)),
    case("memory", File(Size::Medium, memory::build)),
    case("memory", File(Size::Large, memory::build)),
    case("files-warm", Files(Shape::WARM, State::Warm, files::build_warm)),
    case("files-cold", Files(Shape::COLD, State::Cold, files::build_cold)),
    case("files-calls", Files(Shape::COLD, State::None, files::build_calls)),
    case("tuned-files", Files(Shape::COLD, State::Warm, tuned::build_files)),
    case("tuned-files-cold", Files(Shape::COLD, State::Cold, tuned::build_files)),
    case("timeline-files", Files(Shape::WARM, State::Warm, timeline::build_files)),
    case("waits", Own("20ms", |b| waits::build(b, Answering::FAR))),
    case("waits", Own("20ms-and-1ms-a-MiB", |b| waits::build(b, Answering::FAR_AND_NARROW))),
    case("waits", Own("0ms", |b| waits::build(b, Answering::AT_ONCE))),
    case("waits", Own("one-lane", |b| waits::build(b, Answering::ONE_LANE))),
    case("waits", Own("busy", |b| waits::build(b, Answering::BUSY))),
    case("workers-read", File(Size::Medium, workers::build_read)),
    case("workers-read", File(Size::Large, workers::build_read)),
    case("workers-scan", File(Size::Medium, workers::build_scan)),
    case("workers-scan", File(Size::Large, workers::build_scan)),
    case("workers-records", File(Size::Medium, workers::build_records)),
    case("workers-records", File(Size::Large, workers::build_records)),
    case("workers-ingest", Files(Shape::COLD, State::Warm, workers::build_ingest)),
    case("workers-ordered", File(Size::Medium, workers::build_tickets)),
    case("workers-ordered", File(Size::Large, workers::build_tickets)),
    case("workers-append", File(Size::Medium, workers::build_append)),
    case("workers-append", File(Size::Large, workers::build_append)),
    case("appends", Own("10", |b| appends::build(b, 10, LEAF))),
    case("appends", Own("1000", |b| appends::build(b, 1_000, LEAF))),
    case("appends", Own("100000", |b| appends::build(b, 100_000, LEAF))),
    case("appends", Own("10000000", |b| appends::build(b, 10_000_000, LEAF))),
    case("appends", Own("10000000-joins", |b| appends::build(b, 10_000_000, 1))),
    case("compress", Own("zstd", |b| compress::build(b, Packing::Zstd))),
    case("compress", Own("gzip", |b| compress::build(b, Packing::Gzip))),
    case("compress", Own("bzip2", |b| compress::build(b, Packing::Bzip2))),
    case("join", Own("1-thread", |b| fork::build_join(b, 1))),
    case("join", Own("2-threads", |b| fork::build_join(b, 2))),
    case("stitch", Own("2-threads", |b| fork::build_stitch(b, 2))),
    case("coo", Text(Recipes::Pattern, graph::build_coo)),
    case("csr", Text(Recipes::Pattern, graph::build_csr)),
    case("mtx-write", Text(Recipes::Pattern, graph::build_write)),
    case("coo", Text(Recipes::Real, graph::build_real)),
    case("table", Text(Recipes::Integers, |b, t| table::build(b, t, 5.0))),
    case("table", Text(Recipes::Doubles, |b, t| table::build(b, t, 3.0))),
    case("table", Text(Recipes::Fixed, |b, t| table::build(b, t, 3.0))),
    case("table-slow", Text(Recipes::Integers, table::build_slow)),
    case("table-slow", Text(Recipes::Fixed, table::build_slow)),
    case("memory", Text(Recipes::Pattern, memory::build_graph)),
    case("memory", Text(Recipes::Integers, memory::build_table)),
    case("memory", Text(Recipes::Doubles, memory::build_table)),
    case("memory", Text(Recipes::Fixed, memory::build_table)),
    case("levels-coo", Text(Recipes::Pattern, levels::build_coo)),
    case("levels-csr", Text(Recipes::Pattern, levels::build_csr)),
    case("levels-table", Text(Recipes::Integers, levels::build_table)),
    case("levels-table", Text(Recipes::Doubles, levels::build_table)),
    case("levels-table", Text(Recipes::Fixed, levels::build_table)),
    case("levels-price", Own("contracts", levels::build_price)),
];

impl Entry {
    /// Returns the case's name: group and size.
    pub(crate) fn id(&self, bench: &Bench) -> String {
        self.id_of(bench.quick)
    }

    fn id_of(&self, quick: bool) -> String {
        let label = match self.what {
            What::File(size, _) => size.label(quick),
            What::Text(recipe, _) => recipe.word(),
            What::Files(shape, _, _) => shape.label(),
            What::Own(label, _) => label,
        };
        format!("{}-{label}", self.group)
    }

    /// Makes the input and runs the case.
    pub(crate) fn run(&self, bench: &Bench) -> Result<Ran> {
        let ran = self.entrants(bench).and_then(|entrants| bench.run(entrants));
        bench.stage.clear();
        ran
    }

    fn entrants(&self, bench: &Bench) -> Result<Entrants> {
        match self.what {
            What::File(size, build) => build(bench, size),
            What::Own(_, build) => build(bench),
            What::Text(recipe, build) => build(bench, &recipe.make(bench)?),
            What::Files(shape, state, build) => {
                let files = shape.make(bench)?;
                build(&FilesSetting { bench, files, state })
            }
        }
    }
}

/// Returns the cases that `--only` names, or all.
pub(crate) fn chosen(args: &Args) -> Result<Vec<Entry>> {
    let names =
        |entry: &Entry, word: &str| entry.group == word || entry.id_of(args.quick) == word;
    for word in &args.only {
        let known = ALL.iter().any(|entry| names(entry, word));
        ensure!(known, "there is no case {word}; the cases are {}", all_ids(args.quick));
    }
    let wanted = |entry: &&Entry| {
        args.only.is_empty() || args.only.iter().any(|word| names(entry, word))
    };
    Ok(ALL.iter().filter(wanted).copied().collect())
}

fn all_ids(quick: bool) -> String {
    ALL.iter().map(|entry| entry.id_of(quick)).collect::<Vec<_>>().join(", ")
}
