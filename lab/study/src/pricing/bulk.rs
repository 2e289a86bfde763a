//! Study C's optimised form, with its parallel and its serial parts.
//!
//! ```text
//! read     one bulk read of the whole file into memory
//! tokens   one thread: the start of each field of each line
//! parse    all threads, each an equal share of the contracts
//! price    all threads
//! format   all threads, each into its own text; then into one common buffer
//! write    one bulk write
//! ```

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use swath::append::Ordered;
use swath_formats::contracts::format_prices;

use super::columns::{ColumnPart, Columns};
use super::row::{FIELDS, Fields, MOST_LINE, count, is_blank, is_empty, row};
use super::{FormReport, Pricing};
use crate::threads::each;

/// Prices the contracts; `None` for an invalid text.
pub(super) fn run(
    pricing: &Pricing,
    from: &Path,
    output: &Ordered,
) -> Result<Option<FormReport>> {
    let (start, workers) = (Instant::now(), pricing.workers());
    let bytes = pricing.read.read(from)?.buffer;
    let Some(tokens) = tokens(&bytes) else { return Ok(None) };
    let Some(columns) = parse(&bytes, &tokens, workers)? else { return Ok(None) };
    drop(tokens);
    let read = start.elapsed();
    let (prices, difference) = columns.prices(workers)?;
    let compute = start.elapsed() - read;

    let mut ticket = output.ticket()?;
    *ticket.buffer() = format(&prices, workers);
    ticket.done()?;
    let (contracts, bytes_in) = (columns.len() as u64, bytes.len() as u64);
    Ok(Some(FormReport { contracts, bytes_in, read, compute, difference }))
}

/// Returns the start of each field of each contract; `None` for an invalid text. Runs on one thread.
fn tokens(bytes: &[u8]) -> Option<Vec<usize>> {
    let (end, mut at) = line_end(bytes, 0);
    let declared = count(&bytes[..end])?;
    let mut starts = Vec::new();
    let mut there = 0;
    while there < declared {
        if at == bytes.len() {
            return None;
        }
        let (end, next) = line_end(bytes, at);
        let line = &bytes[at..end];
        let before = starts.len();
        starts.extend(Fields::of(line).map(|(from, _)| at + from));
        if line.len() > MOST_LINE || starts.len() - before != FIELDS {
            return None;
        }
        (at, there) = (next, there + 1);
    }
    is_empty(&bytes[at..]).then_some(starts)
}

/// Returns the end of the line at `at`, and the start of the next line.
fn line_end(bytes: &[u8], at: usize) -> (usize, usize) {
    let rest = &bytes[at..];
    match rest.iter().position(|&byte| byte == b'\n') {
        Some(len) => (at + len, at + len + 1),
        None => (bytes.len(), bytes.len()),
    }
}

fn parse(bytes: &[u8], tokens: &[usize], workers: usize) -> Result<Option<Columns>> {
    let (lines, _) = tokens.as_chunks::<FIELDS>();
    let mut columns = Columns::zeroed(lines.len())?;
    let size = lines.len().div_ceil(workers).max(1);
    let parts: Vec<_> = lines.chunks(size).zip(columns.parts_mut(size)).collect();
    let parsed = each(parts, |(lines, part)| parse_part(bytes, lines, part)).results;
    Ok(parsed.into_iter().all(|part| part.is_some()).then_some(columns))
}

/// Parses some neighbouring contracts.
fn parse_part(bytes: &[u8], lines: &[[usize; FIELDS]], mut part: ColumnPart<'_>) -> Option<()> {
    for (index, starts) in lines.iter().enumerate() {
        part.set(index, &row(starts.iter().map(|&at| token(bytes, at)))?);
    }
    Some(())
}

/// Returns the field that begins at byte `at`.
fn token(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..];
    let is_end = |byte| is_blank(byte) || byte == b'\n';
    let len = rest.iter().position(|&byte| is_end(byte)).unwrap_or(rest.len());
    let token = &rest[..len];
    // The carriage return belongs to the line end, not to the last field.
    match rest.get(len) {
        Some(b'\n') | None => token.strip_suffix(b"\r").unwrap_or(token),
        Some(_) => token,
    }
}

/// Formats the count and all prices, with all threads, into one common buffer.
fn format(prices: &[f64], workers: usize) -> Vec<u8> {
    let size = prices.len().div_ceil(workers).max(1);
    let texts = each(prices.chunks(size).collect(), |prices| {
        let mut out = Vec::new();
        format_prices(prices, &mut out);
        out
    })
    .results;
    let mut common = format!("{}\n", prices.len()).into_bytes();
    let head = common.len();
    common.resize(head + texts.iter().map(Vec::len).sum::<usize>(), 0);
    let mut rest = &mut common[head..];
    let places = texts.iter().map(|text| {
        let (place, after) = std::mem::take(&mut rest).split_at_mut(text.len());
        rest = after;
        (place, text)
    });
    each(places.collect(), |(place, text): (&mut [u8], &Vec<u8>)| place.copy_from_slice(text));
    common
}
