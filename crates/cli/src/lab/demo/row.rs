//! A row: one way to do one thing, and how long it took.

use std::rc::Rc;

use anyhow::Result;
use swath_profile::stats;
use swath_study::fields::file::FileMemory;
use swath_study::measure::{Entrant, Input, Meter, Outcome};
use swath_study::results::State;

use super::stage::Stage;

/// The outcome of a row whose bytes, or the results computed from them, are right.
const RIGHT: Outcome = Outcome { bytes: 0, checksum: 1 };

/// A limit of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Summing memory.
    MemorySum,
    /// Copying into pages that exist.
    Copy,
    /// Reading past the page cache into pages that exist.
    DirectRead,
    /// The processor: the row computes rather than moves bytes.
    Computing,
}

/// One of the five lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Line {
    Warm,
    Cold,
    Write,
    Parse,
    SmallFiles,
}

/// One line of the table: one way to do one thing.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) capability: &'static str,
    pub(super) engine: &'static str,
    pub(super) way: &'static str,
    /// The state of the file before a run; `None` if the run writes it.
    pub(super) state: State,
    /// Where the bytes go; `None` if they are not kept.
    pub(super) memory: Option<FileMemory>,
    pub(super) limit: Limit,
    /// Whether other rows of the same state are compared with it.
    pub(super) is_peer: bool,
    /// Bytes that it processes; `None` for the whole input, 0 if its speed has no meaning.
    pub(super) bytes: Option<u64>,
    /// Its line of the five: a peer shows the usual way, another row Swath.
    pub(super) line: Option<Line>,
}

/// The memory of most reads.
const FRESH: &str = "fresh buffer";

impl About {
    /// Describes a read of a file in the page cache, into fresh memory.
    pub(super) const fn warm(
        capability: &'static str,
        engine: &'static str,
        way: &'static str,
    ) -> Self {
        let (state, memory, limit) = (State::Warm, Some(FileMemory::Fresh), Limit::Copy);
        let (is_peer, bytes, line) = (false, None, None);
        Self { capability, engine, way, state, memory, limit, is_peer, bytes, line }
    }

    /// Describes a read of a file in the page cache into a fresh buffer.
    pub(super) const fn read(engine: &'static str) -> Self {
        Self::warm("read", engine, FRESH)
    }

    /// Returns its name in the table, below the name of its group.
    pub(super) fn name(&self) -> String {
        let mut parts = vec![self.engine, self.way];
        parts.retain(|part| !part.is_empty() && *part != FRESH);
        if self.state == State::Cold {
            parts.push("cold");
        }
        parts.join(", ")
    }
}

/// A row and its results.
pub(super) struct DemoRow {
    pub(super) about: About,
    /// `None` once all rounds are over.
    pub(super) entrant: Option<Entrant>,
    pub(super) is_right: bool,
    /// The seconds of each round.
    pub(super) seconds: Vec<f64>,
}

impl DemoRow {
    /// Returns a row; `work` runs it once, and returns whether the result is right.
    pub(super) fn new(
        stage: &Rc<Stage>,
        about: About,
        mut work: impl FnMut(&Stage, &mut Meter) -> Result<bool> + 'static,
    ) -> Self {
        let here = Rc::clone(stage);
        // Otherwise the first run pays for memory that this machine gave back to its host.
        let own = match about.memory {
            Some(FileMemory::Fresh | FileMemory::Default) => {
                about.bytes.unwrap_or(stage.size())
            }
            Some(FileMemory::Reused) | None => 0,
        };
        let own = usize::try_from(own).unwrap_or(usize::MAX);
        let work = move |_: &Input, meter: &mut Meter| {
            Ok(Outcome { checksum: u64::from(work(&here, meter)?), ..RIGHT })
        };
        let file = stage.file.at(0.0, about.state);
        Self::of(about, file.entrant(about.capability, own, work).expecting(RIGHT))
    }

    /// Returns a row that an entrant runs.
    pub(super) fn of(about: About, entrant: Entrant) -> Self {
        Self { about, entrant: Some(entrant), is_right: true, seconds: Vec::new() }
    }

    /// Releases the input.
    pub(super) fn let_go(&mut self) {
        self.entrant = None;
    }

    /// Returns the median time in seconds.
    pub(super) fn median(&self) -> f64 {
        stats::median(&self.seconds).unwrap_or(f64::NAN)
    }

    /// Returns the bytes that it processes, for an input of `size` bytes.
    pub(super) fn bytes(&self, size: u64) -> f64 {
        self.about.bytes.unwrap_or(size) as f64
    }

    /// Returns the median speed for an input of `size` bytes.
    pub(super) fn bytes_per_s(&self, size: u64) -> f64 {
        self.bytes(size) / self.median()
    }

    /// Returns the number of its runs.
    pub(super) fn rounds(&self) -> usize {
        self.seconds.len()
    }

    /// Returns the times of the fastest and the slowest run.
    pub(super) fn range(&self) -> (f64, f64) {
        let fastest = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        (fastest, self.seconds.iter().copied().fold(0.0, f64::max))
    }

    /// Returns its name in messages.
    pub(super) fn name(&self) -> String {
        format!("{} by {}", self.about.capability, self.about.name())
    }
}

/// Returns a row whose rounds are over.
#[cfg(test)]
pub(super) fn timed(about: About, seconds: &[f64]) -> DemoRow {
    DemoRow { about, entrant: None, is_right: true, seconds: seconds.to_vec() }
}
