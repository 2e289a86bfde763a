//! Plain lines with a value: three words with single spaces between them, hundreds of lines at a
//! time.
//!
//! ```text
//! text     12 345 0.5\n6 78 -1.25\n       ends of words by vector masks
//! columns  12, 6 | 345, 78 | 0.5, -1.25   many words converted at once
//! ```
//!
//! The fast path stops at any other line, and at an id out of range. The slow path parses that line
//! and reports its fault.

use std::any::TypeId;

use swath_simd::{FieldEnds, Tokens, parse_doubles, parse_integers};

use crate::matrix::id::Id;
use crate::matrix::target::Target;
use crate::matrix::value::Value;
use crate::number::rounding::{ALL_DOUBLES, before_rounded};

/// Bytes parsed at a time: their words stay in the first-level cache.
const PIECE: usize = 8 << 10;
/// Number of words in a line.
const WORDS: usize = 3;

/// Limits of ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) base: u64,
    /// Ids must be below these once the base is subtracted.
    pub(super) rows: u64,
    pub(super) columns: u64,
}

/// Buffers kept from one piece to the next.
#[derive(Debug, Default)]
pub(super) struct Plain {
    ends: FieldEnds,
    from: [Vec<u32>; WORDS],
    to: [Vec<u32>; WORDS],
    ids: [Vec<i64>; 2],
}

/// Whether values of this type can be parsed this way.
pub(super) fn is_known<V: Value>() -> bool {
    let value = TypeId::of::<V>();
    [TypeId::of::<f64>(), TypeId::of::<i64>(), TypeId::of::<u64>()].contains(&value)
}

/// Parses tokens up to the first that is not a value.
fn parse_values<V: Value>(tokens: Tokens<'_>, out: &mut [V]) -> usize {
    if TypeId::of::<V>() == TypeId::of::<f64>() {
        let out: &mut [f64] = bytemuck::cast_slice_mut(out);
        let count = parse_doubles(tokens, out);
        before_rounded(tokens, &out[..count], ALL_DOUBLES)
    } else if TypeId::of::<V>() == TypeId::of::<i64>() {
        parse_integers(tokens, bytemuck::cast_slice_mut(out))
    } else if TypeId::of::<V>() == TypeId::of::<u64>() {
        let out: &mut [i64] = bytemuck::cast_slice_mut(out);
        let count = parse_integers(tokens, out);
        // Negative values, and those that do not fit `i64`, are left to the slow path, which
        // rejects or parses them.
        out[..count].iter().position(|&value| value < 0).unwrap_or(count)
    } else {
        0
    }
}

/// Parses `text` in pieces. `parse` gets a piece and the number of lines before it; it returns the
/// number of lines it took, their end, and whether they are all lines of the piece. Returns the
/// number of lines, and the start of the next one.
fn in_pieces(
    text: &[u8],
    mut parse: impl FnMut(&[u8], usize) -> (usize, usize, bool),
) -> (usize, usize) {
    let (mut lines, mut at) = (0, 0);
    loop {
        let piece = &text[at..text.len().min(at + PIECE)];
        let (taken, end, was_all) = parse(piece, lines);
        (lines, at) = (lines + taken, at + end);
        if taken == 0 || !was_all || at >= text.len() {
            return (lines, at);
        }
    }
}

impl Plain {
    /// Parses the plain lines at the beginning of `text` into `target`, starting at entry `filled`.
    /// Returns their number, and the start of the next line.
    pub(super) fn fill<I: Id, V: Value>(
        &mut self,
        text: &[u8],
        range: Range,
        target: &mut Target<'_, I, V>,
        filled: usize,
    ) -> (usize, usize) {
        in_pieces(text, |piece, lines| {
            let room = target.rows.len() - filled - lines;
            self.piece(piece, range, target, filled + lines, room)
        })
    }

    /// Parses the lines with one value each at the beginning of `text` into `values`. Returns their
    /// number, and the start of the next line.
    pub(super) fn fill_array<V: Value>(
        &mut self,
        text: &[u8],
        values: &mut [V],
    ) -> (usize, usize) {
        in_pieces(text, |piece, lines| {
            let looked_at = self.split_array(piece, values.len() - lines);
            let tokens = Tokens { text: piece, starts: &self.from[0], ends: &self.to[0] };
            let taken = parse_values(tokens, &mut values[lines..][..looked_at]);
            let end = if taken == 0 { 0 } else { self.to[0][taken - 1] as usize + 1 };
            (taken, end, taken == looked_at)
        })
    }

