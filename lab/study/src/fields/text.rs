//! Text with numbers: generated, read by a plain loop, and compared with the results of parsers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use swath::sink::Durability;
use swath::{Array, OutputOptions, ReadOptions};
use swath_formats::matrix::{
    AnyCoo, AnyCsr, Coo, MatrixOptions, MatrixWriteOptions, Symmetry, Values,
};
use swath_formats::table::{BatchOptions, HeaderLine};

use super::contracts::unsynced;
use crate::cache;
use crate::measure::{Entrant, Input, Meter, Outcome, Stage};
use crate::results::State;
use crate::workload::graph::{Rmat, Text};
use crate::workload::{FileContent, Generated, Recipe, Table, generate};

/// The content of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextContent {
    /// The number of values.
    pub values: u64,
    /// The sum of the values; for a graph, of rows and columns counted from 0.
    pub sum: u64,
}

/// The recipe of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Edges between 2^`scale` vertices, as Matrix Market.
    Edges {
        /// Levels of the graph.
        scale: u32,
        /// Lines.
        count: u64,
    },
    /// Edges with values.
    Entries {
        /// Levels of the graph.
        scale: u32,
        /// Lines.
        count: u64,
    },
    /// A table of about this many bytes.
    Table(Table, u64),
}

/// A text, and the values that a plain loop finds in it.
pub struct TextField {
    /// The text.
    pub input: Rc<Input>,
    /// The values of the text.
    pub found: TextContent,
    /// Bytes of memory for several copies of the values.
    room: usize,
}

impl TextField {
    /// Makes the file `name`, and reads it with a plain loop.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or read back.
    pub fn new(stage: &Stage, name: &str, kind: TextKind) -> Result<Self> {
        let mut found = TextContent::default();
        let input = stage.made(name, |path| {
            kind.write(stage.seed, path)?;
            let bytes = fs::read(path).context("cannot read it back")?;
            let lines = bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum();
            found = match kind {
                TextKind::Table(..) => numbers(&bytes),
                _ => edges(&bytes),
            };
            let sum = bytes.iter().map(|&byte| u64::from(byte)).sum();
            Ok(Generated { bytes: bytes.len() as u64, lines, sum })
        })?;
        let room = usize::try_from(found.values * 24).unwrap_or(usize::MAX);
        Ok(Self { input, found, room })
    }

    /// Returns an entrant that must find as many values, with the same sum unless another is set.
    pub fn entrant(
        &self,
        series: &str,
        state: State,
        run: impl Fn(&Path, &mut Meter) -> Result<TextContent> + 'static,
    ) -> Entrant {
        let (there, room) = (self.found.values, self.room);
        let work = move |input: &Input, meter: &mut Meter| {
            let TextContent { values, sum } = run(&input.path, meter)?;
            ensure!(values == there, "{values} values, where there are {there}");
            Ok(Outcome { checksum: sum, ..input.expected() })
        };
        let entrant = self.input.entrant(series, state, work).giving(self.found.sum);
        entrant.with_before(move || cache::touch_memory(room).context("cannot touch memory"))
    }
}

impl TextKind {
    fn write(self, seed: u64, path: &Path) -> Result<()> {
        match self {
            Self::Edges { scale, count } => {
                let graph = Rmat::new(scale, count).with_seed(seed);
                graph.write(Text::MatrixMarket, 0, unsynced(path)?)?;
                Ok(())
            }
            Self::Entries { scale, count } => entries(path, seed, scale, count),
            Self::Table(table, size) => {
                let kind = FileContent::Csv(table);
                Ok(generate(Recipe { kind, size, seed }, path, 0).map(drop)?)
            }
        }
    }
}

fn writing() -> MatrixWriteOptions {
    let output = OutputOptions::new().with_durability(Durability::None);
    MatrixWriteOptions::new().with_output(output)
}

/// Writes a random graph with values.
fn entries(path: &Path, seed: u64, scale: u32, count: u64) -> Result<()> {
    let graph = Rmat::new(scale, count).with_seed(seed);
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
    writing().write(path, &Coo { row_count, column_count, symmetry, rows, columns, values })?;
    Ok(())
}

