//! Line by line, as the original program: one thread reads, all compute, one thread writes.

use std::fmt::Arguments;
use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::time::Instant;

use swath::append::{Ordered, Ticket};
use swath::{Engine, Reader, Source};

use super::contracts::Contracts;
use super::header::{count, surplus, too_few};
use super::line::{MOST_LINE, Row, Wrong, check_len, full};
use super::pricing::price_all;
use super::supply::Text;
use super::{Done, Job};
use crate::error::{Error, Result};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;

pub(super) fn run(job: &Job<'_>, source: Source, output: &Ordered) -> Result<Done> {
    let start = Instant::now();
    // Nobody reads ahead.
    let reader = job.read.clone().with_engine(Engine::Serial).with_workers(1).reader(source)?;
    let (rows, bytes_in) = Lines::new(reader).contracts()?;
    let mut contracts = Contracts::zeroed(rows.len())?;
    let mut part = contracts.part_mut();
    for (index, row) in rows.iter().enumerate() {
        part.set(index, row);
    }
    drop(rows);
    let read = start.elapsed();
    let (prices, difference) = price_all(&contracts, job.workers, job.runs)?;
    let compute = start.elapsed() - read;
    let mut out = LineWriter { output, ticket: None };
    out.line(format_args!("{}", prices.len()))?;
    for price in prices.iter() {
        out.line(format_args!("{price:.18}"))?;
    }
    out.end()?;
    Ok(Done { contracts: contracts.len() as u64, bytes_in, read, compute, difference })
}

/// The lines of a stream, one after the other.
struct Lines {
    reader: Reader,
    path: PathBuf,
    /// The last one that was read, with its newline.
    line: Vec<u8>,
    /// Of that one.
    offset: u64,
    number: u64,
}

impl Lines {
    fn new(reader: Reader) -> Self {
        let path = reader.path().to_owned();
        Self { reader, path, line: Vec::new(), offset: 0, number: 0 }
    }

    /// Reads the next line; `None` at the end.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.offset += self.line.len() as u64;
        self.number += 1;
        self.line.clear();
        // Enough of it to see that it is too long.
        let mut reader = (&mut self.reader).take(MOST_LINE as u64 + 1);
        let read = reader.read_until(b'\n', &mut self.line);
        read.map_err(|error| Error::from_io(error, &self.path))?;
        if self.line.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }

    /// The error for what is wrong with the last line that was read.
    fn wrong(&self, wrong: Wrong) -> Error {
        let (path, bytes) = (&self.path, &self.line);
        let text = Text { path, bytes, line: self.number, offset: self.offset };
        text.error(wrong, (0, 0))
    }

    /// All contracts, and how many bytes there were.
    fn contracts(mut self) -> Result<(Vec<Row>, u64)> {
        let declared = count(self.next()?);
        let declared = declared.map_err(|wrong| self.wrong(wrong))?;
        let mut rows = Vec::new();
        while (rows.len() as u64) < declared {
            match self.next()?.map(|line| check_len(line).and_then(|()| full(line))) {
                Some(Ok(row)) => rows.push(row),
                Some(Err(wrong)) => return Err(self.wrong(wrong)),
                None => return Err(self.wrong(too_few(declared, rows.len() as u64))),
            }
        }
        while let Some(line) = self.next()? {
            if let Some(wrong) = surplus(line, declared) {
                return Err(self.wrong(wrong));
            }
        }
        Ok((rows, self.offset))
    }
}

/// Writes line by line, in chunks as a buffered file would.
struct LineWriter<'o> {
    output: &'o Ordered,
    /// The chunk that is being gathered.
    ticket: Option<Ticket>,
}

impl LineWriter<'_> {
    fn line(&mut self, line: Arguments<'_>) -> Result<()> {
        let mut ticket = match self.ticket.take() {
            Some(ticket) => ticket,
            None => self.output.ticket()?,
        };
        writeln!(ticket.buffer(), "{line}").expect("a vector takes everything");
        if ticket.buffer().len() < BUFFER {
            self.ticket = Some(ticket);
            return Ok(());
        }
        Ok(ticket.done()?)
    }

    fn end(self) -> Result<()> {
        self.ticket.map_or(Ok(()), |ticket| Ok(ticket.done()?))
    }
}
