//! The fields of lines of data, many at a time.

use swath_simd::{Ends, Tokens};

use super::dialect::{Dialect, Trim};
use super::lines::Run;

/// Bytes that are searched before what was found is parsed: their fields stay in the first-level
/// cache.
const PIECE: usize = 16 << 10;
/// Bytes before a field that are kept in view: vectors end where fields do.
const CONTEXT: usize = 64;

/// Finds fields; its memory is kept from one run to the next.
#[derive(Debug)]
pub(super) struct Fields {
    ends: Ends,
    starts: Vec<u32>,
    piece: usize,
}

/// Something is wrong with a field, or with the number of them.
#[derive(Debug)]
pub(super) struct Wrong;

impl Fields {
    pub(super) fn new() -> Self {
        Self { ends: Ends::default(), starts: Vec::new(), piece: PIECE }
    }

    /// Finds at least as many bytes of fields at one time.
    pub(super) fn with_piece(self, bytes: usize) -> Self {
        Self { piece: bytes.max(PIECE), ..self }
    }

    /// Calls `take` for all fields of a run, row after row. Their number is checked: after the
    /// last call, `take` has had `rows * columns` of them, and every row had `columns`.
    pub(super) fn each(
        &mut self,
        run: Run<'_>,
        dialect: &Dialect,
        mut take: impl FnMut(Tokens<'_>) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let bytes = run.bytes;
        let (mut searched, mut field, mut column, mut rows) = (0, 0, 0, 0);
        while searched < bytes.len() {
            let end = bytes.len().min(searched + self.piece);
            let base = field - field.min(CONTEXT);
            let text = &bytes[base..end];
            let Ok(behind) = u32::try_from(text.len()) else { return Err(Wrong) };
            self.ends.clear();
            self.ends.find(text, searched - base, dialect.marks.delimiter);
            if end == bytes.len() && text.last() != Some(&b'\n') {
                self.ends.push(behind);
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
        // As many newlines as rows, and each of them at the end of one: so none is elsewhere.
        if column == 0 && rows == run.rows { Ok(()) } else { Err(Wrong) }
    }

    /// Checks that rows end where they have to, and returns how many do. `column` is that of the
    /// first field here, and then of the next one.
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

    fn set_starts(&mut self, first: usize) {
        let ends = self.ends.as_slice();
        self.starts.clear();
        // It lies before the first end, which is a number of 32 bits.
        self.starts.push(u32::try_from(first).unwrap_or(u32::MAX));
        self.starts.extend(ends[..ends.len() - 1].iter().map(|&end| end + 1));
    }

    /// Cuts off what the dialect says that fields have around them.
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
                    let bare = dialect.bare(field);
                    let skipped = bare.as_ptr().addr() - field.as_ptr().addr();
                    *start += u32::try_from(skipped).unwrap_or(0);
                    *end = *start + u32::try_from(bare.len()).unwrap_or(0);
                }
            }
        }
    }
}
