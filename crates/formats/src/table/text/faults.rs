//! The faults of a table, as errors describe them.

use std::path::Path;

use arrow_schema::TimeUnit;
use swath::ReadOptions;

use super::first_line::OddNumber;
use super::record::RecordFault;
use super::rows::RowFault;
use super::shape::RecordShape;
use crate::error::{Error, FormatReason};
use crate::input::{Flaws, InputText};
use crate::table::json::JsonFaultAt;
use crate::table::options::choices::Ragged;
use crate::table::types::{ColumnType, Misfit};

/// The beginning of the detail of a fault in the encoding.
const NOT_UTF_8: &str = "bytes that are not UTF-8";
/// Begins like `NOT_UTF_8`.
const UNCOUNTED: &str = "bytes that are not UTF-8, so that no position after them is known";
/// The hint for a fault in the encoding.
const ENCODING: &str = "pass the encoding of the file with `encoding`, or replace such bytes with `encoding_errors`";
const OUTSIDE: &str = "text outside of the columns";
const AFTER_QUOTE: &str = "text after a closing quote";
/// Characters of a field that a message shows.
const SHOWN: usize = 40;

/// The origin of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::table) struct Origin {
    /// Whether it was decoded from an encoding other than UTF-8.
    pub(in crate::table) is_decoded: bool,
    /// Bytes of the file before the text; `lines` counts the lines before it.
    pub(in crate::table) bytes: u64,
    pub(in crate::table) lines: u64,
}

/// The hint for a text without records.
pub(in crate::table) const WITHOUT_RECORDS: &str =
    "check that the file is complete, or leave it out";

/// A fault in a text.
#[derive(Clone, Debug)]
pub(in crate::table) struct Problem {
    /// The start of the record.
    pub(in crate::table) record: u64,
    /// The faulty byte.
    pub(in crate::table) offset: u64,
    reason: FormatReason,
    detail: String,
    hint: &'static str,
}

impl Problem {
    /// Turns the problem into an error. To count lines, reads everything before the record again.
    pub(in crate::table) fn into_error(mut self, input: &InputText, origin: Origin) -> Error {
        // In a damaged stream, any byte may be wrong: then the damage is the fault.
        if let Err(error) = input.check_stream(self.offset) {
            return error;
        }
        if let Some(flaws) = input.flaws() {
            self.say_where(input, flaws);
        }
        if self.detail == OUTSIDE {
            self.show(input);
        }
        let detail = match origin.is_decoded {
            true => self.detail + " (bytes count in the text as UTF-8)",
            false => self.detail,
        };
        let offset = origin.bytes + self.offset;
        let error = Error::reading(input.path(), self.reason, detail).at(offset);
        let before = ReadOptions::new().with_len(self.record).count(input.source(), b'\n');
        let error = match before {
            Ok(newlines) => error.on_line(origin.lines + newlines.value + 1),
            Err(_) => error,
        };
        error.hint(self.hint)
    }

    /// Turns the problem into an error without a place.
    pub(in crate::table) fn without_place(self, path: &Path) -> Error {
        Error::reading(path, self.reason, self.detail).hint(self.hint)
    }

    /// Adds that the delimiter may be wrong.
    pub(in crate::table) fn of_one_column(mut self) -> Self {
        if self.detail == AFTER_QUOTE {
            self.hint = "set the delimiter, to blanks if spaces separate the fields; or double the \
                         quotes inside a quoted field";
        }
        self
    }

    /// Adds that the header has one name fewer than the first record has fields.
    fn of_short_header(mut self) -> Self {
        self.detail += ": the header has one name less, as R writes it if rows have names";
        self.hint = "set another `delimiter`, name the first column in the header (in R, pass `col.names = NA`), or \
                     leave the header out with `skip_rows` and `header`, and name the columns with `rename`";
        self
    }

    /// Adds the text outside of the columns, and its position in the line.
    fn show(&mut self, input: &InputText) {
        const MOST: u64 = 400;
        let Ok(before) = input.some(self.record, self.offset - self.record) else { return };
        let Ok(after) = input.some(self.offset, MOST) else { return };
        let position = before.iter().filter(|&&byte| !matches!(byte, 0x80..=0xbf)).count();
        let line = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let text = shown(line.trim_ascii_end());
        self.detail += &format!(", at position {position}: `{text}`");
    }

    /// Adds which byte of the file is invalid in its encoding, if that is the fault.
    fn say_where(&mut self, input: &InputText, flaws: &Flaws) {
        /// The byte that replaces bytes which could not be decoded.
        const INVALID: u8 = 0xff;
        let Some(rest) = self.detail.strip_prefix(NOT_UTF_8) else { return };
        let before = ReadOptions::new().with_len(self.offset).count(input.source(), INVALID);
        let Some(at) = before.ok().and_then(|before| flaws.at(before.value)) else { return };
        let encoding = &flaws.encoding;
        if encoding.starts_with("utf-16") {
            self.detail =
                format!("half of a character at byte {at} of the file in UTF-16{rest}");
            self.hint = "copy the file again if it ends there; otherwise write it again, or pass its \
                         encoding with `encoding`, or replace such halves with `encoding_errors`";
        } else {
            self.detail =
                format!("bytes that are not {encoding} at byte {at} of the file{rest}");
        }
    }
}

