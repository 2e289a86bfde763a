//! Splits one record into its fields, byte by byte: exact for every dialect, and the fallback of
//! the fast way.
//!
//! ```text
//! text      a,"b,""c"" ",d\r\n
//! starts    0 2          13
//! ends       1          12 14       quotes are part of a field here, a carriage return is not
//! ```

use std::collections::VecDeque;

use super::dialect::{Between, Dialect};
use super::fixed::FixedLayout;
pub(in crate::table) use super::place::{FieldPlace, RecordFault};

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) enum RecordKind {
    /// A line without data: empty, or a comment.
    Skipped,
    /// A record, whose fields were passed to the closure.
    Data,
}

/// A text that begins with a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct RecordText<'t> {
    pub(in crate::table) text: &'t [u8],
    pub(in crate::table) dialect: Dialect,
    /// The columns of fixed width; `None` in other forms, and if only lines matter.
    pub(in crate::table) layout: Option<&'t FixedLayout>,
}

/// The byte after a field.
enum Next {
    Field(usize),
    Record(usize),
}

impl<'t> RecordText<'t> {
    /// Splits the record at `at`, which is before the end. Returns its kind, and the start of the
    /// next one.
    pub(in crate::table) fn split(
        &self,
        at: usize,
        mut field: impl FnMut(FieldPlace),
    ) -> Result<(RecordKind, usize), RecordFault> {
        if let Some(next) = self.skipped(at)? {
            return Ok((RecordKind::Skipped, next));
        }
        if let Some(layout) = self.layout {
            let next = layout.split(self.text, at, field)?;
            return Ok((RecordKind::Data, next));
        }
        let mut start = match self.dialect.between {
            Between::Blanks => self.after_blanks(at),
            _ => at,
        };
        loop {
            let (end, next) = self.field(start)?;
            field(FieldPlace { start, end });
            match next {
                Next::Field(next) => start = next,
                Next::Record(next) => return Ok((RecordKind::Data, next)),
            }
        }
    }

    /// Whether the line at `at` is a comment. If blanks separate fields, some may precede it.
    pub(in crate::table) fn is_comment(&self, at: usize) -> bool {
        self.dialect.begins_comment(&self.text[at..])
    }

    /// Returns the start of the next line, if the line at `at` is empty or a comment.
    pub(in crate::table) fn skipped(&self, at: usize) -> Result<Option<usize>, RecordFault> {
        if self.is_comment(at) {
            return self.comment(at).map(Some);
        }
        let start = match self.dialect.between {
            Between::Blanks | Between::Fixed => self.after_blanks(at),
            Between::Byte(_) | Between::Text(_) => self.after_loose_blanks(at),
            Between::Nothing | Between::Json => at,
        };
        let is_lone = self.text[start..] == *b"\r";
        let end = if is_lone { Some((start, start + 1)) } else { self.line_end(start) };
        Ok(end.map(|(_, next)| next))
    }

    fn comment(&self, at: usize) -> Result<usize, RecordFault> {
        let rest = &self.text[at..];
        let line = &rest[..swath_simd::find(rest, b'\n').unwrap_or(rest.len())];
        let next = (at + line.len() + 1).min(self.text.len());
        let inner = if next > at + line.len() { line.strip_suffix(b"\r") } else { None };
        match swath_simd::find(inner.unwrap_or(line), b'\r') {
            Some(lone) => Err(RecordFault::LoneReturn(at + lone)),
            None => Ok(next),
        }
    }

    /// Returns the end of the record at `at`, whatever its fields are; `None` if it has an open
    /// quote.
    pub(in crate::table) fn end(&self, at: usize) -> Option<usize> {
        match self.skipped(at) {
            Ok(None) => {}
            Ok(Some(next)) => return Some(next),
            Err(_) => {
                let rest = &self.text[at..];
                return Some(
                    at + swath_simd::find(rest, b'\n').map_or(rest.len(), |len| len + 1),
                );
            }
        }
        let mut at = at;
        let mut is_start = true;
        loop {
            match self.text.get(at) {
                None => return Some(self.text.len()),
                Some(b'\n') => return Some(at + 1),
                Some(&byte) if Some(byte) == self.dialect.escape => {
                    (at, is_start) = ((at + 2).min(self.text.len()), false);
                }
                Some(&byte) if is_start && Some(byte) == self.dialect.quote => {
                    (at, is_start) = (self.closed(at)?, false);
                }
                Some(_) => {
                    let len = self.dialect.separator(&self.text[at..]);
                    (at, is_start) = (at + len.max(1), len > 0);
                }
            }
        }
    }

