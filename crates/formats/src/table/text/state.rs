//! Finds whether a block of lines begins with a record, or in the middle of one.
//!
//! ```text
//! lines     a,"b¶  |  c",d¶e¶  |  f¶        cut at newlines, wherever quotes are
//! begins    Start     Quoted      Start
//! ```
//!
//! A newline inside quotes does not end a record. Whether it is inside depends on all text before,
//! but only through the state at the start of a block. There are at most three states, so each
//! worker follows all that are possible, and passes on the true one when the blocks before are
//! known. Only quotes and escapes are examined.

use swath_simd::{CutMarks, Positions, Quoting};

use super::dialect::{Between, Dialect};

/// The state at the start of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) enum LineState {
    /// A record begins.
    #[default]
    Start,
    /// In an unquoted field, after an escaped newline.
    Plain,
    /// Inside quotes.
    Quoted,
}

/// Lines with a known or assumed state at their first byte.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Lines<'t> {
    pub(in crate::table) text: &'t [u8],
    pub(in crate::table) dialect: Dialect,
    pub(in crate::table) state: LineState,
}

/// The progress of a walk over the lines.
struct LineWalk {
    state: LineState,
    /// Everything before this byte has been examined.
    at: usize,
    /// The last byte that was escaped.
    literal: Option<usize>,
    /// The start of the open quoted field.
    quote: Option<usize>,
    /// The start of the last record, if it is in this text; only known in a search for it.
    record: Option<usize>,
}

impl Lines<'_> {
    /// Returns the state after the last byte.
    pub(in crate::table) fn end(&self) -> LineState {
        self.walk(false).state
    }

    /// Returns the quote that is open after the last byte, if it was opened here.
    pub(in crate::table) fn open_quote(&self) -> Option<usize> {
        self.walk(false).quote
    }

    /// Returns the start of the last record in this text, if the state at the end is not
    /// [`LineState::Start`].
    pub(in crate::table) fn last_record(&self) -> Option<usize> {
        self.walk(true).record
    }

    fn walk(&self, is_searching: bool) -> LineWalk {
        let record = (self.state == LineState::Start).then_some(0);
        let mut walk =
            LineWalk { state: self.state, at: 0, literal: None, quote: None, record };
        match (self.dialect.quote, self.dialect.escape) {
            (None, None) => {}
            (Some(byte), None) | (None, Some(byte)) => {
                for at in Positions::new(self.text, byte) {
                    self.meet(at, &mut walk, is_searching);
                }
            }
            (Some(quote), Some(escape)) => {
                for (at, &byte) in self.text.iter().enumerate() {
                    if byte == quote || byte == escape {
                        self.meet(at, &mut walk, is_searching);
                    }
                }
            }
        }
        self.finish(&mut walk, is_searching);
        walk
    }

    /// Handles a quote or an escape.
    fn meet(&self, at: usize, walk: &mut LineWalk, is_searching: bool) {
        if at < walk.at {
            return;
        }
        let byte = self.text[at];
        if walk.state == LineState::Quoted {
            if Some(byte) == self.dialect.escape {
                (walk.literal, walk.at) = (Some(at + 1), at + 2);
            } else if self.text.get(at + 1) == Some(&byte) {
                walk.at = at + 2;
            } else {
                (walk.state, walk.quote, walk.at) = (LineState::Plain, None, at + 1);
            }
            return;
        }
        let needs_line = is_searching || self.dialect.comment.is_some();
        if needs_line && self.pass_lines(at, walk) {
            // It is in a comment.
            return;
        }
        if Some(byte) == self.dialect.escape {
            (walk.state, walk.literal, walk.at) = (LineState::Plain, Some(at + 1), at + 2);
        } else if self.begins_field(at, walk) {
            (walk.state, walk.quote, walk.at) = (LineState::Quoted, Some(at), at + 1);
        } else {
            walk.at = at + 1;
        }
    }

    /// Whether a field begins at `at`, outside quotes.
    fn begins_field(&self, at: usize, walk: &LineWalk) -> bool {
        match at.checked_sub(1) {
            None => self.state == LineState::Start,
            Some(before) if walk.literal == Some(before) => false,
            Some(before) => {
                let passed = &self.text[walk.at.min(before)..at];
                self.text[before] == b'\n' || self.ends_with_separator(passed)
            }
        }
    }

    /// Whether a text ends with a delimiter; it does not begin inside of one.
    fn ends_with_separator(&self, text: &[u8]) -> bool {
        let delimiter = self.dialect.delimiter_bytes();
        let len = delimiter.len();
        if len < 2 || !text.ends_with(delimiter) {
            return self.dialect.separator(&text[text.len() - 1..]) > 0;
        }
        let begins = |&at: &usize| text[at..].starts_with(delimiter);
        // Of overlapping delimiters, the first counts, then the next one after its end.
        let mut at = text.len() - len;
        while let Some(before) = (at.saturating_sub(len - 1)..at).find(begins) {
            at = before;
        }
        while at + len <= text.len() {
            at += if begins(&at) { len } else { 1 };
        }
        at == text.len()
    }

    /// Finds the last newline between the examined bytes and `at`. Returns whether the line after
    /// it is a comment.
    fn pass_lines(&self, at: usize, walk: &mut LineWalk) -> bool {
        let passed = &self.text[walk.at.min(at)..at];
        if let Some(newline) = passed.iter().rposition(|&byte| byte == b'\n') {
            (walk.at, walk.state) = (walk.at + newline + 1, LineState::Start);
            walk.record = Some(walk.at);
        }
        let is_start = walk.state == LineState::Start && walk.record == Some(walk.at);
        is_start && self.dialect.begins_comment(&self.text[walk.at..])
    }

    fn finish(&self, walk: &mut LineWalk, is_searching: bool) {
        if walk.state == LineState::Quoted {
            return;
        }
        let len = self.text.len();
        if is_searching {
            // The last newline counts only if it is escaped: then the record continues.
            self.pass_lines(len.saturating_sub(1), walk);
        }
        let is_escaped = walk.literal.is_some_and(|literal| literal + 1 == len);
        walk.state = match is_escaped {
            true => LineState::Plain,
            false if len == 0 => self.state,
            false => LineState::Start,
        };
    }
}

