//! The table of cases: one file per group.

mod classes;
mod cold;
mod compress;
mod copy;
mod files;
mod fork;
pub(crate) mod graph;
mod insert;
mod levels;
mod memory;
mod mirrors;
mod ordered;
mod price;
mod reader;
mod regret;
mod seek;
mod small;
mod sum;
pub(crate) mod table;
mod texts;
mod timeline;
mod tuned;
mod waits;
mod warm;

use crate::args::Args;
use crate::bench::{Bench, Input, Size};
use crate::case::{Case, Outcome};
use crate::contestants::compress::Packing;
use crate::contestants::text::Text;
use crate::contestants::waits::Answering;
use crate::trees::{Files, Shape};
use anyhow::{Result, ensure};
use texts::Recipes;

/// How a case is put together from its input.
type Build = for<'b> fn(&'b Bench, &'b Input, Size) -> Result<Case<'b>>;

/// How a case is put together that reads no file but keeps this many items in order.
type BuildOfItems = for<'b> fn(&'b Bench, usize) -> Result<Case<'b>>;

/// How a case is put together that reads no file but forks on so many threads.
type BuildOfForks = for<'b> fn(&'b Bench, usize) -> Result<Case<'b>>;

/// How a case is put together from a text.
type BuildOfText = for<'b> fn(&'b Bench, &'b Text) -> Result<Case<'b>>;

/// How a case is put together from many files.
type BuildOfFiles = for<'b> fn(&'b Bench, &'b Files) -> Result<Case<'b>>;

/// What the input consists of, and what is done with it.
#[derive(Clone, Copy)]
enum What {
    Bytes(Size, Build),
    Numbers(Size, Build),
    Items(BuildOfItems),
    Forks(BuildOfForks, usize),
    Archive(Packing),
    Text(Recipes, BuildOfText),
    Files(Shape, BuildOfFiles),
    Waits(Answering),
}

/// One case: a group's name and what it measures.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    group: &'static str,
    what: What,
}

const fn bytes(group: &'static str, size: Size, build: Build) -> Entry {
    Entry { group, what: What::Bytes(size, build) }
}

const fn numbers(group: &'static str, size: Size, build: Build) -> Entry {
    Entry { group, what: What::Numbers(size, build) }
}

const fn items(group: &'static str, build: BuildOfItems) -> Entry {
    Entry { group, what: What::Items(build) }
}

const fn forks(group: &'static str, threads: usize, build: BuildOfForks) -> Entry {
    Entry { group, what: What::Forks(build, threads) }
}

const fn archive(packing: Packing) -> Entry {
    Entry { group: "compress", what: What::Archive(packing) }
}

const fn text(group: &'static str, recipe: Recipes, build: BuildOfText) -> Entry {
    Entry { group, what: What::Text(recipe, build) }
}

const fn files(group: &'static str, shape: Shape, build: BuildOfFiles) -> Entry {
    Entry { group, what: What::Files(shape, build) }
}

const fn waits(answering: Answering) -> Entry {
    Entry { group: "waits", what: What::Waits(answering) }
}

/// How many items are kept in order, and how people call that.
const fn item_count(quick: bool) -> (usize, &'static str) {
    if quick { (1000, "1k") } else { (1_000_000, "1M") }
}

