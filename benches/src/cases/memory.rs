//! How much memory a read, a scan or a parser takes, each in a process of its own.

use crate::args::Consumer;
use crate::bench::{Bench, Input, Residency, Size};
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::text::Text;
use crate::memory_child;
use anyhow::Result;
use swath_study::harness::Contestant;

const READ: &str = "swath::read";
const SCAN: &str = "swath sum, pread";
const SCAN_MAP: &str = "swath sum, guarded map";

const MIB: f64 = 1024.0 * 1024.0;

/// MiB that a read may take beyond the file itself.
const READ_MIB: f64 = 32.0;

/// MiB that a scan may take for each worker.
const SCAN_MIB: f64 = 2.0;

/// Compares peaks with the file's size. A map's pages belong to the page cache, so its scan
/// is listed but not judged.
pub(super) fn build<'b>(bench: &'b Bench, input: &'b Input, _: Size) -> Result<Case<'b>> {
    let of = |name, what| contestant(bench, input, name, what);
    let contestants = vec![
        of(READ, Consumer::Read),
        of(SCAN, Consumer::Scan),
        of(SCAN_MAP, Consumer::ScanMap),
        control::memory(bench),
    ];
    let goals = vec![
        Goal::peak_mib(READ, input.made.bytes as f64 / MIB + READ_MIB),
        Goal::peak_mib(SCAN, SCAN_MIB * bench.workers as f64),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

fn contestant<'b>(
    bench: &'b Bench,
    input: &'b Input,
    name: &str,
    what: Consumer,
) -> Contestant<'b> {
    let run = move || memory_child::start(what, &input.path, bench.workers);
    Contestant::new(name, input.expected(1), run)
        .with_before(move || bench.bring(input, Residency::Warm))
}

const COORDINATES: &str = "swath matrix::read";
const ROWS: &str = "swath matrix::read_rows";
const TABLE: &str = "swath table::read";

/// A parser may take a tenth more than what it leaves, and these MiB.
fn beside(bytes: u64) -> f64 {
    1.1 * bytes as f64 / MIB + 64.0
}

/// Compares the peak of parsing edges with the arrays that are made of them.
pub(super) fn build_graph<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let contestants = vec![
        text.peak(bench, COORDINATES, Consumer::Coordinates),
        text.peak(bench, ROWS, Consumer::Rows),
        control::memory(bench),
    ];
    // Two ids of 32 bits for each edge; or one, and an offset for each vertex, which has sixteen.
    let goals = vec![
        Goal::peak_mib(COORDINATES, beside(8 * text.values)),
        Goal::peak_mib(ROWS, beside(4 * text.values + 8 * text.values / 16)),
    ];
    Ok(Case { contestants, absent: Vec::new(), goals })
}

/// Compares the peak of parsing a table with its numbers.
pub(super) fn build_table<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let contestants = vec![text.peak(bench, TABLE, Consumer::Table), control::memory(bench)];
    let goals = vec![Goal::peak_mib(TABLE, beside(8 * text.values))];
    Ok(Case { contestants, absent: Vec::new(), goals })
}
