//! The delimiter, quote and comment of a file, and how to read one field.

use std::ops::Range;

use super::options::{Delimiter, TableOptions};

/// How the text of one file is written.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub(super) delimiter: Delimiter,
    pub(super) comment: Option<u8>,
    pub(super) quote: Option<u8>,
    /// Number of columns in the file.
    pub(super) columns: usize,
    /// Whether some of them are skipped. Those may contain text.
    pub(super) skips: bool,
    pub(super) trim: Trim,
    /// Without the empty one.
    missing_words: Vec<Vec<u8>>,
    /// Whether an empty field is a missing value.
    has_empty: bool,
}

/// What is cut off all fields before they are parsed. This only affects speed: a field that is not
/// a number as it stands is trimmed and parsed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trim {
    /// Nothing.
    Nothing,
    /// Carriage returns at the ends of lines.
    LineEnds,
    /// Blanks, and then quotes.
    Fields,
}

impl Dialect {
    pub(super) fn new(options: &TableOptions, delimiter: Delimiter) -> Self {
        let words = options.missing_words.iter().filter(|word| !word.is_empty());
        Self {
            delimiter,
            comment: options.comment,
            quote: options.quote,
            columns: 0,
            skips: false,
            trim: Trim::Nothing,
            missing_words: words.cloned().collect(),
            has_empty: options.missing_words.iter().any(Vec::is_empty),
        }
    }

    /// Learns from a line of data how fields are likely to be written.
    pub(super) fn look_at(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let text = without_returns(line);
        let is_between = |byte| self.delimiter == Delimiter::Blanks && self.is_blank(byte);
        let odd =
            |&byte: &u8| (self.is_blank(byte) && !is_between(byte)) || Some(byte) == self.quote;
        self.trim = match (text.iter().any(odd), text.len() < line.len()) {
            (true, _) => Trim::Fields,
            (false, true) => Trim::LineEnds,
            (false, false) => Trim::Nothing,
        };
    }

    /// Whether a byte is a blank that may surround a field.
    pub(super) fn is_blank(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && self.delimiter != Delimiter::Byte(byte)
    }

    /// Whether a byte ends a field that is not the last of its line.
    pub(super) fn separates(&self, byte: u8) -> bool {
        match self.delimiter {
            Delimiter::Byte(delimiter) => byte == delimiter,
            Delimiter::Blanks => self.is_blank(byte),
        }
    }

    /// Whether a line, with or without its newline, holds data. A comment that contains a carriage
    /// return counts as data and is then rejected: what follows the carriage return may be a line
    /// of its own.
    pub(super) fn is_data(&self, line: &[u8]) -> bool {
        let text = without_returns(line.strip_suffix(b"\n").unwrap_or(line));
        match self.trimmed(text).first() {
            None => false,
            Some(&first) if Some(first) == self.comment => text.contains(&b'\r'),
            Some(_) => true,
        }
    }

    /// Cuts off blanks, and then a pair of quotes unless there is a quote between them: the value
    /// then contains quotes, so it is neither a number nor missing. What is bare stays as it is.
    pub(super) fn bare<'f>(&self, field: &'f [u8]) -> &'f [u8] {
        let trimmed = self.trimmed(field);
        match (self.quote, trimmed) {
            (Some(quote), [first, inner @ .., last])
                if *first == quote && *last == quote && !inner.contains(&quote) =>
            {
                match self.delimiter {
                    Delimiter::Byte(_) => self.trimmed(inner),
                    Delimiter::Blanks => inner,
                }
            }
            _ => trimmed,
        }
    }

    fn trimmed<'f>(&self, mut field: &'f [u8]) -> &'f [u8] {
        while let Some((_, rest)) =
            field.split_first().filter(|(byte, _)| self.is_blank(**byte))
        {
            field = rest;
        }
        while let Some((_, rest)) = field.split_last().filter(|(byte, _)| self.is_blank(**byte))
        {
            field = rest;
        }
        field
    }

    /// Whether the bare text of a field stands for a missing value.
    pub(super) fn is_missing(&self, bare: &[u8]) -> bool {
        match bare {
            [] => self.has_empty,
            _ => self.missing_words.iter().any(|word| word == bare),
        }
    }

    /// Splits a line into fields, observing quotes. Slower than [`Fields`](super::fields::Fields).
    pub(super) fn fields<'l>(&self, line: &'l [u8]) -> LineFields<'l, '_> {
        let line = without_returns(line.strip_suffix(b"\n").unwrap_or(line));
        LineFields { line, at: 0, dialect: self }
    }
}

/// Cuts off the carriage returns at the end of a line.
pub(super) fn without_returns(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_suffix(b"\r") {
        line = rest;
    }
    line
}

/// The fields of one line, from left to right.
pub(super) struct LineFields<'l, 'd> {
    line: &'l [u8],
    /// Where the next one begins; past the end after the last one.
    at: usize,
    dialect: &'d Dialect,
}

/// The position of a field in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Including everything around it.
    pub(super) place: Range<usize>,
    pub(super) is_quoted: bool,
}

/// A quote opens at this byte of the line and is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenQuote(pub(super) usize);

impl Iterator for LineFields<'_, '_> {
    type Item = Result<Field, OpenQuote>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, dialect) = (self.line, self.dialect);
        let rest = line.get(self.at..)?;
        let blanks = rest.iter().take_while(|&&byte| dialect.is_blank(byte)).count();
        let begin = self.at + blanks;
        if dialect.delimiter == Delimiter::Blanks && begin == line.len() {
            self.at = line.len() + 1;
            return None;
        }
        let quote = dialect.quote.filter(|&quote| line.get(begin) == Some(&quote));
        let closed = match quote {
            None => begin,
            Some(quote) => match closing(&line[begin + 1..], quote) {
                Some(len) => begin + 1 + len,
                None => {
                    self.at = line.len() + 1;
                    return Some(Err(OpenQuote(begin)));
                }
            },
        };
        let after = line[closed..].iter().position(|&byte| dialect.separates(byte));
        let end = after.map_or(line.len(), |len| closed + len);
        let start = match dialect.delimiter {
            Delimiter::Byte(_) => self.at,
            Delimiter::Blanks => begin,
        };
        self.at = end + 1;
        Some(Ok(Field { place: start..end, is_quoted: quote.is_some() }))
    }
}

/// Returns the number of bytes up to and including the closing quote; a doubled quote stands for
/// itself.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].iter().position(|&byte| byte == quote)? + 1;
        if text.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}
