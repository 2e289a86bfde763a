//! Parses a Matrix Market graph of 67 million edges to coordinates and to compressed rows, and writes it.

use crate::bench::Bench;
use crate::contestants::text::beside;
use anyhow::Result;
use swath_study::fields::text::{TextField, back, coordinates, rows};
use swath_study::measure::{Entrants, Goal};
use swath_study::peers::PythonWay;

const COO: &str = "swath matrix::read";
const CSR: &str = "swath matrix::read_rows";
const WRITE: &str = "swath matrix::write";

pub(super) const fn python(name: &'static str, word: &'static str) -> PythonWay {
    PythonWay { name, word }
}

const SCIPY: PythonWay = python("scipy.io.mmread", "scipy_mtx");
const FMM: PythonWay = python("fast_matrix_market.mmread", "fmm_mtx");
const POLARS: PythonWay = python("polars.read_csv", "polars_mtx");
const PYARROW: PythonWay = python("pyarrow.csv.read_csv", "pyarrow_mtx");
const DUCKDB: PythonWay = python("duckdb read_csv", "duckdb_mtx");
const PEERS: [PythonWay; 5] = [SCIPY, FMM, POLARS, PYARROW, DUCKDB];
const RIVALS: [&str; 2] = [SCIPY.name, POLARS.name];
const SCIPY_CSR: PythonWay = python("scipy.io.mmread, tocsr", "scipy_csr");
const FMM_CSR: PythonWay = python("fast_matrix_market.mmread, tocsr", "fmm_csr");
const SCIPY_WRITE: PythonWay = python("scipy.io.mmwrite", "scipy_write");
const FMM_WRITE: PythonWay = python("fast_matrix_market.mmwrite", "fmm_write");

/// Parses edges to coordinates.
pub(super) fn build_coo(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let goals = [
        Goal::seconds(COO, seconds(text, 250e6)),
        Goal::speed(COO, 6.0, &RIVALS),
        Goal::speed(COO, 12.0, &[FMM.name]),
    ];
    Ok(beside(bench, text, COO, coordinates, &PEERS, goals))
}

/// Parses edges with values to coordinates.
pub(super) fn build_real(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let goals = [Goal::speed(COO, 3.4, &RIVALS)];
    Ok(beside(bench, text, COO, coordinates, &PEERS, goals))
}

/// Parses edges to compressed rows.
pub(super) fn build_csr(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let goals =
        [Goal::seconds(CSR, seconds(text, 110e6)), Goal::speed(CSR, 11.0, &[SCIPY_CSR.name])];
    Ok(beside(bench, text, CSR, rows, &[SCIPY_CSR, FMM_CSR], goals))
}

/// Writes the parsed graph.
pub(super) fn build_write(bench: &Bench, text: &TextField) -> Result<Entrants> {
    let seconds = text.input.made.bytes as f64 / 1e9;
    let goals = [Goal::seconds(WRITE, seconds), Goal::speed(WRITE, 5.0, &[FMM_WRITE.name])];
    Ok(beside(bench, text, WRITE, back, &[SCIPY_WRITE, FMM_WRITE], goals))
}

fn seconds(text: &TextField, per_second: f64) -> f64 {
    text.found.values as f64 / per_second
}