    /// Returns the starts of the last `most` records, or of all, whatever their fields are. A
    /// record with an open quote is the last.
    pub(in crate::table) fn last(&self, most: usize) -> VecDeque<usize> {
        let (mut last, mut at) = (VecDeque::new(), 0);
        while at < self.text.len() {
            let next = self.end(at).unwrap_or(self.text.len());
            let is_record = match self.dialect.between {
                Between::Json => {
                    self.text[at..next].iter().any(|byte| !b" \t\r\n".contains(byte))
                }
                _ => matches!(self.skipped(at), Ok(None)),
            };
            if is_record {
                last.push_back(at);
                if last.len() > most {
                    last.pop_front();
                }
            }
            at = next;
        }
        last
    }

    /// Returns the end of the field that begins at `start`, and the kind of byte after it.
    fn field(&self, start: usize) -> Result<(usize, Next), RecordFault> {
        let (text, dialect) = (self.text, self.dialect);
        let mut at = start;
        if dialect.quote.is_some() && text.get(at) == dialect.quote.as_ref() {
            at = self.after_loose_blanks(self.closed(at).ok_or(RecordFault::OpenQuote(at))?);
            let is_end = matches!(text.get(at), None | Some(b'\r' | b'\n'));
            if !is_end && dialect.separator(&text[at..]) == 0 {
                return Err(RecordFault::AfterQuote(start));
            }
        }
        loop {
            if let Between::Byte(delimiter) = dialect.between {
                // Most bytes have no special meaning.
                let special = [delimiter, b'\n', b'\r', dialect.escape.unwrap_or(b'\n')];
                let is_plain = |byte: &&u8| !special.contains(byte);
                at += text.get(at..).map_or(0, |rest| rest.iter().take_while(is_plain).count());
            }
            match text.get(at) {
                None => return Ok((at, Next::Record(at))),
                Some(b'\n') => return Ok((at, Next::Record(at + 1))),
                Some(_) if dialect.separator(&text[at..]) > 0 => {
                    return Ok(self.separated(at));
                }
                Some(b'\r') => {
                    let (end, next) = self.line_end(at).ok_or(RecordFault::LoneReturn(at))?;
                    return Ok((end, Next::Record(next)));
                }
                Some(&byte) if Some(byte) == dialect.escape => {
                    at += 2;
                    if at > text.len() {
                        return Err(RecordFault::OpenEscape(at - 2));
                    }
                }
                Some(_) => at += 1,
            }
        }
    }

    /// Returns the end of the separator at `at`, and the kind of byte after it.
    fn separated(&self, at: usize) -> (usize, Next) {
        if self.dialect.between != Between::Blanks {
            return (at, Next::Field(at + self.dialect.separator(&self.text[at..])));
        }
        let next = self.after_blanks(at);
        match self.line_end(next) {
            Some((_, next)) => (at, Next::Record(next)),
            None => (at, Next::Field(next)),
        }
    }

    /// Returns the end of the blanks at `at` that are not part of a delimiter.
    fn after_loose_blanks(&self, mut at: usize) -> usize {
        let is_blank = |&byte: &u8| self.dialect.is_blank(byte);
        while self.text.get(at).is_some_and(is_blank)
            && self.dialect.separator(&self.text[at..]) == 0
        {
            at += 1;
        }
        at
    }

    /// Whether more text may remove the fault.
    pub(in crate::table) fn may_end_later(&self, wrong: RecordFault) -> bool {
        let len = self.text.len();
        match wrong {
            RecordFault::OpenQuote(_) | RecordFault::OpenEscape(_) => true,
            RecordFault::LoneReturn(at) => at + 1 == len,
            // A character or a delimiter may be cut.
            RecordFault::Encoding(at) => len - at < 4,
            RecordFault::AfterQuote(at) => self.closed(at).is_some_and(|at| {
                let delimiter = self.dialect.delimiter_bytes();
                let mut ats = at..=self.after_loose_blanks(at);
                ats.any(|at| delimiter.starts_with(&self.text[at..]))
            }),
            RecordFault::Outside(_) => false,
        }
    }

    fn after_blanks(&self, at: usize) -> usize {
        let blanks = self.text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
        at + blanks.count()
    }

    /// Returns the end of the line's text and the start of the next line, if a line ends at `at`.
    fn line_end(&self, at: usize) -> Option<(usize, usize)> {
        match &self.text[at..] {
            [] => Some((at, at)),
            [b'\n', ..] => Some((at, at + 1)),
            [b'\r', b'\n', ..] => Some((at, at + 2)),
            _ => None,
        }
    }

