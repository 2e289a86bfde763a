//! Study C's own optimised form: what is parallel in it, and what is not.
//!
//! ```text
//! read     one bulk read, all of the file in memory
//! tokens   one thread: where each field of each line begins
//! parse    all threads, each an equal share of the contracts
//! price    all threads
//! format   all threads, each into a text of its own; then into one common buffer
//! write    one bulk write
//! ```

use std::path::PathBuf;
use std::time::Instant;

use swath::append::Ordered;
use swath::{Buffer, ReadOptions, Source};

use super::contracts::{Contracts, Part};
use super::header::{count, surplus, too_few};
use super::line::{Fields, Wrong, check_len, full, is_blank, row};
use super::pricing::{format, price_all};
use super::supply::Text;
use super::{Done, Job};
use crate::error::{Error, Result};
use crate::number::format::push_u64;
use crate::share::share;

/// Fields of a contract.
const FIELDS: usize = 9;

pub(super) fn run(job: &Job<'_>, source: Source, output: &Ordered) -> Result<Done> {
    let start = Instant::now();
    let text = Whole::read(job.read, source)?;
    let tokens = text.tokens()?;
    let contracts = text.parse(&tokens.starts, job.workers)?;
    // Whatever is wrong in front of it is told first.
    tokens.later.map_or(Ok(()), Err)?;
    drop(tokens.starts);
    let read = start.elapsed();
    let (prices, difference) = price_all(&contracts, job.workers, job.runs)?;
    let compute = start.elapsed() - read;

    let size = prices.len().div_ceil(job.workers).max(1);
    let mut texts = share(prices.chunks(size), job.workers, |prices| {
        let mut out = Vec::new();
        format(prices, &mut out);
        out
    });
    let mut header = Vec::new();
    push_u64(&mut header, prices.len() as u64);
    header.push(b'\n');
    texts.insert(0, header);
    let mut common = vec![0; texts.iter().map(Vec::len).sum()];
    let mut rest = common.as_mut_slice();
    let places = texts.iter().map(|text| {
        let (place, behind) = std::mem::take(&mut rest).split_at_mut(text.len());
        rest = behind;
        (place, text)
    });
    share(places.collect::<Vec<_>>(), job.workers, |(place, text)| place.copy_from_slice(text));
    let mut ticket = output.ticket()?;
    *ticket.buffer() = common;
    ticket.done()?;
    let (contracts, bytes_in) = (contracts.len() as u64, text.bytes.len() as u64);
    Ok(Done { contracts, bytes_in, read, compute, difference })
}

/// What is found before anything is parsed.
struct Tokens {
    /// Where each field of each contract begins.
    starts: Vec<usize>,
    /// What is wrong behind the last one.
    later: Option<Error>,
}

/// All of a file.
struct Whole {
    path: PathBuf,
    bytes: Buffer,
}

impl Whole {
    fn read(options: &ReadOptions, source: Source) -> Result<Self> {
        // What messages call it, which a buffer does not know.
        let path = options.reader(source.clone())?.path().to_owned();
        Ok(Self { path, bytes: options.read(source)?.buffer })
    }

    /// The error for what is wrong on line `line`, from 0, which begins at byte `at`.
    fn wrong(&self, (line, at): (usize, usize), wrong: Wrong) -> Error {
        let text = Text { path: &self.path, bytes: &self.bytes, line: 1, offset: 0 };
        text.error(wrong, (line, at))
    }

    /// Where the line from `at` on ends, and the next one begins.
    fn line_end(&self, at: usize) -> (usize, usize) {
        let rest = &self.bytes[at..];
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(len) => (at + len, at + len + 1),
            None => (at + rest.len(), at + rest.len()),
        }
    }

    /// Finds the fields, with this thread alone.
    fn tokens(&self) -> Result<Tokens> {
        let (end, mut at) = self.line_end(0);
        let line = (!self.bytes.is_empty()).then_some(&self.bytes[..end]);
        let declared = count(line).map_err(|wrong| self.wrong((0, 0), wrong))?;
        let mut starts = Vec::new();
        let mut line = 1;
        let later = loop {
            let there = (line - 1) as u64;
            if there == declared {
                let wrong = surplus(&self.bytes[at..], declared);
                break wrong.map(|wrong| self.wrong((line, at), wrong));
            }
            if at == self.bytes.len() {
                let (line, offset) = (line as u64 + 1, at as u64);
                let end = Text { path: &self.path, bytes: &[], line, offset };
                break Some(end.error(too_few(declared, there), (0, 0)));
            }
            let (end, next) = self.line_end(at);
            let text = &self.bytes[at..end];
            if let Err(wrong) = check_len(text) {
                break Some(self.wrong((line, at), wrong));
            }
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let before = starts.len();
            starts.extend(Fields { line: text, at: 0 }.map(|(from, _)| at + from));
            if starts.len() - before != FIELDS {
                starts.truncate(before);
                break full(text).err().map(|wrong| self.wrong((line, at), wrong));
            }
            (at, line) = (next, line + 1);
        };
        Ok(Tokens { starts, later })
    }

    fn parse(&self, tokens: &[usize], workers: usize) -> Result<Contracts> {
        let (lines, _) = tokens.as_chunks::<FIELDS>();
        let mut contracts = Contracts::zeroed(lines.len())?;
        let size = lines.len().div_ceil(workers).max(1);
        let mut rest = contracts.part_mut();
        let parts = lines.chunks(size).enumerate();
        let parts: Vec<_> =
            parts.map(|(index, lines)| (index * size, lines, rest.take(lines.len()))).collect();
        let parsed =
            share(parts, workers, |(first, lines, part)| self.part(first, lines, part));
        parsed.into_iter().collect::<Result<()>>()?;
        Ok(contracts)
    }

    /// Parses some neighbouring contracts; `first` is the index of the first one.
    fn part(&self, first: usize, lines: &[[usize; FIELDS]], mut part: Part<'_>) -> Result<()> {
        for (index, starts) in lines.iter().enumerate() {
            let fields = starts.iter().map(|&at| (at, self.token(at)));
            match row(fields, 0) {
                Ok(row) => part.set(index, &row),
                Err(wrong) => return Err(self.wrong((first + index + 1, 0), wrong)),
            }
        }
        Ok(())
    }

    /// The field that begins at byte `at`.
    fn token(&self, at: usize) -> &[u8] {
        let rest = &self.bytes[at..];
        let is_end = |byte| is_blank(byte) || byte == b'\n';
        let len = rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len());
        let token = &rest[..len];
        // A line's end, not its last field's.
        match rest.get(len) {
            Some(b'\n') | None => token.strip_suffix(b"\r").unwrap_or(token),
            Some(_) => token,
        }
    }
}
