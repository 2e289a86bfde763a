//! Finds the fields of data lines, many at a time.

use swath_simd::{Ends, Tokens, WordPlaces};

use super::dialect::{Dialect, Trim, without_returns};
use super::lines::{Between, Run};

/// Bytes that are searched before the fields in them are parsed, so that the fields stay in the
/// first-level cache.
const PIECE: usize = 16 << 10;
/// Bytes before a field that stay readable, since vector loads end where fields do.
const CONTEXT: usize = 64;

/// Finds fields. Its buffers are kept from one run to the next.
#[derive(Debug)]
pub(super) struct Fields {
    ends: Ends,
    starts: Vec<u32>,
    words: WordPlaces,
    piece: usize,
}

/// Something is wrong with a field, or with the number of fields.
#[derive(Debug)]
pub(super) struct Wrong;

impl Fields {
    pub(super) fn new() -> Self {
        let words = WordPlaces::default();
        Self { ends: Ends::default(), starts: Vec::new(), words, piece: PIECE }
    }

    /// Searches at least this many bytes at a time.
    pub(super) fn with_piece(self, bytes: usize) -> Self {
        Self { piece: bytes.max(PIECE), ..self }
    }

    /// Calls `take` for all fields of a run, row by row. Their number is checked: after the last
    /// call, `take` has received `rows * columns` fields, `columns` for each row.
    pub(super) fn each(
        &mut self,
        run: Run<'_>,
        dialect: &Dialect,
        take: impl FnMut(Tokens<'_>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        match run.between {
            Between::Byte(delimiter) => self.each_separated(run, dialect, delimiter, take),
            Between::Blanks => self.each_word(run, dialect, take),
            Between::Quoted => self.each_quoted(run, dialect, take),
            Between::Wrong => Err(Wrong),
        }
    }