/// Returns the fault of a record that cannot be split. `record` is its start; the position in
/// `wrong` counts from `base`. The fault of an open quote is on the line of the quote.
pub(in crate::table) fn split(wrong: RecordFault, record: u64, base: u64) -> Problem {
    let offset = base + wrong.at() as u64;
    let record = if matches!(wrong, RecordFault::OpenQuote(_)) { offset } else { record };
    Problem { record, ..self::wrong(wrong, offset) }
}

/// Returns the problem of a fault at `offset`, on the line of that byte.
pub(in crate::table) fn wrong(wrong: RecordFault, offset: u64) -> Problem {
    let (detail, hint) = match wrong {
        RecordFault::OpenQuote(_) => {
            ("a quote opens here and is never closed", "close it, or set another quote")
        }
        RecordFault::OpenEscape(_) => (
            "nothing follows the escape at the end of the text",
            "remove it, or set another escape",
        ),
        RecordFault::AfterQuote(_) => (
            AFTER_QUOTE,
            "double the quotes inside a quoted field, or set another quote, or none",
        ),
        RecordFault::Outside(_) => (
            OUTSIDE,
            "pass `widths` or `positions` that include it, skip lines above the table with `skip_rows`, or set \
             aside such lines with `ragged`",
        ),
        RecordFault::Encoding(_) => (UNCOUNTED, ENCODING),
        RecordFault::LoneReturn(_) => (
            "a carriage return inside a line",
            "end lines with newlines: tr '\\r' '\\n' <OLD >NEW",
        ),
    };
    Problem {
        record: offset,
        offset,
        reason: FormatReason::Malformed,
        detail: detail.to_owned(),
        hint,
    }
}

/// Returns the fault of a record with more or fewer fields than there are columns.
pub(in crate::table) fn ragged(
    record: u64,
    found: usize,
    columns: usize,
    ragged: Ragged,
) -> Problem {
    let fields = |count: usize| if count == 1 { "field" } else { "fields" };
    let detail = format!("{found} {} where {columns} are expected", fields(found));
    let hint = match ragged {
        Ragged::Pad => {
            "check the delimiter and quotes of this line, or set aside such lines with `ragged`"
        }
        _ => {
            "check the delimiter and quotes of this line, or set `ragged` to pad or set aside such lines"
        }
    };
    Problem { record, offset: record, reason: FormatReason::Malformed, detail, hint }
}

/// A field that is not a value of its column.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct FieldRefusal<'f> {
    pub(in crate::table) column: &'f str,
    pub(in crate::table) told: ColumnType,
    pub(in crate::table) raw: &'f [u8],
    pub(in crate::table) misfit: Misfit,
    /// Whether all columns must have this type.
    pub(in crate::table) is_array: bool,
}

/// Returns the fault of a field.
pub(in crate::table) fn misfit(record: u64, offset: u64, refused: FieldRefusal<'_>) -> Problem {
    let FieldRefusal { column: name, told, raw, misfit, is_array } = refused;
    let (reason, why) = match misfit {
        Misfit::Form => (FormatReason::Malformed, format!("not a value of type {told}")),
        Misfit::Range => {
            (FormatReason::TooLarge, format!("out of the range of type {told}{}", years(told)))
        }
        Misfit::Between => {
            (FormatReason::TooLarge, format!("no value of type {told} is this whole number"))
        }
        Misfit::Inexact => {
            (FormatReason::Malformed, format!("more digits after the second than {told} holds"))
        }
        Misfit::Encoding => (FormatReason::Malformed, NOT_UTF_8.to_owned()),
        Misfit::Room => {
            (FormatReason::TooLarge, "a text that is too long for Arrow".to_owned())
        }
        Misfit::Missing => (FormatReason::Malformed, "a missing value".to_owned()),
    };
    let hint = match misfit {
        Misfit::Encoding => ENCODING,
        Misfit::Room => "leave out the column with `columns`",
        Misfit::Missing => {
            "pass a number for missing values with `missing`, or read it as floats"
        }
        Misfit::Form if is_array => {
            "select columns of numbers with `columns`, or add the word to `null_values`"
        }
        _ if is_array => "change the value, or read an array of another type",
        Misfit::Form
            if is_time(told) && raw.len() > 8 && raw.iter().all(u8::is_ascii_digit) =>
        {
            "pass `epoch_s`, `epoch_ms`, `epoch_us` or `epoch_ns` as its format with `formats` if it counts from 1970"
        }
        Misfit::Form | Misfit::Range | Misfit::Between | Misfit::Inexact => {
            "change the value, or give the column another type with `types`, or add the word to `null_values`"
        }
    };
    let detail = format!("{why} in column `{name}`: `{}`", shown(raw));
    Problem { record, offset, reason, detail, hint }
}

