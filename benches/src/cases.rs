//! The table of cases: one file per group.

mod classes;
mod cold;
mod compress;
mod copy;
mod files;
mod fork;
mod graph;
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
mod table;
mod texts;
mod timeline;
mod tuned;
mod waits;
mod warm;

use crate::args::Args;
use crate::bench::{Bench, Size};
use crate::case::Outcome;
use crate::contestants::compress::Packing;
use crate::contestants::file::Residency;
use crate::contestants::files::Setting;
use crate::contestants::text::Text;
use crate::contestants::waits::Answering;
use anyhow::{Result, ensure};
use files::Shape;
use swath_study::measure::Entrants;
use swath_study::results::State;
use texts::Recipes;

/// Many files in a state.
type OfFiles = fn(&Setting<'_>) -> Result<Entrants>;

/// What a case is about, and who takes part in it.
#[derive(Clone, Copy)]
enum What {
    /// One file.
    File(Size, fn(&Bench, Size) -> Result<Entrants>),
    /// No file, but so many items in order.
    Items(fn(&Bench, usize) -> Result<Entrants>),
    /// No file, but so many threads that fork.
    Forks(usize, fn(&Bench, usize) -> Result<Entrants>),
    Archive(Packing),
    Text(Recipes, fn(&Bench, &Text) -> Result<Entrants>),
    Files(Shape, State, OfFiles),
    Waits(Answering),
}

/// One case: a group's name and what it measures.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    group: &'static str,
    what: What,
}

const fn file(
    group: &'static str,
    size: Size,
    build: fn(&Bench, Size) -> Result<Entrants>,
) -> Entry {
    Entry { group, what: What::File(size, build) }
}

const fn items(group: &'static str, build: fn(&Bench, usize) -> Result<Entrants>) -> Entry {
    Entry { group, what: What::Items(build) }
}

const fn forks(
    group: &'static str,
    threads: usize,
    build: fn(&Bench, usize) -> Result<Entrants>,
) -> Entry {
    Entry { group, what: What::Forks(threads, build) }
}

const fn archive(packing: Packing) -> Entry {
    Entry { group: "compress", what: What::Archive(packing) }
}

const fn text(
    group: &'static str,
    recipe: Recipes,
    build: fn(&Bench, &Text) -> Result<Entrants>,
) -> Entry {
    Entry { group, what: What::Text(recipe, build) }
}

const fn files(group: &'static str, shape: Shape, state: State, build: OfFiles) -> Entry {
    Entry { group, what: What::Files(shape, state, build) }
}

const fn waits(answering: Answering) -> Entry {
    Entry { group: "waits", what: What::Waits(answering) }
}

/// How many items are kept in order, and how people call that.
const fn item_count(quick: bool) -> (usize, &'static str) {
    if quick { (1000, "1k") } else { (1_000_000, "1M") }
}

