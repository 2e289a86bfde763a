//! The start of a file: its delimiter, its header, how many columns it has.

use std::path::Path;

use swath::ReadOptions;
use swath_simd::decimal;

use super::dialect::Dialect;
use super::options::{Header, TableOptions};
use crate::error::{Error, Reason, Result};
use crate::number::parse::double;
use crate::text::Fault;

/// Bytes that are read first; more, if the first line is longer.
const FIRST: u64 = 64 << 10;

/// What the start of a file says.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) dialect: Dialect,
    pub(super) names: Option<Vec<String>>,
    /// Where the first line behind the header begins.
    pub(super) data: u64,
    /// Bytes of the file.
    pub(super) len: u64,
}

/// Reads the start of the table at `path`.
pub(super) fn read(path: &Path, options: &TableOptions) -> Result<Head> {
    check(path, options)?;
    // Whatever is wrong with the path, the library says it best.
    ReadOptions::new().with_len(0).read(path)?;
    let file = std::fs::metadata(path)
        .map_err(|error| Error::reading(path, Reason::Library, error.to_string()))?;
    if !file.is_file() {
        let error = Error::reading(path, Reason::Unsupported, "it is read twice");
        return Err(error.hint("write it to a file first"));
    }
    let len = file.len();
    let mut wanted = FIRST.min(len);
    loop {
        let read = ReadOptions::new().with_len(wanted).read(path)?;
        let is_all = wanted == len;
        match look(&read.buffer, is_all, options) {
            Ok(Some(mut head)) => {
                head.len = len;
                return Ok(head);
            }
            Ok(None) => wanted = (wanted * 4).min(len),
            Err(fault) => return Err(fault.into_error(path)),
        }
    }
}

/// Delimiters that are looked for, in this order.
const DELIMITERS: [u8; 5] = *b"\t,;| ";

/// Looks at the first bytes of a file, which may be all of it. `None` if more are needed.
fn look(
    text: &[u8],
    is_all: bool,
    options: &TableOptions,
) -> std::result::Result<Option<Head>, Fault> {
    let mut dialect = Dialect::new(options, options.delimiter.unwrap_or(0));
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let Some(first) = data_line(text, mark, is_all, &dialect) else {
        let detail = match text {
            [] => "the file is empty",
            _ => "no table: only comments and empty lines",
        };
        return if is_all { Err(Fault::malformed(0, detail)) } else { Ok(None) };
    };
    let marks = &mut dialect.marks;
    marks.delimiter = options.delimiter.unwrap_or_else(|| sniff(&text[first..], options.quote));
    let Some((fields, behind)) = record(&text[first..], is_all, &dialect, first as u64)? else {
        return Ok(None);
    };
    dialect.columns = fields.len();
    // Also a number that is too large: it is data, and an error.
    let is_number = |field: &Vec<u8>| {
        double(field).is_some()
            || std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
    };
    let is_word = |field: &Vec<u8>| !is_number(field) && !dialect.is_missing(field);
    let is_header = match options.header {
        Header::Present => true,
        Header::Absent => false,
        Header::Auto => fields.iter().any(is_word),
    };
    let (mut names, mut data) = (None, first);
    if is_header {
        data = first + behind;
        let utf8 = fields.into_iter().map(String::from_utf8).collect();
        let no_text = |_| Fault::malformed(first as u64, "a name that is not UTF-8");
        names = Some(std::result::Result::map_err(utf8, no_text)?);
    }
    // Only to see how fields look: if it is not here, they are trimmed one by one.
    if let Some(sample) = data_line(text, data, true, &dialect) {
        let line = text[sample..].split_inclusive(|&byte| byte == b'\n').next();
        dialect.look_at(line.unwrap_or_default());
    }
    Ok(Some(Head { dialect, names, data: data as u64, len: 0 }))
}

