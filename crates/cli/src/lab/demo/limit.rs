//! The limits of this machine: memory and the device, with as little overhead as possible.

use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::sums::{loaded, populated, summed};
use swath_study::limits::Schedule;
use swath_study::measure::{Counting, Entrant};
use swath_study::results::State;

use super::row::{About, DemoRow, Limit};
use super::stage::Stage;

/// Reads in flight of the first measurement of the device.
const DEPTH: usize = 8;

/// The capability of these rows.
pub(super) const LIMITS: &str = "limits";

impl Limit {
    /// Returns the name of the row that measures it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MemorySum => "memory sum",
            Self::Copy => "copy into existing pages",
            Self::DirectRead => "O_DIRECT read",
            Self::Computing => "none",
        }
    }

    /// Returns the word for it in the table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::MemorySum => "sum",
            Self::Copy => "copy",
            Self::DirectRead => "direct",
            Self::Computing => "",
        }
    }
}

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let (file, workers) = (stage.file.at(0.0, State::None), stage.inputs.workers);
    let memory = loaded(&stage.inputs, &file.input)?;
    let [copy, populate, read] =
        ["copy into existing pages", "touch new pages", "pread into existing pages"];
    let mut direct = stage.file.at(0.0, State::Cold).direct(Limit::DirectRead.name(), DEPTH);
    let is_possible = direct.attempt(Counting::Time).is_ok();
    let warm = stage.file.at(0.0, State::Warm);
    let all = [
        (State::None, summed(&memory, &file.input, Limit::MemorySum.name())),
        (State::None, file.copied(copy, &memory)),
        (State::None, populated(populate, file.input.len(), workers)),
        (State::Warm, warm.pread(read, workers, Schedule::Dynamic)),
        (State::Cold, direct),
    ];
    let ways = [Limit::MemorySum.name(), copy, populate, read, Limit::DirectRead.name()];
    let row = |(way, (state, entrant)): (&'static str, (State, Entrant))| {
        let (memory, limit) = (None, Limit::Computing);
        let about = About { state, memory, limit, ..About::warm(LIMITS, "", way) };
        DemoRow::of(about, entrant)
    };
    let rows = ways.into_iter().zip(all).map(row);
    Ok(rows.filter(|row| is_possible || row.about.state != State::Cold).collect())
}
