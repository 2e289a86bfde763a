//! A graph of 67 million edges as Matrix Market: to coordinates, to compressed rows, and back.

use crate::bench::Bench;
use crate::contestants::text::Text;
use anyhow::Result;
use std::fs;
use std::path::Path;
use swath::OutputOptions;
use swath::sink::Durability;
use swath_formats::matrix::{self, MatrixWriteOptions};
use swath_study::fields::graph::{GraphContent, coordinates, rows};
use swath_study::measure::{Entrants, Goal, Meter};
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
const SCIPY_CSR: PythonWay = python("scipy.io.mmread, tocsr", "scipy_csr");
const FMM_CSR: PythonWay = python("fast_matrix_market.mmread, tocsr", "fmm_csr");
const SCIPY_WRITE: PythonWay = python("scipy.io.mmwrite", "scipy_write");
const FMM_WRITE: PythonWay = python("fast_matrix_market.mmwrite", "fmm_write");

/// To coordinates.
pub(super) fn build_coo(bench: &Bench, text: &Text) -> Result<Entrants> {
    coo(bench, text, false)
}

/// To coordinates, with values.
pub(super) fn build_real(bench: &Bench, text: &Text) -> Result<Entrants> {
    coo(bench, text, true)
}

fn coo(bench: &Bench, text: &Text, is_real: bool) -> Result<Entrants> {
    let workers = bench.workers;
    let ours = text.entrant(COO, move |path, meter| coordinates(path, workers, meter));
    let rivals = [SCIPY.name, POLARS.name];
    let goals = if is_real {
        vec![Goal::speed(COO, 3.4, &rivals)]
    } else {
        vec![
            Goal::seconds(COO, seconds(text.found.values, 250e6)),
            Goal::speed(COO, 6.0, &rivals),
            Goal::speed(COO, 12.0, &[FMM.name]),
        ]
    };
    let peers = [SCIPY, FMM, POLARS, PYARROW, DUCKDB];
    Ok(text.beside(bench, Entrants::new([ours], goals), &peers))
}

/// To compressed rows.
pub(super) fn build_csr(bench: &Bench, text: &Text) -> Result<Entrants> {
    let workers = bench.workers;
    let ours = text.entrant(CSR, move |path, meter| rows(path, workers, meter));
    let goals = [
        Goal::seconds(CSR, seconds(text.found.values, 110e6)),
        Goal::speed(CSR, 11.0, &[SCIPY_CSR.name]),
    ];
    Ok(text.beside(bench, Entrants::new([ours], goals), &[SCIPY_CSR, FMM_CSR]))
}

/// The file written again.
pub(super) fn build_write(bench: &Bench, text: &Text) -> Result<Entrants> {
    let matrix = matrix::read(&text.input.path)?;
    let target = bench.stage.output("written.mtx");
    let output = OutputOptions::new().with_durability(Durability::None);
    let options = MatrixWriteOptions::new().with_output(output.with_workers(bench.workers));
    let write = move |_: &Path, meter: &mut Meter| {
        meter.measure(|| options.write(&target, &matrix))??;
        let lines = lines_of(&target)?;
        fs::remove_file(&target)?;
        // The banner and the line of sizes.
        Ok(GraphContent { values: lines - 2, sum: 0 })
    };
    let ours = text.entrant(WRITE, write).giving(0);
    let seconds = text.input.made.bytes as f64 / 1e9;
    let goals = [Goal::seconds(WRITE, seconds), Goal::speed(WRITE, 5.0, &[FMM_WRITE.name])];
    Ok(text.beside(bench, Entrants::new([ours], goals), &[SCIPY_WRITE, FMM_WRITE]))
}

fn lines_of(path: &Path) -> Result<u64> {
    Ok(swath::ReadOptions::new().count(path, b'\n')?.value)
}

fn seconds(values: u64, per_second: f64) -> f64 {
    values as f64 / per_second
}
