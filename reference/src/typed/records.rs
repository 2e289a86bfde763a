//! Text → lines → fields, byte by byte.

use super::fault::{Fault, Wrong};
use super::options::{Between, Comment, Options};
use super::widths::{self, Columns};

/// The bytes with a meaning.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    /// The delimiter of fields.
    pub between: Between,
    /// The quote that may surround them.
    pub quote: Option<u8>,
    /// The byte that makes the next one ordinary.
    pub escape: Option<u8>,
    /// The beginning of a line to skip.
    pub comment: Option<u8>,
    /// The number of last records that are not in a sample.
    pub footer: usize,
    /// The places of columns of fixed width.
    pub fixed: Option<Columns>,
}

impl Dialect {
    /// Returns the dialect of the options, with this delimiter.
    #[must_use]
    pub(super) fn new(options: &Options, between: Between) -> Self {
        let Options { quote, escape, .. } = *options;
        let comment = match options.comment {
            Comment::Byte(byte) => Some(byte),
            Comment::Auto | Comment::None => None,
        };
        // A quote that is also the escape is only doubled.
        let escape = escape.filter(|_| escape != quote);
        Self { between, quote, escape, comment, footer: options.skip_footer, fixed: None }
    }

    /// Whether a byte has no meaning yet.
    #[must_use]
    pub(super) fn is_free(&self, byte: u8) -> bool {
        ![self.quote, self.escape, self.comment].contains(&Some(byte))
    }
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The offset of its first byte in the text: of the quote, if it is quoted.
    pub at: usize,
    /// The text of the field.
    pub text: Vec<u8>,
    /// Its raw bytes, without quotes.
    pub raw: Vec<u8>,
    /// Whether it is in quotes.
    pub is_quoted: bool,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The offset of its first byte in the text.
    pub at: usize,
    /// Its fields, at least one.
    pub fields: Vec<Field>,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub(super) struct TextPlace<'t> {
    text: &'t [u8],
    /// The offset of the next byte.
    pub at: usize,
    /// Its line, from 1.
    pub line: usize,
}

impl<'t> TextPlace<'t> {
    /// Returns the byte before an offset.
    #[must_use]
    pub(super) fn byte_before(&self, at: usize) -> Option<u8> {
        self.text.get(at.checked_sub(1)?).copied()
    }

