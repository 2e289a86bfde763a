//! `swath demo`: how fast this machine is with Swath and without it, on inputs of its own.
//!
//! Five lines compare the usual way with Swath; `--all` adds every engine of every capability. Both come
//! from the same rows, so they cannot contradict each other. A new capability has a file here and adds its
//! rows to [`REST`].
//!
//! ```text
//! Stage (input, its bytes) → rows of each capability → rounds, back and forth → Findings → five lines, table
//! ```
//!
//! It is the short form of a study, in the same frame (`swath_study::measure`): a row is an entrant.
//!
//! Every run is checked against the bytes that were generated. A row and its peer run in the same
//! rounds on the same file.

mod brief;
mod compared;
mod consume;
pub(crate) mod flags;
mod graph;
mod json;
mod layout;
mod leave;
mod limit;
mod load;
mod many;
mod mirrors;
mod parse;
mod peer;
mod price;
mod priority;
mod rounds;
mod row;
mod squeeze;
mod stage;
mod table;
mod tensors;

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result};
use swath_study::facts::Facts;
use swath_study::measure::Budget;
use swath_study::results::State;

use self::row::DemoRow;
use self::stage::Stage;
use crate::grid::terminal_width;

pub(crate) use self::json::json;
pub(crate) use self::stage::choose_folder;

/// Capabilities with rows of the five lines.
const FIRST: [MakeRows; 5] = [peer::rows, load::rows, leave::rows, parse::rows, many::rows];

/// All other capabilities.
const REST: [MakeRows; 8] = [
    limit::rows,
    consume::rows,
    squeeze::rows,
    graph::rows,
    price::rows,
    priority::rows,
    mirrors::rows,
    tensors::rows,
];

/// Builds the rows of one capability.
type MakeRows = fn(&Rc<Stage>) -> Result<Vec<DemoRow>>;

/// The requested measurements, and their place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    /// Bytes of the input; `None` for as many as suit this machine.
    pub(crate) size: Option<u64>,
    /// The folder of the input; `None` for the one of temporary files.
    pub(crate) folder: Option<&'w Path>,
    /// The whole table, instead of the five lines alone.
    pub(crate) all: bool,
}

impl Wanted<'_> {
    /// Returns the time for the rounds: with clearing up at the end, half a minute is enough.
    fn time(self) -> Duration {
        Duration::from_secs(if self.all { 25 } else { 20 })
    }
}

/// The results of all rounds.
pub(crate) struct Findings {
    size: u64,
    all: bool,
    facts: Facts,
    rows: Vec<DemoRow>,
    notes: Vec<String>,
}

impl Findings {
    /// Whether every run of every row gave the right bytes.
    pub(crate) fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.is_right)
    }

    /// The number of rounds that every row has run.
    fn rounds(&self) -> usize {
        self.rows.iter().map(DemoRow::rounds).min().unwrap_or(0)
    }
}

/// Generates an input in a folder of its own, measures, and removes the folder.
pub(crate) fn measure(wanted: Wanted<'_>) -> Result<Findings> {
    let budget = Budget::of(wanted.time());
    let (stage, mut notes) = Stage::set(wanted)?;
    let stage = Rc::new(stage);
    let mut rows = rows(&stage, wanted.all)?;
    if let Err(error) = stage.file.input.bring(State::Cold) {
        notes
            .push(format!("no cold reads: {error:#}; try: pass --dir with a folder on a disk"));
        rows.retain(|row| row.about.state != State::Cold);
    }
    rounds::run(&mut rows, budget, &mut notes)?;
    for row in rows.iter().filter(|row| !row.is_right) {
        notes.push(format!("WRONG BYTES: {}", row.name()));
    }
    rows.iter_mut().for_each(DemoRow::let_go);
    let (size, facts) = (stage.size(), stage.facts.clone());
    let stage = Rc::into_inner(stage).context("a row still uses the input")?;
    stage.clear().context("cannot remove what the demo made")?;
    Ok(Findings { size, all: wanted.all, facts, rows, notes })
}

/// Returns the rows of the five lines, or all rows in the order of the table.
fn rows(stage: &Rc<Stage>, all: bool) -> Result<Vec<DemoRow>> {
    let mut rows = Vec::new();
    for capability in FIRST {
        rows.extend(capability(stage)?);
    }
    if !all {
        rows.retain(|row| row.about.line.is_some());
    }
    for capability in REST.into_iter().filter(|_| all) {
        rows.extend(capability(stage)?);
    }
    // Stable: rows keep their order within a state of a capability. The two of a line are
    // neighbours.
    rows.sort_by_key(|DemoRow { about, .. }| match all {
        true => (table::place(about.capability), about.state, None),
        false => (0, State::None, about.line),
    });
    Ok(rows)
}

