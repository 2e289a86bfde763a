//! The report of a table.

use crate::table::options::choices::Delimiter;
use crate::table::options::choices::Encoding;
use crate::table::text::fixed::FixedColumn;
use crate::table::text::rows::RecordCounts;
use crate::table::types::ColumnType;

/// Lines that are listed of records that were left out.
pub(in crate::table) const LISTED: usize = 1000;

/// The report of a table: its types, its records, and how they were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableReport {
    /// The delimiter of fields; `None` in a table of one column for which no delimiter was given.
    pub delimiter: Option<Delimiter>,
    /// How many lines name the columns.
    pub header_lines: usize,
    /// Why these lines name the columns, or no line does.
    pub header_reason: HeaderReason,
    /// Where the columns of the file are, if it has fixed widths; otherwise empty.
    pub fixed: Vec<FixedColumn>,
    /// The byte that begins comments, if one does.
    pub comment: Option<u8>,
    /// Lines that were skipped as comments; of a stream, those before the end of the batches so far.
    pub comments: u64,
    /// The encoding of the first file; never [`Encoding::Auto`].
    pub encoding: Encoding,
    /// Rows in all batches; of a stream, those in the batches so far.
    pub rows: u64,
    /// The columns that are read, in the order of the batches, without that of the file names.
    pub columns: Vec<ColumnReport>,
    /// Names that the header does not have, or has twice.
    pub renamed: Vec<Renamed>,
    /// Records that were left out.
    pub set_aside: SetAside,
    /// Byte sequences that are not of the encoding and became U+FFFD, as
    /// [`EncodingErrors::Replace`](crate::table::EncodingErrors::Replace) says: in all of the text or, with a limit on
    /// rows, in as much of it as was decoded.
    pub replaced: u64,
    /// Records whose further fields, or other text, were dropped, as [`Ragged::Drop`](crate::table::Ragged::Drop) says;
    /// of a stream, those in the batches so far.
    pub dropped: u64,
}

impl TableReport {
    /// Adds what was counted in records.
    pub(in crate::table) fn add(&mut self, counts: RecordCounts) {
        self.comments += counts.comments;
        self.dropped += counts.dropped;
    }
}

/// Why the first record has the names of the columns, or is data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderReason {
    /// The options say so, or the form has no such line.
    Given,
    /// Names: the column with this index, from 0, has a text over values of another kind.
    TextOverValues(usize),
    /// Names: from the column with this index on, whole numbers count on, beside a text or an empty
    /// field that its column has not below.
    CountingNumbers(usize),
    /// Names: no field is a number, date, time or boolean as those below it.
    NoValue,
    /// Data: all fields of the first record are missing, or words for that.
    Missing,
    /// Data: the field of the column with this index is a value as those below it.
    Value(usize),
}

impl HeaderReason {
    /// Whether it is a reason for names.
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
    /// Whether the options say the type.
    pub is_told: bool,
    /// Number of missing values; of a stream, those in the batches so far.
    pub nulls: u64,
    /// The first record whose value made the type what it is; of a struct or list, the first value. `None` if the
    /// type is given, if there is no value, or if it is text because objects or arrays are too deep or have too
    /// many fields.
    pub deciding: Option<RecordLine>,
    /// Decimals of which the nearest double (or single, if that is the type) is another number: it has other
    /// digits when it is printed with as many significant ones, zeros at either end apart. Of a stream, those
    /// in the batches so far, as below.
    pub rounded: Changes,
    /// Numbers of a type that the options say which lost zeros before their whole part (`007`), or whole ones
    /// which lost a plus (`+7`), or the minus of a zero (`-0`).
    pub padded: Changes,
    /// Objects and arrays of JSON Lines that are texts because of other values of the column, or of the field in
    /// it. Objects and arrays that a column of text has alone are not counted.
    pub as_text: Changes,
}

/// Values of a column that are not what their text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// How many there are.
    pub count: u64,
    /// Where the first one is.
    pub first: Option<RecordLine>,
}

impl Changes {
    /// Adds values that follow.
    pub(in crate::table) fn add(&mut self, more: Self) {
        self.count += more.count;
        self.first = self.first.or(more.first);
    }
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RecordLine {
    /// Index of the file, from 0 in the order given.
    pub source: usize,
    /// The line in that file in which the record begins, from 1.
    pub line: u64,
}

/// A column whose name in the header is empty, or that of a column before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// Its index in the file, from 0.
    pub index: usize,
    /// The name in the header.
    pub from: String,
    /// The name that it got instead.
    pub to: String,
}

/// Records that were left out, as [`Ragged::SetAside`](crate::table::Ragged::SetAside) says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// How many there are.
    pub count: u64,
    /// Where the first 1,000 of them are.
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
