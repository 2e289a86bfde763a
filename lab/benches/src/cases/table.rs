//! Parses tables of numbers to a row-major array.

use crate::bench::Bench;
use crate::cases::graph::python;
use crate::contestants::text::beside;
use anyhow::Result;
use swath_study::fields::text::{TextField, table};
use swath_study::measure::{Entrants, Goal};
use swath_study::peers::PythonWay;

const SWATH: &str = "swath table::read";

const POLARS: PythonWay = python("polars.read_csv, to_numpy", "polars_table");
const PEERS: [PythonWay; 3] = [
    POLARS,
    python("pyarrow.csv.read_csv", "pyarrow_table"),
    python("duckdb read_csv", "duckdb_table"),
];
/// Peers that take several seconds a round.
const SLOW_PEERS: [PythonWay; 2] = [
    python("pandas.read_csv, pyarrow", "pandas_table"),
    python("numpy.loadtxt", "numpy_table"),
];

/// Requires `times` the speed of polars.
pub(super) fn build(bench: &Bench, text: &TextField, times: f64) -> Result<Entrants> {
    let goals = [Goal::speed(SWATH, times, &[POLARS.name])];
    Ok(beside(bench, text, SWATH, table, &PEERS, goals))
}

/// Compares with the slow peers.
pub(super) fn build_slow(bench: &Bench, text: &TextField) -> Result<Entrants> {
    Ok(beside(bench, text, SWATH, table, &SLOW_PEERS, []))
}
