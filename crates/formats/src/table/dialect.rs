//! What separates, quotes and comments in one file, and how one field is read.

use swath_simd::Marks;

use super::options::TableOptions;

/// How the text of one file is written.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    pub(super) marks: Marks,
    pub(super) quote: Option<u8>,
    pub(super) columns: usize,
    pub(super) trim: Trim,
    missing_words: Vec<Vec<u8>>,
}

/// What is cut off all fields before they are parsed. Only a matter of speed: a field that is no
/// number as it stands is trimmed and looked at again.
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
    pub(super) fn new(options: &TableOptions, delimiter: u8) -> Self {
        Self {
            marks: Marks { delimiter, comment: options.comment },
            quote: options.quote,
            columns: 0,
            trim: Trim::Nothing,
            missing_words: options.missing_words.clone(),
        }
    }

    /// Learns from a line of data how all fields are likely to be written.
    pub(super) fn look_at(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (text, is_crlf) = match line.strip_suffix(b"\r") {
            Some(text) => (text, true),
            None => (line, false),
        };
        let odd = |&byte: &u8| self.is_blank(byte) || Some(byte) == self.quote;
        self.trim = match (text.iter().any(odd), is_crlf) {
            (true, _) => Trim::Fields,
            (false, true) => Trim::LineEnds,
            (false, false) => Trim::Nothing,
        };
    }

    /// Whether a byte may stand around a field.
    pub(super) fn is_blank(&self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t' | b'\r') && byte != self.marks.delimiter
    }

    /// Whether a line, with or without its newline, holds data.
    pub(super) fn is_data(&self, line: &[u8]) -> bool {
        match line.first() {
            None => false,
            Some(&first) if Some(first) == self.marks.comment => false,
            Some(_) => line.iter().any(|&byte| byte != b'\n' && !self.is_blank(byte)),
        }
    }

    /// Cuts off blanks, and then a pair of quotes.
    pub(super) fn bare<'f>(&self, field: &'f [u8]) -> &'f [u8] {
        let trimmed = self.trimmed(field);
        match (self.quote, trimmed) {
            (Some(quote), [first, inner @ .., last]) if *first == quote && *last == quote => {
                self.trimmed(inner)
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

    /// Whether a field, without what is around it, stands for a missing value.
    pub(super) fn is_missing(&self, bare: &[u8]) -> bool {
        self.missing_words.iter().any(|word| word == bare)
    }
}
