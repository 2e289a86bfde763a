//! `convert`: a graph as text, an eighth of the input's size, to coordinates, rows, and back.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use swath::sink::Durability;
use swath::{OutputOptions, ReadOptions};
use swath_formats::matrix::{MatrixOptions, MatrixWriteOptions};
use swath_study::fields::contracts::unsynced;
use swath_study::fields::graph::{GraphContent, coordinates, rows as rows_of};
use swath_study::measure::Meter;
use swath_study::workload::graph::{Rmat, Text};

use super::row::{About, DemoRow, Limit};
use super::stage::Stage;

/// The text is about this many times shorter than the input.
const SHARE: u64 = 8;
/// Bytes of a line, more or less.
const LINE: u64 = 14;
/// Edges of each vertex.
const DEGREE: u64 = 16;

/// Does one thing with the graph; returns the edges and the sum of their ends.
type GraphWay = fn(&Path, usize, &mut Meter) -> Result<GraphContent>;

const WAYS: [(&str, &str, GraphWay); 5] = [
    ("std", "lines, split, parse", lines),
    ("coo", "coordinates, one worker", |path, _, meter| coordinates(path, 1, meter)),
    ("coo", "coordinates, all workers", coordinates),
    ("csr", "compressed rows, all workers", rows_of),
    ("coo", "and back to text", back),
];

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let path = stage.path.with_file_name("graph.mtx");
    let edges = stage.made.bytes / SHARE / LINE;
    let scale = (edges / DEGREE).max(2).ilog2();
    Rmat::new(scale, edges).write(Text::MatrixMarket, stage.workers, unsynced(&path)?)?;
    let bytes = fs::metadata(&path)?.len();
    let expected = lines(&path, 1, &mut Meter::default())?;
    let row = |(index, (engine, way, how)): (usize, (_, _, GraphWay))| {
        let path: PathBuf = path.clone();
        let about = About {
            limit: Limit::Computing,
            is_peer: index == 0,
            bytes: Some(bytes),
            ..About::warm("convert", engine, way)
        };
        DemoRow::new(stage, about, move |stage, meter| {
            Ok(how(&path, stage.workers, meter)? == expected)
        })
    };
    Ok(WAYS.into_iter().enumerate().map(row).collect())
}

/// The usual program without a library.
fn lines(path: &Path, _: usize, meter: &mut Meter) -> Result<GraphContent> {
    let edges = meter.measure(|| edges(path))??;
    let sum = edges.iter().map(|&(row, column)| u64::from(row) + u64::from(column)).sum();
    Ok(GraphContent { values: edges.len() as u64, sum })
}

fn edges(path: &Path) -> Result<Vec<(u32, u32)>> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines().skip_while(|line| line.starts_with('%'));
    let _ = lines.next().context("there are sizes")?;
    let edge = |line: &str| {
        let (row, column) = line.split_once(' ').context("there are two numbers")?;
        Ok((row.parse::<u32>()? - 1, column.parse::<u32>()? - 1))
    };
    lines.map(edge).collect()
}

fn back(path: &Path, workers: usize, meter: &mut Meter) -> Result<GraphContent> {
    let read = ReadOptions::new().with_workers(workers);
    let matrix = MatrixOptions::new().with_read(read).read(path)?;
    let again = path.with_file_name("again.mtx");
    let output = OutputOptions::new().with_durability(Durability::None);
    let options = MatrixWriteOptions::new().with_output(output.with_workers(workers));
    meter.measure(|| options.write(&again, &matrix))??;
    let found = coordinates(&again, workers, &mut Meter::default())?;
    fs::remove_file(again)?;
    Ok(found)
}
