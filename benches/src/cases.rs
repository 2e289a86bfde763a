//! The table of cases: one file per group.

mod cold;
mod copy;
mod memory;
mod ordered;
mod reader;
mod regret;
mod small;
mod sum;
mod warm;

use crate::args::Args;
use crate::bench::{Bench, Input, Size};
use crate::case::{Case, Outcome};
use anyhow::{Result, ensure};

/// How a case is put together from its input.
type Build = for<'b> fn(&'b Bench, &'b Input, Size) -> Result<Case<'b>>;

/// What the input consists of.
#[derive(Clone, Copy)]
enum Contents {
    Bytes,
    Numbers,
}

/// One case: a group's name and a size.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    group: &'static str,
    size: Size,
    contents: Contents,
    build: Build,
}

const fn bytes(group: &'static str, size: Size, build: Build) -> Entry {
    Entry { group, size, contents: Contents::Bytes, build }
}

const fn numbers(group: &'static str, size: Size, build: Build) -> Entry {
    Entry { group, size, contents: Contents::Numbers, build }
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
    bytes("regret-warm", Size::Small, regret::build_warm),
    bytes("regret-warm", Size::Medium, regret::build_warm),
    bytes("regret-warm", Size::Large, regret::build_warm),
    bytes("regret-cold", Size::Medium, regret::build_cold),
    bytes("regret-cold", Size::Large, regret::build_cold),
    bytes("regret-half", Size::Large, regret::build_half),
    bytes("ordered", Size::Large, ordered::build),
    bytes("ordered-memory", Size::Medium, ordered::build_memory),
    bytes("cp", Size::Large, copy::build),
    bytes("memory", Size::Medium, memory::build),
    bytes("memory", Size::Large, memory::build),
];

impl Entry {
    /// Returns the case's name: group and size.
    pub(crate) fn id(&self, bench: &Bench) -> String {
        self.id_of(bench.quick)
    }

    fn id_of(&self, quick: bool) -> String {
        format!("{}-{}", self.group, self.size.label(quick))
    }

    /// Makes the input, runs the case and says what came of it.
    pub(crate) fn run(&self, bench: &Bench) -> Outcome {
        self.try_run(bench).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
    }

    fn try_run(&self, bench: &Bench) -> Result<Outcome> {
        let input = match self.contents {
            Contents::Bytes => bench.bytes(self.size)?,
            Contents::Numbers => bench.numbers(self.size)?,
        };
        (self.build)(bench, &input, self.size)?.run(bench.rounds)
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