fn is_time(told: ColumnType) -> bool {
    matches!(told, ColumnType::Timestamp(_) | ColumnType::Zoned(_))
}

/// Returns the range of a timestamp, as words after its type.
fn years(told: ColumnType) -> &'static str {
    match told {
        ColumnType::Timestamp(TimeUnit::Nanosecond)
        | ColumnType::Zoned(TimeUnit::Nanosecond) => " (1677-09-21 to 2262-04-11)",
        ColumnType::Zoned(_) => " (years 1 to 9999 in UTC)",
        _ => "",
    }
}

/// Returns the first characters of a field.
fn shown(raw: &[u8]) -> String {
    let text = crate::error::shown(raw);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// Returns the fault of a record with the wrong number of fields, in a table of this shape.
pub(in crate::table) fn of_record(record: u64, found: usize, shape: &RecordShape) -> Problem {
    let problem = ragged(record, found, shape.columns, shape.ragged);
    match shape.lacks_name && found == shape.columns + 1 {
        true => problem.of_short_header(),
        false => problem,
    }
}

/// Returns the fault that splitting found.
pub(in crate::table) fn of_rows(
    fault: RowFault,
    record: u64,
    base: u64,
    shape: &RecordShape,
) -> Problem {
    match fault {
        RowFault::Record(wrong) => split(wrong, record, base),
        RowFault::Ragged { at, found } => of_record(base + at as u64, found, shape),
        RowFault::Json { record, fault: JsonFaultAt { fault, at } } => {
            let (detail, hint) = fault.words();
            Problem {
                record: base + record as u64,
                offset: base + at as u64,
                reason: FormatReason::Malformed,
                detail: detail.to_owned(),
                hint,
            }
        }
        RowFault::TooLong => Problem {
            record,
            offset: record,
            reason: FormatReason::TooLarge,
            detail: "a record of 4 GiB or more".to_owned(),
            hint: "look for a quote that is not closed",
        },
    }
}

/// Returns the fault of a name with a NUL byte, which Arrow's C interface cannot pass.
pub(in crate::table) fn nul(record: u64, index: usize, name: &str) -> Problem {
    let name = shown(name.as_bytes());
    Problem {
        record,
        offset: record,
        reason: FormatReason::Malformed,
        detail: format!("a NUL byte in the name of column index {index}: `{name}`"),
        hint: "give the column another name by its index with `rename`, or pass `encoding` if the file \
               is UTF-16",
    }
}

/// Returns the fault of a name that is not UTF-8.
pub(in crate::table) fn name(record: u64, offset: u64, raw: &[u8]) -> Problem {
    Problem {
        record,
        offset,
        reason: FormatReason::Malformed,
        detail: format!("{NOT_UTF_8} in a name: `{}`", shown(raw)),
        hint: ENCODING,
    }
}

/// Returns the fault of a number in an unsupported notation.
pub(in crate::table) fn odd_number(record: u64, offset: u64, odd: OddNumber) -> Problem {
    Problem {
        record,
        offset,
        reason: FormatReason::Malformed,
        detail: odd.detail().to_owned(),
        hint: odd.hint(),
    }
}

/// Returns the fault of a block whose records changed after they were counted.
pub(in crate::table) fn changed(offset: u64) -> Problem {
    Problem {
        record: offset,
        offset,
        reason: FormatReason::Invalid,
        detail: "these records changed while they were read".to_owned(),
        hint: "read it again when no other program writes to it",
    }
}

/// Returns the fault of a block whose texts Arrow cannot hold.
pub(in crate::table) fn room(offset: u64) -> Problem {
    Problem {
        record: offset,
        offset,
        reason: FormatReason::TooLarge,
        detail: "texts that are too long for Arrow".to_owned(),
        hint: "set a smaller block size",
    }
}

/// Returns the fault of a block without memory for its values.
pub(in crate::table) fn no_memory(offset: u64, bytes: usize) -> Problem {
    Problem {
        record: offset,
        offset,
        reason: FormatReason::OutOfMemory,
        detail: format!("there is not enough memory for the values of {bytes} bytes of text"),
        hint: "free memory, or select fewer columns with `columns`",
    }
}

/// Returns the error of a table with more columns than memory can hold.
pub(in crate::table) fn no_room(path: &Path, columns: usize) -> Error {
    let detail = format!("there is not enough memory for {columns} columns");
    let error = Error::reading(path, FormatReason::OutOfMemory, detail);
    error.hint("select fewer columns with `columns`")
}
