//! Everything at once, on inputs of its own: what `swath demo` measures.
//!
//! A capability adds its rows to [`CAPABILITIES`] and has a file here; the rest follows.
//!
//! ```text
//! Stage (input, its bytes) → rows of each capability → rounds, interleaved → Findings → table
//! ```
//!
//! It is the short form of a study, in the same frame (`swath_study::measure`): a row is an entrant.
//!
//! Every run is checked against the bytes that were generated. What a row is compared with is
//! measured in the same minutes on the same file: the limits of the machine, and
//! `std::fs::read` or `std::fs::write`.

mod consume;
mod graph;
mod leave;
mod load;
mod many;
mod mirrors;
mod peer;
mod price;
mod priority;
mod rounds;
mod squeeze;
mod stage;
mod table;
mod tensors;

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result};
use swath_study::cache::{self, ColdBy};
use swath_study::facts::Facts;
use swath_study::limits::Limits;
use swath_study::results::State;

use self::rounds::Row;
use self::stage::Stage;

pub(crate) use self::stage::choose_folder;
pub(crate) use self::table::{json, text};

/// What each capability has to show.
const CAPABILITIES: [Rows; 11] = [
    peer::rows,
    load::rows,
    many::rows,
    priority::rows,
    mirrors::rows,
    consume::rows,
    leave::rows,
    squeeze::rows,
    graph::rows,
    tensors::rows,
    price::rows,
];

/// Makes the rows of one capability.
type Rows = fn(&Rc<Stage>) -> Result<Vec<Row>>;

/// Rounds of which the median is taken.
const ROUNDS: usize = 3;

/// Where the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// Into memory that the kernel has yet to give.
    Fresh,
    /// Into memory that was read into before.
    Reused,
    /// They are not kept.
    None,
}

/// What this machine could do at best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Summing memory.
    MemorySum,
    /// Copying into pages that exist.
    Copy,
    /// Reading past the page cache into pages that exist.
    DirectRead,
    /// Its bytes are not moved but worked on: no speed of memory or a device is its limit.
    Computing,
}

/// One line of the table: one way to do one thing.
#[derive(Clone, Copy)]
struct About {
    capability: &'static str,
    engine: &'static str,
    way: &'static str,
    /// Where the file is before a run; none is there where one is written.
    state: State,
    memory: Memory,
    limit: Limit,
    /// Others of the same state are compared with it.
    is_peer: bool,
    /// How many bytes it is about; none for all of the input.
    bytes: Option<u64>,
}

impl About {
    /// Of a file in the page cache, into fresh memory.
    const fn warm(capability: &'static str, engine: &'static str, way: &'static str) -> Self {
        let (state, memory, limit) = (State::Warm, Memory::Fresh, Limit::Copy);
        Self { capability, engine, way, state, memory, limit, is_peer: false, bytes: None }
    }
}

/// What came out of all rounds.
pub(crate) struct Findings {
    size: u64,
    facts: Facts,
    limits: Limits,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Findings {
    /// Whether every run of every row gave the right bytes.
    pub(crate) fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.is_right)
    }
}

/// Makes an input of `size` bytes below `folder`, measures, and removes it again.
pub(crate) fn measure(size: u64, folder: Option<&Path>) -> Result<Findings> {
    let (stage, mut notes) = Stage::set(size, folder)?;
    let stage = Rc::new(stage);
    let limits = Limits::measure(&stage.path, stage.workers, ROUNDS)
        .context("cannot measure the limits of this machine")?;
    let mut rows = Vec::new();
    for capability in CAPABILITIES {
        rows.extend(capability(&stage)?);
    }
    // As they come, `read` first.
    let all: Vec<_> = rows.iter().map(|row| row.about.capability).collect();
    rows.sort_by_key(|Row { about, .. }| {
        (all.iter().position(|it| *it == about.capability), about.state)
    });
    if let Err(error) = cache::make_cold(&stage.path, ColdBy::DontNeed) {
        notes.push(format!("no cold reads: {error:#}; try: --dir on a disk"));
        rows.retain(|row| row.about.state != State::Cold);
    }
    rounds::run(&mut rows, &mut notes)?;
    for row in rows.iter().filter(|row| !row.is_right) {
        notes.push(format!("WRONG BYTES: {}", row.name()));
    }
    rows.iter_mut().for_each(Row::let_go);
    let facts = stage.facts.clone();
    let stage = Rc::into_inner(stage).context("somebody still uses the input")?;
    stage.clear().context("cannot remove what the demo made")?;
    Ok(Findings { size, facts, limits, rows, notes })
}
