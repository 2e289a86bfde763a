//! Study C's original form: one thread reads line by line, all compute, one thread writes line by line.

use std::fmt::Arguments;
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use swath::append::{Ordered, Ticket};
use swath::{Engine, Reader};

use super::columns::Columns;
use super::row::{Fields, MOST_LINE, Row, count, is_empty, row};
use super::{FormReport, Pricing};

/// Bytes to collect before a write.
const BUFFER: usize = 64 << 10;

/// Prices the contracts; `None` for an invalid text.
pub(super) fn run(
    pricing: &Pricing,
    from: &Path,
    output: &Ordered,
) -> Result<Option<FormReport>> {
    let start = Instant::now();
    // No readahead by the library.
    let read = pricing.read.clone().with_engine(Engine::Serial).with_workers(1);
    let lines = Lines { reader: read.reader(from)?, line: Vec::new(), bytes: 0 };
    let Some((rows, bytes_in)) = lines.contracts()? else { return Ok(None) };
    let mut columns = Columns::zeroed(rows.len())?;
    for mut part in columns.parts_mut(rows.len().max(1)) {
        rows.iter().enumerate().for_each(|(index, row)| part.set(index, row));
    }
    drop(rows);
    let read = start.elapsed();
    let (prices, difference) = columns.prices(pricing.workers())?;
    let compute = start.elapsed() - read;
    let mut out = LineWriter { output, ticket: None };
    out.line(format_args!("{}", prices.len()))?;
    for price in prices.iter() {
        out.line(format_args!("{price:.18}"))?;
    }
    out.end()?;
    let contracts = columns.len() as u64;
    Ok(Some(FormReport { contracts, bytes_in, read, compute, difference }))
}

/// Reads the lines of a file one after the other.
struct Lines {
    reader: Reader,
    /// The last line read, with its newline.
    line: Vec<u8>,
    /// Bytes read up to the end of that line.
    bytes: u64,
}

impl Lines {
    /// Reads the next line; `None` at the end.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        // One byte more than allowed shows that a line is too long.
        let mut reader = (&mut self.reader).take(MOST_LINE as u64 + 1);
        reader.read_until(b'\n', &mut self.line)?;
        self.bytes += self.line.len() as u64;
        if self.line.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }

    /// Returns all contracts, and the bytes of the file; `None` for an invalid text.
    fn contracts(mut self) -> Result<Option<(Vec<Row>, u64)>> {
        let Some(declared) = self.next()?.and_then(count) else { return Ok(None) };
        let mut rows = Vec::new();
        while (rows.len() as u64) < declared {
            let line = self.next()?.filter(|line| line.len() <= MOST_LINE);
            let row = line.and_then(|line| row(Fields::of(line).map(|(_, token)| token)));
            let Some(row) = row else { return Ok(None) };
            rows.push(row);
        }
        while let Some(line) = self.next()? {
            if !is_empty(line) {
                return Ok(None);
            }
        }
        Ok(Some((rows, self.bytes)))
    }
}

/// Writes line by line, in chunks as a buffered file would.
struct LineWriter<'o> {
    output: &'o Ordered,
    /// The current chunk.
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