    fn each_separated(
        &mut self,
        run: Run<'_>,
        dialect: &Dialect,
        delimiter: u8,
        mut take: impl FnMut(Tokens<'_>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let bytes = run.bytes;
        let (mut searched, mut field, mut column, mut rows) = (0, 0, 0, 0);
        while searched < bytes.len() {
            let end = bytes.len().min(searched + self.piece);
            let base = field - field.min(CONTEXT);
            let text = &bytes[base..end];
            let Ok(after) = u32::try_from(text.len()) else { return Err(Wrong) };
            self.ends.clear();
            self.ends.find(text, searched - base, delimiter);
            if end == bytes.len() && text.last() != Some(&b'\n') {
                self.ends.push(after);
            }
            searched = end;
            let Some(&last) = self.ends.as_slice().last() else { continue };
            let ended = self.check_rows(text, dialect.columns, &mut column)?;
            rows += ended;
            self.set_starts(field - base);
            self.trim(text, dialect);
            take(Tokens { text, starts: &self.starts, ends: self.ends.as_slice() })?;
            field = base + last as usize + 1;
        }
        // As many newlines as rows, each at the end of a row: so there are no others.
        if column == 0 && rows == run.rows { Ok(()) } else { Err(Wrong) }
    }

    /// The same where runs of blanks separate.
    fn each_word(
        &mut self,
        run: Run<'_>,
        dialect: &Dialect,
        mut take: impl FnMut(Tokens<'_>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let bytes = run.bytes;
        let (mut searched, mut column, mut rows) = (0, 0, 0);
        // Where a word begins that continues past the searched bytes.
        let mut open: Option<usize> = None;
        while searched < bytes.len() {
            let end = bytes.len().min(searched + self.piece);
            let first = open.unwrap_or(searched);
            let base = first - first.min(CONTEXT);
            let text = &bytes[base..end];
            let Ok(after) = u32::try_from(text.len()) else { return Err(Wrong) };
            self.words.clear();
            if open.is_some() {
                // Within a text whose offsets fit 32 bits.
                self.words.starts.push(u32::try_from(first - base).unwrap_or(u32::MAX));
            }
            self.words.find(text, searched - base);
            if end == bytes.len() && text.last() != Some(&b'\n') {
                self.words.newlines.push(after);
            }
            searched = end;
            let (starts, ends) = (self.words.starts.as_slice(), self.words.ends.as_slice());
            let is_open = starts.len() > ends.len();
            open = starts.last().filter(|_| is_open).map(|&start| base + start as usize);
            if end == bytes.len() && is_open {
                self.words.ends.push(after);
            }
            rows += self.check_words(dialect.columns, &mut column)?;
            let count = self.words.ends.as_slice().len();
            self.starts.clear();
            self.starts.extend_from_slice(&self.words.starts.as_slice()[..count]);
            std::mem::swap(&mut self.ends, &mut self.words.ends);
            self.trim(text, dialect);
            take(Tokens { text, starts: &self.starts, ends: self.ends.as_slice() })?;
        }
        if column == 0 && rows == run.rows { Ok(()) } else { Err(Wrong) }
    }

    /// The same where quoted text may contain delimiters.
    fn each_quoted(
        &mut self,
        run: Run<'_>,
        dialect: &Dialect,
        mut take: impl FnMut(Tokens<'_>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let bytes = run.bytes;
        let (mut base, mut at, mut rows) = (0, 0, 0);
        self.forget();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.add_line(line, at - base, dialect)?;
            (at, rows) = (at + line.len(), rows + 1);
            if at - base >= self.piece || at == bytes.len() {
                let (text, ends) = (&bytes[base..at], self.ends.as_slice());
                take(Tokens { text, starts: &self.starts, ends })?;
                self.forget();
                base = at;
            }
        }
        if rows == run.rows { Ok(()) } else { Err(Wrong) }
    }

    fn forget(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }

    /// Adds the fields of a line that begins at `at` of the text.
    fn add_line(&mut self, line: &[u8], at: usize, dialect: &Dialect) -> Result<(), Wrong> {
        let mut count = 0;
        for field in dialect.fields(line) {
            let Ok(field) = field else { return Err(Wrong) };
            let text = &line[field.place];
            if !field.is_quoted && text.contains(&b'\r') {
                return Err(Wrong);
            }
            let bare = dialect.bare(text);
            let start = at + (bare.as_ptr().addr() - line.as_ptr().addr());
            let (Ok(start), Ok(end)) = (start.try_into(), (start + bare.len()).try_into())
            else {
                return Err(Wrong);
            };
            self.starts.push(start);
            self.ends.push(end);
            count += 1;
        }
        if count == dialect.columns { Ok(()) } else { Err(Wrong) }
    }

    /// Checks that rows end where they must, and returns how many end. `column` is that of the
    /// first field here on entry, and of the next field on return.
    fn check_rows(
        &self,
        text: &[u8],
        columns: usize,
        column: &mut usize,
    ) -> Result<usize, Wrong> {
        let ends = self.ends.as_slice();
        let (mut next, mut rows) = (columns - 1 - *column, 0);
        while let Some(&end) = ends.get(next) {
            if text.get(end as usize).is_some_and(|&byte| byte != b'\n') {
                return Err(Wrong);
            }
            (next, rows) = (next + columns, rows + 1);
        }
        *column = ends.len() + columns - 1 - next;
        Ok(rows)
    }

    /// The same for words. The last row may be complete but lack a newline; `column` is then the
    /// number of columns.
    fn check_words(&self, columns: usize, column: &mut usize) -> Result<usize, Wrong> {
        let WordPlaces { starts, ends, newlines } = &self.words;
        let (starts, ends) = (starts.as_slice(), ends.as_slice());
        // Number of words before the next newline.
        let (mut next, mut rows) = (columns - *column, 0);
        for &newline in newlines.as_slice() {
            let has_ended = next == 0 || ends.get(next - 1).is_some_and(|&end| end <= newline);
            if !has_ended || starts.get(next).is_some_and(|&start| start < newline) {
                return Err(Wrong);
            }
            (next, rows) = (next + columns, rows + 1);
        }
        // Words after the last newline; at most one row of them.
        *column = (ends.len() + columns).checked_sub(next).ok_or(Wrong)?;
        if *column <= columns { Ok(rows) } else { Err(Wrong) }
    }

    fn set_starts(&mut self, first: usize) {
        let ends = self.ends.as_slice();
        self.starts.clear();
        // Before the first end, which fits 32 bits.
        self.starts.push(u32::try_from(first).unwrap_or(u32::MAX));
        // Another end follows each, so no end is the maximum. Without a check, the loop is
        // vectorised.
        self.starts.extend(ends[..ends.len() - 1].iter().map(|&end| end.wrapping_add(1)));
    }

    /// Cuts off what the dialect says is around fields.
    fn trim(&mut self, text: &[u8], dialect: &Dialect) {
        match dialect.trim {
            Trim::Nothing => {}
            Trim::LineEnds => {
                for end in self.ends.as_mut_slice() {
                    let at = *end as usize;
                    let is_crlf = at > 0 && text[at - 1] == b'\r';
                    *end -= u32::from(is_crlf && text.get(at).is_none_or(|&it| it == b'\n'));
                }
            }
            Trim::Fields => {
                for (start, end) in self.starts.iter_mut().zip(self.ends.as_mut_slice()) {
                    let field = &text[*start as usize..*end as usize];
                    let bare = bare(text, *start, *end, dialect);
                    let skipped = bare.as_ptr().addr() - field.as_ptr().addr();
                    *start += u32::try_from(skipped).unwrap_or(0);
                    *end = *start + u32::try_from(bare.len()).unwrap_or(0);
                }
            }
        }
    }
}

/// Returns the bare text of a field. Carriage returns are cut off where they end the line;
/// elsewhere they are part of the field.
pub(super) fn bare<'t>(text: &'t [u8], start: u32, end: u32, dialect: &Dialect) -> &'t [u8] {
    let (field, rest) = (&text[start as usize..end as usize], &text[end as usize..]);
    let next = rest.iter().find(|&&byte| byte != b'\r');
    match next {
        None | Some(b'\n') => dialect.bare(without_returns(field)),
        Some(_) => dialect.bare(field),
    }
}