    /// Finds lines of one word; returns their number, at most `room`.
    fn split_array(&mut self, text: &[u8], room: usize) -> usize {
        self.ends.clear();
        self.ends.find(text, 0, b' ');
        let ends = self.ends.as_slice();
        let ends = &ends[..ends.len().min(room)];
        let count =
            ends.iter().position(|&end| text[end as usize] != b'\n').unwrap_or(ends.len());
        let (from, to) = (&mut self.from[0], &mut self.to[0]);
        to.clear();
        to.extend_from_slice(&ends[..count]);
        from.clear();
        from.push(0);
        from.extend(to.iter().map(|end| end + 1));
        from.truncate(count);
        count
    }

    /// Parses one piece: returns the number of lines stored, their end, and whether they are all
    /// lines of the piece.
    fn piece<I: Id, V: Value>(
        &mut self,
        text: &[u8],
        range: Range,
        target: &mut Target<'_, I, V>,
        filled: usize,
        room: usize,
    ) -> (usize, usize, bool) {
        let looked_at = self.split(text, room);
        let [rows, columns, values] = [0, 1, 2].map(|word| Tokens {
            text,
            starts: &self.from[word],
            ends: &self.to[word],
        });
        let [row_ids, column_ids] = &mut self.ids;
        row_ids.resize(looked_at, 0);
        column_ids.resize(looked_at, 0);
        let count = parse_integers(rows, row_ids).min(parse_integers(columns, column_ids));
        let count = count.min(parse_values(values, &mut target.values[filled..][..looked_at]));
        let mut put = 0;
        for (&row, &column) in row_ids.iter().zip(&*column_ids).take(count) {
            // Negative ids are out of range too.
            let [row, column] =
                [row, column].map(|id| id.cast_unsigned().wrapping_sub(range.base));
            let ids = I::from_u64(row).zip(I::from_u64(column));
            let Some((first, second)) =
                ids.filter(|_| row < range.rows && column < range.columns)
            else {
                break;
            };
            (target.rows[filled + put], target.columns[filled + put]) = (first, second);
            put += 1;
        }
        let end = if put == 0 { 0 } else { self.to[WORDS - 1][put - 1] as usize + 1 };
        (put, end, put == looked_at && put > 0)
    }

    /// Finds the words of lines with three words; returns the number of lines, at most `room`.
    fn split(&mut self, text: &[u8], room: usize) -> usize {
        self.ends.clear();
        self.ends.find(text, 0, b' ');
        let (lines, _) = self.ends.as_slice().as_chunks::<WORDS>();
        let lines = &lines[..lines.len().min(room)];
        self.from.iter_mut().chain(&mut self.to).for_each(|it| it.resize(lines.len(), 0));
        let [from_row, from_column, from_value] = self.from.each_mut();
        let [to_row, to_column, to_value] = self.to.each_mut();
        let from = from_row.iter_mut().zip(from_column).zip(from_value);
        let to = to_row.iter_mut().zip(to_column).zip(to_value);
        let (mut start, mut count) = (0, 0);
        for (&[first, second, third], (from, to)) in lines.iter().zip(from.zip(to)) {
            let is_line = text[first as usize] == b' '
                && text[second as usize] == b' '
                && text[third as usize] == b'\n';
            // Signs, blanks and comments are left to the slow path; only a value may have a sign.
            let begins = |at: u32| text[at as usize].is_ascii_digit();
            if !is_line || !begins(start) || !begins(first + 1) {
                break;
            }
            ((*from.0.0, *from.0.1), *from.1) = ((start, first + 1), second + 1);
            ((*to.0.0, *to.0.1), *to.1) = ((first, second), third);
            (start, count) = (third + 1, count + 1);
        }
        self.from.iter_mut().chain(&mut self.to).for_each(|it| it.truncate(count));
        count
    }
}
