//! A graph as text: to coordinates and to compressed rows.

use std::path::Path;

use anyhow::{Result, bail};
use swath::ReadOptions;
use swath_formats::matrix::{AnyCoo, AnyCsr, MatrixOptions};

use crate::measure::Meter;

/// The content of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphContent {
    /// The number of values.
    pub values: u64,
    /// The sum of entries, rows and columns from 0.
    pub sum: u64,
}

fn options(workers: usize) -> MatrixOptions {
    MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers))
}

fn added(ids: &[u32]) -> u64 {
    ids.iter().map(|&id| u64::from(id)).sum()
}

/// Reads the entries of the text at `path`.
///
/// # Errors
///
/// If it cannot be read, or has rows or columns that need 64 bits.
pub fn coordinates(path: &Path, workers: usize, meter: &mut Meter) -> Result<GraphContent> {
    let read = meter.measure(|| options(workers).read(path))??;
    let AnyCoo::U32(matrix) = read else { bail!("it needs no 64 bits") };
    let sum = added(&matrix.rows) + added(&matrix.columns);
    Ok(GraphContent { values: matrix.entry_count() as u64, sum })
}

/// Reads a graph row by row.
///
/// # Errors
///
/// As [`coordinates`].
pub fn rows(path: &Path, workers: usize, meter: &mut Meter) -> Result<GraphContent> {
    let read = meter.measure(|| options(workers).read_rows(path))??;
    let AnyCsr::U32(matrix) = read else { bail!("it needs no 64 bits") };
    let lens = matrix.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let rows: u64 = (0..).zip(lens).map(|(row, len): (u64, u64)| row * len).sum();
    Ok(GraphContent { values: matrix.entry_count() as u64, sum: rows + added(&matrix.columns) })
}