/// Returns the five lines and, if all was measured, the table, no wider than the terminal.
pub(crate) fn text(findings: &Findings) -> String {
    text_within(findings, terminal_width())
}

fn text_within(findings: &Findings, width: usize) -> String {
    let mut lines = brief::lines(findings, width);
    if findings.all {
        lines.push(String::new());
        lines.extend(table::lines(findings, width));
    }
    lines.push(String::new());
    lines.extend(layout::filled(&conditions(findings), width, 0));
    for note in &findings.notes {
        lines.extend(layout::filled(&format!("note: {note}"), width, 2));
    }
    lines.extend(layout::filled(next(findings.all), width, 0));
    lines.join("\n") + "\n"
}

/// Returns the conditions of the figures, in words.
fn conditions(findings: &Findings) -> String {
    let Facts { cores, file_system, .. } = &findings.facts;
    let rounds = match findings.rounds() {
        1 => String::from("one round"),
        rounds => format!("the medians of {rounds} rounds"),
    };
    format!(
        "Figures are {rounds} with {} on {}, {}; in brackets is the interval of the ratio. \
         All bytes were verified, nothing was synced.",
        layout::size_text(findings.size),
        file_system.split(' ').next().unwrap_or_default(),
        crate::report::counted(*cores as u64, "core"),
    )
}

fn next(all: bool) -> &'static str {
    match all {
        false => "Try next: swath demo --all, swath study, swath tune",
        true => {
            "Try next: swath study (what five studies found, measured here), swath tune (what is \
             faster here), swath read FILE --timeline trace.json"
        }
    }
}

#[cfg(test)]
mod tests {
    use swath_reference::battery::Battery;

    use super::*;
    use crate::lab::demo::row::timed;

    /// Returns findings with names and figures of the greatest length.
    fn findings(all: bool, rounds: usize) -> Findings {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = Wanted { size: Some(1 << 20), folder: Some(folder.path()), all };
        let (stage, _) = Stage::set(wanted).expect("it is set");
        let stage = Rc::new(stage);
        let mut rows = rows(&stage, all).expect("they are made");
        for (index, row) in rows.iter_mut().enumerate() {
            let times = [1.0, 1.1, 1.2, 1.3, 1.4].map(|time| time / (index + 1) as f64);
            *row = timed(row.about, &times[..rounds]);
        }
        let facts = stage.facts.clone();
        let note = "a note with a path: ".to_owned() + &"/long".repeat(40);
        Findings { size: 1 << 20, all, facts, rows, notes: vec![note] }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let kinds = [(false, 5), (true, 5), (false, 3), (true, 3), (true, 1)];
        for (all, rounds) in Battery::of_list("combinations", 2, kinds) {
            let findings = findings(all, rounds);
            for width in [120, 80, 50, 20] {
                let text = text_within(&findings, width);
                for line in text.lines() {
                    let is = unicode_width::UnicodeWidthStr::width(line);
                    assert!(is <= width, "{is} of {width}: {line}\n{text}");
                }
            }
            // Columns fit 80: stacked figures have a comma after the speed.
            let (at_80, wide) = (text_within(&findings, 80), text_within(&findings, 1000));
            assert!(!at_80.contains("GB/s, "), "{at_80}");
            assert!(wide.lines().any(|line| line.starts_with("read, warm   std::fs::read")));
            assert!(at_80.lines().any(|line| line.starts_with("read, warm   std::fs::read")));
        }
    }

    #[test]
    fn the_five_lines_come_first_and_alone_unless_all_is_wanted() {
        let (five, all) =
            (text_within(&findings(false, 5), 80), text_within(&findings(true, 5), 80));
        for (text, count) in [(&five, 1), (&all, 2)] {
            let heads: Vec<_> = text
                .lines()
                .take(6)
                .map(|line| line.split("  ").next().unwrap_or(""))
                .collect();
            assert_eq!(
                heads[1..],
                ["read, warm", "read, cold", "write", "parse CSV", "small files"]
            );
            assert_eq!(text.matches("std::fs::read, cold").count(), count - 1, "{text}");
        }
        assert!(
            five.trim_end().ends_with("Try next: swath demo --all, swath study, swath tune")
        );
    }
}
