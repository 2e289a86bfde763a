//! `convert`: a graph as text, an eighth of the input's size, to coordinates, rows, and back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use swath::{OutputOptions, ReadOptions};

use anyhow::{Context, Result, bail};
use swath::append::OrderedOptions;
use swath::sink::Durability;
use swath_formats::matrix::{AnyCoo, AnyCsr, MatrixOptions, MatrixWriteOptions};
use swath_study::workload::graph::{Rmat, Text};

use super::stage::Stage;
use super::{Limit, Memory, Row, Run, State};

/// The text is about so many times shorter than the input.
const SHARE: u64 = 8;
/// Bytes of a line, more or less.
const LINE: u64 = 14;
/// Edges of each vertex.
const DEGREE: u64 = 16;

/// Edges, and the sum of their ends.
type Found = (u64, u64);

/// Does one thing with the graph; returns how long it took and what it found.
type Way = fn(&Path, usize) -> Result<(Duration, Found)>;

const WAYS: [(&str, &str, Way); 5] = [
    ("std", "lines, split, parse", lines),
    ("coo", "coordinates, one worker", |path, _| coordinates(path, 1)),
    ("coo", "coordinates, all workers", coordinates),
    ("csr", "compressed rows, all workers", rows_of),
    ("coo", "and back to text", back),
];

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    let path = stage.path.with_file_name("graph.mtx");
    let edges = stage.made.bytes / SHARE / LINE;
    let scale = (edges / DEGREE).max(2).ilog2();
    let output = OrderedOptions::new().with_output(unsynced()).ordered(&path)?;
    Rmat::new(scale, edges).write(Text::MatrixMarket, stage.workers, output)?;
    let bytes = fs::metadata(&path)?.len();
    let (_, expected) = lines(&path, 1)?;
    let row = |(index, (engine, way, how)): (usize, (_, _, Way))| {
        let path: PathBuf = path.clone();
        Row {
            capability: "convert",
            engine,
            way,
            state: State::Warm,
            memory: Memory::Fresh,
            limit: Limit::Computing,
            is_peer: index == 0,
            bytes: Some(bytes),
            run: Box::new(move |stage| {
                let (elapsed, found) = how(&path, stage.workers)?;
                Ok(Run { elapsed, is_right: found == expected, fallbacks: Vec::new() })
            }),
        }
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

fn unsynced() -> OutputOptions {
    OutputOptions::new().with_durability(Durability::None)
}

/// As one writes it without a library.
fn lines(path: &Path, _: usize) -> Result<(Duration, Found)> {
    let start = Instant::now();
    let text = fs::read_to_string(path)?;
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut lines = text.lines().skip_while(|line| line.starts_with('%'));
    let _ = lines.next().context("there are sizes")?;
    for line in lines {
        let (row, column) = line.split_once(' ').context("there are two numbers")?;
        edges.push((row.parse::<u32>()? - 1, column.parse::<u32>()? - 1));
    }
    let elapsed = start.elapsed();
    let sum = edges.iter().map(|&(row, column)| u64::from(row) + u64::from(column)).sum();
    Ok((elapsed, (edges.len() as u64, sum)))
}

fn sum(ids: &[u32]) -> u64 {
    ids.iter().map(|&id| u64::from(id)).sum()
}

fn coordinates(path: &Path, workers: usize) -> Result<(Duration, Found)> {
    let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
    let start = Instant::now();
    let AnyCoo::U32(matrix) = options.read(path)? else { bail!("64 bits") };
    let elapsed = start.elapsed();
    let sum = sum(&matrix.rows) + sum(&matrix.columns);
    Ok((elapsed, (matrix.entry_count() as u64, sum)))
}

fn rows_of(path: &Path, workers: usize) -> Result<(Duration, Found)> {
    let options = MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers));
    let start = Instant::now();
    let AnyCsr::U32(matrix) = options.read_rows(path)? else { bail!("64 bits") };
    let elapsed = start.elapsed();
    let lens = matrix.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let rows: u64 = (0..).zip(lens).map(|(row, len)| row * len).sum();
    Ok((elapsed, (matrix.entry_count() as u64, rows + sum(&matrix.columns))))
}

fn back(path: &Path, workers: usize) -> Result<(Duration, Found)> {
    let matrix =
        MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers)).read(path)?;
    let again = path.with_file_name("again.mtx");
    let start = Instant::now();
    let output = unsynced().with_workers(workers);
    MatrixWriteOptions::new().with_output(output).write(&again, &matrix)?;
    let elapsed = start.elapsed();
    let (_, found) = coordinates(&again, workers)?;
    fs::remove_file(again)?;
    Ok((elapsed, found))
}
