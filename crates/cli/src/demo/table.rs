//! Findings as one table for people, and as JSON for programs.

use comfy_table::{Cell, CellAlignment};
use serde::Serialize;
use swath_study::limits::Limits;
use swath_study::results::State;

use super::rounds::Row;
use super::{About, Findings, Limit, Memory};
use crate::report::{object, size_text, table};

const MEANING: &str = "\
\"of limit\": 1.00 is as fast as this machine can (sum, copy, direct: the limits above); \
\"× std\": times as fast as std::fs::read, warm or cold alike; of what is written, as the first row of \
its kind, nothing synced; with a ? it is undecided: runs of both overlap, or there was but one.
format writes the input as hexadecimal digits; GB/s are of the input. \
ingest reads thousands of small files. \
Fresh buffers pay for new memory, reused ones do not; warm is in the page cache, cold is not; \
bypass leaves it cold; recorded: with a timeline.
Try next: swath study (which findings of five studies hold here, as a page), swath tune (what is faster on \
this file system), swath read --repeat 5 FILE --timeline trace.json, swath demo --size 2GiB --dir DISK.
The same from Python: pip install ./python, import swath; from C: cargo xtask install-c --prefix DIR, swath.h\n";

impl Limit {
    const ALL: [Self; 3] = [Self::MemorySum, Self::Copy, Self::DirectRead];

    fn name(self) -> &'static str {
        match self {
            Self::MemorySum => "memory sum",
            Self::Copy => "copy into existing pages",
            Self::DirectRead => "O_DIRECT read",
            Self::Computing => "none",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::MemorySum => "sum",
            Self::Copy => "copy",
            Self::DirectRead => "direct",
            Self::Computing => "",
        }
    }

    fn bytes_per_s(self, limits: &Limits) -> Option<f64> {
        match self {
            Self::MemorySum => Some(limits.memory_sum_bytes_per_s),
            Self::Copy => Some(limits.copy_bytes_per_s),
            Self::DirectRead => limits.direct_read_bytes_per_s,
            Self::Computing => None,
        }
    }
}

/// What was there before a run.
fn file(state: State) -> &'static str {
    match state {
        State::Warm | State::Cold => state.word(),
        State::None => "new",
    }
}

impl Findings {
    fn ratio_to_limit(&self, row: &Row) -> Option<f64> {
        let limit = row.about.limit.bytes_per_s(&self.limits)?;
        Some(row.bytes_per_s(self.size) / limit)
    }

    /// How many times as fast as its peer a row is, and whether that is decided.
    fn ratio_to_peer(&self, row: &Row) -> Option<(f64, bool)> {
        let of = |capability: &str| {
            let is_its_peer = |other: &&Row| {
                let About { capability: its, state, is_peer, .. } = other.about;
                is_peer && state == row.about.state && its == capability
            };
            self.rows.iter().find(is_its_peer)
        };
        // What reads the input without a peer of its own is compared with `read`'s.
        let peer = of(row.about.capability).or_else(|| of("read"))?;
        let is_itself = std::ptr::eq(peer, row);
        Some((peer.median() / row.median(), is_itself || row.differs_from(peer)))
    }
}

/// Returns the table, what its numbers mean, and what was different from what it says.
pub(crate) fn text(findings: &Findings) -> String {
    let mut table = table(["what", "engine", "way", "file", "GB/s", "of limit", "× std"]);
    for limit in Limit::ALL {
        let speed = limit.bytes_per_s(&findings.limits);
        let speed = number(speed.map(|speed| speed / 1e9));
        table.add_row([
            text_cell("limit"),
            text_cell("-"),
            text_cell(limit.name()),
            text_cell("-"),
            speed,
        ]);
    }
    for row in &findings.rows {
        table.add_row([
            text_cell(row.about.capability),
            text_cell(row.about.engine),
            text_cell(row.about.way),
            text_cell(file(row.about.state)),
            number(Some(row.bytes_per_s(findings.size) / 1e9)),
            right(findings.ratio_to_limit(row).map_or(String::from("-"), |ratio| {
                format!("{ratio:.2} {:<6}", row.about.limit.word())
            })),
            right(match (row.is_right, findings.ratio_to_peer(row)) {
                (false, _) => String::from("WRONG"),
                (true, None) => String::from("- "),
                (true, Some((ratio, true))) => format!("{ratio:.2} "),
                (true, Some((ratio, false))) => format!("{ratio:.2}?"),
            }),
        ]);
    }
    let facts = &findings.facts;
    let mut text = format!(
        "{} on {}; {} cores, {}, Linux {}\n{table}\n{MEANING}",
        size_text(findings.size),
        facts.file_system.split(' ').next().unwrap_or_default(),
        facts.cores,
        facts.cpu,
        facts.kernel,
    );
    for note in &findings.notes {
        text += &format!("note: {note}\n");
    }
    text
}

fn text_cell(text: &str) -> Cell {
    Cell::new(text)
}

fn number(value: Option<f64>) -> Cell {
    right(value.map_or(String::from("-"), |value| format!("{value:.2}")))
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

pub(crate) fn json(findings: &Findings) -> impl Serialize {
    let row = |row: &Row| {
        object! {
            capability: row.about.capability,
            engine: row.about.engine,
            way: row.about.way,
            file: file(row.about.state),
            memory: match row.about.memory {
                Memory::Fresh => "fresh",
                Memory::Reused => "reused",
                Memory::None => "none",
            },
            rounds: row.rounds(),
            median_elapsed_s: row.median(),
            least_elapsed_s: row.range().0,
            most_elapsed_s: row.range().1,
            bytes_per_s: row.bytes_per_s(findings.size),
            limit: row.about.limit.name(),
            ratio_to_limit: findings.ratio_to_limit(row),
            ratio_to_std: findings.ratio_to_peer(row).map(|(ratio, _)| ratio),
            ratio_is_decided: findings.ratio_to_peer(row).is_some_and(|(_, is_decided)| is_decided),
            verified: row.is_right,
        }
    };
    object! {
        size_bytes: findings.size,
        cpu: &findings.facts.cpu,
        cores: findings.facts.cores,
        kernel: &findings.facts.kernel,
        memory_bytes: findings.facts.memory_bytes,
        file_system: &findings.facts.file_system,
        limits: &findings.limits,
        rows: findings.rows.iter().map(row).collect::<Vec<_>>(),
        notes: &findings.notes,
        verified: findings.is_right(),
    }
}