    /// Returns the position after the quote that closes the one at `at`.
    fn closed(&self, at: usize) -> Option<usize> {
        let (quote, escape) = (self.dialect.quote, self.dialect.escape);
        let mut at = at + 1;
        loop {
            let byte = *self.text.get(at)?;
            if Some(byte) == escape {
                at += 2;
            } else if Some(byte) != quote {
                at += 1;
            } else if self.text.get(at + 1).copied() == quote {
                at += 2;
            } else {
                return Some(at + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::options::choices::LongDelimiter;

    const PLAIN: Dialect = Dialect {
        between: Between::Byte(b','),
        quote: Some(b'"'),
        escape: None,
        comment: None,
    };

    fn fields(text: &str, dialect: Dialect) -> Result<Vec<Vec<String>>, RecordFault> {
        let records = RecordText { text: text.as_bytes(), dialect, layout: None };
        let (mut at, mut rows) = (0, Vec::new());
        while at < text.len() {
            let mut row = Vec::new();
            let (line, next) = records.split(at, |place| {
                row.push(text[place.start..place.end].to_owned());
            })?;
            assert_eq!(records.end(at), Some(next), "{text:?}");
            at = next;
            if line == RecordKind::Data {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    #[test]
    fn fields_end_where_the_dialect_says() {
        let split = |text| fields(text, PLAIN).expect("nothing is wrong");
        assert_eq!(split("a,b\nc,d"), [["a", "b"], ["c", "d"]]);
        assert_eq!(
            split("\r\n,\n\na,\"b\n,\"\" \" \r\n\r"),
            [["", ""], ["a", "\"b\n,\"\" \" "]]
        );
        assert_eq!(split("5\" x,y\"\n"), [["5\" x", "y\""]]);
        let escaped = Dialect { escape: Some(b'\\'), comment: Some(b'#'), ..PLAIN };
        assert_eq!(
            fields("#\"\na\\,b,\"\\\"\"\nc\\\nd,\\\n", escaped),
            Ok(vec![
                vec!["a\\,b".into(), "\"\\\"\"".into()],
                vec!["c\\\nd".into(), "\\\n".into()]
            ])
        );
        let words = Dialect { between: Between::Blanks, ..PLAIN };
        assert_eq!(
            fields("  a\t b \n \t\n\"c d\" e\r\n", words),
            Ok(vec![vec!["a".into(), "b".into()], vec!["\"c d\"".into(), "e".into()]])
        );
        let tabs = Dialect { between: long("\t,\t"), ..PLAIN };
        assert_eq!(
            fields(" \t\n\t,\t,\t\"\n\t\"\t,\t\"x\" \t\t,\ta\r\n", tabs),
            Ok(vec![
                vec!["".into(), ",\t\"".into()],
                vec!["\t\"".into(), "\"x\" \t".into(), "a".into()]
            ])
        );
        let whole = Dialect { between: Between::Nothing, ..PLAIN };
        assert_eq!(fields("a,b\n", whole), Ok(vec![vec!["a,b".into()]]));
    }

    fn long(text: &str) -> Between {
        Between::Text(LongDelimiter::new(text).expect("a delimiter"))
    }

    #[test]
    fn a_delimiter_that_is_cut_off_may_end_later() {
        let dialect = Dialect { between: long(" ||"), ..PLAIN };
        for (text, is_cut) in
            [("\"a\" ", true), ("\"a\"  |", true), ("\"a\" |\n", false), ("\"a\" |x", false)]
        {
            let records = RecordText { text: text.as_bytes(), dialect, layout: None };
            let is_known = match records.split(0, |_| {}) {
                Ok((_, next)) => next < text.len(),
                Err(wrong) => !records.may_end_later(wrong),
            };
            assert_eq!(is_known, !is_cut, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_byte() {
        for (text, wrong) in [
            ("a,\"b\n", RecordFault::OpenQuote(2)),
            ("a,\"b\"c\n", RecordFault::AfterQuote(2)),
            ("a,\"b\" \tc\n", RecordFault::AfterQuote(2)),
            ("a\rb\n", RecordFault::LoneReturn(1)),
            ("a,\"b\"\r\r\n", RecordFault::LoneReturn(5)),
            ("a\r", RecordFault::LoneReturn(1)),
        ] {
            assert_eq!(fields(text, PLAIN), Err(wrong), "{text:?}");
        }
    }
}