const ALL: &[Entry] = &[
    file("small", Size::Small, small::build),
    file("warm", Size::Medium, warm::build),
    file("warm", Size::Large, warm::build),
    file("cold", Size::Medium, cold::build),
    file("cold", Size::Large, cold::build),
    file("three-reads", Size::Medium, cold::build_three_reads),
    file("three-reads", Size::Large, cold::build_three_reads),
    file("reader-warm", Size::Medium, |b, s| reader::build(b, s, Residency::Warm)),
    file("reader-warm", Size::Large, |b, s| reader::build(b, s, Residency::Warm)),
    file("reader-cold", Size::Medium, |b, s| reader::build(b, s, Residency::Cold)),
    file("reader-cold", Size::Large, |b, s| reader::build(b, s, Residency::Cold)),
    file("sum", Size::Medium, sum::build),
    file("sum", Size::Large, sum::build),
    file("newlines", Size::Large, sum::build_newlines),
    file("regret-warm", Size::Small, |b, s| regret::build(b, s, Residency::Warm)),
    file("regret-warm", Size::Medium, |b, s| regret::build(b, s, Residency::Warm)),
    file("regret-warm", Size::Large, |b, s| regret::build(b, s, Residency::Warm)),
    file("regret-cold", Size::Medium, |b, s| regret::build(b, s, Residency::Cold)),
    file("regret-cold", Size::Large, |b, s| regret::build(b, s, Residency::Cold)),
    file("regret-half", Size::Large, |b, s| regret::build(b, s, Residency::Half)),
    file("classes", Size::Study, classes::build),
    file("ordered", Size::Large, ordered::build),
    file("ordered-memory", Size::Medium, ordered::build_memory),
    file("cp", Size::Large, copy::build),
    file("mirrors", Size::Medium, mirrors::build),
    file("mirrors-one-device", Size::Study, mirrors::build_device),
    file("tuned-warm", Size::Large, |b, s| tuned::build(b, s, Residency::Warm)),
    file("tuned-cold", Size::Large, |b, s| tuned::build(b, s, Residency::Cold)),
    file("timeline", Size::Large, timeline::build),
    file("memory", Size::Medium, memory::build),
    file("memory", Size::Large, memory::build),
    files("files-warm", Shape::WARM, State::Warm, files::build_warm),
    files("files-cold", Shape::COLD, State::Cold, files::build_cold),
    files("files-study", Shape::SMALL, State::Warm, files::build_study),
    files("files-study", Shape::MEDIUM, State::Warm, files::build_study),
    files("files-study", Shape::LARGE, State::Warm, files::build_study),
    files("files-study-cold", Shape::SMALL, State::Cold, files::build_study),
    files("files-study-cold", Shape::MEDIUM, State::Cold, files::build_study),
    files("files-study-cold", Shape::LARGE, State::Cold, files::build_study),
    files("files-lines", Shape::LINES[0], State::Warm, files::build_lines),
    files("files-lines", Shape::LINES[1], State::Warm, files::build_lines),
    files("files-lines", Shape::LINES[2], State::Warm, files::build_lines),
    files("files-calls", Shape::COLD, State::None, files::build_calls),
    files("tuned-files", Shape::COLD, State::Warm, tuned::build_files),
    files("tuned-files-cold", Shape::COLD, State::Cold, tuned::build_files),
    files("timeline-files", Shape::WARM, State::Warm, timeline::build_files),
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
    text("table", Recipes::Integers, |b, t| table::build(b, t, 5.0)),
    text("table", Recipes::Doubles, |b, t| table::build(b, t, 3.0)),
    text("table", Recipes::Fixed, |b, t| table::build(b, t, 3.0)),
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
            What::File(size, _) => size.label(quick),
            What::Items(_) => item_count(quick).1,
            What::Archive(packing) => packing.word(),
            What::Text(recipe, _) => recipe.word(),
            What::Files(shape, _, _) => shape.label(),
            What::Waits(answering) => answering.word,
            What::Forks(threads, _) => {
                let noun = if threads == 1 { "thread" } else { "threads" };
                return format!("{}-{threads}-{noun}", self.group);
            }
        };
        format!("{}-{label}", self.group)
    }

    /// Makes the input, runs the case and says what came of it.
    pub(crate) fn run(&self, bench: &Bench) -> Outcome {
        let ran = self.entrants(bench).and_then(|entrants| bench.run(entrants));
        bench.stage.clear();
        match ran {
            Ok(ran) => Outcome::Ran(ran),
            Err(error) => Outcome::Failed(format!("{error:#}")),
        }
    }

    fn entrants(&self, bench: &Bench) -> Result<Entrants> {
        match self.what {
            What::File(size, build) => build(bench, size),
            What::Forks(threads, build) => build(bench, threads),
            What::Items(build) => build(bench, item_count(bench.quick).0),
            What::Archive(packing) => compress::build(bench, packing),
            What::Text(recipe, build) => build(bench, &recipe.make(bench)?),
            What::Files(shape, state, build) => {
                let files = shape.make(bench)?;
                let repeats = if state == State::Warm { shape.repeats() } else { 1 };
                build(&Setting { bench, files, state, repeats })
            }
            What::Waits(answering) => waits::build(bench, answering),
        }
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
