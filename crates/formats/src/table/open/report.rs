//! The report of a table.

use crate::table::options::choices::Delimiter;
use crate::table::options::choices::Encoding;
use crate::table::text::fixed::FixedColumn;
use crate::table::text::rows::RecordCounts;
use crate::table::types::ColumnType;

/// The most lines that are listed of records set aside.
pub(in crate::table) const LISTED: usize = 1000;

/// The report of a table: its types, its records, and how their values were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableReport {
    /// The delimiter of fields; `None` in a table of one column for which no delimiter was given.
    pub delimiter: Option<Delimiter>,
    /// The number of lines that name the columns.
    pub header_lines: usize,
    /// The reason why these lines name the columns, or no line does.
    pub header_reason: HeaderReason,
    /// The columns of the file, if it has fixed widths; otherwise empty.
    pub fixed: Vec<FixedColumn>,
    /// The byte that begins comments, if any.
    pub comment: Option<u8>,
    /// Lines skipped as comments; in a stream, those up to the end of the batches returned.
    pub comments: u64,
    /// The encoding of the first file; never [`Encoding::Auto`].
    pub encoding: Encoding,
    /// Rows in all batches; in a stream, in the batches returned.
    pub rows: u64,
    /// The columns read, in the order of the batches, without the column of file names.
    pub columns: Vec<ColumnReport>,
    /// Names that the header lacks or repeats.
    pub renamed: Vec<Renamed>,
    /// Records that were set aside.
    pub set_aside: SetAside,
    /// Byte sequences that are invalid in the encoding and were replaced with U+FFFD, see
    /// [`EncodingErrors::Replace`](crate::table::EncodingErrors::Replace): in the whole text or,
    /// with a limit on rows, in the part that was decoded.
    pub replaced: u64,
    /// Records whose additional fields, or other text, were dropped, see
    /// [`Ragged::Drop`](crate::table::Ragged::Drop); in a stream, those in the batches returned.
    pub dropped: u64,
}

impl TableReport {
    /// Adds the counts of records.
    pub(in crate::table) fn add(&mut self, counts: RecordCounts) {
        self.comments += counts.comments;
        self.dropped += counts.dropped;
    }
}

/// The reason why the first record has the names of the columns, or is data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderReason {
    /// The options decide, or the form has no such line.
    Given,
    /// Names: the column with this index, from 0, has a text above values of another kind.
    TextOverValues(usize),
    /// Names: from the column with this index, whole numbers count up. Beside them is an empty
    /// field above values, or a text that its column does not have below.
    CountingNumbers(usize),
    /// Names: no field is a number, date, time or boolean like those below it.
    NoValue,
    /// Data: all fields of the first record are missing values.
    Missing,
    /// Data: the field of the column with this index is a value like those below it.
    Value(usize),
}

impl HeaderReason {
    /// Whether the reason is one for names.
    pub(in crate::table) fn has_names(self) -> bool {
        matches!(self, Self::TextOverValues(_) | Self::CountingNumbers(_) | Self::NoValue)
    }
}

impl std::fmt::Display for HeaderReason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given => out.write_str("as the options say"),
            Self::TextOverValues(index) => {
                write!(
                    out,
                    "names: column index {index} has a text over values of another kind"
                )
            }
            Self::CountingNumbers(index) => {
                write!(out, "names: numbers count on from column index {index}")
            }
            Self::NoValue => out.write_str("names: no field is a value as those below it"),
            Self::Missing => out.write_str("data: all fields of the first record are missing"),
            Self::Value(index) => {
                write!(out, "data: column index {index} has a value as those below it")
            }
        }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Its name in the batches.
    pub name: String,
    /// Its index in the file, from 0.
    pub index: usize,
    /// Its type.
    pub kind: ColumnType,
    /// Whether the options give the type.
    pub is_told: bool,
    /// Number of missing values; in a stream, those in the batches returned.
    pub nulls: u64,
    /// The first record whose value fixed the type; for a struct or list, the first value. `None`
    /// if the type is given, if there is no value, or if the column is text because objects or
    /// arrays are too deep or have too many fields.
    pub deciding: Option<RecordLine>,
    /// Decimals of which the nearest double (or single, if that is the type) is another number: it
    /// has other digits when it is printed with as many significant ones, zeros at either end
    /// apart. In a stream, those in the batches returned, as below.
    pub rounded: Changes,
    /// Numbers of a given type that lost leading zeros (`007`), and whole numbers that lost a plus
    /// (`+7`) or the minus of a zero (`-0`).
    pub padded: Changes,
    /// Objects and arrays of JSON Lines stored as texts because of other values of the column or of
    /// the field. In a column of text that has only objects and arrays, they are not counted.
    pub as_text: Changes,
}

/// The values of a column that do not match their text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The number of values.
    pub count: u64,
    /// The record of the first one.
    pub first: Option<RecordLine>,
}

impl Changes {
    /// Adds values that follow.
    pub(in crate::table) fn add(&mut self, more: Self) {
        self.count += more.count;
        self.first = self.first.or(more.first);
    }
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RecordLine {
    /// Index of the file, from 0 in the order given.
    pub source: usize,
    /// The line of that file in which the record begins, from 1.
    pub line: u64,
}

/// A column whose name in the header is empty, or the name of an earlier column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// Its index in the file, from 0.
    pub index: usize,
    /// The name in the header.
    pub from: String,
    /// The new name.
    pub to: String,
}

/// Records that were set aside, see [`Ragged::SetAside`](crate::table::Ragged::SetAside).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// The number of records.
    pub count: u64,
    /// The places of the first 1,000 of them.
    pub lines: Vec<RecordLine>,
}

impl SetAside {
    /// Adds records that follow.
    pub(in crate::table) fn add(&mut self, more: Self) {
        self.count += more.count;
        let room = LISTED.saturating_sub(self.lines.len());
        self.lines.extend(more.lines.into_iter().take(room));
    }
}
