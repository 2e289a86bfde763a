//! The texts that formats are measured with, each with the values that a plain loop finds in it.

use crate::bench::Bench;
use crate::contestants::text::{Text, rounded};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use swath::sink::Durability;
use swath::{Array, OutputOptions};
use swath_formats::matrix::{Coo, MatrixWriteOptions, Symmetry, Values};
use swath_study::fields::contracts::unsynced;
use swath_study::fields::graph::GraphContent;
use swath_study::workload::graph::{Rmat, Text as GraphText};
use swath_study::workload::{self, FileContent, Generated, Recipe, Style, Table, contracts};

/// One text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipes {
    /// 67 million edges, without values.
    Pattern,
    /// 20 million entries with values.
    Real,
    /// 1,024 whole numbers a line.
    Integers,
    /// 1,024 numbers of 17 digits a line.
    Doubles,
    /// Eight columns of `%.6f`.
    Fixed,
    /// Option contracts.
    Contracts,
}

impl Recipes {
    /// Makes it, and reads it with a plain loop.
    pub(crate) fn make(self, bench: &Bench) -> Result<Text> {
        eprintln!("making {}", self.file());
        let mut found = GraphContent { values: 0, sum: 0 };
        let input = bench.stage.made(&self.file(), |path| {
            self.write(bench, path)?;
            let bytes = fs::read(path).context("cannot read it back")?;
            let lines = bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum();
            found = match self {
                Self::Pattern | Self::Real => edges(&bytes),
                Self::Contracts => GraphContent { values: lines - 1, sum: 0 },
                Self::Integers | Self::Doubles | Self::Fixed => numbers(&bytes),
            };
            let sum = bytes.iter().map(|&byte| u64::from(byte)).sum();
            Ok(Generated { bytes: bytes.len() as u64, lines, sum })
        })?;
        let room = usize::try_from(found.values * 24).unwrap_or(usize::MAX);
        Ok(Text { input, found, room })
    }

    /// Its label.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Real => "real",
            Self::Integers => "integers",
            Self::Doubles => "doubles",
            Self::Fixed => "fixed",
            Self::Contracts => "contracts",
        }
    }

    fn file(self) -> String {
        let ending = match self {
            Self::Pattern | Self::Real => "mtx",
            Self::Integers | Self::Doubles | Self::Fixed => "csv",
            Self::Contracts => "txt",
        };
        format!("{}.{ending}", self.word())
    }

    fn write(self, bench: &Bench, path: &Path) -> Result<()> {
        let seed = bench.rounds.seed;
        let table = |size: u64, columns, style| {
            let size = bench.pick(size, 1 << 20);
            let kind = FileContent::Csv(Table { columns, style });
            workload::generate(Recipe { kind, size, seed }, path, 0).map(drop)
        };
        match self {
            Self::Pattern => graph(path, seed, bench.pick(22, 10), false),
            Self::Real => graph(path, seed, bench.pick(20, 10), true),
            Self::Integers => Ok(table(1_000_000_000, 1024, Style::Integers)?),
            Self::Doubles => Ok(table(1_000_000_000, 1024, Style::Fractions(17))?),
            Self::Fixed => Ok(table(500_000_000, 8, Style::Fixed(6))?),
            Self::Contracts => {
                let count = bench.pick(2_500_000, 10_000);
                contracts::generate(count, seed, 0, unsynced(path)?)?;
                Ok(())
            }
        }
    }
}

/// Edges of each vertex.
const DEGREE: u64 = 16;

/// A random graph of 2^`scale` vertices.
fn graph(path: &Path, seed: u64, scale: u32, is_real: bool) -> Result<()> {
    let count = DEGREE << scale;
    let graph = Rmat::new(scale, count).with_seed(seed);
    if !is_real {
        graph.write(GraphText::MatrixMarket, 0, unsynced(path)?)?;
        return Ok(());
    }
    let options = MatrixWriteOptions::new()
        .with_output(OutputOptions::new().with_durability(Durability::None));
    let len = usize::try_from(count)?;
    let (mut rows, mut columns) = (Array::<u32>::zeroed(len)?, Array::<u32>::zeroed(len)?);
    let mut values = Array::<f64>::zeroed(len)?;
    for (index, at) in (0..count).zip(0..len) {
        let (row, column) = graph.edge(index);
        (rows[at], columns[at]) = (u32::try_from(row)?, u32::try_from(column)?);
        values[at] = swath_plan::random::fraction(seed, index) - 0.5;
    }
    let (row_count, column_count) = (1 << scale, 1 << scale);
    let (symmetry, values) = (Symmetry::General, Values::F64(values));
    let matrix = Coo { row_count, column_count, symmetry, rows, columns, values };
    options.write(path, &matrix)?;
    Ok(())
}

/// Entries, and the sum of their coordinates from 0.
fn edges(bytes: &[u8]) -> GraphContent {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    // The line of sizes is the first one that is not a comment.
    let _ = lines.by_ref().find(|line| !line.starts_with(b"%"));
    let mut found = GraphContent { values: 0, sum: 0 };
    for line in lines {
        let mut words = line.split(|&byte| byte == b' ').map(whole);
        found.sum += words.next().unwrap_or(0) + words.next().unwrap_or(0) - 2;
        found.values += 1;
    }
    found
}

fn whole(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 10 + u64::from(digit - b'0'))
}

/// Numbers, and their sum as a whole number.
fn numbers(bytes: &[u8]) -> GraphContent {
    let words =
        bytes.split(|&byte| byte == b',' || byte == b'\n').filter(|word| !word.is_empty());
    let (mut count, mut sum) = (0, 0.0);
    for word in words {
        let number: f64 = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .unwrap_or(f64::NAN);
        sum += number;
        count += 1;
    }
    GraphContent { values: count, sum: rounded(sum) }
}
