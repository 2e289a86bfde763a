//! Measures the peak memory of a read, a scan and a parser, each in its own process.

use crate::args::Consumer;
use crate::bench::{Bench, Size};
use crate::contestants::consumer;
use anyhow::Result;
use std::rc::Rc;
use swath_study::fields::text::TextField;
use swath_study::measure::{Entrant, Entrants, Goal, Input};
use swath_study::results::State;

const READ: &str = "swath::read";
const SCAN: &str = "swath sum, pread";
const SCAN_MAP: &str = "swath sum, guarded map";

const MIB: f64 = 1024.0 * 1024.0;

/// MiB that a read may take beyond the file itself.
const READ_MIB: f64 = 32.0;

/// MiB that a scan may take for each worker.
const SCAN_MIB: f64 = 2.0;

/// Returns an entrant that runs Swath in its own process, to measure its peak memory.
pub(super) fn peak(bench: &Bench, input: &Rc<Input>, name: &str, what: Consumer) -> Entrant {
    let workers = bench.workers;
    input.entrant(name, State::Warm, move |input, meter| {
        Ok(consumer::start(what, &input.path, workers)?.tell(meter))
    })
}

/// Compares peaks with the file's size. The pages of a map belong to the page cache, so its scan is
/// listed but not judged.
pub(super) fn build(bench: &Bench, size: Size) -> Result<Entrants> {
    let input = bench.bytes(size, State::Warm)?.input;
    let here = [(READ, Consumer::Read), (SCAN, Consumer::Scan), (SCAN_MAP, Consumer::ScanMap)]
        .map(|(name, what)| peak(bench, &input, name, what));
    let goals = [
        Goal::peak_mib(READ, input.made.bytes as f64 / MIB + READ_MIB),
        Goal::peak_mib(SCAN, SCAN_MIB * bench.workers as f64),
    ];
    Ok(Entrants::new(here, goals))
}

const COORDINATES: &str = "swath matrix::read";
const ROWS: &str = "swath matrix::read_rows";
const TABLE: &str = "swath table::read";

/// Returns the MiB that a parser may take for a result of `bytes`: 10 % more, and 64 MiB.
fn beside(bytes: u64) -> f64 {
    1.1 * (bytes as f64) / MIB + 64.0
}

/// Returns an entrant that parses the text.
fn parser(bench: &Bench, text: &TextField, name: &str, what: Consumer) -> Entrant {
    peak(bench, &text.input, name, what).giving(text.found.sum)
}

/// Compares the peak of parsing edges with the size of the resulting arrays.
pub(super) fn build_graph(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let here = [(COORDINATES, Consumer::Coordinates), (ROWS, Consumer::Rows)]
        .map(|(name, what)| parser(bench, text, name, what));
    let values = text.found.values;
    // Coordinates: two 32-bit ids an edge. Rows: one, and a 64-bit offset for each vertex of 16 edges.
    let goals = [
        Goal::peak_mib(COORDINATES, beside(8 * values)),
        Goal::peak_mib(ROWS, beside(4 * values + 8 * values / 16)),
    ];
    Ok(Entrants::new(here, goals))
}

/// Compares the peak of parsing a table with the size of the resulting array.
pub(super) fn build_table(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let goals = [Goal::peak_mib(TABLE, beside(8 * text.found.values))];
    Ok(Entrants::new([parser(bench, text, TABLE, Consumer::Table)], goals))
}