const ALL: &[Entry] = &[
    bytes("small", Size::Small, small::build),
    bytes("warm", Size::Medium, warm::build),
    bytes("warm", Size::Large, warm::build),
    bytes("cold", Size::Medium, cold::build),
    bytes("cold", Size::Large, cold::build),
    bytes("three-reads", Size::Medium, cold::build_three_reads),
    bytes("three-reads", Size::Large, cold::build_three_reads),
    bytes("reader-warm", Size::Medium, reader::build_warm),
    bytes("reader-warm", Size::Large, reader::build_warm),
    bytes("reader-cold", Size::Medium, reader::build_cold),
    bytes("reader-cold", Size::Large, reader::build_cold),
    numbers("sum", Size::Medium, sum::build),
    numbers("sum", Size::Large, sum::build),
    numbers("newlines", Size::Large, sum::build_newlines),
    bytes("regret-warm", Size::Small, regret::build_warm),
    bytes("regret-warm", Size::Medium, regret::build_warm),
    bytes("regret-warm", Size::Large, regret::build_warm),
    bytes("regret-cold", Size::Medium, regret::build_cold),
    bytes("regret-cold", Size::Large, regret::build_cold),
    bytes("regret-half", Size::Large, regret::build_half),
    bytes("classes", Size::Study, classes::build),
    bytes("ordered", Size::Large, ordered::build),
    bytes("ordered-memory", Size::Medium, ordered::build_memory),
    bytes("cp", Size::Large, copy::build),
    bytes("mirrors", Size::Medium, mirrors::build),
    bytes("mirrors-one-device", Size::Study, mirrors::build_device),
    bytes("tuned-warm", Size::Large, tuned::build_warm),
    bytes("tuned-cold", Size::Large, tuned::build_cold),
    bytes("timeline", Size::Large, timeline::build),
    bytes("memory", Size::Medium, memory::build),
    bytes("memory", Size::Large, memory::build),
    files("files-warm", Shape::WARM, files::build_warm),
    files("files-cold", Shape::COLD, files::build_cold),
    files("files-study", Shape::SMALL, files::build_study),
    files("files-study", Shape::MEDIUM, files::build_study),
    files("files-study", Shape::LARGE, files::build_study),
    files("files-study-cold", Shape::SMALL, files::build_study_cold),
    files("files-study-cold", Shape::MEDIUM, files::build_study_cold),
    files("files-study-cold", Shape::LARGE, files::build_study_cold),
    files("files-lines", Shape::LINES[0], files::build_lines),
    files("files-lines", Shape::LINES[1], files::build_lines),
    files("files-lines", Shape::LINES[2], files::build_lines),
    files("files-calls", Shape::COLD, files::build_calls),
    files("tuned-files", Shape::COLD, tuned::build_files),
    files("tuned-files-cold", Shape::COLD, tuned::build_files_cold),
    files("timeline-files", Shape::WARM, timeline::build_files),
    waits(Answering::FAR),
    waits(Answering::FAR_AND_NARROW),
    waits(Answering::AT_ONCE),
    waits(Answering::ONE_LANE),
    waits(Answering::BUSY),
    archive(Packing::Zstd),
    archive(Packing::Gzip),
    archive(Packing::Bzip2),
    forks("fib", 1, fork::build_fib),
    forks("fib", 2, fork::build_fib),
    forks("fib", 4, fork::build_fib),
    forks("join", 1, fork::build_join),
    forks("join", 2, fork::build_join),
    forks("stitch", 2, fork::build_stitch),
    items("seek", seek::build),
    items("insert", insert::build),
    items("order-at-once", insert::build_at_once),
    text("coo", Recipes::Pattern, graph::build_coo),
    text("csr", Recipes::Pattern, graph::build_csr),
    text("mtx-write", Recipes::Pattern, graph::build_write),
    text("coo", Recipes::Real, graph::build_real),
    text("table", Recipes::Integers, table::build_integers),
    text("table", Recipes::Doubles, table::build),
    text("table", Recipes::Fixed, table::build),
    text("table-slow", Recipes::Integers, table::build_slow),
    text("table-slow", Recipes::Fixed, table::build_slow),
    text("memory", Recipes::Pattern, memory::build_graph),
    text("memory", Recipes::Integers, memory::build_table),
    text("memory", Recipes::Doubles, memory::build_table),
    text("memory", Recipes::Fixed, memory::build_table),
    text("price", Recipes::Contracts, price::build),
    text("levels-coo", Recipes::Pattern, levels::build_coo),
    text("levels-csr", Recipes::Pattern, levels::build_csr),
    text("levels-table", Recipes::Integers, levels::build_table),
    text("levels-table", Recipes::Doubles, levels::build_table),
    text("levels-table", Recipes::Fixed, levels::build_table),
    text("levels-price", Recipes::Contracts, levels::build_price),
];

impl Entry {
    /// Returns the case's name: group and size.
    pub(crate) fn id(&self, bench: &Bench) -> String {
        self.id_of(bench.quick)
    }

    fn id_of(&self, quick: bool) -> String {
        let label = match self.what {
            What::Bytes(size, _) | What::Numbers(size, _) => size.label(quick),
            What::Items(_) => item_count(quick).1,
            What::Archive(packing) => packing.word(),
            What::Text(recipe, _) => recipe.word(),
            What::Files(shape, _) => shape.label(),
            What::Waits(answering) => answering.word,
            What::Forks(_, threads) => {
                let noun = if threads == 1 { "thread" } else { "threads" };
                return format!("{}-{threads}-{noun}", self.group);
            }
        };
        format!("{}-{label}", self.group)
    }

    /// Makes the input, runs the case and says what came of it.
    pub(crate) fn run(&self, bench: &Bench) -> Outcome {
        self.try_run(bench).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
    }

    fn try_run(&self, bench: &Bench) -> Result<Outcome> {
        let (input, size, build) = match self.what {
            What::Bytes(size, build) => (bench.bytes(size)?, size, build),
            What::Numbers(size, build) => (bench.numbers(size)?, size, build),
            What::Forks(build, threads) => return build(bench, threads)?.run(bench.rounds),
            What::Text(recipe, build) => {
                let text = recipe.make(bench)?;
                return build(bench, &text)?.run(bench.rounds);
            }
            What::Files(shape, build) => {
                let files = Files::make(bench, shape)?;
                return build(bench, &files)?.run(bench.rounds);
            }
            What::Archive(packing) => {
                let input = compress::input(bench, packing)?;
                return compress::build(bench, &input, packing)?.run(bench.rounds);
            }
            What::Waits(answering) => return waits::build(bench, answering)?.run(bench.rounds),
            What::Items(build) => {
                return build(bench, item_count(bench.quick).0)?.run(bench.rounds);
            }
        };
        build(bench, &input, size)?.run(bench.rounds)
    }
}

/// Returns the cases that `--only` names, or all.
pub(crate) fn chosen(args: &Args) -> Result<Vec<Entry>> {
    let names =
        |entry: &Entry, word: &str| entry.group == word || entry.id_of(args.quick) == word;
    for word in &args.only {
        let known = ALL.iter().any(|entry| names(entry, word));
        ensure!(known, "no case is called {word}; there are {}", all_ids(args.quick));
    }
    let wanted = |entry: &&Entry| {
        args.only.is_empty() || args.only.iter().any(|word| names(entry, word))
    };
    Ok(ALL.iter().filter(wanted).copied().collect())
}

fn all_ids(quick: bool) -> String {
    ALL.iter().map(|entry| entry.id_of(quick)).collect::<Vec<_>>().join(", ")
}