/// Returns the end state for each possible state at the start, if vectors can find it.
pub(in crate::table) fn ends(text: &[u8], dialect: Dialect) -> Vec<Option<LineState>> {
    if let Between::Blanks | Between::Text(_) = dialect.between {
        return slow_ends(text, dialect);
    }
    let is_there = |byte: &u8| swath_simd::find(text, *byte).is_some();
    let (None, None) = (dialect.escape, dialect.comment.filter(is_there)) else {
        return slow_ends(text, dialect);
    };
    let delimiter = dialect.delimiter_bytes();
    let marks = CutMarks { delimiter, quote: dialect.quote, escape: None };
    let found = Quoting::of(text, marks);
    if !found.is_plain && !found.is_inverse {
        return slow_ends(text, dialect);
    }
    let states = if found.is_odd {
        [LineState::Quoted, LineState::Start]
    } else {
        [LineState::Start, LineState::Quoted]
    };
    vec![found.is_plain.then_some(states[0]), found.is_inverse.then_some(states[1])]
}

fn slow_ends(text: &[u8], dialect: Dialect) -> Vec<Option<LineState>> {
    let lines = |&state: &LineState| Some(Lines { text, dialect, state }.end());
    possible(dialect).iter().map(lines).collect()
}

/// The states in which a block may begin.
pub(in crate::table) fn possible(dialect: Dialect) -> &'static [LineState] {
    match dialect {
        Dialect { quote: None, escape: None, .. } => &[LineState::Start],
        Dialect { escape: None, .. } => &[LineState::Start, LineState::Quoted],
        Dialect { quote: None, .. } => &[LineState::Start, LineState::Plain],
        _ => &[LineState::Start, LineState::Plain, LineState::Quoted],
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::RecordText;
    use super::*;
    use crate::table::options::choices::LongDelimiter;

    /// Draws texts of a few different bytes, and compares with the record-by-record way.
    #[test]
    fn states_are_those_of_the_way_record_by_record() {
        let mut bits = swath_reference::splitmix(1);
        let long = |text: &str| Between::Text(LongDelimiter::new(text).expect("a delimiter"));
        for round in 0..60_000_u64 {
            let dialect = Dialect {
                between: match round % 11 {
                    0..=2 => Between::Blanks,
                    3 => long(",,"),
                    4 => long(", "),
                    5 => long(",a,"),
                    _ => Between::Byte(b','),
                },
                quote: (round % 5 != 0).then_some(b'"'),
                escape: (round % 2 == 0).then_some(b'\\'),
                comment: (round % 7 == 0).then_some(b'#'),
            };
            let len = usize::try_from(bits() % 30).unwrap_or(0);
            let mut text: Vec<u8> = (0..len)
                .map(|_| b"\n\n\",, a\\#\""[usize::try_from(bits() % 10).unwrap_or(0)])
                .collect();
            text.push(b'\n');
            let records = RecordText { text: &text, dialect, layout: None };
            let (mut at, mut begin) = (0, 0);
            let mut open = None;
            while at < text.len() {
                begin = at;
                match records.end(at) {
                    Some(next) => at = next,
                    None => {
                        open = Some(begin);
                        break;
                    }
                }
            }
            // Cut after any newline: the second part begins in the end state of the first.
            let ends: Vec<usize> =
                (0..text.len()).filter(|&at| text[at] == b'\n').map(|at| at + 1).collect();
            let cut = ends[usize::try_from(bits()).unwrap_or(0) % ends.len()];
            let first = Lines { text: &text[..cut], dialect, state: LineState::Start };
            let state = first.end();
            let second = Lines { text: &text[cut..], dialect, state };
            let all = Lines { text: &text, dialect, state: LineState::Start };
            assert_eq!(second.end(), all.end(), "{:?} {cut} {dialect:?}", shown(&text));
            for (found, &state) in super::ends(&text, dialect).iter().zip(possible(dialect)) {
                let right = Lines { text: &text, dialect, state }.end();
                assert!(
                    found.is_none_or(|found| found == right),
                    "{:?} {state:?}",
                    shown(&text)
                );
            }
            let wanted = match open {
                Some(_) => all.end() == LineState::Quoted,
                None => all.end() != LineState::Quoted,
            };
            assert!(wanted, "{:?} {dialect:?}", shown(&text));
            if let Some(open) = open {
                assert_eq!(all.last_record(), Some(open), "{:?} {dialect:?}", shown(&text));
            } else if all.end() == LineState::Plain {
                assert_eq!(all.last_record(), Some(begin), "{:?} {dialect:?}", shown(&text));
            }
        }
    }

    fn shown(text: &[u8]) -> String {
        String::from_utf8_lossy(text).into_owned()
    }
}