    /// Returns the text between two offsets.
    #[must_use]
    pub(super) fn between(&self, start: usize, end: usize) -> &'t [u8] {
        &self.text[start..end]
    }

    /// Returns the start of `text`.
    #[must_use]
    pub(super) fn start(text: &'t [u8]) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// Takes a line, whatever it contains, without its ending; `None` at the end of the text.
    pub(super) fn take_line(&mut self) -> Option<&'t [u8]> {
        let start = self.at;
        if start == self.text.len() {
            return None;
        }
        while let Some(byte) = self.take() {
            if byte == b'\n' {
                let line = &self.text[start..self.at - 1];
                return Some(line.strip_suffix(b"\r").unwrap_or(line));
            }
        }
        let line = &self.text[start..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Takes a line without its ending; a carriage return at the end of the text is not an ending.
    pub(super) fn take_whole_line(&mut self) -> &'t [u8] {
        let start = self.at;
        self.take_line();
        let line = &self.text[start..self.at];
        match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        }
    }

    /// Takes the next record; `None` at the end of the text.
    ///
    /// # Errors
    ///
    /// The fault of the record, or of a comment before it.
    pub(super) fn next(&mut self, dialect: &Dialect) -> Result<Option<Record>, Fault> {
        while self.skip(dialect)? {}
        if self.peek().is_none() {
            return Ok(None);
        }
        if let Some(columns) = &dialect.fixed {
            return self.of_widths(columns).map(Some);
        }
        let (line, at) = (self.line, self.at);
        let mut fields = Vec::new();
        loop {
            let field = self.field(dialect, line)?;
            fields.push(field);
            if dialect.between == Between::Blanks {
                self.skip_blanks();
            }
            if self.take_end() {
                return Ok(Some(Record { line, at, fields }));
            }
            // A delimiter, because the field ended here; blanks were already skipped.
            if dialect.between != Between::Blanks {
                self.take_delimiter(dialect);
            }
        }
    }

    /// Takes the record that begins here: its whole line, even if it has a fault.
    fn of_widths(&mut self, columns: &Columns) -> Result<Record, Fault> {
        let (line, at) = (self.line, self.at);
        let fields = widths::fields(self.take_whole_line(), columns)
            .map_err(|(wrong, byte)| Fault::new(wrong, line, at + byte))?;
        let field = |(byte, text): (usize, String)| {
            let text = text.into_bytes();
            Field { at: at + byte, raw: text.clone(), text, is_quoted: false }
        };
        Ok(Record { line, at, fields: fields.into_iter().map(field).collect() })
    }

    /// Returns the start of each record from here on, even of faulty ones.
    pub(super) fn records(&self, dialect: &Dialect) -> Vec<Self> {
        let (mut place, mut records) = (self.clone(), Vec::new());
        while !place.is_at_end() {
            // A comment with a fault is not a record either.
            if place.clone().skip(dialect) == Ok(false) {
                records.push(place.clone());
            }
            place.pass(dialect);
        }
        records
    }

    /// Returns the end of a sample from here on: before the last records, but after the first one.
    pub(super) fn sample_end(&self, dialect: &Dialect) -> usize {
        if dialect.footer == 0 {
            return usize::MAX;
        }
        let records = self.records(dialect);
        let at = records.len().saturating_sub(dialect.footer).max(1);
        records.get(at).map_or(usize::MAX, |place| place.at)
    }

    /// Skips a record, or another line. Only its end matters: this parses quotes and escapes.
    /// Returns whether all quotes are closed.
    pub(super) fn pass(&mut self, dialect: &Dialect) -> bool {
        if self.is_comment(dialect) {
            self.take_line();
            return true;
        }
        let mut is_start = true;
        loop {
            if self.take_delimiter(dialect) {
                is_start = true;
                continue;
            }
            let Some(byte) = self.take() else { return true };
            if byte == b'\n' {
                return true;
            }
            if Some(byte) == dialect.escape {
                self.take();
                is_start = false;
            } else if is_start && Some(byte) == dialect.quote {
                if !self.pass_quotes(dialect) {
                    return false;
                }
                is_start = false;
            } else {
                is_start = false;
            }
        }
    }

    /// Skips the rest of a quoted field; returns whether it is closed.
    fn pass_quotes(&mut self, dialect: &Dialect) -> bool {
        while let Some(byte) = self.take() {
            if Some(byte) == dialect.escape {
                self.take();
            } else if Some(byte) == dialect.quote {
                if self.peek() != dialect.quote {
                    return true;
                }
                self.take();
            }
        }
        false
    }

    /// Whether this is the end of the text.
    pub(super) fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
        }
        Some(byte)
    }

    /// Whether a line ends here.
    fn is_end(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    }

    /// Takes the end of a line, if it is here.
    fn take_end(&mut self) -> bool {
        let is_end = self.is_end();
        if is_end && self.take() == Some(b'\r') {
            self.take();
        }
        is_end
    }

    /// Returns the length of the delimiter here.
    fn delimiter_len(&self, dialect: &Dialect) -> usize {
        dialect.between.len_in(&self.text[self.at..])
    }

    /// Takes the delimiter, if it is here.
    fn take_delimiter(&mut self, dialect: &Dialect) -> bool {
        let len = self.delimiter_len(dialect);
        self.at += len;
        len > 0
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.take();
        }
    }

    /// Skips one line that is not a record, if it is here.
    ///
    /// # Errors
    ///
    /// A carriage return in a comment.
    pub(super) fn skip(&mut self, dialect: &Dialect) -> Result<bool, Fault> {
        if self.peek().is_none() {
            return Ok(false);
        }
        if self.is_comment(dialect) {
            self.skip_comment()?;
            return Ok(true);
        }
        if dialect.between != Between::Nothing || dialect.fixed.is_some() {
            // Blanks before the first field have no meaning; if nothing follows, the line is empty.
            let here = self.clone();
            let are_blanks = dialect.between == Between::Blanks;
            while self.peek().is_some_and(is_blank)
                && (are_blanks || self.delimiter_len(dialect) == 0)
            {
                self.take();
            }
            if !self.is_end() && self.text[self.at..] != *b"\r" {
                *self = here;
                return Ok(false);
            }
        }
        if self.text[self.at..] == *b"\r" {
            self.take();
            return Ok(true);
        }
        Ok(self.take_end())
    }

    /// Whether the line here is a comment. If blanks separate fields, some may precede it.
    fn is_comment(&self, dialect: &Dialect) -> bool {
        let mut here = self.clone();
        if dialect.between == Between::Blanks && dialect.fixed.is_none() {
            here.skip_blanks();
        }
        here.peek().is_some() && here.peek() == dialect.comment
    }

    fn skip_comment(&mut self) -> Result<(), Fault> {
        let line = self.line;
        while !self.take_end() {
            if self.peek() == Some(b'\r') {
                return Err(Fault::new(Wrong::Return, line, self.at));
            }
            self.take();
        }
        Ok(())
    }

    /// Takes the field that begins here, up to its end. `line` is that of its record.
    fn field(&mut self, dialect: &Dialect, line: usize) -> Result<Field, Fault> {
        if dialect.between == Between::Blanks {
            self.skip_blanks();
        }
        if self.peek().is_some() && self.peek() == dialect.quote {
            self.quoted(dialect, line)
        } else {
            self.unquoted(dialect, line)
        }
    }

    /// Whether a field without quotes, or with closed quotes, ends here.
    fn ends_field(&self, dialect: &Dialect) -> bool {
        self.is_end() || self.delimiter_len(dialect) > 0
    }

    fn unquoted(&mut self, dialect: &Dialect, line: usize) -> Result<Field, Fault> {
        let at = self.at;
        let mut text = Vec::new();
        while !self.ends_field(dialect) {
            let here = self.at;
            let mut byte = self.take();
            if byte == Some(b'\r') {
                return Err(Fault::new(Wrong::Return, line, here));
            }
            if byte.is_some() && byte == dialect.escape {
                byte = self.take();
                if byte.is_none() {
                    return Err(Fault::new(Wrong::OpenEscape, line, here));
                }
            }
            text.extend(byte);
        }
        let raw = self.text[at..self.at].to_vec();
        Ok(Field { at, text, raw, is_quoted: false })
    }

    fn quoted(&mut self, dialect: &Dialect, line: usize) -> Result<Field, Fault> {
        let (at, quote, quote_line) = (self.at, self.take(), self.line);
        let mut text = Vec::new();
        loop {
            let mut byte = self.take();
            if byte.is_some() && byte == quote {
                if self.peek() != quote {
                    break;
                }
                self.take();
            } else if byte.is_some() && byte == dialect.escape {
                byte = self.take();
            }
            match byte {
                Some(byte) => text.push(byte),
                None => return Err(Fault::new(Wrong::OpenQuote, quote_line, at)),
            }
        }
        let raw = self.text[at + 1..self.at - 1].to_vec();
        while !self.ends_field(dialect) {
            match self.peek() {
                Some(byte) if is_blank(byte) => self.take(),
                Some(b'\r') => return Err(Fault::new(Wrong::Return, line, self.at)),
                _ => return Err(Fault::new(Wrong::AfterQuote, line, at)),
            };
        }
        Ok(Field { at, text, raw, is_quoted: true })
    }
}

/// Whether a byte is a space or a tab.
#[must_use]
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Removes blanks at both ends.
#[must_use]
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}