/// Returns the number of entries, and the sum of their coordinates counted from 0.
fn edges(bytes: &[u8]) -> TextContent {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    // The line of sizes is the first one that is not a comment.
    let _ = lines.by_ref().find(|line| !line.starts_with(b"%"));
    let mut found = TextContent::default();
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

/// Returns the number of values, and their sum as a whole number.
fn numbers(bytes: &[u8]) -> TextContent {
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
    TextContent { values: count, sum: rounded(sum) }
}

/// Rounds a sum to a whole number, so that sums added up in other orders are equal.
#[expect(clippy::cast_possible_truncation, reason = "compared, not computed with")]
fn rounded(sum: f64) -> u64 {
    (sum.round() as i64).cast_unsigned()
}

fn options(workers: usize) -> MatrixOptions {
    MatrixOptions::new().with_read(ReadOptions::new().with_workers(workers))
}

fn added(ids: &[u32]) -> u64 {
    ids.iter().map(|&id| u64::from(id)).sum()
}

/// A way to read the text at a path with some workers.
pub type TextWay = fn(&Path, usize, &mut Meter) -> Result<TextContent>;

/// Reads the entries of the graph at `path`.
///
/// # Errors
///
/// If it cannot be read, or has rows or columns that need 64 bits.
pub fn coordinates(path: &Path, workers: usize, meter: &mut Meter) -> Result<TextContent> {
    let read = meter.measure(|| options(workers).read(path))??;
    let AnyCoo::U32(matrix) = read else { bail!("it needs no 64 bits") };
    let sum = added(&matrix.rows) + added(&matrix.columns);
    Ok(TextContent { values: matrix.entry_count() as u64, sum })
}

/// Reads a graph row by row.
///
/// # Errors
///
/// As [`coordinates`].
pub fn rows(path: &Path, workers: usize, meter: &mut Meter) -> Result<TextContent> {
    let read = meter.measure(|| options(workers).read_rows(path))??;
    let AnyCsr::U32(matrix) = read else { bail!("it needs no 64 bits") };
    let lens = matrix.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let rows: u64 = (0..).zip(lens).map(|(row, len): (u64, u64)| row * len).sum();
    Ok(TextContent { values: matrix.entry_count() as u64, sum: rows + added(&matrix.columns) })
}

/// Writes the graph at `path` to another file, and reads that.
///
/// # Errors
///
/// As [`coordinates`], or if it cannot be written beside it.
pub fn back(path: &Path, workers: usize, meter: &mut Meter) -> Result<TextContent> {
    let matrix = options(workers).read(path)?;
    let again = path.with_extension("again.mtx");
    let output = OutputOptions::new().with_durability(Durability::None);
    let options = writing().with_output(output.with_workers(workers));
    meter.measure(|| options.write(&again, &matrix))??;
    drop(matrix);
    let found = coordinates(&again, workers, &mut Meter::default())?;
    fs::remove_file(again)?;
    Ok(found)
}

/// Reads a graph line by line, as a program without a library does.
///
/// # Errors
///
/// If the text is not a graph without values.
pub fn edges_by_lines(path: &Path, _: usize, meter: &mut Meter) -> Result<TextContent> {
    let read = || {
        let text = fs::read_to_string(path)?;
        let mut lines = text.lines().skip_while(|line| line.starts_with('%'));
        let _ = lines.next().context("there are sizes")?;
        let edge = |line: &str| {
            let (row, column) = line.split_once(' ').context("there are two numbers")?;
            Ok((row.parse::<u32>()? - 1, column.parse::<u32>()? - 1))
        };
        lines.map(edge).collect::<Result<Vec<_>>>()
    };
    let edges = meter.measure(read)??;
    let sum = edges.iter().map(|&(row, column)| u64::from(row) + u64::from(column)).sum();
    Ok(TextContent { values: edges.len() as u64, sum })
}

/// Reads the table at `path`.
///
/// # Errors
///
/// If it cannot be read.
pub fn table(path: &Path, workers: usize, meter: &mut Meter) -> Result<TextContent> {
    let options = BatchOptions::new()
        .with_header(HeaderLine::Absent)
        .with_read(ReadOptions::new().with_workers(workers));
    let values = meter.measure(|| options.read_array::<f64>(path))??.values;
    Ok(TextContent { values: values.len() as u64, sum: rounded(values.iter().sum()) })
}

/// Reads a table line by line, as a program without a library does.
///
/// # Errors
///
/// As [`table`].
pub fn table_by_lines(path: &Path, _: usize, meter: &mut Meter) -> Result<TextContent> {
    let read = || {
        let mut values: Vec<f64> = Vec::new();
        for line in BufReader::new(File::open(path)?).lines() {
            for field in line?.split(',') {
                values.push(field.parse()?);
            }
        }
        anyhow::Ok(values)
    };
    let values = meter.measure(read)??;
    Ok(TextContent { values: values.len() as u64, sum: rounded(values.iter().sum()) })
}
