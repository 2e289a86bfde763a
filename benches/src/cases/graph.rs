//! A graph of 67 million edges as Matrix Market: to coordinates, to compressed rows, and back.

use crate::bench::Bench;
use crate::case::{Case, Goal};
use crate::contestants::control;
use crate::contestants::text::{Parsed, Text};
use anyhow::{Result, bail};
use std::fs;
use std::path::Path;
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::matrix::{self, AnyCoo, AnyCsr, MatrixOptions, MatrixWriteOptions};
use swath_study::harness::{Contestant, timed};
use swath_study::peers::{Absent, PythonParse};

const COO: &str = "swath matrix::read";
const CSR: &str = "swath matrix::read_rows";
const WRITE: &str = "swath matrix::write";

const fn python(name: &'static str, word: &'static str) -> PythonParse {
    PythonParse { name, word }
}

const SCIPY: PythonParse = python("scipy.io.mmread", "scipy_mtx");
const FMM: PythonParse = python("fast_matrix_market.mmread", "fmm_mtx");
const POLARS: PythonParse = python("polars.read_csv", "polars_mtx");
const PYARROW: PythonParse = python("pyarrow.csv.read_csv", "pyarrow_mtx");
const DUCKDB: PythonParse = python("duckdb read_csv", "duckdb_mtx");
const SCIPY_CSR: PythonParse = python("scipy.io.mmread, tocsr", "scipy_csr");
const FMM_CSR: PythonParse = python("fast_matrix_market.mmread, tocsr", "fmm_csr");
const SCIPY_WRITE: PythonParse = python("scipy.io.mmwrite", "scipy_write");
const FMM_WRITE: PythonParse = python("fast_matrix_market.mmwrite", "fmm_write");

/// Entries, coordinates added up.
pub(crate) fn coordinates(path: &Path, workers: usize) -> Result<Parsed> {
    let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
    let (read, timing) = timed(|| options.read(path))?;
    let AnyCoo::U32(matrix) = read? else { bail!("it needs no 64 bits") };
    let add = |ids: &[u32]| ids.iter().map(|&id| u64::from(id)).sum::<u64>();
    let sum = add(&matrix.rows) + add(&matrix.columns);
    Ok(Parsed { timing, values: matrix.entry_count() as u64, sum })
}

/// Entries, row by row; the same added up.
pub(crate) fn rows(path: &Path, workers: usize) -> Result<Parsed> {
    let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
    let (read, timing) = timed(|| options.read_rows(path))?;
    let AnyCsr::U32(matrix) = read? else { bail!("it needs no 64 bits") };
    let columns = matrix.columns.iter().map(|&id| u64::from(id)).sum::<u64>();
    let lens = matrix.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let rows = (0..).zip(lens).map(|(row, len)| row * len).sum::<u64>();
    Ok(Parsed { timing, values: matrix.entry_count() as u64, sum: rows + columns })
}

/// To coordinates.
pub(super) fn build_coo<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    coo(bench, text, false)
}

/// The same, with values.
pub(super) fn build_real<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    coo(bench, text, true)
}

fn coo<'b>(bench: &'b Bench, text: &'b Text, is_real: bool) -> Result<Case<'b>> {
    let mut contestants = vec![text.swath(bench, COO, |path| coordinates(path, bench.workers))];
    let absent = peers(bench, text, &mut contestants, &[SCIPY, FMM, POLARS, PYARROW, DUCKDB]);
    contestants.push(control::memory(bench));
    let rivals = [SCIPY.name, POLARS.name];
    let goals = if is_real {
        vec![Goal::speed(COO, 3.4, &rivals)]
    } else {
        vec![
            Goal::seconds(COO, seconds(text.values, 250e6)),
            Goal::speed(COO, 6.0, &rivals),
            Goal::speed(COO, 12.0, &[FMM.name]),
        ]
    };
    Ok(Case { contestants, absent, goals })
}

/// To compressed rows.
pub(super) fn build_csr<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let mut contestants = vec![text.swath(bench, CSR, |path| rows(path, bench.workers))];
    let absent = peers(bench, text, &mut contestants, &[SCIPY_CSR, FMM_CSR]);
    contestants.push(control::memory(bench));
    let goals = vec![
        Goal::seconds(CSR, seconds(text.values, 110e6)),
        Goal::speed(CSR, 11.0, &[SCIPY_CSR.name]),
    ];
    Ok(Case { contestants, absent, goals })
}

/// The same file written again.
pub(super) fn build_write<'b>(bench: &'b Bench, text: &'b Text) -> Result<Case<'b>> {
    let matrix = matrix::read(&text.input.path)?;
    let target = bench.output("written.mtx");
    let write = move |_: &Path| {
        let output = OutputOptions::new().with_durability(Durability::None);
        let options = MatrixWriteOptions::new().with_output(output.with_workers(bench.workers));
        let (written, timing) = timed(|| options.write(&target, &matrix))?;
        written?;
        let lines = lines_of(&target)?;
        fs::remove_file(&target)?;
        // The banner and the line of sizes.
        Ok(Parsed { timing, values: lines - 2, sum: 0 })
    };
    let mut contestants = vec![text.contestant(bench, WRITE, 0, write)];
    let absent = peers(bench, text, &mut contestants, &[SCIPY_WRITE, FMM_WRITE]);
    contestants.push(control::memory(bench));
    let seconds = text.input.made.bytes as f64 / 1e9;
    let goals = vec![Goal::seconds(WRITE, seconds), Goal::speed(WRITE, 5.0, &[FMM_WRITE.name])];
    Ok(Case { contestants, absent, goals })
}

fn lines_of(path: &Path) -> Result<u64> {
    Ok(swath::ReadOptions::new().count(path, b'\n')?.value)
}

fn seconds(values: u64, per_second: f64) -> f64 {
    values as f64 / per_second
}

/// Adds those who are installed; returns the others.
pub(super) fn peers<'b>(
    bench: &'b Bench,
    text: &'b Text,
    contestants: &mut Vec<Contestant<'b>>,
    all: &[PythonParse],
) -> Vec<Absent> {
    let mut absent = Vec::new();
    for &peer in all {
        match text.python(bench, peer) {
            Ok(contestant) => contestants.push(contestant),
            Err(reason) => absent.push(reason),
        }
    }
    absent
}
