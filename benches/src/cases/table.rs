//! Tables of numbers to a row-major array.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::cases::graph::peers;
use crate::contestants::control;
use crate::contestants::text::{Parsed, Text};
use anyhow::Result;
use std::path::Path;
use swath::ReadOptions;
use swath_formats::table::{HeaderLine, TableOptions};
use swath_study::harness::timed;
use swath_study::peers::PythonParse;

const SWATH: &str = "swath table::read";

const fn python(name: &'static str, word: &'static str) -> PythonParse {
    PythonParse { name, word }
}

const POLARS: PythonParse = python("polars.read_csv, to_numpy", "polars_table");
const PEERS: [PythonParse; 3] = [
    POLARS,
    python("pyarrow.csv.read_csv", "pyarrow_table"),
    python("duckdb read_csv", "duckdb_table"),
];
/// Each of them takes several seconds a round.
const SLOW_PEERS: [PythonParse; 2] = [
    python("pandas.read_csv, pyarrow", "pandas_table"),
    python("numpy.loadtxt", "numpy_table"),
];

/// Three times as fast as polars.
pub(super) fn build<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    case(bench, text, 3.0)
}

/// Five times, where all numbers are whole.
pub(super) fn build_integers<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    case(bench, text, 5.0)
}

fn case<'b>(bench: &'b Bench, text: &'b Text, share: f64) -> Result<Case<'b>> {
    let goals = vec![Goal::speed(SWATH, share, &[POLARS.name])];
    Ok(Case { goals, ..beside(bench, text, &PEERS) })
}

/// Beside those who take long.
pub(super) fn build_slow<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    Ok(beside(bench, text, &SLOW_PEERS))
}

fn beside<'b>(bench: &'b Bench, text: &'b Text, all: &[PythonParse]) -> Case<'b> {
    let mut contestants = vec![text.swath(bench, SWATH, |path| read(path, bench.workers))];
    let absent = peers(bench, text, &mut contestants, all);
    contestants.push(control::memory(bench));
    Case { contestants, absent, goals: Vec::new() }
}

/// Values, and their sum.
pub(crate) fn read(path: &Path, workers: usize) -> Result<Parsed> {
    let options = TableOptions::new()
        .with_header(HeaderLine::Absent)
        .with_read(ReadOptions::new().with_workers(workers));
    let (table, timing) = timed(|| options.read::<f64>(path))?;
    let values = table?.values;
    Ok(Parsed { timing, values: values.len() as u64, sum: rounded(values.iter().sum()) })
}

/// As a whole number, for comparing sums that were added up in other orders.
#[expect(clippy::cast_possible_truncation, reason = "compared, not computed with")]
pub(super) fn rounded(sum: f64) -> u64 {
    (sum.round() as i64).cast_unsigned()
}