/// Where the first line of data begins, from `at` on; `None` if none does, or none that is whole
/// for certain.
fn data_line(text: &[u8], mut at: usize, is_all: bool, dialect: &Dialect) -> Option<usize> {
    for line in text[at..].split_inclusive(|&byte| byte == b'\n') {
        if dialect.is_data(line) {
            return Some(at);
        }
        if !is_all && line.last() != Some(&b'\n') {
            return None;
        }
        at += line.len();
    }
    None
}

/// The delimiter of a line.
fn sniff(text: &[u8], quote: Option<u8>) -> u8 {
    let mut is_quoted = false;
    let mut seen = [false; DELIMITERS.len()];
    for &byte in text.iter().take_while(|&&byte| byte != b'\n') {
        is_quoted ^= Some(byte) == quote;
        if let Some(which) = DELIMITERS.iter().position(|&it| it == byte && !is_quoted) {
            seen[which] = true;
        }
    }
    let found = DELIMITERS.into_iter().zip(seen).find(|(_, seen)| *seen);
    found.map_or(b',', |(delimiter, _)| delimiter)
}

type Record = (Vec<Vec<u8>>, usize);

/// The fields of the first record, without what is around them, and its length with its newline;
/// a newline inside quotes is part of a field. `None` if it does not end here.
fn record(
    text: &[u8],
    is_all: bool,
    dialect: &Dialect,
    offset: u64,
) -> std::result::Result<Option<Record>, Fault> {
    let (mut fields, mut at) = (Vec::new(), 0);
    loop {
        let blanks = text[at..].iter().take_while(|&&byte| dialect.is_blank(byte)).count();
        let quote = dialect.quote.filter(|&quote| text.get(at + blanks) == Some(&quote));
        let mut field = Vec::new();
        if let Some(quote) = quote {
            let begun = offset + (at + blanks) as u64;
            at += blanks + 1;
            loop {
                match (text.get(at), text.get(at + 1)) {
                    (Some(byte), Some(next)) if *byte == quote && *next == quote => {
                        field.push(quote);
                        at += 2;
                    }
                    (Some(byte), _) if *byte == quote => break,
                    (Some(byte), _) => {
                        field.push(*byte);
                        at += 1;
                    }
                    (None, _) if is_all => {
                        return Err(Fault::malformed(begun, "a quote that does not end"));
                    }
                    (None, _) => return Ok(None),
                }
            }
            at += 1;
        }
        let rest = &text[at..];
        let ends = |&byte: &u8| byte == dialect.marks.delimiter || byte == b'\n';
        let len = rest.iter().position(ends);
        if len.is_none() && !is_all {
            return Ok(None);
        }
        let len = len.unwrap_or(rest.len());
        match quote {
            None => field.extend_from_slice(dialect.bare(&rest[..len])),
            Some(_) if dialect.bare(&rest[..len]).is_empty() => {}
            Some(_) => {
                let offset = offset + at as u64;
                return Err(Fault::malformed(offset, "text behind a closing quote"));
            }
        }
        fields.push(field);
        at += len;
        match text.get(at) {
            Some(b'\n') => return Ok(Some((fields, at + 1))),
            None => return Ok(Some((fields, at))),
            Some(_) => at += 1,
        }
    }
}

/// Refuses options that nobody can mean.
fn check(path: &Path, options: &TableOptions) -> Result<()> {
    let marks = [options.delimiter, options.quote, options.comment];
    let is_wrong = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'\n' | b'\r' | b'+' | b'-' | b'.')
    };
    let mut given = marks.iter().flatten();
    let wrong = given.any(|&byte| is_wrong(byte));
    let twice = |a: Option<u8>, b: Option<u8>| a.is_some() && a == b;
    let same =
        twice(marks[0], marks[1]) || twice(marks[1], marks[2]) || twice(marks[0], marks[2]);
    if wrong || same {
        let detail =
            "delimiter, quote and comment differ, and are part of no number or line end";
        return Err(Error::reading(path, Reason::Invalid, detail));
    }
    if options.missing_words.iter().any(|word| decimal(word).is_some()) {
        let detail = "a number cannot stand for a missing value";
        return Err(Error::reading(path, Reason::Invalid, detail));
    }
    Ok(())
}
